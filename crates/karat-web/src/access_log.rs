//! The access log: a line for every request, in a file or on standard error.

use axum::http::{Method, StatusCode};
use karat::failure::Failure;
use karat_store::timestamp;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Receives a message for whoever started the server.
pub type Notify = fn(&str);

#[derive(Debug)]
pub(crate) enum AccessLog {
    Stderr,
    /// A file; `None` after a write failed.
    File(Mutex<Option<File>>),
}

/// A line of the log. It has the path but never the query, which may contain a token.
pub(super) struct Access<'a> {
    pub(super) address: Option<IpAddr>,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: StatusCode,
    pub(super) bytes: u64,
    pub(super) took: Duration,
}

impl AccessLog {
    /// Opens a file to append to, readable only by its owner; `-` is standard error.
    pub(crate) fn open(place: &Path) -> Result<Self, Failure> {
        if place == Path::new("-") {
            return Ok(Self::Stderr);
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(place).map_err(|error| {
            Failure::failed(format!("--access-log {}: {error}; use a writable file, or -", place.display()))
        })?;
        Ok(Self::File(Mutex::new(Some(file))))
    }

    pub(super) fn write(&self, access: &Access<'_>, notify: Notify) {
        let address = access.address.map_or_else(|| "-".to_owned(), |address| address.to_string());
        let Access { method, path, bytes, took, status, .. } = access;
        let (now, status, took) = (timestamp::now_utc(), status.as_u16(), took.as_millis());
        let line = format!("{now} {address} {method} {path} {status} {bytes} {took}");
        match self {
            Self::Stderr => notify(&line),
            Self::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // One write per line, so that several servers can share a file.
                if let Some(Err(error)) = file.as_mut().map(|file| file.write_all(format!("{line}\n").as_bytes())) {
                    notify(&format!("note: the access log stopped: {error}"));
                    *file = None;
                }
            }
        }
    }
}
