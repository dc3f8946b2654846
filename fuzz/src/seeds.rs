//! What fuzzing starts from: the fixtures of the repository, each in the shape its target reads.

use super::suite_tree::{END, NAMES};
use super::{document, records, stored, symbols};
use karat::baseline;
use karat::comparison::Side;
use karat_core::path::RepoPath;
use karat_format::report::ReportV1;
use karat_import::IMPORTERS;
use karat_source::language::Language;
use std::collections::BTreeMap;
use std::path::Path;

/// The seeds of a target, by name. `root` is the root of the repository.
pub fn of(root: &Path, target: &str) -> BTreeMap<String, Vec<u8>> {
    let files = |folder: &str| files(&root.join(folder));
    match target {
        "sarif" | "sarif_keys" => {
            files("crates/karat-import/fixtures/sarif").into_iter().chain(files("fuzz/seeds/sarif")).collect()
        }
        "importers" => imports(root),
        "document" => documents(root),
        "submission" => with(files("suites/starter/submissions"), files("fuzz/seeds/submission"), records::TRIALS),
        "judgements" => files("fuzz/seeds/judgements"),
        "suite_tree" => trees(root),
        "symbols" => sources(root),
        "profile" => with_ending(files("crates/karat/profiles"), ".toml").chain(files("fuzz/seeds/profile")).collect(),
        "manifest" => manifests(root),
        "report" => {
            let json = |report: &ReportV1| serde_json::to_vec(report).ok();
            let figures = records::scene_figures().ok().and_then(|report| json(&report));
            one("figures", figures, one("scene", json(&records::scene_report()), files("fuzz/seeds/report")))
        }
        "baseline" => one("scene", Some(baseline_of_scene()), files("fuzz/seeds/baseline")),
        "labels" => files("fuzz/seeds/judgements").into_iter().chain(files("fuzz/seeds/labels")).collect(),
        "store_import" => one("run", stored::seed(), files("fuzz/seeds/store_import")),
        "tool_output" => outputs(root),
        _ => files(&format!("fuzz/seeds/{target}")),
    }
}

fn imports(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut seeds = BTreeMap::new();
    for (index, importer) in IMPORTERS.iter().enumerate() {
        let own = files(&root.join("fuzz/seeds").join(importer.name));
        for (name, content) in
            files(&root.join("crates/karat-import/fixtures").join(importer.name)).into_iter().chain(own)
        {
            for (round, kind) in [(0, ""), (1, "candidates"), (2, "evaluations")] {
                if round == 0 || name.contains(kind) {
                    seeds.insert(
                        format!("{}-{round}-{name}", importer.name),
                        chosen(index + round * IMPORTERS.len(), &content),
                    );
                }
            }
        }
    }
    seeds
}

/// What tools write, behind the byte of its format.
fn outputs(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut seeds = BTreeMap::new();
    for (index, format) in karat::tool::output::formats().enumerate() {
        let own = files(&root.join("fuzz/seeds/tool_output").join(format));
        for (name, content) in files(&root.join("crates/karat-import/fixtures").join(format)).into_iter().chain(own) {
            seeds.insert(format!("{format}-{name}"), chosen(index, &content));
        }
    }
    seeds
}

fn manifests(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (manifest, rules, demands) = (0, 1, 2);
    let mut seeds = BTreeMap::new();
    for (folder, choice) in [
        ("crates/karat/catalogue", manifest),
        ("fuzz/seeds/manifest", manifest),
        ("crates/karat/src/tool/patterns", rules),
        ("fuzz/seeds/demands", demands),
    ] {
        let found = with_ending(files(&root.join(folder)), ".toml");
        seeds.extend(found.map(|(name, content)| (format!("{choice}-{name}"), chosen(choice, &content))));
    }
    seeds
}

fn baseline_of_scene() -> Vec<u8> {
    let report = records::scene_report();
    let sides: Vec<Side> = report.tools.iter().map(|tool| Side::of_report(&report, tool, tool.tool.as_str())).collect();
    baseline::text(&baseline::baseline(&sides, &[])).into_bytes()
}

