//! Decides the verdict of a comparison from its interval and p value.

use super::{MetricDifference, Rules};
use crate::metric::table::Direction;
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::paired::{self, DifferenceVerdict};

/// Why a comparison got its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "`text` says it")]
pub enum VerdictReason {
    NoPairs,
    AllEqual,
    AllEqualOfFew,
    SameEverywhere,
    NoInterval(NoInterval),
    Significant,
    HighP,
    WithinMargin,
    WithinMarginOfFew,
    Open,
}

impl VerdictReason {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoPairs => "no case has a value on both sides",
            Self::AllEqual => "both have the same value in every case",
            Self::AllEqualOfFew => "both have the same value in every case, but the cases are too few to rely on",
            Self::SameEverywhere => "every case differs by the same amount, so only p decides",
            Self::NoInterval(reason) => reason.reason(),
            Self::Significant => "the interval excludes 0, and p is low enough",
            Self::HighP => "the interval excludes 0, but p is too high",
            Self::WithinMargin => "the whole interval lies within the margin",
            Self::WithinMarginOfFew => "the interval lies within the margin, but the cases are too few to rely on",
            Self::Open => "the interval contains 0 and differences beyond the margin",
        }
    }
}

/// What may be said of the second side.
pub(super) fn decide(
    compared: &MetricDifference,
    direction: Direction,
    rules: &Rules,
) -> (DifferenceVerdict, VerdictReason) {
    let Some(difference) = compared.difference else {
        let because =
            if compared.n == 0 { VerdictReason::NoPairs } else { VerdictReason::NoInterval(NoInterval::Undefined) };
        return (DifferenceVerdict::Inconclusive, because);
    };
    let unlikely = compared.p_holm.is_some_and(|p| paired::is_significant(p, rules.level));
    let sure = !compared.unreliable;
    let upward = |interval: Interval| match direction {
        Direction::Up => interval,
        Direction::Down => Interval { low: -interval.high, high: -interval.low, ..interval },
    };
    let (interval, varies) = match compared.interval {
        Ok(interval) if interval.low == 0.0 && interval.high == 0.0 => {
            return match sure {
                true => (DifferenceVerdict::Equivalent, VerdictReason::AllEqual),
                false => (DifferenceVerdict::Inconclusive, VerdictReason::AllEqualOfFew),
            };
        }
        Ok(interval) => (interval, true),
        Err(NoInterval::NothingVaries) => {
            let at = Interval { low: difference, high: difference, method: "", level: rules.level, n: compared.units };
            (at, false)
        }
        Err(reason) => return (DifferenceVerdict::Inconclusive, VerdictReason::NoInterval(reason)),
    };
    match (paired::verdict(&upward(interval), rules.margin), varies) {
        (DifferenceVerdict::Equivalent, false) if sure => {
            (DifferenceVerdict::Equivalent, VerdictReason::SameEverywhere)
        }
        (DifferenceVerdict::Equivalent, true) if sure => (DifferenceVerdict::Equivalent, VerdictReason::WithinMargin),
        (DifferenceVerdict::Equivalent, _) => (DifferenceVerdict::Inconclusive, VerdictReason::WithinMarginOfFew),
        (DifferenceVerdict::Inconclusive, _) => (DifferenceVerdict::Inconclusive, VerdictReason::Open),
        (_, true) if !unlikely => (DifferenceVerdict::Inconclusive, VerdictReason::HighP),
        (_, false) if !unlikely => (DifferenceVerdict::Inconclusive, VerdictReason::SameEverywhere),
        (verdict, true) => (verdict, VerdictReason::Significant),
        (verdict, false) => (verdict, VerdictReason::SameEverywhere),
    }
}
