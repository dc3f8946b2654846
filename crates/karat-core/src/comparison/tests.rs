use super::*;
use crate::stats::paired::sign_flip;
use crate::stats::random::Random;

fn values(pairs: Vec<[f64; 2]>, direction: Direction) -> PairedMetric<'static> {
    PairedMetric { pairs: Pairs::Values(pairs), clusters: None, direction }
}

/// So many pairs in which the second side does better by about this much.
fn improved(n: usize, by: f64) -> Vec<[f64; 2]> {
    let mut random = Random::new(3, 0);
    (0..n)
        .map(|_| {
            let a = random.unit();
            [a, a + by + 0.1 * (random.unit() - 0.5)]
        })
        .collect()
}

#[track_caller]
fn check(pairs: Vec<[f64; 2]>, direction: Direction, expect: (DifferenceVerdict, &'static str)) {
    let found = &compare(&[values(pairs, direction)], &Rules::default())[0];
    assert_eq!((found.verdict, found.because), expect, "{found:?}");
}

#[test]
fn verdicts_follow_interval_p_margin_and_direction() {
    use DifferenceVerdict::{Better, Equivalent, Identical, Inconclusive, Worse};
    check(improved(40, 0.2), Direction::Up, (Better, SIGNIFICANT));
    check(improved(40, 0.2), Direction::Down, (Worse, SIGNIFICANT));
    check(improved(40, -0.2), Direction::Up, (Worse, SIGNIFICANT));
    check(improved(400, 0.0), Direction::Up, (Equivalent, WITHIN_MARGIN));
    check(
        improved(20, 0.0).iter().map(|[a, b]| [*a, a + (b - a) / 5.0]).collect(),
        Direction::Up,
        (Inconclusive, WITHIN_MARGIN_OF_FEW),
    );
    check(vec![[0.5, 0.9], [0.5, 0.1], [0.2, 0.3]], Direction::Up, (Inconclusive, OPEN));
    // Three cases that all improve: their interval excludes 0, but a coin falls so in one of four throws.
    check(vec![[0.5, 0.9], [0.5, 0.7], [0.2, 0.3]], Direction::Up, (Inconclusive, HIGH_P));
    for n in [1, 4, 30] {
        check(vec![[0.3, 0.3]; n], Direction::Up, (Identical, ALL_EQUAL));
    }
    check(vec![[0.3, 0.4]; 1], Direction::Up, (Inconclusive, NoInterval::OneUnit.reason()));
    check(Vec::new(), Direction::Up, (Inconclusive, NO_PAIRS));
    // Found in every case by one and in none by the other: nothing varies, and nothing could be clearer.
    check(vec![[0.0, 1.0]; 8], Direction::Up, (Better, SAME_EVERYWHERE));
    check(vec![[0.0, 1.0]; 5], Direction::Up, (Inconclusive, SAME_EVERYWHERE));
    check(vec![[0.0, 0.01]; 50], Direction::Up, (Inconclusive, SAME_WITHIN_MARGIN));
}

#[test]
fn differences_in_the_last_digits_are_ignored() {
    check(vec![[0.1 + 0.2, 0.3]; 40], Direction::Up, (DifferenceVerdict::Identical, ALL_EQUAL));
}

/// 3 cases leave 63 % unseen, 10 leave 26 %, and 59 are needed for 5 %.
#[test]
fn identical_results_state_what_they_cannot_exclude() {
    for (n, expected) in [(1, 0.95), (3, 0.631_597), (10, 0.258_866), (59, 0.049_508)] {
        let same = &compare(&[values(vec![[0.3, 0.3]; n], Direction::Up)], &Rules::default())[0];
        assert!(same.unseen.is_some_and(|share| (share - expected).abs() < 1e-6), "{n}: {:?}", same.unseen);
    }
    // Cases of one cluster are one observation.
    let clustered = PairedMetric { clusters: Some(vec![0, 0, 0, 1]), ..values(vec![[0.3, 0.3]; 4], Direction::Up) };
    assert!(compare(&[clustered], &Rules::default())[0].unseen.is_some_and(|share| (share - 0.776_393).abs() < 1e-6));
    assert_eq!(compare(&[values(vec![[0.3, 0.4]; 4], Direction::Up)], &Rules::default())[0].unseen, None);
}

#[test]
fn the_more_pairs_of_sides_the_more_it_takes() {
    let weak = vec![[0.0, 1.0], [0.0, 0.9], [0.1, 0.9], [0.0, 0.8], [0.2, 0.4], [0.1, 0.5]];
    let alone = &compare(&[values(weak.clone(), Direction::Up)], &Rules::default())[0];
    assert_eq!((alone.p, alone.p_holm, alone.verdict), (Some(2.0 / 64.0), Some(2.0 / 64.0), DifferenceVerdict::Better));
    let twice = compare(&[values(weak.clone(), Direction::Up), values(weak, Direction::Up)], &Rules::default());
    assert_eq!((twice[0].p_holm, twice[0].verdict), (Some(4.0 / 64.0), DifferenceVerdict::Inconclusive));
    // What cannot be tested is no part of the family.
    let beside = vec![[0.0, 1.0], [0.0, 0.9], [0.1, 0.9], [0.0, 0.8], [0.2, 0.4], [0.1, 0.5]];
    let family = [values(Vec::new(), Direction::Up), values(beside, Direction::Up)];
    assert_eq!(compare(&family, &Rules::default())[1].verdict, DifferenceVerdict::Better);
}

#[test]
fn a_large_family_draws_enough_permutations_to_reach_significance() {
    // Every case is better by far, so that only the number of draws bounds p.
    let pairs: Vec<[f64; 2]> = (0..40).map(|n| [0.1, 0.8 + 0.001 * f64::from(n)]).collect();
    let family: Vec<PairedMetric<'_>> = (0..300).map(|_| values(pairs.clone(), Direction::Up)).collect();
    let few = Rules { resamples: 1_000, ..Rules::default() };
    assert!(compare(&family, &few).iter().all(|compared| compared.verdict == DifferenceVerdict::Better));
    assert_eq!((few.permutations(1), few.permutations(300)), (1_000, 12_000));
}

fn ratio(sums: &[f64]) -> Option<f64> {
    (sums[1] > 0.0).then(|| sums[0] / sums[1])
}

/// The same pairs as rows whose ratio is the mean of cases.
fn as_sums(values: &[[f64; 2]]) -> Pairs<'static> {
    let rows = values.iter().map(|pair| pair.map(|v| vec![(0, v), (1, 1.0)])).collect();
    Pairs::Sums { rows, columns: 2, value: &ratio }
}

