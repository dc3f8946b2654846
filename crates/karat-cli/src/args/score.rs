//! `karat score`, `report`, `explain` and `plot`.

use super::choices::{PlotFormat, PlotTheme};
use super::{AskArgs, IntervalArgs, RuleArgs, StorePlace, TrialArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Also write the report to a file; the extension selects the format (.html .json .md .csv .xml .sarif .txt); repeatable.
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
    /// Suite folder, name of a built-in suite, or a stored run: id, id prefix, name, or latest.
    #[arg(value_name = "SUITE|RUN", default_value = ".")]
    pub(crate) suite: String,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    /// Score only this tool; repeatable. With an imported file: the tool's name.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Exit with 0 even if a judge model answered fewer than half of its questions, for example because its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    /// Write the judges' decisions to a file of judgements (.jsonl), one for each panel member.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_judgements: Option<PathBuf>,
    /// Human labels, as written by `karat label export`. They decide no match: they measure the judge's errors, and precision,
    /// recall and F1 are also reported corrected for them; repeatable.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Random seed; default: derived from the data.
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
    /// Report written by `karat score -o report.json`, or a stored run: id, id prefix, name, or latest.
    /// Of several, the last is rendered and the earlier ones form the trend.
    #[arg(value_name = "REPORT|RUN", required = true)]
    pub(crate) reports: Vec<String>,
    /// Suite of the report file, for pages that show code.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Submission (.jsonl) to the suite, for pages that show the full text of findings; repeatable.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Case to explain.
    #[arg(value_name = "CASE")]
    pub(crate) case: String,
    /// Tool; optional if there is only one.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Suite; default: the current folder, or the latest run if the folder is not a suite.
    #[arg(long, value_name = "SUITE", conflicts_with = "run")]
    pub(crate) suite: Option<String>,
    /// Stored run: id, id prefix, name, or latest.
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
    /// Trial to explain in full; default: the first.
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Print this case of the report as JSON, with the best candidates of each golden.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Kind of plot; `karat plot --list` shows them.
    #[arg(value_name = "KIND", required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// Report JSON files or runs (id, id prefix, name, or latest), oldest first. The last is drawn; the earlier ones are
    /// its history.
    #[arg(value_name = "REPORT|RUN", required_unless_present = "list")]
    pub(crate) reports: Vec<String>,
    /// Metric; default: the one tools are ranked by.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// Dimension of slices, such as severity; default: all.
    #[arg(long = "by", value_name = "DIMENSION")]
    pub(crate) dimension: Option<String>,
    /// Draw only this tool; repeatable; default: all.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Write the picture to a file; the extension selects the format (.svg .png); repeatable.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Format on standard output, if there is no -o.
    #[arg(long, value_enum, default_value_t = PlotFormat::Svg, conflicts_with = "outputs")]
    pub(crate) format: PlotFormat,
    /// Colour theme.
    #[arg(long, value_enum, default_value_t = PlotTheme::Light)]
    pub(crate) theme: PlotTheme,
    /// PNG pixels per unit of the picture.
    #[arg(long, value_name = "X", default_value = "2", value_parser = scale)]
    pub(crate) scale: f64,
    /// List the kinds of plots.
    #[arg(long)]
    pub(crate) list: bool,
    /// Print the list as JSON.
    #[arg(long, requires = "list")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) store: StorePlace,
}

fn scale(text: &str) -> Result<f64, String> {
    super::number(text, |scale: f64| (0.1..=10.0).contains(&scale), "expected a number from 0.1 to 10")
}
