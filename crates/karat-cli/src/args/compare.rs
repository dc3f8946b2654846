//! Comparing, and holding results against demands.

use super::StorePlace;
use clap::Args;
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
    /// Cases with the same value of this field are alike and count as one: repo, language, or any of their own.
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
    /// The tools of one report in order, each against the next: which ranks cannot be told apart.
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

fn margin(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(margin) if (0.0..=1.0).contains(&margin) => Ok(margin),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
