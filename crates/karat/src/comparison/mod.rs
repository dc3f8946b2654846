//! Compares tools case by case, from finished reports; nothing is scored again.

mod assessment;
mod judges;
mod measure;
mod pairing;
mod ranks;
mod side;
mod twisted;

pub(crate) use assessment::digest as assessment_digest;
use measure::NotCompared;
pub(crate) use measure::{MetricFormula, recomputed};
pub use pairing::{PairBy, Refusal, refusals};
pub use ranks::ranking;
pub(crate) use ranks::ranks;
pub use side::{CaseSide, Side, SideKind};
pub use twisted::Place;

use crate::failure::{Failure, Result};
use karat_core::clusters::{ClusterBy, Clustering};
use karat_core::comparison::{FoundCount, MetricDifference, PairedMetric, Pairs, Rules};
use karat_core::metric::table::direction;
use karat_core::wording::count;
use karat_format::comparison::{
    CaseMovedV1, ComparisonV1, DifferenceV1, GoldenMovedV1, GoldensV1, PairV1, SCHEMA, SideV1,
};
use pairing::Paired;
use std::collections::{BTreeMap, BTreeSet};

/// How sides are compared.
#[derive(Clone, Copy, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Request<'a> {
    /// Default: the headline metrics of the first side.
    pub metrics: &'a [String],
    /// Default: as the reports were scored, if all were scored alike.
    pub cluster: Option<&'a ClusterBy>,
    pub rules: Rules,
    pub pair_by: PairBy,
    /// Whether there is a verdict although other judges decided for one side than for the other.
    pub across_judges: bool,
}

const MOST_MOVED: usize = 5;

/// The metric that says what is lost on twisted cases.
const RECALL: &str = "recall";

