//! Text in, faults and remarks out.

use super::testing::{CONTRACT, RECORD, TEMPLATE, changed, files, folder, loaded, refused, remarked, told};
use super::{discover, holds_records};

#[test]
fn a_sound_record_is_taken_whole() {
    let (_folder, bundle) = loaded(&files(RECORD));
    let bundle = bundle.unwrap();
    assert_eq!((bundle.record.bundle.as_str(), bundle.template.id.as_str()), ("contract", "privacy"));
    assert_eq!(bundle.documents.len(), 1);
    assert_eq!(bundle.files[0].hash, blake3::hash(CONTRACT.as_bytes()).to_hex().to_string());
    assert_eq!(bundle.record.question_answers[0].answer.to_string(), "energy");
    let standings: Vec<_> = bundle.standings.iter().map(|s| (s[0].section, s[0].sections, s[0].coverage)).collect();
    assert_eq!(standings, [(2, 1, 1.0), (3, 1, 1.0)]);
    remarked(&files(RECORD), "@0");
}

#[test]
fn shapes_and_versions() {
    changed("\"0.4\"", "\"0.3\"", "@1");
    changed("\"0.4\"", "0.4", "@2");
    changed("schema_version: \"0.4\"\n", "", "@3");
    changed("yes", "yess", "@4");
    changed("    supporting_evidence: {}\n    rationale: Stated.", "    rationale: Stated.", "@5");
    changed("supporting_evidence: {}\n    rationale: Stated.", "supporting_evidence:\n    rationale: Stated.", "@6");
    changed("    rationale: Stated.", "    rationle: Stated.", "@7");
    changed("sector: energy", "sector: { a: b }", "@8");
    refused(&files(""), "@9");
    refused(&files("- a\n- b\n"), "@10");
    refused(&files("schema_version: \"0.4\"\nbundle_id: b\ntemplate_id: privacy\nrequirements: {}\n"), "@11");
}

#[test]
fn ids_and_names() {
    changed("bundle_id: contract", "bundle_id: ' contract'", "@20");
    changed("bundle_id: contract", "bundle_id: ''", "@21");
    changed("template_id: privacy", "template_id: ../privacy", "@22");
    changed("template_id: privacy", "template_id: a/privacy", "@23");
    changed("template_id: privacy", "template_id: privcy", "@24");
    changed("template_id: privacy", "template_id: gdpr", "@25");
    changed("  notices:", "  notises:", "@26");
    changed("  notices:", "  encryption:", "@27");
    changed("    sector:", "    sektor:", "@28");
    changed("      measures:", "      ' ':", "@29");
    changed("  notices:", "  12:", "@30");
    changed("document: contract.md\n        title: 2", "document: contrat.md\n        title: 2", "@31");
    changed("document: contract.md\n        title: 2", "document: ../contract.md\n        title: 2", "@32");
    changed("document: contract.md\n        title: 2", "document: a.golden-assessment.yml\n        title: 2", "@33");
    changed("title: 2.3 Notices", "title: ' '", "@34");
    changed("title: 2.3 Notices", "title: '—'", "@35");
    changed("text: Security notices are sent to the address of the Controller.", "text: ''", "@36");
}

#[test]
fn a_part_stands_in_one_block() {
    let both = "supporting_evidence:
      measures:
        document: contract.md
        title: 2.1 Encryption
        text: The Processor shall encrypt personal data at rest and in transit.
    rationale: Stated.";
    changed("supporting_evidence: {}\n    rationale: Stated.", both, "@40");
    let twice = "primary_evidence:\n      measures: {document: a, title: b, text: c}\n      measures:";
    let record = RECORD.replacen("primary_evidence:\n      measures:", twice, 1);
    refused(&files(&record), "@41");
}

#[test]
fn texts_stand_where_they_are_said_to() {
    changed("organisational\n", "organizational\n", "@50");
    changed("          The Processor shall implement", "          A supplier shall implement", "@51");
    changed("2.2 Security Measures", "2.1 Encryption", "@52");
    changed("2.2 Security Measures", "Security measures", "@53");
    changed("2.3 Notices", "2.3 Noticse", "@54");
    changed("2.3 Notices\n        text: Security", "2.3 Noticse\n        text: Safety", "@55");
    changed("text: Security notices are sent to the address of the Controller.", "text: Bananas ripen quickly in paper bags.", "@56");
    changed("          The Processor shall implement", "          2.2 Security Measures\n          The Processor shall implement", "@57");
    let mut other = files(&RECORD.replacen("document: contract.md", "document: annex.md", 1));
    other.push(("bundles/a/annex.md", "# Annex\n\nNothing here.\n".to_owned()));
    refused(&other, "@58");
}

