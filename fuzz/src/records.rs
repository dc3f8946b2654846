//! Submissions and judgements: written and read again, and scored.

use super::document::check_faults;
use karat::profile::{self, SHIPPED};
use karat_core::judgement::Judgement;
use karat_core::profile::{Method, Profile};
use karat_core::scorecard;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::case::CaseV1;
use karat_format::diagnostic_render::render;
use karat_format::document::{Syntax, decode, schema_of};
use karat_format::recorded::{self, NamedLines};
use karat_format::report::{DetailV1, ReportV1};
use karat_report::report_view::ReportView;
use karat_report::{FORMATS, TerminalStyle, build};
use std::sync::OnceLock;

/// Submissions that are taken survive being written, and every profile accounts for each of their findings once.
pub fn submission(bytes: &[u8]) {
    match recorded::read_trials(lines(bytes), None) {
        Err(faults) => check_faults(&faults.0, bytes),
        Ok(trials) => {
            submission_survives(&trials);
            scores_hold(&trials, &[]);
        }
    }
}

/// Judgements that are taken survive being written, and no profile loses a finding by what they say.
pub fn judgements(bytes: &[u8]) {
    match recorded::read_judgements(lines(bytes), None) {
        Err(faults) => check_faults(&faults.0, bytes),
        Ok(judgements) => {
            judgements_survive(&judgements);
            scores_hold(&scene().trials, &judgements);
        }
    }
}

/// What is written as a submission reads as the same trials.
pub fn submission_survives(trials: &[Trial]) {
    let mut text = Vec::new();
    assert!(recorded::write_trials(&mut text, trials).is_ok());
    match recorded::read_trials(lines(&text), None) {
        Err(faults) => panic!("{}\n{}", String::from_utf8_lossy(&text), render(&faults.0, false, 100)),
        Ok(again) => assert_eq!(again, trials),
    }
}

/// What is written as judgements reads as the same judgements.
pub fn judgements_survive(judgements: &[Judgement]) {
    let mut text = Vec::new();
    assert!(recorded::write_judgements(&mut text, judgements).is_ok());
    match recorded::read_judgements(lines(&text), None) {
        Err(faults) => panic!("{}\n{}", String::from_utf8_lossy(&text), render(&faults.0, false, 100)),
        Ok(again) => assert_eq!(again, judgements),
    }
}

fn lines(bytes: &[u8]) -> Vec<NamedLines<'_>> {
    vec![NamedLines { file: "in.jsonl".to_owned(), reader: Box::new(bytes) }]
}

fn scores_hold(trials: &[Trial], judgements: &[Judgement]) {
    let Scene { suite, profiles, .. } = scene();
    for profile in profiles {
        let mut scorecard = scorecard::score(suite, trials, judgements, profile);
        let intervals = scorecard::Intervals { resamples: 100, ..scorecard::Intervals::default() };
        scorecard.add_intervals(suite, profile, &intervals);
        for (case, trial) in
            scorecard.tools.iter().flat_map(|t| &t.cases).flat_map(|c| c.trials.iter().map(|t| (c.case, t)))
        {
            let findings = trial.line.map_or(0, |line| trials[line].findings.len());
            if profile.method != Method::Recorded {
                trial.result.assert_conserved(findings, suite.cases[case].compared_goldens(profile.method).len());
            }
        }
        for estimate in scorecard.tools.iter().flat_map(|t| t.metrics.iter().chain(&t.micro)).map(|(_, e)| e) {
            let finite = estimate.value.into_iter().chain(estimate.ci.into_iter().flatten()).all(f64::is_finite);
            assert!(finite, "{} gives {estimate:?}", profile.name);
        }
        if profile.name != "karat" {
            // Drawing takes far longer than scoring.
            continue;
        }
        let report = drawn_report(suite, trials, judgements, profile, &mut scorecard, &intervals);
        for format in FORMATS {
            format.render(&ReportView::new(&report), &TerminalStyle::complete(80));
        }
    }
}

