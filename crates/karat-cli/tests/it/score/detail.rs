//! `--detail`: smaller reports have the same figures, and whoever reads them says what is not there.

use super::tiny;
use crate::project::{Project, lines, suite, trial};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const FORMATS: [&str; 6] = ["table", "markdown", "html", "csv", "junit", "sarif"];

/// Several cases, tools and trials: matches, misses, extras, traps, duplicates, failures and notes.
fn varied() -> Project {
    let issue = |id: &str, line: u32, acceptance: &str| {
        json!({ "id": id, "title": format!("The lock {id} is taken late"), "file": "src/a.go", "line_start": line,
                "keywords": ["lock", id], "severity": "high", "category": "locks", "acceptance": acceptance })
    };
    let case = |number: u32| {
        json!({ "id": format!("c{number}"), "language": if number.is_multiple_of(2) { "go" } else { "rust" },
                "issues": [issue("first", 10, "required"), issue("second", 50, "required"), issue("bait", 90, "trap")] })
    };
    let finding = |id: &str, line: u32, message: &str| {
        json!({ "id": id, "message": message, "file": "src/a.go", "line_start": line, "severity": "medium",
                "confidence": f64::from(line % 7) / 7.0 })
    };
    let mut trials = Vec::new();
    for tool in ["careful", "noisy"] {
        for number in 1..=2 {
            for at in 0..6 {
                let mut findings = vec![finding("f1", 10 + at, "the lock first is taken late")];
                if tool == "noisy" {
                    findings.push(finding("f2", 90, "the lock bait is taken late"));
                    findings.push(finding("f3", 200, "a name is short"));
                    findings.push(finding("f4", 11, "lock first again"));
                }
                if (at + number) % 3 == 0 {
                    findings.push(finding("f5", 51, "the lock second comes after the read"));
                }
                let mut line = trial(&format!("c{at}"), tool, number, json!(findings));
                line["latency_ms"] = json!(10.5 * f64::from(at + number));
                line["cost_usd"] = json!(0.1 * f64::from(at));
                if at == 4 {
                    line["notes"] = json!(["a file was not read"]);
                }
                if at == 5 && number == 2 {
                    line = json!({ "case": "c5", "tool": tool, "trial": 2, "outcome": "crashed" });
                }
                trials.push(line);
            }
        }
    }
    suite(&(0..6).map(case).collect::<Vec<_>>()).with("all.jsonl", lines(&trials))
}

/// Scores with every detail, and checks that reading case by case gives what taking details out of the whole report gives.
fn check(project: &Project, flags: &str) {
    project.run(&format!("score . {flags} -o all.json -o all.parquet"));
    let tables = files(&project.path("all.parquet"));
    assert!(tables.len() >= 5, "{flags}: {:?}", tables.keys());
    for detail in ["misses", "none"] {
        let code = project.run(&format!("score . {flags} --detail {detail} -o {detail}.json -o {detail}.parquet")).code;
        assert_eq!(code, project.run(&format!("score . {flags}")).code, "{flags}");
        project.ok(&format!("report all.json --detail {detail} -o reduced.json"));
        assert_eq!(project.read(&format!("{detail}.json")), project.read("reduced.json"), "{flags} --detail {detail}");
        // Tables have everything, whatever the report holds.
        let others = files(&project.path(&format!("{detail}.parquet")));
        assert_eq!(Vec::from_iter(others.keys()), Vec::from_iter(tables.keys()), "{flags} --detail {detail}");
        for (name, bytes) in &others {
            assert!(*bytes == tables[name], "{flags} --detail {detail}: {name} differs");
        }
    }
}

/// The files of a folder and their bytes, by path.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => {
                found.extend(files(&entry.path()).into_iter().map(|(path, bytes)| (format!("{name}/{path}"), bytes)))
            }
            false => drop(found.insert(name, std::fs::read(entry.path()).unwrap())),
        }
    }
    found
}

