//! Measures how well a judge agrees with labels.

use super::LocalJudge;
use super::labels::LabelledTrial;
use crate::matching::text::Vocabulary;
use crate::metric::calibration::{ConfidenceSums, Point};
use crate::metric::counts::Counts;
use crate::profile::CalibrationRules;
use crate::stats::agreement::binary_kappa;
use crate::suite::Suite;
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// How well a judge agrees with labels. What cannot be computed is absent, never 0.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Figures {
    /// Over each golden of each trial, trials without findings too: found when any pair matches.
    pub golden_found: GoldenFound,
    /// Over labelled pairs.
    pub pairs: Pairs,
}

/// Agreement on which goldens were found.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct GoldenFound {
    /// Cohen's kappa.
    pub kappa: Option<f64>,
    /// Of the goldens that the judge takes for found, the share that are.
    pub precision: Option<f64>,
    /// Of the goldens that were found, the share that the judge takes for found.
    pub recall: Option<f64>,
    /// How many goldens of trials.
    pub n: usize,
}

/// How well probabilities fit labelled pairs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Pairs {
    /// The chance that a matching pair is likelier than one that does not match.
    pub auc: Option<f64>,
    /// F1 of the decisions.
    pub f1: Option<f64>,
    /// Expected calibration error over ten bins of equal width.
    pub ece: Option<f64>,
    /// How many pairs.
    pub n: usize,
}

/// How well a judge agrees with labels.
pub fn evaluate(judge: &LocalJudge, trials: &[LabelledTrial<'_>]) -> Figures {
    predict(judge, trials).figures()
}

/// A judge's answer about a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The decision.
    pub matched: bool,
    /// How likely a match is by its own word, from 0 to 1.
    pub probability: f64,
}

impl Answer {
    /// A decision with how sure the judge was of it; one that says nothing of that is as sure as can be.
    pub fn new(matched: bool, confidence: Option<f64>) -> Self {
        let sure = confidence.unwrap_or(1.0).clamp(0.0, 1.0);
        Self { matched, probability: if matched { sure } else { 1.0 - sure } }
    }
}

/// How well the answers of any judge agree with labels. For each trial they are ordered as its labels; `None` is no answer.
///
/// Only labelled pairs count. A pair without an answer counts nowhere, and neither does a golden that only such pairs, or no
/// labelled pair at all, could show to be found; goldens of trials without findings were not found by anybody.
pub fn evaluate_answers(trials: &[LabelledTrial<'_>], answers: &[Vec<Option<Answer>>]) -> Figures {
    let mut predictions = Predictions::default();
    for (own, answers) in trials.iter().zip(answers) {
        predictions.add_answers(own, answers);
    }
    predictions.figures()
}

/// The plain mean of the groups' figures; what is undefined in a group is undefined in the mean. Counts are added.
pub fn mean<'f>(groups: impl Iterator<Item = &'f Figures> + Clone) -> Figures {
    let of = |value: fn(&Figures) -> Option<f64>| -> Option<f64> {
        let values: Vec<f64> = groups.clone().map(value).collect::<Option<_>>()?;
        crate::stats::summary::mean(&values)
    };
    Figures {
        golden_found: GoldenFound {
            kappa: of(|f| f.golden_found.kappa),
            precision: of(|f| f.golden_found.precision),
            recall: of(|f| f.golden_found.recall),
            n: groups.clone().map(|f| f.golden_found.n).sum(),
        },
        pairs: Pairs {
            auc: of(|f| f.pairs.auc),
            f1: of(|f| f.pairs.f1),
            ece: of(|f| f.pairs.ece),
            n: groups.clone().map(|f| f.pairs.n).sum(),
        },
    }
}

