//! What of a ranking rests on the judge: the same trials are scored by the profile's rules alone, and with other answers to the pairs
//! that the judge is unsure of. No judge is asked for that.

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::{Decision, Judgement, UNSURE};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::table::Direction;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{
    CaseContext, CaseInput, JudgementsByTrial, PairSelection, Scorecard, ScoredCase, ScoredVariant, Scorer,
    SelectedPair, ToolScore, TrialPlan, is_unsure, score, select_pairs_in, with_unsure_decided, without_judges,
};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::report::{ChangeV1, SensitivityV1};
use karat_store::label::{FindingText, GoldenText, LabelKey};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What was scored, and the result.
pub(crate) struct SensitivityInput<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) trials: &'a [Trial],
    pub(crate) judgements: &'a [Judgement],
    pub(crate) profile: &'a Profile,
    pub(crate) scorecard: &'a Scorecard,
}

/// What would change without the judge or with other answers to the pairs it is unsure of; `None` if nothing.
pub(crate) fn sensitivity(input: &SensitivityInput<'_>) -> Option<SensitivityV1> {
    let SensitivityInput { suite, trials, judgements, profile, scorecard } = *input;
    if !may_depend_on_judge(profile, scorecard.tools.len()) || !judgements.iter().any(decides) {
        return None;
    }
    let rules = without_judge(profile);
    let plan = TrialPlan::of_trials(suite, trials);
    let mut pairs = JudgedPairs::default();
    let words = Scorer::new(suite, profile, &plan, 0);
    pairs.add(words.context(0..suite.cases.len()), trials, judgements);
    let by_rules = score(suite, trials, &without_judges(judgements), &rules);
    let decided = |matched| score(suite, trials, &with_unsure_decided(judgements, matched), profile);
    let unsure = if pairs.unsure.is_empty() { Vec::new() } else { vec![decided(false), decided(true)] };
    let standings =
        |card: &Scorecard| -> Vec<Standing> { card.tools.iter().map(|tool| Standing::new(tool, profile)).collect() };
    let unsure: Vec<Vec<Standing>> = unsure.iter().map(standings).collect();
    state(&pairs, profile, &standings(scorecard), &standings(&by_rules), &unsure)
}

/// Whether there is anything that could depend on a judge: a ranking, or a verdict.
pub(crate) fn may_depend_on_judge(profile: &Profile, tools: usize) -> bool {
    (tools > 1 || profile.expect_pass) && profile.method == Method::Score
}

/// Whether a judge, and no person, decides about a pair.
pub(crate) fn decides(judgement: &Judgement) -> bool {
    matches!(judgement.decision, Decision::Pair(_)) && !judgement.judge.is_human()
}

/// The rules alone.
pub(crate) fn without_judge(profile: &Profile) -> Profile {
    Profile { judge: "none".to_owned(), ..profile.clone() }
}

/// The rules that variants are scored by.
#[derive(Clone, Copy)]
pub(crate) struct SensitivityContext<'a> {
    pub(crate) suite: &'a Suite,
    pub(crate) profile: &'a Profile,
    pub(crate) rules: &'a Profile,
}

/// The same trials by the rules alone, and with other answers to the pairs that judges are unsure of, added up case by case.
pub(crate) struct Variants<'a> {
    context: SensitivityContext<'a>,
    by_rules: ScoredVariant<'a>,
    unsure: [ScoredVariant<'a>; 2],
    pairs: JudgedPairs,
}

/// The judgements of some cases as the variants have them.
pub(crate) struct VariantJudgements {
    rules: Vec<Judgement>,
    unsure: [Vec<Judgement>; 2],
    unsure_cases: HashSet<CaseId>,
}

impl VariantJudgements {
    pub(crate) fn new(judgements: &[Judgement]) -> Self {
        let decided = |matched: bool| match with_unsure_decided(judgements, matched) {
            Cow::Borrowed(_) => Vec::new(),
            Cow::Owned(decided) => decided,
        };
        Self {
            rules: without_judges(judgements),
            unsure: [decided(false), decided(true)],
            unsure_cases: judgements.iter().filter(|own| is_unsure(own)).map(|own| own.case.clone()).collect(),
        }
    }

    pub(crate) fn by_trial(&self) -> [JudgementsByTrial<'_>; 3] {
        [&self.rules, &self.unsure[0], &self.unsure[1]].map(JudgementsByTrial::new)
    }
}

/// The variants of one case; `None` where it is the same as the scorecard's.
pub(crate) struct CaseVariants {
    by_rules: ScoredCase,
    unsure: [Option<ScoredCase>; 2],
}

impl<'a> Variants<'a> {
    pub(crate) fn new(context: SensitivityContext<'a>, plan: &'a TrialPlan) -> Self {
        let SensitivityContext { suite, profile, rules } = context;
        let variant = || ScoredVariant::new(suite, profile, plan);
        Self {
            context,
            by_rules: ScoredVariant::new(suite, rules, plan),
            unsure: [variant(), variant()],
            pairs: JudgedPairs::default(),
        }
    }

