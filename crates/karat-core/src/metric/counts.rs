//! Precision, recall and F from true positives, false positives and misses.

use super::{Value, f_score, ratio};
use std::ops::AddAssign;

/// What a trial, or many pooled, amounts to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Required goldens found.
    pub tp: usize,
    /// Findings that report nothing true.
    pub fp: usize,
    /// Required goldens missed.
    pub fn_: usize,
}

impl Counts {
    /// TP / (TP + FP).
    pub fn precision(self) -> Value {
        ratio(self.tp as f64, (self.tp + self.fp) as f64, "no countable findings")
    }

    /// TP / required goldens.
    pub fn recall(self) -> Value {
        ratio(self.tp as f64, (self.tp + self.fn_) as f64, "no required golden")
    }

    /// (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP).
    pub fn f(self, beta: f64) -> Value {
        f_score(self.tp as f64, self.fp as f64, self.fn_ as f64, beta, "no required golden and no countable findings")
    }

    /// The metric of that id; none where it is no metric of counts.
    pub fn value(self, id: &str, beta: f64) -> Option<Value> {
        Some(match id {
            "precision" => self.precision(),
            "recall" => self.recall(),
            "f1" => self.f(1.0),
            "f2" => self.f(2.0),
            "f_beta" => self.f(beta),
            _ => return None,
        })
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.tp += other.tp;
        self.fp += other.fp;
        self.fn_ += other.fn_;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Undefined;
    use proptest::prelude::*;

    fn counts(tp: usize, fp: usize, fn_: usize) -> Counts {
        Counts { tp, fp, fn_ }
    }

    #[test]
    fn by_hand() {
        let c = counts(3, 1, 2);
        assert_eq!(c.precision(), Ok(0.75));
        assert_eq!(c.recall(), Ok(0.6));
        // 2·3 / (2·3 + 1 + 2)
        assert_eq!(c.f(1.0), Ok(6.0 / 9.0));
        // 5·3 / (5·3 + 4·2 + 1)
        assert_eq!(c.f(2.0), Ok(15.0 / 24.0));
    }

    #[test]
    fn nothing_over_nothing_is_undefined() {
        assert_eq!(counts(0, 0, 2).precision(), Err(Undefined("no countable findings")));
        assert_eq!(counts(0, 0, 2).recall(), Ok(0.0));
        assert_eq!(counts(0, 0, 2).f(1.0), Ok(0.0));
        assert_eq!(counts(0, 3, 0).recall(), Err(Undefined("no required golden")));
        assert_eq!(counts(0, 3, 0).f(1.0), Ok(0.0));
        assert!(counts(0, 0, 0).f(1.0).is_err());
    }

    proptest! {
        #[test]
        fn f1_is_the_harmonic_mean(tp in 1_usize..50, fp in 0_usize..50, fn_ in 0_usize..50) {
            let c = counts(tp, fp, fn_);
            let (p, r) = (c.precision().unwrap(), c.recall().unwrap());
            prop_assert!((c.f(1.0).unwrap() - 2.0 * p * r / (p + r)).abs() < 1e-12);
            prop_assert!(c.f(2.0).unwrap() <= 1.0);
        }
    }
}
