//! Judges: fitting and measuring them.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(subcommand)]
    pub(crate) command: JudgeCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum JudgeCommand {
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