    /// Scores one case in every variant.
    pub(crate) fn score_case(
        &self,
        case: usize,
        trials: &[Trial],
        own: &[usize],
        judgements: &VariantJudgements,
        by_trial: &[JudgementsByTrial<'_>; 3],
    ) -> CaseVariants {
        let input = |at: usize| CaseInput { case, trials, own, judgements: &by_trial[at] };
        let is_unsure = judgements.unsure_cases.contains(&self.context.suite.cases[case].id);
        let decided = |at: usize| is_unsure.then(|| self.unsure[at].score_case(input(at + 1)));
        CaseVariants { by_rules: self.by_rules.score_case(input(0)), unsure: [decided(0), decided(1)] }
    }

    /// Adds a case; cases are added in the order of the suite. `main` has dropped its pairs.
    pub(crate) fn add(&mut self, variants: CaseVariants, main: &ScoredCase) {
        self.by_rules.add(Some(variants.by_rules), main);
        for (all, own) in self.unsure.iter_mut().zip(variants.unsure) {
            all.add(own, main);
        }
    }

    /// Adds the decided pairs of some cases.
    pub(crate) fn add_pairs(&mut self, cases: CaseContext<'_>, trials: &[Trial], judgements: &[Judgement]) {
        self.pairs.add(cases, trials, judgements);
    }

    /// What would change, once every case was added.
    pub(crate) fn finish(mut self, scorecard: &Scorecard) -> Option<SensitivityV1> {
        if self.pairs.judges.is_empty() {
            return None;
        }
        let profile = self.context.profile;
        let standings = |variant: &mut ScoredVariant<'_>| -> Vec<Standing> {
            let tools = scorecard.tools.iter().enumerate();
            tools.map(|(at, tool)| Standing::new(&variant.tool(at, tool), profile)).collect()
        };
        let by_rules = standings(&mut self.by_rules);
        let unsure: Vec<Vec<Standing>> = match self.pairs.unsure.is_empty() {
            true => Vec::new(),
            false => self.unsure.iter_mut().map(standings).collect(),
        };
        let now: Vec<Standing> = scorecard.tools.iter().map(|tool| Standing::new(tool, profile)).collect();
        state(&self.pairs, profile, &now, &by_rules, &unsure)
    }
}

/// What a ranking and a verdict need of a tool.
pub(crate) struct Standing {
    tool: ToolName,
    goodness: Option<f64>,
    pass: bool,
}

impl Standing {
    fn new(tool: &ToolScore, profile: &Profile) -> Self {
        Self { tool: tool.tool.clone(), goodness: goodness(tool, profile), pass: tool.pass }
    }
}

fn state(
    pairs: &JudgedPairs,
    profile: &Profile,
    now: &[Standing],
    by_rules: &[Standing],
    unsure: &[Vec<Standing>],
) -> Option<SensitivityV1> {
    let without_judge = change_without_judge(now, by_rules, profile);
    let if_unsure_flip = if unsure.is_empty() { None } else { change_if_flipped(now, unsure, profile) };
    if without_judge.is_none() && if_unsure_flip.is_none() {
        return None;
    }
    let refused = || pairs.disputed.values().filter(|pair| !pair.matched);
    Some(SensitivityV1 {
        judges: pairs.judges.iter().cloned().collect(),
        disputed: pairs.disputed.len(),
        refused: refused().count(),
        refused_on_same_lines: refused().filter(|pair| pair.on_same_lines).count(),
        unsure: pairs.unsure.len(),
        band: UNSURE,
        without_judge,
        if_unsure_flip,
    })
}

/// Whether arguments can be copied into a shell as they are: a report may come from anybody, and it shows them as a command.
pub(crate) fn is_plain(source: &str) -> bool {
    source.chars().all(|c| c.is_alphanumeric() || " -_./:@+='\",[]".contains(c))
}

/// The pairs that judges decided and on which something may rest, by the key of their label: the same pair in several trials is
/// one.
#[derive(Default)]
struct JudgedPairs {
    judges: BTreeSet<String>,
    disputed: HashMap<LabelKey, DecidedPair>,
    unsure: HashSet<LabelKey>,
}

struct DecidedPair {
    matched: bool,
    on_same_lines: bool,
}

impl JudgedPairs {
    fn add(&mut self, cases: CaseContext<'_>, trials: &[Trial], judgements: &[Judgement]) {
        for judgement in judgements.iter().filter(|judgement| decides(judgement)) {
            if !self.judges.contains(judgement.judge.as_str()) {
                self.judges.insert(judgement.judge.to_string());
            }
        }
        let by_id: HashMap<&str, &Case> = cases.cases().iter().map(|case| (case.id.as_str(), case)).collect();
        let keyed = |pair: &SelectedPair| {
            let trial = &trials[pair.trial];
            let case = *by_id.get(trial.case.as_str())?;
            let (golden, finding) = (&case.goldens[pair.golden], &trial.findings[pair.finding]);
            let key = LabelKey::pair(&GoldenText::new(case, golden).text(), &FindingText::new(finding).text());
            Some((key, on_same_lines(golden, finding)))
        };
        for pair in select_pairs_in(cases, trials, judgements, PairSelection::Unsure) {
            self.unsure.extend(keyed(&pair).map(|(key, _)| key));
        }
        for pair in select_pairs_in(cases, trials, judgements, PairSelection::Disputed) {
            if let Some((key, on_same_lines)) = keyed(&pair) {
                self.disputed.insert(key, DecidedPair { matched: pair.matched, on_same_lines });
            }
        }
    }
}

