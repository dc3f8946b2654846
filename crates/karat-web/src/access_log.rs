//! The access log: a line for every request, in a file or on standard error.

use karat::failure::Failure;
use karat_store::timestamp;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Receives a message for whoever started the server.
pub type Notify = fn(&str);

#[derive(Debug)]
pub(crate) enum AccessLog {
    Stderr,
    /// A file; `None` after a write failed.
    File(Mutex<Option<File>>),
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

    /// Writes a line: the time, and what is stated about the request.
    pub(super) fn write(&self, request: &str, notify: Notify) {
        let line = format!("{} {request}", timestamp::now_utc());
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
