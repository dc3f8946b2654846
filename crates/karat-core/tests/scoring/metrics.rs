//! Numbers by hand: means, pooled counts, verdicts, slices, failed trials.

use crate::story::{case, profile, suite, trial};
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::judgement::{AuditDecision, Classification, ClassifiedFinding, Decision, Expressed, Judgement};
use karat_core::metric::counts::Confusion;
use karat_core::metric::sums::Sums;
use karat_core::metric::table::{Basis, METRICS, Track, basis};
use karat_core::profile::Profile;
use karat_core::scorecard::{Metrics, Scorecard, ToolScore, score};
use karat_core::stats::random::Random;
use karat_core::suite::{Suite, Verdict};
use karat_core::trial::{Outcome, Trial};

fn value(metrics: &Metrics, id: &str) -> Option<f64> {
    metrics.iter().find(|(name, _)| *name == id).unwrap_or_else(|| panic!("{id}")).1.value
}

fn close(metrics: &Metrics, id: &str, expect: f64) {
    let got = value(metrics, id);
    assert!(got.is_some_and(|v| (v - expect).abs() < 1e-12), "{id}: {got:?}, expected {expect}");
}

fn reason<'m>(metrics: &'m Metrics, id: &str) -> &'m str {
    metrics.iter().find(|(name, _)| *name == id).unwrap().1.undefined.unwrap_or("defined")
}

fn failed(case: &str, number: u32, outcome: Outcome) -> Trial {
    Trial { outcome, ..Trial::reported(CaseId::new(case), ToolName::new("t"), number) }
}

/// Two vulnerable cases and a clean one, two trials each.
fn two_trials() -> (Suite, Vec<Trial>) {
    let suite = suite(vec![
        case("a", "g1 a.py:5 kw=sql sev=high | x\n g2 a.py:50 kw=race sev=low | y"),
        case("b", "g1 b.py:5 kw=leak sev=high | z"),
        case("clean", ""),
    ]);
    let trials = vec![
        trial("a", 1, "f1 a.py:5 sev=high | sql\n f2 q/z.rb:1 sev=low | noise"),
        trial("a", 2, "f1 a.py:5 sev=high | sql\n f2 a.py:50 sev=low | race"),
        trial("b", 1, ""),
        trial("b", 2, "f1 b.py:5 sev=critical | leak"),
        trial("clean", 1, ""),
        trial("clean", 2, "f1 c.py:1 sev=high | noise"),
    ];
    (suite, trials)
}

fn scored(suite: &Suite, trials: &[Trial], profile: &Profile) -> (ToolScore, Scorecard) {
    let card = score(suite, trials, &[], profile);
    (card.tools[0].clone(), card)
}

#[test]
fn trials_are_averaged_within_a_case_then_cases() {
    let (suite, trials) = two_trials();
    let (tool, _) = scored(&suite, &trials, &profile("karat", ""));
    // a: precision (1/2 + 1)/2, recall (1/2 + 1)/2; b: precision 1 (trial 1 undefined), recall (0 + 1)/2.
    close(&tool.metrics, "precision", (0.75 + 1.0) / 2.0);
    close(&tool.metrics, "recall", (0.75 + 0.5) / 2.0);
    // a: F1 (2/(2+1+1) + 1)/2; b: (0 + 1)/2.
    close(&tool.metrics, "f1", (0.75 + 0.5) / 2.0);
    close(&tool.metrics, "clean_pass", 0.5);
    // Pooled: TP 1 + 2 + 0 + 1, FP 1 + 0 + 0 + 0 + 1 on the clean case, FN 1 + 0 + 1 + 0.
    assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), (4, 2, 2));
    close(&tool.micro, "precision", 4.0 / 6.0);
    close(&tool.micro, "recall", 4.0 / 6.0);
    let recall = &tool.metrics.iter().find(|(id, _)| *id == "recall").unwrap().1;
    // Suite means of the trials are 0.25 and 1; of the cases 0.75 and 0.5. Both divide by n − 1.
    assert!((recall.std_trials.unwrap() - (2.0_f64 * 0.375 * 0.375).sqrt()).abs() < 1e-12);
    assert!((recall.std_cases.unwrap() - (2.0_f64 * 0.125 * 0.125).sqrt()).abs() < 1e-12);
    assert_eq!((recall.n, recall.unreliable()), (2, true));
}

