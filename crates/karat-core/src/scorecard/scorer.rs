//! Scores a suite case by case, so that no more than the pairs of a few cases need to be in memory.

use super::slice::{CaseLabels, LabelTables, NamedCategories};
use super::trial::VerdictRules;
use super::twins::{TWIN_METRICS, Twins, reports_target};
use super::warnings::{MOST_EXAMPLES, differing_goldens};
use super::{
    CaseContext, CaseScore, JudgementsByTrial, Scorecard, ToolScore, TrialScore, add_fix_through, rank_stability,
    vocabulary,
};
use crate::ids::{CaseId, ToolName};
use crate::judgement::Judgement;
use crate::matching::pair::PreparedCase;
use crate::matching::text::Vocabulary;
use crate::metric::levels::Confidences;
use crate::profile::{Method, Profile};
use crate::suite::Suite;
use crate::trial::{Outcome, Trial};
use crate::wording::plural;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// What must be known of every trial before the first case is scored.
#[derive(Clone, Copy, Debug)]
pub struct TrialHead<'a> {
    pub case: &'a CaseId,
    pub tool: &'a ToolName,
    pub number: u32,
    pub outcome: Outcome,
    pub notes: &'a [String],
    pub stated: StatedByTrial,
}

/// What a trial says that verdicts on its case are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StatedByTrial {
    /// A verdict.
    pub verdict: bool,
    /// A weakness number, in any finding.
    pub cwe: bool,
}

impl From<&Trial> for StatedByTrial {
    fn from(trial: &Trial) -> Self {
        Self { verdict: trial.verdict.is_some(), cwe: trial.findings.iter().any(|finding| !finding.cwe.is_empty()) }
    }
}

impl<'a> From<&'a Trial> for TrialHead<'a> {
    fn from(trial: &'a Trial) -> Self {
        let Trial { case, tool, number, outcome, notes, .. } = trial;
        Self { case, tool, number: *number, outcome: *outcome, notes, stated: trial.into() }
    }
}

/// The planned trials of all tools: every case, once for each trial number that a tool has.
#[derive(Clone, Debug)]
pub struct TrialPlan {
    pub(super) tools: Vec<PlannedTool>,
    by_name: HashMap<ToolName, usize>,
    cases: HashMap<CaseId, u32>,
    notes: HashMap<ToolName, ToolNotes>,
    confidences: Confidences,
    warnings: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) struct PlannedTool {
    pub(super) tool: ToolName,
    pub(super) numbers: BTreeSet<u32>,
    /// By case, the numbers of its trials that met an outage. They plan nothing for other cases, which would count as skipped.
    unavailable: HashMap<u32, BTreeSet<u32>>,
    /// The trials that are given, by case and number.
    given: HashSet<(u32, u32)>,
    /// Whether any of its trials came to a report.
    reported: bool,
    /// What any of its trials stated.
    stated: StatedByTrial,
}

impl PlannedTool {
    fn verdict_rules(&self, profile: &Profile) -> VerdictRules {
        let states_verdicts = profile.method == Method::Audit || self.stated.verdict;
        VerdictRules { from: profile.verdict_from, names_cwe: self.stated.cwe, states_verdicts }
    }

    fn numbers_of(&self, case: u32) -> impl Iterator<Item = u32> {
        let unavailable = self.unavailable.get(&case);
        let numbers: BTreeSet<u32> = self.numbers.iter().chain(unavailable.into_iter().flatten()).copied().collect();
        numbers.into_iter()
    }
}

/// What a tool said of its own work.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolNotes {
    /// Trials that reported, and have notes.
    pub(super) incomplete: usize,
    /// Different notes in the order in which they first appear.
    notes: Vec<RepeatedNote>,
    by_text: HashMap<String, usize>,
    /// Notes beyond those that are kept.
    others: usize,
}

#[derive(Clone, Debug)]
struct RepeatedNote {
    text: String,
    count: usize,
    /// The first trials that have it.
    places: Vec<String>,
}

