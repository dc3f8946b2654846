//! What cases add to the metrics that are ratios of sums: a metric of any lot of cases comes from adding a few numbers.

use super::calibration::{BinSums, ConfidenceSums};
use super::composite::SuiParts;
use super::counts::{Confusion, Counts, LocationSums};
use super::findings_quality::Classes;
use super::targets::reasoning;
use super::{Part, Undefined, Value};
use crate::judgement::Classification;
use crate::profile::{CompositeMean, DetectionPart, PrecisionPart, Profile};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sums {
    /// Verdicts against the truth, each case weighing 1.
    pub(crate) verdicts: Confusion,
    /// Required goldens found, false findings and goldens missed, of all trials.
    pub(crate) counts: [f64; 3],
    pub(crate) places: LocationSums,
    pub(crate) targets: Part,
    /// The same with partial credit; its whole is that of `targets`.
    pub(crate) target_credit: f64,
    /// The same, each case weighing as its target is severe.
    pub(crate) severe: Part,
    /// Verdicts without their target, of right verdicts on vulnerable cases.
    pub(crate) lucky: Part,
    pub(crate) audits: f64,
    pub(crate) classes: Classes,
    /// Root cause, attack vector and fix, each of cases where it was rated.
    pub(crate) rated: [Part; 3],
    pub(crate) verdict_confidence: ConfidenceSums,
    pub(crate) finding_confidence: ConfidenceSums,
}

const NO_VERDICTS: &str = "no verdict was given, and `verdict_from` derives none";
const NO_VULNERABLE: &str = "no vulnerable case with a verdict";
const NO_SAFE: &str = "no safe case with a verdict";
const NO_PLACES: &str = "no match has lines on both sides";
pub(crate) const NO_AUDIT: Undefined = Undefined("no audit");
const NO_TARGET: &str = "no vulnerable case has a judged target";
const NOT_RATED: &str = "no target was found and rated";
const NONE_CALLED: &str = "no vulnerable case with a judged target was called vulnerable";
const NONE_CONFIDENT: &str = "no verdict is confident enough";
const NONE_DOUBTFUL: &str = "no verdict is doubtful enough";
const NO_CONFIDENCE: &str = "no verdict states a confidence";
const NO_FINDING_CONFIDENCE: &str = "no countable finding states a confidence";

struct Formula {
    id: &'static str,
    /// Every column that the value, or whether there is one, depends on; a test compares both.
    reads: Reads,
    rule: Rule,
}

