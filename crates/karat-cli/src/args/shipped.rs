//! `karat profile`, `metrics` and `tools`.

use super::StorePlace;
use super::score::SandboxArgs;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the built-in profiles.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a profile as TOML, with changes applied.
    #[command(after_help = "Examples:\n  karat profile show karat\n  karat profile show crb --set threshold=0.5")]
    Show {
        /// Profile name, or a TOML file.
        #[arg(value_name = "NAME", default_value = "karat")]
        name: String,
        /// Change one value; repeatable.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum MetricsCommand {
    /// List the metrics by tier.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Explain a metric: its formula, its denominator, and when it is undefined.
    #[command(
        after_help = "Examples:\n  karat metrics explain f1\n  karat metrics explain bonus_discovery_rate --profile audit\n  \
                      karat metrics explain lucky_guess_rate --json"
    )]
    Explain {
        /// Metric to explain.
        #[arg(value_name = "ID")]
        id: String,
        /// Print the formula as this profile applies it: a name, or a TOML file.
        #[arg(long, value_name = "P", default_value = "karat")]
        profile: String,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools of the catalogue and of a suite.
    #[command(after_help = "Examples:\n  karat tools list\n  karat tools list --suite my-suite --json")]
    List {
        /// Also list the tools of this suite.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a tool's manifest, ready to paste into karat.toml.
    #[command(after_help = "Examples:\n  karat tools show bandit >> my-suite/karat.toml\n  karat tools show sarif")]
    Show {
        /// Tool to show.
        #[arg(value_name = "NAME")]
        name: String,
        /// Suite to look for the tool in.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check which tools can run here: programs, keys, and a trial in the sandbox. Exit with 5 if a named tool cannot.
    #[command(
        after_help = "Examples:\n  karat tools doctor\n  karat tools doctor bandit ./my-reviewer.toml\n  karat tools doctor --suite my-suite --all"
    )]
    Doctor(DoctorArgs),
    /// Run one trial of a tool on one case in the sandbox and show what happened; nothing is stored. Exit with 5 if it failed.
    #[command(
        after_help = "Examples:\n  karat tools try ./my-reviewer.toml --case py-order-search-sqli starter\n  karat tools try bandit --case my-case my-suite --json"
    )]
    Try(TryArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Tools to check: names or manifest files (.toml); default: all.
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also check the tools of this suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Print everything, also about tools that work.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// Tool name, manifest file (.toml), or llm:PROVIDER/MODEL[@STYLE].
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Suite with the case: a folder, or the name of a built-in suite.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// Case to run the tool on.
    #[arg(long, value_name = "ID")]
    pub(crate) case: String,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
