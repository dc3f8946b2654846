//! `karat store` and `karat serve`.

use super::StorePlace;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
    /// Store folder, or the folder that contains it.
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) store: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// List all runs, newest first.
    #[command(after_help = "Examples:\n  karat store list\n  karat store list --store ../suite/.karat --json")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show a run's plan, its trials' outcomes and their artifacts.
    #[command(after_help = "\
Examples:
  karat store show latest
  karat store show 0192f3a1 --trial bandit sqli 1
  karat store show 0192f3a1 --trial bandit sqli 1 --artifact stderr")]
    Show {
        /// Run: id, id prefix, name, or latest.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Show one trial: tool, case and number.
        #[arg(long, num_args = 3, value_names = ["TOOL", "CASE", "N"])]
        trial: Option<Vec<String>>,
        /// Print the trial's artifact of this name, such as stdout.
        #[arg(long, value_name = "NAME", requires = "trial", conflicts_with = "json")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove runs and all unreferenced data. Active runs are kept.
    #[command(after_help = "\
Examples:
  karat store gc
  karat store gc 0192f3a1 nightly
  karat store gc --keep 20 --older-than 30d --dry-run
  karat store gc --ledger --older-than 90d          remove old model exchanges, and no runs

With both --keep and --older-than, a run is removed only if both allow it. Model exchanges are removed only with --ledger,
and labels never.")]
    Gc {
        /// Runs to remove, regardless of age.
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Remove runs started longer ago than this, such as 12h, 30d or 8w.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,
        /// Remove all but the newest N runs.
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Remove model exchanges older than --older-than instead of runs; repeating them costs money again.
        #[arg(long, requires = "older_than", conflicts_with_all = ["runs", "keep"])]
        ledger: bool,
        /// Also remove this session and its documents; repeatable.
        #[arg(long = "session", value_name = "ID")]
        sessions: Vec<String>,
        /// Print what would be removed, and remove nothing.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Export a run's trials as a submission, or a whole run or the model exchanges for another store.
    #[command(after_help = "\
Examples:
  karat store export latest -o submission.jsonl
  karat store export nightly --whole -o nightly.jsonl.gz
  karat store export --ledger -o ledger.jsonl.gz
  karat store export --ledger --model NAME -o recorded.jsonl

To export labels, use `karat label export`.")]
    Export {
        /// Run: id, id prefix, name, or latest.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Export the whole run, for `karat store import`; compressed if the name ends in .gz.
        #[arg(long, requires = "output")]
        whole: bool,
        /// Export model exchanges instead of a run, one per line, for `karat store import` and `replay` judges.
        #[arg(long, conflicts_with_all = ["run", "whole"])]
        ledger: bool,
        /// Export only exchanges with this model; a `replay` judge takes the exchanges of one model.
        #[arg(long, value_name = "NAME", requires = "ledger")]
        model: Option<String>,
        /// Output file; default: standard output.
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print a summary as JSON; the trials themselves go to -o.
        #[arg(long, requires = "output")]
        json: bool,
    },
    /// Import a run written by `karat store export --whole`, or exchanges written by `--ledger`.
    #[command(after_help = "\
Examples:
  karat store import nightly.jsonl.gz
  karat store import nightly.jsonl.gz --name theirs
  karat store import ledger.jsonl.gz")]
    Import {
        /// File to import.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Name of the imported run; default: its original name.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check the whole store and report every problem. Nothing is changed.
    #[command(after_help = "Example:\n  karat store verify")]
    Verify {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

/// Parses a number with a unit: seconds, minutes, hours, days or weeks.
fn age(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a number with a unit: 90s, 5m, 12h, 30d or 8w".to_owned();
    let unit = text.chars().last().ok_or_else(wrong)?;
    let units = [('s', 1), ('m', 60), ('h', 3600), ('d', 86_400), ('w', 604_800)];
    let (_, seconds) = units.into_iter().find(|(known, _)| *known == unit).ok_or_else(wrong)?;
    let number: u64 = text.strip_suffix(unit).and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
    number.checked_mul(seconds).map(Duration::from_secs).ok_or_else(wrong)
}

#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Address and port to listen on; port 0 selects a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7331")]
    pub(crate) listen: String,
    /// Token that every request must present, at least 16 characters; default: KARAT_SERVE_TOKEN, else a generated one, which
    /// is printed. `auto` always generates one.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Require no token from any program on this computer; only with a loopback address.
    #[arg(long, conflicts_with = "token")]
    pub(crate) no_token: bool,
    /// Expire sessions unused for this long: browsers must present the token again, and a generated token is replaced.
    #[arg(long, value_name = "TIME", default_value = "12h", value_parser = karat_format::quantity::duration)]
    pub(crate) token_lifetime: Duration,
    /// Host name by which browsers reach the server, such as karat.example or localhost:8080; repeatable.
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    pub(crate) hosts: Vec<String>,
    /// Allow labelling of pairs and extras; without it, the pages are read-only.
    #[arg(long)]
    pub(crate) label: bool,
    /// Append a line for every request to a file; `-` is standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Serve HTTPS with this certificate chain (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Private key of the certificate (PEM).
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub(crate) tls_key: Option<PathBuf>,
    /// Open the address in a browser.
    #[arg(long)]
    pub(crate) open: bool,
    /// Print the address as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}
