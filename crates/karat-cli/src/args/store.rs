//! `karat store` and `karat serve`.

use super::StorePlace;
use super::store_place::store_parser;
use clap::{Args, Subcommand};
use karat_store::StoreLocation;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Debug, Args)]
pub(crate) struct StoreArgs {
    #[command(subcommand)]
    pub(crate) command: StoreCommand,
    /// Store: a folder, or a database.
    ///
    /// A folder, or a database as in postgres://karat@db.example.org/karat, whose password may be in PGPASSWORD or ~/.pgpass.
    /// Default: KARAT_STORE, else the nearest .karat in the current or a parent folder.
    #[arg(long, global = true, value_name = "DIR|URL", value_parser = store_parser())]
    pub(crate) store: Option<StoreLocation>,
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
    /// Show a run's plan, outcomes and artifacts.
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
        /// Print an artifact, such as stdout.
        ///
        /// The trial's artifact of this name.
        #[arg(long, value_name = "NAME", requires = "trial", conflicts_with = "json")]
        artifact: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Remove runs and all unreferenced data.
    ///
    /// Active runs are kept.
    #[command(after_help = "\
Examples:
  karat store gc
  karat store gc 0192f3a1 nightly
  karat store gc --keep 20 --older-than 30d --dry-run
  karat store gc --ledger --older-than 90d          remove old model exchanges, and no runs
  karat store gc --grace 2d                         keep unused objects for two days

With both --keep and --older-than, a run is removed only if both allow it. Model exchanges are removed only with --ledger,
and labels never.")]
    Gc {
        /// Runs to remove, regardless of age.
        #[arg(value_name = "RUN")]
        runs: Vec<String>,
        /// Remove runs older than 12h, 30d or 8w.
        ///
        /// Runs that started longer ago than this: a number with s, m, h, d or w.
        #[arg(long, value_name = "AGE", value_parser = age)]
        older_than: Option<Duration>,
        /// Remove all but the newest N runs.
        #[arg(long, value_name = "N")]
        keep: Option<usize>,
        /// Remove old model exchanges, and no runs.
        ///
        /// Those older than --older-than; repeating them costs money again.
        #[arg(long, requires = "older_than", conflicts_with_all = ["runs", "keep"])]
        ledger: bool,
        /// Also remove this session; repeatable.
        ///
        /// Its documents are removed with it.
        #[arg(long = "session", value_name = "ID")]
        sessions: Vec<String>,
        /// Keep unused objects for 24h, 2d or 1w.
        ///
        /// How long object storage keeps what no run refers to; at least 1h. Default: 24h.
        #[arg(long, value_name = "AGE", value_parser = age)]
        grace: Option<Duration>,
        /// Print what would be removed.
        ///
        /// Nothing is removed.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Export a run, or the model exchanges.
    ///
    /// A run's trials as a submission, a whole run or the model exchanges for another store, or a run as tables.
    #[command(after_help = "\
Examples:
  karat store export latest -o submission.jsonl
  karat store export nightly --whole -o nightly.jsonl.gz
  karat store export --ledger -o ledger.jsonl.gz
  karat store export --ledger --model NAME -o recorded.jsonl
  karat store export nightly --parquet nightly.parquet

To export labels, use `karat label export`.")]
    Export {
        /// Run: id, id prefix, name, or latest.
        #[arg(value_name = "RUN", default_value = "latest")]
        run: String,
        /// Export the whole run.
        ///
        /// For `karat store import`; compressed if the name ends in .gz.
        #[arg(long, requires = "output")]
        whole: bool,
        /// Export model exchanges, and no run.
        ///
        /// One per line, for `karat store import` and `replay` judges.
        #[arg(long, conflicts_with_all = ["run", "whole"])]
        ledger: bool,
        /// Export only exchanges with this model.
        ///
        /// A `replay` judge takes the exchanges of one model.
        #[arg(long, value_name = "NAME", requires = "ledger")]
        model: Option<String>,
        /// Write the run as Parquet tables.
        ///
        /// A folder of trials, findings, pairs, judgements and figures, for DuckDB, Polars and others. Older tables in it are
        /// replaced.
        #[arg(long, value_name = "DIR", group = "destination", conflicts_with_all = ["whole", "ledger"])]
        parquet: Option<PathBuf>,
        /// Output file; default: standard output.
        #[arg(short = 'o', long = "output", value_name = "FILE", group = "destination")]
        output: Option<PathBuf>,
        /// Print a summary as JSON.
        ///
        /// The trials themselves go to -o or --parquet.
        #[arg(long, requires = "destination")]
        json: bool,
    },
    /// Import a run, or model exchanges.
    ///
    /// A file written by `karat store export --whole` or `--ledger`.
    #[command(after_help = "\
Examples:
  karat store import nightly.jsonl.gz
  karat store import nightly.jsonl.gz --name theirs
  karat store import ledger.jsonl.gz")]
    Import {
        /// File to import.
        #[arg(value_name = "FILE")]
        file: PathBuf,
        /// Name of the imported run.
        ///
        /// Default: its original name.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Copy a store into another one.
    ///
    /// Runs, exchanges, labels, probes and sessions. The other store is made if it does not exist; what it has already is kept.
    #[command(after_help = "\
Examples:
  karat store copy .karat postgres://karat@db.example.org/karat
  karat store copy postgres://karat@db.example.org/karat backup/.karat")]
    Copy {
        /// Store to copy: a folder, or a database.
        #[arg(value_name = "FROM", value_parser = store_parser())]
        from: StoreLocation,
        /// Store to copy to.
        #[arg(value_name = "TO", value_parser = store_parser())]
        to: StoreLocation,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show or set where large artifacts are kept.
    ///
    /// Artifacts of more than 1 MiB, compressed, go to object storage, if there is any: an S3-compatible server, or a folder that
    /// all machines share. The place is kept in the store; credentials are not.
    #[command(after_help = "\
Examples:
  karat store artifacts
  karat store artifacts file:///srv/karat-objects
  karat store artifacts 's3://runs/team?region=eu-central-1'
  karat store artifacts 's3://runs/team?endpoint=https://storage.example.org:9000'
  karat store artifacts none                        keep all artifacts in the database

Credentials are taken from AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. An address with http is allowed on
this machine, and elsewhere with allow_http=true.")]
    Artifacts {
        /// Place of large artifacts, or none.
        #[arg(value_name = "URL")]
        place: Option<String>,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Check the whole store.
    ///
    /// Every problem is reported, and nothing is changed.
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
    /// Address and port to listen on.
    ///
    /// Port 0 selects a free one. Default: 127.0.0.1:7331.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7331", hide_default_value = true)]
    pub(crate) listen: String,
    /// Token that every request must present.
    ///
    /// At least 16 characters. Default: KARAT_SERVE_TOKEN, else a generated one, which is printed. `auto` always generates one.
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// Require no token; loopback only.
    ///
    /// Any program on this computer can read the pages; refused unless the address is a loopback one.
    #[arg(long, conflicts_with = "token")]
    pub(crate) no_token: bool,
    /// Expire sessions unused for this long.
    ///
    /// Browsers must present the token again, and a generated token is replaced. Default: 12h.
    #[arg(long, value_name = "TIME", default_value = "12h", hide_default_value = true)]
    #[arg(value_parser = karat_format::quantity::duration)]
    pub(crate) token_lifetime: Duration,
    /// Host name of the server; repeatable.
    ///
    /// The name by which browsers reach it, such as karat.example or localhost:8080.
    #[arg(long = "host", value_name = "HOST[:PORT]")]
    pub(crate) hosts: Vec<String>,
    /// Allow labelling.
    ///
    /// Pairs and extras can be labelled; without it, the pages are read-only.
    #[arg(long)]
    pub(crate) label: bool,
    /// Log every request to a file.
    ///
    /// A line for each is appended; `-` is standard error.
    #[arg(long, value_name = "FILE")]
    pub(crate) access_log: Option<PathBuf>,
    /// Serve HTTPS with this certificate (PEM).
    ///
    /// The file holds the certificate's chain.
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
