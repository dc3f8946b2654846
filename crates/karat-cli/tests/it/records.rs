//! `karat check` on golden records of assessments.

use crate::project::Project;
use serde_json::Value;

const CONTRACT: &str = "\
# Data processing agreement

## 2.1 Encryption

The Processor shall encrypt personal data at rest and in transit.

## 2.2 Security Measures

The Processor shall implement technical and organisational measures
to protect personal data against accidental loss.

## 2.3 Breach Notices

The Processor shall notify the Controller of a breach of personal data
without undue delay.

## 2.4 Other Notices

Other notices to the Controller are sent by post, without undue delay.
";

const TEMPLATE: &str = "\
title: Processing on behalf
requirements:
  security:
    title: Security of processing
    description: Technical and organisational measures are stated.
  breaches:
    title: Breaches
    description: Breaches of personal data are notified without undue delay.
  transfers:
    title: Transfers
    description: Transfers to third countries have a legal basis.
questions:
  role: Which role does the supplier have?
";

const RECORD: &str = r#"schema_version: "0.4"
bundle_id: dpa_en
template_id: processing
assumptions:
  question_answers:
    role: processor
requirements:
  security:
    assessment: partial
    primary_evidence:
      measures:
        document: dpa.md
        title: "2.2 Security Measures"
        text: |
          The Processor shall implement technical and organisational measures
          to protect personal data against accidental loss.
    supporting_evidence:
      encryption:
        document: dpa.md
        title: "2.1 Encryption"
        text: The Processor shall encrypt personal data at rest and in transit.
    rationale: Measures are named in general, and one of them in particular.
  breaches:
    assessment: yes
    primary_evidence:
      notices:
        document: dpa.md
        title: "2.3 Breach Notices"
        text: |
          The Processor shall notify the Controller of a breach of personal data
          without undue delay.
    supporting_evidence: {}
    rationale: Both the duty and its time are stated.
  transfers:
    assessment: no
    primary_evidence: {}
    supporting_evidence: {}
    rationale: Transfers are not spoken of.
"#;

fn project(record: &str) -> Project {
    Project::new()
        .with("s/karat.toml", "[suite]\nname = \"s\"\nkind = \"assessment\"\n")
        .with("s/templates/processing/config.yml", TEMPLATE)
        .with("s/bundles/dpa/dpa.md", CONTRACT)
        .with("s/bundles/dpa/dpa.golden-assessment.yml", record)
}

#[test]
fn valid_record_is_summarized() {
    let project = project(RECORD);
    let expected = "1 bundle, 3 requirements (1 yes, 1 partial, 1 no, 0 not_applicable), \
                    3 golden parts (2 primary, 1 supporting), 1 document, 5 sections: no problems\n";
    // A suite, a folder of records and a single record give the same summary.
    for place in ["s", "s/bundles", "s/bundles/dpa", "s/bundles/dpa/dpa.golden-assessment.yml"] {
        assert_eq!(project.ok(&format!("check {place}")), expected, "{place}");
    }
    assert_eq!(project.json("check s --json"), serde_json::json!([]));
    let inside =
        crate::project::CommandOutput::start(project.command().current_dir(project.path("s/bundles/dpa")).arg("check"));
    assert_eq!(inside.expect(0).out, expected);
}

#[test]
fn all_faults_are_reported_with_their_positions() {
    let faulty = RECORD
        .replace("bundle_id: dpa_en", "bundle_id: ' dpa'")
        .replace("role: processor", "rol: processor")
        .replace("assessment: partial", "assessment: partly")
        .replace("title: \"2.1 Encryption\"", "title: \"2.2 Security Measures\"")
        .replace("      encryption:\n", "      measures:\n")
        .replace("organisational", "organizational")
        .replace("  breaches:", "  breachs:")
        .replace(
            "document: dpa.md\n        title: \"2.3 Breach Notices\"",
            "document: dpaa.md\n        title: \"2.3 Breach Notices\"",
        )
        .replace("    supporting_evidence: {}\n    rationale: Transfers", "    rationale: Transfers");
    let project = project(&faulty);
    let ran = project.run("check s").expect(4);
    insta::assert_snapshot!("records_faults", ran.out);
    let faults: Vec<Value> = serde_json::from_str(&project.run("check s --json").expect(4).out).unwrap();
    assert_eq!(faults.len(), 9);
    for fault in &faults {
        assert!(fault["line"].as_u64().unwrap() > 0 && fault["column"].as_u64().unwrap() > 0, "{fault}");
        assert_eq!(fault["file"], "s/bundles/dpa/dpa.golden-assessment.yml");
    }
}

#[test]
fn faults_of_shared_templates_and_documents_are_reported_once() {
    let project = project(RECORD)
        .with("s/bundles/two/dpa.md", CONTRACT)
        .with("s/bundles/two/scan.pdf", "not a pdf")
        .with("s/bundles/two/dpa.golden-assessment.yml", RECORD)
        .with("s/templates/processing/config.yml", TEMPLATE.replace("title: Transfers", "title: ' '"));
    let ran = project.run("check s").expect(4);
    insta::assert_snapshot!("records_template_and_document", ran.out);
    // Two records of the same bundle and template are ambiguous.
    project.write("s/templates/processing/config.yml", TEMPLATE);
    std::fs::remove_file(project.path("s/bundles/two/scan.pdf")).unwrap();
    let ran = project.run("check s").expect(4);
    let message =
        "the bundle `dpa_en` is already compared with `processing`, by s/bundles/dpa/dpa.golden-assessment.yml";
    assert!(ran.out.contains(message), "{}", ran.out);
}

