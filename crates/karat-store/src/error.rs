//! Errors of the store.

use super::StoreLocation;
use std::path::PathBuf;

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of the store. No stored data is lost, whatever the error.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("there is no store in {store}; `karat run` makes one, and --store or KARAT_STORE names another")]
    Missing { store: StoreLocation },
    #[error("{place} is a database, but not a store of Karat; name the right one with --store")]
    Foreign { place: String },
    #[error(
        "{place} has version {found}, but this Karat reads versions up to {known}; use a newer Karat. Nothing was changed"
    )]
    Newer { place: String, found: i64, known: i64 },
    #[error(
        "{place} has version {found}, but this Karat reads versions from {oldest} on. Nothing was changed; export what you need with the Karat that wrote it (`karat store export RUN --whole`, `karat label export`) and import it into a new store"
    )]
    Older { place: String, found: i64, oldest: i64 },
    #[error("the disk is full: {place} cannot grow. What was saved before is safe; free some space and resume")]
    Full { place: String },
    #[error(
        "{place} cannot be read or written ({detail}). What was saved before is safe; check the disk, its quota and its limits, and resume"
    )]
    Disk { place: String, detail: String },
    #[error(
        "{place} cannot be written ({detail}). Nothing was changed; make it writable, or name another store with --store"
    )]
    ReadOnly { place: String, detail: String },
    #[error(
        "{place} is damaged: {detail}. Nothing was changed; make a copy of it, see `karat store verify`, and then save what can still be read with `karat store export`"
    )]
    Damaged { place: String, detail: String },
    #[error("{place} is in use by another process; try again when it has finished")]
    InUse { place: String },
    #[error(
        "{place} cannot be reached ({detail}). What was saved before is safe; check that the server is running and that the host, the port and sslmode in the URL are right, and resume"
    )]
    Unreachable { place: String, detail: String },
    #[error(
        "{place} was lost while a transaction was being committed ({detail}), and it is not known whether it was stored; resume when the server is back"
    )]
    Undecided { place: String, detail: String },
    #[error(
        "{place} does not let this user in ({detail}); check the user in the URL and the password, which may also be in PGPASSWORD or ~/.pgpass"
    )]
    LoginRefused { place: String, detail: String },
    #[error(
        "{place}: {detail}; create it with `createdb --encoding=UTF8 --template=template0 NAME`, or correct the URL"
    )]
    NoDatabase { place: String, detail: String },
    #[error(
        "{place}: this user lacks rights ({detail}). Nothing was changed; deploy/postgres/roles.sql grants the rights that each role needs"
    )]
    NoRights { place: String, detail: String },
    #[error(
        "{place} has no free connection ({detail}). What was saved before is safe; use fewer workers, raise max_connections, or put PgBouncer in front of the server"
    )]
    TooManyConnections { place: String, detail: String },
    #[error(
        "{location} is no server, and only a store on a server has workers; use --store postgres://USER@HOST/DATABASE"
    )]
    NoServer { location: StoreLocation },
    #[error("the run {run} is being worked on by {holder}; wait for it to end, or stop it")]
    Busy { run: String, holder: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{place}: {detail}; `karat store verify` checks the store")]
    Database { place: String, detail: String },
    #[error("{place}: {detail}; nothing was changed")]
    Conflict { place: String, detail: String },
    #[error("there is no run `{reference}`{hint}; `karat store list` shows all runs")]
    NoRun { reference: String, hint: String },
    #[error("`{reference}` may be any of {candidates}; type more of the id")]
    Ambiguous { reference: String, candidates: String },
    #[error(
        "{run} is an assessment of documents, which has no trials; `karat report {run}` shows it, and `karat assess` makes another"
    )]
    Assessment { run: String },
    #[error("invalid run name {name:?}: {reason}")]
    BadName { name: String, reason: &'static str },
    #[error("the run {run} is already named `{name}`; choose another name")]
    NameTaken { name: String, run: String },
    #[error("the run {run} is {state}; only a running run takes trials")]
    Ended { run: String, state: &'static str },
    #[error("{trial} is already stored and is not overwritten")]
    Twice { trial: String },
    #[error("{trial} cannot be stored: {reason}")]
    BadTrial { trial: String, reason: String },
    #[error("judgement {number} cannot be stored: {reason}; nothing was changed")]
    BadJudgement { number: i64, reason: String },
    #[error(
        "{annotator} said {answer} of the {kind} {id} on {when} UTC; labels are never overwritten, and --change keeps a correction beside it"
    )]
    Labelled { annotator: String, kind: &'static str, id: String, answer: String, when: String },
    #[error("the label of {about} cannot be stored: {reason}; nothing was changed")]
    BadLabel { about: String, reason: &'static str },
    #[error(
        "{file}, line {line}: {reason}. Nothing was loaded; export the ledger again with `karat store export --ledger`"
    )]
    BadLedger { file: String, line: usize, reason: String },
    #[error(
        "{file} contains exchanges that are already stored with other content: {keys}. Nothing was loaded, since recorded answers are never overwritten; remove these lines, or use another store with --store DIR"
    )]
    LedgerDiffers { file: String, keys: String },
    #[error(
        "the store has no artifact with the hash {hash}; `karat store show RUN --trial TOOL CASE N` lists what is kept"
    )]
    NoArtifact { hash: String },
    #[error(
        "invalid object storage: {reason}; write `s3://BUCKET/PREFIX?endpoint=URL&region=NAME` or `file:///FOLDER`"
    )]
    BadObjectLocation { reason: String },
    #[error(
        "no answer from the object storage {location} ({detail}). What was saved before is safe; start it or check the network, and resume"
    )]
    NoObjectStorage { location: String, detail: String },
    #[error(
        "the object storage {location} cannot be used: {detail}. What was saved before is safe; check the address and the variables AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
    )]
    ObjectStorage { location: String, detail: String },
    #[error(
        "{location} belongs to another store; use another prefix or folder, or delete {owner} there if that store is gone"
    )]
    ForeignObjects { location: String, owner: String },
    #[error(
        "{objects} of the store's artifacts are in {location}, and {reason}; copy all objects first, with karat-store beside them"
    )]
    ObjectsElsewhere { objects: u32, location: String, reason: String },
    #[error("{detail}; restore it or remove the run")]
    DamagedObject { detail: String },
    #[error("invalid grace period: at least 1h is needed, because a process may be about to refer to a new object")]
    ShortGrace,
    #[error(
        "{file}, line {line}: {reason}. Nothing was loaded; export the run again with `karat store export RUN --whole`"
    )]
    BadExport { file: String, line: usize, reason: String },
    #[error(
        "{file} contains the run {run}, which is already stored with other content; `karat store gc {run}` removes the stored one"
    )]
    Differs { file: String, run: String },
    #[error(
        "{place} has another {row} in the table `{table}` than the store that is copied, or a row that excludes it. Rows are never overwritten; copy into a new store, or remove the run there with `karat store gc RUN` and copy again"
    )]
    CopyDiffers { place: String, table: &'static str, row: String },
    #[error("{place} cannot be copied to itself; name another store")]
    CopyToItself { place: String },
    #[error("the export could not be written: {0}")]
    Unwritten(std::io::Error),
}

impl StoreError {
    /// Whether the same may succeed later without anybody changing anything: the server or the object storage is
    /// away, or has no free connection.
    pub fn is_outage(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Undecided { .. }
                | Self::TooManyConnections { .. }
                | Self::InUse { .. }
                | Self::Full { .. }
                | Self::NoObjectStorage { .. }
        )
    }
}
