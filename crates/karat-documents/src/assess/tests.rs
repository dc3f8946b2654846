//! Faults and lints of golden records.

use super::{discover, holds_records};
use fixtures::{
    CONTRACT, RECORD, TEMPLATE, assert_lines, check_changed, check_faults, check_lints, files, folder, load_record,
    render_diagnostics,
};

mod fixtures;

#[test]
fn valid_record_is_loaded() {
    let (_folder, bundle) = load_record(&files(RECORD));
    let bundle = bundle.unwrap();
    assert_eq!((bundle.record.bundle.as_str(), bundle.template.id.as_str()), ("contract", "privacy"));
    assert_eq!(bundle.documents.len(), 1);
    assert_eq!(bundle.hashes[0], blake3::hash(CONTRACT.as_bytes()).to_hex().to_string());
    assert_eq!(bundle.record.question_answers[0].answer.to_string(), "energy");
    let evidence_locations: Vec<_> =
        bundle.evidence_locations.iter().flatten().flatten().map(|s| (s.section, s.sections, s.coverage)).collect();
    assert_eq!(evidence_locations, [(2, 1, 1.0), (3, 1, 1.0)]);
    check_lints(&files(RECORD), "");
}

#[test]
fn faults_of_shape_and_version() {
    check_changed(
        "\"0.4\"",
        "\"0.3\"",
        "1:17 unknown-version: records of version \"0.3\" are not known; this version of Karat reads \"0.4\" [bring the record into the form of 0.4, as docs/formats.md has it]\n",
    );
    check_changed(
        "\"0.4\"",
        "0.4",
        "1:17 wrong-type: expected text for `schema_version`, found the number 0.4 [quote it: \"0.4\"]\n",
    );
    check_changed(
        "schema_version: \"0.4\"\n",
        "",
        "1:1 missing-key: the key `schema_version` is missing [`schema_version`: The version of this format, `\"0.4\"` in quotes.]\n",
    );
    check_changed(
        "yes",
        "yess",
        "9:17 unknown-value: expected one of `no`, `partial`, `yes`, `not_applicable` for `assessment`, found the text \"yess\" [did you mean `yes`?]\n",
    );
    check_changed(
        "    supporting_evidence: {}\n    rationale: Stated.",
        "    rationale: Stated.",
        "9:5 missing-key: the key `supporting_evidence` is missing in `security` [`supporting_evidence`: The parts that back those that decide, by ids of your own; `{}` where there are none.]\n",
    );
    check_changed(
        "supporting_evidence: {}\n    rationale: Stated.",
        "supporting_evidence:\n    rationale: Stated.",
        "17:5 wrong-type: expected a mapping for `supporting_evidence`, found nothing [give `supporting_evidence` a value; `{}` stands for an empty one]\n",
    );
    check_changed(
        "    rationale: Stated.",
        "    rationle: Stated.",
        "18:5 unknown-key: unknown key `rationle` [did you mean `rationale`?]\n",
    );
    check_changed(
        "sector: energy",
        "sector: { a: b }",
        "6:13 wrong-type: expected text or a number or `true` or `false` or a list for `sector`, found a mapping [expected text or a number or `true` or `false` or a list]\n",
    );
    check_faults(&files(""), "1:1 empty-file: the file is empty\n");
    check_faults(&files("- a\n- b\n"), "1:1 wrong-type: expected a mapping, found a list [expected a mapping]\n");
    check_faults(
        &files("schema_version: \"0.4\"\nbundle_id: b\ntemplate_id: privacy\nrequirements: {}\n"),
        "4:15 no-requirements: a record says what is true of at least one requirement, and this one has none\n",
    );
}

