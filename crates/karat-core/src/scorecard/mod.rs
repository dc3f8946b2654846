//! From a suite, trials and judgements to all metrics of every tool.

mod aggregate;
mod audited;
mod consult;
mod corrected;
pub mod doubt;
mod intervals;
mod slice;
mod tiers;
mod trial;

pub use audited::Audited;
pub use consult::{Answer, Consulted, Order, Question, consult, leave_unjudged};
pub use corrected::{CorrectedMetric, CorrectedTool, Labelled, Picked, corrected, picked};
pub use intervals::{Intervals, Proportions};
pub use slice::{Slice, Slices};
pub use trial::{TrialScore, stated_verdict};

use crate::golden::Golden;
use crate::identity::key::{self, Differing};
use crate::ids::{CaseId, GoldenId, ToolName};
use crate::judgement::Judgement;
use crate::matching::decisions::Decisions;
use crate::matching::outcome::Candidate;
use crate::matching::pair::{PreparedCase, compares_prose_of, prose};
use crate::matching::text::Vocabulary;
use crate::matching::trial::best_candidates;
use crate::metric::calibration::Bin;
use crate::metric::composite::{self, SuiParts};
use crate::metric::confusion::Confusion;
use crate::metric::counts::Counts;
use crate::metric::estimate::Estimate;
use crate::metric::levels::Levels;
use crate::metric::sums::Sums;
use crate::metric::sweep::Sweep;
use crate::metric::table::Direction;
use crate::metric::{Undefined, Value};
use crate::profile::{Method, Profile};
use crate::suite::{Case, Suite};
use crate::trial::{Outcome, Trial};
use crate::wording::plural;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tiers::Tiers;

/// Metrics by id, in the order of the table.
pub type Metrics = Vec<(&'static str, Estimate)>;

/// The result of scoring: one entry for each tool, in the order in which tools first appear.
#[derive(Clone, Debug, PartialEq)]
pub struct Scorecard {
    /// The tools.
    pub tools: Vec<ToolScore>,
    /// What a reader must know before believing a number.
    pub warnings: Vec<String>,
}

/// All metrics of one tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolScore {
    /// The tool.
    pub tool: ToolName,
    /// How many trials were planned: cases times repetitions.
    pub trials: usize,
    /// Trials that reported, and said that they could not do all of their work.
    pub incomplete: usize,
    /// How they ended.
    pub outcomes: BTreeMap<Outcome, usize>,
    /// Whether every case passed.
    pub pass: bool,
    /// Pooled counts.
    pub counts: Counts,
    /// What one-to-one assignment would make of recorded matches; only where those are taken as they stand.
    pub one_to_one: Option<Counts>,
    /// Verdicts about whole cases.
    pub verdicts: Confusion,
    /// Means over cases.
    pub metrics: Metrics,
    /// The same from pooled counts.
    pub micro: Metrics,
    /// Parts of the suite.
    pub by: Slices,
    /// The plain mean over the values of each slice.
    pub macro_by: BTreeMap<String, Metrics>,
    /// Goldens found in some trials and not in others.
    pub flaky: Vec<FlakyGolden>,
    /// Vulnerable cases that were called so without their target.
    pub lucky: Vec<LuckyGuess>,
    /// The points of the reliability diagram of its verdicts.
    pub reliability: Vec<Bin>,
    /// What thresholds on its findings would leave, by confidence and by severity, where findings state them.
    pub sweeps: Vec<Sweep>,
    /// Every case of the suite, in its order.
    pub cases: Vec<CaseScore>,
}

/// A golden found in some trials and not in others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlakyGolden {
    /// Its case.
    pub case: CaseId,
    /// The golden.
    pub golden: GoldenId,
    /// In how many trials it was found.
    pub found: usize,
    /// Of how many.
    pub trials: usize,
}

/// A trial that called a vulnerable case so, and did not find its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuckyGuess {
    /// The case.
    pub case: CaseId,
    /// The number of the trial.
    pub trial: u32,
}

