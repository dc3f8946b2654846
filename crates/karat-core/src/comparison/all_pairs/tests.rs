use super::*;
use crate::comparison::{Pairs, Row, Rules, ToolScores, compare, test_all_pairs};
use crate::stats::distribution::quantile;
use crate::stats::paired::{holm, sign_flip};
use crate::stats::random::Random;

fn normal(random: &mut Random) -> f64 {
    quantile((random.unit() + 1e-9).min(1.0 - 1e-9))
}

/// Tools whose cases share their difficulty and differ by so much on average.
fn scored(means: &[f64], cases: usize, seed: u64) -> Vec<Vec<Option<f64>>> {
    let mut random = Random::new(seed, 0);
    let mut tools = vec![Vec::new(); means.len()];
    for _ in 0..cases {
        let difficulty = 0.3 * normal(&mut random);
        for (tool, mean) in tools.iter_mut().zip(means) {
            tool.push(Some(mean + difficulty + 0.2 * normal(&mut random)));
        }
    }
    tools
}

fn rules(resamples: usize) -> Rules {
    Rules { resamples, seed: Some(7), ..Rules::default() }
}

fn ratio(sums: &[f64]) -> Option<f64> {
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}

/// The same as rows whose ratio is the mean of cases; cases without a value add nothing.
fn as_sums(tools: &[Vec<Option<f64>>]) -> ToolScores<'static> {
    let row = |value: &Option<f64>| -> Row { value.map_or_else(Vec::new, |v| vec![(0, v), (1, 1.0)]) };
    let rows = tools.iter().map(|tool| tool.iter().map(row).collect()).collect();
    ToolScores::Sums { rows, columns: 2, value: &ratio }
}

/// The differences of two tools on the cases both have a value on, and the clusters of those.
fn shared(a: &[Option<f64>], b: &[Option<f64>], clusters: &[usize]) -> (Vec<f64>, Vec<usize>) {
    let both =
        a.iter().zip(b).zip(clusters).filter_map(|((a, b), cluster)| Some((b.as_ref()? - a.as_ref()?, *cluster)));
    both.unzip()
}

#[test]
fn pairs_are_tested_as_each_would_be_alone() {
    let mut tools = scored(&[0.5, 0.5, 0.55, 0.62, 0.5], 120, 1);
    // Three tools lack values, each on other cases, and one on very many.
    tools[1][7] = None;
    (0..30).for_each(|case| tools[2][case * 3] = None);
    (0..100).for_each(|case| tools[4][case] = None);
    let alone: Vec<usize> = (0..120).collect();
    let by_three: Vec<usize> = (0..120).map(|case| case / 3).collect();
    for clusters in [None, Some(by_three.as_slice())] {
        let tests = test_all_pairs(&ToolScores::Values(tools.clone()), clusters, &rules(20_000));
        assert_eq!(tests.len(), 10);
        for test in &tests {
            let (differences, names) = shared(&tools[test.a], &tools[test.b], clusters.unwrap_or(&alone));
            let single = sign_flip(&differences, Some(&names), 20_000, Some(3)).unwrap();
            let mut by_cluster = BTreeMap::new();
            names.iter().zip(&differences).for_each(|(name, d)| *by_cluster.entry(*name).or_insert(0.0) += d);
            let units = by_cluster.values().filter(|v: &&f64| **v != 0.0).count();
            assert_eq!((test.n, test.differing), (differences.len(), units), "{test:?}");
            let mean = differences.iter().sum::<f64>() / differences.len() as f64;
            assert!((test.difference.unwrap() - mean).abs() < 1e-12, "{test:?} {mean}");
            let p = test.p.unwrap();
            // Pairs that cannot become significant are drawn 4,096 times.
            let error = 5.0 * (single * (1.0 - single) / 4_000.0).sqrt() + 2e-4;
            assert!((p - single).abs() <= if units > EXACT_UNITS { error } else { 1e-12 }, "{test:?} {single:?}");
        }
        let p: Vec<f64> = tests.iter().map(|test| test.p.unwrap()).collect();
        let adjusted: Vec<f64> = tests.iter().map(|test| test.p_holm.unwrap()).collect();
        assert_eq!(adjusted, holm(&p));
    }
}

