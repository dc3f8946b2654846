//! Which labels narrow the interval of the figure most.

use crate::story::{case, judgement, profile, suite, trial};
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::profile::Profile;
use karat_core::scorecard::label_priority::{
    LabelVotes, PairInstance, PriorityInput, Uncertainty, case_half_width, extra_bound_widths, figure_metric,
    narrowing, uncertainties,
};
use karat_core::scorecard::{Intervals, score};
use karat_core::stats::random::Random;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use proptest::prelude::*;

const LEVEL: f64 = 0.95;

/// Rules under which nothing counts that nobody decided.
fn judged() -> Profile {
    profile("karat", "judge = \"local\"")
}

fn by(tool: &str, trial: Trial) -> Trial {
    Trial { tool: ToolName::new(tool), ..trial }
}

fn instance(item: usize, trial: usize, golden: usize, finding: usize, probability: f64) -> PairInstance {
    PairInstance { item, trial, golden, finding, probability }
}

fn doubted(suite: &Suite, trials: &[Trial], judgements: &[Judgement], instances: &[PairInstance]) -> Vec<Uncertainty> {
    let items = instances.iter().map(|instance| instance.item + 1).max().unwrap_or(0);
    let profile = judged();
    uncertainties(PriorityInput { suite, trials, judgements, profile: &profile, threshold: 0.5 }, instances, items)
}

#[test]
fn a_repeat_of_what_is_found_anyway_moves_nothing() {
    let suite = suite(vec![case("c", "g1 a.py:5 kw=sql | x")]);
    let trials = [trial("c", 1, "f1 a.py:5 | sql\nf2 a.py:5 | sql again")];
    // The first is certain to people, and the second is open: as a match it is a duplicate, else an extra.
    let heard = [judgement("human:a g1 f1 yes")];
    let found = doubted(&suite, &trials, &heard, &[instance(0, 0, 0, 1, 0.5)]);
    // F1 is 1 with a duplicate and 2/3 with an extra.
    assert!((found[0].swing - 1.0 / 3.0).abs() < 1e-12, "{found:?}");
    // Where what no golden names counts nothing either way, there is nothing to learn.
    let sure = profile("karat", "judge = \"local\"\nheadline = [\"recall\"]");
    assert_eq!((figure_metric(&sure), figure_metric(&judged())), ("recall", "f1"));
    let scene = PriorityInput { suite: &suite, trials: &trials, judgements: &heard, profile: &sure, threshold: 0.5 };
    assert_eq!(uncertainties(scene, &[instance(0, 0, 0, 1, 0.5)], 1)[0].variance(), 0.0);
}

#[test]
fn a_pair_that_stands_in_many_trials_moves_all_of_them_at_once() {
    let suite = suite(vec![case("c", "g1 a.py:5 kw=sql | x"), case("d", "g1 a.py:5 kw=sql | x")]);
    let trials =
        [trial("c", 1, "f1 a.py:5 | sql"), trial("c", 2, "f1 a.py:5 | sql"), trial("d", 1, ""), trial("d", 2, "")];
    let one = doubted(&suite, &trials, &[], &[instance(0, 0, 0, 0, 0.3)]);
    let both = doubted(&suite, &trials, &[], &[instance(0, 0, 0, 0, 0.2), instance(0, 1, 0, 0, 0.4)]);
    // Two cases, two trials each: one trial is a quarter of the mean, both are a half.
    assert!((one[0].swing - 0.25).abs() < 1e-12 && (both[0].swing - 0.5).abs() < 1e-12, "{one:?} {both:?}");
    assert!((both[0].probability - 0.3).abs() < 1e-12);
    // A second tool halves what one of them can do to the mean of both.
    let mut more = trials.to_vec();
    more.extend(trials.iter().map(|trial| by("other", trial.clone())));
    let found = doubted(&suite, &more, &[], &[instance(0, 0, 0, 0, 0.3)]);
    assert!((found[0].swing - 0.125).abs() < 1e-12, "{found:?}");
}

