//! Slither's JSON output.

use super::fields::{self, Line};
use super::json::{self, ArrayPlace, Loose, records};
use super::note_counter::NoteCounter;
use super::{ImportError, ImportedData, Input, ToolFailure};
use karat_core::finding::Finding;
use karat_core::ids::ToolName;
use karat_core::path::RepoPath;
use serde::Deserialize;
use serde_json::Value;

#[derive(Deserialize)]
#[serde(expecting = "a detection")]
struct Detection {
    check: String,
    impact: Loose<Option<String>>,
    confidence: Loose<Option<f64>>,
    description: Loose<Option<String>>,
    id: Loose<Option<String>>,
    elements: Option<Vec<Element>>,
}

#[derive(Deserialize)]
struct Element {
    #[serde(rename = "type")]
    kind: Loose<Option<String>>,
    name: Loose<Option<String>>,
    source_mapping: Option<SourceMapping>,
    type_specific_fields: Loose<TypeSpecific>,
}

#[derive(Deserialize)]
struct SourceMapping {
    filename_relative: Option<String>,
    filename_absolute: Loose<Option<String>>,
    filename_short: Loose<Option<String>>,
    lines: Option<Vec<Line>>,
    is_dependency: Loose<Option<bool>>,
}

records! {
    struct TypeSpecific {
        parent: Parent = "parent",
    }

    struct Parent {
        kind: Option<String> = "type",
        name: Option<String> = "name",
    }
}

pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let path = input.path;
    let tool = ToolName::from("slither");
    let place = ArrayPlace::Within("results", "detectors");
    let kept = json::for_each(input, place, &["success", "error"], |detection| {
        let finding = finding(detection, &mut data.counter);
        data.add_finding(Some(&tool), finding);
        Ok(())
    })?;
    let error_text = kept.get("error").and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match kept.get("success").and_then(Value::as_bool) {
        Some(true) => {}
        Some(false) => {
            let message = error_text.unwrap_or("it reported a failure without a reason").to_owned();
            data.failures.push(ToolFailure { tool: Some(tool.clone()), file: None, message, fatal: true });
        }
        None => return Err(json::malformed(path, "there is no `success`; is this the output of slither --json?")),
    }
    data.add_tools([tool]);
    Ok(())
}

fn finding(detection: Detection, counter: &mut NoteCounter) -> Finding {
    let mut finding = Finding::new("");
    finding.rule_id = Some(detection.check);
    finding.message = detection.description.0.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
    finding.severity = fields::severity(detection.impact.0.as_deref(), counter);
    finding.confidence = fields::confidence(detection.confidence.0);
    if let Some(id) = detection.id.0 {
        finding.fingerprints.insert("slither".to_owned(), id);
    }
    let elements = detection.elements.unwrap_or_default();
    let has_lines = |element: &&Element| {
        element.source_mapping.as_ref().is_some_and(|map| map.lines.as_ref().is_some_and(|lines| !lines.is_empty()))
    };
    let is_own =
        |element: &&Element| element.source_mapping.as_ref().is_none_or(|map| map.is_dependency.0 != Some(true));
    // A location in the project's own code is better than one in a library.
    let place = elements.iter().filter(has_lines).find(is_own).or_else(|| elements.iter().find(has_lines));
    if let Some(map) = place.or(elements.first()).and_then(|element| element.source_mapping.as_ref()) {
        let file =
            map.filename_relative.as_ref().or(map.filename_absolute.0.as_ref()).or(map.filename_short.0.as_ref());
        finding.file = file.and_then(|file| RepoPath::new(file));
        let lines: Vec<u32> = map.lines.iter().flatten().filter_map(|line| line.number(counter)).collect();
        finding.line_start = lines.iter().copied().min();
        finding.line_end = lines.iter().copied().max();
    }
    finding.function = place.and_then(function).or_else(|| elements.iter().find_map(function));
    finding
}

fn function(element: &Element) -> Option<String> {
    let parent = &element.type_specific_fields.0.parent;
    if element.kind.0.as_deref() == Some("function") {
        element.name.0.clone()
    } else if parent.kind.as_deref() == Some("function") {
        parent.name.clone()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn detections_become_findings() {
        check(
            &import_fixture("slither", "slither/report.json"),
            r#"
            ran slither
            finding slither: rule="reentrancy-eth" message="Reentrancy in Bank.pay()" file="src/Bank.sol" start="10" end="14" severity="high" function="pay" fingerprints={"slither": "aa11"}
            finding slither: rule="timestamp" message="Uses a timestamp" file="src/Clock.sol" start="7" end="7" severity="low" function="tick"
            finding slither: rule="solc-version" message="Old compiler" severity="info"
            finding slither: rule="odd" file="abs/x.sol" confidence="0.5"
            note slither/report.json: line number ignored: line numbers start at 1 (2)
            note slither/report.json: unknown severity ignored: "Cosmic" (1)
            "#,
        );
        check_text("slither", r#"{"success":true,"error":null,"results":{}}"#, "ran slither");
    }

    #[test]
    fn reported_failure_is_fatal() {
        check_text(
            "slither",
            r#"{"success":false,"error":" solc not found\n","results":null}"#,
            "ran slither
             fatal failure slither -: solc not found",
        );
        check_text(
            "slither",
            r#"{"success":false}"#,
            "ran slither
             fatal failure slither -: it reported a failure without a reason",
        );
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("slither", text, expect);
        check("{}", "there is no `success`");
        check("{\"results\":{\"detectors\":[{}]}}", "in:1:27: missing field `check`");
        check("{\"results\":{\"detectors\":3}}", "invalid type: integer `3`, expected an array");
        check("{\"results\":[]}", "invalid type: sequence, expected an object with an array `detectors`");
        check("{\"success\":true,\"results\":{\"det", "the file ends in the middle");
    }
}