#[test]
fn figures_that_are_no_means_are_tested_by_swaps() {
    for (cases, exact) in [(9, true), (90, false)] {
        let tools = scored(&[0.5, 0.6, 0.5], cases, 2);
        let values = test_all_pairs(&ToolScores::Values(tools.clone()), None, &rules(20_000));
        let sums = test_all_pairs(&as_sums(&tools), None, &rules(20_000));
        for (value, sum) in values.iter().zip(&sums) {
            assert!((value.difference.unwrap() - sum.difference.unwrap()).abs() < 1e-9, "{value:?} {sum:?}");
            let error = if exact { 1e-12 } else { 0.03 };
            assert!((value.p.unwrap() - sum.p.unwrap()).abs() <= error, "{value:?} {sum:?}");
        }
    }
    // As a comparison of the same two sides has it.
    let counts = |random: &mut Random, share: f64| -> Row {
        let all = 1 + random.below(5);
        vec![(0, (0..all).filter(|_| random.unit() < share).count() as f64), (1, all as f64)]
    };
    let mut random = Random::new(5, 0);
    let rows: Vec<[Row; 2]> = (0..80).map(|_| [counts(&mut random, 0.5), counts(&mut random, 0.6)]).collect();
    let pair = Pairs::Sums { rows: rows.clone(), columns: 2, value: &ratio };
    let comparand = crate::comparison::PairedMetric { pairs: pair, clusters: None, direction: Direction::Up };
    let compared = compare(&[comparand], &rules(20_000)).remove(0);
    let sides = [0, 1].map(|side| rows.iter().map(|pair| pair[side].clone()).collect::<Vec<Row>>());
    let scores = ToolScores::Sums { rows: sides.to_vec(), columns: 2, value: &ratio };
    let test = test_all_pairs(&scores, None, &rules(20_000)).remove(0);
    assert!((test.difference.unwrap() - compared.difference.unwrap()).abs() < 1e-12);
    assert!((test.p.unwrap() - compared.p.unwrap()).abs() < 0.02, "{test:?} {:?}", compared.p);
}

#[test]
fn neither_the_order_of_cases_nor_threads_change_a_digit() {
    let mut tools = scored(&[0.5, 0.52, 0.7, 0.4], 150, 4);
    // Zero and none are actual apart although both add nothing.
    tools[0][3] = None;
    tools[1][5] = Some(0.0);
    tools[1][6] = None;
    let clusters: Vec<usize> = (0..150).map(|case| case / 2).collect();
    let order: Vec<usize> = (0..150).map(|case| case * 11 % 150).collect();
    let mixed: Vec<Vec<Option<f64>>> = tools.iter().map(|tool| order.iter().map(|at| tool[*at]).collect()).collect();
    let names: Vec<usize> = order.iter().map(|at| clusters[*at]).collect();
    for (straight, turned) in [(None, None), (Some(clusters.as_slice()), Some(names.as_slice()))] {
        let expect = test_all_pairs(&ToolScores::Values(tools.clone()), straight, &rules(5_000));
        let found = test_all_pairs(&ToolScores::Values(mixed.clone()), turned, &rules(5_000));
        let p = |tests: &[PairTest]| tests.iter().map(|test| test.p).collect::<Vec<_>>();
        assert_eq!(p(&expect), p(&found));
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let alone = one.install(|| test_all_pairs(&ToolScores::Values(tools.clone()), straight, &rules(5_000)));
        assert_eq!(alone, expect);
    }
}

#[track_caller]
fn check(tools: Vec<Vec<Option<f64>>>, direction: Direction, expect: &[(usize, usize)]) {
    let count = tools.len();
    let tests = test_all_pairs(&ToolScores::Values(tools), None, &rules(0));
    assert_eq!(tests.len(), count * count.saturating_sub(1) / 2);
    let sets: Vec<(usize, usize)> =
        rank_sets(count, &tests, direction, 0.95).iter().map(|set| (set.low, set.high)).collect();
    assert_eq!(sets, expect, "{tests:?}");
}

