//! The metrics beyond counts and verdicts: targets, audited findings, reasoning, confidence, places, and what is made of them.

use super::aggregate::confusion;
use super::{CaseScore, Metrics, TrialScore};
use crate::golden::Severity;
use crate::judgement::{Classification, TypeMatch};
use crate::metric::calibration::{self, Point};
use crate::metric::composite::{self, SuiParts};
use crate::metric::detection::{target_severity, weighted_mean, weighted_recall};
use crate::metric::estimate::Estimate;
use crate::metric::findings_quality::Classes;
use crate::metric::location::Places;
use crate::metric::reasoning::{reasoning, spread};
use crate::metric::sweep::{Item, Operating, Sweep, SweptBy, sweep};
use crate::metric::table::{self, METRICS};
use crate::metric::{Undefined, Value, ratio};
use crate::profile::{Method, Profile};
use crate::suite::{Case, Suite, Verdict};
use crate::trial::{Outcome, Trial};

/// Means of cases that need no audit, without those that look at several cases or trials at once.
pub(super) const OF_MATCHES: &[&str] = &[
    "severity_weighted_recall",
    "precision_lower",
    "precision_upper",
    "target_detection_rate",
    "partial_credit_detection",
];

/// Means of cases to which nothing but an audit gives a value.
pub(super) const OF_AUDITS: &[&str] = &[
    "bonus_discovery_rate",
    "finding_precision_macro",
    "over_flagging_score",
    "mean_rcir",
    "mean_ava",
    "mean_fsv",
    "exact_match_rate",
    "semantic_match_rate",
    "partial_match_rate",
];

/// One of [`OF_MATCHES`] or [`OF_AUDITS`] of one trial.
pub(super) fn trial_value(id: &str, case: &Case, trial: &TrialScore, profile: &Profile) -> Value {
    // Looked up only where it is needed: this runs for every trial.
    let reason = || Undefined(table::find(id).map_or("there is no such metric", |metric| metric.undefined_when));
    let share = |yes: bool| f64::from(u8::from(yes));
    let vulnerable = case.verdict == Verdict::Vulnerable;
    let audited = trial.audited.as_ref();
    let typed = || audited.and_then(|audited| audited.type_match).filter(|_| vulnerable).ok_or_else(reason);
    match id {
        "severity_weighted_recall" | "precision_lower" | "precision_upper" if profile.method == Method::Verdict => {
            Err(Undefined("the profile compares verdicts alone"))
        }
        "severity_weighted_recall" => {
            let found = |golden: usize| trial.result.matches.iter().any(|m| m.golden == golden);
            weighted_recall(case, found, &profile.severity_weights)
        }
        "precision_lower" | "precision_upper" => precision_bound(id, case, trial, profile),
        "target_detection_rate" => trial.target_found.filter(|_| vulnerable).map(share).ok_or_else(reason),
        "partial_credit_detection" => trial.target_credit.filter(|_| vulnerable).ok_or_else(reason),
        // A trial that failed discovered nothing.
        "bonus_discovery_rate" if trial.outcome != Outcome::Reported => Ok(0.0),
        "bonus_discovery_rate" => audited.map(|audited| share(audited.has_bonus(profile))).ok_or_else(reason),
        "finding_precision_macro" => match audited.map(|audited| audited.classes) {
            None => Err(reason()),
            Some(classes) => precise(classes.precision(), 1.0, profile),
        },
        "over_flagging_score" => audited.map(|audited| audited.classes.invalid() as f64).ok_or_else(reason),
        "mean_rcir" => audited.and_then(|audited| audited.rcir).ok_or_else(reason),
        "mean_ava" => audited.and_then(|audited| audited.ava).ok_or_else(reason),
        "mean_fsv" => audited.and_then(|audited| audited.fsv).ok_or_else(reason),
        "exact_match_rate" => typed().map(|level| share(level == TypeMatch::Exact)),
        "semantic_match_rate" => typed().map(|level| share(matches!(level, TypeMatch::Exact | TypeMatch::Semantic))),
        "partial_match_rate" => typed().map(|level| share(level == TypeMatch::Partial)),
        _ => Err(Undefined("not a metric of single trials")),
    }
}

