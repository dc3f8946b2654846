//! Ranks pairs for labelling by how much a label would narrow the interval of the headline figure.
//!
//! The figure is the mean over tools of the metric that ranks them. A judge says of every pair how likely it is a match, `p`,
//! and `g` is how far the figure moves between a world where it is one and a world where it is not. Taken as independent, the
//! pairs add Σ g²·p·(1 − p) to the variance of the figure, and a label takes its summand away.

use super::aggregate::trial_value;
use super::scorer::{PlannedTool, TrialLines};
use super::trial::VerdictRules;
use super::{JudgementsByTrial, Scorecard, TrialPlan, TrialScore, lines_by_case, vocabulary};
use crate::ids::JudgeName;
use crate::judgement::Judgement;
use crate::matching::decisions::{Decisions, SettledPair};
use crate::matching::pair::PreparedCase;
use crate::metric::counts::Counts;
use crate::metric::table::find;
use crate::profile::Profile;
use crate::stats::distribution::two_sided;
use crate::stats::summary::mean;
use crate::suite::{Case, Suite};
use crate::trial::Trial;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// A golden and a finding of one trial, by index. The same pair in several trials is one item.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairInstance {
    pub item: usize,
    pub trial: usize,
    pub golden: usize,
    pub finding: usize,
    pub probability: f64,
}

#[derive(Clone, Copy)]
pub struct PriorityInput<'a> {
    pub suite: &'a Suite,
    pub trials: &'a [Trial],
    pub judgements: &'a [Judgement],
    pub profile: &'a Profile,
    /// From which probability on the judge says that a pair is a match.
    pub threshold: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Uncertainty {
    /// How likely the judge thinks a match is, on average over its trials.
    pub probability: f64,
    /// How far the figure moves when the decision flips, in all its trials at once.
    pub swing: f64,
}

impl Uncertainty {
    /// What it adds to the variance of the figure while unlabelled.
    pub fn variance(self) -> f64 {
        self.variance_at(self.probability)
    }

    fn variance_at(self, probability: f64) -> f64 {
        self.swing * self.swing * probability * (1.0 - probability)
    }
}

/// The metric that the figure is the mean of: the one that ranks tools, where it is made of counts, else F1.
pub fn figure_metric(profile: &Profile) -> &str {
    let shown = &profile.headline;
    let ranks = shown.iter().find(|id| *id == "f1").or(shown.first()).map_or("f1", String::as_str);
    if Counts::default().value(ranks, 1.0).is_some() { ranks } else { "f1" }
}

/// Trials are scored again with each decision forced either way, so a repeat of a golden that is found anyway has a swing of 0.
pub fn uncertainties(input: PriorityInput<'_>, instances: &[PairInstance], items: usize) -> Vec<Uncertainty> {
    let mut chances: Vec<Vec<f64>> = vec![Vec::new(); items];
    let mut by_trial: HashMap<usize, Vec<PairInstance>> = HashMap::new();
    for instance in instances.iter().filter(|instance| instance.item < items) {
        chances[instance.item].push(instance.probability);
        by_trial.entry(instance.trial).or_default().push(*instance);
    }
    let tools = values(input, &by_trial);
    let figures = tools.iter().filter(|cases| cases.iter().any(|case| case.value.is_some())).count().max(1);
    let mut swings: Vec<Vec<f64>> = vec![Vec::new(); items];
    for cases in &tools {
        let sum: f64 = cases.iter().filter_map(|case| case.value).sum();
        let n = cases.iter().filter(|case| case.value.is_some()).count();
        for case in cases {
            // The tool's figure, were the value of this case another one.
            let figure = |value: Option<f64>| {
                let others = (sum - case.value.unwrap_or(0.0), n - usize::from(case.value.is_some()));
                let count = others.1 + usize::from(value.is_some());
                if count > 0 { (others.0 + value.unwrap_or(0.0)) / count as f64 } else { 0.0 }
            };
            for (item, [no, yes]) in &case.forced {
                swings[*item].push(if no == yes { 0.0 } else { figure(*yes) - figure(*no) });
            }
        }
    }
    let uncertainty = |(mut chances, mut swings): (Vec<f64>, Vec<f64>)| Uncertainty {
        probability: if chances.is_empty() { 0.0 } else { total(&mut chances) / chances.len() as f64 },
        swing: total(&mut swings) / figures as f64,
    };
    chances.into_iter().zip(swings).map(uncertainty).collect()
}

