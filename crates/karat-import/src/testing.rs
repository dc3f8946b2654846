//! Helpers for snapshot-like tests of importers: text in, text out.

use super::{ImportError, ImportedData, Input, importer};
use karat_core::finding::Finding;
use karat_core::judgement::Decision;
use karat_core::suite::Verdict;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Imports one text.
pub(super) fn import_text(format: &str, text: &str) -> Result<ImportedData, ImportError> {
    import_all(format, &[("in", text.as_bytes())])
}

/// Imports several texts with their paths.
pub(super) fn import_all(format: &str, inputs: &[(&str, &[u8])]) -> Result<ImportedData, ImportError> {
    let importer = importer(format).expect("the importer is in the table");
    let mut data = ImportedData::default();
    for (path, bytes) in inputs {
        importer.read(Input { path: Path::new(path), reader: Box::new(*bytes), sources: &|_| None }, &mut data)?;
    }
    importer.finish(&mut data);
    Ok(data)
}

/// Imports a fixture, which must succeed.
pub(super) fn import_fixture(format: &str, fixture: &str) -> ImportedData {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(fixture);
    let bytes = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    import_all(format, &[(fixture, &bytes)]).unwrap_or_else(|error| panic!("{error}"))
}

/// Data of third parties, if present on this machine.
pub(super) fn shared_data(folder: &str) -> Option<PathBuf> {
    let root = std::env::var_os("KARAT_SHARED_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    let path = root.join(folder);
    path.is_dir().then_some(path)
}

/// Compares imported data with the expected text, indentation aside.
#[track_caller]
pub(super) fn check(data: &ImportedData, expect: &str) {
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(describe(data).lines().collect::<Vec<_>>().join("\n"), expect.join("\n"));
}

/// An input that must be rejected, and what the error must contain.
#[track_caller]
pub(super) fn check_fault(format: &str, text: &str, expect: &str) {
    match import_text(format, text) {
        Ok(data) => panic!("expected a fault with {expect:?}, got\n{}", describe(&data)),
        Err(error) => assert!(error.to_string().contains(expect), "expected {expect:?} in: {error}"),
    }
}

/// The same for inputs that must be accepted, comparing selected lines only.
#[track_caller]
pub(super) fn check_text(format: &str, text: &str, expect: &str) {
    match import_text(format, text) {
        Ok(data) => check(&data, expect),
        Err(error) => panic!("{error}"),
    }
}

fn describe(data: &ImportedData) -> String {
    let mut out = String::new();
    for tool in &data.tools {
        let _ = writeln!(out, "ran {tool}");
    }
    for reported in &data.findings {
        let tool = reported.tool.as_ref().map_or("-", |tool| tool.as_str());
        let case = reported.case.as_ref().map_or(String::new(), |case| format!(" {case}"));
        let _ = writeln!(out, "finding {tool}{case}:{}", describe_finding(&reported.finding));
    }
    for trial in &data.trials {
        let _ = writeln!(out, "trial {} {} {} {}", trial.case, trial.tool, trial.number, trial.outcome.as_str());
        for finding in &trial.findings {
            let _ = writeln!(out, "{}:{}", finding.id, describe_finding(finding));
        }
    }
    for case in &data.cases {
        let verdict = if case.verdict == Verdict::Vulnerable { "vulnerable" } else { "safe" };
        let _ = write!(out, "case {} {verdict}", case.id);
        for (label, text) in [("name", &case.name), ("repo", &case.repo)] {
            if let Some(text) = text {
                let _ = write!(out, " {label} {text:?}");
            }
        }
        if !case.categories.is_empty() {
            let _ = write!(out, " [{}]", case.categories.join(", "));
        }
        if !case.cwe.is_empty() {
            let _ = write!(out, " cwe {:?}", case.cwe);
        }
        if case.allow_unexpected {
            out.push_str(" allow_unexpected");
        }
        if !case.meta.is_empty() {
            let _ = write!(out, " meta {:?}", case.meta);
        }
        out.push('\n');
        for golden in &case.goldens {
            let _ = write!(out, "golden {}", golden.id);
            let file = golden.file.as_ref().map(ToString::to_string);
            let lines = golden.lines.map(|lines| format!("{}-{}", lines.start, lines.end));
            let severity = golden.severity.map(|severity| severity.to_string());
            for (label, text) in [
                ("title", &golden.title),
                ("description", &golden.description),
                ("file", &file),
                ("lines", &lines),
                ("severity", &severity),
                ("rule", &golden.rule_id),
                ("anchor", &golden.anchor),
                ("key", &golden.identity_key),
            ] {
                if let Some(text) = text {
                    let _ = write!(out, " {label}={text:?}");
                }
            }
            out.push('\n');
        }
    }
    for judgement in &data.judgements {
        let Decision::Pair(pair) = &judgement.decision else { continue };
        let golden = pair.golden.as_ref().map_or("-", |golden| golden.as_str());
        let _ = write!(out, "judged {} {} by {}: ", judgement.case, judgement.tool, judgement.judge);
        let _ = write!(out, "{golden} {} {}", pair.finding, pair.matched);
        if let Some(confidence) = pair.confidence {
            let _ = write!(out, " {confidence}");
        }
        if let Some(explanation) = &pair.explanation {
            let _ = write!(out, " {explanation:?}");
        }
        out.push('\n');
    }
    for failure in &data.failures {
        let tool = failure.tool.as_ref().map_or("-", |tool| tool.as_str());
        let fatal = if failure.fatal { "fatal" } else { "partial" };
        let file = failure.file.as_deref().unwrap_or("-");
        let _ = writeln!(out, "{fatal} failure {tool} {file}: {}", failure.message);
    }
    for note in &data.notes {
        let _ = writeln!(out, "note {note}");
    }
    out
}

fn describe_finding(finding: &Finding) -> String {
    let mut out = String::new();
    let numbers = |number: Option<u32>| number.map(|n| n.to_string());
    let file = finding.file.as_ref().map(ToString::to_string);
    let severity = finding.severity.map(|severity| severity.to_string());
    let confidence = finding.confidence.map(|confidence| confidence.to_string());
    for (label, text) in [
        ("rule", &finding.rule_id),
        ("title", &finding.title),
        ("message", &finding.message),
        ("file", &file),
        ("start", &numbers(finding.line_start)),
        ("end", &numbers(finding.line_end)),
        ("severity", &severity),
        ("confidence", &confidence),
        ("category", &finding.category),
        ("function", &finding.function),
        ("anchor", &finding.anchor),
        ("chunk", &numbers(finding.chunk)),
        ("chunk_start", &numbers(finding.chunk_start)),
        ("chunk_end", &numbers(finding.chunk_end)),
        ("source", &finding.source),
        ("key", &finding.identity_key),
    ] {
        if let Some(text) = text {
            let _ = write!(out, " {label}={text:?}");
        }
    }
    if !finding.cwe.is_empty() {
        let _ = write!(out, " cwe={:?}", finding.cwe);
    }
    if !finding.fingerprints.is_empty() {
        let _ = write!(out, " fingerprints={:?}", finding.fingerprints);
    }
    for merged in &finding.merged {
        let rule = merged.rule_id.as_deref().unwrap_or("-");
        let _ = write!(out, " merged={rule}@{:?}-{:?}", merged.line_start, merged.line_end);
    }
    out
}
