//! Statistics against other packages, by properties, and how often intervals hold the truth.
//!
//! `tests/data/statistics_packages.txt` was written by `bench/statistics_oracle.py`, and names versions and seed.
#![expect(clippy::expect_used, reason = "a test may stop at the first fault")]

#[path = "../benches/statistics/coverage.rs"]
mod coverage;

use coverage::{Expectation, SCENARIOS, hierarchical_mean, is_inside};
use karat_core::stats::bootstrap::{self, BootstrapKind, BootstrapOptions};
use karat_core::stats::correct::{CorrectionError, Label, rogan_gladen};
use karat_core::stats::distribution::{t_two_sided, two_sided};
use karat_core::stats::interval::{Interval, IntervalEstimate, NoInterval, clopper_pearson, wilson};
use karat_core::stats::paired::{
    DifferenceVerdict, cohens_dz, holm, mcnemar, minimum_detectable, sample_size, sign_flip, verdict,
};
use karat_core::stats::rank::{kendall, spearman};
use karat_core::stats::summary::standard_error;
use karat_core::stats::variance::{Components, Observation, components};
use proptest::prelude::*;

const PACKAGES: &str = include_str!("data/statistics_packages.txt");

/// The lists of every line of that name.
fn lines(name: &str) -> Vec<Vec<Vec<f64>>> {
    let list = |text: &str| text.split_whitespace().map(|v| v.parse().expect("a number")).collect();
    let named = PACKAGES.lines().filter_map(|line| line.split_once(" | ").filter(|(first, _)| *first == name));
    let found: Vec<Vec<Vec<f64>>> = named.map(|(_, rest)| rest.split(" | ").map(list).collect()).collect();
    assert!(!found.is_empty(), "no line of {name}");
    found
}

#[track_caller]
fn near(value: f64, expected: f64, within: f64, what: &str) {
    assert!((value - expected).abs() <= within, "{what}: {value}, expected {expected} within {within}");
}

fn whole(values: &[f64]) -> Vec<usize> {
    values.iter().map(|v| *v as usize).collect()
}

#[test]
fn orders_agree_as_scipy_says() {
    for line in lines("orders") {
        let [a, b, figures] = &line[..] else { panic!("orders") };
        near(spearman(a, b).expect("an order"), figures[0], 1e-12, "Spearman's rho");
        near(kendall(a, b).expect("an order"), figures[1], 1e-12, "Kendall's tau-b");
    }
}

#[test]
fn bootstraps_agree_with_scipy_within_monte_carlo_error() {
    for (name, kind) in [
        ("bootstrap-percentile", BootstrapKind::Percentile),
        ("bootstrap-bca", BootstrapKind::Bca),
        ("hierarchical-percentile", BootstrapKind::Percentile),
        ("hierarchical-bca", BootstrapKind::Bca),
    ] {
        for line in lines(name) {
            let [trials, values, ends] = &line[..] else { panic!("{name}") };
            let cases: Vec<Vec<f64>> = values.chunks(trials[0] as usize).map(<[f64]>::to_vec).collect();
            let options = BootstrapOptions { resamples: 20_000, kind, ..BootstrapOptions::default() };
            let found = hierarchical_mean(&cases, None, &options).interval.expect("an interval");
            // An end of 20,000 and one of 100,000 samples differ by about 0.021 standard errors.
            let within = 0.09 * (ends[1] - ends[0]) / 3.92;
            near(found.low, ends[0], within, name);
            near(found.high, ends[1], within, name);
            if trials[0] == 1.0 {
                let plain = bootstrap::interval_of_mean(values, None, &options).interval.expect("an interval");
                near(plain.low, ends[0], within, name);
                near(plain.high, ends[1], within, name);
            }
        }
    }
}

