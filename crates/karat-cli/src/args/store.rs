//! Work on the store.

use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
    /// The store's folder, or the folder it lies in.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// List all runs, the newest first.
    #[command(after_help = "Examples:\n  karat store list\n  karat store list --store ../suite/.karat --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Tell what a run planned, how its trials ended, and what they left behind.
    #[command(after_help = "\
Examples:
  karat store show latest
  karat store show 0192f3a1 --trial bandit sqli 1
  karat store show 0192f3a1 --trial bandit sqli 1 --artifact stderr")]
    Show {
        /// The run.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// One trial instead: the tool, the case and the number.
        #[arg(long, num_args = 3, value_names = ["TOOL", "CASE", "N"])]
        trial: Option<Vec<String>>,
        /// Print what the trial left behind under this name, such as stdout.
        #[arg(long, value_name = "NAME", requires = "trial", conflicts_with = "json")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove runs, and whatever nothing refers to any more. Runs that are worked on stay.
    #[command(after_help = "\
Examples:
  karat store gc
  karat store gc 0192f3a1 nightly
  karat store gc --keep 20 --older-than 30d --dry-run
  karat store gc --ledger --older-than 90d          what models answered before that; no run goes

With both --keep and --older-than a run goes only if both allow it. What models answered goes with --ledger alone, and what
people said of pairs never goes.")]
    Gc {
        /// Runs to remove, whatever their age.
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Remove runs that were begun longer ago than this, such as 12h, 30d or 8w.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<std::time::Duration>,
        /// Remove all but the newest so many runs.
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Remove exchanges with models that are older than --older-than, instead of runs; they would have to be paid for again.
        #[arg(long, requires = "older_than", conflicts_with_all = ["runs", "keep"])]
        ledger: bool,
        /// Remove this session and the documents it holds, too; may be given again.
        #[arg(long = "session", value_name = "ID")]
        sessions: Vec<String>,
        /// Only tell what would go.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a run's trials as a submission, or the whole run, or what models answered, as one file for another store.
    #[command(after_help = "\
Examples:
  karat store export latest -o submission.jsonl
  karat store export nightly --whole -o nightly.jsonl.gz
  karat store export --ledger -o ledger.jsonl.gz
  karat store export --ledger --model NAME -o recorded.jsonl

People's labels are written with `karat label export`.")]
    Export {
        /// The run.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Everything of the run, for `karat store import`; compressed where the name ends in .gz.
        #[arg(long, requires = "output")]
        whole: bool,
        /// Exchanges with models instead of a run, one a line, for `karat store import` and for `replay` judges.
        #[arg(long, conflicts_with_all = ["run", "whole"])]
        ledger: bool,
        /// Only exchanges with this model; a `replay` judge takes the exchanges of one.
        #[arg(long, value_name = "NAME", requires = "ledger")]
        model: Option<String>,
        /// The file; standard output where absent.
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print what was written as JSON; the trials themselves go to -o.
        #[arg(long, requires = "output")]
        json: bool,
    },
    /// Take a run from a file that `karat store export --whole` wrote, or exchanges from one that `--ledger` wrote.
    #[command(after_help = "\
Examples:
  karat store import nightly.jsonl.gz
  karat store import nightly.jsonl.gz --name theirs
  karat store import ledger.jsonl.gz")]
    Import {
        /// The file.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Call the run this instead of what it was called.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Read everything in the store and tell what is wrong with it. Nothing is changed.
    #[command(after_help = "Example:\n  karat store verify")]
    Verify {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// A number and a unit: seconds, minutes, hours, days or weeks.
fn age(text: &str) -> Result<std::time::Duration, String> {
    let wrong = || "expected a number with a unit: 90s, 5m, 12h, 30d or 8w".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return Err(wrong()),
    };
    let number: u64 = text.strip_suffix(unit).and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
    number.checked_mul(seconds).map(std::time::Duration::from_secs).ok_or_else(wrong)
}
