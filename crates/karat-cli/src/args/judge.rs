//! `karat judge` and `calibrate`.

use super::read::PanelArgs;
use super::{AskArgs, RuleArgs, StorePlace, TrialArgs, choice};
use clap::{Args, Subcommand};
use karat::judge::agree::On;
use karat::judge::run::JudgeRequest;
use karat_core::probe::USUAL_PAIRS;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Ask a judge one question.
    ///
    /// Does this report describe that known problem?
    #[command(
        override_usage = "karat judge ask [OPTIONS] <KNOWN PROBLEM> <REPORT>\n       karat judge ask [OPTIONS] --case <CASE> --golden <GOLDEN> <REPORT>",
        after_help = "\
Examples:
  karat judge ask 'SQL built from user input' 'SQL query from user input'  yes
  karat judge ask 'SQL built from user input' 'The query has no limit'     no
  karat judge ask --suite starter --case py-order-search-sqli --golden search-term-injection 'q in SQL' --judge anthropic
  karat judge ask 'Unbounded cache' 'Memory grows' --judge anthropic --golden-at cache.py:12-30 --finding-at cache.py:14

The local judge compares words. A text with other words than the known problem needs a model, as in the last examples.

Exit code 5: the judge gave no answer."
    )]
    Ask(QuestionArgs),
    /// Print exchanges with models.
    ///
    /// With a key, one exchange: prompt, replies, tokens, cost and result. Without a key, the newest exchanges and the cost of
    /// each model.
    #[command(after_help = "\
Examples:
  karat judge show                 the newest exchanges
  karat judge show 3fa2c1d0b1aa    one of them: prompt, replies, tokens, cost and result")]
    Show(ExchangeArgs),
    /// Measure how often a judge is fooled.
    ///
    /// By planted instructions, flattery, padding and swapped order.
    #[command(after_help = "\
Examples:
  karat judge probe                                     the local judge, on the built-in suite
  karat judge probe --judge anthropic                   a model; recorded answers cost nothing
  karat judge probe my-suite --judge sonnet --pairs 20  a judge of the suite, on its goldens, with fewer questions

Pairs are made from the suite's goldens: known-right ones, known-wrong ones, and variants with an addition that must not
change the answer. The scorecard is stored, and reports that use the same judge show it.")]
    Probe(ProbeArgs),
    /// Measure the agreement of judges.
    ///
    /// The most useful disagreements are shown.
    #[command(after_help = "\
Examples:
  karat judge agree sonnet.jsonl opus.jsonl human.jsonl
  karat judge agree a.jsonl b.jsonl --on found --suite my-suite --submission a-saw.jsonl b-saw.jsonl
  karat judge agree audits.jsonl --on classification --json
  karat judge agree ratings.csv                          rows of item,rater,value")]
    Agree(AgreeArgs),
    /// Fit the local judge to judged pairs.
    ///
    /// Its parameters are written to a file.
    #[command(after_help = "\
Examples:
  karat judge fit bench --submission bench/submissions/j.jsonl --judgements bench/judgements/j.jsonl -o judge.toml
  karat judge fit bench --submission s.jsonl --judgements j.jsonl -o judge.toml --json | jq .provenance.held_out")]
    Fit(FitArgs),
    /// Evaluate a judge on judged pairs.
    ///
    /// The suite's calibration set, or your own pairs.
    #[command(after_help = "\
Examples:
  karat judge eval starter                                  the local judge on the suite's calibration set
  karat judge eval starter --judge anthropic --json         a model on the same pairs
  karat judge eval bench --submission s.jsonl --judgements j.jsonl                   the built-in parameters
  karat judge eval bench --submission s.jsonl --judgements j.jsonl --params my.toml  your own parameters
  karat judge eval bench --submission s.jsonl --judgements j.jsonl --group-by repo   each repository held out in turn

