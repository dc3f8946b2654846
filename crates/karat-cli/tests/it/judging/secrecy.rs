//! What no prompt and no file may hold.

use super::{KEY, command, project, run};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{Project, Ran, lines};
use crate::run::with_cases;
use serde_json::{Value, json};

/// Stands wherever a judge must not look.
const MARK: &str = "zzmark";

/// A suite with code, and recorded trials, with a mark in every name: of the suite, the case, the golden, the tool, the
/// findings and the file. Trials have a number that stands nowhere else.
fn marked() -> Project {
    let project = with_cases(1);
    let yaml = project.read("suite/cases/case-1/case.yaml");
    project.write(
        "suite/cases/case-1/case.yaml",
        yaml.replace("case-1", "zzmark-case").replace("id: query", "id: zzmark-golden"),
    );
    let judges = super::JUDGES.replace("judges.", "judges.zzmark-");
    project.write("suite/karat.toml", format!("[suite]\nname = \"zzmark-suite\"\n{judges}"));
    let trial = |tool: &str, number: u32, findings: Value, response: Value| {
        json!({ "case": "zzmark-case", "tool": tool, "trial": number, "outcome": "reported", "verdict": "vulnerable",
            "findings": findings, "response": response })
    };
    let finding = |n: u32| {
        json!({ "id": format!("zzmark-f{n}"), "rule_id": "zzmark-rule", "title": format!("Injection {n}"),
            "message": "The name goes into the query.", "file": "app.py", "line_start": 2, "source": "zzmark-source",
            "fingerprints": { "zzmark-print": "zzmark-value" } })
    };
    let trials = |first: u32| {
        lines(&[
            trial("zzmark-tool", first, json!([finding(1), finding(2)]), Value::Null),
            trial("zzmark-tool", first + 1, json!([finding(3)]), Value::Null),
            trial("zzmark-prose", first + 1, json!([]), json!("The query is built from input.")),
        ])
    };
    project.write("zzmark.jsonl", trials(1));
    project.write("zzmark-late.jsonl", trials(776));
    project
}

/// What both kinds of questions have as an answer, whichever it is.
fn answering() -> Server {
    Server::weighing(Behaviour::GOOD, |body| {
        let text = body.to_string();
        if !text.contains("said_vulnerable") {
            return Ok(super::pair(true, 0.9));
        }
        let count = text.matches("\\\"name\\\": \\\"f").count();
        let class = |n: usize| {
            json!({ "finding": format!("f{n}"), "reason": null, "classification": "OUT_OF_SCOPE", "matches_target": false,
                "is_valid_concern": false })
        };
        Ok(json!({ "findings": (1..=count).map(class).collect::<Vec<_>>(),
            "target": { "found": false, "finding": null, "type_match": null, "rcir": null, "ava": null, "fsv": null },
            "said_vulnerable": true, "confidence_expressed": null, "explanation": "Because." }))
    })
}

/// Neither pairs nor audits tell who wrote what is judged: every byte of every request is looked at.
#[test]
fn nothing_tells_a_judge_whose_work_it_is() {
    for judge in ["zzmark-sonnet", "zzmark-gpt"] {
        let server = answering();
        let project = marked();
        let more = format!("--store zzmark-store --judge {judge} --json");
        let begun =
            format!("run suite --tool replay:zzmark.jsonl --trials 2 --name zzmark-run --model zzmark-model -q {more}");
        run(&project, &server, &begun).expect(0);
        let pairs = server.requests();
        run(&project, &server, &format!("score zzmark-run --profile audit {more}")).expect(0);
        let audits = server.requests() - pairs;
        assert_eq!((pairs, audits), (3, 3));
        for profile in ["karat", "crb", "audit"] {
            let line =
                format!("score suite --submission zzmark-late.jsonl --profile {profile} {more} --judge-cache off");
            run(&project, &server, &line).expect(0);
        }
        assert_eq!(server.requests(), 6 + 3 + 2 + 3);
        for body in server.bodies() {
            let body = body.to_string();
            assert!(body.contains("The name goes into the query.") || body.contains("built from input"), "{body}");
            for word in [MARK, "776", "777", "replay", "karat", "trial"] {
                assert!(!body.to_lowercase().contains(word), "{word} stands in {body}");
            }
        }
    }
}

