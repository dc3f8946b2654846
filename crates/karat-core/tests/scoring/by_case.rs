//! Cases that are scored one by one, in any order, add up to the same scorecard.

use crate::properties::{findings, goldens};
use crate::story::{profile, suite};
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::{CaseId, FindingId, GoldenId, ToolName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::profile::Profile;
use karat_core::scorecard::{
    CaseInput, Intervals, JudgementsByTrial, Scorecard, ScoredCase, Scorer, TrialPlan, TrialScore, score,
};
use karat_core::suite::{Case, Suite, Verdict};
use karat_core::trial::{Outcome, Trial};
use proptest::prelude::*;

fn without_pairs(mut card: Scorecard) -> Scorecard {
    let cases = card.tools.iter_mut().flat_map(|tool| &mut tool.cases);
    cases.flat_map(|case| &mut case.trials).for_each(TrialScore::drop_pairs);
    card
}

/// Scores every case with nothing but its own trials and judgements, in this order.
fn by_case(suite: &Suite, trials: &[Trial], judgements: &[Judgement], profile: &Profile, order: &[usize]) -> Scorecard {
    let plan = TrialPlan::of_trials(suite, trials);
    let unknown = judgements.iter().filter(|judgement| !plan.covers(judgement)).count();
    let mut scorer = Scorer::new(suite, profile, &plan, unknown);
    let score_case = |&case: &usize| {
        let id = &suite.cases[case].id;
        let own_trials: Vec<Trial> = trials.iter().filter(|trial| trial.case == *id).cloned().collect();
        let own_judgements: Vec<Judgement> = judgements.iter().filter(|own| own.case == *id).cloned().collect();
        let own: Vec<usize> = (0..own_trials.len()).collect();
        let judged = JudgementsByTrial::new(&own_judgements);
        let mut scored = scorer.score_case(CaseInput { case, trials: &own_trials, own: &own, judgements: &judged });
        scored.drop_pairs();
        scored
    };
    let mut scored: Vec<ScoredCase> = order.iter().map(score_case).collect();
    scored.sort_by_key(|scored| scored.case);
    scored.into_iter().for_each(|scored| scorer.add(scored));
    scorer.finish()
}

type DrawnTrial = (u8, u8, u32, u8, Vec<Finding>, Option<f64>);

fn drawn_trials() -> impl Strategy<Value = Vec<DrawnTrial>> {
    let one = (0..5_u8, 0..3_u8, 1..3_u32, 0..8_u8, findings(), proptest::option::of(0.0_f64..=1.0));
    proptest::collection::vec(one, 1..14)
}

fn trial((case, tool, number, outcome, mut findings, confidence): DrawnTrial) -> Trial {
    let outcome = match outcome {
        0 => Outcome::Crashed,
        1 => Outcome::Unavailable,
        _ => Outcome::Reported,
    };
    for (at, finding) in findings.iter_mut().enumerate() {
        finding.confidence = confidence.filter(|_| at % 2 == 0);
        finding.category = (at % 3 == 0).then(|| "memory".to_owned());
    }
    let notes = if confidence.is_none() { vec!["a file was not read".to_owned()] } else { Vec::new() };
    // There are four cases: the fifth is in no suite.
    let trial = Trial::reported(CaseId::new(format!("c{case}")), ToolName::new(format!("t{tool}")), number);
    Trial { outcome, findings, confidence, notes, ..trial }
}

fn case((at, goldens): (usize, Vec<Golden>)) -> Case {
    let verdict = if goldens.is_empty() { Verdict::Safe } else { Verdict::Vulnerable };
    let twin = (at == 1).then(|| CaseId::new("c0"));
    let language = Some(["go", "rust"][at % 2].to_owned());
    Case { goldens, verdict, twin, language, ..Case::new(format!("c{at}")) }
}

fn judgement(case: u8, tool: u8, golden: u8, finding: u8, matched: bool) -> Judgement {
    let decision = PairDecision {
        golden: Some(GoldenId::new(format!("g{golden}"))),
        finding: FindingId::new(format!("f{finding}")),
        matched,
        partial: None,
        confidence: Some(0.8),
        explanation: None,
        probability: None,
        grounds: None,
    };
    Judgement {
        case: CaseId::new(format!("c{case}")),
        tool: ToolName::new(format!("t{tool}")),
        trial: 1,
        judge: "j".into(),
        exchange: None,
        decision: Decision::Pair(decision),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn cases_add_up_to_the_scorecard(
        goldens in proptest::collection::vec(goldens(), 4),
        trials in drawn_trials(),
        judged in proptest::collection::vec((0..4_u8, 0..3_u8, 0..6_u8, 0..8_u8, any::<bool>()), 0..8),
        order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
        name in prop::sample::select(vec!["karat", "crb", "identity", "owasp", "recorded"]),
    ) {
        let suite = suite(goldens.into_iter().enumerate().map(case).collect());
        let trials: Vec<Trial> = trials.into_iter().map(trial).collect();
        let judgements: Vec<Judgement> =
            judged.into_iter().map(|(c, t, g, f, matched)| judgement(c, t, g, f, matched)).collect();
        let profile = profile(name, "");
        let mut whole = score(&suite, &trials, &judgements, &profile);
        let mut added = by_case(&suite, &trials, &judgements, &profile, &order);
        // Intervals and everything else that comes later needs no pairs.
        let intervals = Intervals { seed: Some(7), resamples: 50, ..Intervals::default() };
        whole.add_intervals(&suite, &profile, &intervals);
        added.add_intervals(&suite, &profile, &intervals);
        prop_assert_eq!(without_pairs(whole), added);
    }
}
