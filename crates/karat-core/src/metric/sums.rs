//! What cases add to the metrics that are ratios of sums. Sums of two lots of cases are the sums of both, so that a metric
//! of any lot of cases, drawn at random or compared with another, comes from adding a few numbers.

use super::calibration::{BinSums, ConfidenceSums};
use super::composite::SuiParts;
use super::counts::{Confusion, Counts};
use super::findings_quality::Classes;
use super::location::LocationSums;
use super::targets::reasoning;
use super::{Part, Undefined, Value, ratio};
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

const NO_VERDICTS: &str = "no verdicts";
const NO_VULNERABLE: &str = "no vulnerable case";
const NO_SAFE: &str = "no safe case";
const NO_PLACES: &str = "no match has lines on both sides";
const NO_AUDIT: Undefined = Undefined("no audit");
const NO_TARGET: &str = "no vulnerable case has a target";
const NOT_RATED: &str = "no target was found and rated";
const NO_CONFIDENCE: &str = "no verdict states a confidence";
const NO_FINDING_CONFIDENCE: &str = "no countable finding states a confidence";

struct Formula {
    id: &'static str,
    /// Every column that the value, or whether there is one, depends on; a test compares both.
    reads: &'static [&'static [Column]],
    rule: Rule,
}

/// How a metric follows from sums.
enum Rule {
    /// A plain proportion, and why it may be undefined.
    Share(fn(&Sums) -> Part, &'static str),
    /// How many of the audited findings count, and what their share is by the framework's conventions where there are none.
    OfFindings(fn(&Classes) -> f64, f64),
    Other(fn(&Sums, &Profile) -> Value),
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
const PLACES: &[Column] = &[Column::Named("places.count")];
const TARGETS: &[Column] = &[Column::Named("target.found"), Column::Named("target.cases")];
const AUDITED: &[Column] = &[Column::Named("audits"), Column::Classes];
const RATED: &[Column] = &[
    Column::Named("rcir.sum"),
    Column::Named("rcir.cases"),
    Column::Named("ava.sum"),
    Column::Named("ava.cases"),
    Column::Named("fsv.sum"),
    Column::Named("fsv.cases"),
];
const SURE: &[Column] = &[Column::Named("verdict_confidence.total")];
const BINS: &[Column] = &[Column::Bins("verdict_confidence")];
const FINDINGS_SURE: &[Column] = &[Column::Named("finding_confidence.total")];

type Reads = &'static [&'static [Column]];

const fn share(id: &'static str, reads: Reads, part: fn(&Sums) -> Part, reason: &'static str) -> Formula {
    Formula { id, reads, rule: Rule::Share(part, reason) }
}

const fn of_findings(id: &'static str, count: fn(&Classes) -> f64, without: f64) -> Formula {
    Formula { id, reads: &[AUDITED], rule: Rule::OfFindings(count, without) }
}

const fn other(id: &'static str, reads: Reads, value: fn(&Sums, &Profile) -> Value) -> Formula {
    Formula { id, reads, rule: Rule::Other(value) }
}

static FORMULAS: &[Formula] = &[
    share("accuracy", &[&[TP, FP, TN, FN]], |sums| sums.verdicts.accuracy(), NO_VERDICTS),
    share("verdict_precision", &[&[TP, FP]], |sums| sums.verdicts.precision(), "nothing was called vulnerable"),
    share("verdict_recall", &[&[TP, FN]], |sums| sums.verdicts.tpr(), NO_VULNERABLE),
    share("tpr", &[&[TP, FN]], |sums| sums.verdicts.tpr(), NO_VULNERABLE),
    other("verdict_f1", &[&[TP, FP, FN]], |sums, _| sums.verdicts.f_beta(1.0)),
    other("verdict_f2", &[&[TP, FP, FN]], |sums, _| sums.verdicts.f_beta(2.0)),
    share("fpr", &[&[FP, TN]], |sums| sums.verdicts.fpr(), NO_SAFE),
    share("fnr", &[&[TP, FN]], |sums| sums.verdicts.fnr(), NO_VULNERABLE),
    share("specificity", &[&[FP, TN]], |sums| sums.verdicts.specificity(), NO_SAFE),
    other("youden", &[&[TP, FP, TN, FN]], |sums, _| {
        Ok(sums.verdicts.tpr().share(NO_VULNERABLE)? - sums.verdicts.fpr().share(NO_SAFE)?)
    }),
    other("location_iou", &[PLACES, &[Column::Named("places.iou")]], |sums, _| {
        ratio(sums.places.iou, sums.places.count, NO_PLACES)
    }),
    share(
        "location_exact",
        &[PLACES, &[Column::Named("places.exact")]],
        |sums| Part { part: sums.places.exact, whole: sums.places.count },
        NO_PLACES,
    ),
    share(
        "location_within_5",
        &[PLACES, &[Column::Named("places.near")]],
        |sums| Part { part: sums.places.near, whole: sums.places.count },
        NO_PLACES,
    ),
    other(
        "severity_weighted_detection",
        &[&[Column::Named("severe.found"), Column::Named("severe.weight")]],
        |sums, _| sums.severe.share("no vulnerable case has a target that states a severity"),
    ),
    share(
        "lucky_guess_rate",
        &[&[Column::Named("lucky.guesses"), Column::Named("lucky.called")]],
        |sums| sums.lucky,
        "no vulnerable case with a target was called vulnerable",
    ),
    of_findings("finding_precision", |classes| classes.valid(), 1.0),
    other("finding_precision_confirmed", &[AUDITED, &[Column::Named("class.unconfirmed_bonus")]], |sums, profile| {
        sums.of_findings(profile, 1.0, |c| c.precision_confirmed(profile.credit.unconfirmed_bonus))
    }),
    of_findings("invalid_rate", |classes| classes.invalid(), 0.0),
    of_findings("hallucination_rate", |classes| classes.count(Classification::Hallucinated), 0.0),
    of_findings("mischaracterized_rate", |classes| classes.count(Classification::Mischaracterized), 0.0),
    of_findings("design_choice_rate", |classes| classes.count(Classification::DesignChoice), 0.0),
    of_findings("out_of_scope_rate", |classes| classes.count(Classification::OutOfScope), 0.0),
    of_findings("security_theater_rate", |classes| classes.count(Classification::SecurityTheater), 0.0),
    of_findings("informational_rate", |classes| classes.count(Classification::Informational), 0.0),
    other("harm_weighted_invalid_rate", &[AUDITED], |sums, profile| {
        sums.of_findings(profile, 0.0, |classes| classes.harm_rate(&profile.harm_weights))
    }),
    other("reasoning", &[RATED], |sums, _| sums.reasoning()),
    other("ece", &[SURE, BINS], |sums, _| sums.verdict_confidence.ece(NO_CONFIDENCE)),
    other("mce", &[SURE, BINS], |sums, _| sums.verdict_confidence.mce(NO_CONFIDENCE)),
    other("brier", &[SURE, &[Column::Named("verdict_confidence.loss")]], |sums, _| {
        sums.verdict_confidence.brier(NO_CONFIDENCE)
    }),
    share(
        "overconfidence_rate",
        &[&[Column::Named("verdict_confidence.confident_wrong"), Column::Named("verdict_confidence.confident")]],
        |sums| sums.verdict_confidence.confident,
        "no verdict is confident enough",
    ),
    share(
        "underconfidence_rate",
        &[&[Column::Named("verdict_confidence.doubtful_right"), Column::Named("verdict_confidence.doubtful")]],
        |sums| sums.verdict_confidence.doubtful,
        "no verdict is doubtful enough",
    ),
    other("finding_ece", &[FINDINGS_SURE, &[Column::Bins("finding_confidence")]], |sums, _| {
        sums.finding_confidence.ece(NO_FINDING_CONFIDENCE)
    }),
    other("finding_brier", &[FINDINGS_SURE, &[Column::Named("finding_confidence.loss")]], |sums, _| {
        sums.finding_confidence.brier(NO_FINDING_CONFIDENCE)
    }),
    other("sui", &[&[TP, FP, FN], TARGETS, RATED, AUDITED, SURE, BINS], |sums, profile| {
        let fills = profile.audit_conventions.sui_fills_missing;
        sums.sui_parts(profile).and_then(|parts| parts.sui(&profile.sui, fills))
    }),
    other("true_understanding_score", &[TARGETS, RATED, AUDITED], |sums, profile| sums.understanding(profile)),
    other("true_understanding_geometric", &[TARGETS, RATED, AUDITED], |sums, profile| {
        sums.understanding(profile).map(libm::cbrt)
    }),
    other("lucky_guess_indicator", &[&[TP, FP, TN, FN], TARGETS], |sums, _| {
        Ok(sums.verdicts.accuracy().share(NO_VERDICTS)? - sums.targets.share(NO_TARGET)?)
    }),
];

fn formula(id: &str) -> Option<&'static Formula> {
    FORMULAS.iter().find(|formula| formula.id == id)
}

