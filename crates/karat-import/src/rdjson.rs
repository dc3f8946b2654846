//! The reviewdog diagnostic format, as one document or as lines.

use super::json::{self, Lenient, Loose, record};
use super::line::Line;
use super::note_counter::NoteCounter;
use super::severity;
use super::{ImportError, ImportedData, Importer, Input, ReportedFinding, tool_name};
use karat_core::finding::Finding;
use karat_core::golden::Severity;
use karat_core::path::RepoPath;
use serde::Deserialize;
use serde_json::Value;

/// One document with a list of diagnostics.
pub(super) const IMPORTER: Importer = Importer {
    name: "rdjson",
    description: "reviewdog diagnostic format, one JSON document",
    import,
    finish: None,
    suite_profile: "karat",
};

/// One diagnostic a line.
pub(super) const LINES_IMPORTER: Importer = Importer {
    name: "rdjsonl",
    description: "reviewdog diagnostic format, one JSON diagnostic a line",
    import: import_lines,
    finish: None,
    suite_profile: "karat",
};

#[derive(Deserialize)]
#[serde(expecting = "a diagnostic")]
struct Diagnostic {
    #[serde(default)]
    message: Option<String>,
    #[serde(default)]
    location: Option<Location>,
    #[serde(default)]
    severity: Loose<Level>,
    #[serde(default)]
    source: Loose<Source>,
    #[serde(default)]
    code: Loose<Code>,
    #[serde(default, alias = "originalOutput")]
    original_output: Loose<Option<String>>,
}

#[derive(Default, Deserialize)]
struct Location {
    #[serde(default)]
    path: Option<String>,
    #[serde(default)]
    range: Option<Range>,
}

#[derive(Deserialize)]
struct Range {
    #[serde(default)]
    start: Option<Position>,
    #[serde(default)]
    end: Option<Position>,
}

#[derive(Deserialize)]
struct Position {
    #[serde(default)]
    line: Line,
}

record! {
    struct Source {
        name: Option<String> = "name",
    }
}

record! {
    struct Code {
        value: Word = "value",
    }
}

/// A text that some writers put as a number.
#[derive(Clone, Debug, Default, PartialEq)]
struct Word(Option<String>);

impl Lenient for Word {
    fn from_text(text: String) -> Self {
        Self(Some(text).filter(|text| !text.is_empty()))
    }

    fn from_number(number: f64) -> Self {
        Self(Some(number.to_string()))
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

fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let mut counter = NoteCounter::default();
    let mut found = Vec::new();
    let fields = json::for_each_under(input, "diagnostics", &["source", "severity"], |diagnostic| {
        found.extend(reported(diagnostic, &mut counter));
        Ok(())
    })?;
    // Source and severity of the document apply to diagnostics without one, and may come after them.
    let source = fields.get("source").and_then(|source| source.get("name")).and_then(Value::as_str);
    let source = source.and_then(tool_name);
    let level = match fields.get("severity") {
        Some(Value::String(word)) => Level::from_text(word.clone()),
        Some(Value::Number(number)) => number.as_f64().map_or(Level::default(), Level::from_number),
        _ => Level::default(),
    };
    let severity: Option<Severity> = severity::from_word_or_count(level.0.as_deref(), &mut counter);
    data.add_tools(source.clone());
    for reported in &mut found {
        let reported: &mut ReportedFinding = reported;
        reported.finding.severity = reported.finding.severity.or(severity);
        reported.tool = reported.tool.take().or_else(|| source.clone());
    }
    keep(found, data);
    counter.add_notes(path, data);
    Ok(())
}

fn import_lines(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let mut counter = NoteCounter::default();
    let mut found = Vec::new();
    json::for_each_document(input, |diagnostic| {
        found.extend(reported(diagnostic, &mut counter));
        Ok(())
    })?;
    keep(found, data);
    counter.add_notes(path, data);
    Ok(())
}

fn keep(mut found: Vec<ReportedFinding>, data: &mut ImportedData) {
    data.add_tools(found.iter().filter_map(|reported| reported.tool.clone()));
    data.findings.append(&mut found);
}

fn reported(diagnostic: Diagnostic, counter: &mut NoteCounter) -> Option<ReportedFinding> {
    let mut finding = Finding::new("");
    finding.rule_id = diagnostic.code.0.value.0;
    let message = diagnostic.message.filter(|text| !text.is_empty());
    finding.message = message.or(diagnostic.original_output.0).filter(|text| !text.is_empty());
    if finding.rule_id.is_none() && finding.message.is_none() {
        counter.count("diagnostic skipped: it has neither message nor code");
        return None;
    }
    let location = diagnostic.location.unwrap_or_default();
    finding.file = location.path.as_deref().and_then(RepoPath::new);
    if let Some(range) = location.range {
        finding.line_start = range.start.and_then(|start| start.line.number(counter));
        finding.line_end = range.end.and_then(|end| end.line.number(counter));
    }
    finding.severity = severity::from_word_or_count(diagnostic.severity.0.0.as_deref(), counter);
    let tool = diagnostic.source.0.name.as_deref().and_then(tool_name);
    Some(ReportedFinding { tool, case: None, finding })
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
