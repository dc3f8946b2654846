//! The store: runs with their plans, trials and artifacts, and, shared by all runs, the ledger, labels, probes and ingested
//! documents.
//!
//! A store is a folder, usually `.karat/` beside the suite, with a SQLite database in it, or a database on a PostgreSQL
//! server. A write is durable when the call returns; several processes may use a store at once; stored data is never
//! overwritten.

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
mod copy;
mod database;
mod error;
pub mod event;
mod gc;
pub mod label;
mod labels;
mod lease;
mod ledger;
mod location;
mod lock;
mod naming;
mod object_storage;
mod objects;
mod portable;
mod probes;
pub mod queue;
pub mod record;
mod runs;
mod schema;
mod scratch;
mod sessions;
mod shared_judge;
mod tables;
pub mod timestamp;
mod trials;
mod verify;

#[cfg(test)]
mod tests;

pub use artifacts::ArtifactInfo;
pub use copy::{CopiedStore, CopyProgress};
pub use error::StoreError;
pub use gc::{GcOptions, GcReport};
pub use labels::{AddedLabels, OnExisting, UndoneLabels};
pub use ledger::ImportedExchanges;
pub use location::{LocationError, ServerUrl, StoreLocation, cache_folder, url_scheme};
pub use lock::RunLock;
pub use naming::{LATEST, RunId};
pub use object_storage::ObjectLocation;
pub use portable::ImportedRun;
pub use runs::{NewRun, RunInfo, RunState};
pub use sessions::{SessionDocument, SessionInfo};
pub use trials::{ExportedTrials, StoredTrial};
pub use verify::Problem;

use database::{Access, BUSY_TIMEOUT, Database, OnConflict, Row, Value, while_busy};
use error::Result;
use karat_io::cancel::Cancel;
use lease::Leases;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The usual name of a store's folder.
pub const FOLDER: &str = ".karat";

const DATABASE: &str = "karat.db";

const LOCKS: &str = "locks";

/// An open store.
pub struct Store {
    location: StoreLocation,
    /// The folder on this machine.
    folder: PathBuf,
    database: Database,
    /// The locks of runs on a server; in a folder they are files.
    leases: Option<Arc<Leases>>,
    /// The name under which questions to models are asked, unless a worker asks them.
    instance: String,
    question_lease: Option<Duration>,
    budget_name: Option<String>,
    objects: objects::Connection,
}

impl Store {
    /// Opens a store, creating it if missing.
    pub fn create(location: impl Into<StoreLocation>) -> Result<Self> {
        match location.into() {
            StoreLocation::Folder(folder) => {
                std::fs::create_dir_all(&folder).map_err(|source| write_error(folder.clone(), source))?;
                Self::open_writable(&folder)
            }
            StoreLocation::Server(server) => {
                let mut database = Database::open_server(&server, Access::Write)?;
                schema::migrate(&mut database)?;
                Ok(Self::on_server(server, database))
            }
        }
    }

    /// Opens an existing store, read-only if it cannot be written.
    pub fn open(location: impl Into<StoreLocation>) -> Result<Self> {
        match location.into() {
            StoreLocation::Folder(folder) => Self::open_folder(&folder),
            StoreLocation::Server(server) => Self::open_server(server, &Cancel::default()),
        }
    }

    /// Like [`Self::open`]; whatever waits for a server or for object storage fails soon after `abandon` is cancelled.
    pub fn open_until(location: impl Into<StoreLocation>, abandon: &Cancel) -> Result<Self> {
        let mut store = match location.into() {
            StoreLocation::Folder(folder) => Self::open_folder(&folder)?,
            StoreLocation::Server(server) => Self::open_server(server, abandon)?,
        };
        store.objects.abandon = abandon.clone();
        Ok(store)
    }

    fn open_server(server: ServerUrl, abandon: &Cancel) -> Result<Self> {
        let (mut database, _) = open_existing(&server, Access::Write, abandon)?;
        schema::migrate(&mut database)?;
        Ok(Self::on_server(server, database))
    }

    fn on_server(server: ServerUrl, database: Database) -> Self {
        let leases = Some(Arc::new(Leases::new(server.clone(), database.access)));
        let location = StoreLocation::Server(server);
        Self::new(location, database, leases)
    }

    fn new(location: StoreLocation, database: Database, leases: Option<Arc<Leases>>) -> Self {
        let (folder, instance) = (location.local_folder(), uuid::Uuid::now_v7().to_string());
        Self {
            location,
            folder,
            database,
            leases,
            instance,
            question_lease: None,
            budget_name: None,
            objects: objects::Connection::default(),
        }
    }

