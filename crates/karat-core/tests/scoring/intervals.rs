//! Which metric gets which interval, from what, and when it has none.

use crate::story::{case, profile, suite, trial};
use karat_core::clusters::{ClusterBy, numbers};
use karat_core::comparison::{PairedMetric, Pairs, Rules, compare};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::table::{Direction, METRICS, Track};
use karat_core::profile::Profile;
use karat_core::scorecard::{Intervals, Metrics, Proportions, ToolScore, score};
use karat_core::stats::bootstrap::{BootstrapKind, interval_of_mean};
use karat_core::stats::interval::{clopper_pearson, wilson};
use karat_core::stats::paired::DifferenceVerdict as Conclusion;
use karat_core::stats::random::Random;
use karat_core::stats::summary::standard_error;
use karat_core::suite::{Suite, Verdict};
use karat_core::trial::Trial;

/// Forty cases of one golden in ten repositories; the tool finds it in three of four, and has something to say on every fifth
/// of the ten clean ones.
fn forty() -> (Suite, Vec<Trial>) {
    let (mut cases, mut trials) = (Vec::new(), Vec::new());
    for number in 0..50 {
        let name = format!("c{number}");
        let golden = if number < 40 { "g1 a.py:5 kw=sql sev=high | x" } else { "" };
        let mut one = case(&name, golden);
        one.repo = Some(format!("repo{}", number % 10));
        one.verdict = if number < 40 { Verdict::Vulnerable } else { Verdict::Safe };
        one.categories = vec![format!("kind{}", number % 2)];
        cases.push(one);
        let finding = if (number % 10 < 3 || number % 4 > 0) && number < 40 {
            "f1 a.py:5 sev=high | sql"
        } else if number % 5 == 0 {
            "f1 z.rb:1 sev=low | noise"
        } else {
            ""
        };
        trials.push(trial(&name, 1, finding));
    }
    (suite(cases), trials)
}

fn scored(suite: &Suite, trials: &[Trial], profile: &Profile, intervals: &Intervals) -> ToolScore {
    let mut card = score(suite, trials, &[], profile);
    card.add_intervals(suite, profile, intervals);
    card.tools.remove(0)
}

/// Every case by itself.
fn alone() -> Intervals {
    Intervals { cluster: ClusterBy::Nothing, ..Intervals::default() }
}

fn estimate<'m>(metrics: &'m Metrics, id: &str) -> &'m Estimate {
    &metrics.iter().find(|(own, _)| *own == id).unwrap_or_else(|| panic!("{id}")).1
}

#[test]
fn means_of_cases_are_resampled_and_proportions_are_not() {
    let (suite, trials) = forty();
    let tool = scored(&suite, &trials, &profile("karat", "verdict_from = \"any\""), &alone());
    let found: Vec<f64> = tool.cases[..40].iter().map(|c| c.trials[0].counts.tp as f64).collect();
    let hits = found.iter().filter(|v| **v > 0.0).count();
    let recall = estimate(&tool.metrics, "recall");
    assert_eq!(recall.method.as_deref(), Some("hierarchical-bootstrap-bca"));
    let [low, high] = recall.ci.unwrap();
    let alone = interval_of_mean(&found, None, &Default::default()).interval.unwrap();
    assert!((low - alone.low).abs() < 0.03 && (high - alone.high).abs() < 0.03, "{low} {high}, alone {alone:?}");
    assert_eq!(recall.se, standard_error(&found, None));
    let tpr = estimate(&tool.metrics, "tpr");
    let expected = wilson(hits, 40, 0.95).unwrap();
    assert_eq!((tpr.ci, tpr.method.as_deref()), (Some([expected.low, expected.high]), Some("wilson")));
    let pooled = estimate(&tool.micro, "recall");
    assert_eq!(pooled.ci, tpr.ci);
    assert_eq!(pooled.method.as_deref(), Some("wilson over pooled items"));
    assert_eq!(estimate(&tool.micro, "f1").method.as_deref(), Some("bootstrap-bca over pooled items"));
    assert_eq!(estimate(&tool.metrics, "youden").method.as_deref(), Some("bootstrap-bca"));
}