#[test]
fn shares_agree_with_scipy_and_statsmodels() {
    for (name, method) in [("wilson", wilson as fn(usize, usize, f64) -> _), ("clopper-pearson", clopper_pearson)] {
        for line in lines(name) {
            let ([k, n, level], ends) = (<[f64; 3]>::try_from(&line[0][..]).expect("three"), &line[1]);
            let found: Interval = method(k as usize, n as usize, level).expect("an interval");
            let what = format!("{name} {k} of {n} at {level}");
            near(found.low, ends[0], 1e-10, &what);
            near(found.high, ends[1], 1e-10, &what);
            assert_eq!((found.method, found.level, found.n), (name, level, n as usize));
        }
        assert_eq!(method(0, 0, 0.95), Err(NoInterval::Undefined));
        assert_eq!(method(1, 2, 1.0), Err(NoInterval::Level));
    }
}

#[test]
fn quantiles_agree_with_scipy() {
    for line in lines("t") {
        let found = t_two_sided(line[0][0], line[0][1]);
        near(found, line[1][0], 1e-9 * line[1][0], "t");
    }
    for line in lines("normal") {
        near(two_sided(line[0][0]), line[1][0], 1e-11, "normal");
    }
}

#[test]
fn clustered_errors_agree_with_statsmodels() {
    for line in lines("clustered") {
        let (values, names, expected) = (&line[0], whole(&line[1]), &line[2]);
        near(standard_error(values, Some(&names)).expect("an error"), expected[1], 1e-12, "CR1");
    }
    assert_eq!(standard_error(&[1.0, 2.0], Some(&[7, 7])), None);
    assert_eq!(standard_error(&[1.0, 2.0], Some(&[7])), None);
    assert_eq!(standard_error(&[], None), None);
}

#[test]
fn paired_tests_agree_with_scipy_and_statsmodels() {
    for line in lines("sign-flip") {
        let found = sign_flip(&line[0], None, 10, None).expect("a test");
        near(found, line[1][0], 1e-12, "sign-flip");
    }
    for line in lines("sign-flip-drawn") {
        let found = sign_flip(&line[0], None, 100_000, None).expect("a test");
        let p = line[1][0];
        near(found, p, 5.0 * (2.0 * p * (1.0 - p) / 1e5).sqrt() + 2e-5, "sign-flip-drawn");
    }
    for line in lines("mcnemar") {
        let found = mcnemar(line[0][0] as usize, line[0][1] as usize);
        near(found.p, line[1][0], 1e-12, "mcnemar");
    }
    for line in lines("holm") {
        for (found, expected) in holm(&line[0]).iter().zip(&line[1]) {
            near(*found, *expected, 1e-14, "holm");
        }
    }
    for line in lines("sample-size") {
        let found = sample_size(1.0, line[0][0], 0.95, 0.8).expect("a number");
        // Their power also counts findings on the wrong side, which matters to nobody at this size.
        assert_eq!(found, line[1][0].ceil() as usize, "{line:?}");
        let detectable = minimum_detectable(1.0 / (found as f64).sqrt(), 0.95, 0.8).expect("a difference");
        assert!(detectable <= line[0][0] && detectable > 0.98 * line[0][0], "{detectable}");
    }
}

#[test]
fn balanced_components_agree_with_statsmodels() {
    for line in lines("components") {
        let trials = line[0][0] as usize;
        let found = components(&scores(&line[1], trials)).expect("components");
        near(found.cases, line[2][0], 1e-3, "cases");
        near(found.trials, line[2][1], 1e-3, "trials");
    }
}

/// Scores in a row, so many trials a case.
fn scores(values: &[f64], trials: usize) -> Vec<Observation> {
    let at = |(i, value): (usize, &f64)| Observation { case: i / trials, trial: i % trials, judge: 0, value: *value };
    values.iter().enumerate().map(at).collect()
}

/// Two cases of two trials by hand: means 2 and 7, MSB = 25, MSW = (2 + 2)/2 = 2, so cases (25 − 2)/2 = 11.5.
#[test]
fn components_by_hand() {
    let found = components(&scores(&[1.0, 3.0, 6.0, 8.0], 2)).expect("components");
    near(found.cases, 11.5, 1e-12, "cases");
    near(found.trials, 2.0, 1e-12, "trials");
    // 11.5/2 + 2/4: what the two means, 2 and 7, say by themselves.
    near(found.variance_of_mean(), 6.25, 1e-12, "variance");
    let halving = found.halving();
    assert_eq!((halving.cases, halving.trials, halving.judges), (Some(8), None, None));
}