#[test]
fn steadiness_over_trials() {
    let (suite, trials) = two_trials();
    let (tool, _) = scored(&suite, &trials, &profile("karat", ""));
    // a: g1 always, g2 once; b: g1 once.
    close(&tool.metrics, "found_any", 1.0);
    close(&tool.metrics, "found_all", 0.25);
    close(&tool.metrics, "consistency", 0.25);
    let flaky: Vec<String> =
        tool.flaky.iter().map(|f| format!("{}/{} {}/{}", f.case, f.golden, f.found, f.trials)).collect();
    assert_eq!(flaky, ["a/g2 1/2", "b/g1 1/2"]);
    let (single, _) = scored(&suite, &trials[..1], &profile("karat", ""));
    assert_eq!(reason(&single.metrics, "consistency"), "too few trials");
}

#[test]
fn undefined_is_left_out_of_means_and_counted() {
    let suite = suite(vec![case("a", "g a.py:5 kw=sql | x"), case("b", "g b.py:5 kw=sql | x")]);
    let trials = [trial("a", 1, "f a.py:5 | sql"), trial("b", 1, "")];
    let (tool, _) = scored(&suite, &trials, &profile("karat", ""));
    close(&tool.metrics, "precision", 1.0);
    let precision = &tool.metrics.iter().find(|(id, _)| *id == "precision").unwrap().1;
    assert_eq!((precision.n, precision.left_out), (1, 1));
    assert_eq!(reason(&tool.metrics, "clean_pass"), "no clean case");
    assert_eq!(reason(&tool.metrics, "fpr"), "no safe case with a verdict");
    // The published benchmark counts it as 0.
    let (crb, _) = scored(&suite, &trials, &profile("crb", ""));
    close(&crb.metrics, "precision", 0.5);
}

#[test]
fn duplicates_and_acceptable_findings_are_false_only_in_crb() {
    let suite = suite(vec![case("a", "g1 a.py:5 kw=sql | x\n g2 a.py:90 kw=doc acceptable | y")]);
    let trials = [trial("a", 1, "f1 a.py:5 | sql\n f2 a.py:5 | sql\n f3 a.py:90 | doc")];
    let (karat, _) = scored(&suite, &trials, &profile("karat", ""));
    assert_eq!((karat.counts.tp, karat.counts.fp), (1, 0));
    let (crb, _) = scored(&suite, &trials, &profile("crb", ""));
    assert_eq!((crb.counts.tp, crb.counts.fp), (1, 2));
}

#[test]
fn failed_trials_miss_everything_or_are_left_out() {
    let suite = suite(vec![case("a", "g a.py:5 kw=sql | x"), case("clean", "")]);
    let trials = [
        trial("a", 1, "f a.py:5 | sql"),
        failed("a", 2, Outcome::Crashed),
        failed("clean", 1, Outcome::TimedOut),
        trial("clean", 2, ""),
    ];
    let said = |trial: &Trial| if trial.findings.is_empty() { Verdict::Safe } else { Verdict::Vulnerable };
    let stated = |trial: Trial| Trial { verdict: (trial.outcome == Outcome::Reported).then(|| said(&trial)), ..trial };
    let trials = trials.map(stated);
    let (miss, card) = scored(&suite, &trials, &profile("karat", ""));
    close(&miss.metrics, "recall", 0.5);
    close(&miss.metrics, "clean_pass", 0.5);
    close(&miss.metrics, "accuracy", 0.5);
    assert_eq!(card.warnings, ["t: 1 trial crashed", "t: 1 trial timed out"]);
    let (exclude, _) = scored(&suite, &trials, &profile("karat", "failed_trials = \"exclude\""));
    close(&exclude.metrics, "recall", 1.0);
    close(&exclude.metrics, "clean_pass", 1.0);
    assert_eq!(exclude.outcomes.get(&Outcome::Crashed), Some(&1));
}

