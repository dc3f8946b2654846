//! Checks results against demands, for CI: each holds, fails, or is inconclusive.

mod no_worse;

use crate::baseline;
use crate::comparison::Side;
use crate::failure::{Failure, Result};
use crate::judge::run::JudgeObserver;
use crate::report_source::{
    AnyReport, ReportLoader, find_metric, foreign_metric, names_run, reads_as_file, refuse_failed,
    refuse_foreign_metrics,
};
use crate::suggestion;
use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::{Aggregation, METRICS, Metric, find};
use karat_core::wording::count;
use karat_format::assessment::AssessmentReportV1;
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::document::{Document, Segment, Syntax, decode, schema_of};
use karat_format::gate::{BoundV1, DemandOutcomeV1, DemandV1, DemandsV1, GateV1, SCHEMA};
use karat_format::report::{CostV1, ReportV1};
use karat_io::atomic_write;
use karat_report::judge_licence::licences;
use karat_report::number::{three, title, tried};
use karat_store::StoreLocation;
use no_worse::NoWorse;
use std::path::{Path, PathBuf};

/// A result and the demands on it.
#[derive(Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GateRequest {
    /// A run, or a report file.
    pub report: String,
    /// Default: all.
    pub tools: Vec<String>,
    /// Take precedence over those of the rules file.
    pub demands: DemandsV1,
    /// Whether another version of the suite is compared on the cases with the same goldens.
    pub intersection: bool,
    /// Whether a result that other judges decided is compared anyway.
    pub across_judges: bool,
    /// What to do where there is no baseline of the name yet.
    pub baseline_missing: BaselineMissing,
    /// The expected digest of the report, `blake3:HEX`.
    pub digest: Option<String>,
    pub rules: Option<PathBuf>,
    pub seed: Option<u64>,
    pub store: StoreLocation,
}

/// What a gate does without the baseline that it is to compare with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum BaselineMissing {
    #[default]
    Fail,
    /// Write the report as the baseline, for the next gate.
    Write,
}

impl BaselineMissing {
    /// The words on the command line.
    pub const NAMES: [(&str, Self); 2] = [("fail", Self::Fail), ("write", Self::Write)];
}

/// Checks a report against all demands.
pub fn gate(request: &GateRequest, observer: &mut dyn JudgeObserver) -> Result<GateV1> {
    for id in &request.demands.metrics {
        find_metric(id)?;
    }
    for bound in &request.demands.rules {
        let metric = find_metric(&bound.metric)?;
        if let Some(message) =
            [bound.min, bound.max].into_iter().flatten().find_map(|limit| out_of_range(metric, limit))
        {
            return Err(Failure::usage(message));
        }
    }
    let stated = match &request.rules {
        None => DemandsV1::default(),
        Some(path) => {
            let shown = path.display().to_string();
            read(&std::fs::read_to_string(path).map_err(|error| Failure::io(&shown, error))?, &shown)?
        }
    };
    let mut reports = ReportLoader { store: &request.store, observer };
    let (report, digest) = reports.load(&request.report)?;
    if let Some(expected) = request.digest.as_ref().filter(|expected| **expected != digest) {
        return Err(Failure::bad_input(format!(
            "{} has the digest {digest}, but --digest is {expected}: it is not the pinned file; find out who \
             changed it, or pin the new one",
            request.report
        )));
    }
    let all = report.sides(&request.report);
    let own = &request.demands;
    refuse_foreign_metrics(
        own.metrics.iter().chain(own.rules.iter().map(|bound| &bound.metric)),
        &all,
        &request.report,
    )?;
    let demands = join_demands(request, stated, &all)?;
    let missing = demands.no_worse_than.as_ref().filter(|name| !is_there(name, &request.store));
    // A name without an ending may be that of a run.
    let is_written = |name: &String| request.baseline_missing == BaselineMissing::Write && reads_as_file(name);
    if let Some(name) = missing.filter(|name| !is_written(name)) {
        return Err(Failure::bad_input(format!(
            "{name} is missing\nhelp: write it with `karat baseline write {} -o {name}`, or let the first gate write it with \
             --baseline-missing=write and the name of a file, such as karat-baseline.json",
            request.report
        )));
    }
    let earlier = match demands.no_worse_than.as_ref().filter(|_| missing.is_none()) {
        None => None,
        Some(name) => Some(reports.sides(name)?),
    };
    let (tools, pairs) = no_worse::pair_with_earlier(all, earlier.as_deref(), &request.tools, &request.report)?;
    refuse_failed(&report, &tools, &request.report)?;
    let no_worse = match (&demands.no_worse_than, &earlier) {
        (Some(name), Some(earlier)) => Some(NoWorse::compare(name, &pairs, earlier, &demands, request)?),
        _ => None,
    };
    let mut gate = GateV1 { digest: Some(digest), ..check(&report, &tools, &demands, no_worse.as_ref())? };
    if let Some(path) = missing.filter(|_| gate.outcome != DemandOutcomeV1::Fails) {
        let text = baseline::text(&baseline::baseline(&tools, &demands.metrics));
        atomic_write::write(Path::new(path), &mut |file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::io(path, error))?;
        gate.baseline_written = Some(path.clone());
    }
    Ok(gate)
}

