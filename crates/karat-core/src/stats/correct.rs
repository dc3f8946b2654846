//! What a share or a mean would be without the judge's errors, by labels that people gave to some of the items.

use super::distribution::two_sided;
use super::interval::{Interval, checked};

/// What a person and the judge say of the same item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Label {
    /// What the judge says: 1 or 0 for yes or no, or any number where a mean is wanted.
    pub judged: f64,
    /// What the person says.
    pub truth: f64,
    /// The probability with which the item was picked for labelling, above 0. The label weighs 1 over it.
    pub probability: f64,
}

/// Rogan and Gladen's correction needs labels of at least so many items that truly are, and as many that truly are not.
pub const LEAST_OF_EACH: usize = 10;

/// PPI++ needs at least so many labels.
pub const LEAST_LABELS: usize = 30;

/// A figure corrected by labels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corrected {
    /// The corrected figure.
    pub value: f64,
    /// Its interval; `n` is the number of labels.
    pub interval: Interval,
}

/// Why there is no corrected figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refused {
    /// There are too few labels.
    FewLabels,
    /// There is nothing to correct.
    NothingJudged,
    /// Sensitivity and specificity add up to 1 or less: the judge tells nothing.
    JudgeTellsNothing,
    /// A probability of being picked is not above 0 and at most 1, or a value is no number.
    BadLabel,
    /// The level is not between 0 and 1, both excluded.
    Level,
}

impl Refused {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::FewLabels => "there are too few labels; label more items, of either kind",
            Self::NothingJudged => "the judge judged nothing",
            Self::JudgeTellsNothing => {
                "sensitivity and specificity add up to 1 or less, so that the judge tells nothing"
            }
            Self::BadLabel => {
                "a label's value is no number, or its probability of being picked is not above 0 and at most 1"
            }
            Self::Level => "the level is not between 0 and 1",
        }
    }
}

/// The share of items that truly are, from `k` of `n` that the judge says are (Rogan and Gladen 1978).
///
/// `p = (q + sp − 1) / (se + sp − 1)`, kept within 0 and 1, where `q = k/n`, and sensitivity `se` and specificity `sp` are
/// the weighted shares among labels that truly are and are not. The interval is that of Lang and Reiczigel (2014), a delta
/// method whose shares are first moved towards one half, so that a judge without a known error is not held to be without
/// error. Weighted labels count as many as their weights are worth: `(Σw)² / Σw²` (Kish 1965). It takes the labels as independent
/// of the n items, which is close where few of the items are labelled.
pub fn rogan_gladen(k: usize, n: usize, labels: &[Label], level: f64) -> Result<Corrected, Refused> {
    let level = checked(level).map_err(|_| Refused::Level)?;
    if n == 0 || k > n {
        return Err(Refused::NothingJudged);
    }
    if !labels.iter().all(usable) {
        return Err(Refused::BadLabel);
    }
    let sensitivity = Share::of(labels.iter().filter(|l| l.truth > 0.5).map(|l| (l.judged > 0.5, l)));
    let specificity = Share::of(labels.iter().filter(|l| l.truth <= 0.5).map(|l| (l.judged <= 0.5, l)));
    let (se, sp) = (sensitivity.ok_or(Refused::FewLabels)?, specificity.ok_or(Refused::FewLabels)?);
    if se.share + sp.share <= 1.0 {
        return Err(Refused::JudgeTellsNothing);
    }
    let raw = Share { share: k as f64 / n as f64, count: n as f64 };
    let value = ((raw.share + sp.share - 1.0) / (se.share + sp.share - 1.0)).clamp(0.0, 1.0);
    let z = two_sided(level);
    let (raw, se, sp) = (raw.moved(z * z), se.moved(2.0), sp.moved(2.0));
    let gain = se.share + sp.share - 1.0;
    if gain <= 0.0 {
        return Err(Refused::JudgeTellsNothing);
    }
    let p = (raw.share + sp.share - 1.0) / gain;
    let shift = 2.0 * z * z * (p * se.variance() - (1.0 - p) * sp.variance());
    let variance = raw.variance() + p * p * se.variance() + (1.0 - p).powi(2) * sp.variance();
    let half = z * variance.sqrt() / gain;
    // The figure itself belongs to its interval, also where labels without a fault move the middle away from it.
    let low = (p + shift - half).clamp(0.0, 1.0).min(value);
    let high = (p + shift + half).clamp(0.0, 1.0).max(value);
    Ok(Corrected {
        value,
        interval: Interval { low, high, method: "rogan-gladen-lang-reiczigel", level, n: labels.len() },
    })
}

