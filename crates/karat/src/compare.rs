//! Compares finished results by name: runs, report files and baselines.

use crate::comparison::{PairBy, Request, Side, compare, ranks};
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::report_source::{
    ReportLoader, find_metric, refuse_assessment_metrics, refuse_foreign_metrics, select_tools, unknown_tool,
};
use karat_core::clusters::ClusterBy;
use karat_core::comparison::Rules;
use karat_format::comparison::ComparisonV1;
use karat_report::number::rank_metric;
use karat_store::StoreLocation;

/// What is compared, and how.
#[expect(missing_docs, reason = "field names say it")]
pub struct CompareRequest {
    /// Runs, report files or baselines; the others are compared with the first.
    pub reports: Vec<String>,
    /// Tools to compare; default: those that the reports share.
    pub tools: Vec<String>,
    /// Default: those of the profile.
    pub metrics: Vec<String>,
    /// The field that clusters cases; default: as the reports were scored.
    pub cluster: Option<String>,
    /// Differences within ± this are equivalent.
    pub margin: f64,
    /// Whether different suites are compared on the cases with the same goldens.
    pub intersection: bool,
    /// Whether the others are of suites that were twisted from the suite of the first.
    pub twisted: bool,
    pub all_pairs: bool,
    pub ranks: bool,
    /// Whether there is a verdict although other judges decided for one side than for the other.
    pub across_judges: bool,
    /// Seed of random numbers; default: derived from the data.
    pub seed: Option<u64>,
    pub store: StoreLocation,
}

/// The name of a result, and its tools.
type Named<'n> = (&'n str, Vec<Side>);

/// Compares reports pair by pair, or ranks the tools of one.
pub fn compare_reports(request: &CompareRequest, observer: &mut dyn JudgeObserver) -> Result<ComparisonV1> {
    for id in &request.metrics {
        find_metric(id)?;
    }
    let mut reports = ReportLoader { store: &request.store, observer };
    if request.ranks {
        return rank_report(request, &mut reports);
    }
    let load = |name| Ok((name, reports.sides(name)?));
    let results = request.reports.iter().map(String::as_str).map(load).collect::<Result<Vec<Named<'_>>>>()?;
    for (name, sides) in &results {
        refuse_foreign_metrics(&request.metrics, sides, name)?;
    }
    let sides = match results.as_slice() {
        [_] if request.twisted => {
            let help = "name the report on the original, then that on the twisted suite";
            return Err(Failure::usage(format!("--twisted compares two reports: {help}")));
        }
        [only] => pairs_within(only, request)?,
        [first, others @ ..] => pairs_between(first, others, request)?,
        [] => return Err(nothing_to_compare()),
    };
    let pairs: Vec<(&Side, &Side)> = sides.iter().map(|(a, b)| (a, b)).collect();
    compare(&pairs, &pure_request(request, cluster(request).as_ref(), request.seed))
}

fn cluster(request: &CompareRequest) -> Option<ClusterBy> {
    request.cluster.as_deref().map(|field| ClusterBy::parse(Some(field)))
}

fn pure_request<'a>(request: &'a CompareRequest, cluster: Option<&'a ClusterBy>, seed: Option<u64>) -> Request<'a> {
    let rules = Rules { margin: request.margin, seed, ..Rules::default() };
    let pair_by = if request.twisted { PairBy::Twisted } else { PairBy::intersection(request.intersection) };
    Request { metrics: &request.metrics, cluster, rules, pair_by, across_judges: request.across_judges }
}

fn rank_report(request: &CompareRequest, reports: &mut ReportLoader<'_>) -> Result<ComparisonV1> {
    let [name] = request.reports.as_slice() else {
        return Err(Failure::usage("--ranks ranks the tools of one report; use one run or report"));
    };
    let report = reports.report(name)?;
    let tools = select_tools(&report, &request.tools, name)?;
    refuse_assessment_metrics(&request.metrics, &report, name)?;
    if tools.len() < 2 {
        return Err(nothing_to_compare());
    }
    let metric = match request.metrics.as_slice() {
        [] => rank_metric(&report),
        [id] => id,
        _ => return Err(Failure::usage("--ranks uses one metric; use --metric once")),
    };
    let seed = Some(request.seed.unwrap_or(report.seed));
    ranks(&report, &tools, metric, &pure_request(request, cluster(request).as_ref(), seed))
}

