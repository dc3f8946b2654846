//! `karat ingest`: its output, and real agreements.

use crate::data::shared;
use crate::project::Project;
use insta::assert_snapshot;
use serde_json::Value;
use std::path::{Path, PathBuf};

const CONTRACT: &str = "\
# Agreement

Between us.

**1. Scope**

All of it is meant.

2. Security

**2.3 Security Measures**

The processor shall act:

- soon
- well

| what | when |
|---|---|
| keys | daily |
";

#[test]
fn document_is_shown_as_a_tree() {
    let project = Project::new().with("contract.md", CONTRACT).with("b.md", "---\nx: 1\n---\nWords \u{1b}[31m.\n");
    assert_snapshot!(project.ok("ingest contract.md b.md"), @r"
    contract.md (markdown, 4 sections, 21 words)
      Agreement                                                                       lines 1–3, 2 words
        1. Scope                                                                      lines 5–7, 5 words
        2. Security                                                                      line 9, 0 words
          2.3 Security Measures                                                    lines 11–20, 14 words

    b.md (markdown, 1 section, 2 words)
      (before the first heading)                                                         line 4, 2 words
    note: front matter left out (lines 1–3)
    ");
    assert_snapshot!(project.ok("ingest contract.md -v"), @r"
    contract.md (markdown, 4 sections, 21 words)
      Agreement                                                                       lines 1–3, 2 words
        id 9d13d0d6bf294882
        Between us.
        1. Scope                                                                      lines 5–7, 5 words
          id 01b8a260842976f1
          All of it is meant.
        2. Security                                                                      line 9, 0 words
          id e6332b3932022737
          2.3 Security Measures                                                    lines 11–20, 14 words
            id 35bb48fd38bb695d
            The processor shall act:

            - soon
            - well

            what | when
            keys | daily
    ");
}

#[test]
fn json_has_every_field_of_a_section() {
    let project = Project::new().with("contract.md", CONTRACT);
    let documents = project.json("ingest contract.md --json");
    let sections = documents[0]["sections"].as_array().unwrap();
    let last = sections.last().unwrap();
    assert_eq!((&documents[0]["name"], &documents[0]["format"]), (&"contract.md".into(), &"markdown".into()));
    assert_eq!(last["heading"], "2.3 Security Measures");
    assert_eq!(last["number"], "2.3");
    assert_eq!(last["path"], serde_json::json!(["Agreement", "2. Security"]));
    assert_eq!(last["place"], serde_json::json!({ "unit": "line", "first": 11, "last": 20 }));
    assert_eq!(last["body"], "The processor shall act:\n\n- soon\n- well\n\nwhat | when\nkeys | daily");
    assert_eq!(last["id"].as_str().map(str::len), Some(16));
}

#[test]
fn unreadable_documents_are_reported() {
    let project = Project::new().with("a.md", "x").with("e.md", "").with("p.pdf", "no pdf").with("d.docx", "PK no zip");
    project.run("ingest").expect(2);
    project.run("ingest missing.md").expect_error(4, &["missing.md"]);
    project.run("ingest .").expect_error(4, &["."]);
    project.run("ingest a.txt").expect(4);
    project.write("a.txt", "x");
    project.run("ingest a.txt").expect_error(2, &["a.txt: unsupported kind of document; supported: .md"]);
    project.run("ingest e.md").expect_error(4, &["e.md: the file is empty"]);
    project.run("ingest p.pdf").expect_error(4, &["p.pdf: this is no PDF"]);
    // The others are shown all the same.
    let ran = project.run("ingest d.docx a.md e.md").expect_error(4, &["d.docx: this is no .docx", "e.md: the file"]);
    assert!(ran.out.starts_with("a.md (markdown, 1 section"), "{}", ran.out);
    project.write("sub/a.md", "y");
    project
        .run("ingest a.md sub/a.md --session s")
        .expect_error(2, &["two documents are named a.md", "keep them by bundle with `karat assess --session s`"]);
}

/// All files below a folder with this extension.
fn find_files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path)
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path)
            }
        }
    }
    found.sort();
    found
}

fn sections(path: &Path) -> Vec<Value> {
    let ran = Project::new().run_list(&["ingest", &path.display().to_string(), "--json"]).expect(0);
    let documents: Value = serde_json::from_str(&ran.out).unwrap();
    documents[0]["sections"].as_array().unwrap().clone()
}

fn collect_headings(sections: &[Value]) -> Vec<&str> {
    sections.iter().filter_map(|section| section["heading"].as_str()).collect()
}

fn find_body<'s>(sections: &'s [Value], heading: &str) -> &'s str {
    let found = sections.iter().find(|section| section["heading"] == heading);
    found.unwrap_or_else(|| panic!("there is no {heading:?} in {:?}", collect_headings(sections)))["body"]
        .as_str()
        .unwrap()
}

#[test]
fn real_markdown_agreements_have_their_sections() {
    let Some(folder) = shared("contracts") else { return };
    let terms = sections(&folder.join("CommonPaper-Mutual-NDA/Mutual-NDA.md"));
    assert_eq!(
        collect_headings(&terms)[..3],
        ["Standard Terms", "1. Introduction", "2. Use and Protection of Confidential Information"]
    );
    assert_eq!(terms.last().unwrap()["number"], "11");
    assert!(
        find_body(&terms, "3. Exceptions").starts_with("The Receiving Party’s obligations in this MNDA do not apply")
    );
    let cover = sections(&folder.join("CommonPaper-Mutual-NDA/Mutual-NDA-coverpage.md"));
    assert!(find_body(&cover, "MNDA Term").contains("- [x] Expires [1 year(s)] from Effective Date.\n- [ ] Continues"));
    assert!(find_body(&cover, "MNDA Modifications").contains(" | PARTY 1 | PARTY 2\nSignature |"));
}

