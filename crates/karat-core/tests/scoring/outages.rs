//! Outages change no figure, and a tool that never reported anything has none.

use crate::story::{case, profile, suite, trial};
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{
    AuditDecision, Classification, ClassifiedFinding, Decision, Judgement, TargetAssessment, TypeMatch,
};
use karat_core::metric::estimate::Estimate;
use karat_core::metric::table::{METRICS, Track};
use karat_core::scorecard::{Intervals, Metrics, Scorecard, ToolScore, score};
use karat_core::suite::{Suite, Verdict};
use karat_core::trial::{Outcome, Trial};

const PROFILES: [&str; 7] = ["karat", "crb", "identity", "owasp", "recorded", "audit", "audit-strict"];

fn ended(case: &str, number: u32, outcome: Outcome) -> Trial {
    Trial { outcome, ..Trial::reported(CaseId::new(case), ToolName::new("t"), number) }
}

/// Vulnerable and clean cases with languages, categories and a twin, whose goldens have keywords, so that the words of one case do not
/// change what those of another are worth.
fn some_suite() -> Suite {
    let mut cases = vec![
        case("a", "g1 a.py:5 kw=sql sev=high rule=r cat=x target | x\n g2 a.py:50 kw=race sev=low rule=q cat=y | y"),
        case("b", "g1 b.py:5 kw=leak sev=high rule=r cat=x target | z"),
        case("clean", ""),
        case("down", "g1 d.py:5 kw=lock sev=low rule=r cat=z target | w"),
    ];
    for (case, language) in cases.iter_mut().zip(["python", "go", "go", "rust"]) {
        case.language = Some(language.to_owned());
        case.categories = vec![language.to_owned()];
    }
    cases[0].twin = Some(CaseId::new("clean"));
    suite(cases)
}

/// Two trials on each case but `down`, with verdicts and confidences.
fn some_trials() -> Vec<Trial> {
    let trials = [
        trial("a", 1, "f1 a.py:5 sev=high rule=r cat=x | sql\n f2 q/z.rb:1 sev=low rule=n cat=y | noise"),
        trial("a", 2, "f1 a.py:5 sev=high rule=r cat=x | sql\n f2 a.py:50 sev=low rule=q cat=y | race"),
        trial("b", 1, ""),
        trial("b", 2, "f1 b.py:5 sev=critical rule=r cat=x | leak"),
        trial("clean", 1, ""),
        trial("clean", 2, "f1 c.py:1 sev=high rule=n cat=x | noise"),
    ];
    let sure = |(at, mut trial): (usize, Trial)| {
        trial.confidence = Some(0.5 + 0.08 * at as f64);
        trial.verdict = Some(if at % 2 == 0 { Verdict::Vulnerable } else { Verdict::Safe });
        trial.findings.iter_mut().for_each(|finding| finding.confidence = Some(0.7));
        trial.latency_ms = Some(5.0);
        trial
    };
    trials.into_iter().enumerate().map(sure).collect()
}

fn audit(trial: &Trial) -> Judgement {
    let class = |(at, id): (usize, &FindingId)| ClassifiedFinding {
        finding: id.clone(),
        classification: Some(if at == 0 { Classification::TargetMatch } else { Classification::Hallucinated }),
        matches_target: None,
        is_valid_concern: None,
    };
    let found = !trial.findings.is_empty() && trial.case.as_str() != "clean";
    let target = TargetAssessment {
        found: Some(found),
        finding: None,
        type_match: Some(TypeMatch::Exact),
        rcir: Some(0.75),
        ava: Some(0.5),
        fsv: Some(1.0),
    };
    Judgement {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        judge: JudgeName::new("m"),
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some(Some(found).into()),
            confidence_expressed: Some(trial.confidence.into()),
            findings: trial.findings.iter().map(|finding| &finding.id).enumerate().map(class).collect(),
            target: Some(target),
            explanation: None,
        }),
    }
}

fn scored(suite: &Suite, trials: &[Trial], judgements: &[Judgement], name: &str) -> Scorecard {
    let profile = profile(name, "");
    let mut card = score(suite, trials, judgements, &profile);
    card.add_intervals(suite, &profile, &Intervals { resamples: 200, ..Intervals::default() });
    card
}

/// Every figure of a tool. How many cases a mean leaves out is not one: outages are counted there.
fn figures(tool: &ToolScore) -> Vec<(String, Estimate)> {
    let mut all = Vec::new();
    let mut add = |scope: String, metrics: &Metrics| {
        let one = |(id, estimate): &(&'static str, Estimate)| {
            (format!("{scope} {id}"), Estimate { left_out: 0, ..estimate.clone() })
        };
        all.extend(metrics.iter().map(one));
    };
    add("suite".to_owned(), &tool.metrics);
    add("micro".to_owned(), &tool.micro);
    for (dimension, values) in &tool.by {
        values.iter().for_each(|(value, slice)| add(format!("{dimension} {value} {}", slice.cases), &slice.metrics));
    }
    tool.macro_by.iter().for_each(|(dimension, metrics)| add(format!("over {dimension}"), metrics));
    all
}