/// C = 3 cases, T = 2 trials, J = 2 judges, with known sums of squares.
#[test]
fn components_with_judges_follow_the_balanced_table() {
    let values = [3.0, 5.0, 4.0, 7.0, 1.0, 2.0, 2.0, 2.0, 8.0, 8.0, 5.0, 9.0];
    let at = |(i, value): (usize, &f64)| Observation { case: i / 4, trial: i / 2 % 2, judge: i % 2, value: *value };
    let all: Vec<Observation> = values.iter().enumerate().map(at).collect();
    let mean = |keep: &dyn Fn(&Observation) -> bool| {
        let kept: Vec<f64> = all.iter().filter(|o| keep(o)).map(|o| o.value).collect();
        kept.iter().sum::<f64>() / kept.len() as f64
    };
    let grand = mean(&|_| true);
    let case = |c: usize| mean(&|o| o.case == c);
    let trial = |c: usize, t: usize| mean(&|o| o.case == c && o.trial == t);
    let judge = |j: usize| mean(&|o| o.judge == j);
    let of_cases = (0..3).map(|c| 4.0 * (case(c) - grand).powi(2)).sum::<f64>() / 2.0;
    let of_trials = (0..6).map(|i| 2.0 * (trial(i / 2, i % 2) - case(i / 2)).powi(2)).sum::<f64>() / 3.0;
    let of_judges = (0..2).map(|j| 6.0 * (judge(j) - grand).powi(2)).sum::<f64>();
    let rest =
        all.iter().map(|o| (o.value - trial(o.case, o.trial) - judge(o.judge) + grand).powi(2)).sum::<f64>() / 5.0;
    let found = components(&all).expect("components");
    near(found.cases, (of_cases - of_trials) / 4.0, 1e-9, "cases");
    near(found.trials, ((of_trials - rest) / 2.0).max(0.0), 1e-9, "trials");
    near(found.judges.expect("judges"), (of_judges - rest) / 6.0, 1e-9, "judges");
    near(found.rest.expect("a rest"), rest, 1e-9, "rest");
}

#[test]
fn halving_says_what_no_number_can_do() {
    let found = Components {
        cases: 1.0,
        trials: 3.0,
        judges: Some(0.01),
        rest: Some(0.0),
        case_count: 100,
        trials_per_case: 1.0,
        judges_per_trial: 2.0,
    };
    // 0.01 + 0.03 + 0.005 = 0.045, a quarter of which is 0.01125: cases 4/(0.01125 − 0.005); trials and judges cannot.
    let halving = found.halving();
    assert_eq!((halving.cases, halving.trials, halving.judges), (Some(640), None, None));
    assert_eq!(components(&scores(&[1.0, 2.0, 3.0], 1)), None);
}

#[test]
fn missing_intervals_have_a_reason() {
    let options = BootstrapOptions { resamples: 200, ..BootstrapOptions::default() };
    let check = |values: &[f64], clusters: Option<&[usize]>, value: Option<f64>, why: NoInterval| {
        let found = bootstrap::interval_of_mean(values, clusters, &options);
        assert_eq!((found.value, found.interval), (value, Err(why)), "{values:?}");
    };
    check(&[], None, None, NoInterval::Undefined);
    check(&[0.6], None, Some(0.6), NoInterval::OneUnit);
    check(&[0.5, 1.0], Some(&[3, 3]), Some(0.75), NoInterval::OneUnit);
    check(&[0.5, 0.5, 0.5], None, Some(0.5), NoInterval::NothingVaries);
    let of_trials = hierarchical_mean(&[vec![0.5], vec![0.5], vec![0.5, 0.5]], None, &options);
    assert_eq!(of_trials.interval, Err(NoInterval::NothingVaries));
    let bad = BootstrapOptions { level: 1.5, ..options };
    assert_eq!(bootstrap::interval_of_mean(&[0.0, 1.0], None, &bad).interval, Err(NoInterval::Level));
    let found = ratio(&[[1.0, 1.0], [0.0, 0.0], [0.0, 0.0]], &options);
    assert_eq!((found.value, found.interval), (Some(1.0), Err(NoInterval::OftenUndefined)));
}