/// The most different notes of a tool that are shown.
const MOST_NOTES: usize = 100;

impl ToolNotes {
    fn add(&mut self, case: &CaseId, number: u32, text: &str) {
        let at = match self.by_text.get(text) {
            Some(at) => *at,
            None if self.notes.len() == MOST_NOTES => {
                self.others += 1;
                return;
            }
            None => {
                self.notes.push(RepeatedNote { text: text.to_owned(), count: 0, places: Vec::new() });
                self.by_text.insert(text.to_owned(), self.notes.len() - 1);
                self.notes.len() - 1
            }
        };
        let note = &mut self.notes[at];
        note.count += 1;
        if note.places.len() < MOST_EXAMPLES {
            note.places.push(format!("{case} trial {number}"));
        }
    }

    /// A warning for each different note.
    pub(super) fn warnings(&self, tool: &ToolName) -> Vec<String> {
        let warning = |note: &RepeatedNote| {
            let RepeatedNote { text, count, places } = note;
            let (shown, more) = (places.join(", "), count - places.len());
            match (count, more) {
                (1, _) => format!("{tool}: {shown}: {text}"),
                (_, 0) => format!("{tool}: {text} ({shown})"),
                _ => format!("{tool}: {text} ({count} times: {shown}, and {more} more)"),
            }
        };
        let others =
            (self.others > 0).then(|| format!("{tool}: {} more of its trials", plural(self.others, "note", "notes")));
        self.notes.iter().map(warning).chain(others).collect()
    }
}

impl TrialPlan {
    pub fn of_trials(suite: &Suite, trials: &[Trial]) -> Self {
        let mut confidences = Confidences::default();
        trials.iter().for_each(|trial| confidences.add(trial));
        Self::new(suite, trials.iter().map(TrialHead::from), confidences)
    }

    /// The plan of these trials, with the confidences that their findings state; tools are in the order in which they first appear.
    pub fn new<'t>(suite: &Suite, trials: impl IntoIterator<Item = TrialHead<'t>>, confidences: Confidences) -> Self {
        let cases: HashMap<CaseId, u32> = suite.cases.iter().map(|case| case.id.clone()).zip(0..).collect();
        let mut tools: Vec<PlannedTool> = Vec::new();
        let mut by_name: HashMap<ToolName, usize> = HashMap::new();
        let mut strangers: BTreeMap<String, usize> = BTreeMap::new();
        let mut all_notes: HashMap<ToolName, ToolNotes> = HashMap::new();
        for TrialHead { case, tool, number, outcome, notes, stated } in trials {
            if !notes.is_empty() {
                let own = all_notes.entry(tool.clone()).or_default();
                own.incomplete += usize::from(outcome == Outcome::Reported);
                notes.iter().for_each(|note| own.add(case, number, note));
            }
            let Some(&case) = cases.get(case) else {
                *strangers.entry(case.to_string()).or_default() += 1;
                continue;
            };
            let slot = by_name.get(tool).copied().unwrap_or_else(|| {
                by_name.insert(tool.clone(), tools.len());
                tools.push(PlannedTool {
                    tool: tool.clone(),
                    numbers: BTreeSet::new(),
                    unavailable: HashMap::new(),
                    given: HashSet::new(),
                    reported: false,
                    stated: StatedByTrial::default(),
                });
                tools.len() - 1
            });
            let planned = &mut tools[slot];
            if outcome == Outcome::Unavailable {
                planned.unavailable.entry(case).or_default().insert(number);
            } else {
                planned.numbers.insert(number);
            }
            planned.reported |= outcome == Outcome::Reported;
            planned.stated.verdict |= stated.verdict;
            planned.stated.cwe |= stated.cwe;
            planned.given.insert((case, number));
        }
        let warnings = missing_trials(suite, &tools, strangers);
        Self { tools, by_name, cases, notes: all_notes, confidences, warnings }
    }

    /// The tools, in the order in which they first appear.
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolName> {
        self.tools.iter().map(|planned| &planned.tool)
    }

    /// Whether a judgement is about one of the trials that are given.
    pub fn covers(&self, judgement: &Judgement) -> bool {
        let tool = self.by_name.get(&judgement.tool).map(|at| &self.tools[*at]);
        let case = self.cases.get(&judgement.case);
        tool.zip(case).is_some_and(|(tool, case)| tool.given.contains(&(*case, judgement.trial)))
    }

    pub(super) fn notes(&self, tool: &ToolName) -> Option<&ToolNotes> {
        self.notes.get(tool)
    }
}

