//! `karat run` and `karat replay`.

use super::choices::{IsolationArg, RequiredIsolation};
use super::{AskArgs, OutputArgs, RuleArgs, StorePlace};
use clap::Args;
use karat::tool::grants::Allowance;

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// Folder with karat.toml or CRB challenges, or the name of a built-in suite; default: the current folder.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Tool name, manifest file (.toml), replay:FILE, or llm:PROVIDER/MODEL[@STYLE]; repeatable.
    #[arg(long = "tool", value_name = "T", num_args = 1..)]
    pub(crate) tools: Vec<String>,
    /// Trials per tool and case; default: the suite's number, else 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: Option<u32>,
    /// Run only cases with a matching id, or language=, category=, difficulty=, tier= or repo=; `*` is any text; repeatable.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Skip matching cases; repeatable.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) skip: Vec<String>,
    /// Run one shard of the suite, such as 2/5.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Model for every tool that takes one; default: KARAT_TOOL_MODEL or CRB_TOOL_MODEL.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// Name of the run.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,
    /// Print the plan and stop.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Resume a run: id, id prefix, name, or latest.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Retry the failed trials of the resumed run.
    #[arg(long, requires = "resume")]
    pub(crate) retry_failed: bool,
    /// Stop at the first failed trial.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// Stop after this many failed trials.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_failures: Option<u32>,
    /// Isolate tools by exactly this: bubblewrap, landlock or process; default: the strongest available.
    #[arg(long, value_name = "KIND", hide_possible_values = true)]
    pub(crate) isolation: Option<IsolationArg>,
    /// Refuse to run tools with less isolation: any sandbox (default without a value), bubblewrap or landlock.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", require_equals = true)]
    #[arg(hide_possible_values = true)]
    pub(crate) require_isolation: Option<RequiredIsolation>,
    /// Grant a tool of the suite what it requests beyond the closed sandbox: everything, or the listed grants, such as
    /// x:network,env=X_TOKEN; repeatable.
    #[arg(long, value_name = "TOOL[:GRANTS]")]
    pub(crate) allow: Vec<Allowance>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// Exit with 0 even if a judge model answered fewer than half of its questions, for example because its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Suppress progress output.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// Run: id, id prefix, name, or latest.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// Replay at the original speed times X; default: without delays.
    #[arg(long, value_name = "X", value_parser = super::positive)]
    pub(crate) speed: Option<f64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Suppress progress output.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
