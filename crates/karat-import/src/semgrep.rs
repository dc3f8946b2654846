//! Semgrep's JSON output.

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
struct Match {
    check_id: String,
    path: String,
    #[serde(default)]
    start: Position,
    #[serde(default)]
    end: Position,
    extra: Loose<Extra>,
}

#[derive(Default, Deserialize)]
struct Position {
    line: Line,
}

records! {
    struct Extra {
        message: Option<String> = "message",
        severity: Option<String> = "severity",
        metadata: Metadata = "metadata",
        fingerprint: Option<String> = "fingerprint",
        is_ignored: Option<bool> = "is_ignored",
    }

    struct Metadata {
        cwe: FieldCwes = "cwe",
        category: Option<String> = "category",
        confidence: Option<f64> = "confidence",
    }
}

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let tool = ToolName::from("semgrep");
    let mut results = 0_usize;
    let kept = json::for_each(input, ArrayPlace::Under("results"), &["errors"], |found| {
        let Match { check_id, path, start, end, extra } = found;
        results += 1;
        let extra = extra.0;
        if extra.is_ignored == Some(true) {
            data.counter.count("result skipped: it is marked as ignored");
            return Ok(());
        }
        let mut finding = Finding::new("");
        finding.rule_id = Some(check_id);
        finding.message = extra.message;
        finding.file = RepoPath::new(&path);
        finding.line_start = start.line.number(&mut data.counter);
        finding.line_end = end.line.number(&mut data.counter);
        finding.severity = fields::severity(extra.severity.as_deref(), &mut data.counter);
        finding.confidence = fields::confidence(extra.metadata.confidence);
        finding.category = extra.metadata.category;
        for number in extra.metadata.cwe.0 {
            if !finding.cwe.contains(&number) {
                finding.cwe.push(number);
            }
        }
        // Without an account Semgrep writes an invitation to log in instead of the fingerprint.
        if let Some(fingerprint) = extra.fingerprint.filter(|fingerprint| fingerprint != "requires login") {
            finding.fingerprints.insert("semgrep".to_owned(), fingerprint);
        }
        data.add_finding(Some(&tool), finding);
        Ok(())
    })?;
    for error in kept.get("errors").and_then(Value::as_array).into_iter().flatten() {
        match failure(error, results, &tool) {
            Some(failure) => data.failures.push(failure),
            None => data.counter.count("info message in the errors list"),
        }
    }
    data.add_tools([tool]);
    Ok(())
}

/// The meaning of an entry of `errors`. Even a warning can be about work not done, such as a file parsed in part.
fn failure(error: &Value, results: usize, tool: &ToolName) -> Option<ToolFailure> {
    let text = |name: &str| error.get(name).and_then(Value::as_str);
    let level = text("level").unwrap_or("error");
    if level.eq_ignore_ascii_case("info") {
        return None;
    }
    let span = error.pointer("/spans/0/file").and_then(Value::as_str);
    let file = text("path").or(span).map(str::to_owned);
    // An error about no particular file, with no findings, means that Semgrep did not scan at all.
    let whole = file.is_none() && !level.eq_ignore_ascii_case("warn") && !level.eq_ignore_ascii_case("warning");
    let message = text("message").or(text("long_msg")).or(text("type")).unwrap_or("an error without a message");
    let fatal = results == 0 && (whole || level.eq_ignore_ascii_case("fatal"));
    Some(ToolFailure { tool: Some(tool.clone()), file, message: message.trim().to_owned(), fatal })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn results_become_findings() {
        check(
            &import_fixture("semgrep", "semgrep/report.json"),
            r#"
            ran semgrep
            finding semgrep: rule="python.sqli" message="Query built by hand" file="src/db.py" start="12" end="14" severity="high" category="security" cwe=[89, 7, 564] fingerprints={"semgrep": "abc_0"}
            finding semgrep: rule="python.sqli" message="Query built by hand" file="src/db.py" start="12" end="14" severity="high" category="security" cwe=[89, 7, 564] fingerprints={"semgrep": "abc_0"}
            finding semgrep: rule="odd" file="src/odd.py" confidence="0.5" cwe=[22]
            finding semgrep: rule="bare" file="src/bare.py"
            partial failure semgrep src/broken.py: Syntax error at line 3
            partial failure semgrep src/half.py: partly parsed
            partial failure semgrep -: a rule timed out
            note semgrep/report.json: info message in the errors list (1)
            note semgrep/report.json: line number ignored: line numbers start at 1 (2)
            note semgrep/report.json: result skipped: it is marked as ignored (1)
            note semgrep/report.json: unknown severity ignored: "EXPERIMENT" (1)
            "#,
        );
    }

    #[test]
    fn run_that_did_not_scan_is_fatal() {
        check_text(
            "semgrep",
            r#"{"results":[],"errors":[{"code":7,"level":"error","type":"SemgrepError","message":"invalid configuration"}]}"#,
            "ran semgrep
             fatal failure semgrep -: invalid configuration",
        );
        check_text("semgrep", r#"{"results":[],"errors":null}"#, "ran semgrep");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("semgrep", text, expect);
        check("", "the file is empty");
        check("[]", "in:1:1: invalid type: sequence, expected an object with an array `results`");
        check("{}", "missing array `results`");
        check("{\"results\":[\n{\"path\":\"x\"}]}", "in:2:12: missing field `check_id`");
        check(
            "{\"results\":[{\"check_id\":\"a\",\"path\":7}]}",
            "in:1:37: invalid type: integer `7`, expected a string",
        );
        check(
            "{\"results\":[{\"check_id\":\"a\",\"path\":\"x\",\"start\":{\"line\":\"7\"}}]}",
            "expected a line number",
        );
        check("{\"results\":[{\"check_id\":\"a\"", "the file ends in the middle");
    }
}
