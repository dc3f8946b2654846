//! `karat profile`, `metrics` and `tools`.

use clap::Subcommand;

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
    /// Check which tools can run here: programs, versions and keys. Exit with 5 if a named tool cannot.
    #[command(
        after_help = "Examples:\n  karat tools doctor\n  karat tools doctor bandit ruff\n  karat tools doctor --suite my-suite --json"
    )]
    Doctor {
        /// Tools to check; default: all.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// Also check the tools of this suite.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}
