//! McNemar's exact test.

use crate::stats::distribution::beta_cumulative;
use crate::stats::interval::{Interval, NoInterval};
use crate::stats::proportion::clopper_pearson;

/// What the pairs say on which two tools differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct McNemar {
    /// The two-sided exact p value.
    pub p: f64,
    /// How many times as often only the first succeeds as only the second; none where only the second never does.
    pub odds_ratio: Option<f64>,
    /// Its exact interval, from that of Clopper and Pearson; the upper end is infinite where only the second never succeeds.
    pub interval: Result<Interval, NoInterval>,
}

/// McNemar's exact test of `first` pairs on which only the first succeeds, and `second` on which only the second does.
///
/// Pairs on which both do the same say nothing. `p = min(1, 2 P(X ≤ min(b, c)))` of X binomial with b+c draws at one half
/// (McNemar 1947; no mid-p). Without any such pair p is 1, and the odds ratio `b/c` undefined.
pub fn mcnemar(first: usize, second: usize, level: f64) -> McNemar {
    let (few, n) = (first.min(second), first + second);
    // P(X ≤ k) of a binomial at one half is a share of a beta distribution.
    let tail = if n == 0 { 1.0 } else { beta_cumulative((n - few) as f64, few as f64 + 1.0, 0.5) };
    let odds = |share: f64| if share < 1.0 { share / (1.0 - share) } else { f64::INFINITY };
    let interval = clopper_pearson(first, n, level).map(|share| Interval {
        low: odds(share.low),
        high: odds(share.high),
        method: "clopper-pearson-odds",
        ..share
    });
    McNemar { p: (2.0 * tail).min(1.0), odds_ratio: (second > 0).then(|| first as f64 / second as f64), interval }
}