#[test]
fn planned_trials_without_a_line_are_skipped_and_said_so() {
    let suite = suite(vec![case("a", "g a.py:5 kw=sql | x"), case("b", "g b.py:5 kw=sql | x")]);
    let trials = [trial("a", 1, "f a.py:5 | sql"), trial("a", 2, "f a.py:5 | sql"), trial("b", 1, "f b.py:5 | sql")];
    let (tool, card) = scored(&suite, &trials, &profile("karat", ""));
    assert_eq!((tool.trials, tool.outcomes.get(&Outcome::Skipped)), (4, Some(&1)));
    close(&tool.metrics, "recall", 0.75);
    assert_eq!(card.warnings, ["t: 1 of 4 planned trials have no line in the submission and count as skipped"]);
}

#[test]
fn verdicts_by_statement_by_weakness_and_by_any_finding() {
    let mut cases = vec![case("stated", ""), case("cwe", ""), case("any", ""), case("safe", "")];
    for case in &mut cases[..3] {
        case.verdict = Verdict::Vulnerable;
    }
    cases[1].cwe = vec![89];
    let suite = suite(cases);
    let mut trials = vec![
        Trial { verdict: Some(Verdict::Safe), ..trial("stated", 1, "f a.c:1 | x") },
        trial("cwe", 1, "f a.c:1 cwe=90 | x\n g a.c:2 cwe=89 | y"),
        trial("any", 1, "f a.c:1 | x"),
        trial("safe", 1, "f a.c:1 | x"),
    ];
    let (tool, _) = scored(&suite, &trials, &profile("owasp", ""));
    let v = tool.verdicts;
    assert_eq!((v.tp, v.fp, v.tn, v.fn_), (2.0, 1.0, 0.0, 1.0));
    close(&tool.metrics, "accuracy", 0.5);
    close(&tool.metrics, "tpr", 2.0 / 3.0);
    close(&tool.metrics, "fpr", 1.0);
    close(&tool.metrics, "youden", 2.0 / 3.0 - 1.0);
    close(&tool.metrics, "verdict_f2", 10.0 / (10.0 + 4.0 + 1.0));
    assert_eq!(reason(&tool.metrics, "precision"), "the profile compares only verdicts");
    // A second trial that is right halves each case's share.
    trials.push(Trial { verdict: Some(Verdict::Vulnerable), number: 2, ..trial("stated", 2, "") });
    trials.extend(["cwe", "any"].map(|id| Trial { verdict: Some(Verdict::Vulnerable), ..trial(id, 2, "") }));
    trials.push(trial("safe", 2, ""));
    let (tool, _) = scored(&suite, &trials, &profile("owasp", ""));
    assert_eq!((tool.verdicts.tp, tool.verdicts.fp, tool.verdicts.tn, tool.verdicts.fn_), (2.5, 0.5, 0.5, 0.5));
}

/// Nothing follows from findings but what the rules say, and nothing from those of a tool that names no weakness number.
#[test]
fn verdicts_that_nothing_gives_are_no_verdicts() {
    let mut suite = suite(vec![case("bug", "g a.c:1 kw=sql target | x"), case("fix", ""), case("down", "h b.c:1 | x")]);
    suite.cases.iter_mut().for_each(|case| case.cwe = vec![89]);
    let trials = |cwe: &str| {
        let sure = |trial: Trial| Trial { confidence: Some(0.9), ..trial };
        let down = Trial { outcome: Outcome::Crashed, ..trial("down", 1, "") };
        vec![sure(trial("bug", 1, &format!("f z.c:9 {cwe} | other"))), sure(trial("fix", 1, "f z.c:9 | other")), down]
    };
    let verdicts = |from: &str, cwe: &str, profile_name: &str| {
        let rules = profile(profile_name, &format!("verdict_from = \"{from}\""));
        let (tool, _) = scored(&suite, &trials(cwe), &rules);
        let correct = [0, 1, 2].map(|at: usize| tool.cases[at].trials[0].verdict_correct);
        (tool, correct)
    };
    for name in ["karat", "crb", "identity", "recorded"] {
        for (from, cwe) in [("none", ""), ("none", "cwe=89"), ("cwe", "")] {
            let (tool, correct) = verdicts(from, cwe, name);
            assert_eq!(correct, [None; 3], "{name} {from} {cwe}");
            assert_eq!(tool.verdicts_derived, 0, "{name} {from} {cwe}");
            let of_verdicts = |id: &str| id.contains("lucky") || id == "brier" || id == "ece";
            for metric in METRICS.iter().filter(|metric| metric.tier == 1 || of_verdicts(metric.id)) {
                assert_ne!(reason(&tool.metrics, metric.id), "defined", "{name} {from} {}", metric.id);
            }
            assert_eq!((tool.verdicts, tool.lucky.len()), (Confusion::default(), 0));
        }
        // A failed trial is wrong of a tool that gives verdicts.
        let (tool, correct) = verdicts("any", "", name);
        assert_eq!((correct, tool.verdicts_derived), ([Some(true), Some(false), Some(false)], 2));
        let (tool, correct) = verdicts("cwe", "cwe=89", name);
        assert_eq!((correct, tool.verdicts_derived), ([Some(true), Some(true), Some(false)], 2));
    }
}

