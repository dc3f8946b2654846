//! Making suites and keeping them right.

use super::{AskArgs, PlaceArgs, RuleArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder to write into; it is made where it does not exist.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Print the written files as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// A folder with karat.toml, of CRB challenges or of golden records; a golden record; or the name of a built-in suite.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Fail on warnings too.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the diagnostics as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The files; some formats take folders.
    #[arg(value_name = "FILE", required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// The tool's name, whatever the files say.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The suite whose cases the findings belong to.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// A .jsonl file for the submission, or a folder for a whole suite; standard output where absent.
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", group = "result")]
    pub(crate) output: Option<PathBuf>,
    /// List the formats.
    #[arg(long, group = "result")]
    pub(crate) list: bool,
    /// Print what was imported, left out and noticed as JSON; the submission itself goes to -o.
    #[arg(long, requires = "result")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// Submissions (.jsonl), SARIF, or any format named by --from.
    #[arg(value_name = "FILE", required_unless_present = "sarif")]
    pub(crate) files: Vec<PathBuf>,
    /// The format of the files.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Print symbol keys, which survive moved lines.
    #[arg(long)]
    pub(crate) v3: bool,
    /// The code the findings are about: a checkout, or a suite's folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// Copy this SARIF file with the keys in its partialFingerprints.
    #[arg(long, value_name = "IN", requires = "output", conflicts_with_all = ["files", "v3"])]
    pub(crate) sarif: Option<PathBuf>,
    /// Where the copy goes.
    #[arg(short = 'o', long = "output", value_name = "OUT", requires = "sarif")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Print JSON lines with both keys instead.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExpectArgs {
    /// The trusted scan: a submission, one trial for each case.
    #[arg(long = "from", value_name = "SUBMISSION")]
    pub(crate) from: PathBuf,
    /// The tool, where the submission has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The trial to trust.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) trial: u32,
    /// Update this suite's expectations instead of starting anew.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Drop expectations the scan does not meet.
    #[arg(long)]
    pub(crate) prune: bool,
    /// A folder for a whole suite, or a .jsonl file for its cases; standard output where absent.
    #[arg(short = 'o', long = "output", value_name = "DIR|FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print what is new, kept and not met as JSON; the cases themselves go to -o.
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DriftArgs {
    /// The suite whose goldens are carried.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// The repository the goldens' files lie in.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// A folder of the repository that the goldens' files are relative to.
    #[arg(long, value_name = "PATH")]
    pub(crate) prefix: Option<String>,
    /// The revision the goldens are written for.
    #[arg(long, value_name = "REV")]
    pub(crate) from: String,
    /// The revision to carry them to.
    #[arg(long, value_name = "REV")]
    pub(crate) to: String,
    /// Write the new lines into the suite's files; comments and layout stay.
    #[arg(long)]
    pub(crate) write: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    #[command(subcommand)]
    pub(crate) command: SuiteCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Make a case skeleton from a commit of any repository.
    #[command(after_help = "Example:\n  karat suite add --from-commit HEAD~3 --repo ../app --suite my-suite")]
    Add {
        /// The commit that introduced, or fixed, what the case is about.
        #[arg(long, value_name = "REV")]
        from_commit: String,
        /// The repository.
        #[arg(long, value_name = "DIR", default_value = ".")]
        repo: PathBuf,
        /// The suite to add to.
        #[arg(long, value_name = "SUITE", default_value = ".")]
        suite: PathBuf,
        /// The case's id; made from the commit's subject where absent.
        #[arg(long, value_name = "ID")]
        id: Option<String>,
        /// Print the folder and what was left out as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make acceptable goldens of findings that people confirmed as real problems.
    #[command(after_help = "\
Examples:
  karat suite adopt my-suite latest                  by the labels in the store
  karat suite adopt my-suite latest --dry-run        what would be written
  karat suite adopt my-suite --submission a.jsonl --submission b.jsonl --labels labels.jsonl

Findings that report the same thing become one golden, where most of the people who looked at it say that it is a real problem
and no golden is matched by it. It is written as acceptable: a tool that reports it is neither right nor wrong. Make it required
by hand where a good tool must find it. Comments and layout of the suite's files stay. Adopting twice adds nothing.")]
    Adopt(SuiteAdoptArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiteAdoptArgs {
    /// The suite's folder.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// The run whose findings were labelled: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "submissions")]
    pub(crate) run: Option<String>,
    /// A submission (.jsonl) whose findings were labelled, instead of a run; may be given again; those in the suite where absent.
    #[arg(long = "submission", value_name = "FILE")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Labels (.jsonl), beside those in the store; may be given again.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// The store's folder; else KARAT_STORE, else the nearest .karat from the current folder upwards.
    #[arg(long, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
