//! Helpers: records in temporary folders, and checks of their diagnostics.

use crate::assess::lint::lint;
use crate::assess::{Bundle, FilesOnly, discover, load};
use karat_format::diagnostic::Diagnostic;
use tempfile::TempDir;

pub(super) const CONTRACT: &str = "\
# Agreement

## 2.1 Encryption

The Processor shall encrypt personal data at rest and in transit, at the address of the Controller.

## 2.2 Security Measures

The Processor shall implement **technical** and organisational measures
to protect personal data against loss.

## 2.3 Notices

Security notices are sent to the address of the Controller.
";

pub(super) const TEMPLATE: &str = "\
requirements:
  security:
    title: Security
    description: Measures that protect personal data are stated.
  notices:
    title: Notices
    description: Where notices are sent is stated.
questions:
  sector: Which sector is it?
";

pub(super) const RECORD: &str = r#"schema_version: "0.4"
bundle_id: contract
template_id: privacy
assumptions:
  question_answers:
    sector: energy
requirements:
  security:
    assessment: yes
    primary_evidence:
      measures:
        document: contract.md
        title: "2.2 Security Measures"
        text: |
          The Processor shall implement technical and organisational
          measures to protect personal data against loss.
    supporting_evidence: {}
    rationale: Stated.
  notices:
    assessment: partial
    primary_evidence:
      address:
        document: contract.md
        title: 2.3 Notices
        text: Security notices are sent to the address of the Controller.
    supporting_evidence: {}
    rationale: Half stated.
"#;

pub(super) fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        let full = folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, content).unwrap();
    }
    folder
}

pub(super) fn files(record: &str) -> Vec<(&'static str, String)> {
    vec![
        ("karat.toml", "[suite]\nname = \"s\"\nkind = \"assessment\"\n".to_owned()),
        ("templates/privacy/config.yml", TEMPLATE.to_owned()),
        ("bundles/a/contract.md", CONTRACT.to_owned()),
        ("bundles/a/a.golden-assessment.yml", record.to_owned()),
    ]
}

/// Loads the only record of a suite with these files.
pub(super) fn load_record(files: &[(&str, String)]) -> (TempDir, Result<Bundle, Vec<Diagnostic>>) {
    let files: Vec<(&str, &str)> = files.iter().map(|(path, content)| (*path, content.as_str())).collect();
    let folder = folder(&files);
    let places = discover(&[folder.path().display().to_string()], false).unwrap();
    assert_eq!(places.len(), 1);
    let bundle = load(&places[0], &mut FilesOnly);
    (folder, bundle)
}

/// Diagnostics as text: line:column, code, message, help; files other than the record are named.
pub(super) fn render_diagnostics(folder: &TempDir, diagnostics: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| {
        let root = folder.path().display().to_string();
        let file = d.file.replace(&format!("{root}/"), "").replace(&root, ".");
        let file = if file.ends_with(".golden-assessment.yml") { String::new() } else { format!("{file} ") };
        let help = d.help.as_ref().or(d.label.as_ref()).map_or_else(String::new, |help| format!(" [{help}]"));
        let place = if d.line > 0 { format!("{}:{} ", d.line, d.column) } else { String::new() };
        format!("{file}{place}{}: {}{help}\n", d.code, d.message).replace(&root, ".")
    };
    diagnostics.iter().map(line).collect()
}

/// Checks the faults of a suite with these files, or what is wrong although it is loaded.
#[track_caller]
pub(super) fn check_faults(files: &[(&str, String)], expect: &str) {
    let (folder, bundle) = load_record(files);
    let faults = bundle.map_or_else(|faults| faults, |bundle| bundle.problems);
    assert!(!faults.is_empty(), "nothing is wrong with the record");
    let found = render_diagnostics(&folder, &faults);
    assert_lines(&found, expect);
}

/// Checks the faults of the record with one text replaced.
#[track_caller]
pub(super) fn check_changed(from: &str, to: &str, expect: &str) {
    assert!(RECORD.contains(from), "{from}");
    check_faults(&files(&RECORD.replace(from, to)), expect);
}

#[track_caller]
pub(super) fn check_lints(files: &[(&str, String)], expect: &str) {
    let (folder, bundle) = load_record(files);
    let bundle = bundle.unwrap_or_else(|faults| panic!("{}", render_diagnostics(&folder, &faults)));
    let found: Vec<Diagnostic> = lint(&bundle).into_iter().map(|d| Diagnostic { help: None, ..d }).collect();
    let found = render_diagnostics(&folder, &found);
    assert_lines(&found, expect);
}

/// Compares texts and shows them as lines where they differ.
#[track_caller]
pub(super) fn assert_lines(found: &str, expect: &str) {
    assert!(found == expect, "\n{found}\nexpected\n{expect}");
}
