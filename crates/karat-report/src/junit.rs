//! Renders reports and gates as JUnit XML.

use super::TerminalStyle;
use super::gate::count_outcomes;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::gate::{DemandOutcomeV1, DemandV1, GateV1};
use karat_format::report::{CaseInfoV1, CaseResultV1, DetailV1, ProfileV1, ReportV1, ToolV1, TrialResultV1};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io;

type XmlWriter = Writer<Vec<u8>>;

/// Renders a test suite per tool with a test per case; a case that does not pass is a failure, a failed trial an error, and a case
/// that could not be tried because of an outage is skipped.
pub fn draw(report: &ReportV1, _: &TerminalStyle) -> String {
    document(&report.suite.name, |writer| report.tools.iter().try_for_each(|tool| write_tool(writer, tool, report)))
}

/// Renders a test suite with one test per demand: a failed demand is a failure, an inconclusive one is skipped, and so is what was left out.
pub fn draw_gate(gate: &GateV1) -> String {
    let count = |outcome: DemandOutcomeV1| count_outcomes(gate, outcome);
    let skipped = count(DemandOutcomeV1::Inconclusive) + count(DemandOutcomeV1::LeftOut);
    document("karat gate", |writer| {
        writer
            .create_element("testsuite")
            .with_attribute(("name", plain(&gate.suite).as_str()))
            .with_attribute(("tests", gate.demands.len().to_string().as_str()))
            .with_attribute(("failures", count(DemandOutcomeV1::Fails).to_string().as_str()))
            .with_attribute(("skipped", skipped.to_string().as_str()))
            .write_inner_content(|writer| gate.demands.iter().try_for_each(|demand| write_demand(writer, demand)))?;
        Ok(())
    })
}

fn document(name: &str, content: impl Fn(&mut XmlWriter) -> io::Result<()>) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory cannot fail.
    let _ = writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)));
    let root = writer.create_element("testsuites").with_attribute(("name", plain(name).as_str()));
    let _ = root.write_inner_content(content);
    let mut text = String::from_utf8(writer.into_inner()).unwrap_or_default();
    text.push('\n');
    text
}

fn write_tool(writer: &mut XmlWriter, tool: &ToolV1, report: &ReportV1) -> io::Result<()> {
    let of_kind = |kind: &str| tool.cases.iter().filter(|c| element(c) == Some(kind)).count().to_string();
    let (failures, errors, skipped) = (of_kind(FAILURE), of_kind(ERROR), of_kind(SKIPPED));
    writer
        .create_element("testsuite")
        .with_attribute(("name", plain(&tool.tool).as_str()))
        .with_attribute(("tests", tool.cases.len().to_string().as_str()))
        .with_attribute(("failures", failures.as_str()))
        .with_attribute(("errors", errors.as_str()))
        .with_attributes((skipped != "0").then_some(("skipped", skipped.as_str())))
        .write_inner_content(|writer| {
            if tool.metrics.values().any(|e| e.unreliable) {
                writer.create_element("properties").write_inner_content(|writer| {
                    let mark = writer.create_element("property").with_attribute(("name", "unreliable"));
                    mark.with_attribute(("value", "fewer than 30 cases")).write_empty()?;
                    Ok(())
                })?;
            }
            for (case, info) in tool.cases.iter().zip(&report.cases) {
                write_test(writer, &case.case, &tool.tool, failure(case, info, &report.profile))?;
            }
            Ok(())
        })?;
    Ok(())
}

struct Failure {
    element: &'static str,
    message: String,
    text: String,
}

