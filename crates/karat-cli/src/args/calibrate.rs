//! Numbers of a profile, fitted to what people say.

use super::{AskArgs, RuleArgs, StorePlace, TrialArgs};
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CalibrateArgs {
    #[command(subcommand)]
    pub(crate) command: CalibrateCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CalibrateCommand {
    /// Fit the weights of `sui` to experts' rankings of tools.
    #[command(after_help = "\
Examples:
  karat calibrate sui report.json --ranking experts.csv
  karat calibrate sui a.json b.json --ranking experts.csv -o ours.toml
  karat score my-suite --profile ours.toml               what was fitted, in use

A ranking is CSV with the header tool,rank (1 is the best) or tool,score (more is better), and
perhaps a column expert; or JSONL with the same names. Equal ranks are ties. At least 4 tools must
be ranked.")]
    Sui(SuiArgs),
    /// Fit the weights and the threshold of matching to labelled pairs.
    #[command(after_help = "\
Examples:
  karat calibrate match starter                 the suite's own calibration set
  karat calibrate match starter scanned         the sets of two suites together
  karat calibrate match my-suite --submission s.jsonl --labels labels.jsonl -o ours.toml

Labels are judgements of pairs, as `karat label export` writes them. At least 30 are needed, of
both kinds.")]
    Match(MatchArgs),
}

#[derive(Debug, Args)]
pub(crate) struct SuiArgs {
    /// Reports that `karat score -o report.json` wrote, or stored runs; or one suite, to score it now.
    #[arg(value_name = "REPORT|RUN|SUITE", required = true)]
    pub(crate) of: Vec<String>,
    /// What experts think of the tools: CSV or JSONL; `-` is standard input.
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
    /// Suites' folders, or names of built-in suites; several only with their own calibration sets.
    #[arg(value_name = "SUITE", required = true)]
    pub(crate) suites: Vec<String>,
    /// A submission; may be given again. The suites' calibration sets where absent.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "labels")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; may be given again.
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

/// What becomes of fitted numbers.
#[derive(Debug, Args)]
pub(crate) struct FittedArgs {
    /// Write a profile with the fitted numbers, for --profile (.toml).
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
