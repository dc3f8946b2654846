//! SQLite's result codes as [`StoreError`]s.

use crate::error::StoreError;
use std::path::Path;

const PERM: u32 = 3;
const BUSY: u32 = 5;
const LOCKED: u32 = 6;
const READONLY: u32 = 8;
const IOERR: u32 = 10;
const CORRUPT: u32 = 11;
const FULL: u32 = 13;
const CANTOPEN: u32 = 14;
const CONSTRAINT: u32 = 19;
const NOTADB: u32 = 26;

pub(super) fn map_error(file: &Path, error: sqlx::Error) -> StoreError {
    let file = file.to_owned();
    let sqlx::Error::Database(error) = error else {
        return match error {
            sqlx::Error::Io(source) => StoreError::Io { path: file, source },
            other => StoreError::Database { file, detail: other.to_string() },
        };
    };
    let detail = error.message().to_owned();
    // An extended result code has the primary code in its low byte.
    let code = error.code().and_then(|code| code.parse::<u32>().ok()).unwrap_or(1) & 0xff;
    match code {
        BUSY | LOCKED => StoreError::InUse { file },
        PERM | READONLY | CANTOPEN => StoreError::ReadOnly { file, detail },
        IOERR => StoreError::Disk { file, detail },
        CORRUPT | NOTADB => StoreError::Damaged { file, detail },
        FULL => StoreError::Full { file },
        CONSTRAINT => StoreError::Conflict { file, detail },
        _ => StoreError::Database { file, detail },
    }
}