#[test]
fn lints_of_records() {
    let doubtful = RECORD
        .replace("at rest and in transit.\n    rationale", "at rest\n    rationale")
        .replace("rationale: Transfers are not spoken of.", "rationale: ''")
        .replace("assessment: no\n", "assessment: yes\n");
    let project = project(&doubtful);
    let ran = project.run("check s").expect(0);
    insta::assert_snapshot!("records_lints", ran.out);
    project.run("check s --strict").expect(4);
    let remarks: Vec<Value> = serde_json::from_str(&project.ok("check s --json")).unwrap();
    let codes: Vec<&str> = remarks.iter().map(|remark| remark["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["part-of-clause", "no-rationale", "no-primary"]);
}

#[test]
fn missing_records_are_reported_with_the_searched_pattern() {
    let project = Project::new().with("empty/karat.toml", "[suite]\nname = \"e\"\nkind = \"assessment\"\n");
    let ran = project.run("check empty").expect(4);
    assert!(ran.out.contains("no golden record here: no file **/*.golden-assessment.yml"), "{}", ran.out);
    let ran = project.run("check nowhere.golden-assessment.yml").expect(4);
    assert!(ran.out.contains("missing file or folder"), "{}", ran.out);
    project.run("check empty --profile crb").expect_error(2, &["have their rules in the template"]);
    // `karat score` refuses an assessment suite with one fault.
    project.run("score empty").expect_error(4, &["kind = \"assessment\"", "1 fault in 1 file"]);
}

#[test]
fn malformed_records_are_refused_with_a_message() {
    let check = |content: &[u8], expect: &str| {
        let project = project("").with("s/bundles/dpa/dpa.golden-assessment.yml", content);
        let ran = project.run("check s").expect(4);
        assert!(ran.out.contains(expect), "{}", ran.out);
    };
    check(b"", "the file is empty");
    check(b"\xff\xfea\0b\0", "is not UTF-8 text");
    check(b"a: &a [*a]\n", "dpa.golden-assessment.yml:1");
    check("[".repeat(100_000).as_bytes(), "more than 127 levels deep");
    check(&vec![b' '; (16 << 20) + 1], "larger than the 16 MiB");
    let long = RECORD.replace("The Processor shall encrypt", &"a ".repeat(50_001));
    check(long.as_bytes(), "expected at most 50000");
    check(b"schema_version: \"1.0\"\nanything: else\n", "this version of Karat reads \"0.4\"");
}

/// Sections as printed by `karat ingest` are found again when a record quotes them.
#[test]
fn sections_of_every_format_can_be_quoted_in_records() {
    let seeds = crate::project::root().join("fuzz/seeds");
    for seed in ["ingest_markdown/agreement.md", "ingest_docx/packed.docx", "ingest_pdf/packed.pdf"] {
        let bytes = std::fs::read(seeds.join(seed)).unwrap();
        let name = seed.rsplit('/').next().unwrap();
        let project = Project::new()
            .with(name, &bytes)
            .with("templates/t/config.yml", "requirements: { r: { title: t, description: d } }\n");
        let ingested = project.json(&format!("ingest {name} --json"));
        let sections = ingested[0]["sections"].as_array().unwrap().iter();
        let full = |section: &&Value| ["heading", "body"].iter().all(|key| !section[key].as_str().unwrap().is_empty());
        let part = |(i, section): (usize, &Value)| {
            let part = serde_json::json!({ "document": name, "title": section["heading"], "text": section["body"] });
            (format!("p{i}"), part)
        };
        let parts: serde_json::Map<String, Value> = sections.filter(full).enumerate().map(part).collect();
        assert!(!parts.is_empty(), "{name} has no sections");
        let record = serde_json::json!({
            "schema_version": "0.4", "bundle_id": "b", "template_id": "t",
            "requirements": { "r": {
                "assessment": "yes", "primary_evidence": parts, "supporting_evidence": {}, "rationale": "x"
            }}
        });
        project.write("b.golden-assessment.yml", record.to_string());
        let remarks = project.json("check b.golden-assessment.yml --json");
        let codes: Vec<&str> = remarks.as_array().unwrap().iter().map(|r| r["code"].as_str().unwrap()).collect();
        assert!(!codes.contains(&"part-of-clause") && !codes.contains(&"several-clauses"), "{name}: {remarks:#}");
    }
}

#[test]
fn shipped_records_are_valid() {
    let filled = crate::project::root().join("suites/agreements/bundles").exists();
    let ran = Project::new().run("check agreements").expect(if filled { 0 } else { 4 });
    assert!(filled || ran.out.contains("no golden record here"), "{}", ran.out);
}
