//! `karat run`, `replay`, `score`, `report`, `explain` and `plot`.

use super::{AskArgs, IntervalArgs, RuleArgs, StorePlace, TrialArgs, choice, positive, within};
use clap::Args;
use karat::tool::grants::Allowance;
use karat_format::case::is_date;
use karat_format::report::DetailV1;
use karat_report::plot::Theme;
use karat_sandbox::Isolation::{self, Bubblewrap, Landlock, Process};
use std::path::PathBuf;

const DETAILS: [(&str, DetailV1); 3] = [("none", DetailV1::None), ("misses", DetailV1::Misses), ("all", DetailV1::All)];

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Suite folder, or name of a built-in suite.
    ///
    /// A folder with karat.toml or CRB challenges. Default: the current folder.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Tool to run; repeatable.
    ///
    /// A tool's name, NAME@live or NAME@recorded, a manifest file (.toml), replay:FILE, or llm:PROVIDER/MODEL[@STYLE,…]. Default: all
    /// tools of karat.toml.
    #[arg(long = "tool", value_name = "T", num_args = 1..)]
    pub(crate) tools: Vec<String>,
    /// Report each style of a model as a tool.
    ///
    /// By default, styles are a part of one tool's trials, with figures of their own under `style`.
    #[arg(long)]
    pub(crate) separate_styles: bool,
    /// Trials per tool and case.
    ///
    /// Default: the suite's number, else 3. A model that is asked in several styles has as many of each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: Option<u32>,
    /// Run only matching cases; repeatable.
    ///
    /// A case id, or language=, category=, difficulty=, tier= or repo=; `*` is any text.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Skip matching cases; repeatable.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) skip: Vec<String>,
    /// Run one shard of the suite, such as 2/5.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Name of the run.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,
    /// Print the plan and stop.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Resume a run.
    ///
    /// An id, an id prefix, a name, or latest. Unavailable trials are tried again.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Retry the failed trials of the resumed run.
    #[arg(long, requires = "resume")]
    pub(crate) retry_failed: bool,
    /// Run again what a changed file touches.
    ///
    /// Watches the cases, the manifests and what they name. Each round is a stored run; Ctrl-C ends it.
    #[arg(long, conflicts_with_all = ["resume", "dry_run", "name"])]
    pub(crate) watch: bool,
    /// Stop at the first failed trial.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// Stop after this many failed trials.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_failures: Option<u32>,
    /// Leave all trials to workers.
    ///
    /// The run is planned and followed here; `karat worker` with the same --store, which must be on a server, executes it.
    #[arg(long, conflicts_with_all = ["dry_run", "watch"])]
    pub(crate) no_work: bool,
    /// Give a trial up after N dead workers.
    ///
    /// Of a run on a server: a trial that so many workers did not survive is unavailable. Default: 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub(crate) max_tries: Option<u32>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    /// Refuse to run tools with less isolation.
    ///
    /// Any sandbox (default without a value), bubblewrap or landlock.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", require_equals = true)]
    #[arg(hide_possible_values = true)]
    #[arg(value_parser = choice(&[("any", Landlock), ("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) require_isolation: Option<Isolation>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Exit with 0 even if judging is incomplete.
    ///
    /// A judge model may have answered fewer than half of its questions, for example because its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Day the model's training ended.
    ///
    /// YYYY-MM-DD. Cases made until then may have been in its training data: the slice `made` shows them apart.
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) model_cutoff: Option<String>,
    /// Detail of single trials: none, misses or all.
    ///
    /// none: figures alone; misses: also missed goldens and false alarms; all: every finding and pair. The trials are stored
    /// whole in any case.
    #[arg(long, value_name = "DETAIL", default_value = "all", hide_possible_values = true)]
    #[arg(value_parser = choice(&DETAILS))]
    pub(crate) detail: DetailV1,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct SandboxArgs {
    /// Model for every tool that takes one.
    ///
    /// Default: KARAT_TOOL_MODEL or CRB_TOOL_MODEL.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Isolate tools by exactly this.
    ///
    /// bubblewrap, landlock or process. Default: the strongest available.
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("bubblewrap", Bubblewrap), ("landlock", Landlock), ("process", Process)]))]
    pub(crate) isolation: Option<Isolation>,
    /// Grant a tool what it requests; repeatable.
    ///
    /// A tool of the suite may request more than the closed sandbox. Grant everything, or the listed grants, such as
    /// x:network,env=X_TOKEN.
    #[arg(long, value_name = "TOOL[:GRANTS]")]
    pub(crate) allow: Vec<Allowance>,
}

