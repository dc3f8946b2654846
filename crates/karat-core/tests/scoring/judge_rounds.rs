//! A judge is asked as little as possible, and what comes out is what asking everything would give.

use karat_core::finding::Finding;
use karat_core::golden::{Acceptance, Golden};
use karat_core::ids::{GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::matching::outcome::Flag;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::{Assignment, Profile};
use karat_core::scorecard::{JudgeRounds, PairQuestion, mark_unjudged, run_judge_rounds, score};
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use proptest::prelude::*;
use std::convert::Infallible;

/// Words that goldens want and findings use, so that scores of every height come about.
const WORDS: [&str; 6] = ["lock", "query", "token", "path", "race", "leak"];

fn golden(index: usize, words: &[usize], acceptance: Acceptance) -> Golden {
    let mut golden = Golden::new(format!("g{index}"));
    golden.title = Some("A golden".to_owned());
    golden.file = FilePattern::new("a.rs");
    golden.keywords = words.iter().map(|word| WORDS[*word].to_owned()).collect();
    golden.acceptance = acceptance;
    golden
}

fn finding(index: usize, words: &[usize], near: bool) -> Finding {
    let mut finding = Finding::new(format!("f{index}"));
    finding.title = Some(words.iter().map(|word| WORDS[*word]).collect::<Vec<_>>().join(" "));
    finding.file = RepoPath::new(if near { "a.rs" } else { "b.rs" });
    finding
}

prop_compose! {
    fn drawn()(
        goldens in prop::collection::vec((prop::collection::vec(0..6_usize, 1..4), 0..5_u8), 0..6),
        findings in prop::collection::vec((prop::collection::vec(0..6_usize, 0..4), prop::bool::weighted(0.7)), 0..7),
        answers in prop::collection::vec((prop::bool::weighted(0.4), 0..=10_u8), 48),
    ) -> (Suite, Vec<Trial>, Vec<(bool, f64)>) {
        let mut case = Case::new("c");
        let kind = |n: u8| match n { 0 => Acceptance::Acceptable, 1 => Acceptance::Trap, _ => Acceptance::Required };
        case.goldens = goldens.iter().enumerate().map(|(i, (words, n))| golden(i, words, kind(*n))).collect();
        let mut trial = Trial::reported(case.id.clone(), ToolName::new("t"), 1);
        trial.findings = findings.iter().enumerate().map(|(i, (words, near))| finding(i, words, *near)).collect();
        let suite = Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case] };
        (suite, vec![trial], answers.into_iter().map(|(yes, n)| (yes, f64::from(n) / 10.0)).collect())
    }
}

/// What the drawn judge says of a pair, always the same.
fn verdict(question: (&str, &str), answers: &[(bool, f64)]) -> (bool, f64) {
    let number = |id: &str| id[1..].parse::<usize>().unwrap_or_default();
    answers[(number(question.0) * 7 + number(question.1)) % answers.len()]
}

fn judgement(trial: &Trial, golden: &str, finding: &str, answers: &[(bool, f64)]) -> Judgement {
    let (matched, confidence) = verdict((golden, finding), answers);
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: JudgeName::new("drawn"),
        exchange: None,
        decision: Decision::Pair(PairDecision {
            probability: None,
            golden: Some(GoldenId::new(golden)),
            finding: karat_core::ids::FindingId::new(finding),
            matched,
            partial: None,
            confidence: Some(confidence),
            explanation: None,
            grounds: None,
        }),
    }
}

fn ask(suite: &Suite, trials: &[Trial], profile: &Profile, answers: &[(bool, f64)]) -> (JudgeRounds, usize) {
    let mut seen = std::collections::BTreeSet::new();
    let mut twice = 0;
    let mut answer = |questions: &[PairQuestion<'_>]| {
        let one = |q: &PairQuestion<'_>| {
            twice += usize::from(!seen.insert((q.golden.id.to_string(), q.finding.id.to_string())));
            judgement(q.trial, q.golden.id.as_str(), q.finding.id.as_str(), answers)
        };
        Ok::<_, Infallible>(questions.iter().map(one).collect())
    };
    let done = run_judge_rounds(suite, trials, Vec::new(), profile, &JudgeName::new("drawn"), &mut answer).unwrap();
    (done, twice)
}

