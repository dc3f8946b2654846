//! Agreement against published figures and other packages, and how often its intervals hold the truth.
//!
//! `tests/data/agreement_packages.txt` was written by `bench/agreement_oracle.py`, which draws the tables in the same way.

#[path = "../benches/matching/random.rs"]
mod random;

use karat_core::stats::agreement::{
    Estimate, Level, NO_OVERLAP, NoInterval, ONE_CATEGORY, Rating, Ratings, Value, Weights, ac1, cohen, fleiss,
    krippendorff, measure, percent,
};
use karat_core::stats::dawid_skene::dawid_skene;
use random::Random;

/// Rows of one sign a rating; a dot is a missing one.
fn table(rows: &str) -> Vec<Vec<Option<usize>>> {
    let sign = |c: char| c.to_digit(10).map(|digit| digit as usize);
    rows.split_whitespace().map(|row| row.chars().map(sign).collect()).collect()
}

/// Items by raters, with `None` for what was not rated.
fn from_rows(rows: &[Vec<Option<usize>>]) -> Ratings {
    let rating = |(rater, category): (usize, &Option<usize>)| category.map(|category| Rating { rater, category });
    Ratings::new(rows.iter().map(|row| row.iter().enumerate().filter_map(rating).collect()))
}

/// Two raters by a table of counts, the first rater's categories down.
fn cross(counts: &[&[usize]]) -> Ratings {
    let mut rows = Vec::new();
    for (a, row) in counts.iter().enumerate() {
        for (b, &n) in row.iter().enumerate() {
            rows.extend(std::iter::repeat_n(vec![Some(a), Some(b)], n));
        }
    }
    from_rows(&rows)
}

#[track_caller]
fn near(value: Value, expected: f64, within: f64) {
    assert!(value.is_ok_and(|v| (v - expected).abs() <= within), "{value:?}, expected {expected}");
}

/// J. L. Fleiss, "Measuring nominal scale agreement among many raters", Psychological Bulletin 76 (1971), table 1:
/// six psychiatrists, thirty patients, five diagnoses; kappa = 0.430.
#[test]
fn fleiss_1971() {
    let rows = "444444 222555 233335 555555 222444 113333 333355 113334 114444 555555 144444 124444 222333 144444 224445 \
                333335 111455 111112 224444 133555 555555 244444 224555 114444 144445 222224 111155 224444 133333 555555";
    near(fleiss(&from_rows(&table(rows))), 0.430, 0.0005);
}

/// K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011): four observers, twelve
/// units, some missing. For the same data irrCAC 0.4.4, which ships them, computes AC1 = 0.77544 and Fleiss' kappa = 0.76117.
#[test]
fn krippendorff_2011() {
    let ratings = from_rows(&table("11.1 2232 3333 3333 2222 1234 4444 1121 2222 .555 ..11 .3.."));
    near(krippendorff(&ratings, Level::Nominal), 0.743, 0.0005);
    near(krippendorff(&ratings, Level::Ordinal), 0.815, 0.0005);
    near(krippendorff(&ratings, Level::Interval), 0.849, 0.0005);
    near(ac1(&ratings), 0.77544, 0.000_005);
    near(fleiss(&ratings), 0.76117, 0.000_005);
}

#[test]
fn two_raters_in_textbooks() {
    // J. L. Fleiss, B. Levin, M. C. Paik, "Statistical Methods for Rates and Proportions", 3rd edition, table 18.1: 0.68.
    let diagnoses = cross(&[&[75, 1, 4], &[5, 4, 1], &[0, 0, 10]]);
    near(cohen(&diagnoses, 0, 1, Weights::Equal), 0.676, 0.0005);
    // K. L. Gwet, "Kappa statistic is not satisfactory for assessing the extent of agreement between raters" (2002): raters
    // agree on 94 % of the subjects, and kappa is below zero where AC1 is 0.94.
    let paradox = cross(&[&[118, 5], &[2, 0]]);
    near(percent(&paradox), 0.944, 1e-12);
    near(cohen(&paradox, 0, 1, Weights::Equal), -0.0234, 0.00005);
    near(ac1(&paradox), 0.9408, 0.00005);
}

