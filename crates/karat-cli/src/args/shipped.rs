//! `karat profile`, `metrics`, `tools`, `doctor`, `completions` and `man`.

use super::StorePlace;
use super::score::SandboxArgs;
use clap::{Args, Subcommand};
use clap_complete::Shell;
use std::path::PathBuf;

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
pub(crate) enum ModelsCommand {
    /// List models with their prices.
    ///
    /// In USD for a million tokens, with what is retired or soon will be.
    #[command(after_help = "Examples:\n  karat models list\n  karat models list --provider anthropic --json")]
    List {
        /// List the models of one provider.
        ///
        /// anthropic, openai or google.
        #[arg(long, value_name = "NAME")]
        provider: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print what is known of a model as TOML.
    ///
    /// Ready to copy into your own models.toml, in karat/ of XDG_CONFIG_HOME or ~/.config. A model that is not listed can be used:
    /// its provider is found by its name.
    #[command(
        after_help = "Examples:\n  karat models show claude-sonnet-5-5\n  karat models show openai/gpt-6-luna --json"
    )]
    Show {
        /// Model, or PROVIDER/MODEL.
        #[arg(value_name = "ID")]
        id: String,
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
    /// Explain a metric.
    ///
    /// Its formula, its denominator, and when it is undefined.
    #[command(
        after_help = "Examples:\n  karat metrics explain f1\n  karat metrics explain bonus_discovery_rate --profile audit\n  \
                      karat metrics explain lucky_guess_rate --json"
    )]
    Explain {
        /// Metric to explain.
        #[arg(value_name = "ID")]
        id: String,
        /// Profile that applies the formula.
        ///
        /// A name, or a TOML file.
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
    /// Print a tool's manifest.
    ///
    /// Ready to paste into karat.toml.
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
    /// Check which tools can run here.
    ///
    /// Programs, keys, and a trial in the sandbox. Exit with 5 if a named tool cannot run.
    #[command(
        after_help = "Examples:\n  karat tools doctor\n  karat tools doctor bandit ./my-reviewer.toml\n  karat tools doctor --suite my-suite --all"
    )]
    Doctor(DoctorArgs),
    /// Try a tool on one case; nothing is stored.
    ///
    /// The trial runs in the sandbox, and what happened is shown. Exit with 5 if it failed.
    #[command(
        after_help = "Examples:\n  karat tools try ./my-reviewer.toml\n  karat tools try ./my-reviewer.toml --case py-order-search-sqli starter\n  karat tools try bandit --case my-case my-suite --json"
    )]
    Try(TryArgs),
}

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Tools to check; default: all.
    ///
    /// Names, or manifest files (.toml).
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Also check the tools of this suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Print everything about tools that work.
    #[arg(long)]
    pub(crate) all: bool,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct TryArgs {
    /// Tool name, manifest file, or llm:PROVIDER/MODEL.
    ///
    /// A manifest file ends in .toml; a style of prompts may follow a model, as in llm:PROVIDER/MODEL@STYLE.
    #[arg(value_name = "TOOL")]
    pub(crate) tool: String,
    /// Suite with the case.
    ///
    /// A folder, or the name of a built-in suite.
    #[arg(value_name = "SUITE", default_value = ".")]
    pub(crate) suite: String,
    /// Case to run the tool on.
    ///
    /// Default: the first case of the suite with something to find.
    #[arg(long, value_name = "ID")]
    pub(crate) case: Option<String>,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct MachineArgs {
    /// Suite whose tools and mirrors are checked too.
    ///
    /// Default: the current folder, if it is a suite.
    #[arg(long, value_name = "SUITE")]
    pub(crate) suite: Option<String>,
    /// Do not check the tools.
    ///
    /// Checking them runs each that is installed on a small sample.
    #[arg(long)]
    pub(crate) skip_tools: bool,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompletionArgs {
    /// Shell.
    ///
    /// With --install, the default is the shell named by the variable SHELL.
    #[arg(value_name = "SHELL", required_unless_present = "install")]
    pub(crate) shell: Option<Shell>,
    /// Write them where the shell looks for them.
    #[arg(long)]
    pub(crate) install: bool,
    /// Print the written file as JSON.
    #[arg(long, requires = "install")]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// Command whose page is printed, such as store gc.
    #[arg(value_name = "COMMAND", conflicts_with = "out")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to this folder.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Print the written files as JSON.
    #[arg(long, requires = "out")]
    pub(crate) json: bool,
}