/// One tool on one case.
#[derive(Clone, Debug, PartialEq)]
pub struct CaseScore {
    /// Index of the case in the suite.
    pub case: usize,
    /// Whether every trial passed: no miss, and no extra unless extras are allowed.
    pub pass: bool,
    /// Means over the trials that count.
    pub values: Vec<(&'static str, Value)>,
    /// What it adds to the metrics that are ratios of sums.
    pub sums: Sums,
    /// What it adds to the metrics that lay thresholds on confidence or severity.
    pub levels: Levels,
    /// The trials, by number.
    pub trials: Vec<TrialScore>,
}

/// Scores every tool that has trials. Pure: the same values in give the same values out, whatever the number of threads.
pub fn score(suite: &Suite, trials: &[Trial], judgements: &[Judgement], profile: &Profile) -> Scorecard {
    let case_index: HashMap<&str, usize> = suite.cases.iter().enumerate().map(|(i, c)| (c.id.as_str(), i)).collect();
    let mut warnings = Vec::new();
    let plan = Plan::new(trials, &case_index, suite.cases.len(), &mut warnings);
    let mut judged: HashMap<(usize, &str, u32), Vec<Numbered<'_>>> = HashMap::new();
    for (i, judgement) in judgements.iter().enumerate() {
        if let Some(&case) = case_index.get(judgement.case.as_str()) {
            judged.entry((case, judgement.tool.as_str(), judgement.trial)).or_default().push((i, judgement));
        }
    }
    let tools: HashMap<&ToolName, &PlannedTool<'_>> =
        plan.tools.iter().map(|planned| (planned.tool, planned)).collect();
    let given = |j: &&Judgement| {
        let (case, planned) = (case_index.get(j.case.as_str()), tools.get(&j.tool));
        case.zip(planned).is_some_and(|(case, planned)| planned.lines.contains_key(&(*case, j.trial)))
    };
    let unheard = judgements.len() - judgements.iter().filter(given).count();
    if unheard > 0 {
        warnings.push(format!("judgements about trials that were not given: {unheard}; left out"));
    }
    warnings.extend(differing_goldens(suite, profile));
    let vocabulary = vocabulary(suite, profile);
    let by_case: Vec<Vec<CaseScore>> = suite
        .cases
        .par_iter()
        .enumerate()
        .map(|(index, case)| {
            let prepared = PreparedCase::new(case, &vocabulary, profile);
            let of_tool = |planned: &PlannedTool<'_>| {
                let one = |&number: &u32| match planned.lines.get(&(index, number)) {
                    None => TrialScore::skipped(case, number, profile),
                    Some(&line) => {
                        let trial = &trials[line];
                        let heard = judged.get(&(index, trial.tool.as_str(), number)).map_or(&[][..], Vec::as_slice);
                        let decisions = Decisions::settle(heard, &case.goldens, &trial.findings);
                        TrialScore::new(&prepared, trial, line, &decisions, &vocabulary, profile)
                    }
                };
                let scores: Vec<TrialScore> = planned.numbers.iter().map(one).collect();
                CaseScore::new(index, case, scores, trials, profile)
            };
            plan.tools.iter().map(of_tool).collect()
        })
        .collect();

    let mut columns: Vec<Vec<CaseScore>> = plan.tools.iter().map(|_| Vec::with_capacity(suite.cases.len())).collect();
    for row in by_case {
        for (column, score) in columns.iter_mut().zip(row) {
            column.push(score);
        }
    }
    let mut tools: Vec<ToolScore> = plan
        .tools
        .iter()
        .zip(columns)
        .map(|(planned, cases)| ToolScore::new(planned.tool.clone(), cases, suite, trials, profile, &mut warnings))
        .collect();
    rank_stability(&mut tools, profile);
    Scorecard { tools, warnings }
}

/// How far each tool's rank by `sui` rests on the weights, which nobody has measured.
fn rank_stability(tools: &mut [ToolScore], profile: &Profile) {
    const ID: &str = "sui_rank_stability";
    let parts = |tool: &ToolScore| {
        let cases: Vec<&CaseScore> = tool.cases.iter().collect();
        Tiers { cases: &cases, profile }.sums().sui_parts(profile).ok()
    };
    let parts: Vec<Option<SuiParts>> = tools.iter().map(parts).collect();
    let there: Vec<SuiParts> = parts.iter().flatten().copied().collect();
    let n = there.len();
    let mut shares =
        composite::rank_stability(&there, &profile.sui, profile.audit_conventions.sui_fills_missing).into_iter();
    for (tool, parts) in tools.iter_mut().zip(parts) {
        let share = parts.and_then(|_| shares.next()).unwrap_or(Err(Undefined("no audit")));
        tool.metrics.push((ID, Estimate::new(share, n, Direction::Up)));
    }
}