/// Plain overlap of words instead of the judge: the text part of the `karat` profile, which matches from 0.3 on.
pub fn evaluate_word_overlap(suite: &Suite, trials: &[LabelledTrial<'_>]) -> Figures {
    let texts: Vec<String> = suite.cases.iter().flat_map(|case| case.goldens.iter().map(super::golden_text)).collect();
    let vocabulary = Vocabulary::learn(&texts, String::clone);
    let weight = |terms: &[u32]| terms.iter().map(|&term| vocabulary.weight(term)).sum::<f64>();
    let mut predictions = Predictions::default();
    for own in trials {
        let findings: Vec<Vec<u32>> =
            own.trial.findings.iter().map(|finding| vocabulary.terms(&super::finding_text(finding))).collect();
        let mut shares = Vec::new();
        for golden in &own.case.goldens {
            let terms = vocabulary.terms(&super::golden_text(golden));
            let whole = weight(&terms);
            for finding in &findings {
                let shared: Vec<u32> = terms.iter().filter(|term| finding.contains(term)).copied().collect();
                shares.push(if whole > 0.0 { weight(&shared) / whole } else { 0.0 });
            }
        }
        predictions.add(own, &shares, 0.3);
    }
    predictions.figures()
}

pub(super) fn predict(judge: &LocalJudge, trials: &[LabelledTrial<'_>]) -> Predictions {
    let probabilities: Vec<Vec<f64>> =
        trials.par_iter().map(|own| judge.probabilities(&own.case.goldens, &own.trial.findings)).collect();
    let mut predictions = Predictions::default();
    for (own, probabilities) in trials.iter().zip(&probabilities) {
        predictions.add(own, probabilities, judge.params().threshold);
    }
    predictions
}

#[derive(Default)]
pub(super) struct Predictions {
    pub(super) goldens: Vec<GoldenPrediction>,
    /// Whether each labelled pair matches, with the judge's answer.
    pairs: Vec<(bool, Answer)>,
}

/// A golden that is known to be found or not, and the probability of its likeliest pair.
pub(super) struct GoldenPrediction {
    pub(super) found: bool,
    pub(super) best: f64,
    predicted: bool,
}

impl Predictions {
    /// Adds a trial. Where only some pairs are labelled, only these count.
    pub(super) fn add(&mut self, own: &LabelledTrial<'_>, probabilities: &[f64], threshold: f64) {
        let width = own.trial.findings.len();
        for golden in 0..own.case.goldens.len() {
            let labels = own.of_golden(golden);
            let chances = probabilities.get(golden * width..(golden + 1) * width).unwrap_or_default();
            let mut best = 0.0_f64;
            for (label, &probability) in labels.iter().zip(chances) {
                if own.whole || label.is_some() {
                    best = best.max(probability);
                }
                if let Some(matched) = *label {
                    self.pairs.push((matched, Answer { matched: probability >= threshold, probability }));
                }
            }
            if let Some(found) = own.found(golden) {
                self.goldens.push(GoldenPrediction { found, best, predicted: width > 0 && best >= threshold });
            }
        }
    }

    /// Adds a judge's answers about a trial, which may be fewer than the labels.
    fn add_answers(&mut self, own: &LabelledTrial<'_>, answers: &[Option<Answer>]) {
        let width = own.trial.findings.len();
        for golden in 0..own.case.goldens.len() {
            let answer = answers.get(golden * width..(golden + 1) * width).unwrap_or_default();
            let labelled =
                own.of_golden(golden).iter().zip(answer).filter_map(|(label, answer)| Some(((*label)?, *answer)));
            let (mut best, mut predicted, mut open) = (0.0_f64, false, 0);
            for (matched, answer) in labelled.clone() {
                let Some(answer) = answer else {
                    open += 1;
                    continue;
                };
                best = best.max(answer.probability);
                predicted |= answer.matched;
                self.pairs.push((matched, answer));
            }
            let known = predicted || open == 0 && (width == 0 || labelled.count() > 0);
            if let Some(found) = own.found(golden).filter(|_| known) {
                self.goldens.push(GoldenPrediction { found, best, predicted });
            }
        }
    }

    pub(super) fn append(&mut self, other: Self) {
        self.goldens.extend(other.goldens);
        self.pairs.extend(other.pairs);
    }

    pub(super) fn figures(&self) -> Figures {
        let goldens = counts(self.goldens.iter().map(|golden| (golden.found, golden.predicted)));
        let pairs = counts(self.pairs.iter().map(|(matched, answer)| (*matched, answer.matched)));
        Figures {
            golden_found: GoldenFound {
                kappa: binary_kappa(self.goldens.iter().map(|golden| (golden.found, golden.predicted))),
                precision: goldens.precision().ok(),
                recall: goldens.recall().ok(),
                n: self.goldens.len(),
            },
            pairs: Pairs {
                auc: auc(self.pairs.iter().map(|(matched, answer)| (answer.probability, *matched))),
                f1: pairs.f_beta(1.0).ok(),
                ece: ece(&self.pairs),
                n: self.pairs.len(),
            },
        }
    }
}

pub(crate) fn counts(items: impl Iterator<Item = (bool, bool)>) -> Counts {
    let mut counts = Counts::default();
    for (truth, decision) in items {
        counts.tp += usize::from(truth && decision);
        counts.fp += usize::from(!truth && decision);
        counts.fn_ += usize::from(truth && !decision);
    }
    counts
}

/// The area under the curve of scores beside truths, ties counting half.
pub(crate) fn auc(pairs: impl Iterator<Item = (f64, bool)>) -> Option<f64> {
    let mut sorted: Vec<(f64, bool)> = pairs.collect();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut won, mut below) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let matches = tied.iter().filter(|(_, matched)| *matched).count() as f64;
        let others = tied.len() as f64 - matches;
        won += matches * (below + others / 2.0);
        below += others;
    }
    let matches = sorted.len() as f64 - below;
    (matches > 0.0 && below > 0.0).then(|| won / (matches * below))
}

fn ece(pairs: &[(bool, Answer)]) -> Option<f64> {
    let point = |(right, answer): &(bool, Answer)| Point { confidence: answer.probability, right: *right, weight: 1.0 };
    let points: Vec<Point> = pairs.iter().map(point).collect();
    let rules = CalibrationRules { bins: 10, overconfident_above: 1.0, underconfident_below: 0.0 };
    ConfidenceSums::new(&points, &rules, false).ece("no pairs").ok()
}

#[cfg(test)]
mod tests;