#[test]
fn faults_of_ids_and_names() {
    check_changed(
        "bundle_id: contract",
        "bundle_id: ' contract'",
        "2:12 bad-id: the id \" contract\" has leading or trailing spaces, or control characters\n",
    );
    check_changed(
        "bundle_id: contract",
        "bundle_id: ''",
        "2:12 too-short: expected text of at least 1 character for `bundle_id`, found 0 characters [expected at least 1 character]\n",
    );
    check_changed(
        "template_id: privacy",
        "template_id: ../privacy",
        "3:14 bad-id: the id \"../privacy\" looks like a path to another folder\n",
    );
    check_changed(
        "template_id: privacy",
        "template_id: a/privacy",
        "3:14 bad-id: template_id \"a/privacy\": expected the name of one folder below templates/\n",
    );
    check_changed(
        "template_id: privacy",
        "template_id: privcy",
        "3:14 unknown-template: there is no template `privcy`: looked for templates/privcy/config.yml in ./bundles/a and the folders above it up to . [did you mean `privacy`?]\n",
    );
    check_changed(
        "template_id: privacy",
        "template_id: gdpr",
        "3:14 unknown-template: there is no template `gdpr`: looked for templates/gdpr/config.yml in ./bundles/a and the folders above it up to . [there is: privacy]\n",
    );
    check_changed(
        "  notices:",
        "  notises:",
        "19:3 unknown-requirement: the template `privacy` has no requirement `notises` [did you mean `notices`?]\n",
    );
    check_changed(
        "  notices:",
        "  encryption:",
        "19:3 unknown-requirement: the template `privacy` has no requirement `encryption` [there is: security, notices]\n",
    );
    check_changed(
        "    sector:",
        "    sektor:",
        "6:5 unknown-question: the template `privacy` has no question `sektor` [did you mean `sector`?]\n",
    );
    check_changed("      measures:", "      ' ':", "11:7 bad-id: an id must not be blank\n");
    check_changed(
        "  notices:",
        "  12:",
        "19:3 unknown-requirement: the template `privacy` has no requirement `12` [there is: security, notices]\n",
    );
    check_changed(
        "document: contract.md\n        title: 2",
        "document: contrat.md\n        title: 2",
        "23:19 unknown-document: there is no document `contrat.md` beside the record [did you mean `contract.md`?]\n",
    );
    check_changed(
        "document: contract.md\n        title: 2",
        "document: ../contract.md\n        title: 2",
        "23:19 not-a-name: document \"../contract.md\": expected the name of a file beside the record, without a path\n",
    );
    check_changed(
        "document: contract.md\n        title: 2",
        "document: a.golden-assessment.yml\n        title: 2",
        "23:19 unknown-document: there is no document `a.golden-assessment.yml` beside the record [there is: contract.md]\n",
    );
    check_changed("title: 2.3 Notices", "title: ' '", "24:16 blank: `title` of `address` is blank\n");
    check_changed("title: 2.3 Notices", "title: '—'", "24:16 blank: `title` of `address` has no words\n");
    check_changed(
        "text: Security notices are sent to the address of the Controller.",
        "text: ''",
        "25:15 too-short: expected text of at least 1 character for `text`, found 0 characters [expected at least 1 character]\n",
    );
}

#[test]
fn part_is_either_primary_or_supporting() {
    let both = "supporting_evidence:
      measures:
        document: contract.md
        title: 2.1 Encryption
        text: The Processor shall encrypt personal data at rest and in transit, at the address of the Controller.
    rationale: Stated.";
    check_changed(
        "supporting_evidence: {}\n    rationale: Stated.",
        both,
        "18:7 part-in-both: the part `measures` stands under primary_evidence already, on line 11 [a part decides or it backs what decides: remove one of the two, or rename one that is another part]\n",
    );
    let twice = "primary_evidence:\n      measures: {document: a, title: b, text: c}\n      measures:";
    let record = RECORD.replacen("primary_evidence:\n      measures:", twice, 1);
    check_faults(
        &files(&record),
        "11:28 unknown-document: there is no document `a` beside the record [there is: contract.md]\n\
         12:7 duplicate-key: the key `measures` is given twice [remove one of the two]\n",
    );
}

