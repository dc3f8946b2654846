//! A metric's value with all that is known about how far to trust it.

use super::Undefined;
use super::table::Direction;
use std::borrow::Cow;

/// A headline number; `value` is `None` just when `undefined` says why.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: Option<f64>,
    /// Why there is none.
    pub undefined: Option<&'static str>,
    /// The interval, where one was computed.
    pub ci: Option<[f64; 2]>,
    /// How the value or its interval came about.
    pub method: Option<Cow<'static, str>>,
    /// Why there is no interval, where one was wanted.
    pub no_ci: Option<&'static str>,
    /// The standard error of a mean of cases, clustered where clusters are named.
    pub se: Option<f64>,
    /// How many cases it rests on; of a pooled one, how many items.
    pub n: usize,
    /// Cases left out because the metric is undefined on them.
    pub left_out: usize,
    /// Spread of the suite's mean over trials.
    pub std_trials: Option<f64>,
    /// Spread over cases.
    pub std_cases: Option<f64>,
    /// Which way is better.
    pub direction: Direction,
}

/// Below this many cases a number is marked as unreliable.
pub const RELIABLE_N: usize = 30;

impl Estimate {
    /// A value that rests on `n` cases or items.
    pub fn new(value: super::Value, n: usize, direction: Direction) -> Self {
        Self {
            // A figure of -0.0 is 0, and reads so.
            value: value.ok().map(|value| value + 0.0),
            undefined: value.err().map(|Undefined(reason)| reason),
            ci: None,
            method: None,
            no_ci: None,
            se: None,
            n,
            left_out: 0,
            std_trials: None,
            std_cases: None,
            direction,
        }
    }

    /// Too few cases to lean on.
    pub fn unreliable(&self) -> bool {
        self.n < RELIABLE_N
    }
}