pub(crate) fn vocabulary(suite: &Suite, profile: &Profile) -> Vocabulary {
    let goldens = || suite.cases.iter().flat_map(|c| &c.goldens);
    if profile.method != Method::Score || !goldens().any(|golden| compares_prose_of(golden, profile)) {
        return Vocabulary::default();
    }
    let goldens: Vec<&Golden> = goldens().collect();
    Vocabulary::learn(&goldens, |golden| prose(golden))
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
    let about = |j: &Judgement| j.case == trial.case && j.tool == trial.tool && j.trial == trial.number;
    let heard: Vec<Numbered<'_>> = judgements.iter().enumerate().filter(|(_, j)| about(j)).collect();
    let decisions = Decisions::settle(&heard, &case.goldens, &trial.findings);
    best_candidates(&prepared, trial, &decisions, &vocabulary, profile, most)
}

/// A judgement with its index among those given.
type Numbered<'a> = (usize, &'a Judgement);

/// What each tool was to run: every case as often as it ran any case.
struct Plan<'a> {
    tools: Vec<PlannedTool<'a>>,
}

struct PlannedTool<'a> {
    tool: &'a ToolName,
    numbers: BTreeSet<u32>,
    /// Line of the submission by case and trial number.
    lines: HashMap<(usize, u32), usize>,
}

impl<'a> Plan<'a> {
    fn new(trials: &'a [Trial], cases: &HashMap<&str, usize>, case_count: usize, warnings: &mut Vec<String>) -> Self {
        let mut tools: Vec<PlannedTool<'a>> = Vec::new();
        let mut index: HashMap<&str, usize> = HashMap::new();
        let mut strangers: BTreeMap<&str, usize> = BTreeMap::new();
        for (line, trial) in trials.iter().enumerate() {
            let Some(&case) = cases.get(trial.case.as_str()) else {
                *strangers.entry(trial.case.as_str()).or_default() += 1;
                continue;
            };
            let slot = *index.entry(trial.tool.as_str()).or_insert_with(|| {
                tools.push(PlannedTool { tool: &trial.tool, numbers: BTreeSet::new(), lines: HashMap::new() });
                tools.len() - 1
            });
            tools[slot].numbers.insert(trial.number);
            tools[slot].lines.insert((case, trial.number), line);
        }
        for (case, count) in strangers {
            let trials = plural(count, "trial is", "trials are");
            warnings.push(format!("{trials} about the case `{case}`, which the suite does not have; left out"));
        }
        for planned in &tools {
            let missing = case_count * planned.numbers.len() - planned.lines.len();
            if missing > 0 {
                warnings.push(format!(
                    "{}: {missing} of {} planned trials have no line in the submission and count as skipped",
                    planned.tool,
                    case_count * planned.numbers.len()
                ));
            }
        }
        Self { tools }
    }
}

impl CaseScore {
    fn new(index: usize, case: &Case, scores: Vec<TrialScore>, trials: &[Trial], profile: &Profile) -> Self {
        Self {
            case: index,
            pass: scores.iter().all(|t| t.pass),
            values: aggregate::case_values(case, &scores, profile),
            sums: tiers::sums(case, &scores, trials, profile),
            levels: tiers::levels(&scores, trials, profile),
            trials: scores,
        }
    }

    /// How many trials enter the metrics.
    pub fn counted_trials(&self) -> usize {
        self.counted().count()
    }

    /// The trials that enter the metrics.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &TrialScore> {
        self.trials.iter().filter(|t| t.counted)
    }
}