#[test]
fn percentile_and_clopper_pearson_on_request() {
    let (suite, trials) = forty();
    let wanted = Intervals {
        kind: BootstrapKind::Percentile,
        proportions: Proportions::ClopperPearson,
        resamples: 2000,
        ..alone()
    };
    let tool = scored(&suite, &trials, &profile("karat", "verdict_from = \"any\""), &wanted);
    assert_eq!(estimate(&tool.metrics, "recall").method.as_deref(), Some("hierarchical-bootstrap-percentile"));
    let fpr = estimate(&tool.metrics, "fpr");
    let expected = clopper_pearson(2, 10, 0.95).unwrap();
    assert_eq!(fpr.value, Some(0.2));
    let [low, high] = fpr.ci.unwrap();
    assert!((low - expected.low).abs() < 1e-12 && (high - expected.high).abs() < 1e-12);
}

#[test]
fn clusters_are_drawn_whole() {
    let (suite, trials) = forty();
    let rules = profile("karat", "verdict_from = \"any\"");
    let separate = scored(&suite, &trials, &rules, &alone());
    // Ten repositories are enough for the default.
    let together = scored(&suite, &trials, &rules, &Intervals::default());
    let asked = Intervals { cluster: ClusterBy::Field("repo".to_owned()), ..Intervals::default() };
    assert_eq!(scored(&suite, &trials, &rules, &asked), together);
    let (one, many) = (estimate(&separate.metrics, "recall"), estimate(&together.metrics, "recall"));
    assert_eq!(many.method.as_deref(), Some("hierarchical-cluster-bootstrap-bca"));
    assert_ne!(one.se, many.se);
    // Items of a cluster are not independent, so no interval that takes them to be is given.
    assert_eq!(estimate(&together.metrics, "tpr").method.as_deref(), Some("cluster-bootstrap-bca"));
    assert_eq!(
        estimate(&together.micro, "precision").method.as_deref(),
        Some("cluster-bootstrap-bca over pooled items")
    );
}

#[test]
fn constant_shares_get_a_proportion_interval_or_none() {
    let names: Vec<String> = (0..8).map(|n| format!("c{n}")).collect();
    let cases = names.iter().map(|name| case(name, "g1 a.py:5 kw=sql sev=high | x\n g2 b.py:5 kw=race | y")).collect();
    let trials: Vec<Trial> = names.iter().map(|name| trial(name, 1, "f1 a.py:5 sev=high | sql")).collect();
    let tool = scored(&suite(cases), &trials, &profile("karat", "verdict_from = \"any\""), &Intervals::default());
    let precision = estimate(&tool.metrics, "precision");
    let expected = wilson(8, 8, 0.95).unwrap();
    assert_eq!((precision.ci, precision.value), (Some([expected.low, 1.0]), Some(1.0)));
    // Half of the goldens in every case: nothing tells how sure that is.
    let recall = estimate(&tool.metrics, "recall");
    assert_eq!((recall.value, recall.ci), (Some(0.5), None));
    assert!(recall.no_ci.unwrap().contains("every resample gives the same"), "{:?}", recall.no_ci);
}

#[test]
fn the_mean_over_categories_is_resampled_by_case() {
    let (suite, trials) = forty();
    let tool = scored(&suite, &trials, &profile("owasp", ""), &alone());
    let youden = estimate(&tool.macro_by["category"], "youden");
    let [low, high] = youden.ci.unwrap();
    assert!(low < youden.value.unwrap() && youden.value.unwrap() < high);
    assert_eq!(youden.method.as_deref(), Some("bootstrap-bca"));
}

