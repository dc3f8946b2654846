//! The judge engine against a local server that speaks both wire formats and injects faults.

pub(crate) mod server;

use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_format::judge::JudgeConfigV1;
use karat_io::cancel::Cancel;
use karat_llm::engine::{Engine, EngineError, EngineEvent, EngineOptions, EngineStats};
use karat_llm::ledger::{Answer, CacheMode, Exchange, FailureReason, Ledger, MemoryLedger};
use karat_llm::prompt::Question;
use karat_llm::provider::{ProviderEnv, ProviderError};
use karat_llm::providers::{self, PROVIDERS};
use karat_store::Store;
use serde_json::json;
use server::{Behaviour, Fault, PASSING, Server};
use std::path::Path;
use std::time::Duration;

const KEY: &str = "sk-test-5ecret0fTheHouse";

fn config(provider: &str, port: u16) -> JudgeConfigV1 {
    let base = if provider == "openai" { "/v1" } else { "" };
    JudgeConfigV1 {
        provider: provider.into(),
        model: Some("test-model".into()),
        base_url: Some(format!("http://127.0.0.1:{port}{base}")),
        ..JudgeConfigV1::default()
    }
}

fn engine(
    config: &JudgeConfigV1,
    cache: CacheMode,
    change: impl FnOnce(&mut EngineOptions),
) -> Result<Engine, ProviderError> {
    let variable = |name: &str| name.ends_with("_API_KEY").then(|| KEY.to_owned());
    let around = ProviderEnv { variable: &variable, folder: Path::new(".") };
    let provider = providers::open(config, &around)?;
    let mut options = EngineOptions::for_provider(config, cache, &*provider)?;
    (options.backoff, options.longest_wait, options.concurrency) =
        (Duration::from_millis(1), Duration::from_millis(200), 64);
    change(&mut options);
    Ok(Engine::new(provider, options))
}

fn question(number: usize) -> Question {
    let golden = Golden { title: Some("Unchecked length".into()), ..Golden::new("g") };
    let finding =
        Finding { message: Some(format!("The length of item {number} is not checked.")), ..Finding::new("f") };
    karat::judge::template::pair_question(format!("q{number}"), &golden, &finding, None)
}

fn ask(engine: &Engine, count: usize, ledger: &mut dyn Ledger) -> Result<(Vec<Exchange>, EngineStats), EngineError> {
    engine.ask_all((0..count).map(question).collect(), ledger, &Cancel::default())
}

/// The answer to each question, without the cost of getting it.
fn outcomes(exchanges: &[Exchange]) -> Vec<(String, String)> {
    exchanges
        .iter()
        .map(|exchange| (exchange.question.clone(), serde_json::to_string(&exchange.answer).unwrap()))
        .collect()
}

/// Three in ten requests fail in every way there is, and the result is that of a faultless server.
fn check_answers_despite_faults(provider: &str, count: usize) {
    let bad = Server::start(Behaviour { faults: 300, kinds: PASSING, seed: 7, latency: Duration::ZERO });
    let good = Server::start(Behaviour::GOOD);
    let mut ledger = MemoryLedger::default();
    let faulty = engine(&config(provider, bad.port), CacheMode::ReadWrite, |_| {}).unwrap();
    let (exchanges, tally) = ask(&faulty, count, &mut ledger).unwrap();
    let faultless = engine(&config(provider, good.port), CacheMode::Off, |_| {}).unwrap();
    let (expect, _) = ask(&faultless, count, &mut MemoryLedger::default()).unwrap();
    assert_eq!(outcomes(&exchanges), outcomes(&expect));
    assert_eq!((exchanges.len(), tally.unjudged, ledger.exchanges().count()), (count, 0, count));
    assert_eq!((bad.after_success(), good.requests()), (0, count as u64), "an answered question was asked again");
    let share = bad.faults() as f64 / bad.requests() as f64;
    assert!((0.25..0.35).contains(&share), "{share}");
    let requests: u32 = exchanges.iter().map(|exchange| exchange.attempts).sum();
    assert!(u64::from(requests) >= bad.requests() && tally.requests == u64::from(requests));
    // A connection may be opened while another becomes free, so there can be a few more than parallel questions.
    assert!(good.connections() <= count as u64 / 10, "{} connections for {count} questions", good.connections());
}