#[test]
fn reading_case_by_case_gives_the_figures_of_the_whole() {
    for flags in
        ["--submission all.jsonl", "--submission all.jsonl --judge none", "--submission all.jsonl --tool noisy"]
    {
        check(&varied(), flags);
    }
    for profile in ["crb", "identity", "owasp", "recorded"] {
        check(&varied(), &format!("--submission all.jsonl --profile {profile}"));
    }
    let varied_twins = varied();
    let twins = varied_twins.read("cases.jsonl").replace("{\"id\":\"c1\",", "{\"id\":\"c1\",\"twin\":\"c0\",");
    assert!(twins.contains("twin"));
    let twins = twins.replace("\"language\":\"go\"", "\"language\":\"go\",\"made\":\"2026-01-05\"");
    varied_twins.write("cases.jsonl", twins);
    for flags in ["", "--cluster language", "--model-cutoff 2026-01-03", "--profile audit"] {
        check(&varied_twins, &format!("--submission all.jsonl {flags}"));
    }
    check(&tiny(), "");
    check(&tiny(), "--set expect_pass=true");
}

#[test]
fn given_judgements_are_used_case_by_case() {
    let project = varied();
    project.ok("score . --submission all.jsonl --save-judgements all-judged.jsonl");
    check(&project, "--submission all.jsonl --judgements all-judged.jsonl --judge local");
    let some: String = project.read("all-judged.jsonl").lines().step_by(3).map(|line| format!("{line}\n")).collect();
    project.write("some.jsonl", some);
    check(&project, "--submission all.jsonl --judgements some.jsonl --judge none");
    // Judgements are those of the whole, whatever their order.
    project.ok("score . --submission all.jsonl --detail none --save-judgements judged.jsonl");
    let sorted = |name: &str| {
        let text = project.read(name);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted("judged.jsonl"), sorted("all-judged.jsonl"));
}

#[test]
fn files_that_cannot_be_read_twice_are_scored_as_well() {
    let project = varied();
    let text = project.read("all.jsonl");
    let (head, tail) = text.split_at(text.find("\n{\"case\":\"c3\"").unwrap() + 1);
    project.write("head.jsonl", format!("\u{feff}{head}"));
    project.write("tail.jsonl", tail);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packed, text.as_bytes()).unwrap();
    project.write("all.jsonl.gz", packed.finish().unwrap());
    let expected = project.ok("score . --submission all.jsonl --detail none --json");
    assert_eq!(project.ok("score . --submission all.jsonl.gz --detail none --json"), expected);
    assert_eq!(project.ok("score . --submission head.jsonl --submission tail.jsonl --detail none --json"), expected);
    let piped = project.run_shell("karat score . --submission - --detail none --json < all.jsonl").expect(0).out;
    assert_eq!(piped, expected);
    // Bytes that are no UTF-8 move everything behind them.
    let mut bytes = text.clone().into_bytes();
    let at = text.find("a file was not read").unwrap();
    bytes[at] = 0xff;
    project.write("latin.jsonl", bytes);
    project.ok("score . --submission latin.jsonl --detail none");
}

#[test]
fn faults_are_those_of_the_whole() {
    let project = varied();
    let line = trial("nowhere", "t", 1, json!([])).to_string();
    let text = project.read("all.jsonl");
    let first = text.lines().next().unwrap();
    project.write("bad.jsonl", format!("{text}{line}\n{first}\n{{\"case\": 1}}\n"));
    let whole = project.run("score . --submission bad.jsonl");
    let by_case = project.run("score . --submission bad.jsonl --detail none");
    assert_eq!((by_case.code, by_case.err), (whole.code, whole.err));
}

#[test]
fn a_stored_run_is_read_case_by_case() {
    let project = varied();
    project.ok("run . --tool replay:all.jsonl --trials 2 --name stored");
    project.run("score stored -o all.json");
    for detail in ["misses", "none"] {
        project.ok(&format!("score stored --detail {detail} -o {detail}.json"));
        project.ok(&format!("report all.json --detail {detail} -o reduced.json"));
        assert_eq!(project.read(&format!("{detail}.json")), project.read("reduced.json"), "{detail}");
    }
}

/// The figures of a report in every format: JUnit's messages, how many results of SARIF count, CSV and the tables of Markdown.
fn figures(project: &Project, name: &str) -> [String; 3] {
    let junit = project.ok(&format!("report {name} --format junit"));
    let messages: Vec<&str> = junit.split("message=\"").skip(1).filter_map(|text| text.split('"').next()).collect();
    let csv = project.ok(&format!("report {name} --format csv"));
    // Cases of a report without details state values alone.
    let csv: Vec<&str> = csv.lines().filter(|line| !line.contains(",case,")).collect();
    let markdown = project.ok(&format!("report {name} --format markdown"));
    let tables: Vec<&str> = markdown.lines().take_while(|line| !line.starts_with("## Miss")).collect();
    let tables: Vec<&str> = tables.into_iter().filter(|line| line.starts_with("| ")).collect();
    [messages.join("\n"), csv.join("\n"), tables.join("\n")]
}

