//! A language model as a tool: requests, outcomes, costs, and secrecy of the API key.

use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project, near};
use crate::run::{outcomes, parsed, reasons, with_cases};
use serde_json::{Value, json};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KEY: &str = "sk-test-5ecret0fTheHouse";

fn finding() -> Value {
    json!({
        "title": "SQL injection", "message": "The name goes into the query.", "file": "app.py", "line_start": 2,
        "line_end": 2, "severity": "high", "category": "sql-injection", "confidence": 0.9, "cwe": 89
    })
}

/// A suite of one case, and a scripted tool that gives these answers in order.
fn scripted_project(answers: &[Value], manifest: &str) -> Project {
    let project = with_cases(1);
    let lines: String = answers.iter().map(|answer| format!("{}\n", json!({ "answer": answer }))).collect();
    project.write("tools/answers.jsonl", lines);
    let text = format!("kind = \"llm\"\nprovider = \"scripted\"\nfile = \"answers.jsonl\"\n{manifest}\n");
    project.write("tools/it.toml", text);
    project
}

/// Runs a tool once on each case.
fn run(project: &Project, tool: &str, variables: &[(&str, &str)]) -> CommandOutput {
    let mut command = project.command();
    for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"] {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    CommandOutput::start(command.args(["run", "suite", "--tool", tool, "--trials", "1", "-j", "1", "-q", "--json"]))
}

