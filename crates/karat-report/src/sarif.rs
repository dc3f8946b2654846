//! Renders a report as SARIF: every finding and miss with its verdict.

use super::number::none_reported;
use super::{TerminalStyle, pretty_json};
use karat_core::matching::outcome::Flag;
use karat_format::report::{
    CaseInfoV1, DetailV1, FindingInfoV1, IssueInfoV1, ProfileV1, ReportV1, ToolV1, TrialResultV1,
};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Renders a SARIF run per tool, with a result per finding and per missed golden. A tool that never reported has missed nothing: its
/// run failed.
pub fn draw(report: &ReportV1, _: &TerminalStyle) -> String {
    let runs: Vec<Value> = report.tools.iter().map(|tool| run(report, tool)).collect();
    pretty_json(&json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": runs,
    }))
}

const RULES: [(&str, &str); 6] = [
    ("karat/match", "The finding reports a golden issue."),
    ("karat/acceptable", "The finding reports an acceptable golden issue, which is not required."),
    ("karat/duplicate", "The finding reports a golden issue that another finding reports already."),
    ("karat/extra", "The finding reports no golden issue."),
    ("karat/trap", "The finding reports a known false alarm."),
    ("karat/miss", "No finding reports the golden issue."),
];

fn run(report: &ReportV1, tool: &ToolV1) -> Value {
    let rules: Vec<Value> =
        RULES.iter().map(|(id, text)| json!({ "id": id, "shortDescription": { "text": text } })).collect();
    let mut results = Vec::new();
    for (case, info) in tool.cases.iter().zip(&report.cases).filter(|_| tool.has_reported()) {
        let issues: BTreeMap<&str, &IssueInfoV1> = info.issues.iter().map(|i| (i.id.as_str(), i)).collect();
        for trial in &case.trials {
            trial_results(info, trial, &issues, &report.profile, &mut results);
        }
    }
    let mut run = json!({
        "tool": { "driver": { "name": format!("karat: {}", tool.tool), "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
        "results": results,
        "properties": { "unreliable": tool.metrics.values().any(|e| e.unreliable) },
    });
    if !tool.has_reported() {
        let text = plain(&none_reported(std::slice::from_ref(tool)));
        let notification = json!({ "level": "error", "message": { "text": text } });
        run["invocations"] = json!([{ "executionSuccessful": false, "toolExecutionNotifications": [notification] }]);
    }
    let left_out = match report.detail {
        DetailV1::All => None,
        DetailV1::Misses => Some(report.detail.left_out("findings that count for the tool are")),
        DetailV1::None => Some(report.detail.left_out("findings and misses are")),
    };
    if let (Some(text), true) = (left_out, tool.has_reported()) {
        let notification = json!({ "level": "note", "message": { "text": text } });
        run["invocations"] = json!([{ "executionSuccessful": true, "toolExecutionNotifications": [notification] }]);
    }
    run
}

fn trial_results(
    info: &CaseInfoV1,
    trial: &TrialResultV1,
    issues: &BTreeMap<&str, &IssueInfoV1>,
    profile: &ProfileV1,
    results: &mut Vec<Value>,
) {
    let findings: BTreeMap<&str, &FindingInfoV1> = trial.findings.iter().map(|f| (f.id.as_str(), f)).collect();
    let mut finding =
        |rule: &str, kind: &str, level: &str, id: &str, golden: Option<&str>, why: &str, score: Option<f64>| {
            let Some(f) = findings.get(id) else { return };
            let place = place(f.file.as_deref(), f.line_start, f.line_end);
            results.push(json!({
            "ruleId": rule,
            "kind": kind,
            "level": level,
            "message": { "text": plain(&format!("{} ({why})", f.title)) },
            "locations": place,
            "properties": { "case": info.case, "trial": trial.trial, "finding": id, "golden": golden, "score": score },
        }));
        };
    for m in &trial.matches {
        finding("karat/match", "pass", "none", &m.finding, Some(&m.golden), &format!("matches {}", m.golden), m.score);
    }
    // What counts against the tool fails, whichever list it is in.
    let kind = |is_false: bool| if is_false { ("fail", "note") } else { ("informational", "none") };
    for m in &trial.acceptable {
        let (kind, level) = kind(profile.acceptable_are_false());
        let why = format!("matches {}, which is acceptable", m.golden);
        finding("karat/acceptable", kind, level, &m.finding, Some(&m.golden), &why, m.score);
    }
    for d in &trial.duplicates {
        let (kind, level) = kind(profile.duplicates_are_false());
        let why = d.golden.as_ref().map_or("repeats a golden".to_owned(), |g| format!("repeats {g}"));
        finding("karat/duplicate", kind, level, &d.finding, d.golden.as_deref(), &why, d.score);
    }
    for e in &trial.extras {
        let golden = e.best.as_ref().and_then(|b| b.golden.as_deref());
        let rule = if e.flags.contains(&Flag::Trap) { "karat/trap" } else { "karat/extra" };
        let score = e.best.as_ref().map(|b| b.score);
        if e.left_out {
            let why = format!("{}; on lines the change did not touch, not counted", e.why);
            finding(rule, "informational", "none", &e.finding, golden, &why, score);
        } else {
            let (kind, level) = kind(e.is_false_alarm() && !info.allow_unexpected);
            finding(rule, kind, level, &e.finding, golden, &e.why, score);
        }
    }
    for miss in &trial.misses {
        let Some(issue) = issues.get(miss.golden.as_str()) else { continue };
        let (kind, level) = if miss.is_unaudited() { ("open", "none") } else { ("fail", "warning") };
        results.push(json!({
            "ruleId": "karat/miss",
            "kind": kind,
            "level": level,
            "message": { "text": plain(&format!("Missed: {} ({})", issue.title, miss.why)) },
            "locations": place(issue.file.as_deref(), issue.line_start, issue.line_end),
            "properties": { "case": info.case, "trial": trial.trial, "golden": miss.golden },
        }));
    }
}

fn plain(text: &str) -> String {
    text.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
}

fn place(file: Option<&str>, start: Option<u32>, end: Option<u32>) -> Value {
    let Some(file) = file else { return json!([]) };
    let uri = utf8_percent_encode(file, &PATH).to_string();
    let mut physical = json!({ "artifactLocation": { "uri": uri } });
    if let Some(start) = start.filter(|line| *line > 0) {
        physical["region"] = json!({ "startLine": start, "endLine": end.unwrap_or(start).max(start) });
    }
    json!([{ "physicalLocation": physical }])
}

const PATH: AsciiSet = {
    let (mut set, mut others) = (CONTROLS.add(b' '), "\"#%<>?[]^`{|}:".as_bytes());
    while let [first, rest @ ..] = others {
        (set, others) = (set.add(*first), rest);
    }
    set
};