/// The mean of truth, from what the judge says of all items and labels of some: PPI++ (Angelopoulos, Duchi and Zrnic 2023).
///
/// `θ = λ · mean(judged) + Σ wᵢ (truthᵢ − λ judgedᵢ) / Σ wᵢ`, with weights of 1 over the probability of being picked. λ makes
/// the variance least and stays within 0 and 1: at 0 a judge who tells nothing is not listened to. The interval is normal,
/// with the variance `λ² var(judged)/N + Σ wᵢ² (eᵢ − ē)² / (Σ wᵢ)²` of `e = truth − λ judged`. `judged` stands for all items
/// of which the mean is wanted: where labels were picked with unequal probabilities, these include the labelled ones.
/// Refused with fewer than [`LEAST_LABELS`] labels.
pub fn ppi_mean(judged: &[f64], labels: &[Label], level: f64) -> Result<Corrected, Refused> {
    let level = checked(level).map_err(|_| Refused::Level)?;
    if judged.is_empty() {
        return Err(Refused::NothingJudged);
    }
    if !labels.iter().all(usable) || !judged.iter().all(|v| v.is_finite()) {
        return Err(Refused::BadLabel);
    }
    if labels.len() < LEAST_LABELS {
        return Err(Refused::FewLabels);
    }
    let (n, all) = (labels.len() as f64, judged.len() as f64);
    let total: f64 = labels.iter().map(|l| 1.0 / l.probability).sum();
    // Weights that add up to the number of labels.
    let weights: Vec<f64> = labels.iter().map(|l| n / (l.probability * total)).collect();
    let weighed = |value: &dyn Fn(&Label) -> f64| -> f64 {
        labels.iter().zip(&weights).map(|(label, weight)| weight * value(label)).sum::<f64>() / n
    };
    let middle = judged.iter().sum::<f64>() / all;
    let tuned = tuning(judged, labels, &weights, middle + weighed(&|l| l.truth - l.judged));
    let error = |label: &Label| label.truth - tuned * label.judged;
    let rest = weighed(&error);
    let value = tuned * middle + rest;
    let spread = judged.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / all;
    let errors: f64 = labels.iter().zip(&weights).map(|(l, w)| (w * (error(l) - rest)).powi(2)).sum::<f64>() / n;
    let half = two_sided(level) * (tuned * tuned * spread / all + errors / n).sqrt();
    let interval = Interval { low: value - half, high: value + half, method: "ppi++", level, n: labels.len() };
    Ok(Corrected { value, interval })
}

/// How much the judge is listened to: the covariance of truth and judgement over (1 + n/N) times the judge's variance.
fn tuning(judged: &[f64], labels: &[Label], weights: &[f64], value: f64) -> f64 {
    let (n, all) = (labels.len() as f64, judged.len() as f64);
    let truths: Vec<f64> = labels.iter().zip(weights).map(|(l, w)| w * (l.truth - value)).collect();
    let said: Vec<f64> = labels.iter().zip(weights).map(|(l, w)| w * (l.judged - value)).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (truth, say) = (mean(&truths), mean(&said));
    let together = truths.iter().zip(&said).map(|(t, s)| (t - truth) * (s - say)).sum::<f64>() / n;
    let both: Vec<f64> = said.iter().copied().chain(judged.iter().map(|v| v - value)).collect();
    let middle = mean(&both);
    let variance = both.iter().map(|v| (v - middle).powi(2)).sum::<f64>() / (n + all - 1.0);
    if variance > 0.0 { (together / ((1.0 + n / all) * variance)).clamp(0.0, 1.0) } else { 0.0 }
}

fn usable(label: &Label) -> bool {
    label.judged.is_finite() && label.truth.is_finite() && label.probability > 0.0 && label.probability <= 1.0
}

/// A share, and of how many.
#[derive(Clone, Copy)]
struct Share {
    share: f64,
    count: f64,
}

impl Share {
    /// The weighted share of labels that hold; none with too few of them.
    fn of<'a>(labels: impl Iterator<Item = (bool, &'a Label)>) -> Option<Self> {
        let (mut count, mut hits, mut total, mut squares) = (0, 0.0, 0.0, 0.0);
        for (holds, label) in labels {
            let weight = 1.0 / label.probability;
            count += 1;
            total += weight;
            squares += weight * weight;
            hits += if holds { weight } else { 0.0 };
        }
        (count >= LEAST_OF_EACH).then(|| Self { share: hits / total, count: total * total / squares })
    }

    /// So many more, half of which hold.
    fn moved(self, more: f64) -> Self {
        let count = self.count + more;
        Self { share: (self.share * self.count + more / 2.0) / count, count }
    }

    fn variance(self) -> f64 {
        self.share * (1.0 - self.share) / self.count
    }
}