/// A case for each pair, and each pair in a trial of its own, by one of two tools.
fn independent(pairs: usize) -> (Suite, Vec<Trial>) {
    let mut suite = suite(Vec::new());
    let mut trials = Vec::new();
    for number in 0..pairs {
        let name = format!("c{number}");
        // Cases differ in how much one pair is worth.
        let more: String = (0..number % 3).map(|n| format!("\ng{} b.py:{} kw=leak | y", n + 2, 40 * (n + 1))).collect();
        suite.cases.push(case(&name, &format!("g1 a.py:5 kw=sql | x{more}")));
        trials.push(trial(&name, 1, "f1 a.py:5 | sql"));
        trials.push(by("silent", trial(&name, 1, "")));
    }
    (suite, trials)
}

fn decided(number: usize, matched: bool) -> Judgement {
    let said = judgement(&format!("local g1 f1 {}", if matched { "yes" } else { "no" }));
    Judgement { case: CaseId::new(format!("c{number}")), ..said }
}

/// The figure as `score` has it.
fn figure(suite: &Suite, trials: &[Trial], judgements: &[Judgement]) -> f64 {
    let card = score(suite, trials, judgements, &judged());
    let f1 = |tool: &karat_core::scorecard::ToolScore| {
        tool.metrics.iter().find(|(id, _)| *id == "f1").and_then(|(_, estimate)| estimate.value)
    };
    let values: Vec<f64> = card.tools.iter().filter_map(f1).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn the_sum_is_the_variance_over_all_worlds(chances in proptest::collection::vec(0.01_f64..0.99, 1..7)) {
        let (suite, trials) = independent(chances.len());
        let instances: Vec<PairInstance> = chances.iter().enumerate().map(|(n, p)| instance(n, 2 * n, 0, 0, *p)).collect();
        let summed: f64 = doubted(&suite, &trials, &[], &instances).iter().map(|doubt| doubt.variance()).sum();
        let (mut mean, mut square) = (0.0, 0.0);
        for world in 0..1_usize << chances.len() {
            let is = |n: usize| world >> n & 1 == 1;
            let judgements: Vec<Judgement> = (0..chances.len()).map(|n| decided(n, is(n))).collect();
            let likely: f64 = chances.iter().enumerate().map(|(n, p)| if is(n) { *p } else { 1.0 - p }).product();
            let value = figure(&suite, &trials, &judgements);
            mean += likely * value;
            square += likely * value * value;
        }
        prop_assert!((summed - (square - mean * mean)).abs() < 1e-12, "{summed} {}", square - mean * mean);
    }

    #[test]
    fn no_order_narrows_faster(chances in proptest::collection::vec(0.0_f64..=1.0, 2..9), seed in 0_u64..1000) {
        let (suite, trials) = independent(chances.len());
        let instances: Vec<PairInstance> = chances.iter().enumerate().map(|(n, p)| instance(n, 2 * n, 0, 0, *p)).collect();
        let found = doubted(&suite, &trials, &[], &instances);
        // Half the width after each label, in this order, whatever people say.
        let widths = |order: &[usize]| -> Vec<f64> {
            let mut voices = vec![LabelVotes::default(); found.len()];
            let mut after = |item: &usize| {
                voices[*item] = LabelVotes { yes: seed as usize & 1, all: 1 };
                narrowing(&found, &voices, Some(0.01), 0.5, LEVEL).now
            };
            order.iter().map(&mut after).collect()
        };
        let mut best: Vec<usize> = (0..found.len()).collect();
        let (mut doubtful, mut random) = (best.clone(), best.clone());
        best.sort_by(|a, b| found[*b].variance().total_cmp(&found[*a].variance()));
        doubtful.sort_by(|a, b| (chances[*a] - 0.5).abs().total_cmp(&(chances[*b] - 0.5).abs()));
        let mut chance = Random::new(seed, 0);
        random.sort_by_cached_key(|_| chance.below(1 << 30));
        for other in [doubtful, random] {
            for (best, other) in widths(&best).iter().zip(widths(&other)) {
                prop_assert!(*best <= other + 1e-15, "{best} {other}");
            }
        }
    }
}

