//! Counts of findings, of verdicts and of matching places, and the figures made of them.

use super::{Part, Value, f_score};
use crate::finding::Finding;
use crate::golden::Golden;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// True positives, false positives and misses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "CountsV1")]
pub struct Counts {
    /// Required goldens found.
    pub tp: usize,
    /// Findings that report nothing true.
    pub fp: usize,
    /// Required goldens missed.
    #[serde(rename = "fn")]
    pub fn_: usize,
}

impl Counts {
    /// TP / (TP + FP).
    pub fn precision(self) -> Value {
        Part::count(self.tp, self.tp + self.fp).share("no countable findings")
    }

    /// TP / required goldens.
    pub fn recall(self) -> Value {
        Part::count(self.tp, self.tp + self.fn_).share("no required golden")
    }

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

add_fields!(Counts: tp, fp, fn_);

/// Verdicts against the truth.
// They are about whole cases. Each case weighs 1, shared among its trials, so that counts may be fractions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfusionV1")]
pub struct Confusion {
    /// Vulnerable, and said so.
    pub tp: f64,
    /// Safe, and called vulnerable.
    pub fp: f64,
    /// Safe, and said so.
    pub tn: f64,
    /// Vulnerable, and called safe.
    #[serde(rename = "fn")]
    pub fn_: f64,
}

impl Confusion {
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

    pub fn f_beta(self, beta: f64) -> Value {
        f_score(self.tp, self.fp, self.fn_, beta, "no vulnerable case with a verdict, and no alarm")
    }
}

add_fields!(Confusion: tp, fp, tn, fn_);

/// Sums over matches whose two sides both state lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct LocationSums {
    pub(crate) count: f64,
    pub(crate) iou: f64,
    pub(crate) exact: f64,
    /// How many at most [`NEAR`] lines apart.
    pub(crate) near: f64,
}

/// So many lines apart, a finding is still near its golden.
pub const NEAR: u32 = 5;

impl LocationSums {
    /// Adds one match; in another file, no lines are in common.
    pub(crate) fn add(&mut self, golden: &Golden, finding: &Finding) {
        let (Some(truth), Some(claim)) = (golden.lines, finding.lines()) else { return };
        self.count += 1.0;
        if golden.file.as_ref().zip(finding.file.as_ref()).is_some_and(|(own, path)| !own.matches(path)) {
            return;
        }
        let length = |start: u32, end: u32| f64::from(end) - f64::from(start) + 1.0;
        let common = length(truth.start.max(claim.start), truth.end.min(claim.end)).max(0.0);
        let either = length(truth.start, truth.end) + length(claim.start, claim.end) - common;
        self.iou += common / either;
        self.exact += f64::from(u8::from(truth == claim));
        self.near += f64::from(u8::from(truth.gap(claim) <= NEAR));
    }
}

add_fields!(LocationSums: count, iou, exact, near);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Lines;
    use crate::metric::Undefined;
    use crate::path::{FilePattern, RepoPath};
    use proptest::prelude::*;

    fn counts(tp: usize, fp: usize, fn_: usize) -> Counts {
        Counts { tp, fp, fn_ }
    }

    #[track_caller]
    fn check_places(truth: Option<(u32, u32)>, claim: Option<(u32, u32)>, file: &str, expect: Option<(f64, f64, f64)>) {
        let golden = Golden {
            lines: truth.map(|(start, end)| Lines { start, end }),
            file: FilePattern::new("src/*.py"),
            ..Golden::new("g")
        };
        let finding = Finding {
            line_start: claim.map(|(start, _)| start),
            line_end: claim.map(|(_, end)| end),
            file: RepoPath::new(file),
            ..Finding::new("f")
        };
        let mut places = LocationSums::default();
        places.add(&golden, &finding);
        let [count, iou, exact, near] = expect.map_or([0.0; 4], |(iou, exact, near)| [1.0, iou, exact, near]);
        assert_eq!(places, LocationSums { count, iou, exact, near });
    }

    #[test]
    fn places_by_hand() {
        check_places(Some((10, 19)), Some((10, 19)), "src/a.py", Some((1.0, 1.0, 1.0)));
        check_places(Some((10, 19)), Some((15, 24)), "src/a.py", Some((5.0 / 15.0, 0.0, 1.0)));
        check_places(Some((10, 10)), Some((15, 15)), "src/a.py", Some((0.0, 0.0, 1.0)));
        check_places(Some((10, 10)), Some((16, 16)), "src/a.py", Some((0.0, 0.0, 0.0)));
        check_places(Some((10, 19)), Some((10, 19)), "lib/a.py", Some((0.0, 0.0, 0.0)));
        // A finding that names no file is taken to mean the golden's.
        check_places(Some((1, 2)), Some((2, 2)), "", Some((0.5, 0.0, 1.0)));
        check_places(None, Some((1, 1)), "src/a.py", None);
        check_places(Some((1, 1)), None, "src/a.py", None);
        check_places(Some((1, u32::MAX)), Some((1, u32::MAX)), "src/a.py", Some((1.0, 1.0, 1.0)));
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
