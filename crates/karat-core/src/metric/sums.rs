//! What cases add to the metrics that are ratios of sums. Sums of two lots of cases are the sums of both, so that a metric of
//! any lot of cases, drawn at random or held against another, comes from adding a few numbers.

use super::calibration::{Held, Sure};
use super::composite::{self, SuiParts};
use super::confusion::Confusion;
use super::counts::Counts;
use super::findings_quality::Classes;
use super::location::Places;
use super::reasoning::reasoning;
use super::{Undefined, Value, ratio};
use crate::judgement::Classification;
use crate::profile::Profile;
use std::ops::AddAssign;

/// The sums of a case, or of many.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Verdicts against the truth, each case weighing 1.
    pub verdicts: Confusion,
    /// Required goldens found, false findings and goldens missed, of all trials.
    pub counts: [f64; 3],
    /// Matches by how near their places are.
    pub places: Places,
    /// Targets found, of cases with a target.
    pub targets: Part,
    /// The same, each case weighing as its target is severe.
    pub severe: Part,
    /// Verdicts without their target, of right verdicts on vulnerable cases.
    pub lucky: Part,
    /// Audited trials.
    pub audits: f64,
    /// Audited findings by class.
    pub classes: Classes,
    /// Root cause, attack vector and fix, each of cases where it was rated.
    pub rated: [Part; 3],
    /// Verdicts with a confidence.
    pub verdict_confidence: Sure,
    /// Findings with a confidence.
    pub finding_confidence: Sure,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Part {
    /// The part.
    pub part: f64,
    /// The whole.
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

impl Sums {
    /// The metric of that id; none where it is no ratio of sums.
    pub fn value(&self, id: &str, profile: &Profile) -> Option<Value> {
        let verdicts = self.verdicts;
        Some(match id {
            "accuracy" => verdicts.accuracy(),
            "verdict_precision" => verdicts.precision(),
            "verdict_recall" | "tpr" => verdicts.tpr(),
            "verdict_f1" => verdicts.f(1.0),
            "verdict_f2" => verdicts.f(2.0),
            "fpr" => verdicts.fpr(),
            "fnr" => verdicts.fnr(),
            "specificity" => verdicts.specificity(),
            "youden" => verdicts.youden(),
            "location_iou" => self.places.iou(),
            "location_exact" => self.places.exact(),
            "location_within_5" => self.places.within_near(),
            "severity_weighted_detection" => {
                self.severe.share("no vulnerable case has a target that states a severity")
            }
            "lucky_guess_rate" => self.lucky.share("no vulnerable case with a target was called vulnerable"),
            "finding_precision" => self.of_findings(profile, 1.0, |classes| classes.precision()),
            "finding_precision_confirmed" => {
                self.of_findings(profile, 1.0, |c| c.precision_confirmed(profile.credit.unconfirmed_bonus))
            }
            "invalid_rate" => self.of_findings(profile, 0.0, |classes| classes.invalid_rate()),
            "harm_weighted_invalid_rate" => {
                self.of_findings(profile, 0.0, |classes| classes.harm_rate(&profile.harm_weights))
            }
            "reasoning" => self.reasoning(),
            "ece" => self.verdict_confidence.ece(NO_CONFIDENCE),
            "mce" => self.verdict_confidence.mce(NO_CONFIDENCE),
            "brier" => self.verdict_confidence.brier(NO_CONFIDENCE),
            "overconfidence_rate" => self.verdict_confidence.overconfidence(),
            "underconfidence_rate" => self.verdict_confidence.underconfidence(),
            "finding_ece" => self.finding_confidence.ece(NO_FINDING_CONFIDENCE),
            "finding_brier" => self.finding_confidence.brier(NO_FINDING_CONFIDENCE),
            "sui" => self
                .sui_parts(profile)
                .and_then(|parts| parts.sui(&profile.sui, profile.audit_conventions.sui_fills_missing)),
            "true_understanding_score" => self.understanding(profile, composite::true_understanding),
            "true_understanding_geometric" => self.understanding(profile, composite::true_understanding_geometric),
            "lucky_guess_indicator" => {
                composite::lucky_guess_indicator(verdicts.accuracy(), self.targets.share(NO_TARGET))
            }
            _ => {
                let (_, class) = RATES.into_iter().find(|(own, _)| *own == id)?;
                self.of_findings(profile, 0.0, |classes| classes.rate(class))
            }
        })
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
                (classes.of(class), classes.total())
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
        row.extend(Classification::ALL.iter().map(|class| self.classes.of(*class)));
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
            places: Places { count: next(), iou: next(), exact: next(), near: next() },
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
            let held: Vec<Held> = (0..bins).map(|_| Held { weight: next(), claimed: next(), right: next() }).collect();
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
