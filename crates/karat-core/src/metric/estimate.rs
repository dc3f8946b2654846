//! A metric's value with its uncertainty.

use super::Undefined;
use super::table::Direction;
use crate::stats::interval::{Interval, NoInterval};
use std::borrow::Cow;

/// A headline number; `value` is `None` exactly when `undefined` says why.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    pub value: Option<f64>,
    pub undefined: Option<&'static str>,
    pub ci: Option<[f64; 2]>,
    pub method: Option<Cow<'static, str>>,
    pub no_ci: Option<&'static str>,
    /// The standard error of a mean of cases, clustered where clusters are named.
    pub se: Option<f64>,
    /// How many cases it rests on; of a pooled one, how many items.
    pub n: usize,
    /// Cases left out because the metric is undefined on them.
    pub left_out: usize,
    pub std_trials: Option<f64>,
    pub std_cases: Option<f64>,
    pub direction: Direction,
}

/// Below this many cases a number is marked as unreliable.
pub const RELIABLE_N: usize = 30;

impl Estimate {
    /// A value that rests on `n` cases or items.
    pub fn new(value: super::Value, n: usize, direction: Direction) -> Self {
        Self {
            // Turn -0.0 into 0.
            value: value.ok().map(|value| value + 0.0),
            undefined: value.err().map(|Undefined(reason)| reason),
            n,
            direction,
            ..Self::default()
        }
    }

    pub(crate) fn set_interval(&mut self, interval: Result<Interval, NoInterval>, pooled: bool) {
        match interval {
            Ok(Interval { low, high, method, .. }) => {
                // Turn -0.0 into 0.
                self.ci = Some([low + 0.0, high + 0.0]);
                self.method = Some(if pooled { format!("{method} over pooled items").into() } else { method.into() });
            }
            Err(why) => self.no_ci = Some(why.reason()),
        }
    }

    pub fn unreliable(&self) -> bool {
        self.n < RELIABLE_N
    }
}
