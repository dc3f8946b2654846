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
