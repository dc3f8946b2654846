//! The store: runs with their plans, trials and artifacts, and, shared by all runs, the ledger, labels, probes and ingested
//! documents.
//!
//! A store is a folder, usually `.karat/` beside the suite, with a SQLite database in it. A write is durable when the call
//! returns; several processes may use a store at once; stored data is never overwritten.

/// Defines an enum that is stored, serialized and printed as words.
macro_rules! worded {
    ($(#[$meta:meta])* $name:ident { $($(#[$note:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        #[expect(missing_docs, reason = "variant names say it")]
        pub enum $name {
            $($(#[$note])* $variant,)+
        }

        impl $name {
            /// All of them, in order.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$variant),+];

            /// The word in the store and in every format.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word,)+
                }
            }

            pub(crate) fn parse(word: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|own| own.as_str() == word)
            }
        }
    };
}

mod artifacts;
mod database;
mod error;
pub mod event;
mod gc;
pub mod label;
mod labels;
mod ledger;
mod lock;
mod naming;
mod portable;
mod probes;
pub mod record;
mod runs;
mod schema;
mod scratch;
mod sessions;
mod tables;
pub mod timestamp;
mod trials;
mod verify;

#[cfg(test)]
mod tests;

pub use artifacts::ArtifactInfo;
pub use error::StoreError;
pub use gc::{GcOptions, GcReport};
pub use labels::{AddedLabels, OnExisting, UndoneLabels};
pub use ledger::ImportedExchanges;
pub use lock::RunLock;
pub use naming::{LATEST, RunId};
pub use portable::ImportedRun;
pub use runs::{NewRun, RunInfo, RunState};
pub use sessions::{NewDocument, SessionInfo};
pub use trials::{ExportedTrials, StoredTrial};
pub use verify::Problem;

use database::{Access, BUSY_TIMEOUT, Database, OnConflict, Row, Value, while_busy};
use error::Result;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The usual name of a store's folder.
pub const FOLDER: &str = ".karat";

const DATABASE: &str = "karat.db";

const LOCKS: &str = "locks";

/// An open store.
pub struct Store {
    folder: PathBuf,
    database: Database,
}

impl Store {
    /// Opens the store in a folder, creating it if missing.
    pub fn create(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder).map_err(|source| write_error(folder.to_owned(), source))?;
        Self::open_writable(folder)
    }

    /// Opens an existing store, read-only if it cannot be written.
    pub fn open(folder: &Path) -> Result<Self> {
        let file = existing_database(folder)?;
        match OpenOptions::new().append(true).open(&file) {
            Ok(_) => match Self::open_writable(folder) {
                // The file may be writable and the folder not.
                Err(StoreError::ReadOnly { .. }) => Self::read_only(folder),
                result => result,
            },
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                Self::read_only(folder)
            }
            Err(source) => Err(StoreError::Io { path: file, source }),
        }
    }

    /// Opens a store read-only: nothing in its folder changes.
    pub fn read_only(folder: &Path) -> Result<Self> {
        let file = existing_database(folder)?;
        let (mut database, version) = open_checked(&file)?;
        if version < schema::latest_version() {
            let detail = "it must first be brought up to date, which needs writing".to_owned();
            return Err(StoreError::ReadOnly { file, detail });
        }
        // In immutable mode a WAL that grows during reading would look like damage, so a shared connection is preferred.
        if database.access == Access::Immutable
            && has_log(&file)
            && let Ok(shared) = Database::connect(&file, Access::Read)
        {
            database = shared;
        }
        Ok(Self { folder: folder.to_owned(), database })
    }

    /// The nearest store in a folder or its ancestors.
    pub fn locate(start: &Path) -> Option<PathBuf> {
        let start = std::path::absolute(start).ok()?;
        start.ancestors().map(|folder| folder.join(FOLDER)).find(|folder| Self::is_at(folder))
    }

    /// Whether a folder is a store.
    pub fn is_at(folder: &Path) -> bool {
        folder.join(DATABASE).is_file()
    }

    /// The version of the tables in an open store.
    pub fn schema_version() -> i64 {
        schema::latest_version()
    }

    /// The folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn in_snapshot<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.database.execute("BEGIN", Vec::new())?;
        let result = work(self);
        // Nothing was written, and some errors have already ended the transaction.
        let _ = self.database.execute("ROLLBACK", Vec::new());
        result
    }

    fn open_writable(folder: &Path) -> Result<Self> {
        let file = folder.join(DATABASE);
        // One process at a time checks the version and migrates.
        let _lock = lock_for_open(folder)?;
        let new = file.metadata().map_or(true, |there| there.len() == 0);
        if !new {
            open_checked(&file)?;
        }
        let mut database = Database::connect(&file, Access::Write)?;
        schema::migrate(&mut database)?;
        if new {
            init_folder(folder)?;
        }
        Ok(Self { folder: folder.to_owned(), database })
    }
}

fn existing_database(folder: &Path) -> Result<PathBuf> {
    let file = folder.join(DATABASE);
    if file.is_file() { Ok(file) } else { Err(StoreError::Missing { folder: folder.to_owned() }) }
}

fn init_folder(folder: &Path) -> Result<()> {
    // A store is local; teams share runs by exporting them.
    let ignore = folder.join(".gitignore");
    std::fs::write(&ignore, "*\n").map_err(|source| write_error(ignore, source))?;
    // The folder entry must survive a power cut too. Not every system can sync a folder.
    let above = std::path::absolute(folder).ok().and_then(|path| path.parent().map(Path::to_owned));
    for place in [Some(folder.to_owned()), above].into_iter().flatten() {
        let _ = File::open(place).and_then(|place| place.sync_all());
    }
    Ok(())
}

/// Opens the database without changing a byte and checks its version, so that a store of a later version stays as it is.
fn open_checked(file: &Path) -> Result<(Database, i64)> {
    let connect = |access: Access| {
        let mut database = Database::connect(file, access)?;
        let version = schema::check_version(&mut database)?;
        Ok((database, version))
    };
    if has_log(file) {
        return connect(Access::Read).map_err(|error| match error {
            StoreError::ReadOnly { file, .. } => {
                let detail = "an interrupted process left a log beside it, and reading that needs writing".to_owned();
                StoreError::ReadOnly { file, detail }
            }
            other => other,
        });
    }
    match connect(Access::Immutable) {
        // Another process may have just begun to write.
        Err(StoreError::Damaged { .. }) if has_log(file) => connect(Access::Read),
        result => result,
    }
}

/// Whether the WAL holds anything that is not in the database file yet.
fn has_log(file: &Path) -> bool {
    let mut name = file.as_os_str().to_owned();
    name.push("-wal");
    std::fs::metadata(name).is_ok_and(|log| log.len() > 0)
}

fn lock_for_open(folder: &Path) -> Result<File> {
    let folder = folder.join(LOCKS);
    let path = folder.join("open.lock");
    let file = std::fs::create_dir_all(&folder)
        .and_then(|()| OpenOptions::new().create(true).append(true).open(&path))
        .map_err(|source| write_error(path.clone(), source))?;
    while_busy(BUSY_TIMEOUT, 5, || match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { file: path.clone() }),
        Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.clone(), source }),
    })?;
    Ok(file)
}

fn write_error(path: PathBuf, source: std::io::Error) -> StoreError {
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { file: path, detail: source.to_string() }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => StoreError::Full { file: path },
        _ => StoreError::Io { path, source },
    }
}
