//! Corrects a proportion for the judge's errors, by labels of some items.

use super::distribution::two_sided;
use super::interval::{Interval, checked, wilson_ends};
use super::summary::squares_about_mean;
use std::collections::{BTreeMap, BTreeSet};

/// The person's and the judge's answer for one item.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Label {
    pub judged: bool,
    pub truth: bool,
    /// The probability with which the item was picked for labelling, above 0. The label weighs 1 over it.
    pub probability: f64,
    /// Labels of one unit were picked together, such as the same pair in several trials.
    pub unit: usize,
    /// Items of one cluster may be alike.
    pub cluster: usize,
}

/// Needed of each kind: for Rogan and Gladen's correction labels of items that truly are, and of items that truly are not; for
/// PPI++ labels of pairs that the judge calls a match, and of pairs that it does not.
pub const LEAST_OF_EACH: usize = 10;

/// Needed by PPI++ in all.
pub(super) const LEAST_LABELS: usize = 30;

/// With fewer clusters, items are taken as independent.
const LEAST_CLUSTERS: usize = 10;

/// A figure corrected by labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedEstimate {
    /// The corrected figure.
    pub value: f64,
    /// Its interval; `n` is the number of labels.
    pub interval: Interval,
}

/// Why there is no corrected figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CorrectionError(pub &'static str);

#[expect(missing_docs, reason = "the texts say it")]
impl CorrectionError {
    pub const FEW_LABELS: Self = Self(
        "too few labels: PPI++ needs 30, including 10 of pairs that the judge calls a match and 10 of others; \
         Rogan–Gladen needs 10 matches and 10 others",
    );
    pub const NOTHING_JUDGED: Self = Self("the judge decided nothing");
    pub const UNINFORMATIVE: Self =
        Self("sensitivity and specificity add up to 1 or less, so the judge is uninformative");
    pub const BAD_LABEL: Self = Self("invalid sampling probability of a label: expected above 0 and at most 1");
    pub const SEVERAL_CANDIDATES: Self = Self(
        "Rogan–Gladen corrects pairs, and here some golden or finding has several candidates, or a pair has a label that the \
         judge was not asked about",
    );
    pub const TOO_MANY_TOGETHER: Self =
        Self("more than 12 wrong answers of the judge concern goldens and findings that hang together");
    pub const NOT_BY_PAIRS: Self =
        Self("the profile does not decide pair by pair, so labels of pairs cannot correct it");
    pub const LEVEL: Self = Self("invalid level: expected a number between 0 and 1");
}

/// The share of items that truly are, from `k` of `n` that the judge says are (Rogan and Gladen 1978).
///
/// `p = (q + sp − 1) / (se + sp − 1)`, kept within 0 and 1, where `q = k/n`, and sensitivity `se` and specificity `sp` are
/// the weighted shares among labels that truly are and are not. The interval is that of Lang and Reiczigel (2014), a delta
/// method whose shares are first moved towards one half, so that a judge without a known error is not held to be without
/// error. Weighted labels count for `(Σw)² / Σw²` of them (Kish 1965), fewer where clusters differ more. No label is of the n items.
pub fn rogan_gladen(k: usize, n: usize, labels: &[Label], level: f64) -> Result<CorrectedEstimate, CorrectionError> {
    if n == 0 || k > n {
        return Err(CorrectionError::NOTHING_JUDGED);
    }
    rogan_gladen_of_share(Share { share: k as f64 / n as f64, count: n as f64 }, None, labels, level)
}