/// The same table as `draw` of `bench/agreement_oracle.py`; every draw must come in the same order.
fn draw(seed: u64, items: u64, raters: u64, categories: u64, missing: u64, guessing: u64) -> Vec<Vec<Option<usize>>> {
    let mut random = Random::new(seed);
    let mut row = || {
        let truth = random.below(categories).min(random.below(categories));
        let mut rating = || {
            let (gone, guess) = (random.below(100) < missing, random.below(100) < guessing);
            let said = random.below(categories);
            (!gone).then_some(if guess { said } else { truth } as usize)
        };
        (0..raters).map(|_| rating()).collect()
    };
    (0..items).map(|_| row()).collect()
}

/// Uneven places on a scale, as in `bench/agreement_oracle.py`.
fn score(category: usize) -> f64 {
    (category * category) as f64 + category as f64 / 4.0
}

#[test]
fn other_packages_say_the_same() {
    let mut rows = Vec::new();
    let mut checked = 0;
    for line in include_str!("data/agreement_packages.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(shape) = line.strip_prefix("table ") {
            let numbers: Vec<u64> = shape.split(' ').map(|n| n.parse().expect("a number")).collect();
            let [seed, items, raters, categories, missing, guessing] = numbers[..] else {
                panic!("six numbers: {line}")
            };
            rows = draw(seed, items, raters, categories, missing, guessing);
            continue;
        }
        let (name, expected) = line.split_once(' ').expect("a name and a figure");
        let expected: f64 = expected.parse().expect("a number");
        let ratings = from_rows(&rows);
        let numbers: Vec<Vec<Option<f64>>> =
            rows.iter().map(|row| row.iter().map(|c| c.map(score)).collect()).collect();
        let scored = from_numbers(&numbers);
        // Packages round here and there: irrCAC to fifteen digits, crowd-kit raises what is below 1e-10.
        let (value, within) = match name {
            "cohen" => (cohen(&ratings, 0, 1, Weights::Equal), 1e-12),
            "cohen_linear" => (cohen(&ratings, 0, 1, Weights::Linear), 1e-12),
            "cohen_quadratic" => (cohen(&ratings, 0, 1, Weights::Quadratic), 1e-12),
            "cohen_linear_scored" => (cohen(&scored, 0, 1, Weights::Linear), 1e-12),
            "cohen_quadratic_scored" => (cohen(&scored, 0, 1, Weights::Quadratic), 1e-12),
            "krippendorff_nominal" => (krippendorff(&ratings, Level::Nominal), 1e-12),
            "krippendorff_ordinal" => (krippendorff(&ratings, Level::Ordinal), 1e-12),
            "krippendorff_interval" => (krippendorff(&ratings, Level::Interval), 1e-12),
            "krippendorff_interval_scored" => (krippendorff(&scored, Level::Interval), 1e-12),
            "percent" => (percent(&ratings), 1e-12),
            "fleiss" | "fleiss_statsmodels" => (fleiss(&ratings), 1e-12),
            "ac1" => (ac1(&ratings), 1e-12),
            _ => {
                let (what, number) = name.rsplit_once('_').expect("a figure of Dawid and Skene");
                let number: usize = number.parse().expect("a number");
                let fitted = dawid_skene(&ratings);
                let found = if what == "prevalence" { fitted.prevalence[number] } else { fitted.posterior[number][0] };
                (Ok(found), 1e-4)
            }
        };
        assert!(value.is_ok_and(|v| (v - expected).abs() <= within), "{name} is {value:?}, expected {expected}");
        checked += 1;
    }
    assert!(checked > 400, "only {checked} figures");
}

