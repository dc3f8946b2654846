//! Corrects pooled precision, recall and F1 for the judge's errors, by labels of some pairs.
//!
//! The truth is the score if people had decided every candidate. Each labelled pair that the judge got wrong is
//! flipped and its trial scored again; [`TwoPhase`] estimates the total change. A golden without a candidate is
//! always missed, and a finding without one reports nothing.

mod labelled_pairs;

use super::trial::VerdictRules;
use super::{CaseContext, JudgementsByTrial, Scorecard, ToolScore, TrialScore, vocabulary};
use crate::clusters;
use crate::ids::JudgeName;
use crate::judgement::{Decision, Judgement, PairDecision};
use crate::matching::pair::PreparedCase;
use crate::metric::counts::Counts;
use crate::profile::{Method, Profile};
use crate::stats::correct::{CorrectedEstimate, CorrectionError};
use crate::stats::two_phase::{Draw, Figure, Term, Totals, TwoPhase};
use crate::suite::Suite;
use crate::trial::{Outcome, Trial};
use labelled_pairs::{TrialPairs, candidates_by_score, draws, first_phase, recorded_candidates};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of dependent wrong answers whose combinations are enumerated.
const MOST_TOGETHER: usize = 12;

#[derive(Clone, Debug, PartialEq)]
pub struct CorrectedTool {
    /// Index of the tool in the scorecard.
    pub tool: usize,
    pub findings: usize,
    /// Required goldens of trials with a label.
    pub goldens: usize,
    pub precision: CorrectedMetric,
    pub recall: CorrectedMetric,
    pub f1: CorrectedMetric,
}

/// A figure as the judge has it, and as it would be without errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CorrectedMetric {
    /// As the judge has it; none where it is undefined.
    pub raw: Option<f64>,
    /// By the judge's sensitivity and specificity.
    pub rogan_gladen: Result<CorrectedEstimate, CorrectionError>,
    /// By what labels add to what the judge says of all.
    pub ppi: Result<CorrectedEstimate, CorrectionError>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelSampling {
    /// No label says with which probability it was picked, so all are taken to be as likely.
    Alike,
    /// Labels state a probability; those without one are left out.
    Stated { left_out: usize },
}

/// How these labels of pairs were picked. Those that state no probability cannot be weighed beside those that do.
pub fn label_sampling(labels: &[Judgement]) -> LabelSampling {
    let of_pairs = || labels.iter().filter_map(pair);
    let without = of_pairs().filter(|pair| pair.probability.is_none()).count();
    if without == of_pairs().count() { LabelSampling::Alike } else { LabelSampling::Stated { left_out: without } }
}

/// The inputs of a scorecard, and labels for some pairs. The scorecard must not include the labels.
#[derive(Clone, Copy)]
pub struct CorrectionInput<'a> {
    pub suite: &'a Suite,
    pub trials: &'a [Trial],
    pub judgements: &'a [Judgement],
    pub labels: &'a [Judgement],
    pub profile: &'a Profile,
    /// The field whose values are clusters of cases that are alike; without one every case is its own.
    pub cluster: Option<&'a str>,
    pub level: f64,
}

/// The figures of every tool that has labels.
pub fn correct_scores(scorecard: &Scorecard, labelled: CorrectionInput<'_>) -> Vec<CorrectedTool> {
    let alike = label_sampling(labelled.labels) == LabelSampling::Alike;
    let usable = |label: &&Judgement| pair(label).is_some_and(|pair| alike || pair.probability.is_some());
    let labels: Vec<&Judgement> = labelled.labels.iter().filter(usable).collect();
    if labels.is_empty() {
        return Vec::new();
    }
    let vocabulary = vocabulary(labelled.suite, labelled.profile);
    let judgements = JudgementsByTrial::new(labelled.judgements);
    let labels = JudgementsByTrial::new(labels);
    let CorrectionInput { suite, profile, trials, .. } = labelled;
    let cases = CaseContext { cases: &suite.cases, vocabulary: &vocabulary, profile }.prepare(trials);
    let context = Context { labelled, cases: &cases, judgements, labels };
    scorecard.tools.iter().enumerate().filter_map(|(place, tool)| context.correct_tool(place, tool)).collect()
}

fn pair(label: &Judgement) -> Option<&PairDecision> {
    match &label.decision {
        Decision::Pair(pair) => Some(pair),
        _ => None,
    }
}