/// The same from a share of so many independent items. Where labels are of some of these `among` items, both share chance errors,
/// which takes `2 (p se(1−se) + (1−p) sp(1−sp)) / n` from the variance.
pub(super) fn rogan_gladen_of_share(
    raw: Share,
    among: Option<f64>,
    labels: &[Label],
    level: f64,
) -> Result<CorrectedEstimate, CorrectionError> {
    let level = checked(level).map_err(|_| CorrectionError::LEVEL)?;
    if !labels.iter().all(|label| label.probability > 0.0 && label.probability <= 1.0) {
        return Err(CorrectionError::BAD_LABEL);
    }
    let right = |truth: bool| {
        let item = |&Label { judged, probability, unit, cluster, .. }: &Label| Weighted {
            holds: judged == truth,
            weight: 1.0 / probability,
            unit,
            cluster,
        };
        let items: Vec<Weighted> = labels.iter().filter(|label| label.truth == truth).map(item).collect();
        let units = items.iter().map(|item| item.unit).collect::<BTreeSet<_>>().len();
        if units < LEAST_OF_EACH { None } else { Share::weighted(&items) }
    };
    let (se, sp) = (right(true).ok_or(CorrectionError::FEW_LABELS)?, right(false).ok_or(CorrectionError::FEW_LABELS)?);
    if se.share + sp.share <= 1.0 {
        return Err(CorrectionError::UNINFORMATIVE);
    }
    let value = ((raw.share + sp.share - 1.0) / (se.share + sp.share - 1.0)).clamp(0.0, 1.0);
    let z = two_sided(level);
    let (raw, se, sp) = (raw.moved(z * z), se.moved(2.0), sp.moved(2.0));
    let gain = se.share + sp.share - 1.0;
    if gain <= 0.0 {
        return Err(CorrectionError::UNINFORMATIVE);
    }
    let p = (raw.share + sp.share - 1.0) / gain;
    let shift = 2.0 * z * z * (p * se.variance() - (1.0 - p) * sp.variance());
    let independent = raw.variance() + p * p * se.variance() + (1.0 - p).powi(2) * sp.variance();
    let truth = p.clamp(0.0, 1.0);
    let by_chance = truth * se.share * (1.0 - se.share) + (1.0 - truth) * sp.share * (1.0 - sp.share);
    let least = |items: f64| gain * gain * truth * (1.0 - truth) / items;
    let variance = among.map_or(independent, |items| (independent - 2.0 * by_chance / items).max(least(items)));
    let half = z * variance.sqrt() / gain;
    // The figure itself belongs to its interval, also where labels without a fault move the middle away from it.
    let low = (p + shift - half).clamp(0.0, 1.0).min(value);
    let high = (p + shift + half).clamp(0.0, 1.0).max(value);
    Ok(CorrectedEstimate {
        value,
        interval: Interval { low, high, method: "rogan-gladen-lang-reiczigel", level, n: labels.len() },
    })
}

#[derive(Clone, Copy)]
pub(super) struct Weighted {
    pub(super) holds: bool,
    pub(super) weight: f64,
    pub(super) unit: usize,
    pub(super) cluster: usize,
}

/// A share, and of how many independent items.
#[derive(Clone, Copy)]
pub(super) struct Share {
    pub(super) share: f64,
    pub(super) count: f64,
}

impl Share {
    /// The weighted share of items that hold, of `(Σw)² / Σw²` units (Kish 1965), fewer where clusters vary more; none without weight.
    pub(super) fn weighted(items: &[Weighted]) -> Option<Self> {
        let (mut total, mut hits) = (0.0, 0.0);
        let mut by_unit: BTreeMap<usize, f64> = BTreeMap::new();
        for item in items {
            total += item.weight;
            hits += if item.holds { item.weight } else { 0.0 };
            *by_unit.entry(item.unit).or_default() += item.weight;
        }
        if total <= 0.0 {
            return None;
        }
        let share = hits / total;
        let mut by_cluster: BTreeMap<usize, f64> = BTreeMap::new();
        for item in items {
            let distance = if item.holds { 1.0 - share } else { -share };
            *by_cluster.entry(item.cluster).or_default() += item.weight * distance / total;
        }
        let squares: f64 = by_unit.values().map(|weight| weight * weight).sum();
        let clusters: Vec<f64> = by_cluster.into_values().collect();
        Some(Self { share, count: total * total / squares }.varying(variance_of_sum(&clusters)))
    }

    /// The same, standing for as few items as make it vary so much; never for more than it does.
    pub(super) fn varying(self, variance: Option<f64>) -> Self {
        let count = match variance {
            Some(variance) if variance > self.variance() && self.variance() > 0.0 => {
                self.count * self.variance() / variance
            }
            _ => self.count,
        };
        Self { count, ..self }
    }

    pub(super) fn wilson(self, z: f64) -> (f64, f64) {
        let Self { share, count } = self;
        if count <= 0.0 {
            return (0.0, 1.0);
        }
        let (low, high) = wilson_ends(share, count, z);
        (low.clamp(0.0, share), high.clamp(share, 1.0))
    }

    fn moved(self, more: f64) -> Self {
        let count = self.count + more;
        Self { share: (self.share * self.count + more / 2.0) / count, count }
    }

    fn variance(self) -> f64 {
        self.share * (1.0 - self.share) / self.count
    }
}

/// The variance of a sum over G clusters: `G/(G−1) Σ (x − x̄)²`; none where there are too few of them.
pub(super) fn variance_of_sum(clusters: &[f64]) -> Option<f64> {
    let count = clusters.len() as f64;
    if clusters.len() < LEAST_CLUSTERS {
        return None;
    }
    squares_about_mean(clusters).map(|squares| squares * count / (count - 1.0))
}