#[test]
fn an_audit_speaks_before_the_trial_and_no_verdict_is_wrong() {
    let suite = suite(vec![case("c", "g a.sol:5 kw=reentrancy target | x")]);
    let trials = [Trial { verdict: Some(Verdict::Vulnerable), ..trial("c", 1, "f b/other.sol:900 | something else") }];
    let (plain, _) = scored(&suite, &trials, &profile("karat", "threshold = 0.9"));
    assert_eq!(plain.cases[0].trials[0].lucky_guess, Some(true));
    let audit = |said_vulnerable: Option<bool>| Judgement {
        case: CaseId::new("c"),
        tool: ToolName::new("t"),
        trial: 1,
        judge: karat_core::ids::JudgeName::new("m"),
        exchange: None,
        decision: Decision::Audit(AuditDecision {
            said_vulnerable: Some(said_vulnerable.into()),
            confidence_expressed: Some(Expressed::Value(0.7)),
            ..AuditDecision::default()
        }),
    };
    for (said, correct) in [(None, false), (Some(false), false), (Some(true), true)] {
        let card = score(&suite, &trials, &[audit(said)], &profile("karat", ""));
        let trial = &card.tools[0].cases[0].trials[0];
        assert_eq!((trial.verdict_correct, trial.confidence), (Some(correct), Some(0.7)), "{said:?}");
    }
}

/// Free text lists no findings, so a judge counts what it claims; where a tool lists them, they have names of its own.
#[test]
fn an_audit_names_the_findings_of_its_trial_or_the_claims_of_a_text() {
    let suite = suite(vec![case("c", "g a.sol:5 kw=reentrancy target | x")]);
    let check = |findings: &str, named: &str, unknown: usize| {
        let classified = |id: &str| ClassifiedFinding {
            classification: Some(Classification::Hallucinated),
            ..ClassifiedFinding::unasked(FindingId::new(id))
        };
        let audit = Judgement {
            case: CaseId::new("c"),
            tool: ToolName::new("t"),
            trial: 1,
            judge: karat_core::ids::JudgeName::new("m"),
            exchange: None,
            decision: Decision::Audit(AuditDecision {
                said_vulnerable: Some(Expressed::Value(true)),
                findings: named.split(' ').map(classified).collect(),
                ..AuditDecision::default()
            }),
        };
        let card = score(&suite, &[trial("c", 1, findings)], &[audit], &profile("karat", ""));
        let actual = format!("that audits classify but its trials do not have: {unknown};");
        let warned = card.warnings.iter().filter(|warning| warning.contains("that audits classify")).count();
        assert_eq!(warned, usize::from(unknown > 0), "{named}: {:?}", card.warnings);
        assert!(unknown == 0 || card.warnings.iter().any(|warning| warning.contains(&actual)), "{:?}", card.warnings);
    };
    check("", "response:1 response:2", 0);
    check("", "response:1 f1", 1);
    check("f1 a.sol:5 | reentrancy", "f1", 0);
    check("f1 a.sol:5 | reentrancy", "f1 f2 response:1", 2);
}

