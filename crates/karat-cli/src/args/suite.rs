//! Commands that create, check and update suites.

use super::{AskArgs, PlaceArgs, RuleArgs, StorePlace, choice};
use clap::{Args, Subcommand};
use karat_format::config::SuiteKind;
use karat_sandbox::Isolation::{self, Bubblewrap, Landlock, Process};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Folder to write to; created if missing.
    #[arg(value_name = "DIR", default_value = ".")]
    pub(crate) folder: PathBuf,
    /// Kind of suite: findings or assessment.
    ///
    /// findings, for tools that report problems in code, or assessment, for documents and requirements. Default: asked for at a
    /// terminal, elsewhere findings.
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("findings", SuiteKind::Findings), ("assessment", SuiteKind::Assessment)]))]
    pub(crate) kind: Option<SuiteKind>,
    /// Write no example cases.
    ///
    /// Only karat.toml and the schemas are written.
    #[arg(long)]
    pub(crate) bare: bool,
    /// Print the written files as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Suite folder, golden record, or name of a built-in suite.
    ///
    /// A suite folder has karat.toml, CRB challenges or golden records.
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
    /// Output; default: standard output.
    ///
    /// A .jsonl file for a submission, or a folder for a suite.
    #[arg(short = 'o', long = "output", value_name = "FILE|DIR", group = "result")]
    pub(crate) output: Option<PathBuf>,
    /// List the supported formats.
    #[arg(long, group = "result")]
    pub(crate) list: bool,
    /// Print a summary as JSON.
    ///
    /// With skipped items and warnings; the submission itself goes to -o.
    #[arg(long, requires = "result")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct KeyArgs {
    /// Submissions, SARIF, scans, or the format of --from.
    #[arg(value_name = "FILE", required_unless_present = "sarif")]
    pub(crate) files: Vec<PathBuf>,
    /// Format of the files.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Print symbol keys.
    ///
    /// They do not change when lines move.
    #[arg(long)]
    pub(crate) v3: bool,
    /// Source code of the findings.
    ///
    /// A checkout, or a suite folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) source: Option<PathBuf>,
    /// Write the keys back into the files.
    ///
    /// As details.identityKeyV2 of scan-findings; every other byte stays.
    #[arg(long, conflicts_with_all = ["sarif", "v3", "source"])]
    pub(crate) write: bool,
    /// Copy this SARIF file with the keys.
    ///
    /// The keys are added to its partialFingerprints.
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
    /// Trusted scan.
    ///
    /// A submission with one trial for each case.
    #[arg(long = "from", value_name = "SUBMISSION")]
    pub(crate) from: PathBuf,
    /// Tool, if the submission has several.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Trial to use.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) trial: u32,
    /// Update this suite's expectations.
    ///
    /// No new suite is written.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Remove expectations that are not met.
    ///
    /// Those that the scan does not meet.
    #[arg(long)]
    pub(crate) prune: bool,
    /// Output; default: standard output.
    ///
    /// A folder for a whole suite, or a .jsonl file for its cases.
    #[arg(short = 'o', long = "output", value_name = "DIR|FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Print a summary as JSON.
    ///
    /// New, kept and unmet expectations; the cases themselves go to -o.
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
    /// Folder that the goldens' paths start from.
    ///
    /// A folder of the repository.
    #[arg(long, value_name = "PATH")]
    pub(crate) prefix: Option<String>,
    /// Revision the goldens are written for.
    #[arg(long, value_name = "REV")]
    pub(crate) from: String,
    /// Revision to update them to.
    #[arg(long, value_name = "REV")]
    pub(crate) to: String,
    /// Write the new lines to the suite's files.
    ///
    /// Comments and layout are kept.
    #[arg(long)]
    pub(crate) write: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SuiteCommand {
    /// Add a case from a commit or a fix.
    ///
    /// A commit of any repository on this machine.
    #[command(after_help = "\
Examples:
  karat suite add --from-commit HEAD~3 --repo ../app --suite my-suite
  karat suite add --from-commit v1.2 --repo ../app --suite my-suite --whole-tree
  karat suite add --from-fix HEAD --repo ../app --suite my-suite

--from-fix takes the lines whose meaning the fix changes, not layout, versions or lock files, finds by blame the commit that most of
them come from, and makes the case from that commit. Each repaired place becomes a golden with the fix's title; check words and
lines. The fix becomes the twin, with nothing to report.")]
    Add(SuiteAddArgs),
    /// Add confirmed findings to the goldens.
    ///
    /// Those that people confirmed as real problems become acceptable goldens.
    #[command(after_help = "\
Examples:
  karat suite adopt my-suite latest                  use the labels in the store
  karat suite adopt my-suite latest --dry-run        print what would be written
  karat suite adopt my-suite --submission a.jsonl --submission b.jsonl --labels labels.jsonl

Findings that report the same problem become one golden if most of the people who labelled it call it real and it matches no
golden. The new golden is acceptable: a tool that reports it is neither right nor wrong. Change it to required by hand if a good
tool must find it. Comments and layout of the suite's files are kept. Adopting twice adds nothing.")]
    Adopt(SuiteAdoptArgs),
    /// Remove code that no case uses any more.
    ///
    /// Objects of whole trees stay when their case is removed.
    #[command(after_help = "\
Examples:
  karat suite gc my-suite --dry-run                  print what would be removed
  karat suite gc my-suite

Objects are removed from the folder objects/ of the suite; no case and no other file is changed. A suite with errors is refused,
since a case that cannot be read does not say what it uses. Do not run it while cases are added.")]
    Gc(SuiteGcArgs),
    /// Run the proofs of goldens.
    ///
    /// Each must fail on the change and pass on its fix.
    #[command(after_help = "\
Examples:
  karat suite prove my-suite
  karat suite prove my-suite --only language=go      the cases in one language
  karat suite prove my-suite --force                 run unchanged proofs again

A proof is run twice on a copy of after/, and twice with its patch applied, in the sandbox and without the network. The verdicts are
proven, passes on both, fails on both, flaky, no toolchain and broken. They are kept in proofs.json of the suite with hashes of code, proof
and patch. The exit code is 0 if everything that has a toolchain here is proven, and 1 otherwise.")]
    Prove(SuiteProveArgs),
    /// Write a copy whose code reads differently.
    ///
    /// Its cases mean the same: what a tool finds on the original alone, it may have remembered.
    #[command(after_help = "\
Examples:
  karat suite twist my-suite --to twisted
  karat suite twist my-suite --to twisted --seed 7 --prove
  karat suite twist my-suite --to twisted --only language=go
  karat compare original.json twisted.json --twisted   what is found on the original alone

Variables and functions get other names, functions another order, files other names; functions that nothing calls are added, and texts
that only a log gets are changed. Code before and after, fixes and the lines and quotes of goldens are changed alike. A name that a
proof, a pull request, a golden or any file without a grammar mentions stays. Cases keep their ids and canaries and say what they come
from. Code in C, C++, Go, Java, JavaScript, Python, Ruby, Rust, Solidity and TypeScript is twisted; other cases are copied and counted.
Where names may be read while the code runs, they stay; the output says in how many cases. A twisted suite is not twisted again.
The same seed gives the same files.")]
    Twist(SuiteTwistArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiteTwistArgs {
    /// Suite folder, or name of a built-in suite.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// New folder for the copy.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) to: PathBuf,
    /// Random seed.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Twist only matching cases; repeatable.
    ///
    /// A case id, or language=, category=, difficulty=, tier= or repo=; `*` is any text. Their twins come along; other cases are not
    /// in the copy.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Run the proofs of the copy.
    ///
    /// As `karat suite prove FOLDER` does. The exit code is 1 if one does not hold.
    #[arg(long)]
    pub(crate) prove: bool,
    /// Isolate proofs by exactly this.
    ///
    /// bubblewrap, landlock or process. Default: the strongest sandbox; without one, they are run only with process.
    #[arg(long, value_name = "KIND", hide_possible_values = true, requires = "prove")]
    #[arg(value_parser = choice(&[("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) isolation: Option<Isolation>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteProveArgs {
    /// Suite folder.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// Prove only matching cases; repeatable.
    ///
    /// A case id, or language=, category=, difficulty=, tier= or repo=; `*` is any text.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Run unchanged proofs again.
    #[arg(long)]
    pub(crate) force: bool,
    /// Isolate proofs by exactly this.
    ///
    /// bubblewrap, landlock or process. Default: the strongest sandbox; without one, they are run only with process.
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) isolation: Option<Isolation>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteGcArgs {
    /// Suite folder.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// Print what would be removed.
    ///
    /// Nothing is removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteAddArgs {
    /// Commit whose change is the case.
    #[arg(long, value_name = "REV", required_unless_present = "from_fix", conflicts_with = "from_fix")]
    pub(crate) from_commit: Option<String>,
    /// Commit that repaired a problem.
    ///
    /// The case is the change that introduced it.
    #[arg(long, value_name = "REV")]
    pub(crate) from_fix: Option<String>,
    /// Commit that introduced the problem.
    ///
    /// Default: the one that blame finds.
    #[arg(long, value_name = "REV", requires = "from_fix")]
    pub(crate) introduced_by: Option<String>,
    /// Title of the drafted golden.
    ///
    /// Default: the fix's subject.
    #[arg(long, value_name = "TEXT", requires = "from_fix")]
    pub(crate) title: Option<String>,
    /// Store all files of the repository.
    ///
    /// For tools that compile or explore; equal files of all cases exist once.
    #[arg(long)]
    pub(crate) whole_tree: bool,
    /// Repository with the commit.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,
    /// Suite to add the case to.
    #[arg(long, value_name = "SUITE", default_value = ".")]
    pub(crate) suite: PathBuf,
    /// Case id.
    ///
    /// Default: derived from the commit's subject.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Keep the example cases of `karat init`.
    ///
    /// They are removed otherwise, unless they were changed.
    #[arg(long)]
    pub(crate) keep_examples: bool,
    /// Print JSON.
    ///
    /// The folders, and what was skipped.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct SuiteAdoptArgs {
    /// Suite folder.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// Run whose findings were labelled.
    ///
    /// An id, an id prefix, a name, or latest.
    #[arg(value_name = "RUN", conflicts_with = "submissions")]
    pub(crate) run: Option<String>,
    /// Submission (.jsonl); repeatable.
    ///
    /// Its findings were labelled, instead of a run's. Default: the suite's submissions.
    #[arg(long = "submission", value_name = "FILE")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Labels (.jsonl); repeatable.
    ///
    /// In addition to those in the store.
    #[arg(long, value_name = "FILE")]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print what would be written.
    ///
    /// Nothing is written.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