impl ToolScore {
    fn new(
        tool: ToolName,
        mut cases: Vec<CaseScore>,
        suite: &Suite,
        trials: &[Trial],
        profile: &Profile,
        warnings: &mut Vec<String>,
    ) -> Self {
        for (case, value) in tiers::twins(&cases, suite, profile) {
            cases[case].values.push(("twin_recall", Ok(value)));
        }
        let all: Vec<&CaseScore> = cases.iter().collect();
        let mut outcomes: BTreeMap<Outcome, usize> = BTreeMap::new();
        let mut counts = Counts::default();
        let mut one_to_one = (profile.method == Method::Recorded).then(Counts::default);
        for trial in cases.iter().flat_map(|case| &case.trials) {
            *outcomes.entry(trial.outcome).or_default() += 1;
            if trial.counted {
                counts += trial.counts;
                if let (Some(sum), Some(own)) = (&mut one_to_one, trial.one_to_one) {
                    *sum += own;
                }
            }
        }
        warn(&tool, &cases, &outcomes, warnings);
        warn_of_keys(&tool, &cases, trials, profile, warnings);
        let noted = trials.iter().filter(|trial| trial.tool == tool && !trial.notes.is_empty());
        let noted: Vec<&Trial> = noted.collect();
        let incomplete = noted.iter().filter(|trial| trial.outcome == Outcome::Reported).count();
        if incomplete > 0 {
            let (noun, verb) = if incomplete == 1 { ("trial", "is") } else { ("trials", "are") };
            warnings.push(format!("{tool}: {incomplete} {noun} {verb} incomplete, by the tool's own words"));
        }
        for trial in noted {
            let told = trial.notes.iter().map(|note| format!("{tool}: {} trial {}: {note}", trial.case, trial.number));
            warnings.extend(told);
        }
        let whole = || (whole_metrics(&all, suite, profile), flaky(&cases, suite));
        let parts = || slice::slices(&all, suite, trials, profile, warnings);
        let (((metrics, sweeps), flaky), (by, macro_by)) = rayon::join(whole, parts);
        Self {
            trials: outcomes.values().sum(),
            incomplete,
            pass: cases.iter().all(|case| case.pass),
            counts,
            one_to_one,
            verdicts: aggregate::confusion(&all),
            metrics,
            micro: aggregate::micro(counts, profile),
            by,
            macro_by,
            flaky,
            lucky: lucky(&cases, suite),
            reliability: Tiers { cases: &all, profile }.sums().verdict_confidence.diagram(),
            sweeps,
            tool,
            outcomes,
            cases,
        }
    }
}

fn warn(tool: &ToolName, cases: &[CaseScore], outcomes: &BTreeMap<Outcome, usize>, warnings: &mut Vec<String>) {
    for outcome in [Outcome::Crashed, Outcome::TimedOut, Outcome::Unparsable] {
        if let Some(&count) = outcomes.get(&outcome) {
            let noun = if count == 1 { "trial" } else { "trials" };
            warnings.push(format!("{tool}: {count} {noun} {}", outcome.ended()));
        }
    }
    let trials = || cases.iter().flat_map(|case| &case.trials);
    let strangers: usize = trials().map(|trial| trial.strange_judgements).sum();
    if strangers > 0 {
        warnings.push(format!(
            "{tool}: {strangers} judgements name a golden or finding that its trials do not have; left out"
        ));
    }
    let split = trials().filter(|trial| trial.split_audit).count();
    if split > 0 {
        warnings.push(format!(
            "{tool}: trials whose audits disagree evenly about the verdict: {split}; the first audit was heard"
        ));
    }
    let unaudited = trials().filter(|trial| trial.unaudited).count();
    if unaudited > 0 {
        let noun = if unaudited == 1 { "trial was" } else { "trials were" };
        warnings.push(format!(
            "{tool}: {unaudited} {noun} not audited, so its findings and targets are not known; name a model that judges, or \
             give audits"
        ));
    }
    let unknown: usize = trials().map(|trial| trial.unknown_in_audit).sum();
    if unknown > 0 {
        warnings.push(format!(
            "{tool}: findings that audits classify and its trials do not have: {unknown}; they count as the audits say"
        ));
    }
    let crowded: usize = trials().map(|trial| trial.result.crowded).sum();
    if crowded > 0 {
        warnings.push(format!(
            "{tool}: goldens that too many findings may report for all to be assigned: {crowded}; the best of each took part"
        ));
    }
    let shared: Vec<usize> = trials().filter_map(|trial| trial.shared_findings).collect();
    if !shared.is_empty() {
        warnings.push(format!(
            "{tool}: goldens that share their finding with another: {}; so TP + FP is not the number of findings",
            shared.iter().sum::<usize>()
        ));
    }
}