#[test]
fn severity_slices_split_recall_by_golden_and_precision_by_finding() {
    let (suite, trials) = two_trials();
    let (tool, _) = scored(&suite, &trials, &profile("karat", ""));
    let by = &tool.by["severity"];
    // High goldens: a/g1 found in both trials, b/g1 in one of two: (1 + 0.5) / 2 over cases.
    close(&by["high"].metrics, "recall", 0.75);
    close(&by["low"].metrics, "recall", 0.5);
    // Findings called low: a trial 1 noise (0 of 1), trial 2 right (1 of 1).
    close(&by["low"].metrics, "precision", 0.5);
    close(&by["critical"].metrics, "precision", 1.0);
    assert_eq!(value(&by["critical"].metrics, "recall"), None);
    close(&tool.macro_by["severity"], "recall", (0.75 + 0.5) / 2.0);
}

#[test]
fn case_slices_and_their_plain_mean() {
    let (mut suite, trials) = two_trials();
    suite.cases[0].language = Some("python".to_owned());
    suite.cases[1].language = Some("go".to_owned());
    suite.cases[1].meta.insert("team".to_owned(), "blue".to_owned());
    suite.cases[0].categories = vec!["injection".to_owned()];
    let (tool, _) = scored(&suite, &trials, &profile("karat", "verdict_from = \"any\""));
    close(&tool.by["language"]["python"].metrics, "recall", 0.75);
    close(&tool.by["language"]["go"].metrics, "recall", 0.5);
    close(&tool.macro_by["language"], "recall", 0.625);
    close(&tool.by["meta.team"]["blue"].metrics, "f1", 0.5);
    close(&tool.by["category"]["injection"].metrics, "tpr", 1.0);
}

#[test]
fn a_case_passes_without_misses_and_without_extras_unless_allowed() {
    let mut suite = suite(vec![case("c", "g a.py:5 kw=sql | x")]);
    let trials = [trial("c", 1, "f1 a.py:5 | sql\n f2 q/z.rb:1 | noise")];
    assert!(!scored(&suite, &trials, &profile("karat", "")).0.pass);
    suite.cases[0].allow_unexpected = true;
    assert!(scored(&suite, &trials, &profile("karat", "")).0.pass);
}

#[test]
fn findings_outside_the_change_are_flagged_and_may_be_left_out() {
    let mut suite = suite(vec![case("c", "g a.py:5 kw=sql | x")]);
    let touched = karat_core::lines::Lines { start: 4, end: 6 };
    let path = karat_core::path::RepoPath::new("a.py").unwrap();
    suite.cases[0].change = Some(karat_core::suite::Change { touched: [(path, vec![touched])].into() });
    let trials = [trial("c", 1, "f1 a.py:5 | sql\n f2 a.py:90 | noise\n f3 b.py:1 | noise\n f4 - | noise")];
    let strict = "threshold = 0.9";
    let (kept, _) = scored(&suite, &trials, &profile("karat", &format!("{strict}\noutside_change = \"count\"")));
    let flagged: Vec<bool> = kept.cases[0].trials[0].result.extras.iter().map(|e| !e.flags.is_empty()).collect();
    assert_eq!(flagged, [true, true, false]);
    assert_eq!(kept.counts.fp, 3);
    let rules = profile("karat", strict);
    let (left_out, _) = scored(&suite, &trials, &rules);
    assert_eq!(left_out.counts.fp, 1);
    assert_eq!(left_out.cases[0].trials[0].untouched_extras(&rules), [1, 2]);
    // Within the tolerance of the profile, lines count as touched.
    let (near, _) = scored(&suite, &trials, &profile("karat", &format!("{strict}\nline_tolerance = 84")));
    assert_eq!(near.counts.fp, 2);
    assert_eq!(scored(&suite, &trials, &profile("crb", strict)).0.counts.fp, 3);
}

