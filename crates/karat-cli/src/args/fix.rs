//! `karat fix`.

use super::score::SandboxArgs;
use super::{AskArgs, RuleArgs, StorePlace, TrialArgs};
use clap::Args;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct FixArgs {
    /// Suite folder, name of a built-in suite, or a stored run.
    ///
    /// A run is an id, an id prefix, a name, or latest.
    #[arg(value_name = "SUITE|RUN", default_value = ".")]
    pub(crate) suite: String,
    /// Fixer: a tool of kind fixer.
    ///
    /// One that karat.toml declares, or a manifest file (.toml).
    #[arg(long = "with", value_name = "FIXER")]
    pub(crate) fixer: String,
    #[command(flatten)]
    pub(crate) trials: TrialArgs,
    /// Repair only what this tool found; repeatable.
    ///
    /// With an imported file: the tool's name.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// Repair only in matching cases; repeatable.
    ///
    /// A case id, or language=, category=, difficulty=, tier= or repo=; `*` is any text.
    #[arg(long, value_name = "CASES", num_args = 1..)]
    pub(crate) only: Vec<String>,
    /// Run the fixer again where it failed.
    #[arg(long)]
    pub(crate) retry_failed: bool,
    /// Run the fixer again on everything.
    ///
    /// By default results are kept as long as finding, code, proof and fixer are the same.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) sandbox: SandboxArgs,
    #[command(flatten)]
    pub(crate) ask: AskArgs,
    #[command(flatten)]
    pub(crate) rules: RuleArgs,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Also write the result to .json .md .txt.
    ///
    /// Repeatable; the file's extension selects the format.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Also write the whole report; repeatable.
    ///
    /// The report of `karat score` with fix_through among its metrics, for `karat report` and `karat gate`. The file's extension
    /// selects the format: .html .json .md .csv .xml .sarif .txt.
    #[arg(long = "report", value_name = "FILE")]
    pub(crate) reports: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
