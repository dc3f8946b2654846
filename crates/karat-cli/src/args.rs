//! What can be typed. What it means is resolved by the commands.

use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;

/// How good is a findings producer? Golden truth and a tool's output in; honest numbers out.
#[derive(Debug, Parser)]
#[command(name = "karat", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "\
Examples:
  karat run starter                              the built-in suite: a baseline and two recorded tools
  karat score my-suite --submission scan.sarif   a scanner's SARIF against your goldens
  karat explain sqli --tool my-reviewer          why each golden was found or missed
  karat init my-suite                            a small suite to start from

Exit codes: 0 ok · 1 expectation failed · 2 usage · 3 inconclusive · 4 bad input · 5 system failed · 70 internal")]
pub(crate) struct Arguments {
    /// Threads to use; all cores where absent. The result is the same with any number.
    #[arg(short = 'j', long = "threads", global = true, value_name = "N", value_parser = threads)]
    pub(crate) threads: Option<usize>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a number from 1 to 1024".to_owned()),
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a small working suite, with comments, to start from.
    #[command(after_help = "Example:\n  karat init my-suite && karat check my-suite && karat score my-suite")]
    Init(InitArgs),
    /// Lint a suite: everything that is wrong with it, with file, line and column.
    #[command(after_help = "Examples:\n  karat check my-suite\n  karat check my-suite --strict --json")]
    Check(CheckArgs),
    /// Run tools on every case of a suite, keep everything, score it, and rank them.
    #[command(after_help = "\
Examples:
  karat run starter                                     the built-in suite: the baseline and two recorded tools
  karat run my-suite --tool bandit --tool patterns      a scanner against the built-in baseline
  karat run my-suite --tool ./my-reviewer.toml -j 4     a tool of your own, four trials at once
  karat run my-suite --tool claude-code --model NAME    an agent, with the model you choose
  karat run my-suite --only 'py-*' --trials 5           some cases, more often
  karat run my-suite --dry-run                          what would be done
  karat run --resume latest --retry-failed              go on where a run was stopped

Tools are those of the suite's karat.toml, those that `karat tools list` shows, a manifest file, or replay:FILE for
recorded trials. Without --tool all that karat.toml declares are run.")]
    Run(RunArgs),
    /// Show a stored run again, as it went.
    #[command(after_help = "Examples:\n  karat replay latest\n  karat replay 0199f2ab --speed 10")]
    Replay(ReplayArgs),
    /// Put two runs, two reports or two tools side by side: metrics, and which goldens moved.
    #[command(after_help = "\
Examples:
  karat compare before.json after.json
  karat compare nightly latest --metric f1 --metric recall
  karat compare latest --tools patterns,careful-reviewer")]
    Compare(CompareArgs),
    /// Score submissions, or a scanner's own output, against a suite.
    #[command(after_help = "\
Examples:
  karat score starter
  karat score my-suite --submission scan.sarif
  karat score my-suite --submission a.jsonl --submission b.jsonl -o report.json -o report.md
  karat score my-suite --submission scan.json --from bandit --rule-map rules.csv
  karat score my-suite --set line_tolerance=3 --set 'require=[\"file\", \"category\"]'

  karat score latest --set threshold=0.5         a stored run again, by other rules

Without --submission the files in SUITE/submissions/ are scored.")]
    Score(ScoreArgs),
    /// Draw a stored report again, in any format.
    #[command(after_help = "Examples:\n  karat report latest\n  karat report report.json -o report.md -o junit.xml")]
    Report(ReportArgs),
    /// Tell one case as a story: each golden, its candidates, who decided and why.
    #[command(
        after_help = "Examples:\n  karat explain py-order-search-sqli --suite starter --tool careful-reviewer\n  karat explain sqli --tool bandit --submission scan.sarif --trial 2\n  karat explain sqli --tool bandit --run latest"
    )]
    Explain(ExplainArgs),
    /// Turn another program's output into a submission, a suite, or judgements.
    #[command(after_help = "\
Examples:
  karat import --from sarif --suite my-suite scan.sarif -o submission.jsonl
  karat import --from bandit --case sqli bandit.json -o submission.jsonl
  karat import --from sarif --case-from 'projects/([^/]+)/' scan.sarif -o submission.jsonl
  karat import --from code-review-bench golden_comments results/JUDGE -o bench/
  karat import --list")]
    Import(ImportArgs),
    /// Print the identity key of every finding: case, tool, trial, finding, key.
    #[command(after_help = "\
Examples:
  karat key submission.jsonl
  karat key submission.jsonl --v3 --source my-suite
  karat key --sarif scan.sarif -o keyed.sarif")]
    Key(KeyArgs),
    /// Turn a trusted scan into expectations with keys, to start or update a deterministic suite.
    #[command(
        after_help = "Examples:\n  karat expect --from scan.jsonl -o exact-suite\n  karat expect --from scan.jsonl --suite exact-suite --prune -o exact-suite/cases.jsonl"
    )]
    Expect(ExpectArgs),
    /// Carry goldens from one revision of a git repository to another.
    #[command(
        after_help = "Examples:\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD\n  karat drift my-suite --repo ../app --from v1.0 --to HEAD --write"
    )]
    Drift(DriftArgs),
    /// Work on a suite's cases.
    Suite(SuiteArgs),
    /// Look after the store of runs: list, show, clear out, move and check them.
    #[command(after_help = "\
