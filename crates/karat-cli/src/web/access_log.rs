//! A line for every request, in a file or on standard error.

use crate::exit::Failure;
use crate::terminal::{note, tell};
use axum::http::{Method, StatusCode};
use karat_store::timestamp;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Where lines go.
#[derive(Debug)]
pub(crate) enum AccessLog {
    /// Standard error.
    Stderr,
    /// A file; none once it could not be written.
    File(Mutex<Option<File>>),
}

/// What a line tells. It has the path and never the query, where tokens are.
pub(super) struct Access<'a> {
    pub(super) address: Option<IpAddr>,
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) status: StatusCode,
    pub(super) bytes: u64,
    pub(super) took: Duration,
}

impl AccessLog {
    /// Opens a file to append to, for its owner alone; `-` is standard error.
    pub(crate) fn open(place: &Path) -> Result<Self, Failure> {
        if place == Path::new("-") {
            return Ok(Self::Stderr);
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let failed = |error| {
            let message = format!("--access-log {}: {error}; give a file that can be written, or -", place.display());
            Failure::failed(message)
        };
        options.open(place).map(|file| Self::File(Mutex::new(Some(file)))).map_err(failed)
    }

    /// Writes a line.
    pub(super) fn write(&self, access: &Access<'_>) {
        let line = access.line(&timestamp::now_utc());
        match self {
            Self::Stderr => tell(&line),
            Self::File(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // One write, so that lines of several servers in one file stay whole.
                if let Some(Err(error)) = file.as_mut().map(|file| file.write_all(format!("{line}\n").as_bytes())) {
                    note(&format!("the access log cannot be written any more: {error}"));
                    *file = None;
                }
            }
        }
    }
}

impl Access<'_> {
    fn line(&self, now: &str) -> String {
        let address = self.address.map_or_else(|| "-".to_owned(), |address| address.to_string());
        let Self { method, path, bytes, took, .. } = self;
        format!("{now} {address} {method} {path} {} {bytes} {}", self.status.as_u16(), took.as_millis())
    }
}