/// So many examples are named of what a warning counts.
const MOST_EXAMPLES: usize = 3;

/// Findings that carry another key than the computed one.
fn warn_of_keys(tool: &ToolName, cases: &[CaseScore], trials: &[Trial], profile: &Profile, warnings: &mut Vec<String>) {
    let scores = || cases.iter().flat_map(|case| &case.trials);
    let count: usize = scores().map(|score| score.differing_keys.len()).sum();
    if count == 0 {
        return;
    }
    let examples = scores().flat_map(|score| score.differing_keys.iter().map(move |f| (score.line, *f)));
    let examples = examples.filter_map(|(line, f)| {
        let trial = &trials[line?];
        let Differing { stated, computed } = key::differing(&trial.findings[f], &profile.identity)?;
        Some(format!("{} {} states {stated}, computed is {computed}", trial.case, trial.findings[f].id))
    });
    let examples: Vec<String> = examples.take(MOST_EXAMPLES).collect();
    let (noun, verb) = if count == 1 { ("finding", "carries") } else { ("findings", "carry") };
    warnings.push(format!(
        "{tool}: {count} {noun} {verb} an identity key that differs from the computed one; theirs was used: {}",
        told(&examples, count)
    ));
}

/// Goldens that state another key than the computed ones.
fn differing_goldens(suite: &Suite, profile: &Profile) -> Option<String> {
    if profile.method != Method::Identity {
        return None;
    }
    let goldens = suite.cases.iter().flat_map(|case| case.goldens.iter().map(move |golden| (case, golden)));
    let mut count = 0;
    let mut examples = Vec::new();
    for (case, golden) in goldens {
        let Some(Differing { stated, computed }) = key::differing_of_golden(golden, &profile.identity) else {
            continue;
        };
        count += 1;
        if examples.len() < MOST_EXAMPLES {
            examples.push(format!("{} {} states {stated}, computed is {computed}", case.id, golden.id));
        }
    }
    let (noun, verb) = if count == 1 { ("golden", "states") } else { ("goldens", "state") };
    (count > 0).then(|| {
        format!(
            "{count} {noun} {verb} an identity key that differs from the computed one; theirs was used: {}",
            told(&examples, count)
        )
    })
}

fn told(examples: &[String], count: usize) -> String {
    let more = count - examples.len().min(count);
    let rest = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{rest}", examples.join("; "))
}

/// All metrics of a tool, those that only a whole suite has among them.
fn whole_metrics(all: &[&CaseScore], suite: &Suite, profile: &Profile) -> (Metrics, Vec<Sweep>) {
    let mut metrics = aggregate::metrics(all, suite, profile);
    let (of_findings, sweeps) = Tiers { cases: all, profile }.of_findings();
    metrics.extend(of_findings);
    (aggregate::in_order(metrics), sweeps)
}

fn lucky(cases: &[CaseScore], suite: &Suite) -> Vec<LuckyGuess> {
    let of = |score: &CaseScore| {
        let case = &suite.cases[score.case].id;
        let lucky = score.counted().filter(|trial| trial.lucky_guess == Some(true));
        lucky.map(|trial| LuckyGuess { case: case.clone(), trial: trial.number }).collect::<Vec<_>>()
    };
    cases.iter().flat_map(of).collect()
}

fn flaky(cases: &[CaseScore], suite: &Suite) -> Vec<FlakyGolden> {
    let mut flaky = Vec::new();
    for score in cases {
        let case = &suite.cases[score.case];
        let trials = score.counted().count();
        for (golden, found) in aggregate::found_counts(case, score) {
            if found > 0 && found < trials {
                let golden = case.goldens[golden].id.clone();
                flaky.push(FlakyGolden { case: case.id.clone(), golden, found, trials });
            }
        }
    }
    flaky
}
