//! The reviewdog diagnostic format, as one document or as lines.

use super::fields::{self, Line};
use super::json::{self, ArrayPlace, Lenient, Loose, Word, records};
use super::{ImportError, ImportedData, Input, tool_name};
use karat_core::finding::Finding;
use karat_core::path::RepoPath;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(expecting = "a diagnostic")]
struct Diagnostic {
    message: Option<String>,
    location: Option<Location>,
    severity: Loose<Level>,
    source: Loose<Source>,
    code: Loose<Code>,
    #[serde(alias = "originalOutput")]
    original_output: Loose<Option<String>>,
}

#[derive(Default, Deserialize)]
struct Location {
    path: Option<String>,
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    start: Option<Position>,
    end: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    line: Line,
}

records! {
    struct Source {
        name: Option<String> = "name",
    }

    struct Code {
        value: Word = "value",
    }
}

/// A severity, as a name or as the number of the enumeration.
#[derive(Clone, Debug, Default, PartialEq)]
struct Level(Option<String>);

impl Lenient for Level {
    fn from_text(text: String) -> Self {
        Self(Some(text).filter(|text| text != "UNKNOWN_SEVERITY"))
    }

    fn from_number(number: f64) -> Self {
        Self(match number {
            0.0 => None,
            1.0 => Some("ERROR".to_owned()),
            2.0 => Some("WARNING".to_owned()),
            3.0 => Some("INFO".to_owned()),
            other => Some(other.to_string()),
        })
    }
}

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let first = data.findings.len();
    let kept = json::for_each(input, ArrayPlace::Under("diagnostics"), &["source", "severity"], |diagnostic| {
        add_diagnostic(diagnostic, data);
        Ok(())
    })?;
    // Source and severity of the document apply to diagnostics without one, and may come after them.
    let source = kept.get("source").and_then(|source| source.get("name")).and_then(Value::as_str).and_then(tool_name);
    let level = kept.get("severity").and_then(|level| Loose::<Level>::deserialize(level).ok());
    let Loose(level) = level.unwrap_or_default();
    let severity = fields::severity(level.0.as_deref(), &mut data.counter);
    data.add_tools(source.clone());
    for reported in &mut data.findings[first..] {
        reported.finding.severity = reported.finding.severity.or(severity);
        reported.tool = reported.tool.take().or_else(|| source.clone());
    }
    data.add_tools_of_findings(first);
    Ok(())
}

pub(super) fn import_lines(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let first = data.findings.len();
    json::for_each_document(input, |diagnostic| {
        add_diagnostic(diagnostic, data);
        Ok(())
    })?;
    data.add_tools_of_findings(first);
    Ok(())
}

fn add_diagnostic(diagnostic: Diagnostic, data: &mut ImportedData) {
    let mut finding = Finding::new("");
    finding.rule_id = diagnostic.code.0.value.0;
    let message = diagnostic.message.filter(|text| !text.is_empty());
    finding.message = message.or(diagnostic.original_output.0).filter(|text| !text.is_empty());
    if finding.rule_id.is_none() && finding.message.is_none() {
        return data.counter.count("diagnostic skipped: it has neither message nor code");
    }
    let location = diagnostic.location.unwrap_or_default();
    finding.file = location.path.as_deref().and_then(RepoPath::new);
    if let Some(range) = location.range {
        finding.line_start = range.start.and_then(|start| start.line.number(&mut data.counter));
        finding.line_end = range.end.and_then(|end| end.line.number(&mut data.counter));
    }
    finding.severity = fields::severity(diagnostic.severity.0.0.as_deref(), &mut data.counter);
    let tool = diagnostic.source.0.name.as_deref().and_then(tool_name);
    data.add_finding(tool.as_ref(), finding);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn documents_become_findings() {
        check(
            &import_fixture("rdjson", "rdjson/report.json"),
            r#"
            ran linter
            ran other
            finding linter: rule="E1" message="Do not" file="a/b.go" start="14" end="15" severity="high"
            finding other: rule="404" message="raw" file="a/c.go" start="2" severity="medium"
            finding linter: message="where?" severity="low"
            finding linter: rule="odd" severity="low"
            note rdjson/report.json: diagnostic skipped: it has neither message nor code (1)
            note rdjson/report.json: line number ignored: line numbers start at 1 (2)
            note rdjson/report.json: unknown severity ignored: "9" (1)
            "#,
        );
        check_text("rdjson", r#"{"source":{"name":"quiet"},"diagnostics":[]}"#, "ran quiet");
    }

    #[test]
    fn lines_become_findings() {
        check(
            &import_fixture("rdjsonl", "rdjsonl/report.jsonl"),
            r#"
            ran linter
            finding linter: rule="E1" message="Do not" file="a/b.go" start="14" end="15" severity="high"
            finding linter: rule="E1" message="Do not" file="a/b.go" start="14" end="15" severity="high"
            finding -: message="plain"
            "#,
        );
    }

    #[test]
    fn faults_have_positions() {
        check_fault("rdjson", "{}", "missing array `diagnostics`");
        check_fault(
            "rdjson",
            "{\"diagnostics\":[{\"message\":[]}]}",
            "in:1:28: invalid type: sequence, expected a string",
        );
        let bad = "{\"message\":\"a\"}\n{\"message\":\"b\",\"location\":{\"range\":{\"start\":{\"line\":\"x\"}}}}";
        check_fault("rdjsonl", bad, "in:2:55: invalid type: string \"x\", expected a line number");
        check_fault("rdjsonl", "{\"message\":\"a\"}\n{\"mess", "the file ends in the middle");
    }
}
