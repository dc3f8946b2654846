use super::*;
use crate::rule_map::RuleMap;
use crate::{ReportedFinding, input};
use karat_core::finding::Finding;
use karat_core::ids::ToolName;
use karat_core::path::RepoPath;
use std::path::{Path, PathBuf};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sarif").join(name)
}

fn data(path: &Path) -> Result<ImportedData, ImportError> {
    let mut data = ImportedData::default();
    import(input::open(path)?, &mut data)?;
    Ok(data)
}

fn import_text(text: &str) -> Result<ImportedData, String> {
    let path = Path::new("in.sarif");
    let mut data = ImportedData::default();
    let input = input::from_reader(path, Box::new(text.as_bytes())).map_err(|error| error.to_string())?;
    import(input, &mut data).map_err(|error| error.to_string())?;
    Ok(data)
}

/// The known fields of a finding in one line.
fn line(reported: &ReportedFinding) -> String {
    let Finding { rule_id, title, message, file, line_start, line_end, severity, confidence, category, .. } =
        &reported.finding;
    let f = &reported.finding;
    let mut parts = vec![reported.tool.as_ref().map_or("?", ToolName::as_str).to_owned()];
    let mut add = |name: &str, value: Option<String>| parts.extend(value.map(|value| format!("{name}={value}")));
    add("rule", rule_id.clone());
    add("title", title.clone());
    add("message", message.clone());
    add("file", file.as_ref().map(ToString::to_string));
    add("lines", line_start.map(|start| format!("{start}-{}", line_end.unwrap_or_default())));
    add("severity", severity.map(|severity| severity.to_string()));
    add("confidence", confidence.map(|confidence| confidence.to_string()));
    add("category", category.clone());
    add("cwe", (!f.cwe.is_empty()).then(|| format!("{:?}", f.cwe)));
    add("function", f.function.clone());
    add("fingerprints", (!f.fingerprints.is_empty()).then(|| format!("{:?}", f.fingerprints)));
    add("key", f.identity_key.clone());
    parts.join(" ")
}

fn check(name: &str, findings: &[&str], notes: &[&str]) -> ImportedData {
    let path = fixture(name);
    let data = data(&path).unwrap();
    let lines: Vec<String> = data.findings.iter().map(line).collect();
    assert_eq!(lines, findings, "{name}");
    let folder = format!("{}/", path.parent().unwrap().display());
    let found_notes: Vec<String> = data.notes.iter().map(|note| note.replace(&folder, "")).collect();
    assert_eq!(found_notes, notes, "{name}");
    data
}

#[test]
fn complete_document_is_imported() {
    let data = check(
        "full.sarif",
        &[
            "scanner rule=py/sql message=Query from user input. file=app/db layer.py lines=12-14 \
             severity=critical confidence=0.75 category=injection cwe=[20, 89] function=db.query \
             fingerprints={\"full/v1\": \"def\", \"primaryLocationLineHash\": \"abc:1\"} key=v2|own|key|lines:1-1",
            "scanner rule=pack/two message=From left to right. file=x.zip/in/side.c lines=3-3 severity=medium \
             cwe=[77, 78]",
            "scanner rule=pack/two/sub/deeper message=**bold** words file=src/flow.c lines=7-7 severity=low \
             cwe=[77]",
            "scanner rule=unknown message=Look at this, {please} file=generated/gen.c severity=info category=own cwe=[79, 80]",
            "scanner rule=py/sql message=nowhere severity=info category=injection cwe=[89]",
            "scanner rule=s message=rejected severity=medium",
            "scanner rule=s message=same severity=medium",
        ],
        &[
            "full.sarif: 2 results are suppressed and ignored",
            "full.sarif: 1 result is gone (baselineState `absent`) and ignored",
            "full.sarif: 2 results are of kind `pass` or `notApplicable` and ignored",
            "full.sarif: 1 result is without rule and message and ignored",
            "full.sarif: 1 result is placed by offset in files whose text is missing, so their lines are unknown",
        ],
    );
    assert_eq!(data.tools, [ToolName::new("scanner"), ToolName::new("quiet")]);
    assert_eq!(data.failures, []);
}

