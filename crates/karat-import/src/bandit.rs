//! Bandit's JSON output.

use super::cwe::FieldCwes;
use super::fields::{self, Line};
use super::json::{self, ArrayPlace, Loose, records};
use super::{ImportError, ImportedData, Input, ToolFailure};
use karat_core::finding::Finding;
use karat_core::ids::ToolName;
use karat_core::path::RepoPath;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(expecting = "a result")]
struct Issue {
    filename: String,
    test_id: String,
    line_number: Line,
    line_range: Option<Vec<Line>>,
    test_name: Loose<Option<String>>,
    issue_text: Loose<Option<String>>,
    issue_severity: Loose<Option<String>>,
    issue_confidence: Loose<Option<f64>>,
    issue_cwe: Loose<Weakness>,
}

records! {
    struct Weakness {
        id: FieldCwes = "id",
    }
}

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let tool = ToolName::from("bandit");
    let kept = json::for_each(input, ArrayPlace::Under("results"), &["errors"], |issue: Issue| {
        let mut finding = Finding::new("");
        finding.rule_id = Some(issue.test_id);
        finding.message = issue.issue_text.0.filter(|text| !text.trim().is_empty());
        // The test's name, such as `blacklist`, only stands in for a text.
        finding.title = issue.test_name.0.filter(|_| finding.message.is_none());
        finding.file = RepoPath::new(&issue.filename);
        let line = issue.line_number.number(&mut data.counter);
        // The range is the whole statement, as in Bandit's SARIF output.
        let range = issue.line_range.into_iter().flatten().filter_map(|line| line.number(&mut data.counter));
        let lines: Vec<u32> = range.chain(line).collect();
        finding.line_start = lines.iter().copied().min();
        finding.line_end = lines.iter().copied().max();
        finding.severity = fields::severity(issue.issue_severity.0.as_deref(), &mut data.counter);
        finding.confidence = fields::confidence(issue.issue_confidence.0);
        finding.cwe = issue.issue_cwe.0.id.0;
        data.add_finding(Some(&tool), finding);
        Ok(())
    })?;
    for error in kept.get("errors").and_then(Value::as_array).into_iter().flatten() {
        let text = |name: &str| error.get(name).and_then(Value::as_str);
        let message = text("reason").unwrap_or("an error without a reason").to_owned();
        let file = text("filename").map(str::to_owned);
        data.failures.push(ToolFailure { tool: Some(tool.clone()), file, message, fatal: false });
    }
    data.add_tools([tool]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn results_become_findings() {
        check(
            &import_fixture("bandit", "bandit/report.json"),
            r#"
            ran bandit
            finding bandit: rule="B608" message="Query built by hand" file="app/db.py" start="11" end="14" severity="medium" cwe=[89]
            finding bandit: rule="B608" message="Query built by hand" file="app/db.py" start="11" end="14" severity="medium" cwe=[89]
            finding bandit: rule="B000" file="app/odd.py" confidence="0.25"
            finding bandit: rule="B001" file="app/bare.py"
            partial failure bandit app/broken.py: syntax error while parsing AST from file
            partial failure bandit -: an error without a reason
            note bandit/report.json: line number ignored: line numbers start at 1 (3)
            note bandit/report.json: unknown severity ignored: "UNDEFINED" (1)
            "#,
        );
    }

    #[test]
    fn tool_without_findings_has_a_trial() {
        check_text("bandit", r#"{"errors":[],"metrics":{},"results":[]}"#, "ran bandit");
        check_text("bandit", r#"{"errors":"none","results":[]}"#, "ran bandit");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("bandit", text, expect);
        check("{\"results\":null}", "in:1:15: invalid type: null, expected an array");
        check("{\"results\":[{\"filename\":\"a.py\"}]}", "missing field `test_id`");
        check(
            "{\"results\":[\n\n{\"filename\":[],\"test_id\":\"B1\"}]}",
            "in:3:13: invalid type: sequence, expected a string",
        );
        check(
            "{\"results\":[{\"filename\":\"a\",\"test_id\":\"B1\",\"line_range\":[\"1\"]}]}",
            "expected a line number",
        );
        check("{\"results\":[", "the file ends in the middle");
    }
}
