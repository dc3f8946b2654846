//! The suite of agreements: its documents are generated from sources and have the same sections in each format.

use crate::document_writers::{Columns, Document, docx, pdf};
use crate::project::root;
use karat_core::assessment::part_match::{Category, compare};
use karat_core::assessment::rules::Thresholds;
use karat_core::assessment::text::Vocabulary;
use karat_documents::ingest::{IngestLimits, Section, ingest};
use karat_format::document::yaml;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The generated documents: bundle, name of the source, and extension.
const GENERATED: &[(&str, &str, &str)] = &[
    ("consulting_framework_en", "framework_agreement", "docx"),
    ("hosting_policies_en", "operations_policy", "pdf"),
    ("driftavtal_kommun_sv", "sakerhetsbilaga", "docx"),
];

fn suite() -> PathBuf {
    root().join("suites/agreements")
}

fn source(path: &str) -> String {
    let path = suite().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display())).replace("\r\n", "\n")
}

fn generate(text: &str, ending: &str) -> Vec<u8> {
    let document = Document::read(text);
    match ending {
        "docx" => docx(&document),
        "pdf" => pdf(&document, Columns::One),
        "two-columns.pdf" => pdf(&document, Columns::Two),
        "md" => text.as_bytes().to_vec(),
        _ => panic!("unknown extension .{ending}"),
    }
}

#[test]
fn generated_documents_are_current() {
    for (bundle, name, ending) in GENERATED {
        let path = suite().join("bundles").join(bundle).join(format!("{name}.{ending}"));
        let bytes = generate(&source(&format!("sources/{bundle}/{name}.md")), ending);
        if std::env::var_os("KARAT_UPDATE").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        let stored = std::fs::read(&path).unwrap_or_default();
        assert!(
            stored == bytes,
            "{name}.{ending} of {bundle} differs from its source; KARAT_UPDATE=1 cargo test -p karat-cli generated_documents rewrites it"
        );
    }
    // Every source is used.
    let mut sources = Vec::new();
    for bundle in std::fs::read_dir(suite().join("sources")).unwrap() {
        for file in std::fs::read_dir(bundle.unwrap().path()).unwrap() {
            sources.push(file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
        }
    }
    sources.sort();
    let mut known: Vec<&str> = GENERATED.iter().map(|(_, name, _)| *name).collect();
    known.sort_unstable();
    assert_eq!(sources, known);
}

fn sections(name: &str, bytes: &[u8]) -> Vec<Section> {
    ingest(name, bytes, &IngestLimits::default()).unwrap_or_else(|e| panic!("{e}")).sections
}

/// For nearly every section of the Markdown, the section with the same heading in another format must have the same
/// text.
#[track_caller]
fn check(path: &str, ending: &str) {
    let text = source(path);
    let wanted = sections("a.md", text.as_bytes());
    assert!(wanted.len() >= 30, "{} sections of {path}", wanted.len());
    let found = sections(&format!("a.{ending}"), &generate(&text, ending));
    let mut words = Vocabulary::default();
    let mut faults = Vec::new();
    for section in &wanted {
        let own = words.read(&section.heading, &section.body);
        let Some(other) = found.iter().find(|other| other.heading == section.heading) else {
            faults.push(format!("no section {:?}", section.heading));
            continue;
        };
        let match_ = compare(&own, &words.read(&other.heading, &other.body), &Thresholds::default());
        if match_.category != Category::Exact || other.number != section.number {
            faults.push(format!("{:?} {match_:?}\n{}\n--\n{}", section.heading, section.body, other.body));
        }
    }
    let share = 1.0 - faults.len() as f64 / wanted.len() as f64;
    assert!(share >= 0.95, "{path} as {ending}: {share:.3} of {} sections\n{}", wanted.len(), faults.join("\n"));
}

#[test]
fn agreements_have_the_same_sections_in_each_format() {
    let plain = ["bundles/field_service_saas_en/saas_agreement.md", "bundles/driftavtal_kommun_sv/driftavtal.md"];
    let sources = GENERATED.iter().map(|(bundle, name, _)| format!("sources/{bundle}/{name}.md"));
    for path in sources.chain(plain.map(str::to_owned)) {
        for ending in ["docx", "pdf", "two-columns.pdf"] {
            check(&path, ending);
        }
    }
}

/// The records of the bundles, by name.
fn records() -> BTreeMap<String, Value> {
    let bundles = std::fs::read_dir(suite().join("bundles")).unwrap().map(|entry| entry.unwrap().path());
    let read = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(folder.join(format!("{name}.golden-assessment.yml"))).unwrap();
        let record = yaml::parse(&text).unwrap_or_else(|faults| panic!("{name}: {faults:?}")).to_json();
        (name, record)
    };
    bundles.map(read).collect()
}

fn documents(folder: &Path) -> BTreeMap<String, Vec<Section>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let documents = files.filter(|path| path.extension().is_some_and(|e| e != "yml"));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    documents.map(|path| (name(&path), sections(&name(&path), &std::fs::read(&path).unwrap()))).collect()
}

/// A golden part is a whole section, word for word, since sections are what is retrieved.
#[test]
fn golden_parts_are_whole_sections() {
    let mut parts = 0;
    for (name, record) in records() {
        let documents = documents(&suite().join("bundles").join(&name));
        for (requirement, golden) in record["requirements"].as_object().unwrap() {
            for block in ["primary_evidence", "supporting_evidence"] {
                for (id, part) in golden[block].as_object().unwrap() {
                    let what = format!("{name} {requirement} {id}");
                    let sections = &documents[part["document"].as_str().unwrap()];
                    let section = sections.iter().find(|section| part["title"] == section.heading);
                    let body = &section.unwrap_or_else(|| panic!("{what} has another heading")).body;
                    assert_eq!(part["text"].as_str().unwrap().trim_end(), body, "{what}");
                    parts += 1;
                }
            }
        }
    }
    assert!(parts >= 60, "{parts}");
}

/// The counts in the documentation's table of bundles.
#[test]
fn documented_bundle_counts_are_current() {
    let text = std::fs::read_to_string(root().join("docs/agreements.md")).unwrap();
    let rows = || text.lines().filter(|line| line.starts_with("| `")).map(|line| line.split(" | ").collect::<Vec<_>>());
    for (name, record) in records() {
        let verdicts: Vec<&Value> =
            record["requirements"].as_object().unwrap().values().map(|golden| &golden["assessment"]).collect();
        let count = |verdict: &str| verdicts.iter().filter(|own| ***own == verdict).count();
        let counts = ["yes", "partial", "no", "not_applicable"].map(count);
        assert_eq!((counts.iter().sum::<usize>(), verdicts.len()), (15, 15), "{name}");
        assert!(counts.iter().all(|n| *n > 0), "{name} lacks a verdict: {counts:?}");
        let sections: usize = documents(&suite().join("bundles").join(&name)).values().map(Vec::len).sum();
        let row = rows().find(|row| row[0] == format!("| `{name}`") && row.len() == 7);
        let row = row.unwrap_or_else(|| panic!("docs/agreements.md has no row of {name}"));
        let numbers: Vec<usize> = row[2..].iter().map(|cell| cell.trim_end_matches(" |").parse().unwrap()).collect();
        assert_eq!(numbers, [&[sections][..], &counts].concat(), "{name}");
    }
}
