//! The store of runs: what was planned, every trial the moment it is done, and what the trials left behind; and beside the
//! runs what models answered, what people said of pairs, extras and audited findings, how judges did on probes, and documents
//! that were taken apart, which holds for all of them.
//!
//! A store is a folder, usually `.karat/` beside the suite, with a SQLite database in it. What a call has stored is durable
//! when it returns; several processes may use a store at once; and nothing that is stored is ever overwritten.

mod artifacts;
mod audit_labels;
mod database;
mod error;
mod export;
mod extra_labels;
mod fitting;
mod gc;
mod judgements;
mod label_log;
mod labels;
mod ledger;
mod lock;
pub mod moment;
mod naming;
mod planned;
mod portable;
mod probes;
mod reference;
mod runs;
mod schema;
mod scratch;
mod sessions;
mod sink;
mod tables;
mod tools;
mod trials;
mod verify;

#[cfg(test)]
mod tests;

pub use artifacts::ArtifactInfo;
pub use error::StoreError;
pub use export::Exported;
pub use gc::{Gc, GcReport};
pub use label_log::{Again, TakenLabels};
pub use labels::Undone;
pub use ledger::TakenExchanges;
pub use lock::RunLock;
pub use naming::RunId;
pub use portable::Imported;
pub use runs::{NewRun, RunInfo, RunState};
pub use sessions::SessionInfo;
pub use sink::Sink;
pub use trials::StoredTrial;
pub use verify::Problem;

use database::{Access, Database, PATIENCE};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The folder a store lies in, beside the suite.
pub const FOLDER: &str = ".karat";

/// The database within a store's folder.
const DATABASE: &str = "karat.db";

/// Locks of single runs, and of the store while it is opened.
const LOCKS: &str = "locks";

/// An open store.
pub struct Store {
    folder: PathBuf,
    database: Database,
}

impl Store {
    /// Opens the store in a folder such as `.karat`, and makes it where it is absent.
    pub fn create(folder: &Path) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(|source| unwritable(folder.to_owned(), source))?;
        Self::writable(folder)
    }

    /// Opens a store that is there. Where it cannot be written it is opened for reading alone.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(DATABASE);
        if !file.is_file() {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        match OpenOptions::new().append(true).open(&file) {
            Ok(_) => match Self::writable(folder) {
                // The file may be written and the folder not.
                Err(StoreError::ReadOnly { .. }) => Self::read_only(folder),
                result => result,
            },
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                Self::read_only(folder)
            }
            Err(source) => Err(StoreError::Io { path: file, source }),
        }
    }

    /// Opens a store for reading alone: nothing in its folder changes.
    pub fn read_only(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(DATABASE);
        if !file.is_file() {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        let (mut database, version) = peek(&file)?;
        if version < schema::known() {
            let detail = "it must first be brought up to date, which needs writing".to_owned();
            return Err(StoreError::ReadOnly { file, detail });
        }
        // A log that fills while it is read would show as damage, so the store is read beside its writers where that works.
        if database.access() == Access::Frozen
            && has_log(&file)
            && let Ok(shared) = Database::connect(&file, Access::Read)
        {
            database = shared;
        }
        Ok(Self { folder: folder.to_owned(), database })
    }

    /// The nearest store from a folder upwards: a folder `.karat` with a database in it.
    pub fn locate(start: &Path) -> Option<PathBuf> {
        let start = std::path::absolute(start).ok()?;
        start.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| Self::is_at(folder))
    }

    /// Whether a folder is a store.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(DATABASE).is_file()
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the store can be changed.
    pub fn is_writable(&self) -> bool {
        self.database.access() == Access::Write
    }

    /// Reads several things as they were at one moment, while others may write.
    fn at_one_moment<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.database.execute("BEGIN", Vec::new())?;
        let result = work(self);
        // Nothing was written, and some faults have ended the transaction already.
        let _ = self.database.execute("ROLLBACK", Vec::new());
        result
    }

    fn writable(folder: &Path) -> Result<Self, StoreError> {
        let file = folder.join(DATABASE);
        // One process at a time looks at the version and brings the tables up to date.
        let _turn = turn(folder)?;
        let new = file.metadata().map_or(true, |there| there.len() == 0);
        if !new {
            peek(&file)?;
        }
        let mut database = Database::connect(&file, Access::Write)?;
        schema::migrate(&mut database)?;
        if new {
            settle(folder)?;
        }
        Ok(Self { folder: folder.to_owned(), database })
    }
}

/// What a new store needs beside its database.
fn settle(folder: &Path) -> Result<(), StoreError> {
    // What is stored belongs to this machine; teams share runs by exporting them.
    let ignore = folder.join(".gitignore");
    std::fs::write(&ignore, "*\n").map_err(|source| unwritable(ignore, source))?;
    // The folder's own name must survive a power cut as its content does. Not every system can sync a folder.
    let above = std::path::absolute(folder).ok().and_then(|path| path.parent().map(Path::to_owned));
    for place in [Some(folder.to_owned()), above].into_iter().flatten() {
        let _ = File::open(place).and_then(|place| place.sync_all());
    }
    Ok(())
}

/// Looks at the version without changing a byte, so that what a later version has made stays as it is.
fn peek(file: &Path) -> Result<(Database, i64), StoreError> {
    let look = |access: Access| {
        let mut database = Database::connect(file, access)?;
        let version = schema::understood(&mut database)?;
        Ok((database, version))
    };
    if has_log(file) {
        return look(Access::Read).map_err(|error| match error {
            StoreError::ReadOnly { file, .. } => {
                let detail = "an interrupted process left a log beside it, and reading that needs writing".to_owned();
                StoreError::ReadOnly { file, detail }
            }
            other => other,
        });
    }
    match look(Access::Frozen) {
        // Somebody may have begun to write just now.
        Err(StoreError::Damaged { .. }) if has_log(file) => look(Access::Read),
        result => result,
    }
}

/// Whether there is something in the log that the database file does not have yet.
fn has_log(file: &Path) -> bool {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).is_ok_and(|log| log.len() > 0)
}

/// Waits for this process's turn to open the store; dropping the file ends it.
fn turn(folder: &Path) -> Result<File, StoreError> {
    let folder = folder.join(LOCKS);
    let path = folder.join("open.lock");
    let file = std::fs::create_dir_all(&folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&path))
        .map_err(|source| unwritable(path.clone(), source))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { file: path }),
            Err(TryLockError::Error(source)) => return Err(StoreError::Io { path, source }),
        }
    }
}

/// What a failure to write in the folder means.
fn unwritable(path: PathBuf, source: std::io::Error) -> StoreError {
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { file: path, detail: source.to_string() }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => StoreError::Full { file: path },
        _ => StoreError::Io { path, source },
    }
}
