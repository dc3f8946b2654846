//! Judges, and how far to trust them.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use karat::judge::agree::On;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(subcommand)]
    pub(crate) command: JudgeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
    /// Measure how far judges agree, and show the disagreements worth reading.
    #[command(after_help = "\
Examples:
  karat judge agree sonnet.jsonl opus.jsonl human.jsonl
  karat judge agree a.jsonl b.jsonl --on found --suite my-suite --submission a-saw.jsonl b-saw.jsonl
  karat judge agree audits.jsonl --on classification --json
  karat judge agree ratings.csv                          rows of item,rater,value")]
    Agree(AgreeArgs),
    /// Fit the local judge to judged pairs, and write its parameters.
    #[command(after_help = "\
Example:
  karat judge fit bench --submission bench/submissions/j.jsonl --judgements bench/judgements/j.jsonl -o judge.toml")]
    Fit(FitArgs),
    /// Measure the local judge against judged pairs.
    #[command(after_help = "\
Examples:
  karat judge eval bench --submission s.jsonl --judgements j.jsonl                   the judge in the binary
  karat judge eval bench --submission s.jsonl --judgements j.jsonl --params my.toml  parameters of yours
  karat judge eval bench --submission s.jsonl --judgements j.jsonl --group-by repo   each repository held out in turn

With --group-by and without --params each group is judged by parameters fitted on all other groups.")]
    Eval(EvalArgs),
}

#[derive(Debug, Args)]
pub(crate) struct AgreeArgs {
    /// Judgements (JSONL), or CSV with the header item,rater,value; `-` is standard input.
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// What was decided; match where there are pair judgements, else verdict.
    #[arg(long, value_name = "WHAT", value_parser = PossibleValuesParser::new(On::ALL.map(On::name)))]
    pub(crate) on: Option<String>,
    /// With --on found: the suite whose goldens there were to be found.
    #[arg(long, value_name = "SUITE", requires = "submissions")]
    pub(crate) suite: Option<String>,
    /// With --on found: the submissions that were judged; goldens of trials without findings count as not found.
    #[arg(long = "submission", value_name = "FILE", id = "submissions", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Show at most so many disagreements.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) disagreements: usize,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Judged pairs.
#[derive(Debug, Args)]
pub(crate) struct LabelArgs {
    /// A suite's folder, or the name of a built-in suite.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: String,
    /// A submission; may be given again.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) submissions: Vec<PathBuf>,
    /// Judgements of its pairs; may be given again.
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    pub(crate) judgements: Vec<PathBuf>,
    /// Make groups of cases by this field: case, repo, language, difficulty, tier, or meta.NAME.
    #[arg(long, value_name = "FIELD")]
    pub(crate) group_by: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct FitArgs {
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    /// The file to write, TOML.
    #[arg(short = 'o', long = "output", value_name = "PARAMS")]
    pub(crate) output: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct EvalArgs {
    #[command(flatten)]
    pub(crate) labels: LabelArgs,
    /// Parameters that `karat judge fit` wrote; those in the binary where absent.
    #[arg(long, value_name = "PARAMS")]
    pub(crate) params: Option<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