/// Whether a result of this name can be compared with.
fn is_there(name: &str, store: &StoreLocation) -> bool {
    names_run(name, store) || Path::new(name).exists()
}

/// Joins the demands of the request and of the rules file; the request takes precedence.
fn join_demands(request: &GateRequest, stated: DemandsV1, sides: &[Side]) -> Result<DemandsV1> {
    let there: Vec<&str> = sides.iter().map(|side| side.tool.as_str()).collect();
    let unknown =
        stated.rules.iter().filter_map(|rule| rule.tool.as_ref()).find(|tool| !there.contains(&tool.as_str()));
    if let (Some(tool), Some(file)) = (unknown, &request.rules) {
        let message =
            format!("{}: {} has no tool `{tool}`; available: {}", file.display(), request.report, there.join(", "));
        return Err(Failure::bad_input(message));
    }
    let mut in_file = stated.metrics.iter().chain(stated.rules.iter().map(|rule| &rule.metric));
    let foreign = in_file.find_map(|id| foreign_metric(id, sides, &request.report));
    if let (Some(message), Some(file)) = (foreign, &request.rules) {
        return Err(Failure::bad_input(format!("{}: {message}", file.display())));
    }
    let beside = |name: String| match request.rules.as_deref().and_then(Path::parent).map(|folder| folder.join(&name)) {
        // A run's name does not depend on the location of the rules file.
        Some(path) if path.is_file() || !is_there(&name, &request.store) => path.display().to_string(),
        _ => name,
    };
    let mut joined = request.demands.clone();
    joined.rules.extend(stated.rules);
    joined.no_worse_than = joined.no_worse_than.or_else(|| stated.no_worse_than.map(beside));
    if joined.metrics.is_empty() {
        joined.metrics = stated.metrics;
    }
    joined.margin = joined.margin.or(stated.margin);
    joined.max_cost = joined.max_cost.or(stated.max_cost);
    joined.judge_licence = joined.judge_licence.or(stated.judge_licence);
    joined.allow_small_n |= stated.allow_small_n;
    joined.min_coverage = joined.min_coverage.or(stated.min_coverage);
    let nothing = joined.rules.is_empty() && joined.no_worse_than.is_none();
    if nothing && joined.max_cost.is_none() && joined.judge_licence.is_none() {
        return Err(Failure::usage("no demands; use --min f1=0.6, --no-worse-than BASELINE or --rules FILE"));
    }
    Ok(joined)
}