fn missing_trials(suite: &Suite, tools: &[PlannedTool], strangers: BTreeMap<String, usize>) -> Vec<String> {
    let mut warnings = Vec::new();
    for (case, count) in strangers {
        let trials = plural(count, "trial is", "trials are");
        warnings.push(format!("{trials} about the case `{case}`, which is not in the suite; ignored"));
    }
    for planned in tools {
        let (tool, all) = (&planned.tool, suite.cases.len() * planned.numbers.len());
        let missing = all - planned.given.iter().filter(|(_, number)| planned.numbers.contains(number)).count();
        if missing > 0 {
            warnings.push(format!(
                "{tool}: {missing} of {all} planned trials have no line in the submission and count as skipped"
            ));
        }
    }
    warnings
}

/// One case with its trials and judgements.
#[derive(Clone, Copy)]
pub struct CaseInput<'a> {
    /// Index of the case in the suite.
    pub case: usize,
    pub trials: &'a [Trial],
    /// Indices of the trials of this case among them, upward.
    pub own: &'a [usize],
    pub judgements: &'a JudgementsByTrial<'a>,
}

/// The indices of the trials of one case.
pub(super) struct TrialLines<'t>(HashMap<(&'t ToolName, u32), usize>);

impl<'t> TrialLines<'t> {
    /// Of several lines for the same trial the last counts.
    pub(super) fn new(trials: &'t [Trial], own: &[usize]) -> Self {
        Self(own.iter().map(|&line| ((&trials[line].tool, trials[line].number), line)).collect())
    }

    pub(super) fn find(&self, tool: &'t ToolName, number: u32) -> Option<usize> {
        self.0.get(&(tool, number)).copied()
    }
}

/// One case, scored for every tool of the plan.
pub struct ScoredCase {
    /// Index of the case in the suite.
    pub case: usize,
    /// By tool, in the order of the plan.
    pub scores: Vec<CaseScore>,
    /// By tool, the same of the trials of each style alone.
    by_style: Vec<BTreeMap<String, CaseScore>>,
    labels: Vec<CaseLabels>,
}

impl ScoredCase {
    /// Keeps the figures, and drops what grows with the findings of the case.
    pub fn drop_pairs(&mut self) {
        for score in self.scores.iter_mut().chain(self.by_style.iter_mut().flat_map(BTreeMap::values_mut)) {
            score.trials.iter_mut().for_each(TrialScore::drop_pairs);
            // Lists were made with room to grow, which is most of what is left.
            score.trials.shrink_to_fit();
            score.values.shrink_to_fit();
        }
    }
}

/// Scores cases one by one, and adds them up to a scorecard.
pub struct Scorer<'a> {
    suite: &'a Suite,
    profile: &'a Profile,
    plan: &'a TrialPlan,
    vocabulary: Vocabulary,
    named_categories: NamedCategories,
    twins: Twins,
    tools: Vec<ScoredTool>,
    warnings: Vec<String>,
}

/// What the figures of a tool depend on beside its own cases.
#[derive(Clone, Copy)]
pub(super) struct ToolContext<'a> {
    pub(super) suite: &'a Suite,
    pub(super) plan: &'a TrialPlan,
    pub(super) profile: &'a Profile,
    pub(super) twins: &'a Twins,
}