#[test]
fn texts_must_be_in_the_named_section() {
    check_changed(
        "organisational\n",
        "organizational\n",
        "15:11 inexact-part: `measures` has 94 % of its words in “2.2 Security Measures” (lines 7–10), where it counts as found [after “shall implement technical and” the record has “organizational measures to protect personal” and the document has “organisational measures to protect personal”]\n",
    );
    check_changed(
        "          The Processor shall implement",
        "          A supplier shall implement",
        "15:11 text-not-found: the text of `measures` is not in contract.md [nearest is “2.2 Security Measures” (lines 7–10), with 86 % of its words; before “shall implement technical and organisational” the record has “a supplier” and the document “the processor”]\n",
    );
    check_changed(
        "2.2 Security Measures",
        "2.1 Encryption",
        "13:16 wrong-section: the text of `measures` is not under “2.1 Encryption” [it is under “2.2 Security Measures” (lines 7–10)]\n",
    );
    check_changed(
        "2.2 Security Measures",
        "Security measures",
        "13:16 inexact-part: `measures` has 100 % of its words in “2.2 Security Measures” (lines 7–10), where it counts as found [the record has the title “Security measures”]\n",
    );
    check_changed(
        "2.3 Notices",
        "2.3 Noticse",
        "24:16 inexact-part: `address` has 92 % of its words in “2.3 Notices” (lines 12–14), where it counts as found [the record has the title “2.3 Noticse”]\n",
    );
    check_changed(
        "2.3 Notices\n        text: Security",
        "2.3 Noticse\n        text: Safety",
        "24:16 unknown-title: contract.md has no heading “2.3 Noticse” [did you mean “2.3 Notices” (lines 12–14)?]\n\
         25:15 text-not-found: the text of `address` is not in contract.md [nearest is “2.3 Notices” (lines 12–14), with 90 % of its words; before “notices are sent to the” the record has “safety” and the document “security”]\n",
    );
    check_changed(
        "text: Security notices are sent to the address of the Controller.",
        "text: Bananas ripen quickly in paper bags.",
        "25:15 text-not-found: the text of `address` is not in contract.md [no section of the document is like it; is it the right document?]\n",
    );
    check_changed(
        "          The Processor shall implement",
        "          2.2 Security Measures\n          The Processor shall implement",
        "15:11 text-has-heading: the text of `measures` begins with its heading, which has a place of its own [remove the heading from `text`: `title` has it, and `text` is what stands below it]\n",
    );
    let mut other = files(&RECORD.replacen("document: contract.md", "document: annex.md", 1));
    other.push(("bundles/a/annex.md", "# Annex\n\nNothing here.\n".to_owned()));
    check_faults(
        &other,
        "12:19 wrong-document: the text of `measures` is not in annex.md [it is in contract.md, under “2.2 Security Measures” (lines 7–10)]\n",
    );
}

#[test]
fn unreadable_documents_are_reported() {
    let mut broken = files(RECORD);
    broken.push(("bundles/a/scan.pdf", "no pdf at all".to_owned()));
    broken.push(("bundles/a/empty.md", String::new()));
    // None of these is a document to assess.
    broken.push(("bundles/a/contract.golden.md", String::new()));
    broken.push(("bundles/a/.hidden.md", String::new()));
    broken.push(("bundles/a/notes.txt", String::new()));
    check_faults(
        &broken,
        "bundles/a/empty.md bad-document: empty.md: the file is empty; is it the right one?\n\
         bundles/a/scan.pdf bad-document: scan.pdf: this is no PDF: it does not start like one; is it the right file?\n",
    );
    let mut none = files(RECORD);
    none.retain(|(path, _)| !path.ends_with(".md"));
    check_faults(
        &none,
        "no-documents: there is no document beside the record [put .md, .pdf or .docx files into the folder of the record; *.golden.* files do not count]\n",
    );
}