/// The sum, in an order that does not depend on that of the trials.
fn total(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.iter().sum()
}

/// What a trial or a case adds to the figure of its tool, and what it would add.
struct Standing {
    /// As things stand; none where the metric is undefined.
    value: Option<f64>,
    /// By item: were it no match, and were it one.
    forced: BTreeMap<usize, [Option<f64>; 2]>,
}

fn values(input: PriorityInput<'_>, instances: &HashMap<usize, Vec<PairInstance>>) -> Vec<Vec<Standing>> {
    let suite = input.suite;
    let plan = TrialPlan::of_trials(suite, input.trials);
    let lines = lines_by_case(&suite.cases, input.trials);
    let judged = JudgementsByTrial::new(input.judgements);
    let (vocabulary, judge) = (vocabulary(suite, input.profile), JudgeName::new(crate::local_judge::NAME));
    let of_case = |(case, own): (&Case, &Vec<usize>)| -> Vec<Standing> {
        let prepared = PreparedCase::new(case, &vocabulary, input.profile);
        let lines = TrialLines::new(input.trials, own);
        let of_tool = |planned: &PlannedTool| {
            let trials = planned.numbers.iter().map(|&number| match lines.find(&planned.tool, number) {
                None => {
                    let score = TrialScore::skipped(case, number, input.profile, VerdictRules::default());
                    Standing { value: metric_value(&score, &prepared), forced: BTreeMap::new() }
                }
                Some(line) => {
                    let trial = &input.trials[line];
                    let scored = |decisions: &Decisions<'_>| {
                        let score = TrialScore::new(&prepared, trial, line, decisions, VerdictRules::default());
                        metric_value(&score, &prepared)
                    };
                    let own = instances.get(&line).map_or(&[][..], Vec::as_slice);
                    Standing::of_trial(input, own, judged.decisions(case, trial), &judge, &scored)
                }
            });
            Standing::of_case(&trials.collect::<Vec<_>>())
        };
        plan.tools.iter().map(of_tool).collect()
    };
    let by_case: Vec<Vec<Standing>> = suite.cases.par_iter().zip(&lines).map(of_case).collect();
    let mut by_tool: Vec<Vec<Standing>> = plan.tools.iter().map(|_| Vec::with_capacity(by_case.len())).collect();
    for row in by_case {
        by_tool.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }
    by_tool
}

fn metric_value(score: &TrialScore, prepared: &PreparedCase<'_>) -> Option<f64> {
    let metric = find(figure_metric(prepared.profile)).filter(|_| score.counted)?;
    trial_value(metric, prepared.case, score, prepared.profile).ok()
}

impl Standing {
    fn of_case(trials: &[Self]) -> Self {
        let mean = |value: &dyn Fn(&Self) -> Option<f64>| mean(&trials.iter().filter_map(value).collect::<Vec<_>>());
        let forced = trials.iter().flat_map(|trial| trial.forced.keys().copied()).map(|item| {
            let at = |which: usize| mean(&|trial| trial.forced.get(&item).map_or(trial.value, |forced| forced[which]));
            (item, [at(0), at(1)])
        });
        Self { value: mean(&|trial| trial.value), forced: forced.collect() }
    }

