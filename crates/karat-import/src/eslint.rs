//! ESLint's JSON output.

use super::fields::Line;
use super::json::{self, ArrayPlace, Loose};
use super::note_counter::NoteCounter;
use super::{ImportError, ImportedData, Input, ToolFailure};
use karat_core::finding::Finding;
use karat_core::golden::Severity;
use karat_core::ids::ToolName;
use karat_core::path::RepoPath;
use serde::Deserialize;
use serde::de::IgnoredAny;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a file with its messages")]
struct LintedFile {
    file_path: String,
    messages: Option<Vec<Message>>,
    suppressed_messages: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "a message")]
struct Message {
    rule_id: Option<String>,
    severity: Loose<Option<f64>>,
    message: Loose<Option<String>>,
    line: Line,
    end_line: Line,
    fatal: Loose<Option<bool>>,
}

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let tool = ToolName::from("eslint");
    json::for_each(input, ArrayPlace::Document, &[], |file: LintedFile| {
        for _ in file.suppressed_messages.iter().flatten() {
            data.counter.count("suppressed message ignored");
        }
        for message in file.messages.into_iter().flatten() {
            let text = message.message.0.unwrap_or_default();
            if message.fatal.0 == Some(true) {
                let path = Some(file.file_path.clone());
                data.failures.push(ToolFailure { tool: Some(tool.clone()), file: path, message: text, fatal: false });
                continue;
            }
            if message.rule_id.is_none() && (text.is_empty() || text.starts_with("File ignored")) {
                data.counter.count("message without a rule ignored: it only says that a file was ignored");
                continue;
            }
            let mut finding = Finding::new("");
            finding.rule_id = message.rule_id;
            finding.message = Some(text).filter(|text| !text.is_empty());
            finding.file = RepoPath::new(&file.file_path);
            finding.line_start = message.line.number(&mut data.counter);
            finding.line_end = message.end_line.number(&mut data.counter);
            finding.severity = severity(message.severity.0, &mut data.counter);
            data.add_finding(Some(&tool), finding);
        }
        Ok(())
    })?;
    data.add_tools([tool]);
    Ok(())
}

/// ESLint has 1, a warning, and 2, an error.
fn severity(number: Option<f64>, counter: &mut NoteCounter) -> Option<Severity> {
    match number? {
        1.0 => Some(Severity::Medium),
        2.0 => Some(Severity::High),
        other => {
            counter.count(&format!("unknown severity ignored: {other}"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn messages_become_findings() {
        check(
            &import_fixture("eslint", "eslint/report.json"),
            r#"
            ran eslint
            finding eslint: rule="no-eval" message="eval can be harmful." file="app/src/a.js" start="3" end="4" severity="high"
            finding eslint: rule="no-eval" message="eval can be harmful." file="app/src/a.js" start="3" end="4" severity="high"
            finding eslint: message="Unused eslint-disable directive." file="app/src/a.js" severity="medium"
            finding eslint: rule="odd" file="app/src/a.js"
            partial failure eslint /app/src/broken.js: Parsing error: Unexpected token
            note eslint/report.json: line number ignored: line numbers start at 1 (2)
            note eslint/report.json: message without a rule ignored: it only says that a file was ignored (1)
            note eslint/report.json: suppressed message ignored (2)
            note eslint/report.json: unknown severity ignored: 3 (1)
            "#,
        );
        check_text("eslint", "[]", "ran eslint");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("eslint", text, expect);
        check("{}", "invalid type: map, expected an array");
        check("[{}]", "in:1:3: missing field `filePath`");
        check("[{\"filePath\":\"a\",\n\"messages\":{}}]", "in:2:12: invalid type: map, expected a sequence");
        check(
            "[{\"filePath\":\"a\",\"messages\":[{\"line\":true}]}]",
            "invalid type: boolean `true`, expected a line number",
        );
        check("[{\"filePath\":\"a\"}", "the file ends in the middle");
        check("[] []", "not valid JSON: trailing characters");
    }
}