/// The ratio of sums of two numbers a case.
fn ratio(cases: &[[f64; 2]], options: &BootstrapOptions) -> IntervalEstimate {
    let rows: Vec<Vec<f64>> = cases.iter().map(|row| row.to_vec()).collect();
    let trials = vec![Vec::new(); rows.len()];
    let share = |row: &[f64]| vec![(row[1] > 0.0).then(|| row[0] / row[1])];
    bootstrap::joint_estimates(&bootstrap::CaseData { trials: &trials, rows: &rows, clusters: None }, &share, options)
        .figures[0]
}

#[test]
fn a_ratio_of_sums_gets_an_interval() {
    // Pooled precision: (true, reported) of every trial.
    let cases: Vec<[f64; 2]> = (0..40).map(|i| [f64::from(i % 4), f64::from(i % 4 + i % 3)]).collect();
    let found = ratio(&cases, &BootstrapOptions::default());
    let interval = found.interval.expect("an interval");
    near(found.value.expect("a value"), 60.0 / 99.0, 1e-12, "precision");
    // The delta method: √Σ(true − p · reported)² / Σ reported.
    near((interval.high - interval.low) / 3.92, 0.042_170, 0.003, "half width");
    assert_eq!((interval.method, interval.n, interval.level), ("bootstrap-bca", 40, 0.95));
}

/// Means and figures resampled together say what they say alone.
#[test]
fn figures_together_agree_with_each_by_itself() {
    let mut random = karat_core::stats::random::Random::new(3, 0);
    for (trials, clusters) in [(1, false), (3, false), (6, false), (3, true)] {
        let mut unit = || (random.unit() * 8.0).floor() / 8.0;
        let values: Vec<Vec<Vec<Option<f64>>>> = (0..60)
            .map(|case| {
                let hard = unit();
                // The second value is there for two cases of three.
                (0..trials).map(|_| vec![Some(hard * unit()), (case % 3 > 0).then(&mut unit)]).collect()
            })
            .collect();
        let rows: Vec<Vec<f64>> = (0..60).map(|_| vec![unit(), 0.0, 1.0 + unit()]).collect();
        let names: Vec<usize> = (0..60).map(|case| case / 4).collect();
        let clusters = clusters.then_some(names.as_slice());
        let options = BootstrapOptions { resamples: 20_000, ..BootstrapOptions::default() };
        let figures = |row: &[f64]| vec![(row[2] > 0.0).then(|| row[0] / row[2]), None];
        let cases = bootstrap::CaseData { trials: &values, rows: &rows, clusters };
        let together = bootstrap::joint_estimates(&cases, &figures, &options);
        for at in 0..2 {
            let alone: Vec<Vec<f64>> =
                values.iter().map(|trials| trials.iter().filter_map(|trial| trial[at]).collect()).collect();
            let mean_of = |trials: &Vec<f64>| trials.iter().sum::<f64>() / trials.len() as f64;
            let named: Vec<(usize, f64)> = alone
                .iter()
                .enumerate()
                .filter(|(_, own)| !own.is_empty())
                .map(|(at, own)| (names[at], mean_of(own)))
                .collect();
            let (own_names, alone): (Vec<usize>, Vec<f64>) = named.into_iter().unzip();
            let alone = bootstrap::interval_of_mean(&alone, clusters.map(|_| own_names.as_slice()), &options);
            let mean = together.means[at];
            near(mean.value.expect("a value"), alone.value.expect("a value"), 1e-12, "mean");
            let (found, expected) = (mean.interval.expect("one"), alone.interval.expect("one"));
            assert_eq!(found.n, expected.n);
            // Of a value that some cases lack, how many of them are drawn varies, which widens a little.
            let within = if at == 0 { 0.08 } else { 0.15 } * (expected.high - expected.low) / 2.0;
            near(found.low, expected.low, within, &format!("low end of {at}, {trials} trials"));
            near(found.high, expected.high, within, &format!("high end of {at}, {trials} trials"));
        }
        let found = together.figures[0].interval.expect("one");
        assert_eq!(found.n, if clusters.is_some() { 15 } else { 60 });
        assert!(is_inside(&found, together.figures[0].value.expect("a value")) && found.high > found.low);
        assert_eq!(together.figures[1].interval, Err(NoInterval::Undefined));
        // Neither the order of cases nor that of trials changes a digit.
        let turned: Vec<Vec<Vec<Option<f64>>>> =
            values.iter().rev().map(|trials| trials.iter().rev().cloned().collect()).collect();
        let (rows, names): (Vec<_>, Vec<_>) = rows.into_iter().zip(names.iter().copied()).rev().unzip();
        let clusters = clusters.map(|_| names.as_slice());
        let again = bootstrap::joint_estimates(
            &bootstrap::CaseData { trials: &turned, rows: &rows, clusters },
            &figures,
            &options,
        );
        assert_eq!(again, together);
    }
}