#[test]
fn a_mean_as_a_ratio_of_sums_is_the_same_mean() {
    let values = improved(12, 0.1);
    let pairs = |pairs| PairedMetric { pairs, clusters: None, direction: Direction::Up };
    let rules = Rules::default();
    let mean = &compare(&[pairs(Pairs::Values(values.clone()))], &rules)[0];
    let sums = &compare(&[pairs(as_sums(&values))], &rules)[0];
    let near = |x: Option<f64>, y: Option<f64>| x.zip(y).is_some_and(|(x, y)| (x - y).abs() < 1e-9);
    assert!(near(mean.difference, sums.difference) && near(mean.a, sums.a) && near(mean.effect, sums.effect));
    assert!(near(mean.p, sums.p), "{:?} {:?}", mean.p, sums.p);
    assert!(near(mean.detectable, sums.detectable));
    let (x, y) = (mean.interval.unwrap(), sums.interval.unwrap());
    // Other samples are drawn, so the ends differ by what samples differ.
    assert!((x.low - y.low).abs() < 0.003 && (x.high - y.high).abs() < 0.003, "{x:?} {y:?}");
    let contributions = as_sums(&values).contributions();
    assert!(values.iter().zip(contributions).all(|([a, b], y)| (b - a - y).abs() < 1e-9));
}

#[test]
fn swaps_are_counted_as_by_hand() {
    // Three cases; verdicts right and wrong. Of the 8 ways only none and all swapped lie 3/3 apart.
    let rows = vec![[vec![(1, 1.0)], vec![(0, 1.0), (1, 1.0)]]; 3];
    let pairs = Pairs::Sums { rows, columns: 2, value: &ratio };
    assert_eq!(pairs.p(None, 10_000, None), Some(0.25));
    assert_eq!(pairs.p(Some(&[0, 0, 0]), 10_000, None), Some(1.0));
    // A case on which nothing sets the two apart flips nothing.
    let same = vec![[vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0), (1, 1.0)]]; 3];
    assert_eq!(Pairs::Sums { rows: same, columns: 2, value: &ratio }.p(None, 10_000, None), Some(1.0));
}