Without --submission and --judgements, the suite's calibration/submission.jsonl and calibration/judgements.jsonl are used.
With --group-by and without --params, the local judge decides each group by parameters fitted on all other groups.")]
    Eval(EvalArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgreeArgs {
    /// Judgements (JSONL) or ratings (CSV); `-` is standard input.
    ///
    /// The CSV has the header item,rater,value.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Decision to compare.
    ///
    /// match, found, classification, matches_target, is_valid_concern, verdict, confidence, type_match, rcir, ava or fsv.
    /// Default: match if there are pair judgements, else the first that two judges share, and a table of all ten.
    #[arg(long, value_name = "WHAT", hide_possible_values = true, value_parser = choice(&On::NAMES))]
    pub(crate) on: Option<On>,
    /// With --on found: the suite with the goldens.
    #[arg(long, value_name = "SUITE", requires = "submissions")]
    pub(crate) suite: Option<String>,
    /// With --on found: the judged submissions.
    ///
    /// Goldens of trials without findings count as not found.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Show at most this many disagreements.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) disagreements: usize,
    /// Random seed; default: 0, as in reports.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    /// Suite folder, or name of a built-in suite.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// Submission; repeatable.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) judgements: Vec<PathBuf>,
    /// Group cases by this field.
    ///
    /// case, repo, language, difficulty, tier, or meta.NAME.
    #[arg(long, value_name = "FIELD")]
    pub(crate) group_by: Option<String>,
    /// Parameters to start from (.toml).
    ///
    /// What the pairs are not about, prose or scanners' findings, is kept from these parameters. Default: the built-in ones.
    #[arg(long, value_name = "PARAMS")]
    pub(crate) params: Option<PathBuf>,
    /// Output file (TOML).
    #[arg(short = 'o', long = "output", value_name = "PARAMS")]
    pub(crate) output: PathBuf,
    /// Print JSON.
    ///
    /// The file, the data it was fitted on, and the results on held-out groups.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    /// Suite folder, or name of a built-in suite.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// Submission; repeatable.
    ///
    /// Default: the suite's calibration set.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "judgements")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "submissions")]
    pub(crate) judgements: Vec<PathBuf>,
    /// Group cases by this field.
    ///
    /// case, repo, language, difficulty, tier, or meta.NAME.
    #[arg(long, value_name = "FIELD")]
    pub(crate) group_by: Option<String>,
    /// Parameters of the local judge.
    ///
    /// A file written by `karat judge fit`. Default: the built-in ones.
    #[arg(long, value_name = "PARAMS")]
    pub(crate) params: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// The judge to use, and where its exchanges are stored.
#[derive(Debug, Args)]
pub(crate) struct WhoArgs {
    /// Judge to use.
    ///
    /// local, human, a judge of karat.toml, PROVIDER/MODEL, or several, separated by commas.
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub(crate) judge: String,
    #[command(flatten)]
    panel: PanelArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
}

impl WhoArgs {
    pub(crate) fn request(&self) -> JudgeRequest {
        self.panel.request(Some(&self.judge))
    }
}

#[derive(Debug, Args)]
pub(crate) struct QuestionArgs {
    /// The known problem and the report.
    ///
    /// With --golden, only the report.
    #[arg(value_name = "TEXT", required = true, num_args = 1..=2)]
    pub(crate) texts: Vec<String>,
    /// Suite with the case and the judges.
    ///
    /// Default: the current folder, if it is a suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Case of the suite.
    ///
    /// The judge sees its code around the locations.
    #[arg(long, value_name = "CASE")]
    pub(crate) case: Option<String>,
    /// Golden of that case.
    ///
    /// It takes the place of the known problem as text.
    #[arg(long, value_name = "GOLDEN", requires = "case", conflicts_with = "golden_at")]
    pub(crate) golden: Option<String>,
    /// Location of the known problem.
    ///
    /// FILE, FILE:LINE or FILE:FIRST-LAST.
    #[arg(long, value_name = "FILE:LINES")]
    pub(crate) golden_at: Option<String>,
    /// Location named by the report.
    #[arg(long, value_name = "FILE:LINES")]
    pub(crate) finding_at: Option<String>,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ExchangeArgs {
    /// Key of an exchange, or a prefix of it.
    #[arg(value_name = "KEY")]
    pub(crate) key: Option<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Suite whose goldens the pairs are made from.
    ///
    /// A folder, or the name of a built-in suite.
    #[arg(value_name = "SUITE", default_value = "starter")]
    pub(crate) suite: String,
    /// Most pairs of each kind.
    ///
    /// At most this many known-right and known-wrong pairs; each is asked in several forms.
    #[arg(long, value_name = "N", default_value_t = USUAL_PAIRS as u32, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) pairs: u32,
    #[command(flatten)]
    pub(crate) who: WhoArgs,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Fit the weights of sui to experts' rankings.
    #[command(after_help = "\
Examples:
  karat calibrate sui report.json --ranking experts.csv
  karat calibrate sui a.json b.json --ranking experts.csv -o ours.toml
  karat score my-suite --profile ours.toml               score by the fitted profile

A ranking is CSV with the header tool,rank (1 is best) or tool,score (higher is better), and an
optional column expert; or JSONL with the same names. Equal ranks are ties. At least 4 tools must
be ranked, and 30 for weights to be recommended.")]
    Sui(Box<SuiArgs>),
    /// Fit matching to labelled pairs.
    ///
    /// Its weights and its threshold are fitted.
    #[command(after_help = "\
Examples:
  karat calibrate match starter                 the suite's own calibration set
  karat calibrate match starter scanned         the sets of two suites together
  karat calibrate match my-suite --submission s.jsonl --labels labels.jsonl -o ours.toml

Labels are judgements of pairs, as written by `karat label export`. At least 30 are needed,
including both matches and non-matches.")]
    Match(MatchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiArgs {
    /// Stored runs, report files, or a suite.
    ///
    /// A report file is written by `karat score -o report.json`. A suite is scored first; only one may be named.
    #[arg(value_name = "REPORT|RUN|SUITE", required = true)]
    pub(crate) of: Vec<String>,
    /// Experts' ranking of the tools.
    ///
    /// CSV or JSONL; `-` is standard input.
    #[arg(long, value_name = "FILE")]
    pub(crate) ranking: PathBuf,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: FittedArgs,
}

#[derive(Debug, Args)]
pub(crate) struct MatchArgs {
    /// Suite folders or names of built-in suites.
    ///
    /// Several may be named only with their own calibration sets.
    #[arg(value_name = "SUITE", required = true)]
    pub(crate) suites: Vec<String>,
    /// Submission; repeatable.
    ///
    /// Default: the suites' calibration sets.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "labels")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "submissions")]
    pub(crate) labels: Vec<PathBuf>,
    /// Hold out groups by this field.
    ///
    /// case, repo, language, difficulty, tier, or meta.NAME.
    #[arg(long, value_name = "FIELD", default_value = "case")]
    pub(crate) group_by: String,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) output: FittedArgs,
}

/// Output of the fitted values.
#[derive(Debug, Args)]
pub(crate) struct FittedArgs {
    /// Write the fitted profile (.toml).
    ///
    /// Other commands take it with --profile. Values that are not recommended are not written, and the exit code is 1.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Write the profile even if it is not recommended.
    #[arg(long, requires = "file")]
    pub(crate) force: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