#[test]
fn unimportant_faults_are_tolerated() {
    check(
        "ugly.sarif",
        &[
            "ugly rule=two severity=medium fingerprints={\"c\": \"d\"}",
            "ugly message=words file=two.c lines=8-8 severity=medium",
            "ugly message=lines file=src/c.c severity=medium function=f",
            "ugly message=target file=target.c severity=medium cwe=[89, 90]",
        ],
        &[
            "ugly.sarif: 1 result is placed by offset in files whose text is missing, so their lines are unknown",
            "ugly.sarif: parts of it are in external property files, which are not read; ask the tool for a single file",
            "ugly.sarif: no version is given; read as SARIF 2.1.0",
        ],
    );
}

#[test]
fn a_failed_execution_does_not_count_as_no_findings() {
    let data =
        check("failed.sarif", &[], &["failed.sarif: 2 of the tool's notifications are below error level and ignored"]);
    let shown: Vec<String> = data
        .failures
        .iter()
        .map(|f| format!("{} {} {}", f.fatal, f.file.as_deref().unwrap_or("-"), f.message))
        .collect();
    assert_eq!(
        shown,
        [
            "true - the tool reported that its execution failed: exit code 3; out of memory; cannot parse",
            "false src/bad.c cannot parse",
            "false - Overflow",
        ]
    );
    assert!(data.failures.iter().all(|failure| failure.tool == Some(ToolName::new("fragile"))));
}

#[test]
fn every_encoding_gives_the_same_findings() {
    for name in ["plain.sarif", "bom.sarif", "utf16le-bom.sarif", "utf16be.sarif", "plain.sarif.gz"] {
        check(name, &["tiny rule=r message=Größe 😀 severity=medium"], &[]);
    }
}

#[test]
fn unreadable_documents_are_rejected_with_a_position() {
    let check = |name: &str, expect: &str| {
        let path = fixture(name);
        let error = data(&path).unwrap_err().to_string();
        assert_eq!(error.replace(&format!("{}/", path.parent().unwrap().display()), ""), expect);
    };
    check("empty.sarif", "empty.sarif:1:1: the file is empty; expected JSON");
    check("binary.sarif", "binary.sarif: this is not text: it contains zero bytes; is it the right file?");
    check(
        "truncated.sarif",
        "truncated.sarif:1:100: the file ends in the middle of its JSON (EOF while parsing a string); \
         copy the whole file, or run the tool to its end",
    );
    check("no-runs.sarif", "no-runs.sarif:1:35: there is no array `runs`, so this is not a SARIF document");
    check(
        "wrong-results.sarif",
        "wrong-results.sarif:2:20: invalid type: string \"none\", expected an array of results",
    );
    check("wrong-result.sarif", "wrong-result.sarif:3:7: invalid type: string \"r\", expected an object");
}