Examples:
  karat store list
  karat store show latest
  karat store export latest -o submission.jsonl

The store is --store DIR, else KARAT_STORE, else the nearest .karat from the current folder upwards.
A RUN is an id or the beginning of one, a name, or `latest`.")]
    Store(StoreArgs),
    /// List or print the profiles: the rules of matching and scoring.
    Profile(ProfileArgs),
    /// List tools, print how they are declared, and see which could run here.
    Tools(ToolsArgs),
    /// Print completions for a shell.
    #[command(after_help = "Example:\n  karat completions bash > ~/.local/share/bash-completion/completions/karat")]
    Completions(CompletionsArgs),
}

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
    /// A folder with karat.toml, or of CRB challenges; or the name of a built-in suite.
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

/// The rules to score by.
#[derive(Debug, Args)]
pub(crate) struct RuleArgs {
    /// A profile's name, or a TOML file that states what differs from one; the suite's own where absent.
    #[arg(long, value_name = "P")]
    pub(crate) profile: Option<String>,
    /// Change a single value of the profile; may be given again.
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

/// What to score, and by whose decisions.
#[derive(Debug, Args)]
pub(crate) struct TrialArgs {
    /// A submission (.jsonl), SARIF, or any format named by --from; may be given again; `-` is standard input.
    #[arg(long = "submission", value_name = "FILE", num_args = 1..)]
    pub(crate) submissions: Vec<PathBuf>,
    /// Recorded judgements; may be given again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) judgements: Vec<PathBuf>,
    /// Hear only this judge of the recorded judgements, or `none` at all.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) place: PlaceArgs,
}

/// How another program's findings are put to cases.
#[derive(Debug, Args)]
pub(crate) struct PlaceArgs {
    /// The format of the files; `karat import --list` shows them.
    #[arg(long, value_name = "FORMAT")]
    pub(crate) from: Option<String>,
    /// Put all findings to this case.
    #[arg(long = "case", id = "the_case", value_name = "ID", conflicts_with = "case_from")]
    pub(crate) case: Option<String>,
    /// Find the case in the path: the group `case`, else the first group, else the whole match.
    #[arg(long, value_name = "REGEX")]
    pub(crate) case_from: Option<String>,
    /// CSV with `rule_id,category[,cwe]`, to give findings the suite's categories.
    #[arg(long, value_name = "FILE")]
    pub(crate) rule_map: Option<PathBuf>,
    /// The number of the trial, for formats that do not say.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) trial_number: u32,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the report to a file too; the extension says the format (.json .md .csv .xml .sarif .txt); may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print this format instead of the table: table, json, markdown, csv, junit, sarif.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub(crate) format: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct StorePlace {
    /// The store's folder; else KARAT_STORE, else the nearest .karat from the current folder upwards.
    #[arg(long = "store", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A folder with karat.toml, or of CRB challenges; or the name of a built-in suite; the current folder where absent.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// A tool by name, a manifest file (.toml), or replay:FILE; may be given again.
    #[arg(long = "tool", value_name = "T", num_args = 1..)]
    pub(crate) tools: Vec<String>,
    /// How often each tool runs on each case; the suite's number where absent, else 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: Option<u32>,
    /// Only cases whose id fits, or with language=, category=, difficulty=, tier= or repo=; `*` is any text; may be given again.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// No case that fits; may be given again.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) skip: Vec<String>,
    /// One of several parts of the suite, such as 2/5.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// The model for every tool that takes one; else KARAT_TOOL_MODEL or CRB_TOOL_MODEL.
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// What to call the run.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,
    /// Print what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on with a run: an id, the beginning of one, a name, or latest.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Try failed trials of the resumed run once more.
    #[arg(long, requires = "resume")]
    pub(crate) retry_failed: bool,
    /// Stop at the first failed trial.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// Stop after so many failed trials.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_failures: Option<u32>,
    /// Isolate tools by this and nothing else: bubblewrap, landlock or process; the strongest there is where absent.
    #[arg(long, value_name = "KIND")]
    pub(crate) isolation: Option<String>,
    /// Refuse to run tools with less isolation: any sandbox, or bubblewrap or landlock by name.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", require_equals = true)]
    pub(crate) require_isolation: Option<String>,
    /// Recorded judgements to score by; may be given again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) judgements: Vec<PathBuf>,
    /// Hear only this judge of the recorded judgements, or `none` at all.
    #[arg(long, value_name = "NAME")]
    pub(crate) judge: Option<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Tell nothing on the way.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// As fast as it went, times this; at once where absent.
    #[arg(long, value_name = "X", value_parser = speed)]
    pub(crate) speed: Option<f64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Tell nothing on the way.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(speed),
        _ => Err("expected a number above 0".to_owned()),
    }
}

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs (ids, beginnings of ids, names, latest) or report JSON files. The first is what the others are held against.
    #[arg(value_name = "RUN|REPORT", required = true)]
    pub(crate) reports: Vec<String>,
    /// These tools only; with one report, the first against each of the others.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// These metrics instead of the profile's; may be given again.
    #[arg(long = "metric", value_name = "ID")]
    pub(crate) metrics: Vec<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// A suite's folder, the name of a built-in suite, or a stored run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "SUITE|RUN", default_value = ".")]
    pub(crate) suite: String,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    /// Score only these tools; may be given again. With an imported file: the tool's name.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A report that `karat score -o report.json` wrote, or a stored run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "REPORT|RUN")]
    pub(crate) report: String,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// The case.
    #[arg(value_name = "CASE")]
    pub(crate) case: String,
    /// The tool; may be left out where there is only one.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// The suite; the current folder where absent, or the latest run where that is no suite.
    #[arg(long, value_name = "SUITE", conflicts_with = "run")]
    pub(crate) suite: Option<String>,
    /// A stored run: an id, the beginning of one, a name, or latest.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// The trial to tell in full; the first where absent.
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Print the case's part of the report as JSON, with the best candidates of each golden.
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
}

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
    /// The store's folder, or the folder it lies in.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// List all runs, the newest first.
    #[command(after_help = "Examples:\n  karat store list\n  karat store list --store ../suite/.karat --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Tell what a run planned, how its trials ended, and what they left behind.
    #[command(after_help = "\
