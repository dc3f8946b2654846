//! What cases add to the metrics that are ratios of sums. Sums of two lots of cases are the sums of both, so that a metric
//! of any lot of cases, drawn at random or compared with another, comes from adding a few numbers.

use super::calibration::{BinSums, ConfidenceSums};
use super::composite::{self, SuiParts};
use super::confusion::Confusion;
use super::counts::Counts;
use super::findings_quality::Classes;
use super::location::LocationSums;
use super::reasoning::reasoning;
use super::{Undefined, Value, ratio};
use crate::judgement::Classification;
use crate::profile::Profile;
use std::ops::AddAssign;

/// The sums of a case, or of many.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Sums {
    /// Verdicts against the truth, each case weighing 1.
    pub verdicts: Confusion,
    /// Required goldens found, false findings and goldens missed, of all trials.
    pub counts: [f64; 3],
    pub places: LocationSums,
    pub targets: Part,
    /// The same, each case weighing as its target is severe.
    pub severe: Part,
    /// Verdicts without their target, of right verdicts on vulnerable cases.
    pub lucky: Part,
    pub audits: f64,
    pub classes: Classes,
    /// Root cause, attack vector and fix, each of cases where it was rated.
    pub rated: [Part; 3],
    pub verdict_confidence: ConfidenceSums,
    pub finding_confidence: ConfidenceSums,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Part {
    pub part: f64,
    pub whole: f64,
}

impl Part {
    /// Adds a case's mean of some values; nothing where there are none.
    pub fn add_mean(&mut self, weight: f64, values: impl Iterator<Item = f64>) {
        let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
        if count > 0.0 {
            self.part += weight * sum / count;
            self.whole += weight;
        }
    }

    fn share(self, reason: &'static str) -> Value {
        ratio(self.part, self.whole, reason)
    }
}

impl AddAssign for Part {
    fn add_assign(&mut self, other: Self) {
        self.part += other.part;
        self.whole += other.whole;
    }
}

const NO_AUDIT: Undefined = Undefined("no audit");
const NO_TARGET: &str = "no vulnerable case has a target";
const NOT_RATED: &str = "no target was found and rated";
const NO_CONFIDENCE: &str = "no verdict states a confidence";
const NO_FINDING_CONFIDENCE: &str = "no countable finding states a confidence";

/// The classes that have a rate of their own.
pub const RATES: [(&str, Classification); 6] = [
    ("hallucination_rate", Classification::Hallucinated),
    ("mischaracterized_rate", Classification::Mischaracterized),
    ("design_choice_rate", Classification::DesignChoice),
    ("out_of_scope_rate", Classification::OutOfScope),
    ("security_theater_rate", Classification::SecurityTheater),
    ("informational_rate", Classification::Informational),
];

struct Formula {
    id: &'static str,
    /// Every column that the value, or whether there is one, depends on; a test holds them against each other.
    reads: &'static [Column],
    value: fn(&Sums, &Profile) -> Value,
}