/// The trials of the last run in the submission format.
fn trials(project: &Project) -> Vec<Value> {
    project.ok("store export latest").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Checks the outcome of one scripted trial and its reason.
#[track_caller]
fn check(answers: &[Value], manifest: &str, outcome: &str, reason: &str) {
    let project = scripted_project(answers, manifest);
    let report = parsed(&run(&project, "tools/it.toml", &[]));
    assert_eq!(outcomes(&report), outcome, "{answers:?}");
    let reasons = reasons(&project);
    match reason {
        "" => assert!(reasons.is_empty(), "{answers:?}: {reasons:?}"),
        _ => assert!(reasons.len() == 1 && reasons[0].contains(reason), "{answers:?}: {reasons:?}"),
    }
}

#[test]
fn findings_of_a_model_are_scored() {
    let project = scripted_project(&[json!({ "findings": [finding()] })], "");
    let report = parsed(&run(&project, "tools/it.toml", &[]));
    near(&report, "/tools/0/metrics/recall/value", 1.0);
    near(&report, "/tools/0/metrics/precision/value", 1.0);
    let trial = &trials(&project)[0];
    let expect = json!([{
        "id": "f1", "title": "SQL injection", "message": "The name goes into the query.", "file": "app.py",
        "line_start": 2, "line_end": 2, "severity": "high", "confidence": 0.9, "category": "sql-injection", "cwe": [89]
    }]);
    assert_eq!(trial["findings"], expect);
    // A script has no token counts, and unknown is not zero.
    assert!(trial["latency_ms"].as_f64().is_some() && trial.get("tokens_in").is_none(), "{trial}");
    assert!(trial.get("verdict").is_none(), "{trial}");
}

#[test]
fn outcomes_of_answers() {
    check(&[json!({ "findings": [] })], "", "reported 1", "");
    let odd = json!({ "findings": [{ "title": "t", "message": "", "line_start": 0, "line_end": -3, "extra": 1 }] });
    check(&[odd], "", "reported 1", "");
    // JSON in a code fence is read; an unreadable answer gets one repair request.
    check(&[json!("```json\n{\"findings\": []}\n```")], "", "reported 1", "");
    check(&[json!("Looks good!"), json!({ "findings": [] })], "", "reported 1", "");
    check(
        &[json!("Looks good!"), json!("I said it looks good.")],
        "",
        "unparsable 1",
        "it said: I said it looks good.",
    );
    check(&[json!({ "issues": [] }), json!({})], "", "unparsable 1", "findings");
    let wrong = json!({ "findings": [{ "title": "t", "message": "m", "severity": "awful" }] });
    check(&[wrong.clone(), wrong], "", "unparsable 1", "severity");
    check(&[], "", "crashed 1", "the script has no answer to the question case-1#1");
    check(&[json!("x"), json!({ "findings": [] })], "budget_calls = 1", "unavailable 1", "the budget is spent");
}

/// The answer of an auditor must have a verdict.
#[test]
fn auditor_answers_need_a_verdict() {
    let whole = json!({ "verdict": "vulnerable", "confidence": 0.8, "findings": [finding()] });
    let project = scripted_project(&[whole], "role = \"auditor\"");
    run(&project, "tools/it.toml", &[]).expect(0);
    let trial = &trials(&project)[0];
    assert_eq!((&trial["verdict"], &trial["confidence"]), (&json!("vulnerable"), &json!(0.8)), "{trial}");
    let none = json!({ "findings": [finding()] });
    check(&[none.clone(), none], "role = \"auditor\"", "unparsable 1", "verdict");
}

#[test]
fn budget_is_shared_by_all_trials() {
    let answers: Vec<Value> = (0..4).map(|_| json!({ "findings": [] })).collect();
    let project = scripted_project(&answers, "budget_calls = 3");
    let ran = project.run("run suite --tool tools/it.toml --trials 4 -j 4 -q --json");
    assert_eq!(outcomes(&parsed(&ran)), "reported 3, unavailable 1");
}

/// A suite with a marker in everything that must not be sent to the model.
fn marked_project() -> Project {
    let project = with_cases(1);
    let yaml = project.read("suite/cases/case-1/case.yaml");
    let yaml = yaml.replace("SQL query built", "MARKED query built").replace("[sql]", "[marked]");
    project.write("suite/cases/case-1/case.yaml", yaml.replace("case-1", "marked-case"));
    project.write("suite/cases/case-1/after/lib/other.py", "print('hello')\n");
    project
}

/// Both wire formats, with the `llm:` shorthand and the provider's environment variables.
#[test]
fn llm_shorthand_sends_the_change_and_no_goldens() {
    for (provider, base) in [("openai", "/v1"), ("anthropic", "")] {
        let server = Server::saying(Behaviour::GOOD, Some(json!({ "findings": [finding()] })));
        let project = marked_project();
        let url = format!("http://127.0.0.1:{}{base}", server.port);
        let (key_name, url_name) =
            (format!("{}_API_KEY", provider.to_uppercase()), format!("{}_BASE_URL", provider.to_uppercase()));
        let variables = [(key_name.as_str(), KEY), (url_name.as_str(), url.as_str()), ("KARAT_JUDGE_MODEL", "judge")];
        let ran = run(&project, &format!("llm:{provider}/marked-model"), &variables);
        let report = parsed(&ran);
        assert_eq!(outcomes(&report), "reported 1", "{}", ran.err);
        assert_eq!(report["tools"][0]["tool"], "marked-model");
        let trial = &trials(&project)[0];
        assert_eq!((&trial["tokens_in"], &trial["tokens_out"]), (&json!(800), &json!(60)), "{trial}");
        assert!(trial.get("cost_usd").is_none(), "{trial}");

        let bodies = server.bodies();
        assert_eq!(bodies.len(), 1);
        // The judge's variables do not apply to tools.
        assert_eq!(bodies[0]["model"], "marked-model");
        assert_eq!(bodies[0]["temperature"], 0.0);
        let body =
            Value::Object(bodies[0].as_object().unwrap().clone().into_iter().filter(|(k, _)| k != "model").collect());
        let body = body.to_string();
        assert!(!body.to_lowercase().contains("marked") && !body.contains("suite"), "{body}");
        for part in ["Search by name", "Adds a search.", "    2 +     return db.execute", "      -     return None"] {
            assert!(body.contains(part), "{part}: {body}");
        }
        assert!(body.contains("file lib/other.py (new)\\n    1 + print('hello')"), "{body}");
        assert_no_key_in(&project, &ran);
    }
}

/// Neither the store's files nor the output contain the key.
#[track_caller]
fn assert_no_key_in(project: &Project, ran: &CommandOutput) {
    assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}{}", ran.out, ran.err);
    let (mut open, mut files) = (vec![project.path(".karat")], 0);
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
                continue;
            }
            files += 1;
            let bytes = std::fs::read(entry.path()).unwrap();
            let there = bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes());
            assert!(!there, "{} contains the key", entry.path().display());
        }
    }
    assert!(files > 0, "the store has no files");
}

