//! Comparing, and holding results against demands.

use super::StorePlace;
use clap::{Args, Subcommand};
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs (ids, beginnings of ids, names, latest), report JSON files or baselines. The first is what the others are held
    /// against.
    #[arg(value_name = "RUN|REPORT", required = true)]
    pub(crate) reports: Vec<String>,
    /// These tools only; with one report, the first against each of the others.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// These metrics instead of the profile's; may be given again.
    #[arg(long = "metric", value_name = "ID")]
    pub(crate) metrics: Vec<String>,
    /// Count cases with the same value of this field as one: repo, language, any of their own, or none. Where absent: repo, if
    /// cases share at least ten repositories.
    #[arg(long, value_name = "FIELD")]
    pub(crate) cluster: Option<String>,
    /// Differences within ± this do not matter.
    #[arg(long, value_name = "X", default_value = "0.02", value_parser = margin)]
    pub(crate) margin: f64,
    /// Compare different suites or selections on the cases whose goldens are the same.
    #[arg(long)]
    pub(crate) intersection: bool,
    /// Every tool of one report against every other.
    #[arg(long, conflicts_with = "ranks")]
    pub(crate) all_pairs: bool,
    /// Rank the tools of one report: each with the ranks that it may have, by tests of all pairs.
    #[arg(long)]
    pub(crate) ranks: bool,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Write the comparison to a file too; the extension says the format (.json .md .txt); may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// A report that `karat score -o report.json` wrote, or a stored run: an id, the beginning of one, a name, or latest.
    #[arg(value_name = "REPORT|RUN")]
    pub(crate) report: String,
    /// Only these tools must pass; may be given again. All where absent.
    #[arg(long = "tool", value_name = "NAME")]
    pub(crate) tools: Vec<String>,
    /// The metric must be at least this: holds when the lower end of its interval is; may be given again.
    #[arg(long, value_name = "ID=X", value_parser = bound)]
    pub(crate) min: Vec<(String, f64)>,
    /// The metric must be at most this: holds when the upper end of its interval is; may be given again.
    #[arg(long, value_name = "ID=X", value_parser = bound)]
    pub(crate) max: Vec<(String, f64)>,
    /// No tool may do worse than in this baseline, report or run, case by case, by more than --margin.
    #[arg(long, value_name = "BASELINE")]
    pub(crate) no_worse_than: Option<String>,
    /// The metrics for --no-worse-than; those of the baseline where absent; may be given again.
    #[arg(long = "metric", value_name = "ID", requires = "no_worse_than")]
    pub(crate) metrics: Vec<String>,
    /// By how much a metric may be worse; 0.02 where absent.
    #[arg(long, value_name = "X", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Take a baseline of another version of the suite, on the cases whose goldens are the same.
    #[arg(long)]
    pub(crate) intersection: bool,
    /// What tools and judges together may have cost.
    #[arg(long, value_name = "USD", value_parser = amount)]
    pub(crate) max_cost: Option<f64>,
    /// Every judge that decided must have been probed, and be wrong or fooled in no more than this share of each kind of
    /// pairs; 0.1 where no share is given.
    #[arg(long, value_name = "X", num_args = 0..=1, default_missing_value = "0.1", require_equals = true, value_parser = margin)]
    pub(crate) require_judge_licence: Option<f64>,
    /// Let fewer than 30 cases meet a demand.
    #[arg(long)]
    pub(crate) allow_small_n: bool,
    /// Refuse a report whose bytes have another hash, as blake3:HEX; `karat gate` prints it of every file.
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) digest: Option<String>,
    /// Demands from a file (.toml), besides those given here.
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Where random numbers start from; taken from the data where absent.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Write what came of it to a file too; the extension says the format (.json .md .xml .txt); may be given again.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    pub(crate) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write what tools did to a small file to commit, for `karat gate --no-worse-than`.
    #[command(after_help = "\
Examples:
  karat baseline write latest -o karat-baseline.json
  karat baseline write report.json --tool my-reviewer --metric f1 --metric recall -o karat-baseline.json")]
    Write {
        /// A report that `karat score -o report.json` wrote, or a stored run: an id, the beginning of one, a name, or latest.
        #[arg(value_name = "REPORT|RUN")]
        report: String,
        /// Only these tools; may be given again.
        #[arg(long = "tool", value_name = "NAME")]
        tools: Vec<String>,
        /// These metrics instead of the profile's; may be given again.
        #[arg(long = "metric", value_name = "ID")]
        metrics: Vec<String>,
        #[command(flatten)]
        store: StorePlace,
        /// The file; standard output where absent.
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print what was written as JSON; the baseline itself goes to -o.
        #[arg(long, requires = "output")]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PowerArgs {
    /// Runs or reports to take the spread from; several of one run under different judges tell judges apart too.
    #[arg(value_name = "RUN|REPORT")]
    pub(crate) reports: Vec<String>,
    /// The difference that is to be seen.
    #[arg(long, value_name = "X", value_parser = positive)]
    pub(crate) effect: f64,
    /// The metric; the one that tools are ranked by where absent.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// One tool: how much cases differ, as if a second tool had nothing in common with it.
    #[arg(long, value_name = "NAME", conflicts_with = "tools")]
    pub(crate) tool: Option<String>,
    /// Two tools: how much their differences differ from case to case.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// The spread of paired differences, where there is no report to take it from.
    #[arg(long, value_name = "X", value_parser = positive, conflicts_with = "reports")]
    pub(crate) std: Option<f64>,
    /// How often the difference is to be seen.
    #[arg(long, value_name = "X", default_value = "0.8", value_parser = share)]
    pub(crate) power: f64,
    /// Count cases with the same value of this field as one: repo, language, any of their own, or none. Where absent: repo, if
    /// cases share at least ten repositories.
    #[arg(long, visible_alias = "clusters", value_name = "FIELD", requires = "reports")]
    pub(crate) cluster: Option<String>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

fn bound(text: &str) -> Result<(String, f64), String> {
    let wrong = || "expected a metric and a number, such as f1=0.6".to_owned();
    let (id, number) = text.split_once('=').ok_or_else(wrong)?;
    let number: f64 = number.trim().parse().ok().filter(|n: &f64| n.is_finite()).ok_or_else(wrong)?;
    Ok((id.trim().to_owned(), number))
}

fn amount(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(amount) if amount >= 0.0 && f64::is_finite(amount) => Ok(amount),
        _ => Err("expected a number of USD from 0 up".to_owned()),
    }
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if number > 0.0 && f64::is_finite(number) => Ok(number),
        _ => Err("expected a number above 0".to_owned()),
    }
}

fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if share > 0.0 && share < 1.0 => Ok(share),
        _ => Err("expected a share between 0 and 1, such as 0.8".to_owned()),
    }
}

fn margin(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(margin) if (0.0..=1.0).contains(&margin) => Ok(margin),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// A hash as `karat gate` prints it.
fn digest(text: &str) -> Result<String, String> {
    let hash = text.strip_prefix("blake3:").map(str::to_ascii_lowercase);
    let whole = |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = hash.filter(whole).ok_or_else(|| "expected blake3: and 64 hexadecimal digits".to_owned())?;
    Ok(format!("blake3:{hash}"))
}