#[derive(Clone, Copy)]
enum Column {
    Named(&'static str),
    Classes,
    /// The bins of the confidence of verdicts or findings.
    Bins(&'static str),
}

impl Column {
    fn is(self, name: &str) -> bool {
        match self {
            Self::Named(own) => own == name,
            Self::Classes => {
                name.strip_prefix("class.").is_some_and(|own| Classification::ALL.iter().any(|c| c.as_str() == own))
            }
            Self::Bins(of) => name.strip_prefix(of).is_some_and(|rest| rest.starts_with(".bin")),
        }
    }
}

const TP: Column = Column::Named("verdict.tp");
const FP: Column = Column::Named("verdict.fp");
const TN: Column = Column::Named("verdict.tn");
const FN: Column = Column::Named("verdict.fn");
const PLACES: Column = Column::Named("places.count");
const TARGETS_FOUND: Column = Column::Named("target.found");
const TARGETS: Column = Column::Named("target.cases");
const AUDITS: Column = Column::Named("audits");
const RCIR: [Column; 2] = [Column::Named("rcir.sum"), Column::Named("rcir.cases")];
const AVA: [Column; 2] = [Column::Named("ava.sum"), Column::Named("ava.cases")];
const FSV: [Column; 2] = [Column::Named("fsv.sum"), Column::Named("fsv.cases")];
const SURE: Column = Column::Named("verdict_confidence.total");
const SURE_BINS: Column = Column::Bins("verdict_confidence");
const OF_AUDITED: &[Column] = &[AUDITS, Column::Classes];
const OF_UNDERSTANDING: &[Column] =
    &[TARGETS_FOUND, TARGETS, RCIR[0], RCIR[1], AVA[0], AVA[1], FSV[0], FSV[1], AUDITS, Column::Classes];
const FINDINGS_SURE: Column = Column::Named("finding_confidence.total");

const fn metric(id: &'static str, reads: &'static [Column], value: fn(&Sums, &Profile) -> Value) -> Formula {
    Formula { id, reads, value }
}

/// The rate of one class among audited findings.
macro_rules! class_rate {
    ($id:literal, $class:ident) => {
        metric($id, OF_AUDITED, |sums, profile| {
            sums.of_findings(profile, 0.0, |classes| classes.rate(Classification::$class))
        })
    };
}

static FORMULAS: &[Formula] = &[
    metric("accuracy", &[TP, FP, TN, FN], |sums, _| sums.verdicts.accuracy()),
    metric("verdict_precision", &[TP, FP], |sums, _| sums.verdicts.precision()),
    metric("verdict_recall", &[TP, FN], |sums, _| sums.verdicts.tpr()),
    metric("tpr", &[TP, FN], |sums, _| sums.verdicts.tpr()),
    metric("verdict_f1", &[TP, FP, FN], |sums, _| sums.verdicts.f(1.0)),
    metric("verdict_f2", &[TP, FP, FN], |sums, _| sums.verdicts.f(2.0)),
    metric("fpr", &[FP, TN], |sums, _| sums.verdicts.fpr()),
    metric("fnr", &[TP, FN], |sums, _| sums.verdicts.fnr()),
    metric("specificity", &[FP, TN], |sums, _| sums.verdicts.specificity()),
    metric("youden", &[TP, FP, TN, FN], |sums, _| sums.verdicts.youden()),
    metric("location_iou", &[PLACES, Column::Named("places.iou")], |sums, _| sums.places.iou()),
    metric("location_exact", &[PLACES, Column::Named("places.exact")], |sums, _| sums.places.exact()),
    metric("location_within_5", &[PLACES, Column::Named("places.near")], |sums, _| sums.places.within_near()),
    metric(
        "severity_weighted_detection",
        &[Column::Named("severe.found"), Column::Named("severe.weight")],
        |sums, _| sums.severe.share("no vulnerable case has a target that states a severity"),
    ),
    metric("lucky_guess_rate", &[Column::Named("lucky.guesses"), Column::Named("lucky.called")], |sums, _| {
        sums.lucky.share("no vulnerable case with a target was called vulnerable")
    }),
    metric("finding_precision", OF_AUDITED, |sums, profile| {
        sums.of_findings(profile, 1.0, |classes| classes.precision())
    }),
    metric(
        "finding_precision_confirmed",
        &[AUDITS, Column::Classes, Column::Named("class.unconfirmed_bonus")],
        |sums, profile| sums.of_findings(profile, 1.0, |c| c.precision_confirmed(profile.credit.unconfirmed_bonus)),
    ),
    metric("invalid_rate", OF_AUDITED, |sums, profile| {
        sums.of_findings(profile, 0.0, |classes| classes.invalid_rate())
    }),
    class_rate!("hallucination_rate", Hallucinated),
    class_rate!("mischaracterized_rate", Mischaracterized),
    class_rate!("design_choice_rate", DesignChoice),
    class_rate!("out_of_scope_rate", OutOfScope),
    class_rate!("security_theater_rate", SecurityTheater),
    class_rate!("informational_rate", Informational),
    metric("harm_weighted_invalid_rate", OF_AUDITED, |sums, profile| {
        sums.of_findings(profile, 0.0, |classes| classes.harm_rate(&profile.harm_weights))
    }),
    metric("reasoning", &[RCIR[0], RCIR[1], AVA[0], AVA[1], FSV[0], FSV[1]], |sums, _| sums.reasoning()),
    metric("ece", &[SURE, SURE_BINS], |sums, _| sums.verdict_confidence.ece(NO_CONFIDENCE)),
    metric("mce", &[SURE, SURE_BINS], |sums, _| sums.verdict_confidence.mce(NO_CONFIDENCE)),
    metric("brier", &[SURE, Column::Named("verdict_confidence.loss")], |sums, _| {
        sums.verdict_confidence.brier(NO_CONFIDENCE)
    }),
    metric(
        "overconfidence_rate",
        &[Column::Named("verdict_confidence.confident_wrong"), Column::Named("verdict_confidence.confident")],
        |sums, _| sums.verdict_confidence.overconfidence(),
    ),
    metric(
        "underconfidence_rate",
        &[Column::Named("verdict_confidence.doubtful_right"), Column::Named("verdict_confidence.doubtful")],
        |sums, _| sums.verdict_confidence.underconfidence(),
    ),
    metric("finding_ece", &[FINDINGS_SURE, Column::Bins("finding_confidence")], |sums, _| {
        sums.finding_confidence.ece(NO_FINDING_CONFIDENCE)
    }),
    metric("finding_brier", &[FINDINGS_SURE, Column::Named("finding_confidence.loss")], |sums, _| {
        sums.finding_confidence.brier(NO_FINDING_CONFIDENCE)
    }),
    metric(
        "sui",
        &[
            TP,
            FP,
            FN,
            TARGETS_FOUND,
            TARGETS,
            RCIR[0],
            RCIR[1],
            AVA[0],
            AVA[1],
            FSV[0],
            FSV[1],
            AUDITS,
            Column::Classes,
            SURE,
            SURE_BINS,
        ],
        |sums, profile| {
            let fills = profile.audit_conventions.sui_fills_missing;
            sums.sui_parts(profile).and_then(|parts| parts.sui(&profile.sui, fills))
        },
    ),
    metric("true_understanding_score", OF_UNDERSTANDING, |sums, profile| {
        sums.understanding(profile, composite::true_understanding)
    }),
    metric("true_understanding_geometric", OF_UNDERSTANDING, |sums, profile| {
        sums.understanding(profile, composite::true_understanding_geometric)
    }),
    metric("lucky_guess_indicator", &[TP, FP, TN, FN, TARGETS_FOUND, TARGETS], |sums, _| {
        composite::lucky_guess_indicator(sums.verdicts.accuracy(), sums.targets.share(NO_TARGET))
    }),
];

fn formula(id: &str) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.id == id)
}