#[test]
fn figures_are_those_of_every_detail_and_format() {
    let project = varied();
    let classes = ["HALLUCINATED", "BONUS_VALID", "DESIGN_CHOICE"];
    let all = project.read("all.jsonl");
    let audits = all.lines().enumerate().filter_map(|(at, line)| {
        let trial: Value = serde_json::from_str(line).unwrap();
        let findings = trial["findings"].as_array()?.iter().enumerate();
        let classified = findings
            .map(|(n, finding)| json!({ "finding": finding["id"], "classification": classes[(n + at) % classes.len()] }));
        Some(json!({ "case": trial["case"], "tool": trial["tool"], "trial": trial["trial"], "judge": "m", "kind": "audit",
                     "said_vulnerable": true, "findings": classified.collect::<Vec<_>>(), "target": { "found": false } }))
    });
    project.write("audits.jsonl", lines(&audits.collect::<Vec<_>>()));
    let extra = |id: &str, valid: bool| json!({ "case": "c0", "tool": "noisy", "trial": 1, "judge": "human:a", "kind": "extra", "finding": id, "valid": valid });
    project.write("extras.jsonl", lines(&[extra("f3", true), extra("f2", false)]));
    for flags in [
        "--judge none --judgements extras.jsonl",
        "--judge none --profile crb --judgements extras.jsonl",
        "--judge none --set duplicates_are_false=true --set acceptable_are_false=true",
        "--profile audit --judgements audits.jsonl",
    ] {
        let score = format!("score . --submission all.jsonl {flags}");
        project.ok(&format!("{score} -o all.json"));
        let expected = figures(&project, "all.json");
        let report: Value = project.json("report all.json --json");
        let trials = || {
            let cases = report["tools"].as_array().unwrap().iter().flat_map(|tool| tool["cases"].as_array().unwrap());
            cases.flat_map(|case| case["trials"].as_array().unwrap())
        };
        let wrong: u64 = trials().map(|trial| trial["fp"].as_u64().unwrap()).sum();
        let missed: u64 = trials().map(|trial| trial["fn"].as_u64().unwrap()).sum();
        for detail in ["all", "misses", "none"] {
            project.ok(&format!("{score} --detail {detail} -o {detail}.json"));
            assert_eq!(figures(&project, &format!("{detail}.json")), expected, "{flags} --detail {detail}");
            let sarif: Value =
                serde_json::from_str(&project.ok(&format!("report {detail}.json --format sarif"))).unwrap();
            let results = sarif["runs"].as_array().unwrap().iter().flat_map(|run| run["results"].as_array().unwrap());
            let counting = results.filter(|result| result["kind"] == "fail").count() as u64;
            let expected = if detail == "none" { 0 } else { wrong + missed };
            assert_eq!(counting, expected, "{flags} --detail {detail}");
        }
    }
}

/// Whoever reads a report without details says so, and shows no zeros in their place.
#[test]
fn every_format_says_what_is_not_there() {
    let project = varied();
    project.ok("score . --submission all.jsonl -o all.json");
    for detail in ["none", "misses"] {
        project.ok(&format!("score . --submission all.jsonl --detail {detail} -o {detail}.json"));
        let report: Value = serde_json::from_str(&project.read(&format!("{detail}.json"))).unwrap();
        assert_eq!(report["detail"], detail);
        for format in FORMATS {
            let text = project.ok(&format!("report {detail}.json --format {format}"));
            // CSV has figures alone, and JUnit states counts and misses in any case.
            let is_complete = format == "csv" || format == "junit" && detail == "misses";
            assert!(is_complete || text.contains(&format!("--detail {detail}")), "{format} of {detail}");
        }
        let compared: Value = project.json(&format!("compare {detail}.json all.json --json"));
        let goldens = &compared["comparisons"][0]["goldens"];
        assert_eq!((goldens["gained"].clone(), goldens["lost"].clone()), (json!([]), json!([])), "{detail}");
        let warned = compared["warnings"].to_string().contains("which goldens were found is not in it");
        assert_eq!(warned, detail == "none");
    }
    let all = project.json("report all.json --json");
    assert!(all.get("detail").is_none());
    project.run("report none.json --detail misses").expect_error(2, &["written with --detail none"]);
}
