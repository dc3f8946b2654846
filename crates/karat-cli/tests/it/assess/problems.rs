//! Documents that cannot be read and golden parts that differ from their documents do not end an assessment.

use super::{AGREEMENT, RECORD, RECORD_FILE, TEMPLATE, project};
use crate::project::Project;
use serde_json::{Value, json};

const FAST: &str = "--no-rerank --resamples 200";

fn assess(project: &Project, flags: &str, exit: i32) -> (Value, String) {
    let ran = project.run(&format!("assess {RECORD_FILE} {FAST} --json {flags}")).expect(exit);
    (serde_json::from_str(&ran.out).unwrap_or_default(), ran.err)
}

/// Each way in which a file can be bad, with what is said of it.
fn bad_files() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let utf16: Vec<u8> = AGREEMENT.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        ("empty.md", Vec::new(), "the file is empty"),
        ("other.md", b"%PDF-1.7\n".to_vec(), "this is a PDF, not what its name says"),
        ("utf16.md", utf16, "this is not text: there are many zero bytes in it"),
        ("scan.pdf", b"no pdf at all".to_vec(), "this is no PDF"),
        ("locked.pdf", b"%PDF-1.7\ntrailer << /Encrypt 5 0 R >>\n".to_vec(), "this is a locked PDF"),
        ("damaged.pdf", b"%PDF-1.7\n1 0 obj\n".to_vec(), "this PDF is damaged"),
        ("broken.docx", b"PK\x03\x04 and nothing else".to_vec(), "this is no .docx"),
        ("old.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec(), "an old .doc, or a .docx with a password"),
    ]
}

#[test]
fn bad_document_does_not_lose_the_others() {
    let (alone, _) = assess(&project(""), "", 0);
    let mut all = project("");
    for (name, bytes, expect) in bad_files() {
        let project = project("").with(&format!("docs/{name}"), &bytes);
        let (report, said) = assess(&project, "-q", 4);
        assert!(said.contains(name) && said.contains(expect), "{name}: {said}");
        let unreadable = &report["bundles"][0]["unreadable"];
        assert_eq!((&unreadable[0]["name"], &unreadable[0]["golden_parts"]), (&json!(name), &json!(0)));
        assert!(unreadable[0]["why"].as_str().unwrap().contains(expect), "{unreadable}");
        let warning = format!("services: {name} is left out, since it cannot be read: ");
        assert!(report["warnings"].to_string().contains(&warning), "{}", report["warnings"]);
        assert_eq!((&report["assessments"], &report["retrieval"]), (&alone["assessments"], &alone["retrieval"]));
        project.run(&format!("assess {RECORD_FILE} {FAST} --strict")).expect_error(4, &[name, expect]);
        project.run(&format!("check {RECORD_FILE}")).expect(4);
        all = all.with(&format!("docs/{name}"), &bytes);
    }
    let (report, _) = assess(&all, "--name all", 4);
    assert_eq!(report["bundles"][0]["unreadable"].as_array().unwrap().len(), bad_files().len());
    assert_eq!(report["assessments"], alone["assessments"]);
    // It is stored and drawn like any other.
    assert!(all.ok("report all").contains("scan.pdf is left out"));
    let none = Project::new()
        .with("templates/security/config.yml", TEMPLATE)
        .with(RECORD_FILE, RECORD)
        .with("docs/services.md", "");
    none.run(&format!("assess {RECORD_FILE} {FAST}")).expect_error(4, &["services.md: the file is empty"]);
}

/// What a document that cannot be read should hold is missed, at the stage where it was lost.
#[test]
fn golden_parts_of_a_bad_document_are_missed() {
    let audit = "        document: services.md\n        title: \"3.1 Audits\"";
    let project = project("").with("docs/annex.pdf", "no pdf");
    project.write(RECORD_FILE, RECORD.replace(audit, &audit.replace("services.md", "annex.pdf")));
    let (report, _) = assess(&project, "", 4);
    assert_eq!(report["bundles"][0]["unreadable"][0]["golden_parts"], 1);
    let lost = &report["assessments"]["baseline"]["requirements"][1]["parts"][0]["lost"];
    // The section is in the other document, so it is compared with that.
    assert_eq!(*lost, Value::Null);
    let said = project.read("docs/services.md").replace("## 3.1 Audits", "## 9.9 Remarks");
    project.write("docs/services.md", said);
    let (report, _) = assess(&project, "", 4);
    assert_eq!(report["assessments"]["baseline"]["requirements"][1]["parts"][0]["lost"], "not_ingested");
    assert!(report["warnings"].to_string().contains("1 golden part in it counts as missed"));
}