#[test]
fn documents_may_be_empty_old_or_odd() {
    let check = |text: &str, expect: Result<&[&str], &str>| {
        let notes = import_text(text).map(|data| data.notes);
        assert_eq!(notes, expect.map(|n| n.iter().map(|n| (*n).to_owned()).collect()).map_err(str::to_owned), "{text}");
    };
    check(r#"{"version": "2.1.0", "runs": []}"#, Ok(&[]));
    check(r#"{"version": "2.1.0-rtm.5", "runs": []}"#, Ok(&[]));
    check(r#"{"version": "2.0.0", "runs": []}"#, Ok(&["in.sarif: unknown version \"2.0.0\"; read as SARIF 2.1.0"]));
    check(
        r#"{"version": "2.1.0", "runs": [{}], "inlineExternalProperties": [{}]}"#,
        Ok(&[
            "in.sarif: 1 of the runs do not name their tool; name it with --tool",
            "in.sarif: parts of it are in external property files, which are not read; ask the tool for a single file",
        ]),
    );
    check("[]", Err("in.sarif:1:1: invalid type: sequence, expected a SARIF document, which is an object with `runs`"));
    check(r#"{"runs": null}"#, Err("in.sarif:1:13: invalid type: null, expected an array of runs"));
    check(r#"{"runs": [], "x": nul}"#, Err("in.sarif:1:22: not valid JSON: expected ident"));
}

#[test]
fn deep_and_oversized_documents_are_errors() {
    let deep = |place: &str| place.replace('@', &"[".repeat(100_000));
    for place in ["{\"x\": @", "{\"runs\": [{\"results\": [{\"properties\": @"] {
        let error = import_text(&deep(place)).unwrap_err();
        assert!(error.ends_with("nested more than 512 levels deep; no known format does that"), "{error}");
    }
    let long = format!(r#"{{"runs": [{{"results": [{{"message": {{"text": "{}"}}}}]}}]}}"#, "x".repeat((16 << 20) + 1));
    let error = import_text(&long).unwrap_err();
    assert_eq!(
        error,
        "in.sarif:1:45: a string of more than 16777216 bytes starts here, which is too long for a finding"
    );
}

#[test]
fn damaged_documents_are_rejected_without_panic() {
    for name in ["full.sarif", "ugly.sarif", "failed.sarif"] {
        let text = std::fs::read_to_string(fixture(name)).unwrap();
        let text = text.trim_end();
        for at in (0..text.len()).step_by(11) {
            assert!(import_text(&text[..at]).is_err(), "{name} up to {at}");
            for byte in ["{", "]", "\"", "\\", "0", ","] {
                // Whether it is still readable does not matter here.
                drop(import_text(&format!("{}{byte}{}", &text[..at], &text[at + 1..])));
            }
        }
    }
}

#[test]
fn truncated_file_adds_nothing() {
    let mut data = import_text(r#"{"version": "2.1.0", "runs": [{"results": [{"ruleId": "kept"}]}]}"#).unwrap();
    let broken = r#"{"runs": [{"tool": {"driver": {"name": "t"}}, "results": [{"ruleId": "lost"}]}, "#;
    let input = input::from_reader(Path::new("b"), Box::new(broken.as_bytes())).unwrap();
    crate::importer("sarif").unwrap().read(input, &mut data).unwrap_err();
    assert_eq!(data.findings.len(), 1);
    assert_eq!(data.tools, []);
}

#[test]
fn callers_can_supply_sources() {
    let text = r#"{"version": "2.1.0", "runs": [{"columnKind": "unicodeCodePoints", "results": [{"ruleId": "r", "locations":
        [{"physicalLocation": {"artifactLocation": {"uri": "a.c"}, "region": {"charOffset": 3, "charLength": 2}}}]}]}]}"#;
    let mut data = ImportedData::default();
    let input = input::from_reader(Path::new("in.sarif"), Box::new(text.as_bytes())).unwrap();
    let sources = |path: &RepoPath| (path.as_str() == "a.c").then(|| "😀\na\nb".to_owned());
    import(Input { sources: &sources, ..input }, &mut data).unwrap();
    assert_eq!(line(&data.findings[0]), "? rule=r file=a.c lines=2-3 severity=medium");
}

fn shared(path: &str) -> Option<PathBuf> {
    let root = std::env::var_os("KARAT_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    Some(root.join(path)).filter(|path| path.exists())
}

#[test]
#[expect(clippy::print_stderr, reason = "a test that did not run must not look like one that passed")]
fn real_solhint_file_is_imported() {
    let Some(path) = shared("solhint/solhint.sarif") else {
        eprintln!("skipped: shared data is absent");
        return;
    };
    let data = data(&path).unwrap();
    assert_eq!(data.findings.len(), 9_572);
    assert!(data.findings.iter().all(|r| r.finding.file.is_some() && r.finding.line_start.is_some()));
    assert_eq!(data.tools, [ToolName::new("solhint")]);
    assert_eq!(data.notes, [""; 0]);
    let map = RuleMap::read(&path.with_file_name("rule-categories.csv")).unwrap();
    let mut findings: Vec<Finding> = data.findings.into_iter().map(|reported| reported.finding).collect();
    let mapped = findings.iter_mut().filter_map(|finding| map.apply(finding).then_some(&finding.category)).count();
    assert_eq!(mapped, findings.iter().filter(|finding| finding.category.is_some()).count());
    assert!(mapped > 0);
}
