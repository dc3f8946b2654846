//! Scores trials and judgements of a suite into all metrics of every tool.

#![expect(missing_docs, reason = "names of fields and variants say it")]

mod aggregate;
mod corrected;
mod intervals;
mod judge_effect;
mod judge_rounds;
pub mod label_priority;
mod scorer;
mod slice;
mod tiers;
mod trial;
mod twins;
mod warnings;

pub use corrected::{CorrectedMetric, CorrectedTool, CorrectionInput, LabelSampling, correct_scores, label_sampling};
pub use intervals::{Intervals, Proportions};
pub use judge_effect::{
    PairSelection, SelectedPair, is_unsure, select_pairs, select_pairs_in, with_unsure_decided, without_judges,
};
pub use judge_rounds::{
    JudgeRounds, PairOrder, PairQuestion, mark_unjudged, mark_unjudged_in, run_judge_rounds, run_judge_rounds_in,
};
pub use scorer::{CaseInput, ScoredCase, ScoredVariant, Scorer, StatedByTrial, TrialHead, TrialPlan};
pub use slice::{Slice, Slices};
pub use trial::{AuditSummary, TrialScore};
pub use twins::TWIN_METRICS;

use crate::golden::Golden;
use crate::ids::{CaseId, GoldenId, ToolName};
use crate::judgement::Judgement;
use crate::matching::decisions::Decisions;
use crate::matching::outcome::Candidate;
use crate::matching::pair::{PreparedCase, compares_prose_of, prose};
use crate::matching::text::Vocabulary;
use crate::matching::trial::best_candidates;
use crate::metric::calibration::Bin;
use crate::metric::composite::{self, SuiParts};
use crate::metric::counts::{Confusion, Counts};
use crate::metric::estimate::Estimate;
use crate::metric::findings_quality::AuditedFindings;
use crate::metric::levels::{Confidences, Levels};
use crate::metric::sums::CaseSums;
use crate::metric::sweep::Sweep;
use crate::metric::table::{Direction, Source, from_source};
use crate::metric::{Undefined, Value};
use crate::profile::{Method, Profile};
use crate::stats::summary::mean;
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use crate::wording::plural;
use rayon::prelude::*;
use schemars::JsonSchema;
use scorer::{ScoredTool, ToolContext};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};
use warnings::{differing_findings, warn_of_trials};

