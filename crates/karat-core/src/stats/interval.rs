//! Confidence intervals, and reasons why there is none.

/// An interval that states its method, its level and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    pub method: &'static str,
    /// How often such intervals hold the truth: 0.95 for 95 %.
    pub level: f64,
    /// How many independent units it rests on: cases, or clusters where clusters are named.
    pub n: usize,
}

impl Interval {
    /// Whether that value lies inside, ends included.
    pub fn holds(&self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// From the middle to an end, were both ends as far.
    pub fn half_width(&self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Why a figure has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoInterval {
    /// The figure itself is undefined.
    Undefined,
    /// One unit only, which has no variance.
    OneUnit,
    /// All resamples are equal, so resampling shows no uncertainty.
    NothingVaries,
    /// In more than one sample of twenty the figure is undefined.
    OftenUndefined,
    /// The level is not between 0 and 1, both excluded.
    Level,
}

impl NoInterval {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Undefined => "the value is undefined",
            Self::OneUnit => "only one case or cluster: no interval possible",
            Self::NothingVaries => "every resample gives the same value: no interval possible",
            Self::OftenUndefined => "undefined in more than 5 % of the resamples",
            Self::Level => "invalid level: expected a number between 0 and 1",
        }
    }
}

/// A figure with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IntervalEstimate {
    /// The figure; none where it is undefined.
    pub value: Option<f64>,
    /// Its interval, or why there is none.
    pub interval: Result<Interval, NoInterval>,
}

impl IntervalEstimate {
    pub(super) fn without(value: Option<f64>, reason: NoInterval) -> Self {
        Self { value, interval: Err(if value.is_some() { reason } else { NoInterval::Undefined }) }
    }
}

pub(super) fn checked(level: f64) -> Result<f64, NoInterval> {
    if level > 0.0 && level < 1.0 { Ok(level) } else { Err(NoInterval::Level) }
}
