//! What can go wrong with a store, each with what to do about it.

use std::path::PathBuf;

/// Why the store could not do what was asked. Whatever it is, nothing that was stored is lost.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// There is no store.
    #[error("there is no store in {}; `karat run` makes one, and --store DIR or KARAT_STORE names another", folder.display())]
    Missing {
        /// Where it was looked for.
        folder: PathBuf,
    },
    /// A database, but somebody else's.
    #[error("{} is a database, but not a store of Karat; name the right folder with --store DIR", file.display())]
    Foreign {
        /// The database.
        file: PathBuf,
    },
    /// The store was made by a later version.
    #[error(
        "{} has version {found}, and this Karat knows versions up to {known}; use a newer Karat. Nothing was changed",
        file.display()
    )]
    Newer {
        /// The database.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The latest version that is understood.
        known: i64,
    },
    /// The disk has no room left.
    #[error(
        "the disk is full: {} cannot grow. What was saved before is safe; make room on the disk and go on",
        file.display()
    )]
    Full {
        /// The database.
        file: PathBuf,
    },
    /// The disk does not do what it is told.
    #[error(
        "{} cannot be read or written ({detail}). What was saved before is safe; look after the disk, its quota and its limits, and go on",
        file.display()
    )]
    Disk {
        /// The database.
        file: PathBuf,
        /// How that shows.
        detail: String,
    },
    /// The store can be read and not written.
    #[error(
        "{} cannot be written ({detail}). Nothing was changed; make the folder and its files writable, or name another with --store DIR",
        file.display()
    )]
    ReadOnly {
        /// The database.
        file: PathBuf,
        /// How that shows.
        detail: String,
    },
    /// The file is not what was once written.
    #[error(
        "{} is damaged: {detail}. Nothing was changed; copy the folder, see `karat store verify`, and then save what can still be read with `karat store export`",
        file.display()
    )]
    Damaged {
        /// The database.
        file: PathBuf,
        /// What shows it.
        detail: String,
    },
    /// Another process has the store for itself for too long.
    #[error("{} is in use by another process, and it did not become free; try again when that one is done", file.display())]
    InUse {
        /// The database.
        file: PathBuf,
    },
    /// Another process is working on the run.
    #[error("the run {run} is being worked on by {holder}; wait for it to end, or stop it")]
    Busy {
        /// The run.
        run: String,
        /// Who works on it.
        holder: String,
    },
    /// A file or folder cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The database refused for a reason that has no name here.
    #[error("{}: {detail}; `karat store verify` tells whether the store is sound", file.display())]
    Database {
        /// The database.
        file: PathBuf,
        /// What it said.
        detail: String,
    },
    /// What is to be stored contradicts what is there.
    #[error("{}: {detail}; what was there stays as it was", file.display())]
    Conflict {
        /// The database.
        file: PathBuf,
        /// What contradicts.
        detail: String,
    },
    /// No run goes by this reference.
    #[error("there is no run `{reference}`{hint}; `karat store list` shows all runs")]
    NoRun {
        /// What was asked for.
        reference: String,
        /// What was probably meant.
        hint: String,
    },
    /// Several runs go by this reference.
    #[error("`{reference}` may be any of {candidates}; type more of the id")]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// The runs it may stand for.
        candidates: String,
    },
    /// A name that could be taken for something else.
    #[error("a run cannot be called {name:?}: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The name belongs to another run.
    #[error("the run {run} is called `{name}` already; choose another name")]
    NameTaken {
        /// The name.
        name: String,
        /// Whose it is.
        run: String,
    },
    /// Trials are added to a run that has ended.
    #[error("the run {run} is {state}; only a running run takes trials")]
    Ended {
        /// The run.
        run: String,
        /// How it ended.
        state: &'static str,
    },
    /// An attempt at a trial is there already.
    #[error("{trial} is stored already, and nothing is overwritten")]
    Twice {
        /// Which.
        trial: String,
    },
    /// A trial that no submission could hold.
    #[error("{trial} cannot be stored: {reason}")]
    BadTrial {
        /// Which.
        trial: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A judgement that no file of judgements could hold.
    #[error("judgement {number} cannot be stored: {reason}; nothing was changed")]
    BadJudgement {
        /// Which, counted from 1.
        number: i64,
        /// What is wrong with it.
        reason: String,
    },
    /// An annotator has said something of the same thing before.
    #[error(
        "{annotator} said {said} of the {kind} {id} on {when} UTC; labels are never overwritten, and --change keeps a correction beside it"
    )]
    Labelled {
        /// Who.
        annotator: String,
        /// What it is: `pair`, `extra` or `audited finding`.
        kind: &'static str,
        /// Its public id.
        id: String,
        /// What they said.
        said: &'static str,
        /// When.
        when: String,
    },
    /// A label that no judgement could hold.
    #[error("the label of {about} cannot be stored: {reason}; nothing was changed")]
    BadLabel {
        /// The public id of the pair or the extra.
        about: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file that holds no exchanges, or some that are not as they were recorded.
    #[error(
        "{file}, line {line}: {reason}. Nothing was taken; export the ledger again with `karat store export --ledger`"
    )]
    BadLedger {
        /// The file as the user knows it.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// Exchanges are here already, and they are not the same.
    #[error(
        "{file} holds exchanges that are here already with other content: {keys}. Nothing was taken, since what judges said stays what it is; leave these lines out, or use another store with --store DIR"
    )]
    LedgerDiffers {
        /// The file as the user knows it.
        file: String,
        /// Their keys.
        keys: String,
    },
    /// Nothing is kept under this hash.
    #[error(
        "the store holds nothing under the hash {hash}; `karat store show RUN --trial TOOL CASE N` lists what is kept"
    )]
    NoArtifact {
        /// The hash.
        hash: String,
    },
    /// A file that is no exported run, or not a whole one.
    #[error(
        "{file}, line {line}: {reason}. Nothing was taken; export the run again with `karat store export RUN --whole`"
    )]
    BadExport {
        /// The file as the user knows it.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The run is there already, and it is not the same.
    #[error(
        "{file} holds the run {run}, which is here already with other content; `karat store gc {run}` removes the one that is here"
    )]
    Differs {
        /// The file as the user knows it.
        file: String,
        /// The run.
        run: String,
    },
    /// What is exported cannot be written.
    #[error("the export cannot be written: {0}")]
    Unwritten(std::io::Error),
}