#[test]
fn golden_parts_that_differ_slightly_are_loaded_with_a_warning() {
    let project = project("");
    let (exact, _) = assess(&project, "", 0);
    project.write(RECORD_FILE, RECORD.replace("once a year", "twice a year"));
    let (report, said) = assess(&project, "", 0);
    // 14 of 15 words, the heading's included.
    let message = "`audit` has 93 % of its words in “3.1 Audits” (lines 11–13), where it counts as found";
    assert!(said.contains("warning[inexact-part]") && said.contains(message), "{said}");
    let inexact = &report["bundles"][0]["inexact"];
    assert_eq!((&inexact[0]["requirement_id"], &inexact[0]["part"]), (&json!("audits"), &json!("audit")));
    assert!((inexact[0]["coverage"].as_f64().unwrap() - 14.0 / 15.0).abs() < 1e-9, "{inexact}");
    assert!(report["warnings"].to_string().contains("services: 1 golden part differs"), "{}", report["warnings"]);
    assert_eq!(report["assessments"], exact["assessments"]);
    project.run(&format!("assess {RECORD_FILE} {FAST} --strict")).expect_error(4, &["error[inexact-part]"]);
    let checked = project.run(&format!("check {RECORD_FILE}")).expect(0);
    assert!(checked.out.contains("inexact-part"), "{}", checked.out);
    project.run(&format!("check {RECORD_FILE} --strict")).expect(4);
    // A title may differ, too, as long as it does not contradict.
    project.write(RECORD_FILE, RECORD.replace("\"3.1 Audits\"", "\"3.1 Audit\""));
    let (report, said) = assess(&project, "", 0);
    assert!(said.contains("the record has the title “3.1 Audit”"), "{said}");
    assert_eq!(report["assessments"], exact["assessments"]);
    // What no citation could count for is still refused.
    project
        .write(RECORD_FILE, RECORD.replace("may audit the security of the Supplier", "may ask a third party to look"));
    project.run(&format!("assess {RECORD_FILE} {FAST}")).expect_error(4, &["text-not-found"]);
}

#[test]
fn heading_decides_between_sections_with_the_same_text() {
    let clause = "The Supplier shall keep records of all work that it carries out on behalf of the Customer, shall make them \
                  available to the authority on request, and shall review them at least once a year, together with the \
                  persons who are responsible for the systems in which the data of the Customer are processed every day.";
    let document = format!("# Agreement\n\n## 3.3 Records\n\n{clause}\n\n## 6.2 Backups\n\n{clause}\n");
    let project = project("").with("docs/services.md", format!("{AGREEMENT}\n## 7.1 Retention\n\n{clause}\n"));
    let record = RECORD.replace("\"3.1 Audits\"", "\"6.2 Backups\"");
    let record = record.replace("The Customer may audit the security of the Supplier once a year.", clause);
    let record =
        record.replacen("document: services.md\n        title: \"6.2", "document: annex.md\n        title: \"6.2", 1);
    let project = project.with("docs/annex.md", document).with(RECORD_FILE, record);
    let (report, _) = assess(&project, "", 0);
    let ranked = report["retrieval"]["requirements"][1]["ranked"].as_array().unwrap();
    let of = |heading: &str| {
        let found =
            ranked.iter().find(|part| part["heading"] == heading).unwrap_or_else(|| panic!("{heading}: {ranked:?}"));
        found["golden"]["audit"].clone()
    };
    assert_eq!(["6.2 Backups", "3.3 Records", "7.1 Retention"].map(of), [json!("exact"), json!("weak"), json!("weak")]);
}