/// Metrics by id, in the order of the table.
pub type Metrics = Vec<(&'static str, Estimate)>;

/// The result of scoring: one entry for each tool, in the order in which tools first appear.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard {
    pub tools: Vec<ToolScore>,
    pub warnings: Vec<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolScore {
    pub tool: ToolName,
    pub trials: usize,
    /// Trials that reported, and said that they could not do all of their work.
    pub incomplete: usize,
    pub outcomes: BTreeMap<Outcome, usize>,
    pub pass: bool,
    pub counts: Counts,
    /// What one-to-one assignment would make of recorded matches; only where those are taken as they stand.
    pub one_to_one: Option<Counts>,
    pub verdicts: Confusion,
    /// Trials whose verdict follows from their findings.
    pub verdicts_derived: usize,
    /// Where any finding was audited, how many.
    pub audited_findings: Option<AuditedFindings>,
    pub metrics: Metrics,
    pub micro: Metrics,
    pub by: Slices,
    pub macro_by: BTreeMap<String, Metrics>,
    pub flaky: Vec<FlakyGolden>,
    pub lucky: Vec<LuckyGuess>,
    pub reliability: Vec<Bin>,
    /// What thresholds on its findings would leave, by confidence and by severity, where findings state them.
    pub sweeps: Vec<Sweep>,
    /// Every case of the suite, in its order.
    pub cases: Vec<CaseScore>,
}

/// A golden found in some trials and not in others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "FlakyV1")]
pub struct FlakyGolden {
    /// Its case.
    #[schemars(with = "String")]
    pub case: CaseId,
    /// The golden.
    #[schemars(with = "String")]
    pub golden: GoldenId,
    /// In how many trials it was found.
    pub found: usize,
    /// Of how many.
    pub trials: usize,
}

/// A trial that called a vulnerable case so, and did not find its target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "LuckyV1")]
pub struct LuckyGuess {
    /// The case.
    #[schemars(with = "String")]
    pub case: CaseId,
    /// The number of the trial.
    pub trial: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub struct CaseScore {
    /// Index of the case in the suite.
    pub case: usize,
    /// Whether every trial passed: no miss, and no extra unless extras are allowed.
    pub pass: bool,
    pub values: Vec<(&'static str, Value)>,
    pub sums: CaseSums,
    pub levels: Levels,
    pub trials: Vec<TrialScore>,
    /// The same of each trial that counts, where several were planned.
    pub(crate) by_trial: Box<[TrialFigures]>,
}

/// What one trial of a case adds to the metrics that are not means of cases, and its values that look at another case.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TrialFigures {
    number: u32,
    sums: CaseSums,
    levels: Levels,
    twins: [Option<f64>; TWIN_METRICS.len()],
}

/// Scores every tool that has trials. Pure: the same values in give the same values out, whatever the number of threads.
pub fn score(suite: &Suite, trials: &[Trial], judgements: &[Judgement], profile: &Profile) -> Scorecard {
    let plan = TrialPlan::of_trials(suite, trials);
    let unknown = judgements.iter().filter(|judgement| !plan.covers(judgement)).count();
    let mut scorer = Scorer::new(suite, profile, &plan, unknown);
    let judged = JudgementsByTrial::new(judgements);
    let lines = lines_by_case(&suite.cases, trials);
    let score =
        |(case, own): (usize, &Vec<usize>)| scorer.score_case(CaseInput { case, trials, own, judgements: &judged });
    let scored: Vec<ScoredCase> = lines.par_iter().enumerate().map(score).collect();
    scored.into_iter().for_each(|case| scorer.add(case));
    scorer.finish()
}

/// The indices of the trials of every case, in the order of the cases.
pub fn lines_by_case(cases: &[Case], trials: &[Trial]) -> Vec<Vec<usize>> {
    let numbers: HashMap<&CaseId, usize> = cases.iter().map(|case| &case.id).zip(0..).collect();
    let mut lines = vec![Vec::new(); cases.len()];
    for (line, trial) in trials.iter().enumerate() {
        if let Some(case) = numbers.get(&trial.case) {
            lines[*case].push(line);
        }
    }
    lines
}

fn rank_stability(tools: &mut [ToolScore], profile: &Profile) {
    const ID: &str = "sui_rank_stability";
    let parts = |tool: &ToolScore| {
        let counts = tool.cases.iter().any(|case| case.counted().next().is_some());
        counts.then(|| tiers::total_sums(&tool.cases).sui_parts(profile).ok()).flatten()
    };
    let parts: Vec<Option<SuiParts>> = tools.iter().map(parts).collect();
    let there: Vec<SuiParts> = parts.iter().flatten().copied().collect();
    let mut shares = composite::rank_stability(&there, profile).into_iter();
    for (tool, parts) in tools.iter_mut().zip(parts) {
        let share = parts.and_then(|_| shares.next()).unwrap_or(Err(Undefined("no audit")));
        tool.metrics.push((ID, Estimate::new(share, there.len(), Direction::Up)));
    }
}

/// Fix-through has no value before a fixer was run.
fn add_fix_through(tool: &mut ToolScore) {
    let unknown = from_source(Source::Fixes)
        .map(|metric| (metric.id, Estimate::new(Err(Undefined(metric.undefined_when)), 0, metric.direction)));
    tool.metrics.extend(unknown);
    tool.metrics = aggregate::in_order(std::mem::take(&mut tool.metrics));
}

pub(crate) fn vocabulary(suite: &Suite, profile: &Profile) -> Vocabulary {
    let goldens = || suite.cases.iter().flat_map(|c| &c.goldens);
    if profile.method != Method::Score || !goldens().any(|golden| compares_prose_of(golden, profile)) {
        return Vocabulary::default();
    }
    let goldens: Vec<&Golden> = goldens().collect();
    Vocabulary::learn(&goldens, |golden| prose(golden))
}

/// Some cases of a suite, the words of all of its goldens, and the rules: what trials of these cases are compared with.
#[derive(Clone, Copy)]
pub struct CaseContext<'a> {
    cases: &'a [Case],
    vocabulary: &'a Vocabulary,
    profile: &'a Profile,
}

impl<'a> CaseContext<'a> {
    pub fn cases(self) -> &'a [Case] {
        self.cases
    }

    /// The cases of these trials by id, each prepared once for all trials and rounds.
    fn prepare(self, trials: &[Trial]) -> HashMap<&'a str, PreparedCase<'a>> {
        let tried: HashSet<&str> = trials.iter().map(|trial| trial.case.as_str()).collect();
        let cases = self.cases.par_iter().filter(|case| tried.contains(case.id.as_str()));
        cases.map(|case| (case.id.as_str(), PreparedCase::new(case, self.vocabulary, self.profile))).collect()
    }
}