#[track_caller]
fn same_figures(before: &ToolScore, after: &ToolScore, name: &str) {
    for (one, other) in figures(before).iter().zip(&figures(after)) {
        assert_eq!(one, other, "{name}");
    }
    assert_eq!(figures(before).len(), figures(after).len(), "{name}");
    assert_eq!((before.counts, before.pass, before.incomplete), (after.counts, after.pass, after.incomplete), "{name}");
    assert_eq!((&before.verdicts, &before.reliability), (&after.verdicts, &after.reliability), "{name}");
    assert_eq!((&before.flaky, &before.lucky, &before.sweeps), (&after.flaky, &after.lucky, &after.sweeps), "{name}");
    for (one, other) in before.cases.iter().zip(&after.cases) {
        assert_eq!((&one.values, &one.sums, one.pass), (&other.values, &other.sums, other.pass), "{name}");
    }
}

#[test]
fn outages_change_no_figure() {
    let all = some_suite();
    let mut without = all.clone();
    without.cases.pop();
    let trials = some_trials();
    let audits: Vec<Judgement> = trials.iter().map(audit).collect();
    let mut defined = std::collections::BTreeSet::new();
    for name in PROFILES {
        for judgements in [&[][..], &audits] {
            let before = scored(&without, &trials, judgements, name);
            let known = before.tools[0].metrics.iter().filter(|(_, estimate)| estimate.value.is_some());
            defined.extend(known.map(|(id, _)| *id));
            // A third trial on some cases, which the others do not lack.
            let mut more = trials.clone();
            more.extend([ended("a", 3, Outcome::Unavailable), ended("clean", 7, Outcome::Unavailable)]);
            let after = scored(&without, &more, judgements, name);
            same_figures(&before.tools[0], &after.tools[0], name);
            assert_eq!(after.tools[0].trials, before.tools[0].trials + 2);
            // A whole case, judged or not.
            let down = [ended("down", 1, Outcome::Unavailable), ended("down", 2, Outcome::Unavailable)];
            let judged: Vec<Judgement> = judgements.iter().cloned().chain(down.iter().map(audit)).collect();
            let judged = if judgements.is_empty() { &[][..] } else { &judged };
            more.extend(down);
            let after = scored(&all, &more, judged, name);
            same_figures(&before.tools[0], &after.tools[0], name);
            let down = &after.tools[0].cases[3];
            assert!(down.is_unavailable() && !down.pass && down.counted().next().is_none(), "{name}");
            assert!(down.trials.iter().all(|trial| trial.result.misses.is_empty() && trial.counts.fn_ == 0), "{name}");
            let note = "t: 4 of 10 trials unavailable: an outage, no key or a spent budget; left out of its figures, with 1 whole case";
            assert!(after.warnings.iter().any(|warning| warning == note), "{:?}", after.warnings);
        }
    }
    let never: Vec<&str> = METRICS
        .iter()
        .filter(|metric| metric.track == Track::Findings && !defined.contains(metric.id))
        .map(|metric| metric.id)
        .collect();
    assert!(defined.len() >= 40, "these are not tested, since they never have a value: {never:?}");
}

#[test]
fn a_tool_that_never_reported_has_no_figures() {
    let all = some_suite();
    for name in PROFILES {
        for outcome in Outcome::ALL.into_iter().filter(|outcome| *outcome != Outcome::Reported) {
            let trials: Vec<Trial> = all.cases.iter().map(|case| ended(case.id.as_str(), 1, outcome)).collect();
            let audits: Vec<Judgement> = trials.iter().map(audit).collect();
            let mut card = scored(&all, &trials, &audits, name);
            let tool = card.tools.remove(0);
            for (id, estimate) in figures(&tool) {
                assert_eq!((estimate.value, estimate.ci), (None, None), "{id} of {} trials by {name}", outcome.words());
            }
            assert_eq!(tool.metrics[0].1.undefined, Some("no trial came to a report"));
            assert!(!tool.pass && tool.counts.fn_ == 0 && tool.flaky.is_empty());
            let note = "t: no trial came to a report, so it has no scores and no rank";
            assert!(card.warnings.iter().any(|warning| warning == note), "{:?}", card.warnings);
        }
    }
}

/// One report is enough for failures to count, by default, as what they are for a user: misses.
#[test]
fn failures_beside_a_report_count() {
    let all = suite(vec![case("a", "g a.py:5 kw=sql | x"), case("b", "g b.py:5 kw=sql | x")]);
    let trials = [trial("a", 1, "f a.py:5 | sql"), ended("b", 1, Outcome::Crashed)];
    let tool = scored(&all, &trials, &[], "karat").tools.remove(0);
    let recall = tool.metrics.iter().find(|(id, _)| *id == "recall").unwrap().1.value;
    assert_eq!((recall, tool.counts.fn_, tool.pass), (Some(0.5), 1, false));
    let trials = [trial("a", 1, "f a.py:5 | sql"), ended("b", 1, Outcome::Unavailable)];
    let tool = scored(&all, &trials, &[], "karat").tools.remove(0);
    let recall = tool.metrics.iter().find(|(id, _)| *id == "recall").unwrap().1.value;
    assert_eq!((recall, tool.counts.fn_, tool.pass), (Some(1.0), 0, true));
}