#[test]
fn documents_that_cannot_be_taken_are_named() {
    let mut broken = files(RECORD);
    broken.push(("bundles/a/scan.pdf", "no pdf at all".to_owned()));
    broken.push(("bundles/a/empty.md", String::new()));
    // Neither of these is a document to assess.
    broken.push(("bundles/a/contract.golden.md", String::new()));
    broken.push(("bundles/a/.hidden.md", String::new()));
    broken.push(("bundles/a/notes.txt", String::new()));
    refused(&broken, "@60");
    let mut none = files(RECORD);
    none.retain(|(path, _)| !path.ends_with(".md"));
    refused(&none, "@61");
}

#[test]
fn templates_are_checked_whole() {
    let check = |template: &str, expect: &str| {
        let mut all = files(RECORD);
        all.retain(|(path, _)| !path.starts_with("templates"));
        all.push(("templates/privacy/config.yml", template.to_owned()));
        refused(&all, expect);
    };
    check("requirements: {}\n", "@70");
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
        "@71",
    );
}

#[test]
fn templates_lie_in_the_nearest_folder() {
    let mut near = files(RECORD);
    near.push(("bundles/templates/privacy/config.yml", TEMPLATE.replace("title: Security", "title: Nearer")));
    let (folder, bundle) = loaded(&near);
    let template = bundle.unwrap_or_else(|faults| panic!("{}", told(&folder, &faults))).template;
    assert_eq!(template.config.requirements.get("security").unwrap().title, "Nearer");
    assert!(template.shown().ends_with("bundles/templates/privacy/config.yml"), "{}", template.shown());
    // Above the suite nobody looks.
    let mut above: Vec<(String, String)> = files(RECORD).into_iter().map(|(p, c)| (format!("suite/{p}"), c)).collect();
    above.retain(|(path, _)| !path.contains("templates/"));
    above.push(("templates/privacy/config.yml".to_owned(), TEMPLATE.to_owned()));
    let named: Vec<(&str, &str)> = above.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect();
    let folder = self::folder(&named);
    let load = || {
        let places = discover(&[folder.path().join("suite").display().to_string()], true).unwrap();
        super::load(&places[0], &mut |name, bytes| crate::ingest::ingest(name, bytes, &crate::ingest::Limits::default()))
    };
    let faults = load().map(|bundle| bundle.record).expect_err("it was found");
    assert_eq!(faults.iter().map(|fault| fault.code).collect::<Vec<_>>(), ["unknown-template"]);
    std::fs::remove_file(folder.path().join("suite/karat.toml")).unwrap();
    assert!(load().is_ok(), "without a suite all folders above are looked at");
}

#[test]
fn lints() {
    let change = |from: &str, to: &str| {
        assert!(RECORD.contains(from), "{from}");
        files(&RECORD.replacen(from, to, 1))
    };
    remarked(&change(" to the address of the Controller.", " to the address"), "@80");
    let spans = "2.1 Encryption\n        text: The Processor shall encrypt personal data at rest and in transit. 2.2 Security Measures The Processor shall implement technical and organisational measures to protect personal data against loss.";
    remarked(&change("2.3 Notices\n        text: Security notices are sent to the address of the Controller.", spans), "@81");
    remarked(&change("rationale: Stated.", "rationale: ' '"), "@82");
    let record = RECORD.split("  notices:").next().unwrap();
    remarked(&files(record), "@83");
    remarked(&change("assessment: yes", "assessment: not_applicable"), "@84");
    let repeated = "supporting_evidence:
      again:
        document: contract.md
        title: 2.2 Security Measures
        text: The Processor shall implement technical and organisational measures to protect personal data against loss.
    rationale: Stated.";
    remarked(&change("supporting_evidence: {}\n    rationale: Stated.", repeated), "@85");
    let empty = RECORD.replace("primary_evidence:\n      address:", "primary_evidence: {}\n    supporting_evidence:\n      address:");
    let empty = empty.replace("    supporting_evidence: {}\n    rationale: Half", "    rationale: Half");
    remarked(&files(&empty), "@86");
    let mut doubled = files(RECORD);
    doubled.push(("bundles/a/copy.md", CONTRACT.replace("Agreement", "Copy")));
    remarked(&doubled, "@87");
    let mut lonely = files(RECORD);
    lonely.retain(|(path, _)| !path.ends_with(".md"));
    lonely.push(("bundles/a/contract.md", CONTRACT.replace("encrypt personal data", "cook").replace("Security notices", "Security notices")));
    remarked(&lonely, "@88");
    let many: String = (0..4).map(|n| format!("      p{n}:\n        document: contract.md\n        title: 2.1 Encryption\n        text: The Processor shall encrypt personal data at rest and in transit.\n")).collect();
    let many = RECORD.replacen("    primary_evidence:\n      measures:", &format!("    primary_evidence:\n{many}      measures:"), 1);
    remarked(&files(&many), "@89");
    let third = format!("{}  third:\n    assessment: yes\n    primary_evidence: {{}}\n    supporting_evidence: {{}}\n    rationale: x\n", RECORD.replace("partial", "yes"));
    let mut same = files(&third);
    same[1].1 = TEMPLATE.replace("questions:", "  third: { title: Third, description: d }\nquestions:");
    remarked(&same, "@90");
}