/// A tool whose cases lie closely around a value.
fn around(value: f64, cases: usize) -> Vec<Option<f64>> {
    (0..cases).map(|case| Some(value + 0.001 * (case % 7) as f64)).collect()
}

#[test]
fn sets_follow_from_all_pairs() {
    check(Vec::new(), Direction::Up, &[]);
    check(vec![around(0.5, 40)], Direction::Up, &[(1, 1)]);
    check(vec![around(0.5, 40), around(0.8, 40)], Direction::Up, &[(2, 2), (1, 1)]);
    check(vec![around(0.5, 40), around(0.8, 40)], Direction::Down, &[(1, 1), (2, 2)]);
    // The same in every case: tied for both ranks, and the third is actual apart from both.
    check(vec![around(0.8, 40), around(0.5, 40), around(0.8, 40)], Direction::Up, &[(1, 2), (3, 3), (1, 2)]);
    check(vec![around(0.8, 40); 3], Direction::Up, &[(1, 3); 3]);
    // Equal but for the last digits.
    check(vec![vec![Some(0.1 + 0.2); 40], vec![Some(0.3); 40]], Direction::Up, &[(1, 2); 2]);
    // Five coins fall alike in one of sixteen throws, six in one of thirty-two.
    check(vec![around(0.5, 5), around(0.8, 5)], Direction::Up, &[(1, 2); 2]);
    check(vec![around(0.5, 6), around(0.8, 6)], Direction::Up, &[(2, 2), (1, 1)]);
    check(vec![around(0.5, 6), around(0.8, 6), around(0.9, 6)], Direction::Up, &[(1, 3); 3]);
    // No case in common, or none at all: nothing is tested.
    let half = |from: usize| (0..40).map(|case| (case % 2 == from).then_some(0.5 + 0.4 * from as f64)).collect();
    check(vec![half(0), half(1)], Direction::Up, &[(1, 2); 2]);
    check(vec![vec![None; 40], around(0.5, 40)], Direction::Up, &[(1, 2); 2]);
    check(vec![Vec::new(), Vec::new()], Direction::Up, &[(1, 2); 2]);
    // What is no number is no value.
    check(vec![vec![Some(f64::NAN); 40], around(0.5, 40)], Direction::Up, &[(1, 2); 2]);
}

#[test]
fn a_chain_of_small_steps_is_no_tie_from_end_to_end() {
    // Every step is too small to be seen, the way from the first to the last is not.
    let means: Vec<f64> = (0..8).map(|at| 0.05 * f64::from(at)).collect();
    let tests = test_all_pairs(&ToolScores::Values(scored(&means, 50, 9)), None, &rules(10_000));
    let is_apart = |a: usize, b: usize| {
        tests
            .iter()
            .find(|test| (test.a, test.b) == (a, b))
            .and_then(|test| test.decided(Direction::Up, 0.95))
            .is_some()
    };
    assert!((0..7).all(|at| !is_apart(at, at + 1)), "{tests:?}");
    let sets = rank_sets(8, &tests, Direction::Up, 0.95);
    assert!(sets[7].high <= 4 && sets[0].low >= 5, "{sets:?}");
}

#[test]
fn many_tools_draw_enough_to_be_told_apart() {
    let tools: Vec<Vec<Option<f64>>> = (0..40).map(|at| around(f64::from(at), 40)).collect();
    let tests = test_all_pairs(&ToolScores::Values(tools), None, &rules(1_000));
    let sets = rank_sets(40, &tests, Direction::Down, 0.95);
    assert!(sets.iter().enumerate().all(|(at, set)| (set.low, set.high) == (at + 1, at + 1)), "{sets:?}");
}

struct Truth {
    name: &'static str,
    means: &'static [f64],
    /// What every tool adds to the means of one case.
    noise: fn(&mut Random, usize) -> Vec<f64>,
    cases: usize,
    /// So many cases share what the last of `noise` adds to all of them.
    cluster: usize,
}