#[test]
fn faults_lose_no_answer_with_anthropic() {
    check_answers_despite_faults("anthropic", 5_000);
}

#[test]
fn faults_lose_no_answer_with_openai() {
    check_answers_despite_faults("openai", 5_000);
}

#[test]
fn persistent_faults_are_named() {
    let check = |provider: &str, fault: &'static [Fault], expect: &str| {
        let server = Server::start(Behaviour::always(fault));
        let engine = engine(&config(provider, server.port), CacheMode::ReadWrite, |options| {
            (options.retries, options.timeout) = (2, Duration::from_secs(5));
        });
        let (exchanges, _) = ask(&engine.unwrap(), 2, &mut MemoryLedger::default()).unwrap();
        assert_eq!(exchanges.len(), 2);
        for exchange in exchanges {
            let outcome = match &exchange.answer {
                Answer::Given(_) => "decided".to_owned(),
                Answer::Refused { why } => format!("refused: {why}"),
                Answer::Missing { reason: FailureReason::Unreadable, why } => format!("unreadable: {why}"),
                Answer::Missing { reason, why } => format!("{reason:?}: {why}"),
            };
            assert!(outcome.contains(expect) && !outcome.contains(KEY), "{provider} {fault:?}: {outcome}");
        }
    };
    for provider in ["anthropic", "openai"] {
        check(provider, &[Fault::TooMany], "requests failed, the last one: 127.0.0.1 answered 429: rate_limit_error");
        check(provider, &[Fault::TooManyDate], "answered 429");
        check(provider, &[Fault::Broken], "answered 500: <h1>Internal error</h1>");
        check(provider, &[Fault::Overloaded], "answered 529: overloaded_error");
        check(provider, &[Fault::Reset], "no answer from 127.0.0.1");
        check(provider, &[Fault::SlowBody], "no answer from 127.0.0.1");
        check(provider, &[Fault::Truncated], "no answer from 127.0.0.1");
        check(provider, &[Fault::WrongType], "the server's answer is not JSON");
        check(provider, &[Fault::CutJson], "the server's answer is not JSON");
        check(provider, &[Fault::Huge], "the server's answer is longer than 4194304 bytes");
        check(provider, &[Fault::Prose], "unreadable: the answer could not be read: it holds no JSON object");
        check(provider, &[Fault::CutAnswer], "unreadable: the answer could not be read: it ends in the middle");
        check(provider, &[Fault::Refusal], "refused: ");
    }
    check("anthropic", &[Fault::DoubleKey], "unreadable: the answer could not be read");
    check("openai", &[Fault::DoubleKey], "unreadable: the answer could not be read");
    check("openai", &[Fault::NoSchema], "decided");
}

#[test]
fn silent_server_times_out() {
    let server = Server::start(Behaviour::always(&[Fault::Silent]));
    let engine = engine(&config("openai", server.port), CacheMode::Off, |options| {
        (options.retries, options.timeout) = (1, Duration::from_millis(50));
    });
    let (exchanges, _) = ask(&engine.unwrap(), 2, &mut MemoryLedger::default()).unwrap();
    assert!(format!("{:?}", exchanges[0].answer).contains("no answer within 0.05 s"), "{:?}", exchanges[0].answer);
}