#[test]
fn undefined_values_have_a_reason() {
    let check = |rows: &str, expected: [Option<&str>; 5]| {
        let ratings = from_rows(&table(rows));
        let nominal = krippendorff(&ratings, Level::Nominal);
        let kappa = cohen(&ratings, 0, 1, Weights::Equal);
        let found = [percent(&ratings), kappa, fleiss(&ratings), nominal, ac1(&ratings)].map(Result::err);
        assert_eq!(found, expected, "{rows}");
        let measured = measure(&ratings, &[(0, 1)], 1);
        assert_eq!(measured.percent.value, percent(&ratings), "{rows}");
        assert_eq!(measured.interval.value, krippendorff(&ratings, Level::Interval), "{rows}");
        let all = [measured.percent, measured.cohen[0].quadratic, measured.fleiss, measured.ordinal, measured.ac1];
        assert!(all.iter().all(|e| e.value.is_ok() || e.interval == Err(NoInterval::Undefined)), "{rows}");
    };
    let (none, one) = (Some(NO_OVERLAP), Some(ONE_CATEGORY));
    check("", [none; 5]);
    check("..", [none; 5]);
    check("1. .2", [none; 5]);
    check("11 11", [None, one, one, one, one]);
    check("11 .2", [None, one, None, one, None]);
    check("11 22", [None; 5]);
    check("12 21", [None; 5]);
    // Two of three never met.
    check("1.1 2.1", [None, none, None, None, None]);
}

/// A table of items by raters with numbers, each distinct number a category; what is not finite was not rated.
fn from_numbers(rows: &[Vec<Option<f64>>]) -> Ratings {
    let finite = |value: &Option<f64>| value.filter(|v| v.is_finite()).map(|v| v + 0.0);
    let mut values: Vec<f64> = rows.iter().flatten().filter_map(finite).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let category = |value| finite(value).map(|v| values.partition_point(|known| *known < v));
    let rows: Vec<Vec<Option<usize>>> = rows.iter().map(|row| row.iter().map(category).collect()).collect();
    from_rows(&rows).with_scores(values)
}

#[test]
fn numbers_of_any_size_keep_their_order() {
    let row = |a: f64, b: f64| vec![Some(a), Some(b)];
    let small = [row(1.0, 2.0), row(2.0, 2.0), row(5.0, 4.0), row(4.0, 4.0)];
    let grown = |by: f64, plus: f64| -> Vec<Vec<Option<f64>>> {
        small.iter().map(|row| row.iter().map(|v| v.map(|v| v * by + plus)).collect()).collect()
    };
    let alpha = krippendorff(&from_numbers(&small), Level::Interval).expect("defined");
    for rows in [grown(1e307, -8e307), grown(1e-300, 0.0), grown(-1.0, 0.0), grown(1.0, 1e9)] {
        near(krippendorff(&from_numbers(&rows), Level::Interval), alpha, 1e-9);
    }
    let odd = [vec![Some(f64::NAN), Some(1.0), Some(1.0)], vec![Some(f64::INFINITY), Some(0.0), Some(-0.0)]];
    near(percent(&from_numbers(&odd)), 1.0, 0.0);
}

#[test]
fn the_order_of_items_changes_nothing() {
    let mut rows = draw(5, 90, 4, 3, 20, 40);
    let pairs = [(0, 1), (2, 3)];
    let first = measure(&from_rows(&rows), &pairs, 9);
    rows.reverse();
    assert_eq!(measure(&from_rows(&rows), &pairs, 9), first);
    assert_ne!(measure(&from_rows(&rows), &pairs, 10).fleiss, first.fleiss);
}

#[test]
fn no_interval_is_made_up() {
    let agreed = measure(&from_rows(&table("111 222 111 111 222 111 222 111 111 222")), &[(0, 1)], 1);
    let check = |estimate: Estimate, expected: NoInterval| {
        assert_eq!((estimate.value, estimate.interval), (Ok(1.0), Err(expected)));
    };
    check(agreed.percent, NoInterval::NothingVaries);
    check(agreed.fleiss, NoInterval::NothingVaries);
    check(agreed.cohen[0].plain, NoInterval::NothingVaries);
    // One item of ten decides whether kappa is defined, and a third of the samples are without it.
    let rare = measure(&from_rows(&table("11 11 11 11 11 11 11 11 11 22")), &[(0, 1)], 1);
    check(rare.cohen[0].plain, NoInterval::OftenUndefined);
    // A share of items has an interval of its own: 10 of 10 by Wilson, as statsmodels 0.15 computes it.
    let interval = rare.percent.interval.expect("an interval");
    assert_eq!(interval.method, "wilson");
    assert!((interval.low - 0.722_467_2).abs() < 1e-6 && (interval.high - 1.0).abs() < 1e-12, "{interval:?}");
}