fn with_judge(assignment: Assignment) -> Profile {
    Profile { judge: "drawn".to_owned(), assignment, ..crate::story::profile("karat", "") }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn asking_in_rounds_gives_the_result_of_asking_everything((suite, trials, answers) in drawn()) {
        let profile = with_judge(Assignment::Exact);
        let (done, twice) = ask(&suite, &trials, &profile, &answers);
        prop_assert_eq!(twice, 0);
        prop_assert_eq!(done.judgements.len(), done.asked);
        // All candidates: the best three of each golden from a score of 0.1 on.
        let unjudged = Profile { judge: "none".to_owned(), ..profile.clone() };
        let best = karat_core::scorecard::candidates(&suite, &suite.cases[0], &trials[0], &[], &unjudged, 3);
        let mut all = Vec::new();
        for (golden, candidates) in suite.cases[0].goldens.iter().zip(&best) {
            for candidate in candidates.iter().filter(|candidate| candidate.score >= profile.judge_threshold - 1e-12) {
                let finding = &trials[0].findings[candidate.index];
                all.push(judgement(&trials[0], golden.id.as_str(), finding.id.as_str(), &answers));
            }
        }
        prop_assert_eq!(done.asked + done.saved, all.len());
        let (lazy, eager) = (score(&suite, &trials, &done.judgements, &profile), score(&suite, &trials, &all, &profile));
        let total = |card: &karat_core::scorecard::Scorecard| -> i64 {
            let result = &card.tools[0].cases[0].trials[0].result;
            let scores = result.matches.iter().map(|m| m.score.unwrap_or_default());
            scores.map(|score| (score * 1e9).round() as i64).sum()
        };
        prop_assert_eq!(total(&lazy), total(&eager));
        // Assignments of the same total may match more or fewer; then both say that there is another.
        let tied = |card: &karat_core::scorecard::Scorecard| {
            let result = &card.tools[0].cases[0].trials[0].result;
            let flags = result.matches.iter().chain(&result.acceptable).map(|m| &m.flags);
            flags.chain(result.extras.iter().map(|e| &e.flags)).any(|flags| flags.contains(&Flag::Ambiguous))
        };
        prop_assert_eq!(tied(&lazy), tied(&eager));
        if !tied(&eager) {
            prop_assert_eq!(&lazy.tools[0].counts, &eager.tools[0].counts);
        }
    }

    #[test]
    fn greed_asks_once_for_each_golden((suite, trials, answers) in drawn()) {
        let profile = with_judge(Assignment::Greedy);
        let (done, twice) = ask(&suite, &trials, &profile, &answers);
        prop_assert_eq!(twice, 0);
        prop_assert!(done.rounds <= 1);
        prop_assert!(done.asked <= suite.cases[0].goldens.len());
        let card = score(&suite, &trials, &done.judgements, &profile);
        let yes = done.judgements.iter().filter(|j| matches!(&j.decision, Decision::Pair(pair) if pair.matched));
        let result = &card.tools[0].cases[0].trials[0].result;
        let traps = result.extras.iter().filter(|extra| !extra.flags.is_empty()).count();
        prop_assert_eq!(yes.count(), result.matches.len() + result.acceptable.len() + traps);
    }

    /// A judge that never answers is not asked for ever, and nothing is silently missed.
    #[test]
    fn silence_is_told((suite, trials, _) in drawn()) {
        let profile = with_judge(Assignment::Exact);
        let done = run_judge_rounds(&suite, &trials, Vec::new(), &profile, &JudgeName::new("mute"), &mut |_| Ok::<_, Infallible>(Vec::new())).unwrap();
        prop_assert!(done.judgements.iter().all(|j| matches!(j.decision, Decision::Unjudged(_))));
        let card = score(&suite, &trials, &done.judgements, &profile);
        let result = &card.tools[0].cases[0].trials[0].result;
        prop_assert!(result.matches.is_empty());
        let asked: std::collections::BTreeSet<&str> = done.judgements.iter().filter_map(|j| match &j.decision {
            Decision::Unjudged(pair) => Some(pair.golden.as_str()),
            _ => None,
        }).collect();
        for miss in &result.misses {
            let asked = asked.contains(suite.cases[0].goldens[miss.golden].id.as_str());
            prop_assert_eq!(asked, miss.flags.contains(&karat_core::matching::outcome::Flag::Unjudged));
        }
    }
}

/// What no judge covers is laid to the same judge in whatever order the judgements were read.
#[test]
fn open_pairs_do_not_depend_on_the_order_of_judgements() {
    let case = crate::story::case("c", "g1 a.py:10 kw=sql | x\n g2 c.py:9 kw=log | z");
    let suite = crate::story::suite(vec![case]);
    let trials = [crate::story::trial("c", 1, "f1 a.py:10 | sql\n f2 c.py:9 | log")];
    let profile = crate::story::profile("karat", "");
    let mut judgements = ["b g1 f1 yes", "a g1 f1 yes", "human:a g1 f1 yes"].map(crate::story::judgement);
    let judges = [JudgeName::new("a"), JudgeName::new("b")];
    for _ in 0..judgements.len() {
        judgements.rotate_left(1);
        let open = mark_unjudged(&suite, &trials, &judgements, &profile, &judges.iter().collect());
        let of = |judgement: &Judgement| match &judgement.decision {
            Decision::Unjudged(pair) => format!("{} {} {}", judgement.judge, pair.golden, pair.finding),
            other => panic!("{other:?}"),
        };
        assert_eq!(open.iter().map(of).collect::<Vec<_>>(), ["a g2 f2"]);
    }
}
