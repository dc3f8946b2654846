//! Renders a report as JUnit XML: one test per tool and case.

use super::TerminalStyle;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::report::{CaseInfoV1, CaseResultV1, ReportV1, TrialResultV1};
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use std::collections::BTreeMap;
use std::io;

/// Renders a test suite per tool; a case that does not pass is a failure, a failed trial an error.
pub fn draw(report: &ReportV1, _: &TerminalStyle) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    // Writing to memory cannot fail.
    let _ = write(report, &mut writer);
    let mut text = String::from_utf8(writer.into_inner()).unwrap_or_default();
    text.push('\n');
    text
}

fn write(report: &ReportV1, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer
        .create_element("testsuites")
        .with_attribute(("name", plain(&report.suite.name).as_str()))
        .write_inner_content(|writer| {
            for tool in &report.tools {
                let failures = tool.cases.iter().filter(|c| !c.pass && !has_failed_trial(c)).count().to_string();
                let errors = tool.cases.iter().filter(|c| !c.pass && has_failed_trial(c)).count().to_string();
                writer
                    .create_element("testsuite")
                    .with_attribute(("name", plain(&tool.tool).as_str()))
                    .with_attribute(("tests", tool.cases.len().to_string().as_str()))
                    .with_attribute(("failures", failures.as_str()))
                    .with_attribute(("errors", errors.as_str()))
                    .write_inner_content(|writer| {
                        if tool.metrics.values().any(|e| e.unreliable) {
                            writer.create_element("properties").write_inner_content(|writer| {
                                let mark = writer.create_element("property").with_attribute(("name", "unreliable"));
                                mark.with_attribute(("value", "fewer than 30 cases")).write_empty()?;
                                Ok(())
                            })?;
                        }
                        for (case, info) in tool.cases.iter().zip(&report.cases) {
                            test(writer, &tool.tool, case, info)?;
                        }
                        Ok(())
                    })?;
            }
            Ok(())
        })?;
    Ok(())
}

fn test(writer: &mut Writer<Vec<u8>>, tool: &str, case: &CaseResultV1, info: &CaseInfoV1) -> io::Result<()> {
    let name = plain(&case.case);
    let class = plain(tool);
    let element = writer
        .create_element("testcase")
        .with_attribute(("name", name.as_str()))
        .with_attribute(("classname", class.as_str()));
    if case.pass {
        element.write_empty()?;
        return Ok(());
    }
    let kind = if has_failed_trial(case) { "error" } else { "failure" };
    let lines: Vec<String> = case.trials.iter().flat_map(|trial| failure_lines(trial, info)).collect();
    let misses: usize = case.trials.iter().map(|t| t.misses.len()).sum();
    let extras: usize = case.trials.iter().map(|t| t.extras.len()).sum();
    let message = format!("{misses} missed, {extras} unexpected over {}", count(case.trials.len(), "trial"));
    element.write_inner_content(|writer| {
        writer
            .create_element(kind)
            .with_attribute(("message", message.as_str()))
            .write_text_content(BytesText::new(&plain(&lines.join("\n"))))?;
        Ok(())
    })?;
    Ok(())
}

fn has_failed_trial(case: &CaseResultV1) -> bool {
    case.trials.iter().any(|trial| trial.outcome != Outcome::Reported)
}

fn failure_lines(trial: &TrialResultV1, info: &CaseInfoV1) -> Vec<String> {
    let number = trial.trial;
    let mut lines = Vec::new();
    if trial.outcome != Outcome::Reported {
        lines.push(format!("trial {number} {}", trial.outcome.ended()));
    }
    let issues: BTreeMap<&str, &str> = info.issues.iter().map(|i| (i.id.as_str(), i.title.as_str())).collect();
    let findings: BTreeMap<&str, &str> = trial.findings.iter().map(|f| (f.id.as_str(), f.title.as_str())).collect();
    for miss in &trial.misses {
        let title = issues.get(miss.golden.as_str()).copied().unwrap_or_default();
        lines.push(format!("trial {number}: missed {} ({title}): {}", miss.golden, miss.why));
    }
    for extra in &trial.extras {
        let title = findings.get(extra.finding.as_str()).copied().unwrap_or_default();
        lines.push(format!("trial {number}: unexpected {} ({title}): {}", extra.finding, extra.why));
    }
    lines
}

/// Removes control characters that XML 1.0 does not allow even escaped.
pub(super) fn plain(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n') || (!c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}'));
    text.chars().map(|c| if allowed(c) { c } else { '\u{fffd}' }).collect()
}
