//! Pooled figures without the judge's errors. How often intervals hold the truth is simulated at the command line.

use crate::story::{case, judgement, profile, suite, trial};
use karat_core::ids::CaseId;
use karat_core::judgement::{Decision, Judgement};
use karat_core::profile::Profile;
use karat_core::scorecard::{
    CorrectedMetric, CorrectedTool, CorrectionInput, LabelSampling, correct_scores, label_sampling, score,
};
use karat_core::stats::correct::CorrectionError;
use karat_core::stats::random::Random;
use karat_core::suite::Suite;
use karat_core::trial::Trial;

/// What the judge and people say of some suite.
struct LabelledSuite {
    suite: Suite,
    trials: Vec<Trial>,
    judged: Vec<Judgement>,
    labels: Vec<Judgement>,
}

impl LabelledSuite {
    fn new() -> Self {
        Self { suite: suite(Vec::new()), trials: Vec::new(), judged: Vec::new(), labels: Vec::new() }
    }

    fn add_case(&mut self, goldens: &str, findings: &str) -> String {
        let name = format!("c{}", self.suite.cases.len());
        self.suite.cases.push(case(&name, goldens));
        self.trials.push(trial(&name, 1, findings));
        name
    }
}

fn about(case: &str, line: &str, probability: Option<f64>) -> Judgement {
    let mut said = judgement(line);
    said.case = CaseId::new(case);
    if let Decision::Pair(pair) = &mut said.decision {
        pair.probability = probability;
    }
    said
}

fn word(says: bool) -> &'static str {
    if says { "yes" } else { "no" }
}

/// One golden and one finding a case; `of` says what is true, what the judge says, and with which chance it is labelled.
fn labelled_suite(cases: usize, mut of: impl FnMut(usize) -> (bool, bool, Option<Option<f64>>)) -> LabelledSuite {
    let mut data = LabelledSuite::new();
    for number in 0..cases {
        let name = data.add_case("g1 a.py:5 kw=sql | x", "f1 a.py:5 | sql");
        let (truth, says, label) = of(number);
        data.judged.push(about(&name, &format!("model g1 f1 {}", word(says)), None));
        let line = format!("human:a g1 f1 {}", word(truth));
        data.labels.extend(label.map(|probability| about(&name, &line, probability)));
    }
    data
}

fn figures_by(data: &LabelledSuite, rules: &Profile) -> Option<CorrectedTool> {
    let card = score(&data.suite, &data.trials, &data.judged, rules);
    let labelled = CorrectionInput {
        suite: &data.suite,
        trials: &data.trials,
        judgements: &data.judged,
        labels: &data.labels,
        profile: rules,
        cluster: None,
        level: 0.95,
    };
    correct_scores(&card, labelled).into_iter().next()
}

fn figures(data: &LabelledSuite) -> Option<CorrectedTool> {
    figures_by(data, &profile("recorded", ""))
}

fn metrics(found: &CorrectedTool) -> [CorrectedMetric; 3] {
    [found.precision, found.recall, found.f1]
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
}

#[test]
fn by_hand() {
    // Of 100 cases the judge calls 60 a match. Of 40 labelled ones, every tenth call of either kind is wrong.
    let data = labelled_suite(100, |n| {
        let says = n % 5 < 3;
        let wrong = n < 40 && n % 10 == if n < 20 { 0 } else { 3 };
        (says != wrong, says, (n < 40).then_some(None))
    });
    assert_eq!(label_sampling(&data.labels), LabelSampling::Alike);
    let found = figures(&data).unwrap();
    assert_eq!((found.findings, found.goldens), (40, 40));
    assert_eq!(found.precision.raw, Some(0.6));
    // Labelled: 24 called a match, 2 of them wrongly; 16 not, 2 of them wrongly. se 22/24, sp 14/16.
    let (se, sp) = (22.0 / 24.0, 14.0 / 16.0);
    near(found.precision.rogan_gladen.unwrap().value, (0.6 + sp - 1.0) / (se + sp - 1.0));
    // 24 of 60 matches have a label, so each stands for 2.5: 60 − 2·2.5 + 2·2.5.
    let ppi = found.precision.ppi.unwrap();
    near(ppi.value, 0.6);
    assert_eq!((ppi.interval.method, ppi.interval.n), ("ppi++", 40));
    // Every case has one golden and one finding, so that all three are the same figure.
    near(found.recall.ppi.unwrap().value, ppi.value);
    near(found.f1.ppi.unwrap().value, ppi.value);
}