/// Reads a file with demands. All its faults are reported at once.
pub fn read(text: &str, file: &str) -> Result<DemandsV1, Faults> {
    let (stated, document) = decode::<DemandsV1>(file, text, Syntax::Toml, &schema_of::<DemandsV1>()).into_result()?;
    let mut faults = Vec::new();
    for (at, id) in stated.metrics.iter().enumerate() {
        faults.extend(unknown(&document, &["metrics".into(), at.into()], id));
    }
    for (at, rule) in stated.rules.iter().enumerate() {
        let place = |key: &'static str| [Segment::Key("rule"), Segment::Index(at), Segment::Key(key)];
        faults.extend(unknown(&document, &place("metric"), &rule.metric));
        for (key, limit) in [("min", rule.min), ("max", rule.max)] {
            let message = find(&rule.metric).zip(limit).and_then(|(metric, limit)| out_of_range(metric, limit));
            faults.extend(message.map(|message| document.at(&place(key), "out-of-range", message)));
        }
        match (rule.min, rule.max) {
            (None, None) => {
                let message = format!("no demand on `{}`; give `min` or `max`", rule.metric);
                faults.push(document.at(&place("metric"), "no-bound", message));
            }
            (Some(min), Some(max)) if min > max => {
                let message = format!("no value is at least {min} and at most {max}");
                faults.push(document.at(&place("max"), "empty-range", message));
            }
            _ => {}
        }
    }
    if stated.no_worse_than.is_none() && !stated.metrics.is_empty() {
        let message = "`metrics` needs `no_worse_than`, which is missing";
        faults.push(document.at(&["metrics".into()], "no-baseline", message));
    }
    if faults.is_empty() { Ok(stated) } else { Err(Faults(faults)) }
}

