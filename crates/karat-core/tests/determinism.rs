//! The same input gives the same scorecard, whatever the number of threads and whoever else is scored beside.
#![expect(clippy::expect_used, reason = "a test may stop at the first fault")]

#[path = "../benches/matching/random.rs"]
mod random;
#[path = "../benches/matching/workload.rs"]
mod workload;

use karat_core::ids::{CaseId, FindingId, GoldenId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement, PairDecision};
use karat_core::profile::{Assignment, Profile, Unstated};
use karat_core::scorecard::{Scorecard, score};
use karat_core::suite::Suite;
use karat_core::trial::{Outcome, Trial};

/// Goldens with keywords in the first half of the cases, goldens of prose alone in the second.
fn mixed_suite() -> Suite {
    let mut suite = workload::suite(60, 4);
    let prose = workload::suite(120, 0);
    suite.cases.extend(prose.cases.into_iter().skip(60));
    suite
}

/// Several trials, some of them failed, one missing.
fn trials(suite: &Suite, tool: &str) -> Vec<Trial> {
    let mut trials: Vec<Trial> = (1..=2).flat_map(|number| workload::trials(suite, tool, number)).collect();
    for trial in trials.iter_mut().step_by(17) {
        trial.outcome = Outcome::Crashed;
        trial.findings.clear();
    }
    trials.remove(30);
    trials
}

/// A judge that has said something of one pair of every third case, not always yes.
fn judgements(suite: &Suite, tool: &str) -> Vec<Judgement> {
    let about = |index: usize| Judgement {
        case: CaseId::new(suite.cases[index].id.as_str()),
        tool: ToolName::new(tool),
        trial: 1,
        judge: JudgeName::new("drawn"),
        exchange: None,
        decision: Decision::Pair(PairDecision {
            probability: None,
            golden: Some(GoldenId::new(format!("g{}", index % 8))),
            finding: FindingId::new(format!("f{}", index % 7)),
            matched: index.is_multiple_of(2),
            partial: None,
            confidence: Some(0.75),
            explanation: None,
            grounds: None,
        }),
    };
    (0..suite.cases.len()).step_by(3).map(about).collect()
}

fn profiles() -> Vec<Profile> {
    let exact = workload::profile(include_str!("../../karat/profiles/karat.toml"));
    let greedy = Profile { assignment: Assignment::Greedy, unstated: Unstated::Zero, ..exact.clone() };
    vec![exact, greedy]
}

fn with_threads(threads: usize, work: impl FnOnce() -> Scorecard + Send) -> Scorecard {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool of threads").install(work)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let suite = mixed_suite();
    let both = [trials(&suite, "one"), trials(&suite, "two")].concat();
    let said = [judgements(&suite, "one"), judgements(&suite, "two")].concat();
    for profile in profiles() {
        let run = |threads| with_threads(threads, || score(&suite, &both, &said, &profile));
        let alone = run(1);
        assert!(alone.tools.iter().all(|tool| tool.counts.tp > 0 && tool.counts.fp > 0 && tool.counts.fn_ > 0));
        for threads in [2, 7] {
            let together = run(threads);
            assert!(together == alone, "{}: {threads} threads give another scorecard", profile.name);
            // Equality overlooks the sign of a zero and refuses what is not a number; the text shows both.
            assert!(format!("{together:?}") == format!("{alone:?}"), "{}: {threads} threads", profile.name);
        }
    }
}

#[test]
fn a_tools_scores_do_not_depend_on_other_tools() {
    let suite = mixed_suite();
    let (one, two) = (trials(&suite, "one"), trials(&suite, "two"));
    let (said_one, said_two) = (judgements(&suite, "one"), judgements(&suite, "two"));
    for profile in profiles() {
        let alone = score(&suite, &one, &said_one, &profile);
        let beside =
            score(&suite, &[one.clone(), two.clone()].concat(), &[&said_one[..], &said_two].concat(), &profile);
        assert_eq!(beside.tools.len(), 2);
        assert!(format!("{:?}", beside.tools[0]) == format!("{:?}", alone.tools[0]), "{}", profile.name);
    }
}