#[test]
fn verdicts() {
    let check = |low: f64, high: f64, expected: DifferenceVerdict| {
        let interval = Interval { low, high, method: "m", level: 0.95, n: 50 };
        assert_eq!(verdict(&interval, 0.02), expected, "{low} to {high}");
    };
    check(0.01, 0.05, DifferenceVerdict::Better);
    check(-0.05, -0.01, DifferenceVerdict::Worse);
    check(-0.01, 0.015, DifferenceVerdict::Equivalent);
    check(0.005, 0.015, DifferenceVerdict::Equivalent);
    check(-0.01, 0.05, DifferenceVerdict::Inconclusive);
    check(0.0, 0.05, DifferenceVerdict::Inconclusive);
    assert_eq!(DifferenceVerdict::Equivalent.as_str(), "equivalent");
}

#[test]
fn effects_by_hand() {
    // Mean 2, standard deviation 1.
    assert_eq!(cohens_dz(&[1.0, 2.0, 3.0]), Some(2.0));
    assert_eq!(cohens_dz(&[1.0, 1.0]), None);
    let found = mcnemar(9, 3);
    // 2 (1 + 12 + 66 + 220) / 4096.
    near(found.p, 598.0 / 4096.0, 1e-14, "p");
    assert_eq!(found.odds_ratio, Some(3.0));
    let never = mcnemar(4, 0);
    near(never.p, 0.125, 1e-14, "p");
    assert_eq!(never.odds_ratio, None);
    assert_eq!(mcnemar(0, 0).p, 1.0);
}

fn labels(tp: usize, fn_: usize, tn: usize, fp: usize) -> Vec<Label> {
    let rows = [(tp, true, true), (fn_, false, true), (tn, false, false), (fp, true, false)];
    let answers = rows.iter().flat_map(|(n, judged, truth)| std::iter::repeat_n((*judged, *truth), *n));
    let label = |(unit, (judged, truth))| Label { judged, truth, probability: 0.5, unit, cluster: unit };
    answers.enumerate().map(label).collect()
}

#[test]
fn rogan_gladen_by_hand() {
    // se 0.9, sp 0.8, q 0.48: (0.48 − 0.2) / 0.7 = 0.4.
    let found = rogan_gladen(480, 1000, &labels(45, 5, 40, 10), 0.95).expect("an estimate");
    near(found.value, 0.4, 1e-12, "value");
    assert!(found.interval.low > 0.25 && found.interval.high < 0.55, "{found:?}");
    let refused = |k, n, labels: &[Label]| rogan_gladen(k, n, labels, 0.95).expect_err("refused");
    assert_eq!(refused(1, 2, &labels(5, 4, 40, 10)), CorrectionError::FEW_LABELS);
    assert_eq!(refused(1, 2, &labels(10, 10, 20, 20)), CorrectionError::UNINFORMATIVE);
    assert_eq!(refused(0, 0, &labels(20, 0, 20, 0)), CorrectionError::NOTHING_JUDGED);
    let bad = [Label { judged: true, truth: true, probability: 0.0, unit: 0, cluster: 0 }];
    assert_eq!(refused(1, 2, &bad), CorrectionError::BAD_LABEL);
}