/// A refused parameter is found with the first question, before others are sent, and omitted from then on.
#[test]
fn unsupported_parameters_are_omitted() {
    let server = Server::start(Behaviour::always(&[Fault::NoSchema]));
    let engine = engine(&config("openai", server.port), CacheMode::Off, |_| {}).unwrap();
    let (exchanges, tally) = ask(&engine, 40, &mut MemoryLedger::default()).unwrap();
    assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
    // With a schema, as a JSON object, then by instruction alone.
    assert_eq!((server.requests(), tally.requests), (42, 42));
    let adapted = json!({ "dropped": [], "answer_format": "text" });
    assert!(exchanges.iter().all(|exchange| exchange.provider.parameters["adapted"] == adapted));
}

/// The errors of OpenAI and Anthropic for models without `temperature`.
const REFUSALS: [(&str, &str); 2] = [
    (
        "openai",
        r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}"#,
    ),
    (
        "anthropic",
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}}"#,
    ),
];

/// A server that refuses a parameter.
fn server_refusing(parameter: &'static str, status: u16, words: &'static str) -> Server {
    Server::deciding_by_request(Behaviour::GOOD, move |body| match body.get(parameter) {
        Some(_) => Err(Fault::Says(status, words)),
        None => Ok(server::decision(server::hash(body["messages"].to_string().as_bytes()))),
    })
}

/// A model that refuses `temperature` is asked without it, and the ledger records that under keys that a second run
/// finds without a request.
#[test]
fn refused_temperature_is_omitted() {
    for (provider, words) in REFUSALS {
        let server = server_refusing("temperature", 400, words);
        let folder = tempfile::tempdir().unwrap();
        let first = engine(&config(provider, server.port), CacheMode::ReadWrite, |_| {}).unwrap();
        let (exchanges, tally) = ask(&first, 60, &mut Store::create(folder.path()).unwrap()).unwrap();
        assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
        assert_eq!((server.requests(), server.faults(), tally.requests), (61, 1, 61), "{provider}");
        let sent = json!({ "adapted": { "dropped": ["temperature"], "answer_format": "schema" } });
        assert!(exchanges.iter().all(|exchange| exchange.provider.parameters == sent), "{:?}", exchanges[0].provider);
        assert!(exchanges.iter().all(|exchange| exchange.key != first.key(&question(0))));
        let second = engine(&config(provider, server.port), CacheMode::Only, |_| {}).unwrap();
        let (again, tally) = ask(&second, 60, &mut Store::read_only(folder.path()).unwrap()).unwrap();
        assert_eq!((tally.cached, tally.requests, server.requests()), (60, 0, 61));
        assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&exchanges).unwrap());
        // The refusal is remembered for the model, so that another configuration is not refused again.
        let mut other = config(provider, server.port);
        other.api.insert("seed".to_owned(), json!(7));
        let other = engine(&other, CacheMode::ReadWrite, |_| {}).unwrap();
        let (_, tally) = ask(&other, 1, &mut Store::open(folder.path()).unwrap()).unwrap();
        assert_eq!((tally.cached, tally.requests), (0, 1), "{provider}");
    }
}

/// With any status code, and several parameters at once.
#[test]
fn all_refused_parameters_are_omitted() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |body| {
        let format = body["response_format"]["type"].as_str();
        match () {
            () if body.get("max_tokens").is_some() => Err(Fault::Says(
                400,
                r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}}"#,
            )),
            () if body.get("seed").is_some() => Err(Fault::Says(
                422,
                r#"{"detail": [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted"}]}"#,
            )),
            () if format == Some("json_schema") => Err(Fault::Says(500, "json_schema is not supported")),
            () => Ok(server::decision(1)),
        }
    });
    let mut config = config("openai", server.port);
    config.api.insert("seed".to_owned(), json!(7));
    let engine = engine(&config, CacheMode::Off, |_| {}).unwrap();
    let (exchanges, tally) = ask(&engine, 30, &mut MemoryLedger::default()).unwrap();
    assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
    assert_eq!((tally.requests, server.faults()), (33, 3));
    let body = server.bodies().pop().unwrap();
    assert_eq!((&body["max_completion_tokens"], &body["temperature"]), (&json!(1024), &json!(0.0)));
    assert_eq!((&body["response_format"], body.get("seed")), (&json!({ "type": "json_object" }), None));
}

