//! Counts of findings and of verdicts, and the figures made of them.

use super::{Part, Value, f_score, ratio};
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
    pub fn f_beta(self, beta: f64) -> Value {
        f_score(self.tp as f64, self.fp as f64, self.fn_ as f64, beta, "no required golden and no countable findings")
    }

    /// The metric of that id; none where it is not a metric of counts.
    pub fn value(self, id: &str, beta: f64) -> Option<Value> {
        Some(match id {
            "precision" => self.precision(),
            "recall" => self.recall(),
            "f1" => self.f_beta(1.0),
            "f2" => self.f_beta(2.0),
            "f_beta" => self.f_beta(beta),
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

/// Verdicts about whole cases against the truth. Each case weighs 1, shared among its trials, so that counts may be fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Confusion {
    /// Vulnerable, and said so.
    pub tp: f64,
    /// Safe, and called vulnerable.
    pub fp: f64,
    /// Safe, and said so.
    pub tn: f64,
    /// Vulnerable, and called safe.
    pub fn_: f64,
}

impl Confusion {
    /// Adds one verdict of the given weight.
    pub fn add(&mut self, vulnerable: bool, correct: bool, weight: f64) {
        let cell = match (vulnerable, correct) {
            (true, true) => &mut self.tp,
            (true, false) => &mut self.fn_,
            (false, true) => &mut self.tn,
            (false, false) => &mut self.fp,
        };
        *cell += weight;
    }

    pub(super) fn accuracy(self) -> Part {
        Part { part: self.tp + self.tn, whole: self.tp + self.tn + self.fp + self.fn_ }
    }

    pub(super) fn precision(self) -> Part {
        Part { part: self.tp, whole: self.tp + self.fp }
    }

    pub(super) fn tpr(self) -> Part {
        Part { part: self.tp, whole: self.tp + self.fn_ }
    }

    pub(super) fn fpr(self) -> Part {
        Part { part: self.fp, whole: self.fp + self.tn }
    }

    pub(super) fn fnr(self) -> Part {
        Part { part: self.fn_, whole: self.tp + self.fn_ }
    }

    pub(super) fn specificity(self) -> Part {
        Part { part: self.tn, whole: self.fp + self.tn }
    }

    /// (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP).
    pub fn f_beta(self, beta: f64) -> Value {
        f_score(self.tp, self.fp, self.fn_, beta, "no vulnerable case, and nothing was called vulnerable")
    }
}

impl AddAssign for Confusion {
    fn add_assign(&mut self, other: Self) {
        self.tp += other.tp;
        self.fp += other.fp;
        self.tn += other.tn;
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
        assert_eq!(c.f_beta(1.0), Ok(6.0 / 9.0));
        // 5·3 / (5·3 + 4·2 + 1)
        assert_eq!(c.f_beta(2.0), Ok(15.0 / 24.0));
    }

    #[test]
    fn nothing_over_nothing_is_undefined() {
        assert_eq!(counts(0, 0, 2).precision(), Err(Undefined("no countable findings")));
        assert_eq!(counts(0, 0, 2).recall(), Ok(0.0));
        assert_eq!(counts(0, 0, 2).f_beta(1.0), Ok(0.0));
        assert_eq!(counts(0, 3, 0).recall(), Err(Undefined("no required golden")));
        assert_eq!(counts(0, 3, 0).f_beta(1.0), Ok(0.0));
        assert!(counts(0, 0, 0).f_beta(1.0).is_err());
    }

    proptest! {
        #[test]
        fn f1_is_the_harmonic_mean(tp in 1_usize..50, fp in 0_usize..50, fn_ in 0_usize..50) {
            let c = counts(tp, fp, fn_);
            let (p, r) = (c.precision().unwrap(), c.recall().unwrap());
            prop_assert!((c.f_beta(1.0).unwrap() - 2.0 * p * r / (p + r)).abs() < 1e-12);
            prop_assert!(c.f_beta(2.0).unwrap() <= 1.0);
        }
    }

    #[test]
    fn verdicts_by_hand() {
        let c = Confusion { tp: 6.0, fp: 2.0, tn: 8.0, fn_: 4.0 };
        let parts = [c.accuracy(), c.precision(), c.tpr(), c.fpr(), c.fnr(), c.specificity()];
        assert_eq!(parts.map(|part| part.share("")), [0.7, 0.75, 0.6, 0.2, 0.4, 0.8].map(Ok));
        assert!(c.f_beta(1.0).is_ok_and(|f| (f - 12.0 / 18.0).abs() < 1e-12));
        assert!(c.f_beta(2.0).is_ok_and(|f| (f - 30.0 / 48.0).abs() < 1e-12));
    }

    #[test]
    fn one_sided_suites_leave_the_other_side_undefined() {
        let c = Confusion { tp: 3.0, ..Confusion::default() };
        assert_eq!(c.fpr().share("no safe case"), Err(Undefined("no safe case")));
        assert_eq!(Confusion::default().accuracy().share("no verdicts"), Err(Undefined("no verdicts")));
    }
}