#[test]
fn all_faults_of_a_template_are_reported() {
    let check = |template: &str, expect: &str| {
        let mut all = files(RECORD);
        all.retain(|(path, _)| !path.starts_with("templates"));
        all.push(("templates/privacy/config.yml", template.to_owned()));
        check_faults(&all, expect);
    };
    check(
        "requirements: {}\n",
        "templates/privacy/config.yml 1:15 no-requirements: a template has at least one requirement, and this one has none\n",
    );
    check(
        "requirements:
  security: { title: t, description: d, applies_when: { sektor: yes, size: large } }
  notices: { title: t, description: d }
llm_endpoints: { told: { provider: scriptd } }
embedding_providers: { own: { provider: htp } }
rerank_providers: { own: { provider: folder, path: p } }
questions: { sector: Which? }
",
        "templates/privacy/config.yml 2:57 unknown-question: there is no question `sektor` in this template [did you mean `sector`?]\n\
         templates/privacy/config.yml 2:70 unknown-question: there is no question `size` in this template [state it under `questions`]\n\
         templates/privacy/config.yml 4:36 unknown-provider: unknown provider `scriptd`; expected one of anthropic, openai, google, scripted, replay [did you mean `scripted`?]\n\
         templates/privacy/config.yml 5:41 unknown-provider: unknown provider `htp`; expected one of folder, http, none [did you mean `http`?]\n",
    );
    check(
        "requirements:
  security:
    title: ' '
    description: d
    queries: { english: security, sv: ' ' }
    guidance: { yess: when, partial: sometimes }
    signs:
      - about: encryption
        any: [encrypt, '  ']
      - about: x
        any: []
  notices: { title: t, description: d, signz: [] }
search: { language: Swedish, bm25_weight: 1.5, search_limit: 0 }
scoring: { thresholds: { whole: 0.4, weak: 0.5 }, k: 0, primary_weight: -1 }
questions: { sector: '' }
",
        "templates/privacy/config.yml 3:12 blank: the title is blank\n\
         templates/privacy/config.yml 5:16 bad-language: \"english\" is no name of a language; expected one such as `en`, `sv` or `de` [did you mean `en`?]\n\
         templates/privacy/config.yml 5:39 blank: the query is blank\n\
         templates/privacy/config.yml 6:17 unknown-verdict: unknown verdict `yess`; expected one of yes, partial, no, not_applicable [did you mean `yes`?]\n\
         templates/privacy/config.yml 9:24 blank: the words to look for are blank\n\
         templates/privacy/config.yml 11:14 too-short: expected a list of at least 1 item for `any`, found 0 items [expected at least 1 item]\n\
         templates/privacy/config.yml 12:40 unknown-key: unknown key `signz` [did you mean `signs`?]\n\
         templates/privacy/config.yml 13:21 bad-language: \"Swedish\" is no name of a language; expected one such as `en`, `sv` or `de` [did you mean `sv`?]\n\
         templates/privacy/config.yml 13:43 out-of-range: expected a number of at most 1.0 for `bm25_weight`, found the number 1.5 [expected a number of at most 1.0]\n\
         templates/privacy/config.yml 13:62 out-of-range: expected a number of at least 1 for `search_limit`, found the number 0 [expected a number of at least 1]\n\
         templates/privacy/config.yml 14:44 bad-rule: thresholds.weak = 0.5: expected at most thresholds.whole, 0.4\n\
         templates/privacy/config.yml 14:54 bad-rule: k = 0: expected at least 1\n\
         templates/privacy/config.yml 14:73 bad-rule: primary_weight = -1: expected a number above 0\n\
         templates/privacy/config.yml 15:22 blank: the question is blank\n",
    );
}

#[test]
fn template_of_the_nearest_folder_is_used() {
    let mut near = files(RECORD);
    near.push(("bundles/templates/privacy/config.yml", TEMPLATE.replace("title: Security", "title: Nearer")));
    let (folder, bundle) = load_record(&near);
    let template = bundle.unwrap_or_else(|faults| panic!("{}", render_diagnostics(&folder, &faults))).template;
    assert_eq!(template.config.requirements.get("security").unwrap().title, "Nearer");
    assert!(template.display_path().ends_with("bundles/templates/privacy/config.yml"), "{}", template.display_path());
    // Folders above the suite are not searched.
    let mut above: Vec<(String, String)> = files(RECORD).into_iter().map(|(p, c)| (format!("suite/{p}"), c)).collect();
    above.retain(|(path, _)| !path.contains("templates/"));
    above.push(("templates/privacy/config.yml".to_owned(), TEMPLATE.to_owned()));
    let named: Vec<(&str, &str)> = above.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect();
    let folder = self::folder(&named);
    let load = || {
        let places = discover(&[folder.path().join("suite").display().to_string()], true).unwrap();
        super::load(&places[0], &mut super::FilesOnly)
    };
    let faults = load().map(|bundle| bundle.record).expect_err("a template above the suite was found");
    assert_eq!(faults.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["unknown-template"]);
    std::fs::remove_file(folder.path().join("suite/karat.toml")).unwrap();
    assert!(load().is_ok(), "without a suite all parent folders are searched");
}