/// The best candidates of every golden of a case in one trial, best first; none where the profile compares no scores.
pub fn candidates(
    suite: &Suite,
    case: &Case,
    trial: &Trial,
    judgements: &[Judgement],
    profile: &Profile,
    most: usize,
) -> Vec<Vec<Candidate>> {
    if profile.method != Method::Score {
        return Vec::new();
    }
    let vocabulary = vocabulary(suite, profile);
    let prepared = PreparedCase::new(case, &vocabulary, profile);
    best_candidates(&prepared, trial, &JudgementsByTrial::new(judgements).decisions(case, trial), most)
}

/// A judgement with its index among those given.
type Numbered<'a> = (usize, &'a Judgement);

/// Judgements by the trial they are about.
pub struct JudgementsByTrial<'a>(HashMap<(&'a str, &'a str, u32), Vec<Numbered<'a>>>);

impl<'a> JudgementsByTrial<'a> {
    pub fn new(judgements: impl IntoIterator<Item = &'a Judgement>) -> Self {
        let mut by_trial: HashMap<_, Vec<Numbered<'a>>> = HashMap::new();
        for (index, judgement) in judgements.into_iter().enumerate() {
            let key = (judgement.case.as_str(), judgement.tool.as_str(), judgement.trial);
            by_trial.entry(key).or_default().push((index, judgement));
        }
        Self(by_trial)
    }

    fn about<'s>(&'s self, trial: &'s Trial) -> &'s [Numbered<'a>] {
        self.0.get(&(trial.case.as_str(), trial.tool.as_str(), trial.number)).map_or(&[], Vec::as_slice)
    }

    fn decisions(&self, case: &Case, trial: &Trial) -> Decisions<'a> {
        Decisions::settle(self.about(trial), &case.goldens, &trial.findings)
    }
}

impl CaseScore {
    fn new(
        index: usize,
        case: &Case,
        scores: Vec<TrialScore>,
        trials: &[Trial],
        profile: &Profile,
        confidences: &Confidences,
    ) -> Self {
        let sums = |scores: &[TrialScore]| {
            CaseSums::new(&tiers::sums(case, scores, trials, profile), profile.calibration.bins)
        };
        let of_trial = |score: &TrialScore| TrialFigures {
            number: score.number,
            sums: sums(std::slice::from_ref(score)),
            levels: tiers::levels(std::slice::from_ref(score), trials, profile, confidences),
            ..TrialFigures::default()
        };
        Self {
            by_trial: if scores.len() > 1 {
                scores.iter().filter(|score| score.counted).map(of_trial).collect()
            } else {
                Box::default()
            },
            case: index,
            pass: passes(scores.iter().filter(|trial| trial.outcome != Outcome::Unavailable).map(|trial| trial.pass)),
            values: aggregate::case_values(case, &scores, profile),
            sums: sums(&scores),
            levels: tiers::levels(&scores, trials, profile, confidences),
            trials: scores,
        }
    }

    /// Whether all of its trials met an outage, so that nothing is known of the case.
    pub fn is_unavailable(&self) -> bool {
        self.trials.iter().all(|trial| trial.outcome == Outcome::Unavailable)
    }

    fn value(&self, id: &str) -> Option<Value> {
        self.values.iter().find(|(own, _)| *own == id).map(|(_, value)| *value)
    }

    /// The trials that enter the metrics.
    pub fn counted(&self) -> impl Iterator<Item = &TrialScore> {
        self.trials.iter().filter(|t| t.counted)
    }
}

/// Whether all of them pass; none at all do not.
fn passes(all: impl Iterator<Item = bool>) -> bool {
    let mut all = all.peekable();
    all.peek().is_some() && all.all(|pass| pass)
}

/// Why a tool has no value of any metric.
const NO_REPORT: Undefined = Undefined("no trial came to a report");

fn without_values(metrics: &mut Metrics) {
    for (_, estimate) in metrics {
        *estimate = Estimate::new(Err(NO_REPORT), 0, estimate.direction);
    }
}