fn drawn_report(
    suite: &Suite,
    trials: &[Trial],
    judgements: &[Judgement],
    profile: &Profile,
    scorecard: &mut scorecard::Scorecard,
    intervals: &scorecard::Intervals,
) -> ReportV1 {
    let labelled = scorecard::CorrectionInput {
        suite,
        trials,
        judgements,
        labels: judgements,
        profile,
        cluster: None,
        level: 0.95,
    };
    let pairs = build::PairReports::of_scorecard(suite, trials, judgements, profile, scorecard, DetailV1::All);
    let corrected = scorecard::correct_scores(scorecard, labelled);
    let input = build::ReportInput {
        suite,
        profile,
        seed: 0,
        intervals,
        corrected: &corrected,
        scorecard,
        keep_cases: true,
        notes: &[],
        isolation: &std::collections::BTreeMap::new(),
        recorded: &std::collections::BTreeMap::new(),
        asked: &[],
        spent: &std::collections::BTreeMap::new(),
    };
    build::report(input, pairs, &build::TrialCosts::new(trials))
}

/// The suite that trials and judgements are about.
pub fn scene_suite() -> &'static Suite {
    &scene().suite
}

/// The trials that judgements are about.
pub fn scene_trials() -> &'static [Trial] {
    &scene().trials
}

/// The report of these trials.
pub fn scene_report() -> ReportV1 {
    let Scene { suite, trials, profiles } = scene();
    let profile = &profiles[0];
    let mut scorecard = scorecard::score(suite, trials, &[], profile);
    let intervals = scorecard::Intervals { resamples: 100, ..scorecard::Intervals::default() };
    scorecard.add_intervals(suite, profile, &intervals);
    drawn_report(suite, trials, &[], profile, &mut scorecard, &intervals)
}

/// The same without details, whose cases are columns.
pub fn scene_figures() -> Result<ReportV1, String> {
    let mut report = scene_report();
    build::reduce(&mut report, DetailV1::None)?;
    Ok(report)
}

struct Scene {
    suite: Suite,
    trials: Vec<Trial>,
    profiles: Vec<Profile>,
}

/// A suite of two cases whose goldens are of every kind, trials about it, and all profiles.
fn scene() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| Scene {
        suite: Suite { name: "tiny".to_owned(), digest: String::new(), cases: vec![case(CASE), Case::new("clean")] },
        trials: recorded::read_trials(lines(TRIALS.as_bytes()), None).unwrap_or_default(),
        profiles: SHIPPED
            .iter()
            .filter_map(|shipped| profile::resolve(shipped.name, &profile::no_files, &[]).ok())
            .collect(),
    })
}

fn case(text: &str) -> Case {
    match decode::<CaseV1>("case", text, Syntax::Yaml, &schema_of::<CaseV1>()).into_result() {
        Ok((case, _)) => case.into_case().0,
        Err(faults) => panic!("{}", render(&faults, false, 100)),
    }
}

const CASE: &str = "
id: case
cwe: [89]
language: python
meta: {team: a}
issues:
  - {id: g1, title: SQL injection, file: app/db.py, line_start: 10, line_end: 12, keywords: [sql, query], rule_id: B608, target: true}
  - {id: g2, title: Open redirect in the login handler, file: 'app/**', severity: high, rule_id: R2, anchor: n1}
  - {id: g3, title: Weak hash, file: app/hash.py, line_start: 3, keywords: [md5], acceptance: acceptable}
  - {id: g4, title: Not a leak, file: app/db.py, line_start: 40, keywords: [leak], acceptance: trap}
  - {id: g5, description: 'Keyed by hand', identity_key: 'v2|a.py|r|lines:1-2', category: leak, cwe: [200]}
";

/// The trials that judgements are about.
pub const TRIALS: &str = r#"
{"case":"case","tool":"t","trial":1,"outcome":"reported","verdict":"vulnerable","findings":[{"id":"f1","rule_id":"B608","title":"SQL query","file":"app/db.py","line_start":11},{"id":"f2","message":"open redirect","file":"app/login.py"},{"id":"f3","title":"md5","file":"app/hash.py","line_start":3},{"id":"f4","title":"leak","file":"app/db.py","line_start":40},{"id":"f5","rule_id":"r","file":"a.py","line_start":1,"line_end":2}]}
{"case":"case","tool":"t","trial":2,"outcome":"crashed"}
{"case":"clean","tool":"t","trial":1,"outcome":"reported","findings":[{"id":"f1","title":"noise"}]}
"#;