#[test]
fn calibration_errors_have_the_interval_that_the_table_says() {
    let (suite, mut trials) = forty();
    for (number, trial) in trials.iter_mut().enumerate() {
        trial.confidence = Some(0.55 + 0.1 * (number % 4) as f64);
        trial.findings.iter_mut().for_each(|finding| finding.confidence = Some(0.75));
    }
    let rules = profile("karat", "verdict_from = \"any\"");
    let tool = scored(&suite, &trials, &rules, &alone());
    let error = estimate(&tool.metrics, "ece_debiased");
    assert_eq!((error.method.as_deref(), error.n), (Some("jackknife"), 50));
    let findings = estimate(&tool.metrics, "finding_ece_debiased");
    assert_eq!(findings.method.as_deref(), Some("jackknife over pooled items"));
    let largest = estimate(&tool.metrics, "mce");
    assert!(largest.value.is_some() && largest.ci.is_none() && largest.method.is_none());
    assert!(largest.no_ci.unwrap().contains("biased upwards"), "{:?}", largest.no_ci);
    for (point, n) in tool.reliability.iter().zip([13, 13, 12, 12]) {
        let hits = (point.accuracy * n as f64).round() as usize;
        let expected = wilson(hits, n, 0.95).unwrap();
        let [low, high] = point.ci.unwrap();
        assert!((low - expected.low).abs() < 1e-12 && (high - expected.high).abs() < 1e-12, "{point:?}");
    }
    let by_repository = scored(&suite, &trials, &rules, &Intervals::default());
    assert_eq!(estimate(&by_repository.metrics, "ece_debiased").method.as_deref(), Some("cluster-jackknife"));
    // The order of cases changes nothing.
    let (mut turned, mut backwards) = (suite.clone(), trials.clone());
    turned.cases.reverse();
    backwards.reverse();
    let again = scored(&turned, &backwards, &rules, &alone());
    let [one, other] = [error, estimate(&again.metrics, "ece_debiased")].map(|estimate| estimate.ci.unwrap());
    assert!((one[0] - other[0]).abs() + (one[1] - other[1]).abs() < 1e-9, "{one:?} {other:?}");
}

/// Every value has an interval that holds it, or says why there is none; what has no value has neither.
#[test]
fn every_metric_has_an_interval_or_a_reason() {
    let (suite, trials) = forty();
    let tool = scored(
        &suite,
        &trials,
        &profile("karat", "verdict_from = \"any\""),
        &Intervals { resamples: 500, ..Intervals::default() },
    );
    for metric in METRICS.iter().filter(|metric| metric.track == Track::Findings) {
        let estimate = estimate(&tool.metrics, metric.id);
        match (estimate.value, estimate.ci, estimate.no_ci) {
            (Some(value), Some([low, high]), None) => {
                assert!(low <= value + 1e-9 && value <= high + 1e-9, "{}: {value} not in {low} to {high}", metric.id);
            }
            (Some(_), None, Some(_)) | (None, None, None) => {}
            other => panic!("{}: {other:?}", metric.id),
        }
    }
}

/// Five clean cases with three trials each, mostly with false alarms: resamples of the mean reach below 0.
#[test]
fn intervals_lie_within_the_range_of_their_metric() {
    let alarms = [[0, 1, 1], [1, 1, 1], [1, 1, 1], [1, 1, 1], [1, 0, 1]];
    let names: Vec<String> = (0..alarms.len()).map(|number| format!("c{number}")).collect();
    let trials: Vec<Trial> = (names.iter().zip(alarms))
        .flat_map(|(name, alarms)| (1..).zip(alarms).map(move |(number, alarm)| (name, number, alarm)))
        .map(|(name, number, alarm)| trial(name, number, if alarm == 1 { "f1 z.rb:1 | noise" } else { "" }))
        .collect();
    let clean = suite(names.iter().map(|name| case(name, "")).collect());
    let tool = scored(&clean, &trials, &profile("karat", ""), &alone());
    let [low, high] = estimate(&tool.metrics, "clean_pass").ci.unwrap();
    assert!(low >= 0.0 && high <= 1.0, "{low} {high}");
}

