//! Compares tools case by case, from finished reports; nothing is scored again.

mod measure;
mod pairing;
mod ranks;
mod reports;
mod side;

pub(crate) use measure::{Needed, recomputed};
pub use pairing::Refusal;
pub use ranks::ranking;
pub use reports::{CompareRequest, compare_reports, pair_tools};
pub(crate) use side::profile_digest;
pub use side::{CaseSide, Side, SideKind};

use karat_core::clusters::{ClusterBy, Clustering};
use karat_core::comparison::{FoundCount, MetricDifference, PairedMetric, Pairs, Rules};
use karat_core::wording::count;
use karat_format::comparison::{
    CaseMovedV1, ComparisonV1, DifferenceV1, GoldenMovedV1, GoldensV1, PairV1, SCHEMA, SideV1,
};
use measure::Measured;
use pairing::Paired;
use ranks::ranks;
use std::collections::BTreeSet;

/// How sides are compared.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Request<'a> {
    /// Default: the headline metrics of the first side.
    pub metrics: &'a [String],
    pub cluster: &'a ClusterBy,
    pub rules: Rules,
    /// Whether different suites are compared on the cases with the same goldens.
    pub intersection: bool,
}

/// So many cases that moved are named.
const MOST_MOVED: usize = 5;

/// Compares every two sides. For each metric they are one family, over which p values are adjusted.
pub fn compare(sides: &[(&Side, &Side)], request: &Request<'_>) -> Result<ComparisonV1, Refusal> {
    let mut warnings = Vec::new();
    let mut paired = Vec::new();
    for (a, b) in sides {
        let pair = pairing::pair(a, b, request.intersection)?;
        let clustering = pairing::clustering(&pair, request.cluster)?;
        for warning in pair.warnings().into_iter().chain(on_clusters(&pair, &clustering)) {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        }
        paired.push((pair, clustering));
    }
    let ids = match (request.metrics, sides.first()) {
        ([], Some((first, _))) => first.headline.clone(),
        (some, _) => some.to_vec(),
    };
    let mut comparisons: Vec<PairV1> = paired.iter().map(|(pair, _)| without_metrics(pair, &request.rules)).collect();
    for id in &ids {
        let differences = family(&paired, id, request);
        for ((into, (pair, _)), difference) in comparisons.iter_mut().zip(&paired).zip(differences) {
            if into.moved.is_empty() {
                into.moved = moved(pair, id);
            }
            into.metrics.push(difference);
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

/// What to know of cases that are alike.
fn on_clusters(pair: &Paired<'_>, clustering: &Clustering) -> Option<String> {
    if clustering.used && clustering.asked && clustering.alone > 0 {
        let cases = count(clustering.alone, "case");
        return Some(format!("{cases} of {} without {}: each stands alone", pair.b.label, clustering.field));
    }
    clustering.warning()
}

/// One metric of every two sides.
fn family(paired: &[(Paired<'_>, Clustering)], id: &str, request: &Request<'_>) -> Vec<DifferenceV1> {
    let measure = |(pair, clustering): &(Paired<'_>, Clustering)| measured(pair, clustering, id);
    let all: Vec<Measured> = paired.iter().map(measure).collect();
    let direction = measure::direction(id);
    let comparands: Vec<PairedMetric<'_>> = all.iter().map(|measured| measured.comparand(direction)).collect();
    let compared = karat_core::comparison::compare(&comparands, &request.rules);
    compared.iter().zip(&all).map(|(compared, measured)| difference(id, compared, measured)).collect()
}

fn measured(pair: &Paired<'_>, clustering: &Clustering, id: &str) -> Measured {
    let mut measured = measure::measure(pair, id);
    measured.clusters = pairing::cluster_numbers(pair, &measured.cases, clustering);
    measured
}

fn difference(id: &str, compared: &MetricDifference, measured: &Measured) -> DifferenceV1 {
    let found = DifferenceV1::new(id, compared, measured.left_out);
    let Some(refused) = &measured.refused else {
        // The same figure added up in another order differs in its last digits.
        return match measured.stated.filter(|_| found.a.is_some() && found.b.is_some()) {
            Some([a, b]) => DifferenceV1 { a: Some(a), b: Some(b), ..found },
            None => found,
        };
    };
    let [a, b] = refused.stated;
    let difference = a.zip(b).map(|(a, b)| b - a + 0.0);
    DifferenceV1 { a, b, difference, because: refused.reason.clone(), ..found }
}

/// Two sides, as far as no metric is concerned.
fn without_metrics(pair: &Paired<'_>, rules: &Rules) -> PairV1 {
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
        metrics: Vec::new(),
        goldens: goldens(pair, rules.level),
        moved: Vec::new(),
    }
}

fn goldens(pair: &Paired<'_>, level: f64) -> GoldensV1 {
    let mut names: Vec<(&str, &str, [FoundCount; 2])> = Vec::new();
    for (id, a, b) in &pair.cases {
        let named: BTreeSet<&String> = a.found.keys().chain(b.found.keys()).collect();
        for golden in named {
            let tally = |side: &CaseSide| side.found.get(golden).copied().unwrap_or_default();
            names.push((id, golden, [tally(a), tally(b)]));
        }
    }
    let tallies: Vec<[FoundCount; 2]> = names.iter().map(|(_, _, tallies)| *tallies).collect();
    let moves = karat_core::comparison::golden_changes(&tallies, level);
    let moved = |at: &usize| {
        let (case, golden, [a, b]) = names[*at];
        let title = [pair.b, pair.a].into_iter().find_map(|side| side.cases.get(case)?.titles.get(golden));
        GoldenMovedV1 {
            case: case.to_owned(),
            golden: golden.to_owned(),
            title: title.cloned().unwrap_or_else(|| golden.to_owned()),
            a: [a.found, a.trials],
            b: [b.found, b.trials],
        }
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
        let (a, b) = (*a.values.get(id)?, *b.values.get(id)?);
        let case = (*case).to_owned();
        Some(CaseMovedV1 { case, metric: id.to_owned(), a, b, difference: b - a })
    };
    let mut all: Vec<CaseMovedV1> =
        pair.cases.iter().filter_map(of).filter(|one| one.difference.abs() > 1e-6).collect();
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

/// How much each case contributes to the difference between two sides.
pub(crate) fn contributions(a: &Side, b: &Side, id: &str, cluster: &ClusterBy) -> Result<ByCase, Refusal> {
    by_case(a, b, id, cluster, |pairs| pairs.contributions())
}

/// How much each case contributes to the figure of one side.
pub(crate) fn single(side: &Side, id: &str, cluster: &ClusterBy) -> Result<ByCase, Refusal> {
    by_case(side, side, id, cluster, |pairs| pairs.of_second())
}

fn by_case(
    a: &Side,
    b: &Side,
    id: &str,
    cluster: &ClusterBy,
    values: impl Fn(&Pairs<'_>) -> Vec<f64>,
) -> Result<ByCase, Refusal> {
    let pair = pairing::pair(a, b, false)?;
    let clustering = pairing::clustering(&pair, cluster)?;
    let measured = measured(&pair, &clustering, id);
    if let Some(refused) = measured.refused {
        return Err(Refusal::NotByCase { metric: id.to_owned(), reason: refused.reason });
    }
    let comparand = measured.comparand(measure::direction(id));
    Ok(ByCase { values: values(&comparand.pairs), clusters: comparand.clusters, warning: clustering.warning() })
}