fn unknown(document: &Document, path: &[Segment<'_>], id: &str) -> Option<Diagnostic> {
    if find(id).is_some() {
        return None;
    }
    let hint = suggestion(id, METRICS.iter().map(|metric| metric.id), ";");
    Some(document.at(path, "unknown-metric", format!("unknown metric `{id}`{hint} see `karat metrics list`")))
}

/// Why no value of a metric can reach a limit.
fn out_of_range(metric: &Metric, limit: f64) -> Option<String> {
    let (least, most) = metric.range();
    if (least..=most).contains(&limit) {
        return None;
    }
    let is_percent = most <= 1.0 && (1.0..=100.0).contains(&limit);
    let percent = if is_percent { format!("; did you mean {}?", limit / 100.0) } else { String::new() };
    let range =
        if most < f64::MAX { format!("lies between {least} and {most}") } else { format!("is at least {least}") };
    Some(format!("{} {range}, and the demand is {limit}{percent}", metric.title))
}

fn check(report: &AnyReport, tools: &[Side], demands: &DemandsV1, no_worse: Option<&NoWorse>) -> Result<GateV1> {
    let mut all = Vec::new();
    for tool in tools {
        let own = |bound: &&BoundV1| bound.tool.as_ref().is_none_or(|name| *name == tool.tool);
        for bound in demands.rules.iter().filter(own) {
            for (limit, least) in [(bound.min, true), (bound.max, false)] {
                let check = |limit| check_bound(tool, &bound.metric, limit, least, demands.allow_small_n);
                all.extend(limit.map(check));
            }
        }
        all.extend(no_worse.into_iter().flat_map(|no_worse| no_worse.check(&tool.tool)));
    }
    let least = demands.min_coverage.unwrap_or(MIN_COVERAGE);
    all.extend(tools.iter().filter_map(|tool| too_low_coverage(tool, least)));
    all.extend(demands.max_cost.map(|most| cost(report, tools, most)));
    match (report, demands.judge_licence) {
        (_, None) => {}
        (AnyReport::Findings(report), Some(most)) => all.extend(licences(report, most)),
        (AnyReport::Assessment(_), Some(_)) => {
            return Err(Failure::usage("an assessment is scored without a judge; omit --require-judge-licence"));
        }
    }
    let first = tools.first();
    Ok(GateV1 {
        schema: SCHEMA.to_owned(),
        suite: first.map_or_else(String::new, |side| side.suite.clone()),
        profile: first.map_or_else(String::new, |side| side.profile.clone()),
        cases: first.map_or(0, |side| side.cases.len()),
        digest: None,
        other_judges: no_worse.and_then(NoWorse::other_judges),
        baseline_written: None,
        outcome: all.iter().map(|demand| demand.outcome).max().unwrap_or(DemandOutcomeV1::Holds),
        demands: all,
        warnings: no_worse.map(NoWorse::warnings).unwrap_or_default(),
    })
}

/// Default share of cases that must have a report.
const MIN_COVERAGE: f64 = 0.9;

/// What keeps a gate from passing on a part of the cases: what is missing may be the harder ones.
fn too_low_coverage(tool: &Side, least: f64) -> Option<DemandV1> {
    let (counted, planned) = (tool.cases.values().filter(|case| case.counted).count(), tool.cases.len());
    let coverage = counted as f64 / planned.max(1) as f64;
    (coverage < least - NEAR).then(|| DemandV1 {
        tool: Some(tool.tool.clone()),
        demand: format!("coverage ≥ {least}"),
        value: Some(coverage),
        outcome: DemandOutcomeV1::Inconclusive,
        why: format!(
            "{counted} of {} have a report, and those without may be harder; run them again, or accept them with --min-coverage",
            count(planned, "case")
        ),
        n: Some(planned),
        ..DemandV1::default()
    })
}

/// Compares the cost of tools and judges, or of assessors, with its limit. An unknown cost is not 0.
fn cost(report: &AnyReport, tools: &[Side], most: f64) -> DemandV1 {
    let (known, unknown) = match report {
        AnyReport::Findings(report) => tools_cost(report, tools),
        AnyReport::Assessment(report) => assessors_cost(report, tools),
    };
    let none = DemandV1 { demand: format!("cost ≤ {most} USD"), value: Some(known), ..DemandV1::default() };
    let (outcome, why) = if known > most {
        (DemandOutcomeV1::Fails, format!("at least {known:.2} USD were spent"))
    } else if unknown.is_empty() {
        (DemandOutcomeV1::Holds, format!("{known:.2} USD"))
    } else {
        let who = unknown.join(", ");
        (DemandOutcomeV1::Inconclusive, format!("{known:.2} USD are known; not all trials of {who} report their cost"))
    };
    DemandV1 { outcome, why, ..none }
}

/// The known cost of tools and judges in USD, and of whom some is unknown.
fn tools_cost<'r>(report: &'r ReportV1, tools: &'r [Side]) -> (f64, Vec<&'r str>) {
    let (mut known, mut unknown) = (0.0, Vec::new());
    for tool in report.tools.iter().filter(|tool| tools.iter().any(|side| side.tool == tool.tool)) {
        let cost = report.measured.cost.get(&tool.tool);
        known +=
            cost.and_then(|cost| cost.usd).unwrap_or(0.0) + report.measured.outages_usd.get(&tool.tool).unwrap_or(&0.0);
        let is_known = |cost: &CostV1| cost.usd.is_some() && !cost.usd_is_lower_bound && cost.n >= tried(tool);
        if !cost.is_some_and(is_known) {
            unknown.push(tool.tool.as_str());
        }
    }
    for (judge, spent) in &report.measured.judges {
        known += spent.usd.unwrap_or(0.0);
        if spent.usd.is_none() && spent.requests > 0 {
            unknown.push(judge);
        }
    }
    (known, unknown)
}

/// The same of assessors; rules cost nothing, and so do answers from the ledger.
fn assessors_cost<'r>(report: &'r AssessmentReportV1, tools: &'r [Side]) -> (f64, Vec<&'r str>) {
    let models = &report.measured.models;
    let own = models.iter().filter(|(name, _)| tools.iter().any(|side| side.tool == **name));
    let known = own.clone().filter_map(|(_, spent)| spent.usd).sum();
    let unknown = own.filter(|(_, spent)| spent.usd.is_none() && spent.requests > 0);
    (known, unknown.map(|(name, _)| name.as_str()).collect())
}

/// Tolerance for sums of the same numbers in another order.
const NEAR: f64 = 1e-9;