Examples:
  karat store show latest
  karat store show 0192f3a1 --trial bandit sqli 1
  karat store show 0192f3a1 --trial bandit sqli 1 --artifact stderr")]
    Show {
        /// The run.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// One trial instead: the tool, the case and the number.
        #[arg(long, num_args = 3, value_names = ["TOOL", "CASE", "N"])]
        trial: Option<Vec<String>>,
        /// Print what the trial left behind under this name, such as stdout.
        #[arg(long, value_name = "NAME", requires = "trial", conflicts_with = "json")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove runs, and whatever nothing refers to any more. Runs that are worked on stay.
    #[command(after_help = "\
Examples:
  karat store gc
  karat store gc 0192f3a1 nightly
  karat store gc --keep 20 --older-than 30d --dry-run

With both --keep and --older-than a run goes only if both allow it.")]
    Gc {
        /// Runs to remove, whatever their age.
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Remove runs that were begun longer ago than this, such as 12h, 30d or 8w.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<std::time::Duration>,
        /// Remove all but the newest so many runs.
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Only tell what would go.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a run's trials as a submission, or the whole run as one file for another store.
    #[command(after_help = "\
Examples:
  karat store export latest -o submission.jsonl
  karat store export nightly --whole -o nightly.jsonl.gz")]
    Export {
        /// The run.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Everything of the run, for `karat store import`; compressed where the name ends in .gz.
        #[arg(long, requires = "output")]
        whole: bool,
        /// The file; standard output where absent.
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print what was written as JSON; the trials themselves go to -o.
        #[arg(long, requires = "output")]
        json: bool,
    },
    /// Take a run from a file that `karat store export --whole` wrote.
    #[command(
        after_help = "Examples:\n  karat store import nightly.jsonl.gz\n  karat store import nightly.jsonl.gz --name theirs"
    )]
    Import {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Call the run this instead of what it was called.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Read everything in the store and tell what is wrong with it. Nothing is changed.
    #[command(after_help = "Example:\n  karat store verify")]
    Verify {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A number and a unit: seconds, minutes, hours, days or weeks.
fn age(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || "expected a number with a unit: 90s, 5m, 12h, 30d or 8w".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
    number.checked_mul(seconds).map(std::time::Duration::from_secs).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles in the binary.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a profile as TOML, with changes applied.
    #[command(after_help = "Examples:\n  karat profile show karat\n  karat profile show crb --set threshold=0.5")]
    Show {
        /// A name, or a TOML file.
        #[arg(value_name = "NAME", default_value = "karat")]
        name: String,
        /// Change a single value; may be given again.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools of the catalogue, and those a suite declares.
    #[command(after_help = "Examples:\n  karat tools list\n  karat tools list --suite my-suite --json")]
    List {
        /// A suite whose tools are listed too.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a tool's manifest, ready to be pasted into karat.toml.
    #[command(after_help = "Examples:\n  karat tools show bandit >> my-suite/karat.toml\n  karat tools show sarif")]
    Show {
        /// The tool.
        #[arg(value_name = "NAME")]
        name: String,
        /// A suite that may declare it.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// See which tools could run here: programs, versions and keys. A named tool that could not makes the exit code 5.
    #[command(
        after_help = "Examples:\n  karat tools doctor\n  karat tools doctor bandit ruff\n  karat tools doctor --suite my-suite --json"
    )]
    Doctor {
        /// The tools to look at; all where absent.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// A suite whose tools are looked at too.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}