/// Responses of real servers: llama-cpp-python 0.3.36 with SmolLM2, and LiteLLM's proxy in front of it.
mod answers {
    pub(super) const LLAMA_SCHEMA: &str = include_str!("answers/llama-cpp-python-schema-500.json");
    pub(super) const LLAMA_OBJECT: &str = include_str!("answers/llama-cpp-python-object-200.json");
    pub(super) const LLAMA_TOO_LONG: &str = include_str!("answers/llama-cpp-python-too-long-400.json");
    pub(super) const LITELLM_SCHEMA: &str = include_str!("answers/litellm-schema-500.json");
    pub(super) const LITELLM_OBJECT: &str = include_str!("answers/litellm-object-200.json");
    pub(super) const LITELLM_TEMPERATURE: &str = include_str!("answers/litellm-temperature-400.json");
}

/// A server that answers 500 to a schema is asked for a JSON object, immediately.
#[test]
fn real_servers_without_schema_support_are_asked_for_an_object() {
    for refusal in [answers::LLAMA_SCHEMA, answers::LITELLM_SCHEMA] {
        let server =
            Server::deciding_by_request(Behaviour::GOOD, move |body| match body["response_format"]["type"].as_str() {
                Some("json_schema") => Err(Fault::Says(500, refusal)),
                _ => Ok(server::decision(1)),
            });
        let engine = engine(&config("openai", server.port), CacheMode::Off, |_| {}).unwrap();
        let (exchanges, tally) = ask(&engine, 355, &mut MemoryLedger::default()).unwrap();
        assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
        assert_eq!((tally.requests, server.faults()), (356, 1));
        let adapted = &exchanges[0].provider.parameters["adapted"];
        assert_eq!(adapted, &json!({ "dropped": [], "answer_format": "json_object" }));
    }
}

#[test]
fn real_proxy_refusing_the_temperature_is_asked_without() {
    let server = server_refusing("temperature", 400, answers::LITELLM_TEMPERATURE);
    let engine = engine(&config("openai", server.port), CacheMode::Off, |_| {}).unwrap();
    let (exchanges, tally) = ask(&engine, 30, &mut MemoryLedger::default()).unwrap();
    assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
    assert_eq!((tally.requests, server.faults()), (31, 1));
}

/// A prompt that exceeds the context is not a refused parameter, and stops what would fail again.
#[test]
fn overlong_prompt_is_not_a_refused_parameter() {
    let server = Server::deciding_by_request(Behaviour::GOOD, |_| Err(Fault::Says(400, answers::LLAMA_TOO_LONG)));
    let engine = engine(&config("openai", server.port), CacheMode::Off, |_| {}).unwrap();
    let error = ask(&engine, 50, &mut MemoryLedger::default()).unwrap_err().to_string();
    assert!(error.contains("maximum context length is 4096 tokens"), "{error}");
    assert_eq!(server.requests(), 3);
}

/// Completions of real servers are parsed: the small model's answer is unusable, and reported as such.
#[test]
fn completions_of_real_servers_are_parsed() {
    for completion in [answers::LLAMA_OBJECT, answers::LITELLM_OBJECT] {
        let server = Server::deciding_by_request(Behaviour::GOOD, move |_| Err(Fault::Says(200, completion)));
        let engine = engine(&config("openai", server.port), CacheMode::Off, |_| {}).unwrap();
        let (exchanges, _) = ask(&engine, 1, &mut MemoryLedger::default()).unwrap();
        let reply = &exchanges[0].replies[0];
        assert!(reply.text.contains("\"type\": \"loose\""), "{reply:?}");
        assert_eq!((reply.tokens_in, reply.tokens_out), (36, 20));
        assert!(matches!(exchanges[0].answer, Answer::Missing { reason: FailureReason::Unreadable, .. }));
    }
}