impl ToolScore {
    fn new(tool: &ToolName, scored: ScoredTool, context: ToolContext<'_>, warnings: &mut Vec<String>) -> Self {
        let ToolContext { suite, plan, profile, twins } = context;
        let ScoredTool { mut cases, by_style, labels } = scored;
        for (case, trials) in twins.values(&cases, profile) {
            for (at, id) in TWIN_METRICS.into_iter().enumerate() {
                let value = mean(&trials.iter().map(|(_, values)| values[at]).collect::<Vec<_>>());
                cases[case].values.extend(value.map(|value| (id, Ok(value))));
            }
            for (number, values) in trials {
                let own = cases[case].by_trial.iter_mut().filter(|own| own.number == number);
                own.for_each(|own| own.twins = values.map(Some));
            }
        }
        let all: Vec<&CaseScore> = cases.iter().collect();
        let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
        let mut counts = Counts::default();
        let mut one_to_one = (profile.method == Method::Recorded).then(Counts::default);
        for trial in cases.iter().flat_map(|case| &case.trials) {
            *outcomes.entry(trial.outcome).or_default() += 1;
            if trial.counted {
                counts += trial.counts;
                if let (Some(sum), Some(own)) = (&mut one_to_one, &trial.one_to_one) {
                    *sum += **own;
                }
            }
        }
        warn_of_trials(tool, &cases, &outcomes, warnings);
        warnings.extend(differing_findings(tool, &cases));
        let notes = plan.notes(tool);
        let incomplete = notes.map_or(0, |notes| notes.incomplete);
        if incomplete > 0 {
            let trials = plural(incomplete, "trial is", "trials are");
            warnings.push(format!("{tool}: {trials} incomplete, according to the tool"));
        }
        warnings.extend(notes.into_iter().flat_map(|notes| notes.warnings(tool)));
        let whole = || {
            (aggregate::metrics(&all, suite, profile), tiers::of_findings(&all, profile), flaky(&cases, suite, profile))
        };
        let parts = || slice::slices(&all, &by_style, labels, suite, profile, warnings);
        let ((mut metrics, (of_findings, sweeps), flaky), (by, macro_by)) = rayon::join(whole, parts);
        metrics.extend(of_findings);
        aggregate::add_spread_over_trials(&mut metrics, &cases.iter().collect::<Vec<_>>(), suite, profile);
        let mut micro = aggregate::micro(counts, profile);
        if cases.iter().all(|case| case.counted().next().is_none()) {
            // Conventions of a profile, such as 0 for an undefined precision, are about tools that reported something.
            without_values(&mut metrics);
            without_values(&mut micro);
        }
        let sums = tiers::total_sums(&cases);
        Self {
            trials: outcomes.values().sum(),
            incomplete,
            pass: passes(cases.iter().filter(|case| !case.is_unavailable()).map(|case| case.pass)),
            counts,
            one_to_one,
            verdicts: sums.verdicts,
            audited_findings: (sums.audits > 0.0).then(|| sums.classes.audited()),
            verdicts_derived: cases.iter().flat_map(CaseScore::counted).filter(|trial| trial.verdict_derived).count(),
            metrics: aggregate::in_order(metrics),
            micro,
            by,
            macro_by,
            flaky,
            lucky: lucky(&cases, suite),
            reliability: sums.verdict_confidence.diagram(),
            sweeps,
            tool: tool.clone(),
            outcomes,
            cases,
        }
    }
}

fn lucky(cases: &[CaseScore], suite: &Suite) -> Vec<LuckyGuess> {
    let counted = cases.iter().flat_map(|score| score.counted().map(|trial| (&suite.cases[score.case], trial)));
    let lucky = counted.filter(|(_, trial)| trial.lucky_guess == Some(true));
    lucky.map(|(case, trial)| LuckyGuess { case: case.id.clone(), trial: trial.number }).collect()
}

fn flaky(cases: &[CaseScore], suite: &Suite, profile: &Profile) -> Vec<FlakyGolden> {
    let mut flaky = Vec::new();
    for score in cases {
        let case = &suite.cases[score.case];
        let judged = || score.counted().filter(|trial| !trial.unjudged.target);
        let trials = judged().count();
        for (golden, found) in aggregate::found_counts(case, profile, judged()) {
            if found > 0 && found < trials {
                let golden = case.goldens[golden].id.clone();
                flaky.push(FlakyGolden { case: case.id.clone(), golden, found, trials });
            }
        }
    }
    flaky
}
