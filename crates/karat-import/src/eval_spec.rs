//! Expectations of an eval: groups of findings that a scan must report.

use super::fields::{self, Line, filled};
use super::json::{self, ArrayPlace};
use super::note_counter::{NoteCounter, quoted};
use super::{ImportError, ImportedData, Input};
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::FilePattern;
use karat_core::suite::{Case, Verdict};
use serde::Deserialize;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(expecting = "a group with its expectations")]
struct Group {
    id: Option<String>,
    name: Option<String>,
    description: Option<String>,
    #[serde(alias = "allowUnexpected")]
    allow_unexpected: Option<bool>,
    #[serde(alias = "findings", alias = "expectations", alias = "expectedFindings", alias = "expected_findings")]
    expected: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an expectation")]
struct Expected {
    id: Option<String>,
    #[serde(alias = "filePath", alias = "file_path", alias = "file", alias = "path")]
    filepath: Option<String>,
    expectation: Option<String>,
    #[serde(alias = "rule_id")]
    rule_id: Option<String>,
    #[serde(alias = "identity_key_v2")]
    identity_key_v2: Option<String>,
    #[serde(alias = "anchor_node_id")]
    anchor_node_id: Option<String>,
    #[serde(alias = "start_line")]
    start_line: Line,
    #[serde(alias = "end_line")]
    end_line: Line,
    severity: Option<String>,
}

/// An array of groups, or an object that contains it.
pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let stem = input.path.file_stem().map_or_else(|| "group".into(), |stem| stem.to_string_lossy());
    let mut taken: BTreeSet<CaseId> = data.cases.iter().map(|case| case.id.clone()).collect();
    let mut number = 0_usize;
    json::for_each(input, ArrayPlace::DocumentOrUnder("groups"), &[], |group: Group| {
        number += 1;
        let id = filled(group.id).or_else(|| filled(group.name.clone())).unwrap_or_else(|| format!("{stem}-{number}"));
        let mut case = Case::new(id.trim());
        if !taken.insert(case.id.clone()) {
            return Err(format!("group {} is given twice; give each group an id of its own", quoted(case.id.as_str())));
        }
        case.name = filled(group.name);
        case.description = filled(group.description);
        case.allow_unexpected = group.allow_unexpected.unwrap_or(false);
        let mut goldens = BTreeSet::new();
        for (index, expected) in group.expected.into_iter().enumerate() {
            let golden = golden(expected, index + 1, &mut data.counter)?;
            if !goldens.insert(golden.id.clone()) {
                return Err(format!("expectation {} is given twice in its group", quoted(golden.id.as_str())));
            }
            case.goldens.push(golden);
        }
        if !case.goldens.is_empty() {
            case.verdict = Verdict::Vulnerable;
        }
        data.cases.push(case);
        Ok(())
    })?;
    Ok(())
}

fn golden(expected: Expected, number: usize, counter: &mut NoteCounter) -> Result<Golden, String> {
    let mut golden = Golden::new(filled(expected.id).unwrap_or_else(|| format!("g{number}")));
    golden.rule_id = filled(expected.rule_id);
    golden.identity_key = filled(expected.identity_key_v2);
    let title = filled(expected.expectation).or_else(|| golden.rule_id.clone()).or_else(|| golden.identity_key.clone());
    golden.title = Some(title.ok_or("an expectation needs one of `expectation`, `ruleId` and `identityKeyV2`")?);
    golden.file = expected.filepath.as_deref().and_then(FilePattern::new);
    golden.anchor = filled(expected.anchor_node_id);
    golden.lines = Lines::from_either(expected.start_line.number(counter), expected.end_line.number(counter));
    golden.severity = fields::severity(expected.severity.as_deref(), counter);
    Ok(golden)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_all, import_fixture};

    #[test]
    fn groups_are_imported_as_cases() {
        check(
            &import_fixture("eval-spec", "eval-spec/evals.json"),
            r#"
            case baseline vulnerable allow_unexpected
            golden g1 title="No check of the caller" file="app/**/route.ts" lines="4-21" severity="high" rule="missing_auth" anchor="node:4:8" key="v2|app/api/route.ts|missing_auth|anchor:node:4:8"
            golden own title="weak_auth" file="app/x.ts" lines="9-9" rule="weak_auth"
            case named vulnerable name "named"
            golden g1 title="v2|a|b|lines:1-1" key="v2|a|b|lines:1-1"
            case evals-3 safe
            note eval-spec/evals.json: line number ignored: line numbers start at 1 (1)
            note eval-spec/evals.json: unknown severity ignored: "odd" (1)
            "#,
        );
        check_text("eval-spec", r#"[{"expected":[]}]"#, "case in-1 safe");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("eval-spec", text, expect);
        check("{}", "missing array `groups`");
        check("[{\"id\":\"a\"}]", "in:1:11: missing field `expected`");
        check(
            "[{\"id\":\"a\",\"expected\":[{}]}]",
            "an expectation needs one of `expectation`, `ruleId` and `identityKeyV2`",
        );
        check("[{\"id\":\"a\",\"expected\":[]},{\"id\":\"a\",\"expected\":[]}]", "group \"a\" is given twice");
        check("[{\"id\":7,\"expected\":[]}]", "in:1:9: invalid type: integer `7`, expected a string");
        check(
            "[{\"expected\":[{\"id\":\"g2\",\"ruleId\":\"r\"},{\"ruleId\":\"r\"}]}]",
            "expectation \"g2\" is given twice in its group",
        );
        check("[{\"expected\":[", "the file ends in the middle");
    }

    #[test]
    fn groups_of_several_files_must_differ() {
        let group: &[u8] = br#"[{"id":"a","expected":[]}]"#;
        let error =
            import_all("eval-spec", &[("x", group), ("y", group)]).map(|_| ()).expect_err("the id is a duplicate");
        assert!(error.to_string().contains("group \"a\" is given twice"), "{error}");
    }
}