#[test]
fn lints() {
    let change = |from: &str, to: &str| {
        assert!(RECORD.contains(from), "{from}");
        files(&RECORD.replacen(from, to, 1))
    };
    check_lints(
        &change(" to the address of the Controller.", " to the address"),
        "19:3 no-neighbour: no other section is near the evidence of `notices`\n\
         22:7 part-of-clause: `address` is 70 % of “2.3 Notices” (lines 12–14)\n",
    );
    let spans = "2.1 Encryption\n        text: The Processor shall encrypt personal data at rest and in transit, at the address of the Controller. 2.2 Security Measures The Processor shall implement technical and organisational measures to protect personal data against loss.";
    check_lints(
        &change("2.3 Notices\n        text: Security notices are sent to the address of the Controller.", spans),
        "22:7 several-clauses: `address` spans 2 sections, from “2.1 Encryption” (lines 3–5) on\n",
    );
    check_lints(&change("rationale: Stated.", "rationale: ' '"), "8:3 no-rationale: `security` has no rationale\n");
    let record = RECORD.split("  notices:").next().unwrap();
    check_lints(&files(record), "7:1 missing-requirement: of the template, these requirements are missing: notices\n");
    check_lints(
        &change("assessment: yes", "assessment: not_applicable"),
        "10:5 primary-not-applicable: `security` is `not_applicable` and has primary evidence\n",
    );
    let repeated = "supporting_evidence:
      again:
        document: contract.md
        title: 2.2 Security Measures
        text: The Processor shall implement technical and organisational measures to protect personal data against loss.
    rationale: Stated.";
    check_lints(
        &change("supporting_evidence: {}\n    rationale: Stated.", repeated),
        "18:7 supporting-repeats-primary: `again` says nearly the same as the primary `measures`\n",
    );
    let empty = RECORD
        .replace("primary_evidence:\n      address:", "primary_evidence: {}\n    supporting_evidence:\n      address:");
    let empty = empty.replace("    supporting_evidence: {}\n    rationale: Half", "    rationale: Half");
    check_lints(&files(&empty), "21:5 no-primary: `notices` is `partial` without primary evidence\n");
    let mut doubled = files(RECORD);
    doubled.push(("bundles/a/copy.md", CONTRACT.replace("Agreement", "Copy")));
    check_lints(
        &doubled,
        "11:7 ambiguous-part: `measures` stands in other sections, too: “2.2 Security Measures” (lines 7–10) of copy.md\n\
         22:7 ambiguous-part: `address` stands in other sections, too: “2.3 Notices” (lines 12–14) of copy.md\n",
    );
    let many: String = (0..4).map(|n| format!("      p{n}:\n        document: contract.md\n        title: 2.1 Encryption\n        text: The Processor shall encrypt personal data at rest and in transit, at the address of the Controller.\n")).collect();
    let many = RECORD.replacen(
        "    primary_evidence:\n      measures:",
        &format!("    primary_evidence:\n{many}      measures:"),
        1,
    );
    check_lints(&files(&many), "10:5 many-primary: `security` has 5 primary parts\n");
    let third = format!(
        "{}  third:\n    assessment: yes\n    primary_evidence: {{}}\n    supporting_evidence: {{}}\n    rationale: x\n",
        RECORD.replace("partial", "yes")
    );
    let mut same = files(&third);
    same[1].1 = TEMPLATE.replace("questions:", "  third: { title: Third, description: d }\nquestions:");
    check_lints(
        &same,
        "7:1 one-verdict: all of its 3 requirements are `yes`\n\
         30:5 no-primary: `third` is `yes` without primary evidence\n",
    );
}

#[test]
fn every_lint_has_an_explanation_and_help() {
    let mut names = std::collections::BTreeSet::new();
    for lint in super::lint::LINTS {
        assert!(names.insert(lint.name), "{} stands twice", lint.name);
        assert!(lint.why.len() > 20 && lint.fix.len() > 10, "{}", lint.name);
    }
}