fn precision_bound(id: &str, case: &Case, trial: &TrialScore, profile: &Profile) -> Value {
    if case.is_clean() {
        return Err(Undefined("no required golden"));
    }
    let counts = trial.counts;
    let open = if id == "precision_upper" { trial.unlabelled_extras(profile) } else { 0 };
    let value = ratio((counts.tp + open) as f64, (counts.tp + counts.fp) as f64, "no countable findings");
    if profile.undefined_is_zero { Ok(value.unwrap_or(0.0)) } else { value }
}

/// A rate of findings, or, where there are none and the profile follows the framework, what that counts as.
fn precise(rate: Value, without_findings: f64, profile: &Profile) -> Value {
    match rate {
        Err(_) if profile.audit_conventions.no_findings_is_precise => Ok(without_findings),
        rate => rate,
    }
}

/// Of each vulnerable case with a safe twin: the share of trials that fire on the bug and are silent on its fix.
pub(super) fn twins(cases: &[CaseScore], suite: &Suite, profile: &Profile) -> Vec<(usize, f64)> {
    if suite.cases.iter().all(|case| case.twin.is_none()) {
        return Vec::new();
    }
    let index: std::collections::HashMap<&str, usize> =
        suite.cases.iter().enumerate().map(|(index, case)| (case.id.as_str(), index)).collect();
    // Either side may name the other.
    let mut pairs = std::collections::BTreeSet::new();
    for (own, case) in suite.cases.iter().enumerate() {
        let Some(&other) = case.twin.as_ref().and_then(|twin| index.get(twin.as_str())) else { continue };
        match (case.verdict, suite.cases[other].verdict) {
            (Verdict::Vulnerable, Verdict::Safe) => pairs.extend([(own, other)]),
            (Verdict::Safe, Verdict::Vulnerable) => pairs.extend([(other, own)]),
            _ => {}
        }
    }
    let fires = |trial: &TrialScore| trial.target_found.unwrap_or(trial.verdict == Some(Verdict::Vulnerable));
    let silent = |trial: &TrialScore| match (profile.method, &trial.audited) {
        (Method::Verdict, _) | (_, Some(_)) => trial.verdict == Some(Verdict::Safe),
        _ => trial.is_silent(profile),
    };
    let of_pair = |(bug, fix): (usize, usize)| {
        let on_fix = |number: u32| cases[fix].counted().find(|trial| trial.number == number);
        let both = cases[bug].counted().filter_map(|trial| Some((trial, on_fix(trial.number)?)));
        let right: Vec<f64> = both.map(|(bug, fix)| f64::from(u8::from(fires(bug) && silent(fix)))).collect();
        crate::stats::summary::mean(&right).map(|value| (bug, value))
    };
    pairs.into_iter().filter_map(of_pair).collect()
}

/// What the metrics of all tiers are drawn from, beside the means of cases that are given.
pub(super) struct Tiers<'a> {
    pub(super) cases: &'a [&'a CaseScore],
    pub(super) suite: &'a Suite,
    pub(super) trials: &'a [Trial],
    pub(super) profile: &'a Profile,
}

