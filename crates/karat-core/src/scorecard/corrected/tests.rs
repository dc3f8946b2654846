//! The estimate before its weights are scaled: exactly right on average, over all ways to draw labels.

use super::*;
use crate::finding::Finding;
use crate::golden::Golden;
use crate::ids::{CaseId, FindingId, GoldenId, ToolName};
use crate::scorecard::score;
use crate::suite::{Case, Verdict};

fn profile(name: &str) -> Profile {
    let text = match name {
        "recorded" => include_str!("../../../../karat/profiles/recorded.toml"),
        "crb" => include_str!("../../../../karat/profiles/crb.toml"),
        _ => include_str!("../../../../karat/profiles/karat.toml"),
    };
    let mut table: toml::Table = text.parse().unwrap();
    table.insert("judge".to_owned(), "none".into());
    table.try_into().unwrap()
}

fn says(judge: &str, place: PairIndex, matched: bool, probability: Option<f64>) -> Judgement {
    Judgement {
        case: CaseId::new("c"),
        tool: ToolName::new("t"),
        trial: 1,
        judge: JudgeName::new(judge),
        exchange: None,
        decision: Decision::Pair(PairDecision {
            golden: Some(GoldenId::new(format!("g{}", place.0))),
            finding: FindingId::new(format!("f{}", place.1)),
            matched,
            partial: None,
            confidence: None,
            explanation: None,
            probability,
            grounds: None,
        }),
    }
}

/// Golden, finding, whether it is a match, whether the judge says so, and the probability of a label.
const PAIRS: [(usize, usize, bool, bool, f64); 9] = [
    (0, 0, true, false, 0.2),
    (0, 1, true, true, 0.35),
    (1, 1, true, false, 0.5),
    (1, 2, false, true, 0.6),
    (2, 2, false, true, 0.8),
    (2, 0, true, false, 0.9),
    (0, 2, false, false, 0.3),
    (3, 3, false, true, 0.7),
    (3, 0, true, false, 0.4),
];

#[test]
fn the_mean_over_all_draws_is_what_people_would_count() {
    let mut case = Case { verdict: Verdict::Vulnerable, ..Case::new("c") };
    case.goldens = (0..5).map(|golden| Golden::new(format!("g{golden}"))).collect();
    let suite = Suite { name: "s".to_owned(), digest: String::new(), cases: vec![case] };
    let findings = (0..5).map(|finding| Finding::new(format!("f{finding}"))).collect();
    let trials = [Trial { findings, ..Trial::reported(CaseId::new("c"), ToolName::new("t"), 1) }];
    let judgements: Vec<Judgement> = PAIRS.iter().map(|p| says("model", (p.0, p.1), p.3, None)).collect();
    let truth: Vec<Judgement> = PAIRS.iter().map(|p| says("human:a", (p.0, p.1), p.2, None)).collect();
    for name in ["recorded", "karat", "crb"] {
        let profile = &profile(name);
        let scorecard = score(&suite, &trials, &judgements, profile);
        let expected = score(&suite, &trials, &truth, profile).tools[0].counts;
        assert_ne!(scorecard.tools[0].counts, expected, "{name}: the judge errs");
        let vocabulary = vocabulary(&suite, profile);
        let mut mean = Totals::default();
        for drawn in 0..1_u32 << PAIRS.len() {
            let (mut labels, mut chance) = (Vec::new(), 1.0);
            for (bit, pair) in PAIRS.iter().enumerate() {
                let is_drawn = drawn >> bit & 1 == 1;
                chance *= if is_drawn { pair.4 } else { 1.0 - pair.4 };
                labels.extend(is_drawn.then(|| says("human:a", (pair.0, pair.1), pair.2, Some(pair.4))));
            }
            let labelled = CorrectionInput {
                suite: &suite,
                trials: &trials,
                judgements: &judgements,
                labels: &labels,
                profile,
                cluster: None,
                level: 0.95,
            };
            let cases = CaseContext { cases: &suite.cases, vocabulary: &vocabulary, profile }.prepare(&trials);
            let context = Context {
                labelled,
                cases: &cases,
                judgements: JudgementsByTrial::new(&judgements),
                labels: JudgementsByTrial::new(&labels),
            };
            let trials = context.trial_pairs(&scorecard.tools[0]);
            let mut sample = first_phase(&trials);
            context.second_phase(&trials, &mut sample).unwrap();
            mean = mean.plus(sample.totals(), chance);
        }
        let Totals { tp, fp, required } = mean;
        let near = |found: f64, expected: usize| (found - expected as f64).abs() < 1e-9;
        assert!(near(tp, expected.tp) && near(fp, expected.fp) && near(required, 5), "{name}: {mean:?}, {expected:?}");
    }
}
