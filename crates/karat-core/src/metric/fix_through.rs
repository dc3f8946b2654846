//! Fix-through: the share of goldens that a fixer repairs from nothing but the finding, as the golden's proof decides.

use super::estimate::Estimate;
use super::ratio;
use super::table::Direction;
use crate::scorecard::Intervals;
use crate::stats::interval::wilson_of_share;

/// What became of one golden whose proof holds, over the trials of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GoldenFixes {
    /// Trials in which it counts.
    pub trials: usize,
    /// Those in which a finding reports it.
    pub found: usize,
    /// Those in which its proof passes after the fixer.
    pub repaired: usize,
}

/// The two figures of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct FixThrough {
    /// Of all goldens: `fix_through`.
    pub of_all: Estimate,
    /// Of the goldens that were found: `fix_through_found`.
    pub of_found: Estimate,
}

/// The figures over goldens, each with the same weight however many trials it has.
pub fn fix_through(goldens: &[GoldenFixes]) -> FixThrough {
    FixThrough {
        of_all: share(
            goldens.iter().map(|golden| (golden.repaired, golden.trials)),
            "no golden has a proof that holds",
        ),
        of_found: share(
            goldens.iter().map(|golden| (golden.repaired, golden.found)),
            "no golden with a proof that holds was found",
        ),
    }
}

/// The mean of the shares that have something to share.
fn share(parts: impl Iterator<Item = (usize, usize)>, reason: &'static str) -> Estimate {
    let shares: Vec<f64> =
        parts.filter(|(_, whole)| *whole > 0).map(|(part, whole)| part as f64 / whole as f64).collect();
    let value = ratio(shares.iter().sum(), shares.len() as f64, reason);
    let mut estimate = Estimate::new(value, shares.len(), Direction::Up);
    if let Ok(value) = value {
        estimate.set_interval(wilson_of_share(value, shares.len(), Intervals::LEVEL), true);
    }
    estimate
}

#[cfg(test)]
mod tests {
    use super::*;

    fn golden(trials: usize, found: usize, repaired: usize) -> GoldenFixes {
        GoldenFixes { trials, found, repaired }
    }

    /// Newcombe (1998), Statistics in Medicine 17, table I, method 3: 15 of 148 is within 0.0624 and 0.1605.
    #[test]
    fn shares_have_wilson_intervals() {
        let goldens: Vec<GoldenFixes> = (0..148).map(|n| golden(1, 1, usize::from(n < 15))).collect();
        let found = fix_through(&goldens);
        assert_eq!((found.of_all.value, found.of_all.n), (Some(15.0 / 148.0), 148));
        let [low, high] = found.of_all.ci.unwrap();
        assert!((low - 0.0624).abs() < 5e-5 && (high - 0.1605).abs() < 5e-5, "{low} {high}");
        assert_eq!(found.of_all.method.as_deref(), Some("wilson over pooled items"));
    }

    #[test]
    fn goldens_weigh_the_same_however_many_trials_they_have() {
        let found = fix_through(&[golden(4, 2, 1), golden(1, 1, 1), golden(2, 0, 0)]);
        assert_eq!((found.of_all.value, found.of_all.n), (Some(1.25 / 3.0), 3));
        assert_eq!((found.of_found.value, found.of_found.n), (Some(0.75), 2));
    }

    #[test]
    fn nothing_to_share_is_undefined() {
        let found = fix_through(&[]);
        assert_eq!((found.of_all.value, found.of_all.ci), (None, None));
        assert_eq!(found.of_all.undefined, Some("no golden has a proof that holds"));
        let found = fix_through(&[golden(1, 0, 0)]);
        assert_eq!(found.of_all.value, Some(0.0));
        assert_eq!(found.of_found.undefined, Some("no golden with a proof that holds was found"));
        assert!(found.of_found.no_ci.is_none() && found.of_found.ci.is_none());
    }
}