    fn of_trial<'a>(
        input: PriorityInput<'_>,
        instances: &[PairInstance],
        mut decisions: Decisions<'a>,
        judge: &'a JudgeName,
        scored: &dyn Fn(&Decisions<'_>) -> Option<f64>,
    ) -> Self {
        if input.profile.uses_judge() {
            for instance in instances {
                let (place, p) = ((instance.golden, instance.finding), instance.probability);
                if decisions.pair(place.0, place.1).is_none() && !decisions.unjudged.contains(&place) {
                    let matched = p >= input.threshold;
                    let sure = if matched { p } else { 1.0 - p };
                    let assumed = SettledPair::assumed(matched, judge);
                    decisions.pairs.insert(place, SettledPair { confidence: Some(sure), ..assumed });
                }
            }
        }
        let mut places: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for instance in instances {
            places.entry(instance.item).or_default().push((instance.golden, instance.finding));
        }
        let forced = places.into_iter().map(|(item, places)| {
            let mut at = |matched: bool| {
                let all = places.iter().map(|place| (*place, matched));
                decisions.with_assumed(all, judge, |decisions| scored(decisions))
            };
            (item, [at(false), at(true)])
        });
        Self { forced: forced.collect(), value: scored(&decisions) }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelVotes {
    pub yes: usize,
    pub all: usize,
}

/// How far labels have narrowed the interval of the figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Narrowing {
    pub before: f64,
    pub now: f64,
    /// Half the width that the choice of cases alone makes, which no label can narrow; none where it is not known.
    pub cases: Option<f64>,
    pub labelled: usize,
    /// In how many of them the judge says something else.
    pub wrong: usize,
    /// In how many it should, by its own probabilities.
    pub expected: f64,
    /// Whether it is wrong more often than chance allows, so that the half-widths are too small.
    pub overconfident: bool,
}

/// Sums the uncertainty of all items before and after labelling. Where people disagree, the share of yes votes
/// is the probability. `cases` is half the width of the interval that a report gives the figure.
pub fn narrowing(
    uncertainties: &[Uncertainty],
    votes: &[LabelVotes],
    cases: Option<f64>,
    threshold: f64,
    level: f64,
) -> Narrowing {
    let z = two_sided(level);
    let of_cases = cases.map_or(0.0, |half| (half / z).powi(2));
    let (mut before, mut now) = (of_cases, of_cases);
    let (mut labelled, mut wrong, mut expected, mut spread) = (0, 0, 0.0, 0.0);
    for (uncertainty, votes) in uncertainties.iter().zip(votes) {
        let p = uncertainty.probability;
        before += uncertainty.variance();
        if votes.all == 0 {
            now += uncertainty.variance();
            continue;
        }
        now += uncertainty.variance_at(votes.yes as f64 / votes.all as f64);
        if 2 * votes.yes != votes.all {
            let (judge, people) = (p >= threshold, 2 * votes.yes > votes.all);
            labelled += 1;
            wrong += usize::from(judge != people);
            expected += if judge { 1.0 - p } else { p };
            spread += p * (1.0 - p);
        }
    }
    // One-sided: a judge that is better than it claims does no harm.
    let overconfident = wrong as f64 > expected + two_sided(0.9) * spread.sqrt() + 0.5;
    Narrowing { before: z * before.sqrt(), now: z * now.sqrt(), cases, labelled, wrong, expected, overconfident }
}

/// Half the width of the figure's interval by the choice of cases: the mean over tools, which usually share their cases.
pub fn case_half_width(scorecard: &Scorecard, profile: &Profile) -> Option<f64> {
    let id = figure_metric(profile);
    let half = |[low, high]: [f64; 2]| (high - low) / 2.0;
    let of_tool = |metrics: &super::Metrics| metrics.iter().find(|(own, _)| *own == id)?.1.ci.map(half);
    mean(&scorecard.tools.iter().filter_map(|tool| of_tool(&tool.metrics)).collect::<Vec<_>>())
}

/// By index of the trial: how much one unlabelled extra widens the bounds of mean precision; 0 on clean cases, which have none.
pub fn extra_bound_widths(scorecard: &Scorecard, suite: &Suite, trials: usize) -> Vec<f64> {
    let mut widths = vec![0.0; trials];
    for tool in &scorecard.tools {
        let has_precision =
            |case: &&super::CaseScore| !suite.cases[case.case].is_clean() && case.counted().next().is_some();
        let cases = tool.cases.iter().filter(has_precision).count();
        for case in tool.cases.iter().filter(has_precision) {
            let sharers = (scorecard.tools.len() * cases * case.counted().count()) as f64;
            for trial in case.counted() {
                let countable = trial.countable_findings().max(1) as f64;
                if let Some(width) = trial.line.and_then(|line| widths.get_mut(line)) {
                    *width = 1.0 / (sharers * countable);
                }
            }
        }
    }
    widths
}
