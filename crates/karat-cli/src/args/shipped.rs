//! What comes with the program.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ProfileArgs {
    #[command(subcommand)]
    pub(crate) command: ProfileCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the profiles in the binary.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a profile as TOML, with changes applied.
    #[command(after_help = "Examples:\n  karat profile show karat\n  karat profile show crb --set threshold=0.5")]
    Show {
        /// A name, or a TOML file.
        #[arg(value_name = "NAME", default_value = "karat")]
        name: String,
        /// Change a single value; may be given again.
        #[arg(long = "set", value_name = "KEY=VALUE")]
        sets: Vec<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    #[command(subcommand)]
    pub(crate) command: MetricsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MetricsCommand {
    /// List the metrics by tier.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Say what a metric is: its formula, what it is a share of, and when it has no value.
    #[command(
        after_help = "Examples:\n  karat metrics explain f1\n  karat metrics explain bonus_discovery_rate --profile audit\n  \
                      karat metrics explain lucky_guess_rate --json"
    )]
    Explain {
        /// The metric.
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

#[derive(Debug, Args)]
pub(crate) struct ToolsArgs {
    #[command(subcommand)]
    pub(crate) command: ToolsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ToolsCommand {
    /// List the tools of the catalogue, and those a suite declares.
    #[command(after_help = "Examples:\n  karat tools list\n  karat tools list --suite my-suite --json")]
    List {
        /// A suite whose tools are listed too.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print a tool's manifest, ready to be pasted into karat.toml.
    #[command(after_help = "Examples:\n  karat tools show bandit >> my-suite/karat.toml\n  karat tools show sarif")]
    Show {
        /// The tool.
        #[arg(value_name = "NAME")]
        name: String,
        /// A suite that may declare it.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// See which tools could run here: programs, versions and keys. A named tool that could not makes the exit code 5.
    #[command(
        after_help = "Examples:\n  karat tools doctor\n  karat tools doctor bandit ruff\n  karat tools doctor --suite my-suite --json"
    )]
    Doctor {
        /// The tools to look at; all where absent.
        #[arg(value_name = "NAME")]
        names: Vec<String>,
        /// A suite whose tools are looked at too.
        #[arg(long, value_name = "SUITE")]
        suite: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}
