//! Compares two tools, or two runs of one, on the same cases.
//!
//! A metric comes in as what every case adds to it on either side ([`Pairs`]). All that is computed rests on whole cases, or
//! on whole clusters of them, so that a case's own difficulty drops out.

mod all_pairs;
mod decision;
mod goldens;
mod pairs;
mod ranks;
mod rows;
mod swaps;

pub use all_pairs::{PairTest, ToolScores, test_all_pairs};
pub use decision::VerdictReason;
pub use goldens::{FoundCount, GoldenChanges, golden_changes};
pub use pairs::Pairs;
pub use ranks::{RankSet, rank_sets};
pub use rows::{Row, Statistic};

use crate::metric::estimate::RELIABLE_N;
use crate::metric::table::Direction;
use crate::stats::bootstrap::RESAMPLES;
use crate::stats::cluster::{Correction, standard_error};
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::paired::{DifferenceVerdict, cohens_dz, holm, minimum_detectable};

/// Default margin below which a difference does not matter.
pub const MARGIN: f64 = 0.02;

/// How to compare.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How often intervals shall hold the truth: 0.95 for 95 %. A p value above 1 − level tells nothing apart.
    pub level: f64,
    /// Differences within ± this do not matter.
    pub margin: f64,
    /// How often a difference of the minimum detectable size would be found.
    pub power: f64,
    /// How many samples are drawn, and how many permutations at least.
    pub resamples: usize,
    /// Where they come from; none takes a seed from the data.
    pub seed: Option<u64>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { level: 0.95, margin: MARGIN, power: 0.8, resamples: RESAMPLES, seed: None }
    }
}

impl Rules {
    /// How many permutations are drawn for each of so many pairs of sides. The smallest p value that `m` of them can show is
    /// `1/(m+1)`, and an adjusted one is that times the pairs: with too few, no difference however large would be found.
    pub fn permutations(&self, pairs: usize) -> usize {
        let needed = (2.0 * pairs as f64 / (1.0 - self.level)).ceil().min(MOST_PERMUTATIONS);
        self.resamples.max(needed as usize)
    }
}

/// More are never drawn of one pair, however high the level.
const MOST_PERMUTATIONS: f64 = 1e7;

/// One metric of two sides.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairedMetric<'a> {
    pub pairs: Pairs<'a>,
    /// The cluster of every pair; none where every case stands alone.
    pub clusters: Option<Vec<usize>>,
    pub direction: Direction,
}

/// The difference of one metric between two sides.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct MetricDifference {
    pub a: Option<f64>,
    pub b: Option<f64>,
    pub difference: Option<f64>,
    /// Its interval, or why there is none.
    pub interval: Result<Interval, NoInterval>,
    /// The p value of the difference.
    pub p: Option<f64>,
    /// The same, adjusted for how many pairs of sides were compared.
    pub p_holm: Option<f64>,
    /// Cohen's dz.
    pub effect: Option<f64>,
    /// The smallest true difference that would be found with the power asked for.
    pub detectable: Option<f64>,
    pub n: usize,
    /// How many of them are independent: pairs, or clusters where clusters are named.
    pub units: usize,
    pub unreliable: bool,
    /// How much each pair contributes; their mean is the difference, or nearly so where the metric is no mean of cases.
    pub by_pair: Vec<f64>,
    /// The verdict on the second side, by the metric's direction.
    pub verdict: DifferenceVerdict,
    pub because: VerdictReason,
}

/// Compares one metric of several pairs of sides. They are one family: the more there are, the more it takes to tell one
/// apart.
///
/// *Better* and *worse* need an interval without 0 and an adjusted p value of 1 − level or less: intervals of few clusters
/// alone raise false alarms more often than they say. *Equivalent* needs an interval within the margin. Everything else
/// is inconclusive.
pub fn compare(family: &[PairedMetric<'_>], rules: &Rules) -> Vec<MetricDifference> {
    let permutations = rules.permutations(family.len());
    let mut all: Vec<MetricDifference> = family.iter().map(|comparand| one(comparand, rules, permutations)).collect();
    // Pairs that cannot be tested are no part of the family.
    let tested: Vec<usize> = (0..all.len()).filter(|at| all[*at].p.is_some()).collect();
    let p: Vec<f64> = tested.iter().filter_map(|at| all[*at].p).collect();
    for (at, adjusted) in tested.into_iter().zip(holm(&p)) {
        all[at].p_holm = Some(adjusted);
    }
    for (compared, comparand) in all.iter_mut().zip(family) {
        (compared.verdict, compared.because) = decision::decide(compared, comparand.direction, rules);
    }
    all
}

/// Compares one pair of sides, without the family-wise adjustment.
fn one(comparand: &PairedMetric<'_>, rules: &Rules, permutations: usize) -> MetricDifference {
    let pairs = &comparand.pairs;
    let n = pairs.len();
    // Clusters that do not fit their pairs would put cases into the wrong ones; then every case stands alone.
    let clusters = comparand.clusters.as_deref().filter(|names| names.len() == n);
    let units = clusters.map_or(n, |names| names.iter().collect::<std::collections::BTreeSet<_>>().len());
    // Turn -0.0 into 0.
    let [a, b] = pairs.sides().map(|figure| figure.map(|value| value + 0.0));
    let by_pair = pairs.contributions();
    let all_equal = n >= 2 && pairs.all_equal();
    let difference = a.zip(b).map(|(a, b)| b - a);
    let interval = match difference {
        None => Err(NoInterval::Undefined),
        Some(_) if all_equal => Ok(Interval { low: 0.0, high: 0.0, method: "all-equal", level: rules.level, n: units }),
        Some(_) => pairs.interval(clusters, rules),
    };
    let error = standard_error(&by_pair, clusters, Correction::Cr1).filter(|error| *error > 1e-12);
    MetricDifference {
        a,
        b,
        difference: difference.map(|d| if all_equal { 0.0 } else { d + 0.0 }),
        interval,
        p: difference.and_then(|_| pairs.p(clusters, permutations, rules.seed)),
        p_holm: None,
        effect: cohens_dz(&by_pair),
        detectable: error.and_then(|error| minimum_detectable(error, rules.level, rules.power)),
        n,
        units,
        unreliable: units < RELIABLE_N,
        by_pair,
        verdict: DifferenceVerdict::Inconclusive,
        because: VerdictReason::NoPairs,
    }
}

#[cfg(test)]
mod tests;