/// Sure positives were labelled rarely: unweighted, the judge would look worse than it is.
#[test]
fn labels_weigh_by_inverse_probability() {
    let mut picked = labels(20, 20, 40, 0);
    picked.iter_mut().filter(|l| l.judged).for_each(|l| l.probability = 0.1);
    picked.iter_mut().filter(|l| !l.judged).for_each(|l| l.probability = 0.9);
    // Sensitivity (20/0.1) / (20/0.1 + 20/0.9) = 0.9, specificity 1.
    let found = rogan_gladen(450, 1000, &picked, 0.95).expect("an estimate");
    near(found.value, 0.5, 1e-12, "value");
}

#[test]
fn intervals_cover_what_they_promise() {
    const SUITES: usize = 300;
    for scenario in SCENARIOS {
        let share = scenario.rate(SUITES, 400);
        // Near three standard errors of 300 suites beyond what 2,000 suites must keep.
        let (least, most) = match scenario.expectation {
            Expectation::Coverage => (0.93 - 0.035, 0.97 + 0.03),
            Expectation::AtLeast(least) => (least - 0.033, 1.0),
            Expectation::AtMost(most) => (0.0, most + 0.035),
        };
        assert!(least <= share && share <= most, "{}: {share}", scenario.name);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn neither_order_nor_threads_change_a_digit(
        cases in prop::collection::vec(prop::collection::vec(0.0..1.0f64, 1..5), 2..20),
        turn in 0..20usize,
        clustered: bool,
    ) {
        let options = BootstrapOptions { resamples: 300, ..BootstrapOptions::default() };
        let names: Vec<usize> = (0..cases.len()).map(|i| i % 7).collect();
        let find = |cases: &[Vec<f64>], names: &[usize]| {
            let longest: Vec<f64> = cases.iter().map(|trials| trials.len() as f64).collect();
            let clusters = clustered.then_some(names);
            (hierarchical_mean(cases, clusters, &options), bootstrap::interval_of_mean(&longest, clusters, &options))
        };
        let once = find(&cases, &names);
        let (mut turned, mut renamed) = (cases.clone(), names.clone());
        turned.rotate_left(turn % cases.len());
        renamed.rotate_left(turn % cases.len());
        turned.iter_mut().for_each(|trials| trials.reverse());
        renamed.iter_mut().for_each(|name| *name = 100 - *name);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
        let again = pool.install(|| find(&turned, &renamed));
        prop_assert_eq!((once.0.interval, once.1.interval), (again.0.interval, again.1.interval));
    }

    #[test]
    fn intervals_hold_their_figure_and_widen_with_the_level(k in 0..50usize, more in 0..50usize) {
        let n = k + more.max(1);
        for method in [wilson, clopper_pearson] {
            let (narrow, wide) = (method(k, n, 0.8).expect("one"), method(k, n, 0.99).expect("one"));
            prop_assert!(is_inside(&narrow, k as f64 / n as f64));
            prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        }
        prop_assert!(clopper_pearson(k, n, 0.95).expect("one").low <= wilson(k, n, 0.95).expect("one").low + 1e-12 || k == n);
    }

    #[test]
    fn flipping_all_signs_changes_no_p(differences in prop::collection::vec(-1.0..1.0f64, 1..30)) {
        let turned: Vec<f64> = differences.iter().rev().map(|v| -v).collect();
        let (once, again) = (sign_flip(&differences, None, 500, None), sign_flip(&turned, None, 500, None));
        prop_assert_eq!(once, again);
        prop_assert!(once.is_some_and(|p| p > 0.0 && p <= 1.0));
    }

    #[test]
    fn holm_never_lowers_and_keeps_the_order(p in prop::collection::vec(0.0..1.0f64, 0..20)) {
        let adjusted = holm(&p);
        for (a, x) in p.iter().zip(&adjusted) {
            prop_assert!(x >= a && *x <= 1.0);
            for (b, y) in p.iter().zip(&adjusted) {
                prop_assert!(a > b || x <= y);
            }
        }
    }
}