#[test]
fn disagreement_keeps_uncertainty() {
    let found = [Uncertainty { probability: 0.9, swing: 0.2 }, Uncertainty { probability: 0.4, swing: 0.1 }];
    let describe = |voices: [(usize, usize); 2]| {
        let voices = voices.map(|(yes, all)| LabelVotes { yes, all });
        narrowing(&found, &voices, None, 0.5, LEVEL)
    };
    let z = 1.959_963_984_540_054;
    let nobody = describe([(0, 0), (0, 0)]);
    assert!((nobody.before - z * f64::sqrt(0.04 * 0.09 + 0.01 * 0.24)).abs() < 1e-12 && nobody.now == nobody.before);
    let divided = describe([(1, 2), (0, 1)]);
    assert!((divided.now - z * f64::sqrt(0.04 * 0.25)).abs() < 1e-12, "more doubt than the judge admits: {divided:?}");
    assert_eq!((divided.labelled, divided.wrong), (1, 0));
    let agreed = describe([(0, 1), (1, 1)]);
    assert_eq!((agreed.now, agreed.labelled, agreed.wrong), (0.0, 2, 2));
    assert!((agreed.expected - (0.1 + 0.4)).abs() < 1e-12);
}

#[test]
fn an_overconfident_judge_is_flagged() {
    let found = vec![Uncertainty { probability: 0.93, swing: 0.01 }; 42];
    let describe = |wrong: usize| {
        let voices: Vec<LabelVotes> = (0..42).map(|n| LabelVotes { yes: usize::from(n >= wrong), all: 1 }).collect();
        narrowing(&found, &voices, Some(0.04), 0.5, LEVEL)
    };
    let seven = describe(7);
    assert_eq!((seven.labelled, seven.wrong, seven.overconfident), (42, 7, true));
    assert!((seven.expected - 42.0 * 0.07).abs() < 1e-9);
    assert!(!describe(4).overconfident && !describe(0).overconfident);
    assert!((seven.now - 0.04).abs() < 1e-12, "what the cases owe to chance no label takes away");
}

#[test]
fn the_width_over_cases_is_that_of_the_report() {
    let (suite, trials) = independent(6);
    let judgements: Vec<Judgement> = (0..6).map(|n| decided(n, n % 2 == 0)).collect();
    let mut card = score(&suite, &trials, &judgements, &judged());
    assert_eq!(case_half_width(&card, &judged()), None);
    card.add_intervals(&suite, &judged(), &Intervals { seed: Some(1), resamples: 500, ..Intervals::default() });
    let ci = card.tools[0].metrics.iter().find(|(id, _)| *id == "f1").unwrap().1.ci.unwrap();
    let silent = card.tools[1].metrics.iter().find(|(id, _)| *id == "f1").unwrap().1.ci;
    let halves: Vec<f64> = [Some(ci), silent].into_iter().flatten().map(|[low, high]| (high - low) / 2.0).collect();
    let mean = halves.iter().sum::<f64>() / halves.len() as f64;
    assert!((case_half_width(&card, &judged()).unwrap() - mean).abs() < 1e-12 && mean > 0.0);
}

#[test]
fn extras_weigh_by_how_far_apart_they_keep_the_bounds() {
    let suite = suite(vec![case("c", "g1 a.py:5 kw=sql | x"), case("d", "g1 a.py:5 kw=sql | x"), case("clean", "")]);
    let trials = [
        trial("c", 1, "f1 a.py:5 | sql\nf2 z.py:1 | typo"),
        trial("d", 1, "f1 a.py:5 | sql\nf2 z.py:1 | typo\nf3 y.py:2 | style\nf4 w.py:3 | name"),
        trial("clean", 1, "f1 z.py:1 | typo"),
    ];
    let rules = profile("karat", "");
    let card = score(&suite, &trials, &[], &rules);
    let value = |id: &str| card.tools[0].metrics.iter().find(|(own, _)| *own == id).unwrap().1.value.unwrap();
    let widths = extra_bound_widths(&card, &suite, trials.len());
    // Each extra of the first is half of what it reports, each of the second a quarter; both cases weigh a half.
    assert_eq!(widths, [0.25, 0.125, 0.0]);
    let gap = value("precision_upper") - value("precision_lower");
    assert!((gap - (widths[0] + 3.0 * widths[1])).abs() < 1e-12, "together they are the gap: {gap}");
}
