//! What people read when something is wrong: one table of commands, and every reader of many lines or documents.

use crate::project::{CommandOutput, Project, lines, suite, trial};
use serde_json::json;

/// A project with a suite, reports, a submission and a few wrong files.
fn faulty_project() -> Project {
    let golden = json!([{ "id": "g", "title": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let project = suite(&[json!({ "id": "c", "issues": golden })])
        .with(
            "ok.jsonl",
            format!("{}\n", trial("c", "t", 1, json!([{ "id": "f", "message": "The loop runs too often" }]))),
        )
        .with("empty/karat.toml", "[suite]\nname = \"empty\"\n")
        .with("colon/karat.toml", "[suite]\nname = \"colon\"\n")
        .with("colon/cases/a/case.yaml", "id: a\nissues:\n  - id: g\n    title: Page: 0\n    file: a.py\n")
        .with("page.html", format!("<!doctype html>\n<html>\n{}</html>\n", "<p>text</p>\n".repeat(1_200)));
    std::fs::create_dir_all(project.path("empty/cases")).unwrap();
    project.ok("score . --submission ok.jsonl -o r.json");
    project
}

/// A command, its exit code, and what its output contains.
const MESSAGES: &[(&str, i32, &[&str])] = &[
    ("rnu", 2, &["unrecognized subcommand 'rnu'", "'run'"]),
    ("store lsit", 2, &["'list'"]),
    ("report latest", 4, &["no store in this folder or above it", "`karat run` makes one"]),
    ("score latest", 4, &["no store in this folder or above it"]),
    ("compare latest", 4, &["no store in this folder or above it"]),
    ("check empty", 4, &["the suite has no cases", "karat suite add"]),
    ("check ok.jsonl", 4, &["this is a file; a suite is a folder", "--submission FILE"]),
    ("check startr", 4, &["there is no such folder", "did you mean the built-in suite `starter`?"]),
    ("check colon", 4, &["a colon within text that is not quoted", "title: \"Page: 0\""]),
    ("score . --submission page.html", 4, &["this is HTML", "JSONL with one trial on each line", "SARIF", "semgrep"]),
    ("gate r.json --min f1=50", 2, &["F1 lies between 0 and 1, and the demand is 50; did you mean 0.5?"]),
    ("score . --submission ok.jsonl --judge nosuch", 2, &["unknown judge `nosuch`; choose one of: none, "]),
    ("score . --submission ok.jsonl --judge loca", 2, &["did you mean `local`?"]),
    ("score . --submission ok.jsonl --judge antropic/m", 2, &["did you mean `anthropic`?"]),
    ("score . --submission ok.jsonl --profile karta", 2, &["did you mean `karat`?"]),
    ("run . --tool bandid", 2, &["did you mean `bandit`?"]),
    ("run . --tool bandit,patterns", 2, &["repeat the flag: --tool bandit --tool patterns"]),
    ("run . --tool patterns --judge anthropic", 5, &["ANTHROPIC_API_KEY holds no key"]),
    ("score . --submission ok.jsonl --judge anthropic", 5, &["ANTHROPIC_API_KEY holds no key"]),
    ("run . --tool llm:anthropic/m", 5, &["ANTHROPIC_API_KEY holds no key"]),
];

#[test]
fn messages_say_what_is_wrong_and_what_to_do() {
    let project = faulty_project();
    let mut all = String::new();
    for (line, code, expected) in MESSAGES {
        let ran = CommandOutput::start(project.command().env("COLUMNS", "80").args(line.split_whitespace()));
        let shown = format!("$ karat {line}\n{}{}exit code {:?}\n\n", ran.out, ran.err, ran.code.unwrap_or(-1));
        assert_eq!(ran.code, Some(*code), "{shown}");
        // The text may be wrapped.
        let flat = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        for text in *expected {
            assert!(flat.contains(text), "no {text:?} in:\n{shown}");
        }
        assert!(shown.lines().count() < 25, "{shown}");
        all.push_str(&shown);
    }
    insta::assert_snapshot!("messages", all);
}

const MANY: usize = 100_000;

/// Every reader of lines or documents groups faults of one kind, and stops before it has read a large file to its end.
#[test]
fn every_reader_groups_faults() {
    let project = faulty_project();
    let write = |file: &str, line: &str| project.write(file, line.repeat(MANY));
    let wrong_trial = "{\"case\":\"c\",\"tool\":\"t\",\"trial\":1,\"outcome\":\"reported\",\"findngs\":[]}\n";
    let wrong_judgement = "{\"case\":\"c\",\"tool\":\"t\",\"trial\":1,\"judge\":\"human:a\",\"kind\":\"pair\",\"golden\":\"g\",\
                           \"finding\":\"f\",\"match\":true,\"mtach\":1}\n";
    write("trials.jsonl", wrong_trial);
    write("judgements.jsonl", wrong_judgement);
    project.write("listed/karat.toml", "[suite]\nname = \"many\"\n");
    write("listed/cases.jsonl", "{\"id\":\"a\",\"langauge\":\"python\"}\n");
    project.write("run.trec", format!("{}1 Q0 a 1 0.5 x\n", "1 Q0 a\n".repeat(MANY)));
    write("qrels.trec", "1 0 a\n");
    project.write("ratings.csv", format!("item,rater,value\n{}", "q,,1\n".repeat(MANY)));
    project.write("ranking.csv", format!("tool,rank\n{}", "nobody,1\n".repeat(MANY)));
    project.write("rules.toml", "[[rule]]\nmetric = \"nosuch\"\nmin = 0.5\n".repeat(3_000));
    project.write("folders/karat.toml", "[suite]\nname = \"folders\"\n");
    for number in 0..1_100 {
        project.write(&format!("folders/cases/c{number}/case.yaml"), format!("id: c{number}\nlangauge: python\n"));
    }
    project.write("tool.toml", (0..3_000).map(|n| format!("key{n} = 1\n")).collect::<String>());
    let readers = [
        "score . --submission trials.jsonl",
        "key trials.jsonl",
        "run . --tool replay:trials.jsonl",
        "score . --submission ok.jsonl --judgements judgements.jsonl",
        "score . --submission ok.jsonl --labels judgements.jsonl",
        "label import judgements.jsonl --suite . --submission ok.jsonl",
        "judge agree judgements.jsonl",
        "judge agree ratings.csv",
        "judge eval . --submission trials.jsonl --judgements judgements.jsonl",
        "calibrate sui r.json --ranking ranking.csv",
        "check listed",
        "check folders",
        "score folders --submission ok.jsonl",
        "trec qrels.trec run.trec",
        "gate r.json --rules rules.toml",
        "run . --tool ./tool.toml",
    ];
    for line in readers {
        let ran = project.run(line);
        let shown = format!("{}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(4), "{line}\n{shown}");
        assert!(shown.contains(" more like this"), "{line}\n{shown}");
        assert!(shown.lines().count() < 90, "{line}: {} lines\n{shown}", shown.lines().count());
    }
    let ran = project.run("score . --submission trials.jsonl").expect(4);
    assert!(ran.err.contains("reading stopped at line "), "{}", ran.err);
}

/// Importers refuse a file of another kind with one message.
#[test]
fn every_importer_refuses_a_web_page_briefly() {
    let project = faulty_project();
    for importer in project.json("import --list --json").as_array().unwrap() {
        let name = importer["name"].as_str().unwrap();
        let ran = project.run(&format!("import --from {name} --case c --tool t page.html -o out.jsonl"));
        // Any text is a review, of which nothing may be recognised.
        assert!(ran.code == Some(4) || name == "review-text", "{name}: {:?}\n{}", ran.code, ran.err);
        assert!(ran.err.lines().count() < 10, "{name}\n{}", ran.err);
    }
}

#[test]
fn precision_without_doubt_is_not_stated_as_a_range() {
    let golden = json!([{ "id": "g", "title": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let project = suite(&[json!({ "id": "a", "issues": golden }), json!({ "id": "clean", "issues": [] })]);
    let found = json!([{ "id": "f", "message": "The loop runs once too often", "file": "a.py", "line_start": 2 }]);
    let extra = json!([{ "id": "f", "message": "Rename this", "file": "a.py", "line_start": 9 }]);
    project.write("s.jsonl", lines(&[trial("a", "t", 1, found), trial("clean", "t", 1, extra)]));
    let out = project.ok("score . --submission s.jsonl -v");
    assert!(out.contains("Unlabelled extras") && !out.contains("precision is between 1.000 and 1.000"), "{out}");
}

#[test]
fn explain_in_a_suite_folder_shows_its_latest_run() {
    let project = faulty_project();
    // The suite has no submissions of its own.
    project.run("explain c").expect_error(2, &["nothing to score"]);
    project.ok("run . --tool replay:ok.jsonl -q");
    let out = project.ok("explain c");
    assert!(out.contains("The loop runs once too often"), "{out}");
    // A run of another suite is not that of this folder.
    let other = suite(&[json!({ "id": "c", "issues": [] })]);
    let store = project.path(".karat").display().to_string();
    other.run_list(&["explain", "c", "--store", &store]).expect_error(2, &["nothing to score"]);
}