impl Tiers<'_> {
    /// The metrics that are no plain means of cases. `done` holds those that are, and the verdicts'.
    pub(super) fn metrics(&self, done: &Metrics) -> Metrics {
        let mut metrics = Metrics::new();
        let mut push = |id: &'static str, value: Value, n: usize| {
            let Some(metric) = METRICS.iter().find(|metric| metric.id == id) else { return };
            metrics.push((metric.id, Estimate::new(value, n, metric.direction)));
        };
        let given = |id: &str| {
            let estimate = done.iter().find(|(own, _)| *own == id).map(|(_, estimate)| estimate);
            match estimate.map(|estimate| (estimate.value, estimate.undefined)) {
                Some((Some(value), _)) => Ok(value),
                Some((None, Some(reason))) => Err(Undefined(reason)),
                _ => Err(Undefined("no case")),
            }
        };
        let (places, classes) = (self.places(), self.classes());
        push("location_iou", places.iou(), places.count);
        push("location_exact", places.exact(), places.count);
        push("location_within_5", places.within_near(), places.count);
        let (value, n) = self.severity_weighted_detection();
        push("severity_weighted_detection", value, n);
        let (value, n) = self.lucky_guess_rate();
        push("lucky_guess_rate", value, n);
        for (id, value) in self.rates_of_findings(classes) {
            push(id, value, classes.map_or(0, |classes| classes.total()));
        }
        for (id, of) in [("std_rcir", "mean_rcir"), ("std_ava", "mean_ava"), ("std_fsv", "mean_fsv")] {
            let scores = self.case_values(of);
            push(id, spread(&scores, self.profile.audit_conventions.population_std), scores.len());
        }
        let understood = reasoning([given("mean_rcir"), given("mean_ava"), given("mean_fsv")]);
        let rated = ["mean_rcir", "mean_ava", "mean_fsv"].map(|id| self.case_values(id).len()).into_iter().max();
        push("reasoning", understood, rated.unwrap_or(0));
        let points = self.confidences();
        for (id, value) in self.calibration(&points) {
            push(id, value, points.len());
        }
        let n = self.cases.iter().filter(|case| case.counted().next().is_some()).count();
        let invalid = self.invalid_rate(classes);
        let target = given("target_detection_rate");
        push("sui", self.sui(done), n);
        push("true_understanding_score", composite::true_understanding(target, understood, invalid), n);
        push("true_understanding_geometric", composite::true_understanding_geometric(target, understood, invalid), n);
        push("lucky_guess_indicator", composite::lucky_guess_indicator(given("accuracy"), target), n);
        metrics
    }

    /// Metrics over single findings with their own confidence or severity, and the curves they come from.
    pub(super) fn of_findings(&self) -> (Metrics, Vec<Sweep>) {
        let mut metrics = Metrics::new();
        let mut push = |id: &str, value: Value, n: usize| {
            if let Some(metric) = METRICS.iter().find(|metric| metric.id == id) {
                metrics.push((metric.id, Estimate::new(value, n, metric.direction)));
            }
        };
        const NONE: &str = "no countable finding states a confidence";
        let (points, by_confidence, by_severity, required) = self.countable();
        let bins = self.equal_bins(&points);
        push("finding_ece", calibration::ece(&bins, &points, NONE), points.len());
        push("finding_brier", calibration::brier(&points, NONE), points.len());
        let sweeps = [
            (sweep(SweptBy::Confidence, &by_confidence, required), "average_precision", "best_f1"),
            (sweep(SweptBy::Severity, &by_severity, required), "severity_average_precision", "severity_best_f1"),
        ];
        let mut drawn = Vec::new();
        for (sweep, area, best) in sweeps {
            push(area, sweep.average_precision, required);
            push(best, sweep.average_precision.and(best_f1(sweep.best)), required);
            drawn.extend((!sweep.points.is_empty()).then_some(sweep));
        }
        (metrics, drawn)
    }

    /// The parts of the index, where there is any audit.
    pub(super) fn sui_parts(&self, done: &Metrics) -> Result<SuiParts, Undefined> {
        let classes = self.classes().ok_or(Undefined("no audit"))?;
        let given = |id: &str| {
            let estimate = done.iter().find(|(own, _)| *own == id).map(|(_, estimate)| estimate);
            estimate.and_then(|estimate| estimate.value).ok_or(Undefined("one of its parts is undefined"))
        };
        let points = self.confidences();
        Ok(SuiParts {
            verdict_f2: confusion(self.cases, self.suite).f(2.0),
            target_detection_rate: given("target_detection_rate"),
            finding_precision: precise(classes.precision(), 1.0, self.profile),
            reasoning: reasoning([given("mean_rcir"), given("mean_ava"), given("mean_fsv")]),
            ece: calibration::ece(&self.equal_bins(&points), &points, "no verdict states a confidence"),
        })
    }

    fn sui(&self, done: &Metrics) -> Value {
        self.sui_parts(done)?.sui(&self.profile.sui, self.profile.audit_conventions.sui_fills_missing)
    }

    /// The points of the reliability diagram of verdicts.
    pub(super) fn reliability(&self) -> Vec<calibration::Bin> {
        self.equal_bins(&self.confidences())
    }

    fn equal_bins(&self, points: &[Point]) -> Vec<calibration::Bin> {
        let conventions = &self.profile.audit_conventions;
        calibration::equal_width(points, self.profile.calibration.bins, conventions.zero_confidence_in_no_bin)
    }

    fn case_values(&self, id: &str) -> Vec<f64> {
        let of = |case: &&CaseScore| case.values.iter().find(|(own, _)| *own == id).and_then(|(_, value)| value.ok());
        self.cases.iter().filter_map(of).collect()
    }

    fn severity_weighted_detection(&self) -> (Value, usize) {
        let of = |case: &&CaseScore| {
            let value = case.values.iter().find(|(own, _)| *own == "target_detection_rate")?.1.ok()?;
            let severity = target_severity(&self.suite.cases[case.case])?;
            Some((self.profile.severity_weights.of(severity), value))
        };
        let weighed: Vec<(f64, f64)> = self.cases.iter().filter_map(of).collect();
        let n = weighed.len();
        (weighted_mean(weighed.into_iter(), "no vulnerable case has a target that states a severity"), n)
    }

    fn lucky_guess_rate(&self) -> (Value, usize) {
        let (mut lucky, mut called, mut n) = (0.0, 0.0, 0);
        for case in self.cases.iter().filter(|case| self.suite.cases[case.case].verdict == Verdict::Vulnerable) {
            let share = 1.0 / case.counted_trials() as f64;
            let right = || case.counted().filter(|trial| trial.verdict_correct && trial.lucky_guess.is_some());
            called += share * right().count() as f64;
            lucky += share * right().filter(|trial| trial.lucky_guess == Some(true)).count() as f64;
            n += usize::from(right().next().is_some());
        }
        (ratio(lucky, called, "no vulnerable case with a target was called vulnerable"), n)
    }

    /// All audited findings; none where there is no audit.
    fn classes(&self) -> Option<Classes> {
        let audits = self.cases.iter().flat_map(|case| case.counted()).filter_map(|trial| trial.audited.as_ref());
        audits.map(|audited| audited.classes).reduce(|mut sum, classes| {
            sum += classes;
            sum
        })
    }

    fn invalid_rate(&self, classes: Option<Classes>) -> Value {
        classes.map_or(Err(Undefined("no audit")), |classes| precise(classes.invalid_rate(), 0.0, self.profile))
    }

    fn rates_of_findings(&self, classes: Option<Classes>) -> Vec<(&'static str, Value)> {
        let rate = |of: &dyn Fn(Classes) -> Value, without: f64| match classes {
            None => Err(Undefined("no audit")),
            Some(classes) => precise(of(classes), without, self.profile),
        };
        let mut rates = vec![
            ("finding_precision", rate(&|classes| classes.precision(), 1.0)),
            (
                "finding_precision_confirmed",
                rate(&|classes| classes.precision_confirmed(self.profile.credit.unconfirmed_bonus), 1.0),
            ),
            ("invalid_rate", self.invalid_rate(classes)),
            ("harm_weighted_invalid_rate", rate(&|classes| classes.harm_rate(&self.profile.harm_weights), 0.0)),
        ];
        for (id, class) in [
            ("hallucination_rate", Classification::Hallucinated),
            ("mischaracterized_rate", Classification::Mischaracterized),
            ("design_choice_rate", Classification::DesignChoice),
            ("out_of_scope_rate", Classification::OutOfScope),
            ("security_theater_rate", Classification::SecurityTheater),
            ("informational_rate", Classification::Informational),
        ] {
            rates.push((id, rate(&|classes| classes.rate(class), 0.0)));
        }
        rates
    }

    /// Verdicts with a confidence, each case weighing 1, shared among its trials that state one.
    fn confidences(&self) -> Vec<Point> {
        let mut points = Vec::new();
        for case in self.cases {
            let sure =
                || case.counted().filter(|trial| trial.outcome == Outcome::Reported && trial.confidence.is_some());
            let weight = 1.0 / sure().count() as f64;
            points.extend(sure().filter_map(|trial| {
                Some(Point { confidence: trial.confidence?, right: trial.verdict_correct, weight })
            }));
        }
        points
    }

    fn calibration(&self, points: &[Point]) -> [(&'static str, Value); 6] {
        const NONE: &str = "no verdict states a confidence";
        let rules = &self.profile.calibration;
        let bins = self.equal_bins(points);
        [
            ("ece", calibration::ece(&bins, points, NONE)),
            ("ece_adaptive", calibration::ece(&calibration::equal_mass(points, rules.bins), points, NONE)),
            ("mce", calibration::mce(&bins, points, NONE)),
            ("brier", calibration::brier(points, NONE)),
            ("overconfidence_rate", calibration::overconfidence(points, rules.overconfident_above)),
            ("underconfidence_rate", calibration::underconfidence(points, rules.underconfident_below)),
        ]
    }

    fn places(&self) -> Places {
        let mut places = Places::default();
        for case in self.cases {
            let goldens = &self.suite.cases[case.case].goldens;
            for trial in case.counted() {
                let Some(line) = trial.line else { continue };
                for m in &trial.result.matches {
                    places.add(&goldens[m.golden], &self.trials[line].findings[m.finding]);
                }
            }
        }
        places
    }

    /// Findings that count, right or wrong, with their confidence and severity, and the goldens there are to find.
    fn countable(&self) -> (Vec<Point>, Vec<Item>, Vec<Item>, usize) {
        let (mut points, mut by_confidence, mut by_severity) = (Vec::new(), Vec::new(), Vec::new());
        let mut required = 0;
        if self.profile.method == Method::Verdict {
            return (points, by_confidence, by_severity, required);
        }
        for trial in self.cases.iter().flat_map(|case| case.counted()) {
            required += trial.counts.tp + trial.counts.fn_;
            let Some(line) = trial.line else { continue };
            let findings = &self.trials[line].findings;
            // Recorded matches may hold a golden or a finding more than once; each golden counts once.
            let mut goldens = std::collections::BTreeSet::new();
            let right = trial.result.matches.iter().filter(|m| goldens.insert(m.golden)).map(|m| m.finding);
            let right: Vec<usize> = right.collect();
            let wrong = trial.false_findings(self.profile).map(|finding| (finding, false));
            for (finding, right) in right.into_iter().map(|finding| (finding, true)).chain(wrong) {
                let finding = &findings[finding];
                let confidence = finding.confidence;
                points.extend(confidence.map(|confidence| Point { confidence, right, weight: 1.0 }));
                by_confidence.push(Item { score: confidence, right });
                by_severity.push(Item { score: finding.severity.map(level), right });
            }
        }
        (points, by_confidence, by_severity, required)
    }
}

fn best_f1(best: Option<Operating>) -> Value {
    best.map(|best| best.f1).ok_or(Undefined("no countable findings"))
}

fn level(severity: Severity) -> f64 {
    match severity {
        Severity::Critical => 5.0,
        Severity::High => 4.0,
        Severity::Medium => 3.0,
        Severity::Low => 2.0,
        Severity::Info => 1.0,
    }
}