/// All cases of a tool so far.
#[derive(Default)]
pub(super) struct ScoredTool {
    pub(super) cases: Vec<CaseScore>,
    pub(super) by_style: BTreeMap<String, Vec<CaseScore>>,
    pub(super) labels: LabelTables,
}

impl ScoredTool {
    fn add_parts(&mut self, by_style: BTreeMap<String, CaseScore>, labels: CaseLabels, named: &NamedCategories) {
        by_style.into_iter().for_each(|(style, score)| self.by_style.entry(style).or_default().push(score));
        self.labels.add(labels, named);
    }
}

impl<'a> Scorer<'a> {
    /// `unknown` is how many judgements are about trials that the plan does not [cover](TrialPlan::covers).
    pub fn new(suite: &'a Suite, profile: &'a Profile, plan: &'a TrialPlan, unknown: usize) -> Self {
        let mut warnings = plan.warnings.clone();
        if unknown > 0 {
            warnings.push(format!("judgements about unknown trials: {unknown}; ignored"));
        }
        warnings.extend(differing_goldens(suite, profile));
        let tools = plan.tools.iter().map(|_| ScoredTool::default()).collect();
        let named_categories = NamedCategories::new(suite);
        let (vocabulary, twins) = (vocabulary(suite, profile), Twins::new(suite));
        Self { suite, profile, plan, vocabulary, named_categories, twins, tools, warnings }
    }

    /// What trials of these cases are compared with.
    pub fn context(&self, cases: Range<usize>) -> CaseContext<'_> {
        CaseContext { cases: &self.suite.cases[cases], vocabulary: &self.vocabulary, profile: self.profile }
    }

    /// Scores one case. Pure: cases can be scored in any order and on any thread.
    pub fn score_case(&self, input: CaseInput<'_>) -> ScoredCase {
        let CaseInput { case: index, trials, own, judgements } = input;
        let case = &self.suite.cases[index];
        let prepared = PreparedCase::new(case, &self.vocabulary, self.profile);
        let lines = TrialLines::new(trials, own);
        let mut scored = ScoredCase { case: index, scores: Vec::new(), by_style: Vec::new(), labels: Vec::new() };
        let targets = self.twins.targets_of(index, self.suite);
        let targets = targets.as_ref().map(|case| PreparedCase::new(case, &self.vocabulary, self.profile));
        let score_trials = |scores| CaseScore::new(index, case, scores, trials, self.profile, &self.plan.confidences);
        for planned in &self.plan.tools {
            let rules = planned.verdict_rules(self.profile);
            let one = |number: u32| {
                let score = match lines.find(&planned.tool, number) {
                    None => TrialScore::skipped(case, number, self.profile, rules),
                    Some(line) => {
                        let decisions = judgements.decisions(case, &trials[line]);
                        let score = TrialScore::new(&prepared, &trials[line], line, &decisions, rules);
                        let reports = |targets| reports_target(targets, case, &trials[line], &score);
                        let reports_twin = targets.as_ref().is_some_and(reports);
                        TrialScore { reports_twin, ..score }
                    }
                };
                // Of a tool that never reported anything it is not known what it would have found.
                TrialScore { counted: score.counted && planned.reported, ..score }
            };
            let scores: Vec<TrialScore> = planned.numbers_of(index as u32).map(one).collect();
            scored.labels.push(CaseLabels::new(case, &scores, trials, self.profile));
            let mut by_style: BTreeMap<&str, Vec<TrialScore>> = BTreeMap::new();
            for score in &scores {
                if let Some(style) = score.line.and_then(|line| trials[line].style.as_deref()) {
                    by_style.entry(style).or_default().push(score.clone());
                }
            }
            let by_style = by_style.into_iter().map(|(style, own)| (style.to_owned(), score_trials(own)));
            scored.by_style.push(by_style.collect());
            scored.scores.push(score_trials(scores));
        }
        scored
    }

    /// Adds a scored case. Cases are added in the order of the suite, each once.
    pub fn add(&mut self, scored: ScoredCase) {
        let ScoredCase { scores, by_style, labels, .. } = scored;
        for (((tool, score), by_style), labels) in self.tools.iter_mut().zip(scores).zip(by_style).zip(labels) {
            tool.cases.push(score);
            tool.add_parts(by_style, labels, &self.named_categories);
        }
    }

    /// All figures, once every case was added.
    pub fn finish(self) -> Scorecard {
        let Self { suite, profile, plan, tools, twins, mut warnings, .. } = self;
        let finish = |(planned, scored): (&PlannedTool, ScoredTool)| {
            ToolScore::new(&planned.tool, scored, ToolContext { suite, plan, profile, twins: &twins }, &mut warnings)
        };
        let mut tools: Vec<ToolScore> = plan.tools.iter().zip(tools).map(finish).collect();
        rank_stability(&mut tools, profile);
        tools.iter_mut().for_each(add_fix_through);
        Scorecard { tools, warnings }
    }
}