/// The file from another root is the same file; a trap and a match count wherever they lie.
#[test]
fn goldens_and_files_from_another_root_count_outside_the_change() {
    let mut suite = suite(vec![case("c", "g src/a.py:90 kw=sql | x"), case("clean", "")]);
    let path = karat_core::path::RepoPath::new("src/a.py").unwrap();
    let touched = karat_core::lines::Lines { start: 4, end: 6 };
    let change = karat_core::suite::Change { touched: [(path, vec![touched])].into() };
    suite.cases.iter_mut().for_each(|case| case.change = Some(change.clone()));
    let trials = [
        trial("c", 1, "f1 src/a.py:90 | sql\n f2 repo/src/a.py:5 | noise\n f3 repo/src/a.py:50 | noise"),
        trial("clean", 1, "f1 src/a.py:50 | noise"),
    ];
    let any = "threshold = 0.9\nverdict_from = \"any\"";
    let (tool, _) = scored(&suite, &trials, &profile("karat", any));
    assert_eq!((tool.counts.tp, tool.counts.fp, tool.counts.fn_), (1, 1, 0));
    // A finding that does not count raises no alarm either.
    assert_eq!((tool.cases[1].pass, tool.cases[1].trials[0].verdict_correct), (true, Some(true)));
    let (counted, _) = scored(&suite, &trials, &profile("karat", &format!("{any}\noutside_change = \"count\"")));
    assert_eq!((counted.cases[1].pass, counted.cases[1].trials[0].verdict_correct), (false, Some(false)));
    suite.cases[0].goldens[0].acceptance = karat_core::golden::Acceptance::Trap;
    let (trapped, _) = scored(&suite, &trials, &profile("karat", "threshold = 0.9"));
    assert_eq!(trapped.cases[0].trials[0].counts.fp, 2);
}

/// A row of sums any of which may be missing, so that every way of being undefined comes up.
fn any_row(random: &mut Random, columns: usize) -> Vec<f64> {
    let absent = 0.2 + 0.6 * random.unit();
    (0..columns).map(|_| if random.unit() < absent { 0.0 } else { 1.0 + random.unit() }).collect()
}

#[test]
fn a_ratio_of_sums_depends_on_the_columns_that_it_names_and_on_no_other() {
    const BINS: usize = 10;
    let names = Sums::names(BINS);
    let mut met = 0;
    for rules in [profile("karat", ""), profile("audit", ""), profile("audit-strict", "")] {
        for metric in METRICS.iter().filter(|metric| metric.track == Track::Findings) {
            let Some(read) = Sums::columns(metric.id, BINS) else { continue };
            let mut values = 0;
            for number in 0..300 {
                let mut random = Random::new(7, number);
                let (row, other) = (any_row(&mut random, names.len()), any_row(&mut random, names.len()));
                // The columns that it reads stay, and all others become something else.
                let mixed: Vec<f64> =
                    (0..names.len()).map(|at| if read.contains(&at) { row[at] } else { other[at] }).collect();
                // The reason of an undefined one may look further.
                let value = |row: &[f64]| Sums::from_row(row, BINS).value(metric.id, &rules).unwrap().ok();
                assert_eq!(value(&row), value(&mixed), "{} by {}", metric.id, rules.name);
                values += usize::from(value(&row).is_some());
            }
            assert!(values > 0, "{} never has a value", metric.id);
            met += 1;
        }
    }
    assert!(met >= 70, "{met}");
}

/// Everything that a report states of a suite can be computed again from its cases, or says why not.
#[test]
fn every_metric_knows_what_it_is_computed_from() {
    let (suite, trials) = two_trials();
    let tool = score(&suite, &trials, &[], &profile("karat", "")).tools.remove(0);
    for metric in METRICS.iter().filter(|metric| metric.track == Track::Findings) {
        let of_cases = tool.cases.iter().any(|case| case.values.iter().any(|(id, _)| *id == metric.id));
        match basis(metric.id) {
            Some(Basis::Values) => {}
            Some(_) => assert!(!of_cases, "{} is no mean of cases", metric.id),
            None => panic!("{}", metric.id),
        }
    }
    assert_eq!(basis("mean_combined_score"), Some(Basis::Values));
    assert_eq!(basis("citation_precision"), Some(Basis::Share));
    assert_eq!(basis("unknown"), None);
}