impl Sums {
    /// The ids of all metrics that are ratios of sums.
    pub(crate) fn metric_ids() -> impl Iterator<Item = &'static str> {
        FORMULAS.iter().map(|formula| formula.id)
    }

    /// The metric of that id; none where it is no ratio of sums.
    pub fn value(&self, id: &str, profile: &Profile) -> Option<Value> {
        formula(id).map(|formula| (formula.value)(self, profile))
    }

    /// The columns of a row, by number, that the metric of that id reads; none where it is no ratio of sums.
    pub fn columns(id: &str, bins: usize) -> Option<Vec<usize>> {
        let formula = formula(id)?;
        let names = Self::names(bins);
        let read = |name: &str| formula.reads.iter().any(|column| column.is(name));
        Some((0..names.len()).filter(|at| read(&names[*at])).collect())
    }

    /// The metric from pooled counts; none where it is no metric of counts.
    pub fn pooled(&self, id: &str, profile: &Profile) -> Option<Value> {
        // Pooled counts are whole numbers, however often a case is drawn.
        let [tp, fp, fn_] = self.counts.map(|count| count as usize);
        Counts { tp, fp, fn_ }.value(id, profile.beta)
    }

    /// What a plain proportion is a share of what; none where the metric is none, or has nothing to be a share of.
    pub fn proportion(&self, id: &str) -> Option<Part> {
        let Confusion { tp, fp, tn, fn_ } = self.verdicts;
        let (classes, sure) = (&self.classes, &self.verdict_confidence);
        let (part, whole) = match id {
            "accuracy" => (tp + tn, tp + tn + fp + fn_),
            "verdict_precision" => (tp, tp + fp),
            "verdict_recall" | "tpr" => (tp, tp + fn_),
            "fpr" => (fp, fp + tn),
            "fnr" => (fn_, tp + fn_),
            "specificity" => (tn, fp + tn),
            "location_exact" => (self.places.exact, self.places.count),
            "location_within_5" => (self.places.near, self.places.count),
            "lucky_guess_rate" => (self.lucky.part, self.lucky.whole),
            "finding_precision" => (classes.valid(), classes.total()),
            "invalid_rate" => (classes.invalid(), classes.total()),
            "overconfidence_rate" => (sure.confident[0], sure.confident[1]),
            "underconfidence_rate" => (sure.doubtful[0], sure.doubtful[1]),
            _ => {
                let (_, class) = RATES.into_iter().find(|(own, _)| *own == id)?;
                (classes.count(class), classes.total())
            }
        };
        (whole > 0.0).then_some(Part { part, whole })
    }

    /// The same of pooled counts.
    pub fn pooled_proportion(&self, id: &str) -> Option<Part> {
        let [tp, fp, fn_] = self.counts;
        let whole = match id {
            "precision" => tp + fp,
            "recall" => tp + fn_,
            _ => return None,
        };
        (whole > 0.0).then_some(Part { part: tp, whole })
    }

    /// The parts of the index, where there is any audit.
    pub fn sui_parts(&self, profile: &Profile) -> Result<SuiParts, Undefined> {
        if self.audits <= 0.0 {
            return Err(NO_AUDIT);
        }
        Ok(SuiParts {
            verdict_f2: self.verdicts.f(2.0),
            target_detection_rate: self.targets.share("one of its parts is undefined"),
            finding_precision: self.of_findings(profile, 1.0, |classes| classes.precision()),
            reasoning: self.reasoning(),
            ece: self.verdict_confidence.ece(NO_CONFIDENCE),
        })
    }

    fn reasoning(&self) -> Value {
        reasoning(self.rated.map(|rated| rated.share(NOT_RATED)))
    }

    fn understanding(&self, profile: &Profile, of: fn(Value, Value, Value) -> Value) -> Value {
        let invalid = self.of_findings(profile, 0.0, |classes| classes.invalid_rate());
        of(self.targets.share(NO_TARGET), self.reasoning(), invalid)
    }

    /// A rate of findings; where there are none and the profile follows the framework, what that counts as.
    fn of_findings(&self, profile: &Profile, without: f64, rate: impl Fn(&Classes) -> Value) -> Value {
        if self.audits <= 0.0 {
            return Err(NO_AUDIT);
        }
        match rate(&self.classes) {
            Err(_) if profile.audit_conventions.no_findings_is_precise => Ok(without),
            rate => rate,
        }
    }
}