impl SandboxArgs {
    /// The model for every tool that takes one: the flag, else a variable.
    pub(crate) fn tool_model(&self) -> Option<String> {
        let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        self.model.clone().or_else(|| variable("KARAT_TOOL_MODEL")).or_else(|| variable("CRB_TOOL_MODEL"))
    }
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Run: id, id prefix, name, or latest.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Replay at the original speed times X.
    ///
    /// Default: without delays.
    #[arg(long, value_name = "X", value_parser = positive)]
    pub(crate) speed: Option<f64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct OutputArgs {
    /// Also write a report file; repeatable.
    ///
    /// The file's extension selects the format: .html .json .md .csv .xml .sarif .txt; .parquet is a folder of tables.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print this format instead of the table.
    ///
    /// table, json, markdown, html, csv, junit or sarif.
    #[arg(long, value_name = "NAME", conflicts_with = "json")]
    pub(crate) format: Option<String>,
    /// Print the report as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ScoreArgs {
    /// Suite folder, name of a built-in suite, or a stored run.
    ///
    /// A run is an id, an id prefix, a name, or latest.
    #[arg(value_name = "SUITE|RUN", default_value = ".")]
    pub(crate) suite: String,
    /// Score a run with the suite's present goldens.
    ///
    /// An id, an id prefix, a name, or latest. SUITE gives the goldens as they are now, the run its trials and its profile. Cases
    /// whose code has changed since are left out, and what an edited golden changes is listed.
    #[arg(long, value_name = "RUN")]
    pub(crate) run: Option<String>,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    /// Score only this tool; repeatable.
    ///
    /// With an imported file: the tool's name.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Exit with 0 even if judging is incomplete.
    ///
    /// A judge model may have answered fewer than half of its questions, for example because its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    /// Write the judges' decisions to a file.
    ///
    /// A file of judgements (.jsonl), with one for each panel member.
    #[arg(long, value_name = "FILE")]
    pub(crate) save_judgements: Option<PathBuf>,
    /// Human labels to correct for; repeatable.
    ///
    /// Files written by `karat label export`. They decide no match: they measure the judge's errors, and precision, recall and
    /// F1 are also reported corrected for them.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) labels: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) intervals: IntervalArgs,
    /// Day the model's training ended.
    ///
    /// YYYY-MM-DD. Cases made until then may have been in its training data: the slice `made` shows them apart.
    #[arg(long, value_name = "DATE", value_parser = date)]
    pub(crate) model_cutoff: Option<String>,
    /// Detail of single trials: none, misses or all.
    ///
    /// none: figures alone; misses: also missed goldens and false alarms; all: every finding and pair. With none and misses,
    /// trials are scored case by case, so that they need not fit into memory.
    #[arg(long, value_name = "DETAIL", default_value = "all", hide_possible_values = true)]
    #[arg(value_parser = choice(&DETAILS))]
    pub(crate) detail: DetailV1,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    /// Stored runs or report files; the last is rendered.
    ///
    /// A run is an id, an id prefix, a name, or latest; a report file is written by `karat score -o report.json`. Of several,
    /// the last is rendered and the earlier ones form the trend.
    #[arg(value_name = "REPORT|RUN", required = true)]
    pub(crate) reports: Vec<String>,
    /// Suite, for pages that show code.
    ///
    /// Only a report file needs it; a run contains its code.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Submission (.jsonl); repeatable.
    ///
    /// Pages show the full text of its findings.
    #[arg(long = "submission", value_name = "FILE", num_args = 1.., requires = "suite")]
    pub(crate) submissions: Vec<PathBuf>,
    /// Detail of trials to keep: none, misses or all.
    ///
    /// Default: what the report holds.
    #[arg(long, value_name = "DETAIL", hide_possible_values = true, value_parser = choice(&DETAILS))]
    pub(crate) detail: Option<DetailV1>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ExplainArgs {
    /// Case to explain; of an assessment: a requirement.
    ///
    /// Of an assessment also a bundle, or BUNDLE/REQUIREMENT.
    #[arg(value_name = "CASE")]
    pub(crate) case: String,
    /// Tool, or assessor; optional if there is only one.
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Suite to explain.
    ///
    /// Default: the latest run of the suite in the current folder, or that suite if it has no run. With --run: the present
    /// goldens of this suite instead of those of the run.
    #[arg(long, value_name = "SUITE")]
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
    /// Trial to explain.
    ///
    /// Default: the one that shows what went wrong: of those that reported, the one that missed most.
    #[arg(long, value_name = "N")]
    pub(crate) trial: Option<u32>,
    /// Print this case as JSON.
    ///
    /// The case as in the report, with the best candidates of each golden and why each was refused.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Kind of plot; `karat plot --list` shows them.
    #[arg(value_name = "KIND", required_unless_present = "list")]
    pub(crate) kind: Option<String>,
    /// Runs or report files, oldest first; the last is drawn.
    ///
    /// A run is an id, an id prefix, a name, or latest. The earlier ones are the history of the last.
    #[arg(value_name = "REPORT|RUN", required_unless_present = "list")]
    pub(crate) reports: Vec<String>,
    /// Metric; default: the ranking's.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// Dimension of slices, such as severity.
    ///
    /// Default: all.
    #[arg(long = "by", value_name = "DIMENSION")]
    pub(crate) dimension: Option<String>,
    /// Draw only this tool; repeatable.
    ///
    /// Default: all tools.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Write the picture to .svg .png; repeatable.
    ///
    /// The file's extension selects the format.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Format without -o: svg or png.
    ///
    /// The picture goes to standard output.
    #[arg(long, value_name = "NAME", value_parser = ["svg", "png"], default_value = "svg", conflicts_with = "outputs")]
    #[arg(hide_possible_values = true)]
    pub(crate) format: String,
    /// Colour theme: light or dark.
    #[arg(long, value_name = "NAME", default_value = "light", hide_possible_values = true)]
    #[arg(value_parser = choice(&[("light", Theme::Light), ("dark", Theme::Dark)]))]
    pub(crate) theme: Theme,
    /// PNG pixels per unit of the picture.
    #[arg(long, value_name = "X", default_value = "2")]
    #[arg(value_parser = within(0.1..=10.0, "expected a number from 0.1 to 10"))]
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

fn date(text: &str) -> Result<String, String> {
    match is_date(text) {
        true => Ok(text.to_owned()),
        false => Err("expected a day as YYYY-MM-DD, such as 2026-03-31".to_owned()),
    }
}