#[test]
fn every_lint_says_why_and_what_to_do() {
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
        Ok(places) => places.iter().map(|place| format!("{}\n", place.shown())).collect::<String>().replace(&format!("{}/", folder.path().display()), ""),
        Err(faults) => told(&folder, &faults.0),
    };
    assert_eq!(found(&[path("")], true), "a/deep/er/z.golden-assessment.yaml\nb/x.golden-assessment.yml\n");
    let twice = [path("b/x.golden-assessment.yml"), path("b"), path("a/../b/x.golden-assessment.yml")];
    assert_eq!(found(&twice, true), "a/../b/x.golden-assessment.yml\n");
    let check = |name: &str, recursive: bool, expect: &str| {
        let told = found(&[path(name)], recursive);
        assert!(told == expect, "\n{told}\nexpected\n{expect}");
    };
    check("b", false, "@100");
    check("a/other.yml", false, "@101");
    check("nowhere", true, "@102");
    check("b/.karat", true, "b/.karat/y.golden-assessment.yml\n");
    std::fs::create_dir(path("c")).unwrap();
    check("c", true, "@103");
    std::fs::create_dir(path("c/d.golden-assessment.yml")).unwrap();
    check("c", true, "@104");
    check("c/d.golden-assessment.yml", true, "@105");
    assert_eq!(found(&["starter".to_owned()], false), "@106");
    assert_eq!(found(&["agreement".to_owned()], false), "@107");
    assert!(holds_records(&path("b")) && holds_records(&path("nowhere/x.golden-assessment.yml")));
    assert!(holds_records("agreements") && !holds_records("starter") && !holds_records(&path("nowhere")));
    std::fs::create_dir(path("b/cases")).unwrap();
    assert!(!holds_records(&path("b")));
}

#[cfg(unix)]
#[test]
fn links_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let mut all = files(RECORD);
    all.push(("outside.md", CONTRACT.to_owned()));
    let named: Vec<(&str, &str)> = all.iter().map(|(path, content)| (*path, content.as_str())).collect();
    let folder = folder(&named);
    let path = |name: &str| folder.path().join(name);
    // A circle neither hangs nor doubles anything.
    symlink(path("bundles"), path("bundles/a/circle")).unwrap();
    symlink(path("bundles/a/a.golden-assessment.yml"), path("bundles/a/b.golden-assessment.yml")).unwrap();
    let suite = || discover(&[folder.path().display().to_string()], false);
    assert_eq!(suite().unwrap().len(), 1);
    let load = || {
        let places = discover(&[path("bundles/a/a.golden-assessment.yml").display().to_string()], false).unwrap();
        super::load(&places[0], &mut |name, bytes| crate::ingest::ingest(name, bytes, &crate::ingest::Limits::default()))
    };
    assert!(load().is_ok());
    symlink(path("outside.md"), path("bundles/a/annex.md")).unwrap();
    assert_eq!(told(&folder, &load().map(|bundle| bundle.record).expect_err("taken")), "@110");
    symlink("/etc", path("bundles/etc")).unwrap();
    assert_eq!(told(&folder, &suite().expect_err("taken").0), "@111");
}
