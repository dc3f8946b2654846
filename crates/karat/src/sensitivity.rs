//! What of a ranking rests on the judge: the same trials are scored by the profile's rules alone, and with other answers to the pairs
//! that the judge is unsure of. No judge is asked for that.

use karat_core::judgement::{Decision, Judgement, UNSURE};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::table::Direction;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard::{
    PairSelection, Scorecard, SelectedPair, ToolScore, score, select_pairs, with_unsure_decided, without_judges,
};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::report::{ChangeV1, SensitivityV1};
use karat_store::label::{FindingText, GoldenText, LabelKey};
use std::collections::{BTreeMap, BTreeSet, HashMap};

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
    let SensitivityInput { suite, trials, judgements, profile, scorecard, .. } = input;
    let is_ranked = scorecard.tools.len() > 1 || profile.expect_pass;
    let decides = |own: &&Judgement| matches!(own.decision, Decision::Pair(_)) && !own.judge.is_human();
    let judges: BTreeSet<&str> = judgements.iter().filter(decides).map(|own| own.judge.as_str()).collect();
    if !is_ranked || profile.method != Method::Score || judges.is_empty() {
        return None;
    }
    let rules = Profile { judge: "none".to_owned(), ..(*profile).clone() };
    let by_rules = score(suite, trials, &without_judges(judgements), &rules);
    let without_judge = change_without_judge(scorecard, &by_rules, profile);
    let unsure = distinct(input, PairSelection::Unsure);
    let if_unsure_flip = if unsure.is_empty() {
        None
    } else {
        let decided = |matched| score(suite, trials, &with_unsure_decided(judgements, matched), profile);
        change_if_flipped(scorecard, &[decided(false), decided(true)], profile)
    };
    if without_judge.is_none() && if_unsure_flip.is_none() {
        return None;
    }
    let disputed = distinct(input, PairSelection::Disputed);
    let refused = || disputed.values().filter(|pair| !pair.matched);
    Some(SensitivityV1 {
        judges: judges.into_iter().map(str::to_owned).collect(),
        disputed: disputed.len(),
        refused: refused().count(),
        refused_on_same_lines: refused().filter(|pair| on_same_lines(input, pair)).count(),
        unsure: unsure.len(),
        band: UNSURE,
        without_judge,
        if_unsure_flip,
    })
}

/// Whether arguments can be copied into a shell as they are: a report may come from anybody, and it shows them as a command.
pub(crate) fn is_plain(source: &str) -> bool {
    source.chars().all(|c| c.is_alphanumeric() || " -_./:@+='\",[]".contains(c))
}

/// The selected pairs by the key of their label: the same pair in several trials is one.
fn distinct(input: &SensitivityInput<'_>, selection: PairSelection) -> BTreeMap<LabelKey, SelectedPair> {
    let SensitivityInput { suite, trials, judgements, profile, .. } = input;
    let cases: HashMap<&str, &Case> = suite.cases.iter().map(|case| (case.id.as_str(), case)).collect();
    let keyed = |pair: SelectedPair| {
        let trial = &trials[pair.trial];
        let case = *cases.get(trial.case.as_str())?;
        let golden = GoldenText::new(case, &case.goldens[pair.golden]).text();
        Some((LabelKey::pair(&golden, &FindingText::new(&trial.findings[pair.finding]).text()), pair))
    };
    select_pairs(suite, trials, judgements, profile, selection).into_iter().filter_map(keyed).collect()
}

fn on_same_lines(input: &SensitivityInput<'_>, pair: &SelectedPair) -> bool {
    let trial = &input.trials[pair.trial];
    let Some(case) = input.suite.cases.iter().find(|case| case.id == trial.case) else { return false };
    let (golden, finding) = (&case.goldens[pair.golden], &trial.findings[pair.finding]);
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
fn ranked(now: &Scorecard, profile: &Profile) -> Vec<(usize, f64)> {
    let values = now.tools.iter().enumerate().filter_map(|(at, tool)| Some((at, goodness(tool, profile)?)));
    let mut ranked: Vec<(usize, f64)> = values.collect();
    ranked.sort_by(|(a, x), (b, y)| y.total_cmp(x).then_with(|| now.tools[*a].tool.cmp(&now.tools[*b].tool)));
    ranked
}

/// Two tools change places if the one that is better now would be worse; a tie changes nothing.
fn change_without_judge(now: &Scorecard, other: &Scorecard, profile: &Profile) -> Option<ChangeV1> {
    let ranked = ranked(now, profile);
    let then = |at: usize| goodness(other.tools.get(at)?, profile);
    let overtakes = |&(below, low): &(usize, f64), &(above, high): &(usize, f64)| {
        high > low + LEAST && then(below).zip(then(above)).is_some_and(|(below, above)| below > above + LEAST)
    };
    let first = ranked.first()?;
    let leader = ranked.iter().filter(|tool| overtakes(tool, first));
    let leader = leader.max_by(|(a, _), (b, _)| then(*a).unwrap_or(0.0).total_cmp(&then(*b).unwrap_or(0.0)));
    let moves = |tool: &&(usize, f64)| ranked.iter().any(|other| overtakes(tool, other) || overtakes(other, tool));
    stated(ChangeV1 {
        leader: leader.map(|(at, _)| now.tools[*at].tool.to_string()),
        moved: ranked.iter().filter(moves).map(|(at, _)| now.tools[*at].tool.to_string()).collect(),
        verdicts: verdicts(now, std::slice::from_ref(other), profile),
    })
}

/// Tools have pairs of their own, so the worst that the first may get and the best that another may get can come true together.
fn change_if_flipped(now: &Scorecard, others: &[Scorecard], profile: &Profile) -> Option<ChangeV1> {
    let ranked = ranked(now, profile);
    let values = |at: usize| others.iter().filter_map(move |other| goodness(other.tools.get(at)?, profile));
    let &(first, value) = ranked.first()?;
    let worst = values(first).fold(value, f64::min);
    let could_lead = ranked.iter().filter(|(_, own)| value > own + LEAST).filter_map(|&(at, own)| {
        let best = values(at).fold(own, f64::max);
        (best > worst + LEAST).then_some((at, best))
    });
    let leader = could_lead.max_by(|(_, a), (_, b)| a.total_cmp(b));
    stated(ChangeV1 {
        leader: leader.map(|(at, _)| now.tools[at].tool.to_string()),
        moved: Vec::new(),
        verdicts: verdicts(now, others, profile),
    })
}

fn verdicts(now: &Scorecard, others: &[Scorecard], profile: &Profile) -> Vec<String> {
    let differs = |(at, tool): &(usize, &ToolScore)| {
        others.iter().any(|other| other.tools.get(*at).is_some_and(|then| then.pass != tool.pass))
    };
    let tools = now.tools.iter().enumerate().filter(|_| profile.expect_pass);
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
