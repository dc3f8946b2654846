//! What fitted values gain over the present ones on held-out data, and whether chance would gain as much.
//!
//! A gain on held-out data can still be chance: of two rules that know nothing, one does better. So the human data is also
//! permuted, and the whole fit repeated. What the present values say about it stays in every permutation, and all beyond it is
//! shuffled, since the question is what fitted values add to the present ones. The interval is about other groups or tools
//! of the same kind; the fits themselves are not repeated for it.

#![expect(missing_docs, reason = "names of fields and variants say it")]

use crate::stats::bootstrap::{BootstrapOptions, interval_of_units};
use crate::stats::interval::{IntervalEstimate, NoInterval};
use crate::stats::paired::is_significant;

/// Up to so many groups or tools are held out one by one; of more, several at a time, so that a permutation costs no more fits.
pub(super) const MOST_FOLDS: usize = 20;

/// Enough for two decimals of an interval; a sample of rankings takes longer than one of sums.
const RESAMPLES: usize = 2_000;

/// A gain counts where it is no chance at this level, one-sided.
const LEVEL: f64 = 0.95;

/// What a gain rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Units {
    /// The singular of what they are called.
    pub name: &'static str,
    pub n: usize,
    /// How many a recommendation needs.
    pub least: usize,
}

/// How much better fitted values do than the present ones on data that they were not fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    pub units: Units,
    pub estimate: IntervalEstimate,
    /// How often a permutation gains as much, one-sided; absent where there are too few units to try.
    pub p: Option<f64>,
}

/// Why fitted values are not recommended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotRecommended {
    TooFew(Units),
    Undefined,
    NoGain,
    NoInterval(NoInterval),
    IncludesZero,
    Chance,
}

impl NotRecommended {
    pub fn reason(self) -> String {
        match self {
            Self::TooFew(Units { name, n, least }) => {
                let n = crate::wording::count(n, name);
                format!("{n}, and a recommendation needs {least}")
            }
            Self::Undefined => "the gain is undefined".to_owned(),
            Self::NoGain => "there is no gain".to_owned(),
            Self::NoInterval(why) => format!("the gain has no interval: {}", why.reason()),
            Self::IncludesZero => "the interval includes 0".to_owned(),
            Self::Chance => "permuted data gain as much too often".to_owned(),
        }
    }
}

impl Gain {
    /// A gain that is not tested yet. `figure` gets how often each unit counts.
    pub(super) fn estimate(units: Units, figure: impl Fn(&[u32]) -> Option<f64> + Sync, seed: u64) -> Self {
        let options = BootstrapOptions { resamples: RESAMPLES, ..BootstrapOptions::default() };
        Self { units, estimate: interval_of_units(units.n, figure, seed, &options), p: None }
    }

    /// Whether there are enough units for a recommendation, so that permutations are worth their time.
    pub(super) fn is_testable(&self) -> bool {
        self.units.n >= self.units.least && self.estimate.value.is_some()
    }

    /// Whether to use the fitted values, or why not.
    pub fn verdict(&self) -> Result<(), NotRecommended> {
        if self.units.n < self.units.least {
            return Err(NotRecommended::TooFew(self.units));
        }
        let gain = self.estimate.value.ok_or(NotRecommended::Undefined)?;
        if gain <= 0.0 {
            return Err(NotRecommended::NoGain);
        }
        match self.estimate.interval {
            Ok(interval) if interval.low <= 0.0 => return Err(NotRecommended::IncludesZero),
            // The same gain everywhere: only p decides.
            Ok(_) | Err(NoInterval::NothingVaries) => {}
            Err(why) => return Err(NotRecommended::NoInterval(why)),
        }
        let is_chance = self.p.is_none_or(|p| !is_significant(p, LEVEL));
        if is_chance { Err(NotRecommended::Chance) } else { Ok(()) }
    }

    pub fn is_recommended(&self) -> bool {
        self.verdict().is_ok()
    }
}
