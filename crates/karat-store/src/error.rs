//! Errors of the store.

use std::path::PathBuf;

pub(crate) type Result<T, E = StoreError> = std::result::Result<T, E>;

/// An error of the store. No stored data is lost, whatever the error.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("there is no store in {folder}; `karat run` makes one, and --store DIR or KARAT_STORE names another")]
    Missing { folder: PathBuf },
    #[error("{file} is a database, but not a store of Karat; name the right folder with --store DIR")]
    Foreign { file: PathBuf },
    #[error(
        "{file} has version {found}, but this Karat reads versions up to {known}; use a newer Karat. Nothing was changed"
    )]
    Newer { file: PathBuf, found: i64, known: i64 },
    #[error(
        "{file} has version {found}, but this Karat reads versions from {oldest} on. Nothing was changed; export what you need with the Karat that wrote it (`karat store export RUN --whole`, `karat label export`) and import it into a new store"
    )]
    Older { file: PathBuf, found: i64, oldest: i64 },
    #[error("the disk is full: {file} cannot grow. What was saved before is safe; free some space and resume")]
    Full { file: PathBuf },
    #[error(
        "{file} cannot be read or written ({detail}). What was saved before is safe; check the disk, its quota and its limits, and resume"
    )]
    Disk { file: PathBuf, detail: String },
    #[error(
        "{file} cannot be written ({detail}). Nothing was changed; make the folder and its files writable, or name another with --store DIR"
    )]
    ReadOnly { file: PathBuf, detail: String },
    #[error(
        "{file} is damaged: {detail}. Nothing was changed; copy the folder, see `karat store verify`, and then save what can still be read with `karat store export`"
    )]
    Damaged { file: PathBuf, detail: String },
    #[error("{file} is in use by another process; try again when it has finished")]
    InUse { file: PathBuf },
    #[error("the run {run} is being worked on by {holder}; wait for it to end, or stop it")]
    Busy { run: String, holder: String },
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{file}: {detail}; `karat store verify` checks the store")]
    Database { file: PathBuf, detail: String },
    #[error("{file}: {detail}; nothing was changed")]
    Conflict { file: PathBuf, detail: String },
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
    Labelled { annotator: String, kind: &'static str, id: String, answer: &'static str, when: String },
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
        "{file}, line {line}: {reason}. Nothing was loaded; export the run again with `karat store export RUN --whole`"
    )]
    BadExport { file: String, line: usize, reason: String },
    #[error(
        "{file} contains the run {run}, which is already stored with other content; `karat store gc {run}` removes the stored one"
    )]
    Differs { file: String, run: String },
    #[error("the export could not be written: {0}")]
    Unwritten(std::io::Error),
}