/// Compares every two sides. For each metric they are one family, over which p values are adjusted. All that states what became
/// of a metric from one result to another, such as a gate, reads it from here.
pub fn compare(sides: &[(&Side, &Side)], request: &Request<'_>) -> Result<ComparisonV1> {
    let mut warnings = Vec::new();
    let mut paired = Vec::new();
    let cluster = request.cluster.cloned().unwrap_or_else(|| shared_clusters(sides));
    for (a, b) in sides {
        let pair = pairing::pair(a, b, request.pair_by)?;
        let clustering = pairing::clustering(&pair, &cluster)?;
        for warning in pair.warnings().into_iter().chain(on_clusters(&pair, &clustering)) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        paired.push((pair, clustering));
    }
    let mut ids = match (request.metrics, sides.first()) {
        ([], Some((first, _))) => first.headline.clone(),
        (some, _) => some.to_vec(),
    };
    let is_twisted = request.pair_by == PairBy::Twisted;
    if is_twisted && !ids.iter().any(|id| id == RECALL) {
        ids.push(RECALL.to_owned());
    }
    let across = request.across_judges;
    let mut comparisons: Vec<PairV1> = paired.iter().map(|(pair, _)| without_metrics(pair, across)).collect();
    for id in &ids {
        let formulas: Vec<Result<MetricFormula, NotCompared>> =
            paired.iter().map(|(pair, _)| MetricFormula::checked(&[pair.a, pair.b], id)).collect();
        for (pair, formula) in paired.iter().map(|(pair, _)| pair).zip(&formulas) {
            let is_compared = formula.is_ok() && measure::has_other_trials(pair, id);
            let warning =
                format!("{id} depends on how many trials there are: compared at the smaller number of either side");
            if is_compared && !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        let metrics: Vec<PairedMetric<'_>> =
            paired.iter().zip(&formulas).map(|(paired, formula)| paired_metric(paired, id, formula)).collect();
        let compared = karat_core::comparison::compare(&metrics, &request.rules);
        let differences = compared.iter().zip(&formulas);
        for ((into, (pair, _)), (compared, formula)) in comparisons.iter_mut().zip(&paired).zip(differences) {
            if into.moved.is_empty() {
                into.moved = moved(pair, id);
            }
            let found = difference(pair, id, compared, formula.as_ref().err());
            let has_verdict = into.other_judges.as_ref().is_none_or(|own| own.compared);
            into.metrics.push(if has_verdict { found } else { judges::without_verdict(found) });
        }
    }
    if is_twisted {
        for (into, (pair, _)) in comparisons.iter_mut().zip(&paired) {
            into.twisted = Some(twisted::summary(into, pair, request.rules.level));
        }
    }
    let first = sides.first().map(|(a, _)| *a);
    Ok(ComparisonV1 {
        schema: SCHEMA.to_owned(),
        suite: first.map_or_else(String::new, |side| side.suite.clone()),
        profile: first.map_or_else(String::new, |side| side.profile.clone()),
        level: request.rules.level,
        margin: request.rules.margin,
        cluster: paired.iter().find_map(|(_, clustering)| clustering.used_field()).map(str::to_owned),
        comparisons,
        ranks: None,
        warnings,
    })
}

/// What all reports that are compared were scored with, else the default.
fn shared_clusters(sides: &[(&Side, &Side)]) -> ClusterBy {
    let mut stated = sides.iter().flat_map(|(a, b)| [a, b]).filter_map(|side| side.clusters.as_ref());
    let first = stated.next().cloned().unwrap_or_default();
    if stated.all(|other| *other == first) { first } else { ClusterBy::Default }
}

fn on_clusters(pair: &Paired<'_>, clustering: &Clustering) -> Option<String> {
    if clustering.used && clustering.asked && clustering.alone > 0 {
        let cases = count(clustering.alone, "case");
        return Some(format!("{cases} of {} without {}: each stands alone", pair.b.label, clustering.field));
    }
    clustering.warning()
}

fn paired_metric<'r>(
    (pair, clustering): &(Paired<'_>, Clustering),
    id: &str,
    formula: &'r Result<MetricFormula, NotCompared>,
) -> PairedMetric<'r> {
    let (pairs, cases) = match formula {
        Ok(formula) => formula.pairs(pair),
        Err(_) => (Pairs::Values(Vec::new()), Vec::new()),
    };
    let clusters = pairing::cluster_numbers(pair, &cases, clustering);
    PairedMetric { pairs, clusters, direction: direction(id) }
}

fn difference(pair: &Paired<'_>, id: &str, compared: &MetricDifference, refused: Option<&NotCompared>) -> DifferenceV1 {
    let (left_out, [a, b]) = measure::stated_figures(pair, id);
    let found = DifferenceV1::new(id, compared, left_out);
    match refused {
        Some(NotCompared { reason, lacks_data }) => {
            let difference = a.zip(b).map(|(a, b)| b - a + 0.0);
            DifferenceV1 { a, b, difference, because: reason.clone(), lacks_data: *lacks_data, ..found }
        }
        // The same figure added up in another order differs in its last digits.
        None if a.and(b).and(found.a).and(found.b).is_some() => DifferenceV1 { a, b, ..found },
        None => found,
    }
}

fn without_metrics(pair: &Paired<'_>, across_judges: bool) -> PairV1 {
    let side = |side: &Side| SideV1 {
        label: side.label.clone(),
        tool: side.tool.clone(),
        suite_digest: side.digest.clone(),
        judges: side.judges.clone(),
    };
    PairV1 {
        a: side(pair.a),
        b: side(pair.b),
        cases: pair.cases.len(),
        left_out: pair.left_out.clone(),
        other_judges: judges::other_judges(pair.a, pair.b, across_judges),
        metrics: Vec::new(),
        goldens: goldens(pair),
        twisted: None,
        moved: Vec::new(),
    }
}

/// Whether both sides have trials of a case that count. No table of a comparison is about any other case.
pub(super) fn are_compared(a: &CaseSide, b: &CaseSide) -> bool {
    a.counted && b.counted
}