#[test]
fn real_word_agreements_have_their_sections() {
    let Some(folder) = shared("contracts/docx/templates") else { return };
    let all = find_files(&folder, "docx");
    assert!(all.len() >= 20, "{}", all.len());
    for path in &all {
        let sections = sections(path);
        let headings = collect_headings(&sections);
        assert!(!headings.is_empty(), "{}", path.display());
        // Headings are titles, not whole clauses.
        let long: Vec<&&str> = headings.iter().filter(|heading| heading.chars().count() > 120).collect();
        assert!(long.is_empty(), "{}: {long:?}", path.display());
    }
    let template_sections =
        |name: &str| sections(&folder.join(format!("common-paper-cc-by-4.0/common-paper-{name}/template.docx")));
    // Cross-references show the clause's number.
    let service = template_sections("cloud-service-agreement");
    assert!(find_body(&service, "6.4 Provider Warranty Remedy").contains("the warranty in Section 6.3"));
    assert!(find_body(&service, "8.3 Applicability").contains("Sections 8.1 (Liability Caps)"));
    let processing = template_sections("data-processing-agreement");
    let subprocessors = find_body(&processing, "2.6 Subprocessors.");
    assert!(subprocessors.contains("(a) ") && subprocessors.contains("\n(b) "), "{subprocessors}");
    let path = &processing.iter().find(|section| section["number"] == "5.2").unwrap()["path"];
    assert_eq!(path.as_array().unwrap().last().unwrap(), "5. Audit & Reports");
    let nda = template_sections("mutual-nda");
    assert!(nda[0]["body"].as_str().unwrap().contains("\nGoverning Law | The laws of the State of {governing_law}.\n"));
}

/// Agreements whose clauses are numbered by Word: the number of clauses as printed, and one heading.
const NUMBERED: &[(&str, usize, &str)] = &[
    ("ai-addendum", 13, "1.4 Non-Training Improvement"),
    ("business-associate-agreement", 32, "4.3 Security Incident Reimbursement"),
    ("cloud-service-agreement", 71, "12.11 No Third-Party Beneficiary"),
    ("data-processing-agreement", 33, "5.3 Security Due Diligence"),
    ("design-partner-agreement", 33, "7.10. No Third-Party Beneficiary"),
    ("one-way-nda", 11, "6. Return or Destruction of Confidential Information"),
    ("partnership-agreement", 49, "3.4 Samples and Approvals"),
    ("pilot-agreement", 40, "1.7 Reservation of Rights"),
    ("professional-services-agreement", 65, "2.3 Pre-Existing Materials"),
    ("software-license-agreement", 67, "10.16 Signature"),
];

#[test]
fn clause_numbers_of_real_agreements_have_no_gaps() {
    let Some(folder) = shared("contracts/docx/templates/common-paper-cc-by-4.0") else { return };
    for (name, clauses, one) in NUMBERED {
        let sections = sections(&folder.join(format!("common-paper-{name}/template.docx")));
        let numbers: Vec<&str> = sections.iter().filter_map(|section| section["number"].as_str()).collect();
        assert_eq!(numbers.len(), *clauses, "{name}: {:?}", collect_headings(&sections));
        assert!(collect_headings(&sections).contains(one), "{name}: {:?}", collect_headings(&sections));
        let mut before: Vec<usize> = Vec::new();
        for number in &numbers {
            let own: Vec<usize> = number.split('.').map(|n| n.parse().unwrap()).collect();
            // The next sibling of an open clause, or the first child of the last one.
            let beside = (0..before.len()).map(|n| [&before[..n], &[before[n] + 1]].concat());
            let below = [&before[..], &[1]].concat();
            assert!(beside.chain([below]).any(|next| next == own), "{name}: {number} after {before:?}");
            before = own;
        }
    }
}

/// With one gigabyte of memory there is an answer.
#[test]
fn malicious_markdown_needs_bounded_memory() {
    let project = Project::new();
    let long = "x".repeat(10 << 20);
    for (name, text, expect) in [
        ("headings", "# a\n".repeat(4_000_000), "the number of its lines and signs of markup"),
        ("items", "- - - - a\n".repeat(1_500_000), "the number of its lines and signs of markup"),
        ("signs", "*a* ".repeat(4_000_000), "the number of its lines and signs of markup"),
        ("cells", format!("|a|\n|-|\n{}", "|a|\n".repeat(4_000_000)), "the number of its lines and signs of markup"),
        ("sections", "# a\n".repeat(60_000), "the number of its sections"),
        ("repeated", format!("# {long}\n{}", "## a\n".repeat(40_000)), "what its sections repeat of the headings"),
    ] {
        project.write(&format!("{name}.md"), text);
        let ran = project.run_shell(&format!("ulimit -d 1000000; karat ingest {name}.md"));
        assert_eq!(ran.code, Some(4), "{name}: {}", ran.out);
        assert!(ran.out.contains(expect), "{name}: {}", ran.out);
    }
}
