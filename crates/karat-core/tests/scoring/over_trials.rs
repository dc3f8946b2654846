//! Every metric of several trials against the same metric of each trial alone.

use crate::story::{case, profile, suite, trial};
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Decision, Expressed, Judgement, TargetAssessment, TypeMatch,
};
use karat_core::metric::table::{METRICS, Source};
use karat_core::scorecard::{ToolScore, score};
use karat_core::stats::random::Random;
use karat_core::stats::summary::sample_std;
use karat_core::suite::{Suite, Verdict};
use karat_core::trial::Trial;
use std::collections::BTreeSet;

const TRIALS: u32 = 4;

fn five() -> Suite {
    let mut cases = vec![
        case("bug", "g a.py:5 kw=sql cwe=89 sev=high target | x\n h b.py:9 kw=race sev=low | y"),
        case("other", "g c.py:5-9 kw=leak sev=critical target | x"),
        case("third", "g d.py:7 kw=null sev=low | x"),
        case("fix", ""),
        case("clean", ""),
    ];
    cases[0].twin = Some(CaseId::new("fix"));
    cases[0].language = Some("python".to_owned());
    cases[1].language = Some("python".to_owned());
    suite(cases)
}

fn random_trials(random: &mut Random) -> Vec<Trial> {
    let mut trials = Vec::new();
    for number in 1..=TRIALS {
        for (id, said) in [
            ("bug", ["f1 a.py:5 sev=high | sql", "f2 b.py:11 sev=low | race"]),
            ("other", ["f1 c.py:5-9 sev=high | leak", "f2 c.py:8 sev=low | leak"]),
            ("third", ["f1 d.py:9 sev=low | null", "f2 q.py:1 sev=high | noise"]),
            ("fix", ["f1 a.py:5 sev=high cwe=89 | sql", "f2 z.py:1 sev=low | noise"]),
            ("clean", ["f1 z.py:3 sev=low | noise", ""]),
        ] {
            let findings: Vec<&str> = said.into_iter().filter(|_| random.unit() < 0.6).collect();
            let mut one = trial(id, number, &findings.join("\n"));
            one.verdict = Some(if random.unit() < 0.6 { Verdict::Vulnerable } else { Verdict::Safe });
            one.confidence = Some((random.unit() * 20.0).round() / 20.0);
            one.findings
                .iter_mut()
                .for_each(|finding| finding.confidence = Some((random.unit() * 10.0).round() / 10.0));
            trials.push(one);
        }
    }
    trials
}

fn audit(trial: &Trial, random: &mut Random) -> Judgement {
    let mut below = |n: usize| (random.unit() * n as f64) as usize;
    let class = |id: &FindingId, at: usize| ClassifiedFinding {
        classification: Some(Classification::ALL[at]),
        ..ClassifiedFinding::unasked(id.clone())
    };
    let findings = trial.findings.iter().map(|finding| class(&finding.id, below(Classification::ALL.len()))).collect();
    let found = below(4) > 0;
    let mut rated = || Some(below(11) as f64 / 10.0);
    let (rcir, ava, fsv) = (rated(), rated(), rated());
    Judgement {
        case: trial.case.clone(),
        tool: ToolName::new("t"),
        trial: trial.number,
        judge: JudgeName::new("m"),
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some(Expressed::Value(below(2) > 0)),
            findings,
            target: Some(TargetAssessment {
                found: Some(found),
                finding: None,
                type_match: Some(TypeMatch::ALL[below(TypeMatch::ALL.len())]),
                rcir,
                ava,
                fsv,
            }),
            ..AuditDecision::default()
        }),
    }
}

fn of_number(suite: &Suite, trials: &[Trial], judgements: &[Judgement], rules: &str, number: u32) -> ToolScore {
    let own: Vec<Trial> = trials.iter().filter(|trial| trial.number == number).cloned().collect();
    let judged: Vec<Judgement> = judgements.iter().filter(|own| own.trial == number).cloned().collect();
    score(suite, &own, &judged, &profile(rules, "")).tools.remove(0)
}

#[test]
fn the_spread_over_trials_is_that_of_each_trial_scored_alone() {
    let suite = five();
    let (mut with_spread, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..40 {
        let mut random = Random::new(seed, 0);
        let trials = random_trials(&mut random);
        let audits: Vec<Judgement> = trials.iter().map(|trial| audit(trial, &mut random)).collect();
        for (rules, judgements) in [("karat", &[][..]), ("audit", &audits), ("owasp", &[]), ("crb", &[])] {
            let all = score(&suite, &trials, judgements, &profile(rules, "")).tools.remove(0);
            let alone: Vec<ToolScore> =
                (1..=TRIALS).map(|number| of_number(&suite, &trials, judgements, rules, number)).collect();
            for metric in METRICS {
                let value = |tool: &ToolScore| {
                    let metrics = tool.metrics.iter().find(|(id, _)| *id == metric.id);
                    metrics.map(|(_, estimate)| (estimate.value, estimate.std_trials))
                };
                let Some((Some(_), spread)) = value(&all) else { continue };
                defined.insert(metric.id);
                if matches!(metric.source, Source::Trials | Source::Fixes | Source::Whole) {
                    assert_eq!(spread, None, "{}", metric.id);
                    continue;
                }
                let values: Vec<f64> = alone.iter().filter_map(|tool| value(tool)?.0).collect();
                let expected = sample_std(&values);
                assert_eq!(spread.is_some(), expected.is_some(), "{rules} {} {values:?}", metric.id);
                if let (Some(spread), Some(expected)) = (spread, expected) {
                    assert!((spread - expected).abs() < 1e-9, "{rules} {}: {spread}, {expected}", metric.id);
                    with_spread.insert(metric.id);
                }
            }
            let python = &all.by["language"]["python"].metrics;
            assert!(python.iter().any(|(id, estimate)| *id == "accuracy" && estimate.std_trials.is_some()));
        }
    }
    // All that a single trial can have, but what no profile above gives a value.
    let single = |metric: &&karat_core::metric::table::Metric| {
        metric.track == karat_core::metric::table::Track::Findings
            && !matches!(metric.source, Source::Trials | Source::Fixes | Source::Whole)
    };
    let missing: Vec<&str> =
        METRICS.iter().filter(single).map(|metric| metric.id).filter(|id| !with_spread.contains(id)).collect();
    assert_eq!(missing, [""; 0], "of {defined:?}");
}