const TRUTHS: &[Truth] = &[
    Truth { name: "all equal", means: &[0.0; 5], noise: plain, cases: 40, cluster: 1 },
    Truth { name: "all equal, few cases", means: &[0.0; 4], noise: plain, cases: 12, cluster: 1 },
    Truth { name: "spread", means: &[0.0, 0.1, 0.2, 0.3, 0.4], noise: plain, cases: 40, cluster: 1 },
    Truth { name: "groups of equals", means: &[0.0, 0.0, 0.3, 0.3, 0.3], noise: plain, cases: 40, cluster: 1 },
    Truth { name: "correlated", means: &[0.0, 0.0, 0.0, 0.1, 0.1], noise: correlated, cases: 40, cluster: 1 },
    Truth { name: "skewed", means: &[0.0, 0.0, 0.0, 0.2, 0.2], noise: skewed, cases: 60, cluster: 1 },
    Truth { name: "found or not", means: &[0.0; 5], noise: found, cases: 40, cluster: 1 },
    Truth { name: "clusters of equals", means: &[0.0; 4], noise: plain, cases: 90, cluster: 3 },
];

fn plain(random: &mut Random, tools: usize) -> Vec<f64> {
    let difficulty = normal(random);
    (0..tools).map(|_| difficulty + 0.3 * normal(random)).collect()
}

fn correlated(random: &mut Random, tools: usize) -> Vec<f64> {
    let families = [normal(random), normal(random)];
    (0..tools).map(|tool| 0.3 * families[tool % 2] + 0.05 * normal(random)).collect()
}

/// The higher the number of a tool, the rarer and the larger what it adds.
fn skewed(random: &mut Random, tools: usize) -> Vec<f64> {
    (0..tools).map(|tool| 0.1 * tool as f64 * (normal(random).powi(2) - 1.0)).collect()
}

fn found(random: &mut Random, tools: usize) -> Vec<f64> {
    let chance = random.unit();
    (0..tools).map(|_| f64::from(u8::from(random.unit() < chance))).collect()
}

impl Truth {
    /// Whether the sets of all tools hold their true ranks at once: those from 1 + the tools that are truly better to the number of
    /// tools − those that are truly worse.
    fn is_held(&self, suite: usize) -> bool {
        let mut random = Random::new(2026, suite as u64);
        let count = self.means.len();
        let mut tools = vec![Vec::new(); count];
        let (mut clusters, mut common) = (Vec::new(), vec![0.0; count]);
        for case in 0..self.cases {
            if self.cluster > 1 && case % self.cluster == 0 {
                common = (self.noise)(&mut random, count);
            }
            clusters.push(case / self.cluster);
            for (tool, noise) in (self.noise)(&mut random, count).into_iter().enumerate() {
                tools[tool].push(Some(self.means[tool] + noise + common[tool]));
            }
        }
        let rules = Rules { resamples: 0, ..Rules::default() };
        let tests = test_all_pairs(&ToolScores::Values(tools), Some(&clusters), &rules);
        rank_sets(count, &tests, Direction::Up, 0.95).iter().zip(self.means).all(|(set, own)| {
            let better = self.means.iter().filter(|mean| *mean > own).count();
            let worse = self.means.iter().filter(|mean| *mean < own).count();
            set.low <= 1 + better && set.high >= count - worse
        })
    }
}

#[test]
fn sets_of_all_tools_hold_their_true_ranks_at_once() {
    const SUITES: usize = 400;
    for truth in TRUTHS {
        let held = (0..SUITES).into_par_iter().filter(|suite| truth.is_held(*suite)).count();
        // Three standard deviations of a share of 95 %.
        let least = 0.95 - 3.0 * (0.95 * 0.05 / SUITES as f64).sqrt();
        let share = held as f64 / SUITES as f64;
        assert!(share >= least, "{}: {held} of {SUITES}", truth.name);
    }
}