fn on_same_lines(golden: &Golden, finding: &Finding) -> bool {
    let in_same_file = golden.file.as_ref().zip(finding.file.as_ref()).is_some_and(|(own, other)| own.matches(other));
    in_same_file && golden.lines.zip(finding.lines()).is_some_and(|(own, other)| own.overlaps(other))
}

/// What is less is rounding.
const LEAST: f64 = 1e-9;

/// The value of the metric that ranks tools, negative where less is better.
fn goodness(tool: &ToolScore, profile: &Profile) -> Option<f64> {
    let shown = &profile.headline;
    let metric = shown.iter().find(|id| *id == "f1").or(shown.first()).map_or("f1", String::as_str);
    let macro_by = profile.headline_macro_by.as_ref().and_then(|dimension| tool.macro_by.get(dimension));
    let (_, estimate) = macro_by.unwrap_or(&tool.metrics).iter().find(|(id, _)| *id == metric)?;
    let Estimate { value, direction, .. } = estimate;
    value.map(|value| if *direction == Direction::Down { -value } else { value })
}

/// Tools that have a value now, best first, with their indices.
fn ranked(now: &[Standing]) -> Vec<(usize, f64)> {
    let mut ranked: Vec<(usize, f64)> =
        now.iter().enumerate().filter_map(|(at, tool)| Some((at, tool.goodness?))).collect();
    ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| now[*a].tool.cmp(&now[*b].tool)));
    ranked
}

/// Two tools change places if the one that is better now would be worse; a tie changes nothing.
fn change_without_judge(now: &[Standing], other: &[Standing], profile: &Profile) -> Option<ChangeV1> {
    let ranked = ranked(now);
    let then = |at: usize| other.get(at)?.goodness;
    let overtakes = |&(below, low): &(usize, f64), &(above, high): &(usize, f64)| {
        high > low + LEAST && then(below).zip(then(above)).is_some_and(|(below, above)| below > above + LEAST)
    };
    let first = ranked.first()?;
    let leader = ranked.iter().filter(|tool| overtakes(tool, first));
    let leader = leader.max_by(|(a, _), (b, _)| then(*a).unwrap_or(0.0).total_cmp(&then(*b).unwrap_or(0.0)));
    let moves = |tool: &&(usize, f64)| ranked.iter().any(|other| overtakes(tool, other) || overtakes(other, tool));
    stated(ChangeV1 {
        leader: leader.map(|(at, _)| now[*at].tool.to_string()),
        moved: ranked.iter().filter(moves).map(|(at, _)| now[*at].tool.to_string()).collect(),
        verdicts: verdicts(now, &[other], profile),
    })
}

/// Tools have pairs of their own, so the worst that the first may get and the best that another may get can come true together.
fn change_if_flipped(now: &[Standing], others: &[Vec<Standing>], profile: &Profile) -> Option<ChangeV1> {
    let ranked = ranked(now);
    let values = |at: usize| others.iter().filter_map(move |other| other.get(at)?.goodness);
    let &(first, value) = ranked.first()?;
    let worst = values(first).fold(value, f64::min);
    let could_lead = ranked.iter().filter(|(_, own)| value > own + LEAST).filter_map(|&(at, own)| {
        let best = values(at).fold(own, f64::max);
        (best > worst + LEAST).then_some((at, best))
    });
    let leader = could_lead.max_by(|(_, a), (_, b)| a.total_cmp(b));
    let others: Vec<&[Standing]> = others.iter().map(Vec::as_slice).collect();
    stated(ChangeV1 {
        leader: leader.map(|(at, _)| now[at].tool.to_string()),
        moved: Vec::new(),
        verdicts: verdicts(now, &others, profile),
    })
}

fn verdicts(now: &[Standing], others: &[&[Standing]], profile: &Profile) -> Vec<String> {
    let differs = |(at, tool): &(usize, &Standing)| {
        others.iter().any(|other| other.get(*at).is_some_and(|then| then.pass != tool.pass))
    };
    let tools = now.iter().enumerate().filter(|_| profile.expect_pass);
    tools.filter(differs).map(|(_, tool)| tool.tool.to_string()).collect()
}

fn stated(change: ChangeV1) -> Option<ChangeV1> {
    (change != ChangeV1::default()).then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_a_shell_would_read_are_not_shown() {
        for plain in ["3f9a1c22", "--suite . --submission 'my scan.jsonl' --set 'require=[\"file\"]'"] {
            assert!(is_plain(plain), "{plain}");
        }
        for other in ["x; rm y", "$(x)", "`x`", "a|b", "a > b", "a & b", "a\nb", "\u{1b}[31m"] {
            assert!(!is_plain(other), "{other}");
        }
    }
}
