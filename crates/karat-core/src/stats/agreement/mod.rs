//! Inter-rater agreement: percent, Cohen, Fleiss, Krippendorff and Gwet's AC1, with intervals.
//!
//! Every figure is a function of how often each *pattern* of ratings occurs (see [`Ratings`]). A sample of the items is then
//! nothing but other counts of the same patterns, which is what makes resampling a hundred thousand items quick.

mod cohen;
mod krippendorff;
mod ratings;
mod resample;
mod shares;

pub use super::interval::{Interval, NoInterval};
use crate::stats::interval::wilson_of_share;
pub(crate) use cohen::binary_kappa;
pub use cohen::{Weights, cohen};
pub use krippendorff::{Level, krippendorff};
pub use ratings::{Rating, Ratings};
pub use resample::RESAMPLES;
pub use shares::{ac1, fleiss, percent};

/// A figure, or the reason why there is none. 0/0 is never a number.
pub type Value = Result<f64, UndefinedAgreement>;

/// Why a figure has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "`reason` says it")]
pub enum UndefinedAgreement {
    NoOverlap,
    OneCategory,
}

impl UndefinedAgreement {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoOverlap => "no item was rated by two raters",
            Self::OneCategory => "all ratings are the same, so agreement by chance is 1",
        }
    }
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The figure on all items.
    pub value: Value,
    /// Its interval at 95 %, or why there is none.
    pub interval: Result<Interval, NoInterval>,
    /// How many items it rests on: those with two ratings or more.
    pub n: usize,
}

/// Cohen's kappa of two raters, plain and weighted.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct PairEstimate {
    pub a: usize,
    /// The second rater, always the greater number.
    pub b: usize,
    pub plain: Estimate,
    pub linear: Estimate,
    pub quadratic: Estimate,
}

/// All agreement figures.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Agreement {
    /// The share of agreeing pairs of ratings, averaged over items.
    pub percent: Estimate,
    /// Each pair of raters, in rising order.
    pub cohen: Vec<PairEstimate>,
    pub fleiss: Estimate,
    /// Krippendorff's alpha for categories without an order.
    pub nominal: Estimate,
    /// Krippendorff's alpha for categories with an order.
    pub ordinal: Estimate,
    pub interval: Estimate,
    pub ac1: Estimate,
}

/// All figures with their intervals; `pairs` are the raters to compare, the smaller number first.
///
/// The same ratings and seed give the same figures to the bit, with any number of threads.
pub fn measure(ratings: &Ratings, pairs: &[(usize, usize)], seed: u64) -> Agreement {
    let prepared: Vec<cohen::Pair> = pairs.iter().map(|&(a, b)| cohen::Pair::new(ratings, a, b)).collect();
    let figures = |times: &[f64]| {
        let mut all = Vec::with_capacity(WHOLE + 3 * prepared.len());
        let shares = shares::Shares::new(ratings, times);
        all.push(shares.percent());
        all.push(shares.fleiss());
        all.push(shares.ac1());
        all.extend([Level::Nominal, Level::Ordinal, Level::Interval].map(|l| krippendorff::alpha(ratings, times, l)));
        for pair in &prepared {
            let sums = pair.sums(ratings, times);
            all.extend([Weights::Equal, Weights::Linear, Weights::Quadratic].map(|weights| sums.kappa(weights)));
        }
        all
    };
    let n = ratings.pairable();
    let mut estimates = resample::estimates(ratings, seed, &figures).into_iter();
    let mut next = |n: usize| {
        let (value, interval) =
            estimates.next().unwrap_or((Err(UndefinedAgreement::NoOverlap), Err(NoInterval::Undefined)));
        Estimate { value, interval, n }
    };
    let mut percent = next(n);
    if ratings.patterns().iter().all(|pattern| pattern.ratings.len() <= 2) {
        // With two ratings an item agrees or does not, and a share of items has an interval of its own.
        let share = percent.value.map_err(|_| NoInterval::Undefined);
        percent.interval = share.and_then(|share| wilson_of_share(share, n, 0.95));
    }
    let (fleiss, ac1) = (next(n), next(n));
    let (nominal, ordinal, interval) = (next(n), next(n), next(n));
    let cohen = prepared.iter().map(|pair| PairEstimate {
        a: pair.a,
        b: pair.b,
        plain: next(pair.n),
        linear: next(pair.n),
        quadratic: next(pair.n),
    });
    Agreement { cohen: cohen.collect(), percent, fleiss, nominal, ordinal, interval, ac1 }
}

/// How many figures are about all raters together.
const WHOLE: usize = 6;