/// A server may start to refuse a parameter in the middle; all later questions omit it.
#[test]
fn late_parameter_refusal_loses_no_answer() {
    let received = std::sync::atomic::AtomicU64::new(0);
    let server = Server::deciding_by_request(Behaviour::GOOD, move |body| {
        let before = received.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        match body.get("temperature") {
            Some(_) if before >= 50 => Err(Fault::Says(400, REFUSALS[0].1)),
            _ => Ok(server::decision(1)),
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let first =
        engine(&config("openai", server.port), CacheMode::ReadWrite, |options| options.concurrency = 8).unwrap();
    let (exchanges, _) = ask(&first, 300, &mut Store::create(folder.path()).unwrap()).unwrap();
    assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
    // Only those in flight at that moment were refused.
    assert!((1..=8).contains(&server.faults()), "{}", server.faults());
    // Answers with and without the parameter are both found in the ledger.
    let second = engine(&config("openai", server.port), CacheMode::Only, |_| {}).unwrap();
    let (_, tally) = ask(&second, 300, &mut Store::read_only(folder.path()).unwrap()).unwrap();
    assert_eq!((tally.cached, tally.requests), (300, 0));
}

/// A failure that names no parameter is retried, and a server that never answers is not asked every question.
#[test]
fn unresponsive_server_is_given_up_early() {
    let check = |status: u16, body: &'static str, retries: u32, requests: u64, expect: &str| {
        for provider in ["openai", "anthropic"] {
            let server = Server::deciding_by_request(Behaviour::GOOD, move |_| Err(Fault::Says(status, body)));
            let engine =
                engine(&config(provider, server.port), CacheMode::ReadWrite, |options| options.retries = retries);
            let error = ask(&engine.unwrap(), 355, &mut MemoryLedger::default()).unwrap_err().to_string();
            assert!(error.contains(expect) && error.contains(body), "{error}");
            // A second question may have been sent before the first response was read.
            assert!((requests..=requests + 1).contains(&server.requests()), "{provider}: {error}");
        }
    };
    check(400, "this model takes no questions", 10, 3, "the first questions all failed (3 so far)");
    // The first question has all its retries, those after it none.
    check(500, "out of order", 4, 5 + 2, "the first questions all failed (3 so far)");
    check(404, "no such model", 10, 1, "look at `model`");
}

/// A failing question does not affect others, even if it is the first.
#[test]
fn failing_first_question_does_not_affect_others() {
    for status in [400, 500] {
        let server =
            Server::deciding_by_request(Behaviour::GOOD, move |body| match body.to_string().contains("item 0 is") {
                true => Err(Fault::Says(status, "this one is too long")),
                false => Ok(server::decision(1)),
            });
        let engine = engine(&config("openai", server.port), CacheMode::Off, |options| options.retries = 2).unwrap();
        let (exchanges, tally) = ask(&engine, 30, &mut MemoryLedger::default()).unwrap();
        assert_eq!((exchanges.len(), tally.unjudged), (30, 1), "{status}");
    }
}

/// Placeholder keys must not be redacted from answers, and real keys must be redacted from everything stored, after
/// the answer was parsed.
#[test]
fn only_plausible_keys_are_redacted() {
    let answer = |key: &str| json!({ "match": true, "confidence": 0.5, "partial": false, "explanation": format!("an example: {key}") });
    for (key, expect) in [
        ("x", "an example: x"),
        ("e", "an example: e"),
        ("match", "an example: match"),
        ("EMPTY", "an example: EMPTY"),
        ("lm-studio", "an example: lm-studio"),
        (KEY, "an example: [key]"),
    ] {
        for provider in ["openai", "anthropic"] {
            let content = answer(key);
            let server = Server::deciding_by_request(Behaviour::GOOD, move |_| Ok(content.clone()));
            let variable = |name: &str| name.ends_with("_API_KEY").then(|| key.to_owned());
            let around = ProviderEnv { variable: &variable, folder: Path::new(".") };
            let open = providers::open(&config(provider, server.port), &around).unwrap();
            let (exchanges, _) =
                ask(&Engine::new(open, EngineOptions::default()), 1, &mut MemoryLedger::default()).unwrap();
            let decision = exchanges[0].answer.value().unwrap_or_else(|| panic!("{key}: {:?}", exchanges[0].answer));
            assert_eq!(decision["explanation"], expect, "{provider}");
            let stored = serde_json::to_string(&exchanges[0]).unwrap();
            assert!(!stored.contains(KEY), "{stored}");
            assert_eq!((&decision["match"], decision["confidence"].as_f64()), (&json!(true), Some(0.5)));
        }
    }
}

#[test]
fn recorded_ledger_needs_no_server() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour::GOOD);
    let recorder = engine(&config("anthropic", server.port), CacheMode::ReadWrite, |_| {}).unwrap();
    let (recorded, _) = ask(&recorder, 200, &mut Store::create(folder.path()).unwrap()).unwrap();
    // Another machine: another server, which must get no request, and a read-only copy of the store.
    let other = Server::start(Behaviour::GOOD);
    let player = engine(&config("anthropic", other.port), CacheMode::Only, |_| {}).unwrap();
    let mut store = Store::read_only(folder.path()).unwrap();
    let (played, tally) = ask(&player, 200, &mut store).unwrap();
    assert_eq!(serde_json::to_string(&recorded).unwrap(), serde_json::to_string(&played).unwrap());
    assert_eq!((tally.cached, tally.requests), (200, 0));
    let error = ask(&player, 201, &mut store).unwrap_err().to_string();
    let key = player.key(&question(200));
    assert!(error.contains("the question q200") && error.contains(key.as_str()), "{error}");
    assert_eq!(other.connections(), 0);
}

