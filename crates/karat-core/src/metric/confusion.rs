//! Verdicts about whole cases against the truth. Each case weighs 1, shared among its trials.

use super::{Value, f_score, ratio};
use std::ops::AddAssign;

/// The four counts; fractions where trials of a case disagree.
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

    /// (TP + TN) / all.
    pub fn accuracy(self) -> Value {
        ratio(self.tp + self.tn, self.tp + self.tn + self.fp + self.fn_, "no verdicts")
    }

    /// TP / (TP + FP).
    pub fn precision(self) -> Value {
        ratio(self.tp, self.tp + self.fp, "nothing was called vulnerable")
    }

    /// TP / (TP + FN).
    pub fn tpr(self) -> Value {
        ratio(self.tp, self.tp + self.fn_, "no vulnerable case")
    }

    /// FP / (FP + TN).
    pub fn fpr(self) -> Value {
        ratio(self.fp, self.fp + self.tn, "no safe case")
    }

    /// FN / (FN + TP).
    pub fn fnr(self) -> Value {
        ratio(self.fn_, self.tp + self.fn_, "no vulnerable case")
    }

    /// TN / (TN + FP).
    pub fn specificity(self) -> Value {
        ratio(self.tn, self.fp + self.tn, "no safe case")
    }

    /// TPR − FPR.
    pub fn youden(self) -> Value {
        Ok(self.tpr()? - self.fpr()?)
    }

    /// (1 + β²)·TP / ((1 + β²)·TP + β²·FN + FP).
    pub fn f(self, beta: f64) -> Value {
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

    #[test]
    fn by_hand() {
        let c = Confusion { tp: 6.0, fp: 2.0, tn: 8.0, fn_: 4.0 };
        assert_eq!(c.accuracy(), Ok(0.7));
        assert_eq!(c.precision(), Ok(0.75));
        assert_eq!(c.tpr(), Ok(0.6));
        assert_eq!(c.fpr(), Ok(0.2));
        assert_eq!(c.fnr(), Ok(0.4));
        assert_eq!(c.specificity(), Ok(0.8));
        assert!(c.youden().is_ok_and(|y| (y - 0.4).abs() < 1e-12));
        assert!(c.f(1.0).is_ok_and(|f| (f - 12.0 / 18.0).abs() < 1e-12));
        assert!(c.f(2.0).is_ok_and(|f| (f - 30.0 / 48.0).abs() < 1e-12));
    }

    #[test]
    fn one_sided_suites_leave_the_other_side_undefined() {
        let c = Confusion { tp: 3.0, ..Confusion::default() };
        assert_eq!(c.fpr(), Err(Undefined("no safe case")));
        assert_eq!(c.youden(), Err(Undefined("no safe case")));
        assert_eq!(Confusion::default().accuracy(), Err(Undefined("no verdicts")));
    }
}
