//! What pooled precision, recall and F1 would be without the judge's errors, by what people said of some pairs.
//!
//! For precision the items are countable findings, which the judge says are right or wrong; for recall they are required
//! goldens, trial by trial, which it says are found or not. An item that no judge could be wrong about, a finding in a case
//! without goldens or a golden in a trial without findings, is what it is; the others are corrected. F1 follows from the
//! goldens: 2·TP / (countable findings + required goldens), of which the labels change TP alone.

use super::{Scorecard, ToolScore, TrialScore};
use crate::judgement::{Decision, Judgement};
use crate::matching::decisions::Decisions;
use crate::profile::Profile;
use crate::stats::correct::{Corrected, Label, Refused, ppi_mean, rogan_gladen};
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use std::collections::{BTreeMap, BTreeSet};

/// Corrected figures of a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedTool {
    /// The tool's place in the scorecard.
    pub tool: usize,
    /// Findings with a label.
    pub findings: usize,
    /// Goldens of trials with a label.
    pub goldens: usize,
    /// Pooled precision.
    pub precision: CorrectedMetric,
    /// Pooled recall.
    pub recall: CorrectedMetric,
    /// Pooled F1.
    pub f1: CorrectedMetric,
}

/// A figure as the judge has it, and as it would be without errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedMetric {
    /// As the judge has it; none where it is undefined.
    pub raw: Option<f64>,
    /// By the judge's sensitivity and specificity.
    pub rogan_gladen: Result<Corrected, Refused>,
    /// By what labels add to what the judge says of all.
    pub ppi: Result<Corrected, Refused>,
}

/// How labels were picked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picked {
    /// No label says with which probability it was picked, so all are taken to be as likely.
    Alike,
    /// Labels say it; so many that do not are left out.
    Stated {
        /// Labels without a probability.
        left_out: usize,
    },
}

/// How these labels were picked. Labels that state no probability cannot be weighed beside those that do; what people say of
/// extras is about no pair, and corrects nothing.
pub fn picked(labels: &[Judgement]) -> Picked {
    let of_pairs = || labels.iter().filter(|label| !matches!(label.decision, Decision::Extra(_)));
    let without = of_pairs().filter(|label| probability(label).is_none()).count();
    if without == of_pairs().count() { Picked::Alike } else { Picked::Stated { left_out: without } }
}

/// The figures of every tool that has labels. The scorecard must not have heard the labels itself.
pub fn corrected(
    scorecard: &Scorecard,
    suite: &Suite,
    trials: &[Trial],
    labels: &[Judgement],
    profile: &Profile,
    level: f64,
) -> Vec<CorrectedTool> {
    let alike = picked(labels) == Picked::Alike;
    let mut by_trial: BTreeMap<(&str, &str, u32), Vec<&Judgement>> = BTreeMap::new();
    for label in labels.iter().filter(|label| alike || probability(label).is_some()) {
        by_trial.entry((label.case.as_str(), label.tool.as_str(), label.trial)).or_default().push(label);
    }
    let of_tool = |(place, tool): (usize, &ToolScore)| {
        let (mut findings, mut goldens) = (Items::default(), Items::default());
        for score in &tool.cases {
            let case = &suite.cases[score.case];
            for trial in score.counted() {
                let said = by_trial.get(&(case.id.as_str(), tool.tool.as_str(), trial.number));
                let said = said.map_or(&[][..], Vec::as_slice);
                add_trial(case, trial, trials, said, profile, &mut findings, &mut goldens);
            }
        }
        let labelled = !findings.labels.is_empty() || !goldens.labels.is_empty();
        labelled.then(|| CorrectedTool {
            tool: place,
            findings: findings.labels.len(),
            goldens: goldens.labels.len(),
            precision: findings.share(1.0, findings.all(), level),
            recall: goldens.share(1.0, goldens.all(), level),
            f1: goldens.share(2.0, findings.all() + goldens.all(), level),
        })
    };
    scorecard.tools.iter().enumerate().filter_map(of_tool).collect()
}

fn probability(label: &Judgement) -> Option<f64> {
    match &label.decision {
        Decision::Pair(pair) => pair.probability,
        _ => None,
    }
}

/// Items that are right or wrong.
#[derive(Default)]
struct Items {
    /// What the judge says of every item it could be wrong about.
    judged: Vec<f64>,
    /// How many items are wrong for certain.
    certain: usize,
    labels: Vec<Label>,
}

