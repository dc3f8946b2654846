//! Commands that create, check and update suites.

use super::{AskArgs, PlaceArgs, RuleArgs, StorePlace};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Folder with karat.toml, CRB challenges or golden records; a golden record; or the name of a built-in suite.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Treat warnings as errors.
    #[arg(long)]
    pub(crate) strict: bool,
    /// Print the diagnostics as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files to convert; some formats take folders.
    #[arg(value_name = "FILE", required_unless_present = "list")]
    pub(crate) files: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
    /// Tool name; overrides the one in the files.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Suite whose cases the findings belong to.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Output: a .jsonl file for a submission, or a folder for a suite; default: standard output.
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", group = "result")]
    pub(crate) output: Option<PathBuf>,
    /// List the supported formats.
    #[arg(long, group = "result")]
    pub(crate) list: bool,
    /// Print a summary with skipped items and warnings as JSON; the submission itself goes to -o.
    #[arg(long, requires = "result")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// Submissions (.jsonl), SARIF, or any format named by --from.
    #[arg(value_name = "FILE", required_unless_present = "sarif")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Print symbol keys, which do not change when lines move.
    #[arg(long)]
    pub(crate) v3: bool,
    /// Source code of the findings: a checkout, or a suite folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// Copy this SARIF file and add the keys to its partialFingerprints.
    #[arg(long, value_name = "IN", requires = "output", conflicts_with_all = ["files", "v3"])]
    pub(crate) sarif: Option<PathBuf>,
    /// Output file of the copy.
    #[arg(short = 'o', long = "output", value_name = "OUT", requires = "sarif")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Print JSON lines with both keys.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExpectArgs {
    /// Trusted scan: a submission with one trial for each case.
    #[arg(long = "from", value_name = "SUBMISSION")]
    pub(crate) from: PathBuf,
    /// Tool, if the submission has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Trial to use.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) trial: u32,
    /// Update this suite's expectations instead of writing a new suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Remove expectations that the scan does not meet.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Output: a folder for a whole suite, or a .jsonl file for its cases; default: standard output.
    #[arg(short = 'o', long = "output", value_name = "DIR|FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print new, kept and unmet expectations as JSON; the cases themselves go to -o.
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DriftArgs {
    /// Suite whose goldens are updated.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// Repository with the goldens' files.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Folder of the repository that the goldens' paths are relative to.
    #[arg(long, value_name = "PATH")]
    pub(crate) prefix: Option<String>,
    /// Revision the goldens are written for.
    #[arg(long, value_name = "REV")]
    pub(crate) from: String,
    /// Revision to update them to.
    #[arg(long, value_name = "REV")]
    pub(crate) to: String,
    /// Write the new lines to the suite's files; comments and layout are kept.
    #[arg(long)]
    pub(crate) write: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Add a case from a commit of any repository, or from a fix.
    #[command(after_help = "\
Examples:
  karat suite add --from-commit HEAD~3 --repo ../app --suite my-suite
  karat suite add --from-commit v1.2 --repo ../app --suite my-suite --whole-tree
  karat suite add --from-fix HEAD --repo ../app --suite my-suite

--from-fix takes the lines that the fix removes or changes, finds by blame the commit that most of them come from, and makes the
case from that commit. Its golden has the fix's title and those lines; check both. The fix becomes the twin, with nothing to
report.")]
    Add(SuiteAddArgs),
    /// Add findings that people confirmed as real problems to the goldens, as acceptable.
    #[command(after_help = "\
Examples:
  karat suite adopt my-suite latest                  use the labels in the store
  karat suite adopt my-suite latest --dry-run        print what would be written
  karat suite adopt my-suite --submission a.jsonl --submission b.jsonl --labels labels.jsonl

Findings that report the same problem become one golden if most of the people who labelled it call it real and it matches no
golden. The new golden is acceptable: a tool that reports it is neither right nor wrong. Change it to required by hand if a good
tool must find it. Comments and layout of the suite's files are kept. Adopting twice adds nothing.")]
    Adopt(SuiteAdoptArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiteAddArgs {
    /// Commit whose change is the case.
    #[arg(long, value_name = "REV", required_unless_present = "from_fix", conflicts_with = "from_fix")]
    pub(crate) from_commit: Option<String>,
    /// Commit that repaired a problem; the case is the change that introduced it.
    #[arg(long, value_name = "REV")]
    pub(crate) from_fix: Option<String>,
    /// Commit that introduced the problem, instead of the one that blame finds.
    #[arg(long, value_name = "REV", requires = "from_fix")]
    pub(crate) introduced_by: Option<String>,
    /// Title of the drafted golden; default: the fix's subject.
    #[arg(long, value_name = "TEXT", requires = "from_fix")]
    pub(crate) title: Option<String>,
    /// Store all files of the repository, for tools that compile or explore; equal files of all cases exist once.
    #[arg(long)]
    pub(crate) whole_tree: bool,
    /// Repository with the commit.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Suite to add the case to.
    #[arg(long, value_name = "SUITE", default_value = ".")]
    pub(crate) suite: PathBuf,
    /// Case id; default: derived from the commit's subject.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Keep the example cases of `karat init`, which are removed otherwise unless they were changed.
    #[arg(long)]
    pub(crate) keep_examples: bool,
    /// Print the folders and what was skipped as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteAdoptArgs {
    /// Suite folder.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// Run whose findings were labelled: id, id prefix, name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "submissions")]
    pub(crate) run: Option<String>,
    /// Submission (.jsonl) whose findings were labelled, instead of a run; repeatable; default: the suite's submissions.
    #[arg(long = "submission", value_name = "FILE")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Labels (.jsonl), in addition to those in the store; repeatable.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