/// A golden without a candidate stands in a trial with findings, as others do that have one.
#[test]
fn goldens_without_a_candidate_are_missed_for_certain() {
    let mut data = LabelledSuite::new();
    for n in 0..80 {
        let name = data.add_case("g1 a.py:5 | x\ng2 b.py:5 | y", "f1 a.py:5 | sql");
        let (truth, says) = (n % 2 == 0, n % 4 < 3);
        data.judged.push(about(&name, &format!("model g1 f1 {}", word(says)), None));
        if n % 8 < 4 {
            data.labels.push(about(&name, &format!("human:a g1 f1 {}", word(truth)), Some(0.5)));
        }
    }
    let found = figures(&data).unwrap();
    assert_eq!((found.precision.raw, found.recall.raw), (Some(0.75), Some(0.375)));
    for (metric, expected) in metrics(&found).iter().zip([0.5, 0.25, 80.0 / 240.0]) {
        near(metric.ppi.unwrap().value, expected);
        near(metric.rogan_gladen.unwrap().value, expected);
    }
}

#[test]
fn too_few_labels_and_judges_that_tell_nothing_are_refused() {
    let of = |n: usize| (n.is_multiple_of(2), n.is_multiple_of(2));
    let few = figures(&labelled_suite(60, |n| (of(n).0, of(n).1, (n < 12).then_some(None)))).unwrap();
    assert_eq!(
        (few.precision.rogan_gladen, few.precision.ppi),
        (Err(CorrectionError::FEW_LABELS), Err(CorrectionError::FEW_LABELS))
    );
    // Forty labels, and none of a pair that the judge refuses: what it misses stays unknown.
    let one_sided = figures(&labelled_suite(80, |n| (of(n).0, of(n).1, of(n).1.then_some(Some(0.5))))).unwrap();
    assert_eq!(one_sided.recall.ppi, Err(CorrectionError::FEW_LABELS));
    // Right and wrong as often, whatever the truth.
    let coin = figures(&labelled_suite(80, |n| (n % 2 == 0, n % 4 < 2, Some(None)))).unwrap();
    assert_eq!(coin.precision.rogan_gladen, Err(CorrectionError::UNINFORMATIVE));
    assert_eq!(figures(&labelled_suite(40, |n| (n % 2 == 0, true, None))), None);
}

#[test]
fn probabilities_that_are_none_are_refused() {
    for probability in [0.0, -0.5, 1.5, f64::NAN] {
        let found = figures(&labelled_suite(80, |n| (n % 2 == 0, n % 2 == 0, Some(Some(probability))))).unwrap();
        for metric in metrics(&found) {
            assert_eq!(
                (metric.ppi, metric.rogan_gladen),
                (Err(CorrectionError::BAD_LABEL), Err(CorrectionError::BAD_LABEL))
            );
        }
    }
}

#[test]
fn labels_without_a_probability_are_left_out_beside_those_with_one() {
    let mut mixed = labelled_suite(90, |n| (n % 2 == 0, n % 2 == 0, Some((n < 60).then_some(0.5))));
    // What is said of an extra is about no pair.
    mixed.labels.push(about("c1", "human:a extra f1 yes", None));
    assert_eq!(label_sampling(&mixed.labels), LabelSampling::Stated { left_out: 30 });
    assert_eq!(figures(&mixed).unwrap().findings, 60);
}

/// A sample of which only every second pair was labelled, whatever the judge said of it.
#[test]
fn a_partly_labelled_sample_is_weighted_up() {
    let half = |stated: f64| {
        figures(&labelled_suite(400, |n| {
            let says = n % 2 == 0;
            let wrong = n % 20 < 2;
            (says != wrong, says, (n / 20 % 2 == 0).then_some(Some(stated)))
        }))
        .unwrap()
    };
    for (stated, as_stated) in metrics(&half(0.5)).iter().zip(metrics(&half(0.9))) {
        near(stated.ppi.unwrap().value, as_stated.ppi.unwrap().value);
        near(stated.ppi.unwrap().value, 0.5);
    }
}

/// Goldens and findings with several candidates each, as chance has it, and what is true of every pair.
fn entangled(
    random: &mut Random,
    cases: usize,
    right: f64,
    mut label: impl FnMut(bool) -> Option<f64>,
) -> LabelledSuite {
    let mut data = LabelledSuite::new();
    for _ in 0..cases {
        let goldens = "g0 a/a.py:5 | x\ng1 b/b.py:5 | y\ng2 c/c.py:5 acceptable | z";
        let name = data.add_case(goldens, "f0 d/d.py:9 | one\nf1 e/e.py:9 | two\nf2 f/f.py:9 | three");
        for (golden, finding) in (0..3).flat_map(|golden| (0..3).map(move |finding| (golden, finding))) {
            if random.unit() < 0.5 {
                continue;
            }
            let truth = random.unit() < 0.4;
            let says = truth == (random.unit() < right);
            data.judged.push(about(&name, &format!("model g{golden} f{finding} {}", word(says)), None));
            let line = format!("human:a g{golden} f{finding} {}", word(truth));
            data.labels.extend(label(says).map(|probability| about(&name, &line, Some(probability))));
        }
    }
    data
}