#[test]
fn seeds_decide_and_threads_do_not() {
    let (suite, trials) = forty();
    let rules = profile("karat", "verdict_from = \"any\"");
    let with = |seed: Option<u64>| {
        let tool = scored(&suite, &trials, &rules, &Intervals { seed, resamples: 500, ..Intervals::default() });
        estimate(&tool.metrics, "recall").ci
    };
    assert_eq!(with(Some(1)), with(Some(1)));
    assert_ne!(with(Some(1)), with(Some(2)));
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(alone.install(|| with(None)), with(None));
}

/// 25 repositories of 6 cases with a golden each, which is found as often as the repository makes it.
fn shared_repositories(seed: u64) -> (Suite, Vec<Trial>) {
    let mut random = Random::new(seed, 0);
    let (mut cases, mut trials) = (Vec::new(), Vec::new());
    for repository in 0..25 {
        // The shared effect: any share from 0 to 1, with 0.5 in the middle.
        let often = random.unit();
        for number in 0..6 {
            let name = format!("c{repository}-{number}");
            let mut one = case(&name, "g1 a.py:5 kw=sql | x");
            one.repo = Some(format!("r{repository}"));
            cases.push(one);
            trials.push(trial(&name, 1, if random.unit() < often { "f1 a.py:5 | sql" } else { "" }));
        }
    }
    (suite(cases), trials)
}

/// In how many of so many suites the interval of recall holds the truth, which is one half.
fn coverage(suites: u64, intervals: &Intervals) -> f64 {
    let rules = profile("karat", "verdict_from = \"any\"");
    let covers = |seed: u64| {
        let (suite, trials) = shared_repositories(seed);
        let tool = scored(&suite, &trials, &rules, intervals);
        estimate(&tool.metrics, "recall").ci.is_some_and(|[low, high]| low <= 0.5 && 0.5 <= high)
    };
    (0..suites).filter(|seed| covers(*seed)).count() as f64 / suites as f64
}

/// Cases of one repository share most of what makes them hard, and the default intervals hold the truth nevertheless.
#[test]
fn intervals_of_shared_repositories_cover() {
    let few = |intervals: Intervals| Intervals { resamples: 300, ..intervals };
    let by_default = coverage(120, &few(Intervals::default()));
    assert!(by_default >= 0.90, "{by_default}");
    // Taken one by one the same cases seem to say more than they do.
    let separate = coverage(40, &few(alone()));
    assert!(separate <= 0.85, "{separate}");
}

/// In how many of so many suites two tools that do equally well are told apart.
fn told_apart(suites: u64, by: &ClusterBy) -> f64 {
    let rules = Rules { resamples: 400, ..Rules::default() };
    let differs = |seed: u64| {
        let mut random = Random::new(seed, 1);
        let (mut pairs, mut names) = (Vec::new(), Vec::new());
        for repository in 0..25 {
            let often = [random.unit(), random.unit()];
            for _ in 0..6 {
                pairs.push(often.map(|often| if random.unit() < often { 1.0 } else { 0.0 }));
                names.push(format!("r{repository}"));
            }
        }
        let repositories = || names.iter().map(|name| Some(name.as_str()));
        let clusters = by.decide_from(repositories()).used.then(|| numbers(repositories()));
        let comparand = PairedMetric { pairs: Pairs::Values(pairs), clusters, direction: Direction::Up };
        let verdict = compare(&[comparand], &rules)[0].verdict;
        matches!(verdict, Conclusion::Better | Conclusion::Worse)
    };
    (0..suites).filter(|seed| differs(*seed)).count() as f64 / suites as f64
}

#[test]
fn tools_that_do_equally_well_on_shared_repositories_are_seldom_told_apart() {
    let by_default = told_apart(300, &ClusterBy::Default);
    assert!(by_default <= 0.08, "{by_default}");
    let separate = told_apart(100, &ClusterBy::Nothing);
    assert!(separate >= 0.12, "{separate}");
}
