//! Compares two tools, or two runs of one, on the same cases.
//!
//! A metric comes in as what every case adds to it on either side ([`Pairs`]). All that is computed rests on whole cases, or
//! on whole clusters of them, so that a case's own difficulty drops out.

#![expect(missing_docs, reason = "names of fields and variants say it")]

mod all_pairs;
mod pairs;

pub use all_pairs::{PairTest, RankSet, ToolScores, rank_sets, test_all_pairs};
pub use pairs::{Pairs, Row, Statistic};

use crate::metric::estimate::RELIABLE_N;
use crate::metric::table::Direction;
use crate::stats::bootstrap::RESAMPLES;
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::paired::{
    self, DifferenceVerdict, McNemar, cohens_dz, holm_of_tested, mcnemar, minimum_detectable, unseen_share,
};
use crate::stats::summary::{mean, standard_error};

/// Default margin below which a difference does not matter.
pub const MARGIN: f64 = 0.02;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How often intervals should contain the truth: 0.95 for 95 %. A p value above 1 − level is not significant.
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

#[derive(Clone)]
pub struct PairedMetric<'a> {
    pub pairs: Pairs<'a>,
    /// The cluster of every pair; none where every case stands alone.
    pub clusters: Option<Vec<usize>>,
    pub direction: Direction,
}

#[derive(Clone, Debug, PartialEq)]
pub struct MetricDifference {
    pub a: Option<f64>,
    pub b: Option<f64>,
    pub difference: Option<f64>,
    pub interval: Result<Interval, NoInterval>,
    pub p: Option<f64>,
    /// The same, adjusted for how many pairs of sides were compared.
    pub p_holm: Option<f64>,
    /// Cohen's dz.
    pub effect: Option<f64>,
    /// The smallest true difference that would be found with the power asked for.
    pub detectable: Option<f64>,
    /// Where no pair differs: the share of them that could differ unseen.
    pub unseen: Option<f64>,
    pub n: usize,
    /// How many of them are independent: pairs, or clusters where clusters are named.
    pub units: usize,
    pub unreliable: bool,
    /// The verdict on the second side, by the metric's direction.
    pub verdict: DifferenceVerdict,
    pub because: &'static str,
}

