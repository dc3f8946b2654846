//! Secrets and identities that must not be in prompts or files.

use super::{KEY, command, project, run};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project, lines};
use crate::run::with_cases;
use serde_json::{Value, json};

/// In every name that a judge must not see.
const MARK: &str = "zzmark";

/// A suite with code and recorded trials, with the mark in the names of suite, case, golden, tool, findings and file.
/// Trials have a number that occurs nowhere else.
fn marked_project() -> Project {
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

/// A server with an answer that fits both kinds of questions.
fn server_answering_both() -> Server {
    Server::deciding_by_request(Behaviour::GOOD, |body| {
        let text = body.to_string();
        if !text.contains("said_vulnerable") {
            return Ok(super::pair_answer(true, 0.9));
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

/// Neither pairs nor audits reveal who wrote what is judged: every byte of every request is checked.
#[test]
fn prompts_do_not_identify_the_tool() {
    for judge in ["zzmark-sonnet", "zzmark-gpt"] {
        let server = server_answering_both();
        let project = marked_project();
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
                assert!(!body.to_lowercase().contains(word), "{word} is in {body}");
            }
        }
    }
}

/// Neither in the output nor in any file, even if a server repeats the key in an error, a refusal or an answer.
#[test]
fn keys_are_redacted_everywhere() {
    let repeating = || {
        Server::deciding_by_request(Behaviour::GOOD, |body| {
            let words = super::user_message(body);
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
        assert!(ran.err.contains(", try 2 of ") && ran.err.contains("answered 429"), "{}", ran.err);
        let begun = run(&project, &server, &format!("run suite --tool replay:it.jsonl --judge {judge} -j 1")).expect(0);
        let explained = run(&project, &server, "explain c5 --run latest").expect(0);
        assert!(explained.out.contains("Your key is [key], and Bearer [key]."), "{}", explained.out);
        project.ok("store export --ledger -o ledger.jsonl");
        project.ok("store export latest --whole -o run.jsonl");
        for text in [&ran.out, &ran.err, &begun.out, &begun.err, &explained.out, &explained.err] {
            assert!(!text.contains(KEY), "{text}");
        }
        // A rejected key is an error with the message of the server.
        let closed = Server::start(Behaviour::always(&[Fault::Unauthorized]));
        let line = format!("score suite --submission it.jsonl --judge {judge} --judge-cache off");
        let refused = CommandOutput::start(command(&project, &closed).args(line.split_whitespace()))
            .expect_error(5, &["[key]", "was rejected"]);
        assert!(!refused.err.contains(KEY) && !refused.out.contains(KEY), "{}", refused.err);
        let files = find_files_with(&project, KEY);
        assert!(files.1 > 8, "only {} files were searched", files.1);
        assert_eq!(files.0, Vec::<String>::new());
        // Control: the search does find text.
        assert!(!find_files_with(&project, "trusts a length").0.is_empty());
    }
}

/// The files of a project that contain a text, and the number of files searched.
fn find_files_with(project: &Project, text: &str) -> (Vec<String>, usize) {
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

/// A suite from somebody else may set the URLs of its judges and tools. A key is sent there only if the user named
/// the judge.
#[test]
fn suite_cannot_send_keys_to_its_own_url() {
    let project = project(1, 1);
    let suite = |more: &str| project.write("suite/karat.toml", format!("[suite]\nname = \"readers\"\n{more}"));
    let run_with_keys = |line: &str| {
        let mut command = project.command();
        command.env("MINE", KEY).args(line.split_whitespace());
        CommandOutput::start(&mut command)
    };
    let away = "provider = \"openai\"\nmodel = \"m\"\nbase_url = \"https://elsewhere.test/v1\"\nkey_env = \"MINE\"\n";
    suite(&format!("[scoring.override]\njudge = \"theirs\"\n[judges.theirs]\n{away}"));
    let warned = ["elsewhere.test", "--judge theirs"];
    run_with_keys("score suite --submission it.jsonl").expect_error(2, &warned);
    run_with_keys("run suite --tool replay:it.jsonl").expect_error(2, &warned);
    run_with_keys("score suite --submission it.jsonl --judge none").expect(0);
    // Nothing is sent if no question is asked.
    run_with_keys("score suite --submission it.jsonl --judge-cache only")
        .expect_error(5, &["the ledger holds no answer"]);
    // URLs on this machine are allowed.
    suite(
        &format!("[scoring.override]\njudge = \"theirs\"\n[judges.theirs]\nretries = 0\n{away}")
            .replace("https://elsewhere.test", "http://127.0.0.1:1"),
    );
    run_with_keys("score suite --submission it.jsonl").expect_error(5, &["answered none of 1 questions"]);
    suite(&format!("[tools.theirs]\nkind = \"llm\"\n{away}"));
    run_with_keys("run suite").expect_error(2, &["elsewhere.test", "--allow 'theirs:key=https://elsewhere.test/v1'"]);
}
