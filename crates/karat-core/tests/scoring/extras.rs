//! What becomes of extras that somebody looked at.

use crate::story::{describe, profile, score_one};
use karat_core::matching::outcome::ExtraReason;
use karat_core::scorecard::TrialScore;

const GOLDENS: &str = "g1 a.py:10 kw=sql | x\n g2 c.py:9 kw=log trap | z";
const FINDINGS: &str = "f1 a.py:10 | sql\n f2 c.py:9 | log\n f3 q/z.rb:1 | noise\n f4 q/y.rb:1 | more";

fn trial(method: &str, judgements: &str) -> (TrialScore, String, [Option<f64>; 3], Vec<String>) {
    let profile = profile(method, "threshold = 0.7");
    let (card, suite, trial) = score_one(&profile, GOLDENS, FINDINGS, judgements);
    let tool = &card.tools[0];
    let value = |id: &str| tool.metrics.iter().find(|(own, _)| *own == id).and_then(|(_, estimate)| estimate.value);
    let score = tool.cases[0].trials[0].clone();
    let text = describe(&score.result, &suite.cases[0], &trial);
    (score, text, ["precision_lower", "precision", "precision_upper"].map(value), card.warnings)
}

#[track_caller]
fn check(judgements: &str, expect: [&str; 2], bounds: [f64; 3]) {
    let (score, text, values, _) = trial("karat", judgements);
    let [third, fourth] = expect;
    let expect =
        format!("g1=f1 1.000\nextra f2: it reports a known false alarm [trap]\nextra f3: {third}\nextra f4: {fourth}");
    assert_eq!(text, expect);
    for (value, expect) in values.into_iter().zip(bounds) {
        assert!((value.unwrap() - expect).abs() < 1e-12, "{values:?}, not {bounds:?}");
    }
    score.result.assert_conserved(4, 1);
}

const OPEN: &str = "no golden is similar to it";
const REAL: &str = "a real problem that no golden describes";
const FALSE: &str = "reviewed: not a problem";

#[test]
fn bounds_draw_together_as_extras_are_labelled() {
    // One of four is right, one is known to be false, two are not known.
    check("", [OPEN, OPEN], [0.25, 0.25, 0.75]);
    check("human:a extra f3 no", [FALSE, OPEN], [0.25, 0.25, 0.5]);
    // A real problem is left out on both sides, as an audited one is.
    check("human:a extra f3 yes", [REAL, OPEN], [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0]);
    check("human:a extra f3 yes\n human:a extra f4 no", [REAL, FALSE], [1.0 / 3.0; 3]);
}

#[test]
fn people_go_before_models_and_an_even_split_decides_nothing() {
    let after = |judgements: &str| {
        let (score, ..) = trial("karat", judgements);
        score.result.extras.iter().find(|extra| extra.finding == 2).unwrap().why
    };
    assert_eq!(after("m extra f3 yes\n n extra f3 yes\n human:a extra f3 no"), ExtraReason::Refuted);
    assert_eq!(after("m extra f3 yes"), ExtraReason::Confirmed);
    assert_eq!(after("human:a extra f3 yes\n human:b extra f3 no\n human:c extra f3 yes"), ExtraReason::Confirmed);
    let split = "human:a extra f3 yes\n human:b extra f3 no";
    assert_eq!(after(split), ExtraReason::NothingNear);
    // Models are not heard where people are divided.
    assert_eq!(after(&format!("{split}\n m extra f3 yes")), ExtraReason::NothingNear);
}

#[test]
fn extra_decisions_leave_matches_and_traps_unchanged() {
    let (score, text, values, warnings) =
        trial("karat", "human:a extra f1 no\n human:a extra f2 yes\n human:a extra f9 yes");
    assert!(text.starts_with("g1=f1 1.000\nextra f2: it reports a known false alarm [trap]"), "{text}");
    assert_eq!((score.counts.tp, score.counts.fp), (1, 3));
    assert_eq!(values[0], Some(0.25));
    assert!(warnings.iter().any(|warning| warning.contains("1 judgements name a golden or finding")), "{warnings:?}");
}

#[test]
fn every_method_hears_of_extras() {
    for method in ["crb", "identity", "recorded"] {
        let (before, ..) = trial(method, "");
        let (after, ..) = trial(method, "human:a extra f3 yes");
        assert_eq!(after.counts.fp + 1, before.counts.fp, "{method}");
        let single = |score: &TrialScore| score.one_to_one.as_ref().map(|counts| counts.fp);
        assert_eq!(single(&after).map(|fp| fp + 1), single(&before), "{method}");
    }
}