/// Stored answers are not asked again.
#[test]
fn second_run_makes_no_requests() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Behaviour::GOOD);
    let (mut first, mut second) = (0, 0);
    for (count, requests) in [(30, &mut first), (50, &mut second)] {
        let engine = engine(&config("openai", server.port), CacheMode::ReadWrite, |_| {}).unwrap();
        let (_, tally) = ask(&engine, count, &mut Store::create(folder.path()).unwrap()).unwrap();
        *requests = tally.requests;
    }
    assert_eq!((first, second, server.after_success()), (30, 20, 0));
    let mut store = Store::open(folder.path()).unwrap();
    let mut count = 0;
    store.ledger_each(&mut |_| count += 1).unwrap();
    assert_eq!((count, store.verify().unwrap().len()), (50, 0));
}

#[test]
fn keys_do_not_leak() {
    let folder = tempfile::tempdir().unwrap();
    let mut output = String::new();
    for provider in ["anthropic", "openai"] {
        // These servers repeat the key in their responses.
        for kinds in [&[Fault::TooMany, Fault::Overloaded][..], &[Fault::Unauthorized]] {
            let server = Server::start(Behaviour { faults: 700, kinds, seed: 3, latency: Duration::ZERO });
            let engine =
                engine(&config(provider, server.port), CacheMode::ReadWrite, |options| options.retries = 1).unwrap();
            let mut store = Store::create(folder.path()).unwrap();
            let mut observe = |event: EngineEvent<'_>| output += &format!("{event:?}\n");
            let result = engine.ask((0..50).map(question), &mut store, &Cancel::default(), &mut observe);
            output += &format!("{result:?} {:?}\n", result.as_ref().map_err(ToString::to_string));
            assert!(server.faults() > 0);
        }
    }
    assert!(output.contains("[key]") && output.contains("the key was rejected"), "the servers did not repeat the key");
    assert!(!output.contains(KEY));
    let mut looked = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap().map(Result::unwrap).filter(|e| e.path().is_file()) {
        let bytes = std::fs::read(entry.path()).unwrap();
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "{}", entry.path().display());
        looked += bytes.len();
    }
    assert!(looked > 10_000);
}