fn goldens<'s>(pair: &Paired<'s>) -> GoldensV1 {
    let mut names: Vec<(&str, &str, [FoundCount; 2])> = Vec::new();
    for (id, a, b) in pair.cases.iter().filter(|(_, a, b)| are_compared(a, b)) {
        let found = |side: &'s CaseSide| match pair.by {
            PairBy::Twisted => &side.found_in_place,
            PairBy::SameSuite | PairBy::SameGoldens => &side.found,
        };
        let (in_a, in_b) = (found(a), found(b));
        // If only one of the reports says what was found, nothing is known to be gained or lost.
        if in_a.is_empty() != in_b.is_empty() {
            continue;
        }
        let named: BTreeSet<&String> = in_a.keys().chain(in_b.keys()).collect();
        for golden in named {
            let tally = |side: &BTreeMap<String, FoundCount>| side.get(golden).copied().unwrap_or_default();
            names.push((id, golden, [tally(in_a), tally(in_b)]));
        }
    }
    let tallies: Vec<[FoundCount; 2]> = names.iter().map(|(_, _, tallies)| *tallies).collect();
    let moves = karat_core::comparison::golden_changes(&tallies);
    let moved = |at: &usize| {
        let (case, golden, [a, b]) = names[*at];
        let title = [pair.b, pair.a].into_iter().find_map(|side| side.cases.get(case)?.titles.get(golden));
        let title = title.cloned().unwrap_or_else(|| golden.to_owned());
        let [a, b] = [a, b].map(|tally| [tally.found, tally.trials]);
        GoldenMovedV1 { case: case.to_owned(), golden: golden.to_owned(), title, a, b }
    };
    GoldensV1 {
        gained: moves.gained.iter().map(moved).collect(),
        lost: moves.lost.iter().map(moved).collect(),
        both: moves.both,
        neither: moves.neither,
        flaky: moves.flaky,
        p: moves.test.p,
        odds_ratio: moves.test.odds_ratio,
    }
}

/// The cases that moved most, the largest first; none of a metric that single cases have no value of.
fn moved(pair: &Paired<'_>, id: &str) -> Vec<CaseMovedV1> {
    let of = |(case, a, b): &(&str, &CaseSide, &CaseSide)| {
        let (a, b) = (a.values.get(id)?, b.values.get(id)?);
        Some(CaseMovedV1 { case: (*case).to_owned(), metric: id.to_owned(), a, b, difference: b - a })
    };
    let cases = pair.cases.iter().filter(|(_, a, b)| are_compared(a, b));
    let mut all: Vec<_> = cases.filter_map(of).filter(|one| one.difference.abs() > 1e-6).collect();
    all.sort_by(|x, y| y.difference.abs().total_cmp(&x.difference.abs()));
    all.truncate(MOST_MOVED);
    all
}

/// The contribution of each case to a difference, or to one side's figure.
pub(crate) struct ByCase {
    pub(crate) values: Vec<f64>,
    /// The cluster of each case, if cases are clustered.
    pub(crate) clusters: Option<Vec<usize>>,
    pub(crate) warning: Option<String>,
}

/// How much each case contributes to the difference between two sides, or without `a` to the figure of `b`.
pub(crate) fn by_case(a: Option<&Side>, b: &Side, id: &str, cluster: &ClusterBy) -> Result<ByCase> {
    let pair = pairing::pair(a.unwrap_or(b), b, PairBy::SameSuite)?;
    let clustering = pairing::clustering(&pair, cluster)?;
    let refused =
        |NotCompared { reason, .. }| Failure::bad_input(format!("{id} cannot be compared case by case: {reason}"));
    let formula = MetricFormula::checked(&[pair.a, pair.b], id).map_err(refused)?;
    let (pairs, cases) = formula.pairs(&pair);
    let values = if a.is_some() { pairs.contributions() } else { pairs.of_second() };
    let clusters = pairing::cluster_numbers(&pair, &cases, &clustering);
    Ok(ByCase { values, clusters, warning: clustering.warning() })
}