impl AddAssign<&Self> for Sums {
    fn add_assign(&mut self, other: &Self) {
        self.verdicts += other.verdicts;
        self.places += other.places;
        self.targets += other.targets;
        self.severe += other.severe;
        self.lucky += other.lucky;
        self.audits += other.audits;
        self.classes += other.classes;
        for at in 0..3 {
            self.counts[at] += other.counts[at];
            self.rated[at] += other.rated[at];
        }
        self.verdict_confidence += &other.verdict_confidence;
        self.finding_confidence += &other.finding_confidence;
    }
}

/// Sums as a row of numbers, for arithmetic that does not care what they mean.
impl Sums {
    /// The names of the numbers, in their order.
    pub fn names(bins: usize) -> Vec<String> {
        let mut names: Vec<String> = FIXED.iter().map(|name| (*name).to_owned()).collect();
        names.extend(Classification::ALL.iter().map(|class| format!("class.{}", class.as_str())));
        for of in ["verdict", "finding"] {
            let own = ["total", "loss", "confident_wrong", "confident", "doubtful_right", "doubtful"];
            names.extend(own.iter().map(|name| format!("{of}_confidence.{name}")));
            let held = ["weight", "claimed", "right"];
            names.extend((0..bins).flat_map(|bin| held.map(|name| format!("{of}_confidence.bin{bin}.{name}"))));
        }
        names
    }