fn failure(case: &CaseResultV1, info: &CaseInfoV1, profile: &ProfileV1) -> Option<Failure> {
    let element = element(case)?;
    let misses: usize = case.trials.iter().map(|t| t.r#fn).sum();
    let extras = info.false_alarms(case.trials.iter().map(|trial| trial.fp).sum());
    let lines: Vec<String> = case.trials.iter().flat_map(|trial| failure_lines(trial, info, profile)).collect();
    let tried = case.trials.iter().filter(|trial| trial.outcome != Outcome::Unavailable).count();
    let message = match element {
        SKIPPED => format!("unavailable: {} could not be tried", count(case.trials.len(), "trial")),
        _ => format!("{misses} missed, {extras} unexpected over {}", count(tried, "trial")),
    };
    Some(Failure { element, message, text: lines.join("\n") })
}

fn write_demand(writer: &mut XmlWriter, demand: &DemandV1) -> io::Result<()> {
    let failed = |element: &'static str| Failure {
        element,
        message: format!("{}: {}", demand.outcome.word(), demand.why),
        text: demand.why.clone(),
    };
    let failure = match demand.outcome {
        DemandOutcomeV1::Holds => None,
        DemandOutcomeV1::LeftOut | DemandOutcomeV1::Inconclusive => Some(failed("skipped")),
        DemandOutcomeV1::Fails => Some(failed("failure")),
    };
    write_test(writer, &demand.demand, demand.tool.as_deref().unwrap_or("all"), failure)
}

fn write_test(writer: &mut XmlWriter, name: &str, class: &str, failure: Option<Failure>) -> io::Result<()> {
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", plain(name).as_str()))
        .with_attribute(("classname", plain(class).as_str()));
    let Some(failure) = failure else {
        element.write_empty()?;
        return Ok(());
    };
    element.write_inner_content(|writer| {
        writer
            .create_element(failure.element)
            .with_attribute(("message", plain(&failure.message).as_str()))
            .write_text_content(BytesText::new(&plain(&failure.text)))?;
        Ok(())
    })?;
    Ok(())
}

const FAILURE: &str = "failure";
const ERROR: &str = "error";
const SKIPPED: &str = "skipped";

/// How a case is marked that does not pass.
fn element(case: &CaseResultV1) -> Option<&'static str> {
    let failed = |outcome: Outcome| !matches!(outcome, Outcome::Reported | Outcome::Unavailable);
    match case.pass {
        true => None,
        false if case.is_unavailable() => Some(SKIPPED),
        false if case.trials.iter().any(|trial| failed(trial.outcome)) => Some(ERROR),
        false => Some(FAILURE),
    }
}

fn failure_lines(trial: &TrialResultV1, info: &CaseInfoV1, profile: &ProfileV1) -> Vec<String> {
    let number = trial.trial;
    let mut lines = Vec::new();
    if trial.outcome != Outcome::Reported {
        lines.push(format!("trial {number} {}", trial.outcome.ended()));
    }
    let issues: BTreeMap<&str, &str> = info.issues.iter().map(|i| (i.id.as_str(), i.title.as_str())).collect();
    let findings: BTreeMap<&str, &str> = trial.findings.iter().map(|f| (f.id.as_str(), f.title.as_str())).collect();
    if trial.detail == DetailV1::None && trial.fp + trial.r#fn > 0 {
        lines.push(format!("trial {number}: {}", trial.detail.left_out("missed goldens and false alarms are")));
    }
    for miss in &trial.misses {
        let title = issues.get(miss.golden.as_str()).copied().unwrap_or_default();
        lines.push(format!("trial {number}: missed {} ({title}): {}", miss.golden, miss.why));
    }
    let mut unexpected = |finding: &str, why: &str| {
        let title = findings.get(finding).copied().unwrap_or_default();
        lines.push(format!("trial {number}: unexpected {finding} ({title}): {why}"));
    };
    for extra in trial.extras.iter().filter(|extra| extra.is_false_alarm() && !info.allow_unexpected) {
        unexpected(&extra.finding, &extra.why);
    }
    for duplicate in trial.duplicates.iter().filter(|_| profile.duplicates_are_false()) {
        let why = duplicate.golden.as_ref().map_or("repeats a golden".to_owned(), |golden| format!("repeats {golden}"));
        unexpected(&duplicate.finding, &why);
    }
    for found in trial.acceptable.iter().filter(|_| profile.acceptable_are_false()) {
        unexpected(&found.finding, &format!("matches {}, which is acceptable", found.golden));
    }
    lines
}

/// Removes control characters that XML 1.0 does not allow even escaped.
fn plain(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n') || (!c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}
