//! Models as they are today: what they refuse is not tried, what is learned is remembered, and retired ones are not asked.

use super::{command, find_judge, pair_answer, project, report, run, user_message, warnings, without_measurements};
use crate::judge_engine::server::{Behaviour, Fault, Server};
use crate::project::{CommandOutput, Project, near};
use serde_json::{Value, json};

/// The errors of the Messages API for what Claude Sonnet 5.5 refuses.
const SAMPLING: &str = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature`, `top_p` and `top_k` are not supported for this model."}}"#;
const FORCED: &str = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "tool_choice: forced tool use is not supported for this model."}}"#;
const THINKING: &str = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "\"thinking.type.disabled\" is not supported for this model."}}"#;
const PREFILL: &str = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "This model does not support assistant message prefill."}}"#;
const RANGES: &str = r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "output_config.format.schema: For 'number' type, properties maximum, minimum are not supported"}}"#;

/// Refuses what Claude Sonnet 5.5 refuses, whatever the model is called, and answers natively.
fn sonnet_5_5() -> Server {
    Server::deciding_by_request(Behaviour::GOOD, |body| {
        let refusal = match body {
            _ if ["temperature", "top_p", "top_k"].iter().any(|name| body.get(name).is_some()) => SAMPLING,
            _ if ["tool", "any"].iter().any(|kind| body["tool_choice"]["type"] == *kind) => FORCED,
            _ if body["thinking"]["type"] == "disabled" || body["thinking"].get("budget_tokens").is_some() => THINKING,
            _ if body["messages"].as_array().unwrap().last().unwrap()["role"] == "assistant" => PREFILL,
            _ if body["output_config"].to_string().contains("\"minimum\"") => RANGES,
            _ if body["output_config"]["format"]["type"] != "json_schema" => return Err(Fault::Prose),
            _ => return Ok(pair_answer(true, 0.9)),
        };
        Err(Fault::Says(400, refusal))
    })
}

/// Other questions about the same goldens.
fn ask_something_else(project: &Project, number: usize) {
    project.write("it.jsonl", project.read("it.jsonl").replace(" remark", &format!(" {number} remark")));
}

#[test]
fn known_model_is_asked_as_it_wants_to_be() {
    let (project, server) = (project(6, 1), sonnet_5_5());
    let line = "score suite --submission it.jsonl --judge anthropic --json";
    let ran = run(&project, &server, line).expect(0);
    assert_eq!((server.requests(), server.faults()), (6, 0));
    let body = &server.bodies()[0];
    assert_eq!((&body["model"], &body["output_config"]["effort"]), (&json!("claude-sonnet-5-5"), &json!("low")));
    // The question's own limit, and room to think.
    assert_eq!(body["max_tokens"], 1024 + 4096);
    let scored: Value = serde_json::from_str(&ran.out).unwrap();
    let judge = find_judge(&scored, "anthropic");
    let sent = json!([{ "max_tokens": 5120, "output_config": { "effort": "low", "format": "json_schema" } }]);
    assert_eq!((&judge["sent"], judge["unjudged"].as_u64()), (&sent, Some(0)));
    near(judge, "/usd", 6.0 * (800.0 * 2.0 + 60.0 * 10.0) / 1e6);
    assert!(warnings(&scored).contains("the model refuses `temperature`"), "{}", warnings(&scored));
    // The ledger gives the same report.
    let again = run(&project, &server, &format!("{line} --judge-cache only")).expect(0);
    assert_eq!((without_measurements(&again.out), server.requests()), (without_measurements(&ran.out), 6));
}

/// Settings that the model refuses are left out, and those that it takes are sent.
#[test]
fn settings_of_a_judge_reach_the_model() {
    let project = project(2, 1);
    let judge = "[judges.five]\nprovider = \"anthropic\"\neffort = \"high\"\nmax_tokens = 2000\n\
        [judges.five.api]\ntop_k = 3\nthinking = { type = \"enabled\", budget_tokens = 1024 }\nmetadata = { user_id = \"u\" }\n";
    project.write("suite/karat.toml", project.read("suite/karat.toml") + judge);
    let server = sonnet_5_5();
    let scored = report(&project, &server, "score suite --submission it.jsonl --judge five --json");
    assert_eq!((server.requests(), server.faults()), (2, 0));
    let refused = json!(["temperature", "thinking", "top_k"]);
    assert_eq!(find_judge(&scored, "five")["refused_parameters"], refused);
    let body = &server.bodies()[0];
    assert_eq!((&body["output_config"]["effort"], &body["max_tokens"]), (&json!("high"), &json!(2000)));
    assert_eq!((&body["metadata"], body.get("thinking")), (&json!({ "user_id": "u" }), None));
}

/// A model that nobody knows teaches what it refuses once for each store.
#[test]
fn refusals_are_learned_once_per_store() {
    for (judge, limit) in [("anthropic/claude-next", 2), ("sonnet", 2)] {
        let (project, server) = (project(5, 1), sonnet_5_5());
        let line = format!("score suite --submission it.jsonl --judge {judge} --json");
        let first = report(&project, &server, &line);
        let refusals = server.faults();
        assert!((1..=limit).contains(&refusals), "{refusals}");
        assert_eq!(server.requests(), 5 + refusals);
        let judge_entry = find_judge(&first, judge);
        assert_eq!((&judge_entry["unjudged"], &judge_entry["usd"]), (&json!(0), &Value::Null));
        for number in 1..3 {
            ask_something_else(&project, number);
            report(&project, &server, &line);
        }
        assert_eq!((server.requests(), server.faults()), (15 + refusals, refusals), "{judge}");
        project.ok("store verify");
        // Another store, another address, and no store at all know nothing.
        run(&project, &server, &format!("{line} --store elsewhere")).expect(0);
        assert_eq!(server.faults(), 2 * refusals);
        let other = sonnet_5_5();
        ask_something_else(&project, 3);
        report(&project, &other, &line);
        assert_eq!(other.faults(), refusals);
    }
}

/// Every kind of model of OpenAI is asked as it wants to be.
#[test]
fn reasoning_models_get_their_own_parameters() {
    let check = |model: &str, expect: &[(&str, Value)], absent: &[&str]| {
        let project = project(2, 1);
        let server = Server::saying(Behaviour::GOOD, Some(pair_answer(true, 0.9)));
        let line = format!("score suite --submission it.jsonl --judge openai/{model} --json");
        let scored = report(&project, &server, &line);
        let body = &server.bodies()[0];
        for (place, value) in expect {
            assert_eq!(body.pointer(place), Some(value), "{model} {place}: {body}");
        }
        for name in absent {
            assert_eq!(body.get(name), None, "{model} {name}: {body}");
        }
        let judge = find_judge(&scored, &format!("openai/{model}"));
        assert_eq!((server.requests(), &judge["unjudged"]), (2, &json!(0)), "{judge}");
        judge.clone()
    };
    let (low, room) = (json!("low"), json!(1024 + 4096));
    let reasoning = [("/reasoning_effort", low.clone()), ("/max_completion_tokens", room.clone())];
    check("gpt-6-luna", &reasoning, &["temperature", "max_tokens"]);
    let plain = [("/temperature", json!(0.0)), ("/max_tokens", json!(1024))];
    check("gpt-4.1", &plain, &["reasoning_effort", "max_completion_tokens"]);
    check("of-mine", &plain, &["reasoning_effort", "max_completion_tokens"]);
    let responses =
        [("/reasoning/effort", low), ("/max_output_tokens", room), ("/text/format/type", json!("json_schema"))];
    let judge = check("gpt-5.3-codex", &responses, &["temperature", "messages", "max_tokens", "response_format"]);
    assert_eq!((&judge["tokens_thinking"], &judge["tokens"]), (&json!(80), &json!(2 * 860)));
    assert_eq!(judge["sent"][0]["text"]["format"], "json_schema");
}

/// The answer of OpenAI for a model without chat completions.
const NO_CHAT: &str = r#"{"error": {"message": "This model is only supported in v1/responses and not in v1/chat/completions.", "type": "invalid_request_error", "param": "model", "code": null}}"#;

#[test]
fn model_without_chat_completions_is_asked_through_responses() {
    let project = project(5, 1);
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| match body.get("messages") {
        Some(_) => Err(Fault::Says(404, NO_CHAT)),
        None => Ok(pair_answer(true, 0.9)),
    });
    let scored = report(&project, &server, "score suite --submission it.jsonl --judge openai/of-mine --json");
    assert_eq!((server.requests(), server.faults()), (6, 1));
    assert_eq!(find_judge(&scored, "openai/of-mine")["unjudged"], 0);
}

const RETIRED: &str = "anthropic/claude-sonnet-4-20250514";

#[test]
fn retired_model_is_never_asked() {
    let server = sonnet_5_5();
    let expect = ["claude-sonnet-4-20250514 was retired", "on 2026-06-15", "claude-sonnet-5-5"];
    let fails = |project: &Project, line: &str| run(project, &server, line).expect_error(5, &expect);
    let scored = project(4, 1);
    fails(&scored, &format!("score suite --submission it.jsonl --judge {RETIRED}"));
    fails(&scored, &format!("run suite --tool replay:it.jsonl --judge {RETIRED} --trials 1"));
    fails(&scored, &format!("judge probe suite --judge {RETIRED} --pairs 1"));
    let mut variable = command(&scored, &server);
    variable.env("CRB_JUDGE_MODEL", "claude-sonnet-4-0").args(["score", "suite", "--submission", "it.jsonl"]);
    CommandOutput::start(variable.args(["--profile", "crb"])).expect_error(5, &expect);
    // A tool that is retired finds nothing, and is not asked either.
    let project = crate::run::with_cases(1);
    let ran = run(&project, &server, &format!("run suite --tool llm:{RETIRED} --trials 1 --json"));
    assert!(format!("{}{}", ran.out, ran.err).contains("was retired"), "{}{}", ran.out, ran.err);
    assert_eq!(server.connections(), 0);
    // The day before, it was asked.
    let mut before = command(&scored, &server);
    before.env("KARAT_TODAY", "2026-06-14").args(["score", "suite", "--submission", "it.jsonl", "--judge", RETIRED]);
    CommandOutput::start(&mut before);
    assert!(server.requests() > 0);
}

/// Whoever still serves it says so, and what it has answered stays good.
#[test]
fn answers_of_a_retired_model_are_kept() {
    let project = project(4, 1);
    let server = super::server_answering(true);
    let own = "[[models]]\nprovider = \"anthropic\"\nid = \"claude-sonnet-4-20250514\"\nrefuses = [\"effort\"]\n";
    project.write(".user/karat/models.toml", own);
    let line = format!("score suite --submission it.jsonl --judge {RETIRED} --json");
    let ran = run(&project, &server, &line).expect(0);
    assert_eq!(server.requests(), 4);
    assert_eq!(find_judge(&serde_json::from_str(&ran.out).unwrap(), RETIRED)["usd"], Value::Null);
    std::fs::remove_file(project.path(".user/karat/models.toml")).unwrap();
    for cache in ["only", "read-write"] {
        let again = run(&project, &server, &format!("{line} --judge-cache {cache}")).expect(0);
        // Prices are those of the table now.
        assert_eq!((server.requests(), again.out.contains("\"asked\": 4")), (4, true));
    }
}

#[test]
fn models_are_listed_with_what_the_user_knows_better() {
    let project = Project::new();
    let all = project.json("models list --json");
    assert_eq!(all["defaults"]["anthropic"], "claude-sonnet-5-5");
    let listed = project.ok("models list --provider anthropic");
    for words in ["\n    claude-sonnet-5-5* ", "retired 2026-06-15: use claude-sonnet-5-5", "as of 2026-"] {
        assert!(listed.contains(words), "{listed}");
    }
    assert!(!listed.contains("openai"), "{listed}");
    // Ids are typed elsewhere, so none is shortened.
    assert!(!listed.contains('…'), "{listed}");
    let shown = project.ok("models show claude-sonnet-5-5");
    assert!(shown.contains("input = 2.0") && shown.contains("forced_tool_choice"), "{shown}");
    assert_eq!(project.json("models show openai/gpt-6-luna-2026-09-22 --json")["listed"], true);
    // A model that is not listed is used, too.
    for (name, provider) in [("claude-sonet-5-5", "anthropic"), ("openai/my-own", "openai"), ("gpt-9", "openai")] {
        let shown = project.run(&format!("models show {name}")).expect(0);
        let id = name.trim_start_matches("openai/");
        assert_eq!(shown.out, format!("[[models]]\nprovider = \"{provider}\"\nid = \"{id}\"\n"));
        assert!(shown.err.contains("is not in the table of models: it is used, its price is unknown"), "{}", shown.err);
        assert_eq!(shown.err.contains("did you mean `claude-sonnet-5-5`?"), provider == "anthropic", "{}", shown.err);
        let value = project.json(&format!("models show {name} --json"));
        assert_eq!(value, json!({ "provider": provider, "id": id, "listed": false }));
    }
    project.run("models show my-own").expect_error(2, &["does not say who serves it; write PROVIDER/MODEL"]);
    project.run("models show local/my-own").expect_error(2, &["the provider `local` serves no models"]);
    project.run("models list --provider antropic").expect_error(2, &["did you mean `anthropic`?"]);
    // What is shown can be changed and given back, and an old table is told from a new one.
    project.write(".user/karat/models.toml", format!("as_of = \"2025-01-01\"\n{}", shown.replace("= 2.0", "= 1.5")));
    let changed = project.run("models list").expect(0);
    assert!(changed.out.contains("1.5") && changed.out.contains("models.toml"), "{}", changed.out);
    assert!(changed.err.contains("the table of models is of 2025-01-01, more than six months ago"), "{}", changed.err);
    std::fs::remove_file(project.path(".user/karat/models.toml")).unwrap();
    // The same table on other days.
    let on = |today: &str, line: &str| {
        CommandOutput::start(project.command().env("KARAT_TODAY", today).args(line.split_whitespace()))
    };
    let as_of = all["as_of"].as_str().unwrap();
    let later = format!("{}{}", as_of[..4].parse::<u32>().unwrap() + 1, &as_of[4..]);
    for line in ["models list", "models show claude-sonnet-5-5"] {
        assert_eq!(on(as_of, line).expect(0).err, "");
        on(&later, line).expect_error(0, &["more than six months ago"]);
    }
    let state = |today: &str| {
        let listed = on(today, "models list --provider anthropic").expect(0).out;
        listed.lines().find(|line| line.contains("claude-sonnet-4-20250514")).unwrap().to_owned()
    };
    assert!(state("2026-06-14").contains("until 2026-06-15") && state("2026-06-15").contains("retired 2026-06-15"));
    on("soon", "models list").expect_error(4, &["KARAT_TODAY: expected a date"]);
    project.write(".user/karat/models.toml", "[[models]]\nprovider = \"openai\"\nid = \"m\"\nprice = 1\n");
    project.run("models list").expect_error(4, &["models.toml:4:1: unknown key `price`"]);
}

/// The folder of the benchmark, as it comes.
fn challenges() -> Project {
    let challenge = "id: c1\nname: One\nissues:\n  - id: g\n    title: Unchecked length\n    description: The length is taken from the wire.\n    file: src/read.c\n    line_start: 10\n    severity: high\n    category: security\n";
    let finding = json!({ "id": "f1", "message": "It trusts a length.", "file": "src/read.c", "line_start": 10 });
    Project::new()
        .with("crb/one/challenge.yaml", challenge)
        .with("crb/one/before/src/read.c", "int a;\n".repeat(20))
        .with("crb/one/after/src/read.c", "int b;\n".repeat(20))
        .with("it.jsonl", crate::project::lines(&[crate::project::trial("c1", "it", 1, json!([finding]))]))
}

#[test]
fn variables_of_the_benchmark_work_for_its_folder() {
    let check = |variable: &str, model: &str, judge: &str| {
        let project = challenges();
        let server = Server::saying(Behaviour::GOOD, Some(pair_answer(true, 0.9)));
        let mut scored = command(&project, &server);
        scored.env(variable, model).args(["score", "crb", "--submission", "it.jsonl", "--json"]);
        let ran = CommandOutput::start(&mut scored).expect(0);
        let scored: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!((server.requests(), scored["profile"]["name"].as_str()), (1, Some("karat")), "{model}");
        assert_eq!(find_judge(&scored, judge)["asked"], 1);
        assert!(user_message(&server.bodies()[0]).contains("trusts a length"));
        let note = format!("{variable} names the judge: {judge}; --judge names another one");
        assert!(warnings(&scored).contains(&note), "{}", warnings(&scored));
    };
    check("CRB_JUDGE_MODEL", "claude-of-mine", "anthropic/claude-of-mine");
    check("KARAT_JUDGE_MODEL", "gpt-6-luna", "openai/gpt-6-luna");
    // A server that is compatible with OpenAI's serves them.
    check("CRB_JUDGE_MODEL", "gemini-3.8-flash", "openai/gemini-3.8-flash");
    check("CRB_JUDGE_MODEL", "qwen2.5-coder:14b", "openai/qwen2.5-coder:14b");
    // Whoever names a judge or a profile has chosen, and other suites do not follow the variables of the benchmark.
    let (project, server) = (challenges(), Server::start(Behaviour::GOOD));
    for line in ["score crb --judge local", "score crb --judge none", "score crb --profile karat"] {
        let mut scored = command(&project, &server);
        scored
            .env("CRB_JUDGE_MODEL", "claude-of-mine")
            .args(line.split_whitespace())
            .args(["--submission", "it.jsonl"]);
        CommandOutput::start(&mut scored).expect(0);
    }
    project.write("crb/karat.toml", "[suite]\nname = \"mine\"\n");
    let mut scored = command(&project, &server);
    CommandOutput::start(scored.env("CRB_JUDGE_MODEL", "claude-x").args(["score", "crb", "--submission", "it.jsonl"]))
        .expect(0);
    assert_eq!(server.connections(), 0);
}

#[test]
fn model_without_a_known_vendor_needs_a_server() {
    let project = challenges();
    let score = |model: &str| {
        let mut scored = project.command();
        scored.env("CRB_JUDGE_MODEL", model).args(["score", "crb", "--submission", "it.jsonl"]);
        CommandOutput::start(&mut scored)
    };
    score("qwen3")
        .expect_error(2, &["CRB_JUDGE_MODEL: the name of the model `qwen3`", "openai/qwen3", "OPENAI_BASE_URL"]);
    score("gemini-3.8-flash").expect_error(5, &["GEMINI_API_KEY holds no key"]);
}

#[test]
fn model_of_tools_reviews_a_folder_of_the_benchmark() {
    let project = challenges();
    let server = Server::saying(Behaviour::GOOD, Some(json!({ "findings": [] })));
    let mut ran = command(&project, &server);
    ran.env("CRB_TOOL_MODEL", "gpt-6-luna").args(["run", "crb", "--trials", "1", "--json"]);
    let ran = CommandOutput::start(&mut ran).expect(0);
    assert!(
        ran.err.contains("the model gpt-6-luna reviews the challenges, as with --tool llm:openai/gpt-6-luna"),
        "{}",
        ran.err
    );
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let tools: Vec<&str> =
        report["tools"].as_array().unwrap().iter().map(|tool| tool["tool"].as_str().unwrap()).collect();
    assert_eq!((tools.contains(&"gpt-6-luna"), server.requests()), (true, 1), "{tools:?}");
    // A tool that is named stays alone.
    let mut named = command(&project, &server);
    named.env("CRB_TOOL_MODEL", "gpt-6-luna").args(["run", "crb", "--tool", "patterns", "--trials", "1"]);
    CommandOutput::start(&mut named).expect(0);
    assert_eq!(server.requests(), 1);
}