/// The same cases scored with other judgements or by other rules. Only cases that differ from the scorecard are kept.
pub struct ScoredVariant<'a> {
    scorer: Scorer<'a>,
    /// By tool, then by case.
    changed: Vec<BTreeMap<usize, CaseScore>>,
}

impl<'a> ScoredVariant<'a> {
    /// A variant by these rules; the plan is that of the scorecard.
    pub fn new(suite: &'a Suite, profile: &'a Profile, plan: &'a TrialPlan) -> Self {
        let changed = plan.tools.iter().map(|_| BTreeMap::new()).collect();
        Self { scorer: Scorer::new(suite, profile, plan, 0), changed }
    }

    /// Scores one case by the rules of the variant.
    pub fn score_case(&self, input: CaseInput<'_>) -> ScoredCase {
        let mut scored = self.scorer.score_case(input);
        scored.drop_pairs();
        scored
    }

    /// Adds a case beside that of the scorecard; `None` if it is the same. Both have dropped their pairs.
    pub fn add(&mut self, scored: Option<ScoredCase>, main: &ScoredCase) {
        let Some(scored) = scored else {
            for ((tool, by_style), labels) in self.scorer.tools.iter_mut().zip(&main.by_style).zip(&main.labels) {
                tool.add_parts(by_style.clone(), labels.clone(), &self.scorer.named_categories);
            }
            return;
        };
        let ScoredCase { scores, by_style, labels, .. } = scored;
        let parts = scores.into_iter().zip(by_style).zip(labels);
        let tools = self.scorer.tools.iter_mut().zip(&mut self.changed);
        for (((tool, changed), ((score, by_style), labels)), main) in tools.zip(parts).zip(&main.scores) {
            tool.add_parts(by_style, labels, &self.scorer.named_categories);
            if score != *main {
                changed.insert(score.case, score);
            }
        }
    }

    /// The figures of one tool, given those of the scorecard; each tool is asked for once.
    pub fn tool(&mut self, at: usize, main: &ToolScore) -> ToolScore {
        let changed = &mut self.changed[at];
        let mut cases: Vec<CaseScore> = main
            .cases
            .iter()
            .enumerate()
            .map(|(case, score)| changed.remove(&case).unwrap_or_else(|| score.clone()))
            .collect();
        // What looks at several cases is computed again.
        for case in &mut cases {
            case.values.retain(|(id, _)| !TWIN_METRICS.contains(id));
            case.by_trial.iter_mut().for_each(|own| own.twins = Default::default());
        }
        let ScoredTool { by_style, labels, .. } = std::mem::take(&mut self.scorer.tools[at]);
        let Scorer { suite, profile, plan, ref twins, .. } = self.scorer;
        let context = ToolContext { suite, plan, profile, twins };
        ToolScore::new(&main.tool, ScoredTool { cases, by_style, labels }, context, &mut Vec::new())
    }
}