/// What providers answer when credit, a quota or a limit is used up, and what of it is said.
const USED_UP: &[(&[Fault], &str)] = &[
    (&[Fault::Says(402, "{}")], "127.0.0.1 answered 402"),
    (
        &[Fault::Says(429, r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota"}}"#)],
        "current quota",
    ),
    (
        &[Fault::Says(400, r#"{"error":{"message":"Your credit balance is too low to access the API."}}"#)],
        "credit balance",
    ),
    (
        &[Fault::Says(403, r#"{"error":{"message":"Key limit exceeded (total limit).","code":403}}"#)],
        "Key limit exceeded",
    ),
    (
        &[Fault::Says(
            429,
            r#"{"error":{"message":"Quota","status":"RESOURCE_EXHAUSTED","details":[{"quotaId":"RequestsPerDay"}]}}"#,
        )],
        "429: Quota",
    ),
    (&[Fault::Says(200, r#"{"error":{"message":"Insufficient credits","code":402}}"#)], "Insufficient credits"),
];

/// A used-up account leaves all trials unavailable after one request; a server that is not there after few.
#[test]
fn nothing_is_retried_where_retrying_is_useless() {
    let server = Server::start(Behaviour::always(&[Fault::Says(402, "{}")]));
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port();
    let refused = format!("connection refused by 127.0.0.1:{closed}");
    let second_try = format!("m on case-1, trial 1: {refused}, try 2 of 3 in 1.0 s");
    for (port, said) in [(server.port, "answered 402"), (closed, second_try.as_str())] {
        let project = with_cases(4);
        let began = Instant::now();
        let mut command = project.command();
        command.env("OPENAI_BASE_URL", format!("http://127.0.0.1:{port}/v1"));
        let line = "run suite --tool llm:openai/m --trials 1 -j 1";
        let ran = CommandOutput::start(command.args(line.split_whitespace()));
        let ran = ran.expect_error(5, &["None of 4 trials came to a report: 4 unavailable", said]);
        assert!(began.elapsed() < Duration::from_secs(60), "{:?}: {}", began.elapsed(), ran.err);
    }
    assert_eq!(server.requests(), 1);
}

/// Faults of the server and the resulting outcomes.
#[test]
fn outcomes_of_server_faults() {
    let check = |provider: &str, fault: &'static [Fault], manifest: &str, outcome: &str, reason: &str| {
        let server = Server::saying(Behaviour::always(fault), Some(json!({ "findings": [] })));
        let project = with_cases(1);
        let url = format!("http://127.0.0.1:{}{}", server.port, if provider == "openai" { "/v1" } else { "" });
        let text = format!(
            "kind = \"llm\"\nprovider = \"{provider}\"\nmodel = \"m\"\nkey_env = \"MINE\"\nretries = 0\nbase_url = \"{url}\"\n{manifest}\n"
        );
        project.write("tools/it.toml", text);
        let ran = run(&project, "tools/it.toml", &[("MINE", KEY)]);
        assert_eq!(outcomes(&parsed(&ran)), outcome, "{fault:?}");
        let reasons = reasons(&project);
        assert!(reasons.len() == 1 && reasons[0].contains(reason), "{provider} {fault:?}: {reasons:?}");
        assert_no_key_in(&project, &ran);
    };
    // A refusal is not an empty list of findings.
    check("anthropic", &[Fault::Refusal], "", "crashed 1", "the model refused to answer: I cannot help with that.");
    check("openai", &[Fault::Refusal], "", "crashed 1", "the model refused to answer: a content filter");
    for provider in ["anthropic", "openai"] {
        check(provider, &[Fault::TooMany], "", "unavailable 1", "the last one: 127.0.0.1 answered 429");
        for (fault, said) in USED_UP {
            check(provider, fault, "", "unavailable 1", said);
        }
        check(provider, &[Fault::Silent], "timeout = \"1s\"", "timed_out 1", "no answer within 1 s");
        check(provider, &[Fault::Prose], "", "unparsable 1", "it said: I believe");
        check(provider, &[Fault::CutAnswer], "", "unparsable 1", "it ends in the middle");
    }
}

/// An error that affects every request ends the run and is not an outcome of the tool.
#[test]
fn rejected_key_ends_the_run() {
    let server = Server::saying(Behaviour::always(&[Fault::Unauthorized]), Some(json!({})));
    let project = with_cases(3);
    let url = format!("http://127.0.0.1:{}", server.port);
    let variables = [("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", url.as_str())];
    let ran = run(&project, "llm:anthropic/m", &variables);
    let ran = ran.expect_error(5, &["the key was rejected", "karat run --resume"]);
    assert_no_key_in(&project, &ran);
    assert_eq!(project.ok("store export latest"), "");
}

#[test]
fn missing_key_and_unknown_names_are_usage_errors() {
    let project = with_cases(1);
    run(&project, "llm:anthropic/m", &[])
        .expect_error(5, &["the tool `m` cannot be run", "ANTHROPIC_API_KEY holds no key"]);
    assert_eq!(project.json("store list --json"), json!([]));
    // Beside a tool that can run, its trials are unavailable, and the others are kept.
    let line = "run suite --tool llm:anthropic/m patterns --trials 1 -j 1 -q --json";
    let again = "its trials are unavailable; try them again with: karat run --resume ";
    let ran = project.run(line).expect_error(5, &["the tool `m` cannot be run", again]);
    let report = parsed(&ran);
    assert_eq!(outcomes(&report), "unavailable 1");
    assert_eq!(report["tools"][1]["outcomes"]["reported"], 1);
    assert_eq!(project.json("store list --json")[0]["state"], "complete");
    project.run("run --resume latest -q").expect_error(5, &["the tool `m` cannot be run"]);
    let usage = |tool: &str, expect: &str| {
        run(&project, tool, &[]).expect_error(2, &[expect, "llm:PROVIDER/MODEL"]);
    };
    usage("llm:antropic/m", "did you mean `anthropic`?");
    usage("llm:openai", "expected a `/`");
    usage("llm:openai/m@advesarial", "did you mean `adversarial`?");
    usage("llm:local/m", "`local` cannot be asked");
}

#[test]
fn prices_give_costs() {
    let server = Server::saying(Behaviour::GOOD, Some(json!({ "findings": [] })));
    let project = with_cases(1);
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    project.write(
        "suite/karat.toml",
        format!("[suite]\nname = \"small\"\n[tools.paid]\nkind = \"llm\"\nprovider = \"openai\"\nmodel = \"{{model}}\"\nbase_url = \"{url}\"\nprice_in = 2.5\nprice_out = 10\napi = {{ seed = 7 }}\ntemperature = 0.5\n"),
    );
    project.ok("check suite");
    project.run("run suite --tool paid").expect_error(2, &["`{model}` has no value"]);
    project.ok("run suite --tool paid --trials 1 -q --model by-flag");
    assert_eq!(trials(&project)[0]["cost_usd"], json!((800.0 * 2.5 + 60.0 * 10.0) / 1e6));
    let body = &server.bodies()[0];
    assert_eq!((&body["model"], &body["seed"], &body["temperature"]), (&json!("by-flag"), &json!(7), &json!(0.5)));
}

/// A case with code but no change.
fn contract_project(code: &str) -> Project {
    let project = Project::new().with("suite/karat.toml", "[suite]\nname = \"contracts\"\n");
    project.write("suite/cases/c/case.yaml", "id: c\nverdict: vulnerable\npr:\n  title: UNSAID\n");
    project.write("suite/cases/c/after/Bank.sol", code);
    project
}

#[test]
fn code_without_a_change_is_audited() {
    let answer = json!({ "verdict": "vulnerable", "confidence": 0.7, "findings": [] });
    let server = Server::saying(Behaviour::GOOD, Some(answer));
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let mut prompts = Vec::new();
    for style in ["", "@direct", "@naturalistic", "@adversarial"] {
        let project = contract_project("contract Bank {\n  function pay() public {}\n}\n");
        run(&project, &format!("llm:openai/m{style}"), &[("OPENAI_BASE_URL", &url)]).expect(0);
        let trial = &trials(&project)[0];
        assert_eq!((&trial["tool"], &trial["verdict"]), (&json!("m"), &json!("vulnerable")));
        let body = server.bodies().pop().unwrap();
        let messages = body["messages"].to_string();
        assert!(messages.contains("file Bank.sol\\n    1 contract Bank {\\n    2   function pay()"), "{messages}");
        assert!(!messages.contains("UNSAID"), "{messages}");
        prompts.push(messages);
    }
    assert_eq!(prompts[0], prompts[1]);
    prompts.dedup();
    assert_eq!(prompts.len(), 3, "each style has its own prompt");
}

/// A model that is only right if it is asked plainly.
#[test]
fn styles_are_slices_of_one_tool() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| {
        let plain = !body["messages"].to_string().contains("audited twice by well-known firms");
        Ok(json!({ "verdict": if plain { "vulnerable" } else { "safe" }, "confidence": 0.7, "findings": [] }))
    });
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let run_with = |words: &[&str]| {
        let project = contract_project("contract Bank {\n  function pay() public {}\n}\n");
        let mut command = project.command();
        command.env("OPENAI_BASE_URL", &url).args(["run", "suite", "--trials", "2", "--json", "--tool"]).args(words);
        let report = parsed(&CommandOutput::start(&mut command).expect(0));
        (project, report)
    };
    let names = |report: &Value| -> Vec<String> {
        let tools = report["tools"].as_array().unwrap().iter();
        tools.map(|tool| format!("{} {}", tool["tool"].as_str().unwrap(), tool["trials"])).collect()
    };
    // However they are named.
    for words in [&["llm:openai/m@direct,adversarial"][..], &["llm:openai/m", "llm:openai/m@adversarial"]] {
        let (project, report) = run_with(words);
        assert_eq!(names(&report), ["m 4"]);
        let styles: Vec<String> = trials(&project).iter().map(|t| format!("{} {}", t["trial"], t["style"])).collect();
        assert_eq!(styles, ["1 \"direct\"", "2 \"adversarial\"", "3 \"direct\"", "4 \"adversarial\""]);
        let by_style = &report["tools"][0]["by"]["style"];
        let accuracy = |style: &str| by_style[style]["metrics"]["accuracy"]["value"].clone();
        assert_eq!(["direct", "adversarial"].map(accuracy), [json!(1.0), json!(0.0)], "{by_style}");
        assert_eq!(report["tools"][0]["metrics"]["accuracy"]["value"], 0.5);
        // Scoring the stored trials again gives the same.
        let again = project.json("score suite --run latest --json");
        assert_eq!(again["tools"][0]["by"], report["tools"][0]["by"]);
    }
    let (_, report) = run_with(&["llm:openai/m@direct,adversarial", "--separate-styles"]);
    assert_eq!(names(&report), ["m@direct 2", "m@adversarial 2"]);
    // A manifest states them the same way, one or many.
    let project = contract_project("contract Bank {}\n");
    let manifest = |style: &str| {
        format!(
            "[suite]\nname = \"contracts\"\n[tools.asked]\nkind = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\nstyle = {style}\n"
        )
    };
    let plan = |style: &str, flags: &str| {
        project.write("suite/karat.toml", manifest(style));
        let plan = project.json(&format!("run suite --tool asked --trials 2 --dry-run --json {flags}"));
        let tools = plan["tools"].as_array().unwrap().iter();
        tools.map(|tool| format!("{} {} {}", tool["name"], tool["trials"], tool["llm"]["style"])).collect::<Vec<_>>()
    };
    assert_eq!(plan("\"naturalistic\"", ""), [r#""asked" 2 ["naturalistic"]"#]);
    let both = r#"["direct", "adversarial"]"#;
    assert_eq!(plan(both, ""), [r#""asked" 4 ["direct","adversarial"]"#]);
    let separate = [r#""asked@direct" 2 ["direct"]"#, r#""asked@adversarial" 2 ["adversarial"]"#];
    assert_eq!(plan(both, "--separate-styles"), separate);
    project.write("suite/karat.toml", manifest(r#"["direct", "direct"]"#));
    let checked = project.run("check suite").expect(4);
    assert!(checked.out.contains("`direct` is given twice"), "{}", checked.out);
    let twice = ["run", "suite", "--tool", "llm:openai/m@direct", "llm:openai/m", "--dry-run"];
    project.run_list(&twice).expect_error(2, &["the tool `m` is given twice"]);
}

/// Code that does not fit is omitted, and the prompt and the report say so.
#[test]
fn long_code_is_cut_with_a_note() {
    let server = Server::saying(Behaviour::GOOD, Some(json!({ "verdict": "safe", "confidence": 1, "findings": [] })));
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let project = contract_project(&"uint x; // a line of a contract that never ends\n".repeat(10_000));
    project.write("suite/cases/c/after/Small.sol", "contract Small {}\n");
    let report = parsed(&run(&project, "llm:openai/m", &[("OPENAI_BASE_URL", &url)]));
    let note = trials(&project)[0]["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("incomplete: the code was too long") && note.ends_with("Bank.sol in part"), "{note}");
    assert!(report["warnings"].to_string().contains("incomplete"), "{}", report["warnings"]);
    let messages = server.bodies()[0]["messages"].to_string();
    assert!(messages.contains("(the rest of this file is not shown)") && messages.contains("contract Small {}"));
}

/// Every trial is a new request, whose exchange is stored with it.
#[test]
fn every_trial_is_a_new_request() {
    let server = Server::saying(Behaviour::GOOD, Some(json!({ "findings": [finding()] })));
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let project = with_cases(2);
    let mut command = project.command();
    command.env("OPENAI_BASE_URL", &url).args(["run", "suite", "--tool", "llm:openai/m", "--trials", "3", "-j", "4"]);
    CommandOutput::start(&mut command).expect(0);
    assert_eq!(server.requests(), 6);
    let kept = project.ok("store show latest --trial m case-1 2 --artifact exchange");
    let exchange: Value = serde_json::from_str(kept.lines().next().unwrap()).unwrap();
    assert_eq!((&exchange["template"], &exchange["model"]), (&json!("reviewer/v1"), &json!("m")));
    assert!(exchange["user"].as_str().unwrap().contains("return db.execute"), "{exchange}");
    assert_eq!(exchange["replies"][0]["tokens_in"], 800);
}

#[test]
fn plan_shows_provider_role_and_prompts() {
    let project = with_cases(1);
    let plan = "run suite --tool llm:anthropic/a llm:openai/b@adversarial --dry-run";
    let text = project.ok(plan);
    let expect = "  a · llm · 2 trials each · isolation nothing is executed · model a\n    asks anthropic · role auto · style direct · prompts reviewer/v1, auditor-direct/v1\n";
    assert!(text.contains(expect), "{text}");
    assert!(
        text.contains(
            "    asks openai · role auto · style adversarial · prompts reviewer/v1, auditor-adversarial/v1\n"
        )
    );
    let json = project.json(&format!("{plan} --json"));
    assert_eq!(
        json["tools"][1]["llm"],
        json!({ "provider": "openai", "role": "auto", "style": ["adversarial"], "prompts": ["reviewer/v1", "auditor-adversarial/v1"] })
    );
    assert_eq!(json["tools"][1]["model"], "b");
    assert_eq!(project.json(&format!("{plan} --json")), json, "the plan differs the second time");
}

/// No program is executed, so isolation does not apply.
#[test]
fn model_needs_no_isolation() {
    let project = scripted_project(&[json!({ "findings": [] })], "");
    project.ok("run suite --tool tools/it.toml --trials 1 -q --isolation process --require-isolation");
    crate::run::with_tool(&project, "program", crate::run::FINDS_IT, "");
    let both = "run suite --tool tools/it.toml tools/program.toml --isolation process --require-isolation";
    project.run(both).expect_error(2, &["is less than"]);
}

/// The plan of an imported run could send the key to another server.
#[test]
fn imported_run_cannot_call_models() {
    let project = scripted_project(&[json!({ "findings": [] })], "");
    project.ok("run suite --tool tools/it.toml --trials 1 -q");
    project.ok("store export latest --whole -o run.jsonl");
    project.ok("store import run.jsonl --store other");
    project.run("run --resume latest --store other").expect_error(4, &["was imported"]);
}

/// Ctrl-C during a request ends the run soon, and no trial is stored as failed.
#[test]
fn run_waiting_for_a_model_can_be_interrupted() {
    let server = Server::saying(Behaviour::always(&[Fault::Silent]), Some(json!({ "findings": [] })));
    let project = with_cases(4);
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(["run", "suite", "--tool", "llm:openai/m", "--trials", "2", "-j", "3", "-q"])
        .env("OPENAI_BASE_URL", format!("http://127.0.0.1:{}/v1", server.port))
        .env("XDG_CONFIG_HOME", project.path(".user"))
        .current_dir(project.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let waiting_since = Instant::now();
    while server.requests() < 3 && waiting_since.elapsed() < crate::run::STOP_LIMIT {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(server.requests(), 3, "as many concurrent trials as -j allows");
    let began = Instant::now();
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let status = child.wait().unwrap();
    assert!(began.elapsed() < crate::run::STOP_LIMIT, "{:?}", began.elapsed());
    assert_eq!(status.code(), Some(5));
    assert_eq!(project.ok("store export latest"), "");
}

#[test]
fn faults_of_declared_models_have_positions() {
    let check = |text: &str, expect: &str| {
        let project = with_cases(1);
        project.write("suite/karat.toml", format!("[suite]\nname = \"s\"\n[tools.it]\n{text}\n"));
        let output = project.run("check suite").expect(4).out;
        assert!(output.contains(expect) && output.contains("karat.toml:"), "{text}: {output}");
    };
    let llm = |text: &str| format!("kind = \"llm\"\nprovider = \"openai\"\nmodel = \"m\"\n{text}");
    check("kind = \"llm\"", "needs `provider`, who is asked; available: anthropic, openai, google, scripted, replay");
    check("kind = \"llm\"\nprovider = \"opnai\"", "did you mean `openai`?");
    check("kind = \"llm\"\nprovider = \"human\"", "cannot be asked to review anything");
    check("kind = \"llm\"\nprovider = \"scripted\"", "needs `file`");
    check("kind = \"llm\"\nprovider = \"scripted\"\nfile = \"none.jsonl\"", "the suite has no file `none.jsonl`");
    check(&llm("file = \"x.jsonl\""), "has no effect for provider = \"openai\"");
    check(&llm("role = \"reviewr\""), "role");
    check(&llm("role = \"reviewer\"\nstyle = \"direct\""), "is for auditors");
    check(&llm("budget_usd = 3"), "give `price_in` and `price_out`");
    check(&llm("timeout = \"soon\""), "invalid duration");
    check(&llm("temperature = 3"), "temperature");
    check(&llm("command = [\"x\"]"), "has no effect for kind = \"llm\"");
    check("command = [\"x\"]\nformat = \"karat\"\nprovider = \"openai\"", "has no effect for kind = \"command\"");
    check(&llm("stile = \"direct\""), "did you mean `style`?");
}

#[test]
fn doctor_checks_the_key() {
    let project = with_cases(1);
    project.write(
        "suite/karat.toml",
        "[suite]\nname = \"s\"\n[tools.it]\nkind = \"llm\"\nprovider = \"openai\"\nkey_env = \"MY_KEY\"\n",
    );
    let run_doctor = |variables: &[(&str, &str)]| {
        let mut command = project.command();
        command.envs(variables.iter().copied()).args(["tools", "doctor", "it", "--suite", "suite"]);
        CommandOutput::start(&mut command)
    };
    let without = run_doctor(&[]).expect(5).out;
    assert!(without.contains("it: not usable") && without.contains("set MY_KEY"), "{without}");
    let with = run_doctor(&[("MY_KEY", KEY)]).expect(0).out;
    assert!(with.contains("MY_KEY is set") && with.contains("--model NAME") && !with.contains(KEY), "{with}");
    assert!(project.ok("tools show it --suite suite").contains("kind = \"llm\""));
}