/// Two raters of whom it is known how often they say what: the share of intervals that hold the true figure must be near 95 %.
#[test]
fn intervals_hold_the_truth() {
    // In hundredths; the first rater's categories down.
    const JOINT: [[u64; 3]; 3] = [[40, 5, 2], [6, 20, 4], [1, 4, 18]];
    let counts: Vec<Vec<usize>> = JOINT.iter().map(|row| row.iter().map(|n| *n as usize * 1000).collect()).collect();
    let rows: Vec<&[usize]> = counts.iter().map(Vec::as_slice).collect();
    let truth = figures(&cross(&rows));
    let mut random = Random::new(2026);
    const WORLDS: usize = 200;
    let mut held = [0; 6];
    for world in 0..WORLDS {
        let mut counts = [[0; 3]; 3];
        for _ in 0..60 {
            let mut at = random.below(100);
            'cell: for (row, shares) in JOINT.iter().enumerate() {
                for (column, share) in shares.iter().enumerate() {
                    if at < *share {
                        counts[row][column] += 1;
                        break 'cell;
                    }
                    at -= share;
                }
            }
        }
        let rows: Vec<&[usize]> = counts.iter().map(|row| row.as_slice()).collect();
        let found = measure(&cross(&rows), &[(0, 1)], world as u64);
        let estimates =
            [found.percent, found.cohen[0].plain, found.cohen[0].quadratic, found.fleiss, found.ordinal, found.ac1];
        for ((held, estimate), truth) in held.iter_mut().zip(estimates).zip(truth) {
            *held += usize::from(estimate.interval.is_ok_and(|i| i.low <= truth && truth <= i.high));
        }
    }
    let shares = held.map(|n| n as f64 / WORLDS as f64);
    // Two hundred trials of 95 % lie within these ends in all but one of a thousand.
    assert!(shares.iter().all(|share| (0.90..=0.99).contains(share)), "{shares:?}");
}

fn figures(ratings: &Ratings) -> [f64; 6] {
    let all = [
        percent(ratings),
        cohen(ratings, 0, 1, Weights::Equal),
        cohen(ratings, 0, 1, Weights::Quadratic),
        fleiss(ratings),
        krippendorff(ratings, Level::Ordinal),
        ac1(ratings),
    ];
    // What is undefined lies in no interval, and would show.
    all.map(|value| value.unwrap_or(f64::NAN))
}

#[test]
fn the_data_become_likelier_in_every_round() {
    for seed in 1..40 {
        let rows = draw(seed, 30 + seed, 4, 2 + seed % 4, seed * 2 % 60, seed * 5 % 100);
        let fitted = dawid_skene(&from_rows(&rows));
        let falls = fitted.log_likelihood.windows(2).find(|pair| pair[1] < pair[0] - 1e-9);
        assert_eq!(falls, None, "seed {seed}");
        for posterior in fitted.posterior.iter().chain([&fitted.prevalence]) {
            let sum: f64 = posterior.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "seed {seed}: {posterior:?}");
        }
        for row in fitted.confusion.iter().flatten().flatten() {
            assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-9, "seed {seed}: {row:?}");
        }
    }
}

#[test]
fn a_rater_who_is_always_wrong_is_detected() {
    // Three good raters, and one who always says the opposite.
    let rows = table("0001 0001 0001 1110 1110 1110 0001 1110 1110 .... .0.1 ...0");
    let fitted = dawid_skene(&from_rows(&rows));
    let classes: Vec<Option<usize>> = fitted.class.clone();
    assert_eq!(classes[..9], [0, 0, 0, 1, 1, 1, 0, 1, 1].map(Some));
    assert_eq!(classes[9..], [None, Some(0), Some(1)]);
    assert!(fitted.converged);
    let contrary = fitted.confusion[3][0].as_ref().expect("rated items of this class");
    assert!(contrary[1] > 0.99, "{contrary:?}");
    assert_eq!(dawid_skene(&from_rows(&[])).class, []);
}