impl Sums {
    /// The metric of that id; none where it is not a ratio of sums.
    pub fn value(&self, id: &str, profile: &Profile) -> Option<Value> {
        Some(match formula(id)?.rule {
            Rule::Share(part, reason) => part(self).share(reason),
            Rule::OfFindings(count, without) => {
                self.of_findings(profile, without, |classes| classes.share(count(classes)))
            }
            Rule::Other(value) => value(self, profile),
        })
    }

    /// The columns of a row, by number, that the metric of that id reads; none where it is not a ratio of sums.
    pub fn columns(id: &str, bins: usize) -> Option<Vec<usize>> {
        let formula = formula(id)?;
        let names = Self::names(bins);
        let read = |name: &str| formula.reads.iter().copied().flatten().any(|column| column.is(name));
        Some((0..names.len()).filter(|at| read(&names[*at])).collect())
    }

    /// The metric from pooled counts; none where it is not a metric of counts.
    pub fn pooled(&self, id: &str, profile: &Profile) -> Option<Value> {
        // Pooled counts are whole numbers, however often a case is drawn.
        let [tp, fp, fn_] = self.counts.map(|count| count as usize);
        Counts { tp, fp, fn_ }.value(id, profile.beta)
    }

    /// What a plain proportion is a share of what; none where the metric is none, or has nothing to be a share of.
    pub fn proportion(&self, id: &str) -> Option<Part> {
        let part = match formula(id)?.rule {
            Rule::Share(part, _) => part(self),
            Rule::OfFindings(count, _) => Part { part: count(&self.classes), whole: self.classes.total() },
            Rule::Other(_) => return None,
        };
        Some(part).filter(|part| part.whole > 0.0)
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
            verdict_f2: self.verdicts.f_beta(2.0),
            target_detection_rate: self.targets.share("one of its parts is undefined"),
            finding_precision: self.of_findings(profile, 1.0, |classes| classes.precision()),
            reasoning: self.reasoning(),
            ece: self.verdict_confidence.ece(NO_CONFIDENCE),
        })
    }

    fn reasoning(&self) -> Value {
        reasoning(self.rated.map(|rated| rated.share(NOT_RATED)))
    }

    /// Target detection · reasoning · (1 − invalid rate). Its cube root is the geometric mean of the three, which one low factor does
    /// not bring down as far.
    fn understanding(&self, profile: &Profile) -> Value {
        let invalid = self.of_findings(profile, 0.0, |classes| classes.share(classes.invalid()));
        Ok(self.targets.share(NO_TARGET)? * self.reasoning()? * (1.0 - invalid?))
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
            row.extend([sure.confident, sure.doubtful].iter().flat_map(|part| [part.part, part.whole]));
            let held = (0..bins).map(|bin| sure.bins.get(bin).copied().unwrap_or_default());
            row.extend(held.flat_map(|held| [held.weight, held.claimed, held.right]));
        }
        row
    }

    /// The sums of a row; missing numbers are 0.
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
            sure.confident = Part { part: next(), whole: next() };
            sure.doubtful = Part { part: next(), whole: next() };
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
    use crate::metric::table;

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
    fn understanding_by_hand() {
        let profile: Profile = toml::from_str(include_str!("../../../karat/profiles/karat.toml")).unwrap();
        let most = Part { part: 0.9, whole: 1.0 };
        let mut sums = Sums { targets: most, rated: [most; 3], audits: 1.0, ..Sums::default() };
        sums.classes.set(Classification::TargetMatch, 1.0);
        sums.classes.set(Classification::Hallucinated, 1.0);
        let close = |sums: &Sums, id: &str, expect: f64| {
            let found = sums.value(id, &profile).unwrap();
            assert!(found.is_ok_and(|value| (value - expect).abs() < 1e-12), "{id}: {found:?}");
        };
        close(&sums, "true_understanding_score", 0.405);
        close(&sums, "true_understanding_geometric", 0.405_f64.powf(1.0 / 3.0));
        let undefined = |sums: &Sums, id: &str| sums.value(id, &profile).unwrap().unwrap_err().0;
        assert_eq!(undefined(&sums, "lucky_guess_indicator"), NO_VERDICTS);
        sums.verdicts = Confusion { tp: 6.0, fp: 2.0, tn: 8.0, fn_: 4.0 };
        close(&sums, "lucky_guess_indicator", 0.7 - 0.9);
        close(&sums, "youden", 0.4);
        sums.rated = [Part::default(); 3];
        assert_eq!(undefined(&sums, "true_understanding_geometric"), NOT_RATED);
    }

    #[test]
    fn the_table_of_metrics_names_all_that_are_ratios_of_sums() {
        let named: Vec<&str> = table::from_source(table::Source::Sums).map(|metric| metric.id).collect();
        assert_eq!(named.iter().filter(|id| formula(id).is_some()).count(), named.len());
        assert_eq!(named.len(), FORMULAS.len());
    }

    #[test]
    fn sums_of_two_lots_are_the_sums_of_both() {
        let row: Vec<f64> = (0..Sums::names(3).len()).map(|number| f64::from(1 + number as u32 % 7)).collect();
        let mut both = Sums::from_row(&row, 3);
        both += &Sums::from_row(&row, 3);
        assert_eq!(both.to_row(3), row.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    }
}