type Seeds = BTreeMap<String, Vec<u8>>;

fn with_ending(files: Seeds, ending: &'static str) -> impl Iterator<Item = (String, Vec<u8>)> {
    files.into_iter().filter(move |(name, _)| name.ends_with(ending))
}

/// One seed that is made beside those in files.
fn one(name: &str, content: Option<Vec<u8>>, files: Seeds) -> Seeds {
    files.into_iter().chain(content.map(|content| (name.to_owned(), content))).collect()
}

/// Files by ending and by the format they are of, as [`document::check`] counts them.
fn documents(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (yaml, toml, json) = (0, 1, 2);
    let mut seeds = BTreeMap::new();
    for (folder, ending, syntax, format) in [
        ("suites/starter", "karat.toml", toml, 0),
        ("crates/karat/templates", "karat.toml", toml, 0),
        ("suites/starter", "case.yaml", yaml, 1),
        ("crates/karat/templates", "case.yaml", yaml, 1),
        ("crates/karat/profiles", ".toml", toml, 4),
    ] {
        for (name, content) in files(&root.join(folder)).into_iter().filter(|(name, _)| name.ends_with(ending)) {
            seeds.insert(name, chosen(syntax + document::SYNTAXES.len() * format, &content));
        }
    }
    for (folder, format) in [("fuzz/seeds/submission", 2), ("fuzz/seeds/judgements", 3)] {
        for (name, content) in files(&root.join(folder)) {
            for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
                seeds.insert(format!("{name}-{number}"), chosen(json + document::SYNTAXES.len() * format, line));
            }
        }
    }
    seeds
}

/// One small suite for each case of those that are shipped.
fn trees(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut seeds = files(&root.join("fuzz/seeds/suite_tree"));
    for (name, content) in documents(root).into_iter().filter(|(name, _)| name.ends_with("case.yaml")) {
        let case = &content[1..];
        let code = |name: &str, content: &'static str| [&[letter(name)], content.as_bytes(), &[END]].concat();
        let trees = [code("cases/one/before/a.py", "a = 1\n"), code("cases/one/after/a.py", "a = 1\nb = 2\n")].concat();
        seeds.insert(name.clone(), [&[letter("cases/one/case.yaml")], case, &[END], &trees].concat());
        seeds.insert(format!("challenge-{name}"), [&[letter("three/challenge.yaml")], case].concat());
    }
    seeds
}

fn letter(name: &str) -> u8 {
    let index = NAMES.iter().position(|known| *known == name).unwrap_or_default();
    b'a' + u8::try_from(index).unwrap_or_default()
}

fn sources(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let language = |name: &str| RepoPath::new(name).as_ref().and_then(Language::from_path);
    let index = |language: Language| symbols::LANGUAGES.iter().position(|known| *known == language);
    let all = files(&root.join("crates/karat-source/fixtures/source")).into_iter();
    all.filter_map(|(name, content)| Some((name.clone(), chosen(index(language(&name)?)?, &content)))).collect()
}

/// The content behind the byte that makes a target choose the one of that index.
fn chosen(index: usize, content: &[u8]) -> Vec<u8> {
    [&[u8::try_from(index).unwrap_or_default()], content].concat()
}

fn with(a: BTreeMap<String, Vec<u8>>, b: BTreeMap<String, Vec<u8>>, text: &str) -> BTreeMap<String, Vec<u8>> {
    a.into_iter().chain(b).chain([("scene".to_owned(), text.as_bytes().to_vec())]).collect()
}

/// All files below a folder that are small enough to be changed with effect, by a name without slashes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for path in std::fs::read_dir(next).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                open.push(path);
            } else if let (Ok(name), Ok(content)) = (path.strip_prefix(folder), std::fs::read(&path))
                && content.len() <= 1 << 16
            {
                found.insert(name.to_string_lossy().replace('/', "-"), content);
            }
        }
    }
    found
}
