//! Scoring, drawing and telling.

use super::{AskArgs, IntervalArgs, RuleArgs, StorePlace, TrialArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Write the report to a file too; the extension says the format (.html .json .md .csv .xml .sarif .txt); may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print this format instead of the table: table, json, markdown, html, csv, junit, sarif.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub(crate) format: Option<String>,
    /// Print the report as JSON.
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
    pub(crate) ask: AskArgs,
    /// End with 0 though a model that judges answered fewer than half of its questions, as when its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    /// Write what the judges said to a file of judgements (.jsonl), each member of a panel for itself.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_judgements: Option<PathBuf>,
    /// Labels by people (judgements, as `karat label export` writes them). They decide nothing: they show how far the judge errs,
    /// and precision, recall and F1 are told without its errors, too. May be given again.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) intervals: IntervalArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// A report that `karat score -o report.json` wrote, or a stored run: an id, the beginning of one, a name, or latest.
    /// Of several, the last is drawn, and those before it show the trend.
    #[arg(value_name = "REPORT|RUN", required = true)]
    pub(crate) reports: Vec<String>,
    /// The suite that a report file is about, for pages that show code.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// What was submitted to it (.jsonl), for pages that show what findings say in full; may be given again.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
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
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// The trial to tell in full; the first where absent.
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Print the case's part of the report as JSON, with the best candidates of each golden.
    #[arg(long)]
    pub(crate) json: bool,
}
