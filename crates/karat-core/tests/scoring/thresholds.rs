//! Places, weights, bounds, twins and thresholds, from findings alone.

use crate::story::{case, profile, suite, trial};
use karat_core::ids::CaseId;
use karat_core::metric::sweep::Scale;
use karat_core::scorecard::{ToolScore, score};
use karat_core::suite::Suite;
use karat_core::trial::Trial;

#[track_caller]
fn check(tool: &ToolScore, expect: &[(&str, Option<f64>)]) {
    for (id, expect) in expect {
        let got = tool.metrics.iter().find(|(own, _)| own == id).unwrap_or_else(|| panic!("{id}")).1.value;
        let same = match (got, expect) {
            (Some(got), Some(expect)) => (got - expect).abs() < 1e-12,
            (got, expect) => got == *expect,
        };
        assert!(same, "{id}: {got:?}, expected {expect:?}");
    }
}

fn scored(suite: &Suite, trials: &[Trial]) -> ToolScore {
    score(suite, trials, &[], &profile("karat", "threshold = 0.7")).tools.remove(0)
}

/// Two goldens, one found; two findings wrong, of which one is a known false alarm.
fn story() -> (Suite, Trial) {
    let suite = suite(vec![case(
        "c",
        "g1 a.py:10-13 kw=sql sev=critical | x\n g2 b.py:50 kw=race sev=low | y\n g3 c.py:9 kw=log trap | z",
    )]);
    let mut trial =
        trial("c", 1, "f1 a.py:12-15 sev=high | sql\n f2 c.py:9 sev=critical | log\n f3 q/z.rb:1 sev=low | noise");
    for (finding, confidence) in trial.findings.iter_mut().zip([0.9, 0.6, 0.3]) {
        finding.confidence = Some(confidence);
    }
    (suite, trial)
}

#[test]
fn one_case_by_hand() {
    let (suite, trial) = story();
    let tool = scored(&suite, &[trial]);
    check(
        &tool,
        &[
            ("precision", Some(1.0 / 3.0)),
            ("precision_lower", Some(1.0 / 3.0)),
            // The trap is known to be false; the other one nobody looked at.
            ("precision_upper", Some(2.0 / 3.0)),
            ("severity_weighted_recall", Some(3.0 / 3.5)),
            ("location_iou", Some(2.0 / 6.0)),
            ("location_exact", Some(0.0)),
            ("location_within_5", Some(1.0)),
            ("average_precision", Some(0.5)),
            ("best_f1", Some(2.0 / 3.0)),
            // The wrong one is called critical and comes first.
            ("severity_average_precision", Some(0.25)),
            ("severity_best_f1", Some(0.5)),
            ("finding_brier", Some((0.01 + 0.36 + 0.09) / 3.0)),
            ("finding_ece", Some((0.1 + 0.6 + 0.3) / 3.0)),
            ("sui", None),
        ],
    );
    let best: Vec<(Scale, Option<f64>)> =
        tool.sweeps.iter().map(|sweep| (sweep.by, sweep.best.and_then(|best| best.threshold))).collect();
    assert_eq!(best, [(Scale::Confidence, Some(0.9)), (Scale::Severity, Some(4.0))]);
}

#[test]
fn nothing_reported_has_no_places_and_no_thresholds() {
    let (suite, _) = story();
    let tool = scored(&suite, &[trial("c", 1, "")]);
    check(
        &tool,
        &[
            ("precision_lower", None),
            ("precision_upper", None),
            ("severity_weighted_recall", Some(0.0)),
            ("location_iou", None),
            ("location_exact", None),
            ("location_within_5", None),
            ("average_precision", None),
            ("best_f1", None),
            ("finding_ece", None),
            ("finding_brier", None),
        ],
    );
    assert!(tool.sweeps.is_empty());
    let verdicts = score(&suite, &[trial("c", 1, "f a.py:1 | x")], &[], &profile("owasp", "")).tools.remove(0);
    check(&verdicts, &[("precision_lower", None), ("severity_weighted_recall", None), ("average_precision", None)]);
}

/// Fires on the bug and is silent about it on its fix, in the same trial.
#[test]
fn twins_go_together() {
    let traps = "t a.py:40 kw=safe rule=sql-string cwe=89 trap | y\n u a.py:60 kw=other cwe=22 trap | z";
    let mut cases = vec![case("bug", "g a.py:5 kw=sql rule=sql-string cwe=89 | x"), case("fix", traps)];
    // Either side may name the other.
    cases[1].twin = Some(CaseId::new("bug"));
    let suite = suite(cases);
    let values = |bug: &str, fix: &str| {
        let tool = scored(&suite, &[trial("bug", 1, bug), trial("fix", 1, fix)]);
        ["twin_recall", "twin_recall_silent"].map(|id| tool.metrics.iter().find(|(own, _)| *own == id).unwrap().1.value)
    };
    let found = "f a.py:5 | sql";
    assert_eq!(values(found, ""), [Some(1.0); 2]);
    assert_eq!(values(found, found), [Some(0.0); 2]);
    assert_eq!(values("", ""), [Some(0.0); 2]);
    // The target by its rule, by its weakness number, and by a known false alarm of its kind.
    for again in ["f a.py:90 rule=SQL-string | x", "f a.py:90 cwe=89 | x", "f a.py:40 | safe"] {
        assert_eq!(values(found, again), [Some(0.0); 2], "{again}");
    }
    // Something else, in the same file or in another one.
    for other in ["f a.py:90 cwe=22 rule=path | x", "f b.py:5 cwe=89 | x", "f a.py:60 | other"] {
        assert_eq!(values(found, other), [Some(1.0), Some(0.0)], "{other}");
    }
    // Right in one of two trials; never right in both places at once would be 0.
    let trials = [trial("bug", 1, found), trial("fix", 1, ""), trial("bug", 2, ""), trial("fix", 2, "")];
    check(&scored(&suite, &trials), &[("twin_recall", Some(0.5)), ("twin_recall_silent", Some(0.5))]);
    // A trial that failed on the fix was not silent there.
    let failed = Trial { outcome: karat_core::trial::Outcome::Crashed, ..trial("fix", 1, "") };
    check(&scored(&suite, &[trial("bug", 1, found), failed]), &[("twin_recall", Some(0.0))]);
}