#[test]
fn records_are_found_once_and_sorted() {
    let all = [
        ("b/x.golden-assessment.yml", ""),
        ("b/.karat/y.golden-assessment.yml", ""),
        ("b/.git/y.golden-assessment.yml", ""),
        ("a/deep/er/z.golden-assessment.yaml", ""),
        ("a/other.yml", ""),
        ("a/.golden-assessment.yml", ""),
    ];
    let folder = folder(&all);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let found = |paths: &[String], recursive| match discover(paths, recursive) {
        Ok(places) => places
            .iter()
            .map(|place| format!("{}\n", place.display_path()))
            .collect::<String>()
            .replace(&format!("{}/", folder.path().display()), ""),
        Err(faults) => render_diagnostics(&folder, &faults.0),
    };
    assert_eq!(found(&[path("")], true), "a/deep/er/z.golden-assessment.yaml\nb/x.golden-assessment.yml\n");
    let twice = [path("b/x.golden-assessment.yml"), path("b"), path("a/../b/x.golden-assessment.yml")];
    assert_eq!(found(&twice, true), "a/../b/x.golden-assessment.yml\n");
    let check = |name: &str, recursive: bool, expect: &str| {
        let message = found(&[path(name)], recursive);
        assert_lines(&message, expect);
    };
    check(
        "b",
        false,
        "b folder: this is a folder; its records are looked for (**/*.golden-assessment.yml) only with -r [add -r, or give the record itself]\n",
    );
    check(
        "a/other.yml",
        false,
        "a/other.yml not-a-record: this is not named like a golden record: expected a name that ends in .golden-assessment.yml [rename the file, or give the record that lies beside the documents]\n",
    );
    check(
        "nowhere",
        true,
        "nowhere no-such-place: missing file or folder [give a file that ends in .golden-assessment.yml, or a folder]\n",
    );
    check("b/.karat", true, "b/.karat/y.golden-assessment.yml\n");
    std::fs::create_dir(path("c")).unwrap();
    check(
        "c",
        true,
        "c no-records: no golden record here: no file **/*.golden-assessment.yml or **/*.golden-assessment.yaml [hidden folders are not searched; docs/formats.md shows a record]\n",
    );
    std::fs::create_dir(path("c/d.golden-assessment.yml")).unwrap();
    check("c", true, "not-a-file: this is a folder with the name of a golden record [rename the folder]\n");
    check(
        "c/d.golden-assessment.yml",
        true,
        "not-a-file: this is a folder with the name of a golden record [rename the folder]\n",
    );
    assert_lines(
        &found(&["starter".to_owned()], false),
        "starter (built in)/karat.toml wrong-kind: kind = \"findings\": this suite holds findings to score, not documents to assess [set kind = \"assessment\", or have its folders searched for golden records with -r]\n",
    );
    assert_lines(
        &found(&["agreement".to_owned()], false),
        "agreement no-such-place: missing file or folder [did you mean the suite `agreements`?]\n",
    );
    assert!(holds_records(&path("b")) && holds_records(&path("nowhere/x.golden-assessment.yml")));
    assert!(holds_records("agreements") && !holds_records("starter") && !holds_records(&path("nowhere")));
    std::fs::create_dir(path("b/cases")).unwrap();
    assert!(!holds_records(&path("b")));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_refused() {
    use std::os::unix::fs::symlink;
    let mut all = files(RECORD);
    all.push(("outside.md", CONTRACT.to_owned()));
    let named: Vec<(&str, &str)> = all.iter().map(|(path, content)| (*path, content.as_str())).collect();
    let folder = folder(&named);
    let path = |name: &str| folder.path().join(name);
    // A cycle of links neither hangs nor duplicates records.
    symlink(path("bundles"), path("bundles/a/circle")).unwrap();
    symlink(path("bundles/a/a.golden-assessment.yml"), path("bundles/a/b.golden-assessment.yml")).unwrap();
    let suite = || discover(&[folder.path().display().to_string()], false);
    assert_eq!(suite().unwrap().len(), 1);
    let load = || {
        let places = discover(&[path("bundles/a/a.golden-assessment.yml").display().to_string()], false).unwrap();
        super::load(&places[0], &mut super::FilesOnly)
    };
    assert!(load().is_ok());
    symlink(path("outside.md"), path("bundles/a/annex.md")).unwrap();
    assert_lines(
        &render_diagnostics(&folder, &load().map_or_else(|faults| faults, |bundle| bundle.problems)),
        "bundles/a/annex.md path-escapes: this link leads out of the folder of the record, or to nothing [put the document itself there]\n",
    );
    symlink("/etc", path("bundles/etc")).unwrap();
    assert_lines(
        &render_diagnostics(&folder, &suite().expect_err("taken").0),
        "bundles/etc path-escapes: this link leads out of the folder that is searched, or to nothing [put what it leads to there, or remove it]\n",
    );
}
