//! `karat calibrate`.

use super::{AskArgs, RuleArgs, StorePlace, TrialArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Fit the weights of `sui` to experts' rankings of tools.
    #[command(after_help = "\
Examples:
  karat calibrate sui report.json --ranking experts.csv
  karat calibrate sui a.json b.json --ranking experts.csv -o ours.toml
  karat score my-suite --profile ours.toml               score by the fitted profile

A ranking is CSV with the header tool,rank (1 is best) or tool,score (higher is better), and an
optional column expert; or JSONL with the same names. Equal ranks are ties. At least 4 tools must
be ranked.")]
    Sui(SuiArgs),
    /// Fit the weights and the threshold of matching to labelled pairs.
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
    /// Reports written by `karat score -o report.json`, or stored runs; or one suite, which is scored first.
    #[arg(value_name = "REPORT|RUN|SUITE", required = true)]
    pub(crate) of: Vec<String>,
    /// Experts' ranking of the tools, CSV or JSONL; `-` is standard input.
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
    /// Suite folders or names of built-in suites; several only with their own calibration sets.
    #[arg(value_name = "SUITE", required = true)]
    pub(crate) suites: Vec<String>,
    /// Submission; repeatable; default: the suites' calibration sets.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "labels")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "submissions")]
    pub(crate) labels: Vec<PathBuf>,
    /// Hold out groups of cases by this field: case, repo, language, difficulty, tier, or meta.NAME.
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
    /// Write a profile with the fitted values (.toml), for --profile.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
