//! `karat compare`, `gate`, `baseline` and `power`.

use super::{StorePlace, choice, positive, within};
use clap::{Args, Subcommand};
use karat::gate::BaselineMissing;
use std::ops::Bound::Excluded;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub(crate) struct CompareArgs {
    /// Runs, report files or baselines; the first is the reference.
    ///
    /// A run is an id, an id prefix, a name, or latest. The others are compared with the first.
    #[arg(value_name = "RUN|REPORT", required = true)]
    pub(crate) reports: Vec<String>,
    /// Compare only these tools.
    ///
    /// Separated by commas. Of one report, the others are compared with the first.
    #[arg(long, visible_alias = "tool", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Metric; repeatable; default: the profile's.
    #[arg(long = "metric", value_name = "ID")]
    pub(crate) metrics: Vec<String>,
    /// Cluster cases by this field, or none.
    ///
    /// repo, language, any field of the cases, or none. Default: as the reports were scored.
    #[arg(long, value_name = "FIELD")]
    pub(crate) cluster: Option<String>,
    /// Differences counted as none.
    ///
    /// Differences within ± this are equivalent.
    #[arg(long, value_name = "X", default_value = "0.02", value_parser = margin)]
    pub(crate) margin: f64,
    /// Compare different suites or selections.
    ///
    /// The cases with the same goldens are compared.
    #[arg(long)]
    pub(crate) intersection: bool,
    /// Give verdicts although other judges decided.
    ///
    /// Without it, results that other judges, prompts or parameters decided are shown, and every verdict is inconclusive.
    #[arg(long)]
    pub(crate) across_judges: bool,
    /// Compare with a twisted copy of the suite.
    ///
    /// The first report is on the original, the others on what `karat suite twist` made of it. Goldens are paired; one counts as found
    /// where a finding that reports it is at its place.
    #[arg(long, conflicts_with_all = ["intersection", "all_pairs", "ranks"])]
    pub(crate) twisted: bool,
    /// Compare every pair of tools of one report.
    #[arg(long, conflicts_with = "ranks")]
    pub(crate) all_pairs: bool,
    /// Rank the tools of one report.
    ///
    /// Each has its range of ranks from tests of all pairs.
    #[arg(long)]
    pub(crate) ranks: bool,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Also write to .json .md .txt; repeatable.
    ///
    /// The file's extension selects the format of the comparison.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GateArgs {
    /// Stored run or report file.
    ///
    /// A run is an id, an id prefix, a name, or latest; a report file is written by `karat score -o report.json`.
    #[arg(value_name = "REPORT|RUN")]
    pub(crate) report: String,
    /// Check only these tools.
    ///
    /// Separated by commas; default: all. With two names, the second is compared with the baseline's first, unless both files have both.
    #[arg(long, visible_alias = "tool", value_name = "NAMES", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Require a metric to be at least X; repeatable.
    ///
    /// The demand passes if the lower bound of the metric's interval is at least X.
    #[arg(long, value_name = "ID=X", value_parser = bound)]
    pub(crate) min: Vec<(String, f64)>,
    /// Require a metric to be at most X; repeatable.
    ///
    /// The demand passes if the upper bound of the metric's interval is at most X.
    #[arg(long, value_name = "ID=X", value_parser = bound)]
    pub(crate) max: Vec<(String, f64)>,
    /// Require no tool to be worse than this.
    ///
    /// A baseline, report or run. No tool may be worse by more than --margin, by what `karat compare` says.
    #[arg(long, value_name = "BASELINE")]
    pub(crate) no_worse_than: Option<String>,
    /// No baseline: fail, or write it.
    ///
    /// write makes this result the baseline, for the first run in CI.
    #[arg(long, value_name = "WHAT", default_value = "fail", hide_possible_values = true)]
    #[arg(value_parser = choice(&BaselineMissing::NAMES))]
    pub(crate) baseline_missing: BaselineMissing,
    /// Metric for --no-worse-than; repeatable.
    ///
    /// Default: those of the baseline, without those that too few cases have.
    #[arg(long = "metric", value_name = "ID", requires = "no_worse_than")]
    pub(crate) metrics: Vec<String>,
    /// Allow a metric to be worse by this.
    ///
    /// Default: 0.02.
    #[arg(long, value_name = "X", value_parser = margin)]
    pub(crate) margin: Option<f64>,
    /// Accept a baseline of another suite version.
    ///
    /// The cases with the same goldens are compared.
    #[arg(long)]
    pub(crate) intersection: bool,
    /// Compare with what other judges decided.
    ///
    /// Without it, a baseline that other judges, prompts or parameters decided makes the gate inconclusive.
    #[arg(long)]
    pub(crate) across_judges: bool,
    /// Limit the total cost of tools and judges.
    #[arg(long, value_name = "USD")]
    #[arg(value_parser = within(0.0..=f64::MAX, "expected an amount in USD, at least 0"))]
    pub(crate) max_cost: Option<f64>,
    /// Require judges to have passed a probe.
    ///
    /// Every judge that decided must have been probed, and be wrong or fooled in at most this share of each kind of pairs.
    /// Default without a value: 0.1.
    #[arg(long, value_name = "X", num_args = 0..=1, default_missing_value = "0.1", require_equals = true, value_parser = margin)]
    pub(crate) require_judge_licence: Option<f64>,
    /// Let demands pass with fewer than 30 cases.
    #[arg(long)]
    pub(crate) allow_small_n: bool,
    /// Share of cases that must have a report.
    ///
    /// With fewer, such as after an outage, the gate is inconclusive: what is missing may be the harder half. Default: 0.9.
    #[arg(long, value_name = "X", value_parser = margin)]
    pub(crate) min_coverage: Option<f64>,
    /// Refuse a report with another digest.
    ///
    /// blake3: and 64 hexadecimal digits; `karat gate` prints the digest of every report file.
    #[arg(long, value_name = "DIGEST", value_parser = digest)]
    pub(crate) digest: Option<String>,
    /// Read more demands from a file (.toml).
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
    /// Random seed; default: derived from the data.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) store: StorePlace,
    /// Also write to .json .md .xml .txt; repeatable.
    ///
    /// The file's extension selects the format of the result.
    #[arg(short = 'o', long = "output", value_name = "FILE")]
    pub(crate) outputs: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum BaselineCommand {
    /// Write tools' results to a small file to commit.
    ///
    /// `karat gate --no-worse-than` compares later results with it.
    #[command(after_help = "\
Examples:
  karat baseline write latest -o karat-baseline.json
  karat baseline write report.json --tool my-reviewer --metric f1 --metric recall -o karat-baseline.json")]
    Write {
        /// Stored run or report file.
        ///
        /// A run is an id, an id prefix, a name, or latest; a report file is written by `karat score -o report.json`.
        #[arg(value_name = "REPORT|RUN")]
        report: String,
        /// Include only these tools.
        ///
        /// Separated by commas; default: all.
        #[arg(long, visible_alias = "tool", value_name = "NAMES", value_delimiter = ',')]
        tools: Vec<String>,
        /// Metric; repeatable; default: the profile's.
        #[arg(long = "metric", value_name = "ID")]
        metrics: Vec<String>,
        #[command(flatten)]
        store: StorePlace,
        /// Output file; default: standard output.
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        output: Option<PathBuf>,
        /// Print a summary as JSON.
        ///
        /// The baseline itself goes to -o.
        #[arg(long, requires = "output")]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct PowerArgs {
    /// Runs or reports to estimate the variance from.
    ///
    /// Several reports of one run with different judges add the judge variance.
    #[arg(value_name = "RUN|REPORT")]
    pub(crate) reports: Vec<String>,
    /// Difference to detect.
    #[arg(long, value_name = "X", value_parser = positive)]
    pub(crate) effect: f64,
    /// Metric; default: the ranking's.
    #[arg(long, value_name = "ID")]
    pub(crate) metric: Option<String>,
    /// Use the variance of one tool.
    ///
    /// Its variance between cases, as if a second tool were independent of it.
    #[arg(long, value_name = "NAME", conflicts_with = "tools")]
    pub(crate) tool: Option<String>,
    /// Use the differences between two tools.
    ///
    /// The variance of their differences, case by case.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub(crate) tools: Vec<String>,
    /// Standard deviation, if there is no report.
    ///
    /// The standard deviation of paired differences.
    #[arg(long, value_name = "X", value_parser = positive, conflicts_with = "reports")]
    pub(crate) std: Option<f64>,
    /// Probability of detecting the difference.
    #[arg(long, value_name = "X", default_value = "0.8")]
    #[arg(value_parser = within((Excluded(0.0), Excluded(1.0)), "expected a share between 0 and 1, such as 0.8"))]
    pub(crate) power: f64,
    /// Cluster cases by this field, or none.
    ///
    /// repo, language, any field of the cases, or none. Default: repo if the cases share at least ten repositories.
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

fn margin(text: &str) -> Result<f64, &'static str> {
    within(0.0..=1.0, "expected a number from 0 to 1")(text)
}

/// Parses a digest as printed by `karat gate`.
fn digest(text: &str) -> Result<String, String> {
    let hash = text.strip_prefix("blake3:").map(str::to_ascii_lowercase);
    let whole = |hash: &String| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = hash.filter(whole).ok_or_else(|| "expected blake3: and 64 hexadecimal digits".to_owned())?;
    Ok(format!("blake3:{hash}"))
}