    fn open_folder(folder: &Path) -> Result<Self> {
        let file = existing_database(folder)?;
        match OpenOptions::new().append(true).open(&file) {
            Ok(_) => match Self::open_writable(folder) {
                // The file may be writable and the folder not.
                Err(StoreError::ReadOnly { .. }) => Self::folder_read_only(folder),
                result => result,
            },
            Err(error) if matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem) => {
                Self::folder_read_only(folder)
            }
            Err(source) => Err(StoreError::Io { path: file, source }),
        }
    }

    /// Opens a store read-only: nothing in its folder or on its server changes.
    pub fn read_only(location: impl Into<StoreLocation>) -> Result<Self> {
        match location.into() {
            StoreLocation::Folder(folder) => Self::folder_read_only(&folder),
            StoreLocation::Server(server) => {
                let (database, version) = open_existing(&server, Access::Read, &Cancel::default())?;
                if version < schema::latest_version() {
                    return Err(outdated(&database.place));
                }
                Ok(Self::on_server(server, database))
            }
        }
    }

    fn folder_read_only(folder: &Path) -> Result<Self> {
        let file = existing_database(folder)?;
        let (mut database, version) = open_checked(&file)?;
        if version < schema::latest_version() {
            return Err(outdated(&database.place));
        }
        // In immutable mode a WAL that grows during reading would look like damage, so a shared connection is preferred.
        if database.access == Access::Immutable
            && has_log(&file)
            && let Ok(shared) = Database::open_file(&file, Access::Read)
        {
            database = shared;
        }
        Ok(Self::new(folder.into(), database, None))
    }

    /// The nearest store in a folder or its ancestors.
    pub fn locate(start: &Path) -> Option<StoreLocation> {
        let start = std::path::absolute(start).ok()?;
        start.ancestors().map(|folder| StoreLocation::Folder(folder.join(FOLDER))).find(|folder| Self::is_at(folder))
    }

    /// Whether there is a store at a location. A server that cannot be asked counts as one, so that opening it says why.
    pub fn is_at(location: impl Into<StoreLocation>) -> bool {
        match location.into() {
            StoreLocation::Folder(folder) => folder.join(DATABASE).is_file(),
            StoreLocation::Server(server) => !matches!(Self::ask_server(&server), Err(StoreError::Missing { .. })),
        }
    }

    /// Asks a server whether it has a store that this program can use; an error says why not.
    pub fn ask_server(server: &ServerUrl) -> Result<()> {
        let (database, version) = open_existing(server, Access::Read, &Cancel::default())?;
        if version < schema::latest_version() {
            return Err(outdated(&database.place));
        }
        database.keep_connection(server);
        Ok(())
    }

    /// The version of the tables in an open store.
    pub fn schema_version() -> i64 {
        schema::latest_version()
    }

    /// The version of the server on which the store is.
    pub fn server_version(&mut self) -> Result<Option<String>> {
        self.database.server_version()
    }

    /// Where the store is.
    pub fn location(&self) -> &StoreLocation {
        &self.location
    }

    /// The folder on this machine for what belongs to the store but not into its database.
    pub fn local_folder(&self) -> &Path {
        &self.folder
    }

    fn in_snapshot<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.database.begin_snapshot()?;
        let result = work(self);
        self.database.end_snapshot();
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
        let mut database = Database::open_file(&file, Access::Write)?;
        schema::migrate(&mut database)?;
        if new {
            init_folder(folder)?;
        }
        Ok(Self::new(folder.into(), database, None))
    }
}

fn outdated(place: &str) -> StoreError {
    let detail = "it must first be brought up to date, which needs writing".to_owned();
    StoreError::ReadOnly { place: place.to_owned(), detail }
}

/// Connects to a store on a server; an empty database is none.
fn open_existing(server: &ServerUrl, access: Access, abandon: &Cancel) -> Result<(Database, i64)> {
    let mut database = Database::open_server_until(server, access, abandon)?;
    match schema::check_version(&mut database)? {
        0 => Err(StoreError::Missing { store: StoreLocation::Server(server.clone()) }),
        version => Ok((database, version)),
    }
}

fn existing_database(folder: &Path) -> Result<PathBuf> {
    let file = folder.join(DATABASE);
    if file.is_file() { Ok(file) } else { Err(StoreError::Missing { store: folder.into() }) }
}

fn init_folder(folder: &Path) -> Result<()> {
    // A store is local; teams share runs by exporting them.
    let ignore = folder.join(".gitignore");
    // What is there may be a link that came with the folder, and is not followed.
    match File::create_new(&ignore).and_then(|mut file| file.write_all(b"*\n")) {
        Err(source) if source.kind() != ErrorKind::AlreadyExists => return Err(write_error(ignore, source)),
        _ => {}
    }
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
        let mut database = Database::open_file(file, access)?;
        let version = schema::check_version(&mut database)?;
        Ok((database, version))
    };
    if has_log(file) {
        return connect(Access::Read).map_err(|error| match error {
            StoreError::ReadOnly { place, .. } => {
                let detail = "an interrupted process left a log beside it, and reading that needs writing".to_owned();
                StoreError::ReadOnly { place, detail }
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
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse { place: path.display().to_string() }),
        Err(TryLockError::Error(source)) => Err(StoreError::Io { path: path.clone(), source }),
    })?;
    Ok(file)
}

fn write_error(path: PathBuf, source: std::io::Error) -> StoreError {
    match source.kind() {
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            StoreError::ReadOnly { place: path.display().to_string(), detail: source.to_string() }
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            StoreError::Full { place: path.display().to_string() }
        }
        _ => StoreError::Io { path, source },
    }
}