    /// The numbers, with so many bins of confidence.
    pub fn to_row(&self, bins: usize) -> Vec<f64> {
        let v = &self.verdicts;
        let mut row = vec![v.tp, v.fp, v.tn, v.fn_];
        row.extend(self.counts);
        row.extend([self.places.count, self.places.iou, self.places.exact, self.places.near]);
        let parts = [self.targets, self.severe, self.lucky, self.rated[0], self.rated[1], self.rated[2]];
        row.extend(parts.iter().flat_map(|part| [part.part, part.whole]));
        row.extend([self.audits, self.classes.unconfirmed_bonus]);
        row.extend(Classification::ALL.iter().map(|class| self.classes.count(*class)));
        for sure in [&self.verdict_confidence, &self.finding_confidence] {
            row.extend([sure.total, sure.loss]);
            row.extend(sure.confident.into_iter().chain(sure.doubtful));
            let held = (0..bins).map(|bin| sure.bins.get(bin).copied().unwrap_or_default());
            row.extend(held.flat_map(|held| [held.weight, held.claimed, held.right]));
        }
        row
    }

    /// The sums that a row stands for; numbers that it lacks are 0.
    pub fn from_row(row: &[f64], bins: usize) -> Self {
        let mut rest = row.iter().copied();
        let mut next = || rest.next().unwrap_or_default();
        let mut sums = Self {
            verdicts: Confusion { tp: next(), fp: next(), tn: next(), fn_: next() },
            counts: [next(), next(), next()],
            places: LocationSums { count: next(), iou: next(), exact: next(), near: next() },
            ..Self::default()
        };
        let [rcir, ava, fsv] = &mut sums.rated;
        for part in [&mut sums.targets, &mut sums.severe, &mut sums.lucky, rcir, ava, fsv] {
            *part = Part { part: next(), whole: next() };
        }
        sums.audits = next();
        sums.classes.unconfirmed_bonus = next();
        for class in Classification::ALL {
            sums.classes.set(class, next());
        }
        for sure in [&mut sums.verdict_confidence, &mut sums.finding_confidence] {
            sure.total = next();
            sure.loss = next();
            sure.confident = [next(), next()];
            sure.doubtful = [next(), next()];
            let held: Vec<BinSums> =
                (0..bins).map(|_| BinSums { weight: next(), claimed: next(), right: next() }).collect();
            // Nothing said has no bins.
            sure.bins = if sure.total > 0.0 { held } else { Vec::new() };
        }
        sums
    }
}

/// The names of the first numbers of a row.
const FIXED: [&str; 25] = [
    "verdict.tp",
    "verdict.fp",
    "verdict.tn",
    "verdict.fn",
    "tp",
    "fp",
    "fn",
    "places.count",
    "places.iou",
    "places.exact",
    "places.near",
    "target.found",
    "target.cases",
    "severe.found",
    "severe.weight",
    "lucky.guesses",
    "lucky.called",
    "rcir.sum",
    "rcir.cases",
    "ava.sum",
    "ava.cases",
    "fsv.sum",
    "fsv.cases",
    "audits",
    "class.unconfirmed_bonus",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_a_row_has_a_name_and_comes_back() {
        for bins in [0, 1, 10] {
            let names = Sums::names(bins);
            let row: Vec<f64> = (1..=names.len()).map(|number| number as f64).collect();
            assert_eq!(Sums::from_row(&row, bins).to_row(bins), row);
            let once: std::collections::BTreeSet<&String> = names.iter().collect();
            assert_eq!(once.len(), names.len());
        }
        // A row that is too short lacks what is last.
        assert_eq!(
            Sums::from_row(&[1.0], 10),
            Sums { verdicts: Confusion { tp: 1.0, ..Confusion::default() }, ..Sums::default() }
        );
    }

    #[test]
    fn sums_of_two_lots_are_the_sums_of_both() {
        let row: Vec<f64> = (0..Sums::names(3).len()).map(|number| f64::from(1 + number as u32 % 7)).collect();
        let mut both = Sums::from_row(&row, 3);
        both += &Sums::from_row(&row, 3);
        assert_eq!(both.to_row(3), row.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    }
}
