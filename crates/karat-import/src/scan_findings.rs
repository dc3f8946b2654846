//! Findings of scanners that give each an identity key.

mod keys;

pub use keys::{KeyedScan, WRITABLE, add_keys};

use super::cwe::FieldCwes;
use super::fields::{self, Line, filled};
use super::json::{self, ArrayPlace, Loose, Word};
use super::note_counter::NoteCounter;
use super::{ImportError, ImportedData, Input};
use karat_core::finding::{Finding, MergedReport};
use karat_core::path::RepoPath;
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(expecting = "a finding")]
struct ScanFinding {
    id: Loose<Word>,
    #[serde(rename = "type")]
    kind: Loose<Option<String>>,
    severity: Loose<Option<String>>,
    title: Option<String>,
    summary: Option<String>,
    message: Option<String>,
    location: Option<Location>,
    details: Option<Details>,
    source: Loose<Option<String>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(alias = "filePath", alias = "path", alias = "file")]
    filepath: Option<String>,
    #[serde(alias = "start_line")]
    start_line: Line,
    #[serde(alias = "end_line")]
    end_line: Line,
    #[serde(alias = "chunk_index")]
    chunk_index: Loose<Option<u32>>,
    #[serde(alias = "chunk_start")]
    chunk_start: Line,
    #[serde(alias = "chunk_end")]
    chunk_end: Line,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(alias = "identity_key_v2")]
    identity_key_v2: Option<String>,
    #[serde(alias = "identity_key")]
    identity_key: Loose<Option<String>>,
    #[serde(alias = "dedupe_key")]
    dedupe_key: Loose<Option<String>>,
    #[serde(alias = "rule_id")]
    rule_id: Option<String>,
    #[serde(alias = "anchor_node_id")]
    anchor_node_id: Option<String>,
    #[serde(alias = "merged_rule_ids")]
    merged_rule_ids: Loose<Vec<Option<String>>>,
    cwe: Loose<FieldCwes>,
    confidence: Loose<Option<f64>>,
}

/// An array of findings, or an object that contains it.
pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    json::for_each(input, ArrayPlace::DocumentOrUnder("findings"), &[], |scanned: ScanFinding| {
        match finding(scanned, &mut data.counter) {
            Some(finding) => data.add_finding(None, finding),
            None => data.counter.count("finding skipped: it has no title, summary, message or rule"),
        }
        Ok(())
    })?;
    Ok(())
}

fn finding(scanned: ScanFinding, counter: &mut NoteCounter) -> Option<Finding> {
    let details = scanned.details.unwrap_or_default();
    let location = scanned.location.unwrap_or_default();
    let mut finding = Finding::new(scanned.id.0.0.unwrap_or_default());
    finding.rule_id = filled(details.rule_id);
    finding.title = filled(scanned.title).or(filled(scanned.summary));
    finding.message = filled(scanned.message);
    if finding.rule_id.is_none() && finding.title.is_none() && finding.message.is_none() {
        return None;
    }
    finding.file = location.filepath.as_deref().and_then(RepoPath::new);
    finding.line_start = location.start_line.number(counter);
    finding.line_end = location.end_line.number(counter);
    finding.severity = fields::severity(scanned.severity.0.as_deref(), counter);
    finding.confidence = fields::confidence(details.confidence.0);
    finding.category = filled(scanned.kind.0);
    finding.cwe = details.cwe.0.0;
    finding.anchor = filled(details.anchor_node_id);
    finding.chunk = location.chunk_index.0;
    finding.chunk_start = location.chunk_start.number(counter);
    finding.chunk_end = location.chunk_end.number(counter);
    finding.source = filled(scanned.source.0);
    finding.identity_key = filled(details.identity_key_v2);
    for (name, key) in [("identityKey", details.identity_key.0), ("dedupeKey", details.dedupe_key.0)] {
        if let Some(key) = filled(key) {
            finding.fingerprints.insert(name.to_owned(), key);
        }
    }
    for rule in details.merged_rule_ids.0.into_iter().filter_map(filled) {
        if Some(&rule) != finding.rule_id.as_ref() {
            finding.merged.push(MergedReport {
                rule_id: Some(rule),
                line_start: finding.line_start,
                line_end: finding.line_end,
                anchor: finding.anchor.clone(),
            });
        }
    }
    Some(finding)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn findings_keep_their_identity() {
        check(
            &import_fixture("scan-findings", "scan-findings/scan.json"),
            r#"
            finding -: rule="missing_auth" title="No check of the caller" file="app/api/route.ts" start="4" end="21" severity="high" category="authz" anchor="node:4:8" chunk="0" chunk_start="1" chunk_end="40" source="static" key="v2|app/api/route.ts|missing_auth|anchor:node:4:8" fingerprints={"identityKey": "old"} merged=weak_auth@Some(4)-Some(21)
            finding -: title="T" message="M"
            finding -: rule="only_rule" file="x.ts"
            note scan-findings/scan.json: finding skipped: it has no title, summary, message or rule (2)
            note scan-findings/scan.json: line number ignored: line numbers start at 1 (2)
            note scan-findings/scan.json: unknown severity ignored: "spicy" (1)
            "#,
        );
        check_text("scan-findings", r#"[{"summary":"s"}]"#, r#"finding -: title="s""#);
        check_text("scan-findings", r#"{"findings":[],"version":2}"#, "");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("scan-findings", text, expect);
        check("{}", "missing array `findings`");
        check("[\n3]", "in:2:2: invalid type: integer `3`, expected a finding");
        check("[{\"details\":{\"identityKeyV2\":5}}]", "in:1:31: invalid type: integer `5`, expected a string");
        check("[{\"location\":{\"startLine\":\"5\"}}]", "expected a line number");
        check("[{\"summary\":", "the file ends in the middle");
    }
}