enum Rule {
    /// A plain proportion, and why it may be undefined.
    Share(fn(&Sums) -> Part, &'static str),
    /// A plain proportion of verdicts, and why it may be undefined although there are verdicts.
    ShareOfVerdicts(fn(&Sums) -> Part, &'static str),
    /// How many of the audited findings count, and what their share is by the framework's conventions where there are none.
    OfFindings(fn(&Classes) -> f64, f64),
    Other(fn(&Sums, &Profile) -> Value),
}

/// Columns by name: `class.` stands for the counts of all classes, and what ends in `.bin` or `.squares` for the columns of all bins.
type Reads = &'static [&'static [&'static str]];

fn is_column(column: &str, name: &str) -> bool {
    match column {
        "class." => name.starts_with(column) && name != "class.unconfirmed_bonus",
        _ if column.ends_with(".bin") || column.ends_with(".squares") => name.starts_with(column),
        _ => column == name,
    }
}

const TP: &str = "verdict.tp";
const FP: &str = "verdict.fp";
const TN: &str = "verdict.tn";
const FN: &str = "verdict.fn";
const PLACES: &[&str] = &["places.count"];
const TARGETS: &[&str] = &["target.found", "target.cases"];
const AUDITED: &[&str] = &["audits", "class."];
/// What a profile may put into a composite in the place of a plain rate.
const STRICTER: &[&str] = &["target.credit", "class.unconfirmed_bonus"];
const RATED: &[&str] = &["rcir.sum", "rcir.cases", "ava.sum", "ava.cases", "fsv.sum", "fsv.cases"];
const SURE: &[&str] = &["verdict_confidence.total"];
const BINS: &[&str] = &["verdict_confidence.bin"];
const SQUARES: &[&str] = &["verdict_confidence.squares"];
const CONFIDENT: &[&str] = &["verdict_confidence.confident_wrong", "verdict_confidence.confident"];
const DOUBTFUL: &[&str] = &["verdict_confidence.doubtful_right", "verdict_confidence.doubtful"];
const FINDINGS_SURE: &[&str] = &["finding_confidence.total"];
const FINDING_BINS: &[&str] = &["finding_confidence.bin"];
const FINDING_SQUARES: &[&str] = &["finding_confidence.squares"];

const fn share(id: &'static str, reads: Reads, part: fn(&Sums) -> Part, reason: &'static str) -> Formula {
    Formula { id, reads, rule: Rule::Share(part, reason) }
}

const fn of_findings(id: &'static str, count: fn(&Classes) -> f64, without: f64) -> Formula {
    Formula { id, reads: &[AUDITED], rule: Rule::OfFindings(count, without) }
}

const fn other(id: &'static str, reads: Reads, value: fn(&Sums, &Profile) -> Value) -> Formula {
    Formula { id, reads, rule: Rule::Other(value) }
}

fn per_place(sums: &Sums, part: f64) -> Part {
    Part { part, whole: sums.places.count }
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
    other("location_iou", &[PLACES, &["places.iou"]], |sums, _| per_place(sums, sums.places.iou).share(NO_PLACES)),
    share("location_exact", &[PLACES, &["places.exact"]], |sums| per_place(sums, sums.places.exact), NO_PLACES),
    share("location_within_5", &[PLACES, &["places.near"]], |sums| per_place(sums, sums.places.near), NO_PLACES),
    other("severity_weighted_detection", &[&["severe.found", "severe.weight"]], |sums, _| {
        sums.severe.share("no vulnerable case has a judged target that states a severity")
    }),
    Formula {
        id: "lucky_guess_rate",
        reads: &[&["lucky.guesses", "lucky.called"]],
        rule: Rule::ShareOfVerdicts(|sums| sums.lucky, NONE_CALLED),
    },
    of_findings("finding_precision", |classes| classes.valid(), 1.0),
    other("finding_precision_confirmed", &[AUDITED, &["class.unconfirmed_bonus"]], |sums, profile| {
        sums.confirmed_precision(profile)
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
    other("ece_debiased", &[SURE, BINS, SQUARES], |sums, _| sums.verdict_confidence.ece_debiased(NO_CONFIDENCE)),
    other("mce", &[SURE, BINS], |sums, _| sums.verdict_confidence.mce(NO_CONFIDENCE)),
    other("brier", &[SURE, &["verdict_confidence.loss"]], |sums, _| sums.verdict_confidence.brier(NO_CONFIDENCE)),
    share("overconfidence_rate", &[CONFIDENT], |sums| sums.verdict_confidence.confident, NONE_CONFIDENT),
    share("underconfidence_rate", &[DOUBTFUL], |sums| sums.verdict_confidence.doubtful, NONE_DOUBTFUL),
    other("finding_ece", &[FINDINGS_SURE, FINDING_BINS], |sums, _| sums.finding_confidence.ece(NO_FINDING_CONFIDENCE)),
    other("finding_ece_debiased", &[FINDINGS_SURE, FINDING_BINS, FINDING_SQUARES], |sums, _| {
        sums.finding_confidence.ece_debiased(NO_FINDING_CONFIDENCE)
    }),
    other("finding_brier", &[FINDINGS_SURE, &["finding_confidence.loss"]], |sums, _| {
        sums.finding_confidence.brier(NO_FINDING_CONFIDENCE)
    }),
    other("sui", &[&[TP, FP, FN], TARGETS, RATED, AUDITED, STRICTER, SURE, BINS], |sums, profile| {
        sums.sui_parts(profile).and_then(|parts| parts.sui(profile))
    }),
    other("true_understanding_score", &[TARGETS, RATED, AUDITED, STRICTER], |sums, profile| {
        let product = sums.understanding(profile);
        match profile.composites.mean {
            CompositeMean::AsPublished => product,
            CompositeMean::Geometric => product.map(libm::cbrt),
        }
    }),
    other("true_understanding_geometric", &[TARGETS, RATED, AUDITED, STRICTER], |sums, profile| {
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
            Rule::ShareOfVerdicts(part, reason) => {
                let has_verdicts = self.verdicts.accuracy().whole > 0.0;
                part(self).share(if has_verdicts { reason } else { NO_VERDICTS })
            }
            Rule::OfFindings(count, without) => {
                self.of_findings(profile, without, |classes| classes.share(count(classes)))
            }
            Rule::Other(value) => value(self, profile),
        })
    }

    /// The columns of a row, by number, that the metric of that id reads; none where it is not a ratio of sums.
    pub fn columns(id: &str, bins: usize) -> Option<Vec<usize>> {
        let reads = formula(id)?.reads;
        let names = Self::names(bins);
        let read = |name: &str| reads.iter().copied().flatten().any(|column| is_column(column, name));
        Some((0..names.len()).filter(|at| read(&names[*at])).collect())
    }

    /// The metric from pooled counts; none where it is not a metric of counts.
    pub(crate) fn pooled(&self, id: &str, profile: &Profile) -> Option<Value> {
        // Pooled counts are whole numbers, however often a case is drawn.
        let [tp, fp, fn_] = self.counts.map(|count| count as usize);
        Counts { tp, fp, fn_ }.value(id, profile.beta)
    }

    /// The share that the metric is; none where it is no plain proportion, or of nothing.
    pub(crate) fn proportion(&self, id: &str) -> Option<Part> {
        let part = match formula(id)?.rule {
            Rule::Share(part, _) | Rule::ShareOfVerdicts(part, _) => part(self),
            Rule::OfFindings(count, _) => Part { part: count(&self.classes), whole: self.classes.total() },
            Rule::Other(_) => return None,
        };
        Some(part).filter(|part| part.whole > 0.0)
    }

    pub(crate) fn pooled_proportion(&self, id: &str) -> Option<Part> {
        let [tp, fp, fn_] = self.counts;
        let whole = match id {
            "precision" => tp + fp,
            "recall" => tp + fn_,
            _ => return None,
        };
        (whole > 0.0).then_some(Part { part: tp, whole })
    }

    /// The parts of the index, where there is any audit.
    pub(crate) fn sui_parts(&self, profile: &Profile) -> Result<SuiParts, Undefined> {
        if self.audits <= 0.0 {
            return Err(NO_AUDIT);
        }
        Ok(SuiParts([
            self.verdicts.f_beta(2.0),
            self.detection(profile, "one of its parts is undefined"),
            match profile.composites.precision {
                PrecisionPart::FindingPrecision => self.of_findings(profile, 1.0, |classes| classes.precision()),
                PrecisionPart::FindingPrecisionConfirmed => self.confirmed_precision(profile),
            },
            self.reasoning(),
            self.verdict_confidence.ece(NO_CONFIDENCE),
        ]))
    }

    fn reasoning(&self) -> Value {
        reasoning(self.rated.map(|rated| rated.share(NOT_RATED)))
    }

    /// How many targets were found, as the profile's composites count it.
    fn detection(&self, profile: &Profile, reason: &'static str) -> Value {
        match profile.composites.detection {
            DetectionPart::TargetDetectionRate => self.targets.share(reason),
            DetectionPart::PartialCreditDetection => Part { part: self.target_credit, ..self.targets }.share(reason),
        }
    }

    fn confirmed_precision(&self, profile: &Profile) -> Value {
        self.of_findings(profile, 1.0, |classes| classes.precision_confirmed(profile.credit.unconfirmed_bonus))
    }

    /// Detection · reasoning · precision. Its cube root, the geometric mean, falls less with one low factor.
    fn understanding(&self, profile: &Profile) -> Value {
        let precision = match profile.composites.precision {
            PrecisionPart::FindingPrecision => {
                self.of_findings(profile, 0.0, |classes| classes.share(classes.invalid())).map(|invalid| 1.0 - invalid)
            }
            PrecisionPart::FindingPrecisionConfirmed => self.confirmed_precision(profile),
        };
        Ok(self.detection(profile, NO_TARGET)? * self.reasoning()? * precision?)
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

/// Sums as a row of numbers, for arithmetic that does not care what they mean.
impl Sums {
    /// The names of the numbers, in their order.
    pub fn names(bins: usize) -> Vec<String> {
        let mut names: Vec<String> = FIXED.split_whitespace().map(str::to_owned).collect();
        names.extend(Classification::ALL.iter().map(|class| format!("class.{}", class.as_str())));
        names.extend(["class.invalid", "class.valid"].map(str::to_owned));
        for of in ["verdict", "finding"] {
            let own = ["total", "loss", "confident_wrong", "confident", "doubtful_right", "doubtful"];
            names.extend(own.iter().map(|name| format!("{of}_confidence.{name}")));
            let per_bin =
                [("bin", "weight"), ("bin", "claimed"), ("bin", "right"), ("squares", "gap"), ("squares", "weight")];
            let named = |bin| per_bin.map(|(group, name)| format!("{of}_confidence.{group}{bin}.{name}"));
            names.extend((0..bins).flat_map(named));
        }
        names
    }

    /// Every number, in the order of a row, with so many bins of confidence.
    fn numbers(&mut self, bins: usize) -> Vec<&mut f64> {
        let (verdicts, places) = (&mut self.verdicts, &mut self.places);
        let mut all = Vec::with_capacity(64 + 10 * bins);
        all.extend([&mut verdicts.tp, &mut verdicts.fp, &mut verdicts.tn, &mut verdicts.fn_]);
        all.extend(&mut self.counts);
        all.extend([&mut places.count, &mut places.iou, &mut places.exact, &mut places.near]);
        let parts = [&mut self.targets, &mut self.severe, &mut self.lucky].into_iter().chain(&mut self.rated);
        all.extend(parts.flat_map(|part| [&mut part.part, &mut part.whole]));
        all.extend([&mut self.audits, &mut self.classes.unconfirmed_bonus, &mut self.target_credit]);
        all.extend(&mut self.classes.counts);
        all.extend(&mut self.classes.unclassified);
        for sure in [&mut self.verdict_confidence, &mut self.finding_confidence] {
            all.extend([&mut sure.total, &mut sure.loss]);
            all.extend([&mut sure.confident.part, &mut sure.confident.whole]);
            all.extend([&mut sure.doubtful.part, &mut sure.doubtful.whole]);
            sure.bins.resize(bins, BinSums::default());
            for bin in &mut sure.bins {
                all.extend([&mut bin.weight, &mut bin.claimed, &mut bin.right]);
                all.extend([&mut bin.gap_squares, &mut bin.weight_squares]);
            }
        }
        all
    }

    pub fn to_row(&self, bins: usize) -> Vec<f64> {
        self.clone().numbers(bins).into_iter().map(|number| *number).collect()
    }

    /// The sums of a row; missing numbers are 0.
    pub fn from_row(row: &[f64], bins: usize) -> Self {
        let mut sums = Self::default();
        sums.numbers(bins).into_iter().zip(row).for_each(|(number, value)| *number = *value);
        for sure in [&mut sums.verdict_confidence, &mut sums.finding_confidence] {
            // Nothing said has no bins.
            sure.bins.truncate(if sure.total > 0.0 { bins } else { 0 });
        }
        sums
    }
}

/// The sums of one case in little memory: most numbers of a case are 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaseSums {
    bins: u32,
    /// Columns of a row that are not 0, upward, with their numbers.
    numbers: Box<[(u32, f64)]>,
}

impl CaseSums {
    pub(crate) fn new(sums: &Sums, bins: u32) -> Self {
        let row = sums.to_row(bins as usize).into_iter();
        Self { bins, numbers: (0..).zip(row).filter(|(_, number)| *number != 0.0).collect() }
    }

    /// The columns of a row that are not 0, upward, with their numbers.
    pub fn numbers(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.numbers.iter().map(|(column, number)| (*column as usize, *number))
    }

    pub(crate) fn sums(&self) -> Sums {
        Self::total([self])
    }

    /// The sums of several cases, added up in their order.
    pub(crate) fn total<'s>(cases: impl IntoIterator<Item = &'s Self>) -> Sums {
        let (mut row, mut bins) = (Vec::new(), 0);
        for case in cases {
            bins = bins.max(case.bins);
            for (column, number) in case.numbers() {
                if row.len() <= column {
                    row.resize(column + 1, 0.0);
                }
                row[column] += number;
            }
        }
        Sums::from_row(&row, bins as usize)
    }
}

const FIXED: &str = "verdict.tp verdict.fp verdict.tn verdict.fn tp fp fn places.count places.iou places.exact places.near \
                     target.found target.cases severe.found severe.weight lucky.guesses lucky.called \
                     rcir.sum rcir.cases ava.sum ava.cases fsv.sum fsv.cases audits class.unconfirmed_bonus \
                     target.credit";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::table;
    use crate::profile::CompositeRules;

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
        sums.classes.counts[Classification::TargetMatch as usize] = 1.0;
        sums.classes.counts[Classification::Hallucinated as usize] = 1.0;
        let close = |sums: &Sums, id: &str, expect: f64| {
            let found = sums.value(id, &profile).unwrap();
            assert!(found.is_ok_and(|value| (value - expect).abs() < 1e-12), "{id}: {found:?}");
        };
        close(&sums, "true_understanding_score", 0.405);
        close(&sums, "true_understanding_geometric", 0.405_f64.powf(1.0 / 3.0));
        let undefined = |sums: &Sums, id: &str| sums.value(id, &profile).unwrap().unwrap_err().0;
        assert_eq!(undefined(&sums, "lucky_guess_indicator"), NO_VERDICTS);
        assert_eq!(undefined(&sums, "lucky_guess_rate"), NO_VERDICTS);
        sums.verdicts = Confusion { tp: 6.0, fp: 2.0, tn: 8.0, fn_: 4.0 };
        assert_eq!(undefined(&sums, "lucky_guess_rate"), NONE_CALLED);
        close(&sums, "lucky_guess_indicator", 0.7 - 0.9);
        close(&sums, "youden", 0.4);
        // A third of the detection came in part, and the only valid finding is a bonus that nobody confirmed.
        sums.target_credit = 0.6;
        sums.classes.counts = Classes::default().counts;
        sums.classes.counts[Classification::BonusValid as usize] = 1.0;
        sums.classes.unconfirmed_bonus = 1.0;
        let strict = CompositeRules {
            detection: DetectionPart::PartialCreditDetection,
            precision: PrecisionPart::FindingPrecisionConfirmed,
            mean: CompositeMean::Geometric,
        };
        let mut rules = Profile { composites: strict, ..profile.clone() };
        rules.credit.unconfirmed_bonus = 0.5;
        for id in ["true_understanding_score", "true_understanding_geometric"] {
            let found = sums.value(id, &rules).unwrap().unwrap();
            assert!((found - (0.6_f64 * 0.9 * 0.5).cbrt()).abs() < 1e-12, "{id}: {found}");
        }
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
        let mut row: Vec<f64> = (0..Sums::names(3).len()).map(|number| f64::from(1 + number as u32 % 7)).collect();
        row[1] = 0.0;
        let one = CaseSums::new(&Sums::from_row(&row, 3), 3);
        assert_eq!(one.sums().to_row(3), row);
        let both = CaseSums::total([&one, &CaseSums::default(), &one]);
        assert_eq!(both.to_row(3), row.iter().map(|v| 2.0 * v).collect::<Vec<_>>());
    }
}
