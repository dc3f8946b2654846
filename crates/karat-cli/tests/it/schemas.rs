//! The published schemas are current, and shipped files and output conform to them.

use crate::project::{Project, root};
use karat_format::document::{toml, yaml};
use karat_format::schemas::SCHEMAS;
use serde_json::Value;
use std::path::{Path, PathBuf};

#[test]
fn published_schemas_are_current() {
    let folder = root().join("schemas");
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::create_dir_all(&folder).unwrap();
        for schema in SCHEMAS {
            std::fs::write(folder.join(schema.file), schema.text()).unwrap();
        }
    }
    for schema in SCHEMAS {
        let stored = std::fs::read_to_string(folder.join(schema.file)).unwrap_or_default().replace("\r\n", "\n");
        assert!(
            stored == schema.text(),
            "schemas/{} is not what the types say; KARAT_UPDATE=1 cargo test -p karat-cli published_schemas writes it",
            schema.file
        );
    }
    let mut there: Vec<String> =
        std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    there.sort();
    let mut known: Vec<&str> = SCHEMAS.iter().map(|s| s.file).collect();
    known.sort_unstable();
    assert_eq!(there, known, "schemas/ has a file without a type");
}

fn schema(file: &str) -> Value {
    let published = SCHEMAS.iter().find(|s| s.file == file).unwrap_or_else(|| panic!("no schema {file}"));
    serde_json::from_str(&published.text()).unwrap()
}

/// Faults found by an independent validator.
fn validation_errors(file: &str, value: &Value) -> Vec<String> {
    let schema = schema(file);
    let validator = jsonschema::validator_for(&schema).unwrap();
    validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[track_caller]
fn check_against(file: &str, what: &str, value: &Value) {
    assert_eq!(validation_errors(file, value), Vec::<String>::new(), "{what} does not conform to schemas/{file}");
}

fn files_below(folder: &Path, name: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let (mut open, mut found) = (vec![folder.to_owned()], Vec::new());
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if name(&path.file_name().unwrap().to_string_lossy()) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn shipped_suites_conform_to_the_schemas() {
    let folders = [root().join("suites"), root().join("crates/karat/templates")];
    let all = |name: fn(&str) -> bool| folders.iter().flat_map(move |f| files_below(f, name)).collect::<Vec<_>>();
    let cases = all(|name| name == "case.yaml");
    let lines = all(|name| name.ends_with(".jsonl"));
    let configs = all(|name| name == "karat.toml");
    assert!(cases.len() >= 12 && lines.len() >= 3 && configs.len() >= 2, "too few files were found");
    for path in cases {
        let text = std::fs::read_to_string(&path).unwrap();
        check_against("case.json", &path.display().to_string(), &yaml::parse(&text).unwrap().to_json());
    }
    for path in configs {
        let text = std::fs::read_to_string(&path).unwrap();
        check_against("config.json", &path.display().to_string(), &toml::parse(&text).unwrap().to_json());
    }
    let records = all(|name| karat_documents::assess::discover::ENDINGS.iter().any(|ending| name.ends_with(ending)));
    let templates = all(|name| name == "config.yml");
    for (schema, paths) in [("golden-record.json", records), ("template.json", templates)] {
        for path in paths {
            let text = std::fs::read_to_string(&path).unwrap();
            check_against(schema, &path.display().to_string(), &yaml::parse(&text).unwrap().to_json());
        }
    }
    for path in lines {
        for (i, line) in std::fs::read_to_string(&path).unwrap().lines().enumerate() {
            let value = serde_json::from_str(line).unwrap();
            // A calibration set has judgements beside the submission.
            let decided = path.parent().is_some_and(|folder| folder.ends_with("calibration"))
                && path.file_name().is_some_and(|name| name != "submission.jsonl");
            let schema = match path.file_name().and_then(|name| name.to_str()) {
                Some("cases.jsonl") => "case.json",
                _ if decided => "judgement.json",
                _ => "submission.json",
            };
            check_against(schema, &format!("{}:{}", path.display(), i + 1), &value);
        }
    }
}

#[test]
fn output_conforms_to_the_schemas() {
    let project = Project::new();
    check_against("report.json", "the starter's report", &project.json("score starter --json"));
    for detail in ["none", "misses"] {
        check_against("report.json", detail, &project.json(&format!("score starter --json --detail {detail}")));
    }
    for profile in karat::profile::SHIPPED {
        check_against("profile.json", profile.name, &project.json(&format!("profile show {} --json", profile.name)));
    }
    project.ok("score starter -o r.json");
    check_against("comparison.json", "a comparison", &project.json("compare r.json --json"));
    check_against("comparison.json", "ranks", &project.json("compare r.json --ranks --json"));
    check_against("baseline.json", "a baseline", &project.json("baseline write r.json"));
    check_against("power.json", "an answer", &project.json("power r.json --effect 0.05 --json"));
    let gate = project.run("gate r.json --min f1=0.1 --no-worse-than r.json --max-cost 1 --json").expect(3);
    check_against("gate.json", "a gate", &serde_json::from_str(&gate.out).unwrap());
    let bench = crate::project::fixture("code-review-bench");
    project.run_list(&["import", "--from", "code-review-bench", &bench, "-o", "bench"]).expect(0);
    for (folder, file) in [("submissions", "submission.json"), ("judgements", "judgement.json")] {
        let paths = files_below(&project.path(&format!("bench/{folder}")), |_| true);
        assert!(!paths.is_empty(), "nothing was written to {folder}");
        for path in paths {
            for line in std::fs::read_to_string(&path).unwrap().lines() {
                check_against(file, folder, &serde_json::from_str(line).unwrap());
            }
        }
    }
    for line in project.read("bench/cases.jsonl").lines() {
        check_against("case.json", "an imported case", &serde_json::from_str(line).unwrap());
    }
}

/// Each fault must be refused by both the validator and the loader.
#[test]
fn schemas_and_loader_refuse_the_same_faults() {
    let trial = |change: &dyn Fn(&mut Value)| {
        let mut value = serde_json::json!({
            "case": "a", "tool": "t", "trial": 1, "outcome": "reported", "findings": [{ "id": "f1", "title": "x" }]
        });
        change(&mut value);
        value
    };
    let refused = |value: Value| {
        let project = crate::project::suite(&[serde_json::json!({ "id": "a" })]);
        project.write("s.jsonl", format!("{value}\n"));
        let code = project.run("score . --submission s.jsonl").code;
        (!validation_errors("submission.json", &value).is_empty(), code == Some(4))
    };
    assert_eq!(refused(trial(&|_| {})), (false, false));
    let faulty: [&dyn Fn(&mut Value); 8] = [
        &|v| v["trial"] = 0.into(),
        &|v| v["trial"] = "1".into(),
        &|v| v["outcome"] = "fine".into(),
        &|v| v["confidence"] = 1.5.into(),
        &|v| v["findngs"] = serde_json::json!([]),
        &|v| v["findings"][0]["line_start"] = 0.into(),
        &|v| v["findings"][0]["severity"] = "awful".into(),
        &|v| v["latency_ms"] = (-1).into(),
    ];
    for (i, change) in faulty.iter().enumerate() {
        assert_eq!(refused(trial(*change)), (true, true), "fault {i}: {}", trial(*change));
    }
}