#[test]
fn drawn_swaps_agree_with_drawn_signs() {
    let values = improved(60, 0.01);
    let differences: Vec<f64> = values.iter().map(|[a, b]| b - a).collect();
    let signs = sign_flip(&differences, None, 10_000, None).unwrap();
    let swaps = as_sums(&values).p(None, 10_000, None).unwrap();
    assert!((signs - swaps).abs() < 0.02, "{signs} {swaps}");
}

#[test]
fn the_order_of_cases_changes_no_digit() {
    let values = improved(37, 0.05);
    let clusters: Vec<usize> = (0..37).map(|at| at / 5).collect();
    let order: Vec<usize> = (0..37).map(|at| at * 11 % 37).collect();
    for sums in [false, true] {
        let of = |values: Vec<[f64; 2]>, clusters: Vec<usize>| {
            let pairs = if sums { as_sums(&values) } else { Pairs::Values(values) };
            let comparand = PairedMetric { pairs, clusters: Some(clusters), direction: Direction::Up };
            let found = compare(&[comparand], &Rules::default()).remove(0);
            (found.interval.unwrap(), found.p, found.units)
        };
        let straight = of(values.clone(), clusters.clone());
        let mixed = of(order.iter().map(|at| values[*at]).collect(), order.iter().map(|at| clusters[*at]).collect());
        assert_eq!(straight, mixed, "sums: {sums}");
        assert_eq!(straight.2, 8);
    }
}

#[test]
fn clusters_that_agree_count_as_one_each() {
    // Sixty cases that all improve, but in four clusters: four coins fall alike in one of eight throws.
    let clustered = PairedMetric {
        clusters: Some((0..60).map(|at| at / 15).collect()),
        ..values(improved(60, 0.2), Direction::Up)
    };
    let found = &compare(&[clustered], &Rules::default())[0];
    assert_eq!((found.p, found.units, found.n, found.unreliable), (Some(0.125), 4, 60, true));
    assert_eq!(found.verdict, DifferenceVerdict::Inconclusive);
}

/// Every choice of trials counted one by one.
#[test]
fn metrics_over_trials_are_the_mean_of_all_choices_of_fewer() {
    let goldens = [(0, 5), (1, 5), (3, 5), (5, 5)].map(|(found, trials)| FoundCount { found, trials });
    for fewer in 1..=5_usize {
        let choices: Vec<u32> = (0..32_u32).filter(|choice| choice.count_ones() as usize == fewer).collect();
        for id in ["found_any", "found_all", "consistency"] {
            let of_golden = |found: usize| {
                let hits = |choice: &u32| (choice & ((1 << found) - 1)).count_ones() as usize;
                let counts = |choice: &&u32| match id {
                    "found_any" => hits(choice) > 0,
                    "found_all" => hits(choice) == fewer,
                    _ => hits(choice) == 0 || hits(choice) == fewer,
                };
                choices.iter().filter(counts).count() as f64 / choices.len() as f64
            };
            let expected = goldens.iter().map(|golden| of_golden(golden.found)).sum::<f64>() / 4.0;
            let found = at_fewer_trials(id, &goldens, fewer);
            match (id, fewer) {
                ("consistency", 1) => assert_eq!(found, None),
                _ => assert!(found.is_some_and(|v| (v - expected).abs() < 1e-12), "{id} {fewer}: {found:?} {expected}"),
            }
        }
    }
    assert_eq!(at_fewer_trials("found_any", &goldens, 6), None);
    assert_eq!(at_fewer_trials("recall", &goldens, 1), None);
}

#[test]
fn goldens_count_once_however_many_trials() {
    let tally = |found, trials| FoundCount { found, trials };
    let goldens = [
        [tally(0, 3), tally(3, 3)],
        [tally(1, 3), tally(2, 3)],
        [tally(2, 4), tally(3, 4)],
        [tally(3, 3), tally(1, 3)],
        [tally(2, 3), tally(3, 3)],
        [tally(0, 0), tally(0, 3)],
    ];
    let moved = golden_changes(&goldens);
    assert_eq!((moved.gained.as_slice(), moved.lost.as_slice()), (&[0, 1, 2][..], &[3][..]));
    assert_eq!((moved.both, moved.neither, moved.flaky), (1, 1, 3));
    // Of 4 that moved: 2 (1 + 4) / 16.
    assert!((moved.test.p - 0.625).abs() < 1e-12, "{:?}", moved.test);
}