type PairIndex = (usize, usize);

impl From<Counts> for Totals {
    fn from(counts: Counts) -> Self {
        Self { tp: counts.tp as f64, fp: counts.fp as f64, required: (counts.tp + counts.fn_) as f64 }
    }
}

struct Context<'a> {
    labelled: CorrectionInput<'a>,
    cases: &'a HashMap<&'a str, PreparedCase<'a>>,
    judgements: JudgementsByTrial<'a>,
    labels: JudgementsByTrial<'a>,
}

impl<'a> Context<'a> {
    fn correct_tool(&self, place: usize, tool: &'a ToolScore) -> Option<CorrectedTool> {
        if !self.labelled.labels.iter().any(|label| label.tool == tool.tool && pair(label).is_some()) {
            return None;
        }
        let trials = self.trial_pairs(tool);
        let (mut findings, mut goldens) = (BTreeSet::new(), BTreeSet::new());
        for (at, own) in trials.iter().enumerate() {
            for &(golden, finding) in own.drawn.iter().flat_map(|draw| &draw.pairs) {
                findings.insert((at, finding));
                goldens.extend(own.case.goldens[golden].is_required().then_some((at, golden)));
            }
        }
        if findings.is_empty() {
            return None;
        }
        let mut sample = first_phase(&trials);
        let usable = if matches!(self.labelled.profile.method, Method::Score | Method::Recorded) {
            sample.weigh();
            self.second_phase(&trials, &mut sample)
        } else {
            Err(CorrectionError::NOT_BY_PAIRS)
        };
        let metric = |figure: Figure| CorrectedMetric {
            raw: figure.value(sample.judged()),
            rogan_gladen: usable.and_then(|()| sample.rogan_gladen(figure, self.labelled.level)),
            ppi: usable.and_then(|()| sample.ppi(figure, self.labelled.level)),
        };
        Some(CorrectedTool {
            tool: place,
            findings: findings.len(),
            goldens: goldens.len(),
            precision: metric(Figure::Precision),
            recall: metric(Figure::Recall),
            f1: metric(Figure::F1),
        })
    }