/// Pairs the first tool of one result with each of the others, or all with all.
fn pairs_within(only: &Named<'_>, request: &CompareRequest) -> Result<Vec<(Side, Side)>> {
    let names: Vec<&str> = match request.tools.as_slice() {
        [] => tools(only),
        some => some.iter().map(String::as_str).collect(),
    };
    let firsts = if request.all_pairs { names.len() } else { 1 };
    let mut pairs = Vec::new();
    for (at, a) in names.iter().enumerate().take(firsts) {
        for b in &names[at + 1..] {
            pairs.push((find_side(only, a, (*a).to_owned())?, find_side(only, b, (*b).to_owned())?));
        }
    }
    if pairs.is_empty() { Err(nothing_to_compare()) } else { Ok(pairs) }
}

/// Pairs the tools of the first result with those of each other.
fn pairs_between(first: &Named<'_>, others: &[Named<'_>], request: &CompareRequest) -> Result<Vec<(Side, Side)>> {
    if request.all_pairs {
        return Err(Failure::usage("--all-pairs compares the tools of one report; use one run or report"));
    }
    let side = |result: &Named<'_>, tool: &str| find_side(result, tool, format!("{tool} ({})", result.0));
    let mut pairs = Vec::new();
    for other in others {
        let shared = pair_tools(&tools(first), &tools(other), &request.tools);
        if shared.is_empty() {
            let both = format!("{} and {}", first.0, other.0);
            let help = "select one of each with --tools x,y";
            return Err(Failure::usage(format!("{both} have no tool in common; {help}")));
        }
        for (a, b) in shared {
            pairs.push((side(first, &a)?, side(other, &b)?));
        }
    }
    Ok(pairs)
}

/// Pairs the tools of two results: those wanted, those of the same name, or the only ones.
pub fn pair_tools(ours: &[&str], theirs: &[&str], wanted: &[String]) -> Vec<(String, String)> {
    if let [a, b] = wanted
        && ours.contains(&a.as_str())
        && theirs.contains(&b.as_str())
        && !(ours.contains(&b.as_str()) && theirs.contains(&a.as_str()))
    {
        return vec![(a.clone(), b.clone())];
    }
    let same = |name: &str| (name.to_owned(), name.to_owned());
    if !wanted.is_empty() {
        return wanted.iter().map(|name| same(name)).collect();
    }
    let shared: Vec<(String, String)> =
        ours.iter().filter(|tool| theirs.contains(tool)).map(|tool| same(tool)).collect();
    match (ours, theirs) {
        ([a], [b]) if shared.is_empty() => vec![((*a).to_owned(), (*b).to_owned())],
        _ => shared,
    }
}

fn tools<'r>((_, sides): &'r Named<'_>) -> Vec<&'r str> {
    sides.iter().map(|side| side.tool.as_str()).collect()
}

fn find_side(result: &Named<'_>, tool: &str, label: String) -> Result<Side> {
    let found = result.1.iter().find(|side| side.tool == tool);
    let found = found.ok_or_else(|| unknown_tool(result.0, tool, &tools(result)))?;
    Ok(Side { label, ..found.clone() })
}

fn nothing_to_compare() -> Failure {
    Failure::usage("only one tool; add a second run or report, or select two tools with --tools x,y")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_paired_by_request_by_name_or_alone() {
        let check = |ours: &[&str], theirs: &[&str], wanted: &[&str], expect: &[(&str, &str)]| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            let pairs = pair_tools(ours, theirs, &wanted);
            let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(pairs, expect, "{ours:?} {theirs:?} {wanted:?}");
        };
        check(&["a", "b"], &["b", "c"], &[], &[("b", "b")]);
        check(&["a"], &["b"], &[], &[("a", "b")]);
        check(&["a", "b"], &["c"], &[], &[]);
        check(&["a", "b"], &["c", "d"], &["b", "c"], &[("b", "c")]);
        check(&["a", "b"], &["a", "b"], &["a", "b"], &[("a", "a"), ("b", "b")]);
        check(&["a"], &["b"], &["x"], &[("x", "x")]);
    }
}
