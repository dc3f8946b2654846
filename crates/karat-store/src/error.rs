//! Errors of the store.

use std::path::PathBuf;

/// An error of the store. No stored data is lost, whatever the error.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum StoreError {
    #[error("there is no store in {}; `karat run` makes one, and --store DIR or KARAT_STORE names another", folder.display())]
    Missing { folder: PathBuf },
    #[error("{} is a database, but not a store of Karat; name the right folder with --store DIR", file.display())]
    Foreign { file: PathBuf },
    #[error(
        "{} has version {found}, and this Karat knows versions up to {known}; use a newer Karat. Nothing was changed",
        file.display()
    )]
    Newer { file: PathBuf, found: i64, known: i64 },
    #[error(
        "the disk is full: {} cannot grow. What was saved before is safe; make room on the disk and go on",
        file.display()
    )]
    Full { file: PathBuf },
    #[error(
        "{} cannot be read or written ({detail}). What was saved before is safe; look after the disk, its quota and its limits, and go on",
        file.display()
    )]
    Disk { file: PathBuf, detail: String },
    #[error(
        "{} cannot be written ({detail}). Nothing was changed; make the folder and its files writable, or name another with --store DIR",
        file.display()
    )]
    ReadOnly { file: PathBuf, detail: String },
    #[error(
        "{} is damaged: {detail}. Nothing was changed; copy the folder, see `karat store verify`, and then save what can still be read with `karat store export`",
        file.display()
    )]
    Damaged { file: PathBuf, detail: String },
    #[error("{} is in use by another process, and it did not become free; try again when that one is done", file.display())]
    InUse { file: PathBuf },
    #[error("the run {run} is being worked on by {holder}; wait for it to end, or stop it")]
    Busy { run: String, holder: String },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{}: {detail}; `karat store verify` tells whether the store is sound", file.display())]
    Database { file: PathBuf, detail: String },
    #[error("{}: {detail}; what was there stays as it was", file.display())]
    Conflict { file: PathBuf, detail: String },
    #[error("there is no run `{reference}`{hint}; `karat store list` shows all runs")]
    NoRun { reference: String, hint: String },
    #[error("`{reference}` may be any of {candidates}; type more of the id")]
    Ambiguous { reference: String, candidates: String },
    #[error("a run cannot be called {name:?}: {reason}")]
    BadName { name: String, reason: &'static str },
    #[error("the run {run} is called `{name}` already; choose another name")]
    NameTaken { name: String, run: String },
    #[error("the run {run} is {state}; only a running run takes trials")]
    Ended { run: String, state: &'static str },
    #[error("{trial} is stored already, and nothing is overwritten")]
    Twice { trial: String },
    #[error("{trial} cannot be stored: {reason}")]
    BadTrial { trial: String, reason: String },
    #[error("judgement {number} cannot be stored: {reason}; nothing was changed")]
    BadJudgement {
        /// Which, counted from 1.
        number: i64,
        reason: String,
    },
    #[error(
        "{annotator} said {said} of the {kind} {id} on {when} UTC; labels are never overwritten, and --change keeps a correction beside it"
    )]
    Labelled {
        annotator: String,
        /// What it is: `pair`, `extra` or `audited finding`.
        kind: &'static str,
        id: String,
        said: &'static str,
        when: String,
    },
    #[error("the label of {about} cannot be stored: {reason}; nothing was changed")]
    BadLabel {
        /// The public id of the pair or the extra.
        about: String,
        reason: &'static str,
    },
    #[error(
        "{file}, line {line}: {reason}. Nothing was taken; export the ledger again with `karat store export --ledger`"
    )]
    BadLedger {
        file: String,
        /// The line, counted from 1.
        line: usize,
        reason: String,
    },
    #[error(
        "{file} holds exchanges that are here already with other content: {keys}. Nothing was taken, since what judges said stays what it is; leave these lines out, or use another store with --store DIR"
    )]
    LedgerDiffers { file: String, keys: String },
    #[error(
        "the store holds nothing under the hash {hash}; `karat store show RUN --trial TOOL CASE N` lists what is kept"
    )]
    NoArtifact { hash: String },
    #[error(
        "{file}, line {line}: {reason}. Nothing was taken; export the run again with `karat store export RUN --whole`"
    )]
    BadExport {
        file: String,
        /// The line, counted from 1.
        line: usize,
        reason: String,
    },
    #[error(
        "{file} holds the run {run}, which is here already with other content; `karat store gc {run}` removes the one that is here"
    )]
    Differs { file: String, run: String },
    #[error("the export cannot be written: {0}")]
    Unwritten(std::io::Error),
}