    fn trial_pairs(&self, tool: &'a ToolScore) -> Vec<TrialPairs<'a>> {
        let CorrectionInput { suite, cluster, .. } = self.labelled;
        let names = cluster.map_or_else(
            || (0..suite.cases.len()).collect(),
            |field| clusters::numbers(suite.cases.iter().map(|case| case.field(field))),
        );
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        let counted = tool.cases.iter().flat_map(|score| score.counted().map(move |trial| (score.case, trial)));
        let numbered: Vec<(usize, usize, &TrialScore)> = counted
            .map(|(case, trial)| {
                let next = numbers.len();
                (*numbers.entry(names[case]).or_insert(next), case, trial)
            })
            .collect();
        numbered.into_par_iter().map(|(cluster, case, score)| self.pairs_of(cluster, case, score)).collect()
    }

    fn pairs_of(&self, cluster: usize, index: usize, score: &'a TrialScore) -> TrialPairs<'a> {
        let CorrectionInput { suite, trials, profile, .. } = self.labelled;
        let case = &suite.cases[index];
        let trial = score.line.filter(|_| score.outcome == Outcome::Reported).map(|line| &trials[line]);
        let (mut matches, mut others, mut drawn) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        if let Some(trial) = trial {
            let decisions = self.judgements.decisions(case, trial);
            (matches, others) = if profile.method == Method::Score {
                candidates_by_score(&self.cases[case.id.as_str()], trial, &decisions)
            } else {
                recorded_candidates(case, trial, &decisions)
            };
            drawn = draws(case, trial, self.labels.about(trial), &matches, &others);
        }
        TrialPairs { cluster, index, case, score, trial, matches, others, drawn }
    }

    fn second_phase(&self, trials: &[TrialPairs<'a>], sample: &mut TwoPhase) -> Result<(), CorrectionError> {
        let mut starts = Vec::with_capacity(trials.len());
        let mut next = 0;
        for own in trials {
            starts.push(next);
            next += own.drawn.len();
        }
        let is_single = trials.iter().all(TrialPairs::is_single) && sample.draws.iter().all(|draw| draw.is_counted);
        let of_trial = |(own, start): (&TrialPairs<'a>, &usize)| {
            self.changes(own, &sample.draws[*start..*start + own.drawn.len()], is_single)
        };
        let changes: Vec<Changes> = trials.par_iter().zip(&starts).map(of_trial).collect::<Result<_, _>>()?;
        sample.is_single = is_single;
        for ((changes, own), start) in changes.into_iter().zip(trials).zip(starts) {
            for (draw, change) in sample.draws[start..].iter_mut().zip(changes.by_draw) {
                draw.change = change;
            }
            sample.terms.extend(changes.terms);
            let extremes = &mut sample.clusters[own.cluster].extremes;
            *extremes = [extremes[0].plus(changes.extremes[0], 1.0), extremes[1].plus(changes.extremes[1], 1.0)];
        }
        Ok(())
    }

    fn changes(&self, own: &TrialPairs<'a>, draws: &[Draw], is_single: bool) -> Result<Changes, CorrectionError> {
        let base = Totals::from(own.score.counts);
        let Some(trial) = own.trial.filter(|_| !own.drawn.is_empty() || is_single) else {
            return Ok(Changes { extremes: [base; 2], ..Changes::default() });
        };
        let prepared = &self.cases[own.case.id.as_str()];
        let mut decisions = self.judgements.decisions(own.case, trial);
        let judge = JudgeName::new("human");
        // The counts with some answers of the judge flipped.
        let mut totals = |flipped: &[(PairIndex, bool)]| {
            decisions.with_assumed(flipped.iter().copied(), &judge, |decisions| {
                let line = own.score.line.unwrap_or_default();
                Totals::from(TrialScore::new(prepared, trial, line, decisions, VerdictRules::default()).counts)
            })
        };
        let turned = |chosen: &[usize]| -> Vec<(PairIndex, bool)> {
            let pairs = chosen.iter().flat_map(|draw| &own.drawn[*draw].pairs);
            pairs.map(|place| (*place, !own.matches.contains(place))).collect()
        };
        let by_draw = (0..draws.len()).map(|draw| totals(&turned(&[draw])).plus(base, -1.0)).collect();
        let (sure, open): (Vec<usize>, Vec<usize>) =
            (0..draws.len()).filter(|draw| draws[*draw].wrong).partition(|draw| draws[*draw].weight <= 1.0);
        let mut terms = Vec::new();
        let mut add = |times: f64, scaled: [usize; 2], change: Totals| {
            if change != Totals::default() {
                terms.push(Term { cluster: own.cluster, times, scaled, change });
            }
        };
        let corrected = if sure.is_empty() { base } else { totals(&turned(&sure)) };
        add(1.0, [0; 2], corrected.plus(base, -1.0));
        for group in own.groups(&open) {
            if group.len() > MOST_TOGETHER {
                return Err(CorrectionError::TOO_MANY_TOGETHER);
            }
            let chosen = |set: usize| (0..group.len()).filter(move |bit| set >> bit & 1 == 1).map(|bit| group[bit]);
            let of_set = |set: usize| {
                if set == 0 {
                    return corrected;
                }
                totals(&turned(&sure.iter().copied().chain(chosen(set)).collect::<Vec<_>>()))
            };
            let mut sums: Vec<Totals> = (0..1 << group.len()).map(of_set).collect();
            // Subtracting from every set what its subsets change leaves what it changes beyond them.
            for bit in 0..group.len() {
                for set in (0..sums.len()).filter(|set| set >> bit & 1 == 1) {
                    sums[set] = sums[set].plus(sums[set ^ 1 << bit], -1.0);
                }
            }
            for (set, change) in sums.into_iter().enumerate().skip(1) {
                let times = chosen(set).map(|draw| draws[draw].weight).product();
                let as_others = chosen(set).filter(|draw| draws[*draw].matches == 0 && draws[*draw].is_counted).count();
                add(times, [chosen(set).count() - as_others, as_others], change);
            }
        }
        let all = |matched: bool| -> Vec<(PairIndex, bool)> {
            own.matches.iter().chain(&own.others).map(|place| (*place, matched)).collect()
        };
        let extremes = if is_single { [totals(&all(false)), totals(&all(true))] } else { [base; 2] };
        Ok(Changes { by_draw, terms, extremes })
    }
}

#[derive(Default)]
struct Changes {
    by_draw: Vec<Totals>,
    terms: Vec<Term>,
    /// The counts were no candidate a match, and were all of them.
    extremes: [Totals; 2],
}

#[cfg(test)]
mod tests;