#[test]
fn local_servers_need_no_key() {
    let server = Server::start(Behaviour::GOOD);
    let around = ProviderEnv { variable: &|_| None, folder: Path::new(".") };
    let open = providers::open(&config("openai", server.port), &around).unwrap();
    let (exchanges, _) = ask(&Engine::new(open, EngineOptions::default()), 1, &mut MemoryLedger::default()).unwrap();
    assert!(exchanges[0].answer.value().is_some());
}

#[test]
fn scripts_and_recordings_can_answer() {
    let folder = tempfile::tempdir().unwrap();
    let script = "{\"question\": \"q1\", \"answer\": {\"match\": true, \"confidence\": 1, \"explanation\": \"by name\"}}\n\n\
                  {\"answer\": \"Sure: {\\\"match\\\": false, \\\"confidence\\\": 1, \\\"explanation\\\": \\\"in turn\\\"}\"}\n";
    std::fs::write(folder.path().join("script.jsonl"), script).unwrap();
    let open = |provider: &str, file: &str| {
        let config = JudgeConfigV1 { provider: provider.into(), file: Some(file.into()), ..JudgeConfigV1::default() };
        let around = ProviderEnv { variable: &|_| None, folder: folder.path() };
        providers::open(&config, &around)
    };
    let options = EngineOptions { concurrency: 1, ..EngineOptions::default() };
    let scripted = Engine::new(open("scripted", "script.jsonl").unwrap(), options.clone());
    let (exchanges, _) = ask(&scripted, 3, &mut MemoryLedger::default()).unwrap();
    let words = |exchange: &Exchange| {
        exchange.answer.value().map(|decision| decision["explanation"].as_str().unwrap().to_owned())
    };
    assert_eq!(exchanges.iter().map(words).collect::<Vec<_>>(), [Some("in turn".into()), Some("by name".into()), None]);
    assert!(format!("{:?}", exchanges[2].answer).contains("the script has no answer to the question q2"));

    let recorded: String = exchanges[..2].iter().map(|e| serde_json::to_string(e).unwrap() + "\n").collect();
    std::fs::write(folder.path().join("recorded.jsonl"), &recorded).unwrap();
    let replay = Engine::new(open("replay", "recorded.jsonl").unwrap(), options);
    let (again, _) = ask(&replay, 2, &mut MemoryLedger::default()).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), serde_json::to_string(&exchanges[..2]).unwrap());
    let error = ask(&replay, 3, &mut MemoryLedger::default()).unwrap_err().to_string();
    assert!(error.contains("holds no exchange for the question q2"), "{error}");

    let check = |provider: &str, content: &str, expect: &str| {
        std::fs::write(folder.path().join("bad.jsonl"), content).unwrap();
        let error = open(provider, "bad.jsonl").map(|_| ()).expect_err(content).to_string();
        assert!(error.contains(expect), "{error}");
    };
    check("scripted", "{\"answer\": 1}\n{\"anwser\": 2}", "line 2: unknown field `anwser`");
    check(
        "scripted",
        "{\"question\": \"a\", \"answer\": 1}\n{\"question\": \"a\", \"answer\": 1}",
        "line 2: it is answered",
    );
    check("scripted", "{\"answer\": 1, \"answer\": 2}", "line 1: ");
    check("replay", "", "holds no exchange");
    check("replay", "{}", "line 1: ");
    check("replay", &format!("{recorded}{}", recorded.replace("\"scripted\"", "\"other\"")), "line 3: another model");
    assert!(open("scripted", "absent.jsonl").is_err());
}

#[test]
fn every_provider_is_documented() {
    let text = std::fs::read_to_string(crate::project::root().join("docs/judges.md")).unwrap();
    for entry in PROVIDERS {
        assert!(
            text.lines().any(|line| line == format!("### {}", entry.name)),
            "docs/judges.md does not have {}",
            entry.name
        );
    }
}