/// Compares one metric of several pairs of sides. They are one family: the more there are, the smaller p must be.
///
/// *Better* and *worse* need an interval without 0 and an adjusted p value of 1 − level or less: intervals of few clusters alone
/// raise false alarms more often than they say. *Equivalent* needs an interval within the margin, and so something that varies.
/// *Identical* needs the same result on every pair, however few. All else is inconclusive.
pub fn compare(family: &[PairedMetric<'_>], rules: &Rules) -> Vec<MetricDifference> {
    let permutations = rules.permutations(family.len());
    let mut all: Vec<MetricDifference> = family.iter().map(|comparand| one(comparand, rules, permutations)).collect();
    let adjusted = holm_of_tested(all.iter().map(|compared| compared.p));
    for ((compared, comparand), p_holm) in all.iter_mut().zip(family).zip(adjusted) {
        compared.p_holm = p_holm;
        (compared.verdict, compared.because) = decide(compared, comparand.direction, rules);
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
    let all_equal = n > 0 && pairs.all_equal();
    let difference = a.zip(b).map(|(a, b)| b - a);
    let is_identical = all_equal && difference.is_some();
    let interval = match difference {
        None => Err(NoInterval::Undefined),
        Some(_) if is_identical => {
            Ok(Interval { low: 0.0, high: 0.0, method: "all-equal", level: rules.level, n: units })
        }
        Some(_) => pairs.interval(clusters, rules),
    };
    let error = standard_error(&by_pair, clusters).filter(|error| *error > 1e-12);
    MetricDifference {
        a,
        b,
        difference: difference.map(|d| if all_equal { 0.0 } else { d + 0.0 }),
        interval,
        p: difference.and_then(|_| pairs.p(clusters, permutations, rules.seed)),
        p_holm: None,
        effect: cohens_dz(&by_pair),
        detectable: error.and_then(|error| minimum_detectable(error, rules.level, rules.power)),
        unseen: is_identical.then(|| unseen_share(units, rules.level)).flatten(),
        n,
        units,
        unreliable: units < RELIABLE_N,
        verdict: DifferenceVerdict::Inconclusive,
        because: NO_PAIRS,
    }
}

const NO_PAIRS: &str = "no case has a value on both sides";
const ALL_EQUAL: &str = "both have the same value in every case";
const SAME_EVERYWHERE: &str = "every case differs by the same amount, so only p decides";
const SAME_WITHIN_MARGIN: &str =
    "every case differs by the same amount, so there is no interval that could lie within the margin";
const SIGNIFICANT: &str = "the interval excludes 0, and p is low enough";
const HIGH_P: &str = "the interval excludes 0, but p is too high";
const WITHIN_MARGIN: &str = "the whole interval lies within the margin";
const WITHIN_MARGIN_OF_FEW: &str = "the interval lies within the margin, but the cases are too few to rely on";
const OPEN: &str = "the interval contains 0 and differences beyond the margin";

fn decide(compared: &MetricDifference, direction: Direction, rules: &Rules) -> (DifferenceVerdict, &'static str) {
    use DifferenceVerdict::{Equivalent, Identical, Inconclusive};
    let Some(difference) = compared.difference else {
        return (Inconclusive, if compared.n == 0 { NO_PAIRS } else { NoInterval::Undefined.reason() });
    };
    if compared.unseen.is_some() {
        return (Identical, ALL_EQUAL);
    }
    let unlikely = compared.p_holm.is_some_and(|p| paired::is_significant(p, rules.level));
    let sure = !compared.unreliable;
    let (interval, varies) = match compared.interval {
        Ok(interval) => (interval, true),
        Err(NoInterval::NothingVaries) => {
            (Interval { low: difference, high: difference, method: "", level: rules.level, n: compared.units }, false)
        }
        Err(reason) => return (Inconclusive, reason.reason()),
    };
    let upward = match direction {
        Direction::Up => interval,
        Direction::Down => Interval { low: -interval.high, high: -interval.low, ..interval },
    };
    match (paired::verdict(&upward, rules.margin), varies) {
        (Equivalent, false) => (Inconclusive, SAME_WITHIN_MARGIN),
        (Equivalent, true) if !sure => (Inconclusive, WITHIN_MARGIN_OF_FEW),
        (Equivalent, true) => (Equivalent, WITHIN_MARGIN),
        (Inconclusive, _) => (Inconclusive, OPEN),
        (verdict, false) if unlikely => (verdict, SAME_EVERYWHERE),
        (_, false) => (Inconclusive, SAME_EVERYWHERE),
        (verdict, true) if unlikely => (verdict, SIGNIFICANT),
        (_, true) => (Inconclusive, HIGH_P),
    }
}

/// In how many of its trials a side found a golden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FoundCount {
    pub found: usize,
    pub trials: usize,
}

impl FoundCount {
    pub fn flaky(self) -> bool {
        self.found > 0 && self.found < self.trials
    }
}

/// What a metric over the trials of a case is expected to be with fewer of them, any being left out alike.
///
/// Of a golden found in k of T trials, m trials all miss it in `C(T−k, m) / C(T, m)` of the choices, and all find it in
/// `C(k, m) / C(T, m)`. Undefined without goldens, for another metric, and of the consistency of one trial.
pub fn at_fewer_trials(id: &str, goldens: &[FoundCount], trials: usize) -> Option<f64> {
    let share = |of: usize, all: usize| -> f64 {
        (0..trials).map(|at| of.saturating_sub(at) as f64 / (all - at) as f64).product()
    };
    let value = |count: &FoundCount| {
        if count.trials < trials {
            return None;
        }
        let (none, all) = (share(count.trials - count.found, count.trials), share(count.found, count.trials));
        match id {
            "found_any" => Some(1.0 - none),
            "found_all" => Some(all),
            "consistency" if trials > 1 => Some(none + all),
            _ => None,
        }
    };
    let values: Option<Vec<f64>> = goldens.iter().map(value).collect();
    mean(&values.filter(|_| trials > 0)?)
}

/// What became of goldens from one side to the other. Every golden counts once, however many trials there are.
#[derive(Clone, Debug, PartialEq)]
pub struct GoldenChanges {
    /// Those that only the second side mostly finds, by their places.
    pub gained: Vec<usize>,
    pub lost: Vec<usize>,
    pub both: usize,
    pub neither: usize,
    /// How many of those that moved waver on either side, so that they may move back by chance.
    pub flaky: usize,
    /// The exact test of gained against lost.
    pub test: McNemar,
}

/// Compares goldens by how often either side found them.
pub fn golden_changes(goldens: &[[FoundCount; 2]]) -> GoldenChanges {
    let (mut gained, mut lost, mut both, mut neither) = (Vec::new(), Vec::new(), 0, 0);
    for (at, counts) in goldens.iter().enumerate() {
        match counts.map(|count| 2 * count.found > count.trials) {
            [false, true] => gained.push(at),
            [true, false] => lost.push(at),
            [true, true] => both += 1,
            [false, false] => neither += 1,
        }
    }
    let flaky = gained.iter().chain(&lost).filter(|at| goldens[**at].iter().any(|count| count.flaky())).count();
    GoldenChanges { test: mcnemar(gained.len(), lost.len()), gained, lost, both, neither, flaky }
}

#[cfg(test)]
mod tests;