/// The evidence behind a figure.
struct Evidence {
    /// How many cases, clusters or items.
    n: usize,
    cases: usize,
    /// Too few to rely on, unless that is allowed.
    few: bool,
}

/// Checks whether a metric is at least so much, or at most.
fn check_bound(tool: &Side, id: &str, bound: f64, least: bool, allow_small_n: bool) -> DemandV1 {
    let demand = format!("{} {} {bound}", title(id), if least { "≥" } else { "≤" });
    let none = DemandV1 { tool: Some(tool.tool.clone()), demand, metric: Some(id.to_owned()), ..DemandV1::default() };
    let Some(estimate) = tool.stated.get(id) else {
        return DemandV1 { why: "the report does not contain it; score again to add it".to_owned(), ..none };
    };
    let none = DemandV1 { value: estimate.value, ci: estimate.ci, n: Some(estimate.n), ..none };
    let Some(value) = estimate.value else {
        let reason = estimate.undefined.as_deref().unwrap_or("no reason given");
        return DemandV1 { why: format!("it has no value: {reason}"), ..none };
    };
    let Some([low, high]) = estimate.ci else {
        let reason = estimate.no_ci.as_deref().unwrap_or("the report was made without intervals; score again");
        return DemandV1 { why: format!("{} has no interval: {reason}", three(Some(value))), ..none };
    };
    // A pooled metric rests on all cases of the suite.
    let is_mean =
        |metric: &Metric| matches!(metric.aggregation, Aggregation::MeanOfCases | Aggregation::MeanOfRequirements);
    let cases = if find(id).is_some_and(is_mean) { estimate.n } else { tool.cases.len() };
    let wanted = Evidence { n: estimate.n, cases, few: estimate.unreliable && !allow_small_n };
    let (outcome, why, cases_wanted) = if least {
        settle(value, [low, high], bound, low >= bound - NEAR, &wanted)
    } else {
        settle(-value, [-high, -low], -bound, high <= bound + NEAR, &wanted)
    };
    let [value, low, high] = [value, low, high].map(|number| three(Some(number)));
    DemandV1 { outcome, why: format!("{value}, interval {low} … {high}{why}"), cases_wanted, ..none }
}

/// Compares an interval with a lower bound: the outcome, the rest of its explanation, and how many cases would decide it.
fn settle(
    value: f64,
    [low, high]: [f64; 2],
    bound: f64,
    meets: bool,
    wanted: &Evidence,
) -> (DemandOutcomeV1, String, Option<usize>) {
    let n = wanted.n;
    if high < bound - NEAR {
        return (DemandOutcomeV1::Fails, format!(", n = {n}"), None);
    }
    if meets && !wanted.few {
        return (DemandOutcomeV1::Holds, format!(", n = {n}"), None);
    }
    if meets {
        let cases = enough(wanted);
        let why =
            format!(": it would pass, but n = {n} is too few to rely on; {} would be enough", count(cases, "case"));
        return (DemandOutcomeV1::Inconclusive, why, Some(cases));
    }
    let why = format!(": n = {n} is too small to decide");
    // The interval shrinks as the root of the cases grows, and has to shrink until it no longer reaches the bound.
    let (distance, reach) = if value > bound { (value - bound, value - low) } else { (bound - value, high - value) };
    let cases = (wanted.cases as f64 * (reach / distance).powi(2)).ceil();
    if !(distance > 0.0 && cases < 1e7) {
        return (DemandOutcomeV1::Inconclusive, format!("{why}: the value equals the bound"), None);
    }
    let cases = (cases as usize).max(wanted.cases + 1).max(enough(wanted));
    (DemandOutcomeV1::Inconclusive, format!("{why}; about {} would be enough", count(cases, "case")), Some(cases))
}

/// How many cases make the figure reliable, if clusters and items grow in proportion to cases.
fn enough(wanted: &Evidence) -> usize {
    if wanted.n == 0 { RELIABLE_N } else { (RELIABLE_N * wanted.cases).div_ceil(wanted.n) }
}