impl Items {
    fn all(&self) -> usize {
        self.judged.len() + self.certain
    }

    /// `times` the right items over `whole`.
    fn share(&self, times: f64, whole: usize, level: f64) -> CorrectedMetric {
        let right = self.judged.iter().sum::<f64>();
        // What is said of the share of open items holds for the figure, as it is that share times a known number.
        let scale = times * self.judged.len() as f64 / whole.max(1) as f64;
        let scaled = |mut found: Corrected| {
            found.value = (found.value * scale).clamp(0.0, 1.0);
            found.interval.low = (found.interval.low * scale).clamp(0.0, 1.0);
            found.interval.high = (found.interval.high * scale).clamp(0.0, 1.0);
            found
        };
        CorrectedMetric {
            raw: (whole > 0).then(|| times * right / whole as f64),
            rogan_gladen: rogan_gladen(right as usize, self.judged.len(), &self.labels, level).map(scaled),
            ppi: ppi_mean(&self.judged, &self.labels, level).map(scaled),
        }
    }

    /// An item the judge could be wrong about, and what people say of it.
    fn add(&mut self, judged: bool, said: Option<(bool, f64)>) {
        let judged = f64::from(u8::from(judged));
        self.judged.push(judged);
        self.labels.extend(said.map(|(truth, probability)| Label {
            judged,
            truth: f64::from(u8::from(truth)),
            probability,
        }));
    }
}

fn add_trial(
    case: &Case,
    score: &TrialScore,
    trials: &[Trial],
    said: &[&Judgement],
    profile: &Profile,
    findings: &mut Items,
    goldens: &mut Items,
) {
    let reported: &[_] = score.line.map_or(&[], |line| &trials[line].findings);
    let numbered: Vec<(usize, &Judgement)> = said.iter().copied().enumerate().collect();
    let decisions = Decisions::settle(&numbered, &case.goldens, reported);
    let chance = |pair: (usize, usize)| -> f64 {
        let of_pair = |label: &&&Judgement| match &label.decision {
            Decision::Pair(own) => {
                own.finding == reported[pair.1].id && own.golden.as_ref().is_none_or(|g| *g == case.goldens[pair.0].id)
            }
            _ => false,
        };
        said.iter().filter(of_pair).filter_map(|label| probability(label)).fold(0.0, f64::max)
    };
    let matched: BTreeSet<(usize, usize)> = score.result.matches.iter().map(|m| (m.golden, m.finding)).collect();
    let required: Vec<usize> = (0..case.goldens.len()).filter(|g| case.goldens[*g].is_required()).collect();
    let failed = score.outcome != Outcome::Reported;
    for &golden in &required {
        let found = matched.range((golden, 0)..(golden + 1, 0)).next().is_some();
        if failed || reported.is_empty() {
            goldens.certain += 1;
            continue;
        }
        let pairs = (0..reported.len()).map(|finding| (golden, finding));
        goldens.add(found, truth(&decisions, pairs, &matched, chance));
    }
    let right: BTreeSet<usize> = matched.iter().map(|(_, finding)| *finding).collect();
    let wrong = score.false_findings(profile).map(|finding| (finding, false));
    for (finding, judged) in right.iter().map(|finding| (*finding, true)).chain(wrong) {
        if required.is_empty() {
            findings.certain += 1;
            continue;
        }
        let pairs = required.iter().map(|golden| (*golden, finding));
        findings.add(judged, truth(&decisions, pairs, &matched, chance));
    }
}

/// What people say of an item by the pairs it is part of, and how likely it was that they were asked.
///
/// One pair that matches makes it right. It is wrong where no pair with a label matches, and none that the judge calls a match
/// is without one.
fn truth(
    decisions: &Decisions<'_>,
    pairs: impl Iterator<Item = (usize, usize)>,
    matched: &BTreeSet<(usize, usize)>,
    chance: impl Fn((usize, usize)) -> f64,
) -> Option<(bool, f64)> {
    let (mut any, mut right, mut open, mut never) = (false, false, false, 1.0);
    for pair in pairs {
        match decisions.about(pair.0, pair.1) {
            Some(decided) => {
                any = true;
                right |= decided.matched;
                never *= 1.0 - chance(pair).clamp(0.0, 1.0);
            }
            None => open |= matched.contains(&pair),
        }
    }
    let probability = if never < 1.0 { 1.0 - never } else { 1.0 };
    (any && (right || !open)).then_some((right, probability))
}