/// Neither in what is printed nor in any file there is, whatever a server repeats: in an error, in a refusal, in an answer.
#[test]
fn a_key_is_seen_nowhere() {
    let repeating = || {
        Server::weighing(Behaviour::GOOD, |body| {
            let words = super::user(body);
            match () {
                () if words.contains("Reader 1 ") => Err(Fault::TooMany),
                () if words.contains("Reader 2 ") => Err(Fault::Refusal),
                () if words.contains("Reader 3 ") => Err(Fault::Prose),
                () => Ok(json!({ "match": true, "confidence": 1, "partial": false,
                    "explanation": format!("Your key is {KEY}, and Bearer {KEY}.") })),
            }
        })
    };
    for judge in ["sonnet", "gpt"] {
        let project = project(6, 1);
        let config = project.read("suite/karat.toml").replace("-test\"", "-test\"\nretries = 1");
        project.write("suite/karat.toml", config);
        let server = repeating();
        let more = format!("--judge {judge} --save-judgements said.jsonl -o report.json -o report.md -o report.sarif");
        let ran = run(&project, &server, &format!("score suite --submission it.jsonl {more}")).expect(0);
        assert!(ran.err.contains("retrying in") && ran.err.contains("answered 429"), "{}", ran.err);
        let begun = run(&project, &server, &format!("run suite --tool replay:it.jsonl --judge {judge} -j 1")).expect(0);
        let told = run(&project, &server, "explain c5 --run latest").expect(0);
        assert!(told.out.contains("Your key is [key], and Bearer [key]."), "{}", told.out);
        project.ok("store export --ledger -o ledger.jsonl");
        project.ok("store export latest --whole -o run.jsonl");
        for text in [&ran.out, &ran.err, &begun.out, &begun.err, &told.out, &told.err] {
            assert!(!text.contains(KEY), "{text}");
        }
        // A key that nobody accepts ends it all, with the server's words.
        let closed = Server::start(Behaviour::always(&[Fault::Unauthorized]));
        let line = format!("score suite --submission it.jsonl --judge {judge} --judge-cache off");
        let refused =
            Ran::start(command(&project, &closed).args(line.split_whitespace())).says(5, &["[key]", "was rejected"]);
        assert!(!refused.err.contains(KEY) && !refused.out.contains(KEY), "{}", refused.err);
        let files = holding(&project, KEY);
        assert!(files.1 > 8, "only {} files were looked at", files.1);
        assert_eq!(files.0, Vec::<String>::new());
        // What is looked for can be found.
        assert!(!holding(&project, "trusts a length").0.is_empty());
    }
}

/// The files below a project that hold a text, and how many were looked at.
fn holding(project: &Project, text: &str) -> (Vec<String>, usize) {
    let (mut open, mut found, mut looked_at) = (vec![project.path("")], Vec::new(), 0);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
                continue;
            }
            looked_at += 1;
            let bytes = std::fs::read(entry.path()).unwrap();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(entry.path().display().to_string());
            }
        }
    }
    (found, looked_at)
}

/// A suite may come from anybody, and says where its judges and tools are. A key follows it only where somebody typed the name.
#[test]
fn a_suite_alone_sends_no_key_away() {
    let project = project(1, 1);
    let suite = |more: &str| project.write("suite/karat.toml", format!("[suite]\nname = \"readers\"\n{more}"));
    let told = |line: &str| {
        let mut command = project.command();
        command.env("MINE", KEY).args(line.split_whitespace());
        Ran::start(&mut command)
    };
    let away = "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.test/v1\"\nkey_env = \"MINE\"\n";
    suite(&format!("[scoring.override]\njudge = \"theirs\"\n[judges.theirs]\n{away}"));
    let warned = ["elsewhere.test", "--judge theirs"];
    told("score suite --submission it.jsonl").says(2, &warned);
    told("run suite --tool replay:it.jsonl").says(2, &warned);
    told("score suite --submission it.jsonl --judge none").expect(0);
    // Nothing is sent where nobody is asked.
    told("score suite --submission it.jsonl --judge-cache only").says(5, &["the ledger holds no answer"]);
    // On this machine it stays with the user.
    suite(
        &format!("[scoring.override]\njudge = \"theirs\"\n[judges.theirs]\nretries = 0\n{away}")
            .replace("https://elsewhere.test", "http://127.0.0.1:1"),
    );
    told("score suite --submission it.jsonl").says(5, &["answered none of 1 questions"]);
    suite(&format!("[tools.theirs]\nkind = \"llm\"\n{away}"));
    told("run suite").says(2, &["elsewhere.test", "--allow 'theirs:key=https://elsewhere.test/v1'"]);
}
