//! Running tools, and runs that are stored.

use super::{AskArgs, OutputArgs, RuleArgs};
use clap::Args;
use karat::tool::grants::Allowance;
use std::path::PathBuf;

/// Where runs are kept.
#[derive(Debug, Args)]
pub(crate) struct StorePlace {
    /// The store's folder; else KARAT_STORE, else the nearest .karat from the current folder upwards.
    #[arg(long = "store", value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A folder with karat.toml, or of CRB challenges; or the name of a built-in suite; the current folder where absent.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// A tool by name, a manifest file (.toml), replay:FILE, or llm:PROVIDER/MODEL with an @STYLE if wanted; may be given again.
    #[arg(long = "tool", value_name = "T", num_args = 1..)]
    pub(crate) tools: Vec<String>,
    /// How often each tool runs on each case; the suite's number where absent, else 3.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) trials: Option<u32>,
    /// Only cases whose id fits, or with language=, category=, difficulty=, tier= or repo=; `*` is any text; may be given again.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// No case that fits; may be given again.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) skip: Vec<String>,
    /// One of several parts of the suite, such as 2/5.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// The model for every tool that takes one; else KARAT_TOOL_MODEL or CRB_TOOL_MODEL.
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub(crate) model: Option<String>,
    /// What to call the run.
    #[arg(long, value_name = "NAME", conflicts_with = "resume")]
    pub(crate) name: Option<String>,
    /// Print what would be done, and do nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Go on with a run: an id, the beginning of one, a name, or latest.
    #[arg(long, value_name = "RUN")]
    pub(crate) resume: Option<String>,
    /// Try failed trials of the resumed run once more.
    #[arg(long, requires = "resume")]
    pub(crate) retry_failed: bool,
    /// Stop at the first failed trial.
    #[arg(long, conflicts_with = "max_failures")]
    pub(crate) fail_fast: bool,
    /// Stop after so many failed trials.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) max_failures: Option<u32>,
    /// Isolate tools by this and nothing else: bubblewrap, landlock or process; the strongest there is where absent.
    #[arg(long, value_name = "KIND")]
    pub(crate) isolation: Option<String>,
    /// Refuse to run tools with less isolation: any sandbox, or bubblewrap or landlock by name.
    #[arg(long, value_name = "KIND", num_args = 0..=1, default_missing_value = "any", require_equals = true)]
    pub(crate) require_isolation: Option<String>,
    /// Let a tool of the suite have what it asks for beyond the closed sandbox: all of it, or what is listed, such as
    /// x:network,env=X_TOKEN; repeatable.
    #[arg(long, value_name = "TOOL[:GRANTS]")]
    pub(crate) allow: Vec<Allowance>,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    /// End with 0 though a model that judges answered fewer than half of its questions, as when its budget ran out.
    #[arg(long)]
    pub(crate) allow_incomplete_judging: bool,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Tell nothing on the way.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// The run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "RUN", default_value = "latest")]
    pub(crate) run: String,
    /// As fast as it went, times this; at once where absent.
    #[arg(long, value_name = "X", value_parser = speed)]
    pub(crate) speed: Option<f64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Tell nothing on the way.
    #[arg(short, long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

fn speed(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(speed) if speed > 0.0 && f64::is_finite(speed) => Ok(speed),
        _ => Err("expected a number above 0".to_owned()),
    }
}