#[test]
fn labels_of_all_pairs_give_what_people_would_score() {
    for (name, seed) in [("recorded", 1), ("karat", 2), ("crb", 7)] {
        let rules = profile(name, "");
        let mut data = entangled(&mut Random::new(seed, 0), 30, 0.6, |_| Some(1.0));
        let found = figures_by(&data, &rules).unwrap();
        let raw = score(&data.suite, &data.trials, &data.judged, &rules).tools[0].counts;
        data.judged = std::mem::take(&mut data.labels);
        let card = score(&data.suite, &data.trials, &data.judged, &rules);
        let counts = card.tools[0].counts;
        assert_ne!(raw, counts, "{name}: the judge errs");
        let (tp, fp, fn_) = (counts.tp as f64, counts.fp as f64, counts.fn_ as f64);
        let expected = [tp / (tp + fp), tp / (tp + fn_), 2.0 * tp / (2.0 * tp + fp + fn_)];
        for (metric, expected) in metrics(&found).iter().zip(expected) {
            near(metric.ppi.unwrap().value, expected);
            assert_eq!(metric.rogan_gladen, Err(CorrectionError::SEVERAL_CANDIDATES), "{name}");
        }
    }
}

#[test]
fn labels_that_agree_with_the_judge_change_nothing() {
    for name in ["recorded", "karat", "crb"] {
        let mut random = Random::new(4, 0);
        let mut drawn = Random::new(5, 0);
        let data = entangled(&mut random, 60, 1.0, |_| (drawn.unit() < 0.4).then_some(0.4));
        for metric in metrics(&figures_by(&data, &profile(name, "")).unwrap()) {
            let ppi = metric.ppi.unwrap();
            near(ppi.value, metric.raw.unwrap());
            // Errors that nobody has seen may be there all the same.
            assert!(ppi.interval.high - ppi.interval.low > 0.05, "{ppi:?}");
        }
    }
}

#[test]
fn labels_of_findings_that_report_nothing_cover_all_their_pairs() {
    let mut data = LabelledSuite::new();
    for n in 0..80 {
        let name = data.add_case("g1 a.py:5 | x\ng2 b.py:5 | y", "f1 a.py:5 | sql");
        for golden in ["g1", "g2"] {
            data.judged.push(about(&name, &format!("model {golden} f1 {}", word(n % 4 > 0)), None));
        }
        // One of four is a finding of nothing, and the judge says of every second of these that it reports both goldens.
        let nothing = n % 8 < 2;
        if nothing {
            data.labels.push(about(&name, "human:a - f1 no", Some(1.0)));
        } else {
            for golden in ["g1", "g2"] {
                data.labels.push(about(&name, &format!("human:a {golden} f1 {}", word(n % 4 > 0)), Some(1.0)));
            }
        }
    }
    let found = figures(&data).unwrap();
    assert_eq!((found.precision.raw, found.recall.raw), (Some(120.0 / 140.0), Some(0.75)));
    near(found.recall.ppi.unwrap().value, 100.0 / 160.0);
    near(found.precision.ppi.unwrap().value, 100.0 / 130.0);
}

#[test]
fn profiles_that_do_not_decide_pair_by_pair_are_refused() {
    let data = labelled_suite(80, |n| (n % 2 == 0, n % 2 == 0, Some(Some(1.0))));
    for name in ["identity", "owasp", "audit"] {
        let found = figures_by(&data, &profile(name, "")).unwrap();
        assert_eq!(
            (found.recall.ppi, found.recall.rogan_gladen),
            (Err(CorrectionError::NOT_BY_PAIRS), Err(CorrectionError::NOT_BY_PAIRS))
        );
    }
}

/// Trials that say the same are labelled once, and no surer for it.
#[test]
fn trials_that_repeat_each_other_make_nothing_surer() {
    let one = labelled_suite(80, |n| (n % 2 == 0, n % 8 < 5, (n % 2 == 0 || n % 3 == 0).then_some(Some(0.5))));
    let mut three = labelled_suite(80, |n| (n % 2 == 0, n % 8 < 5, (n % 2 == 0 || n % 3 == 0).then_some(Some(0.5))));
    for number in 2..=3 {
        let again = |trial: &Trial| Trial { number, ..trial.clone() };
        let said = |judgement: &Judgement| Judgement { trial: number, ..judgement.clone() };
        three.trials.extend(one.trials.iter().map(again));
        three.judged.extend(one.judged.iter().map(said));
        three.labels.extend(one.labels.iter().map(said));
    }
    let (one, three) = (figures(&one).unwrap(), figures(&three).unwrap());
    for (one, three) in metrics(&one).iter().zip(metrics(&three)) {
        let (one, three) = (one.ppi.unwrap(), three.ppi.unwrap());
        near(one.value, three.value);
        assert_eq!(one.interval.n, three.interval.n);
        let [narrow, wide] = [three.interval, one.interval].map(|interval| interval.high - interval.low);
        assert!(narrow > 0.9 * wide, "{narrow} beside {wide}");
    }
}
