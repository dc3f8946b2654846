//! The engine with in-memory providers: order, deduplication, budgets, repairs, cancellation.

use super::*;
use crate::ledger::{Answer, CacheMode, MemoryLedger};
use crate::prompt::{AnswerCheck, AnswerSpec};
use crate::provider::{ProviderId, Reply, SendError, SendFuture, StopReason};
use crate::testing::{MATCH, question};
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

type Respond = Box<dyn Fn(&str, &Prompt, u64) -> Result<Reply, SendError> + Send + Sync>;

/// Answers by a function and counts calls.
struct Fake {
    id: ProviderId,
    respond: Respond,
    calls: Arc<AtomicU64>,
    delay: Duration,
    at_once: Arc<AtomicUsize>,
    most_at_once: Arc<AtomicUsize>,
}

impl Provider for Fake {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, _: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let call = self.calls.fetch_add(1, Ordering::SeqCst);
            let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
            self.most_at_once.fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(self.delay).await;
            self.at_once.fetch_sub(1, Ordering::SeqCst);
            (self.respond)(question, prompt, call)
        })
    }
}

struct TestEngine {
    engine: Engine,
    calls: Arc<AtomicU64>,
    most_at_once: Arc<AtomicUsize>,
    ledger: MemoryLedger,
}

fn test_engine(
    options: EngineOptions,
    respond: impl Fn(&str, &Prompt, u64) -> Result<Reply, SendError> + Send + Sync + 'static,
) -> TestEngine {
    slow_engine(options, Duration::from_millis(1), respond)
}

fn slow_engine(
    options: EngineOptions,
    delay: Duration,
    respond: impl Fn(&str, &Prompt, u64) -> Result<Reply, SendError> + Send + Sync + 'static,
) -> TestEngine {
    let id = ProviderId { provider: "fake".into(), model: "m".into(), parameters: json!({}) };
    let (calls, at_once, most_at_once) = (Arc::default(), Arc::default(), Arc::default());
    let fake = Fake {
        id,
        respond: Box::new(respond),
        calls: Arc::clone(&calls),
        delay,
        at_once,
        most_at_once: Arc::clone(&most_at_once),
    };
    TestEngine { engine: Engine::new(Box::new(fake), options), calls, most_at_once, ledger: MemoryLedger::default() }
}

impl TestEngine {
    fn ask(&mut self, texts: &[&str]) -> Result<(Vec<Exchange>, EngineStats), EngineError> {
        self.engine.ask_all(questions(texts), &mut self.ledger, &Cancel::default())
    }

    fn calls(&self) -> u64 {
        self.calls.load(Ordering::SeqCst)
    }
}

fn options() -> EngineOptions {
    EngineOptions {
        backoff: Duration::from_micros(100),
        longest_wait: Duration::from_millis(2),
        ..EngineOptions::default()
    }
}

fn questions(texts: &[&str]) -> Vec<Question> {
    texts.iter().enumerate().map(|(index, text)| question(format!("q{index}"), text)).collect()
}

fn yes() -> Reply {
    let answer = json!({"match": true, "confidence": 1.0, "explanation": "same"});
    Reply { structured: Some(answer), tokens_in: 100, tokens_out: 10, ..Reply::default() }
}

fn text_reply(text: &str) -> Reply {
    Reply { text: text.into(), ..Reply::default() }
}

fn retry_error(why: &str) -> SendError {
    SendError::Retry { after: None, why: why.into() }
}

/// The outcome of each exchange as one word.
fn outcomes(exchanges: &[Exchange]) -> Vec<String> {
    let word = |exchange: &Exchange| match &exchange.answer {
        Answer::Given(_) => "decided".to_owned(),
        Answer::Refused { why } => format!("refused: {why}"),
        Answer::Missing { reason, .. } => format!("{reason:?}"),
    };
    exchanges.iter().map(word).collect()
}

#[test]
fn answers_are_in_the_order_of_the_questions() {
    let mut harness = test_engine(EngineOptions { concurrency: 8, ..options() }, |question, _, call| {
        // The first questions take longest, since they fail at first.
        if call < 8 { Err(retry_error("not yet")) } else { Ok(Reply { text: question.into(), ..yes() }) }
    });
    let texts: Vec<String> = (0..300).map(|n| n.to_string()).collect();
    let (exchanges, stats) = harness.ask(&texts.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    let expect: Vec<String> = (0..300).map(|n| format!("q{n}")).collect();
    assert_eq!(exchanges.iter().map(|exchange| exchange.question.clone()).collect::<Vec<_>>(), expect);
    assert_eq!(exchanges.iter().map(|exchange| exchange.replies[0].text.clone()).collect::<Vec<_>>(), expect);
    assert_eq!((stats.questions, stats.requests, stats.unjudged), (300, 308, 0));
    assert!(harness.most_at_once.load(Ordering::SeqCst) <= 8);
    assert!(harness.most_at_once.load(Ordering::SeqCst) > 1, "requests were not concurrent");
}

#[test]
fn equal_questions_are_asked_once() {
    for cache in [CacheMode::ReadWrite, CacheMode::Read, CacheMode::Off] {
        let mut harness = test_engine(EngineOptions { cache, concurrency: 2, ..options() }, |_, _, _| Ok(yes()));
        let texts: Vec<&str> = std::iter::repeat_n(["a", "b", "c"], 100).flatten().collect();
        let (exchanges, stats) = harness.ask(&texts).unwrap();
        assert_eq!((harness.calls(), exchanges.len(), stats.cached), (3, 300, 297), "{cache:?}");
        assert_eq!((stats.tokens_in, stats.tokens_out), (300, 30));
        assert!(exchanges.iter().all(|exchange| exchange.answer.value().is_some()));
        let (_, stats) = harness.ask(&texts).unwrap();
        let asked_again = if cache == CacheMode::ReadWrite { 0 } else { 3 };
        assert_eq!((harness.calls() - 3, stats.requests), (asked_again, asked_again), "{cache:?}");
        assert_eq!(harness.ledger.exchanges().count(), if cache == CacheMode::ReadWrite { 3 } else { 0 });
    }
}

#[test]
fn recorded_answers_need_no_request() {
    let mut first = test_engine(options(), |_, _, _| Ok(yes()));
    let (fresh, _) = first.ask(&["a", "b"]).unwrap();
    let never = |_: &str, _: &Prompt, _: u64| -> Result<Reply, SendError> { panic!("somebody was asked") };
    let mut second = test_engine(EngineOptions { cache: CacheMode::Only, ..options() }, never);
    second.ledger = first.ledger.clone();
    let (replayed, stats) = second.ask(&["a", "b"]).unwrap();
    let to_json = |exchanges: &[Exchange]| serde_json::to_string(exchanges).unwrap();
    assert_eq!(to_json(&fresh), to_json(&replayed));
    assert_eq!((stats.cached, stats.requests, stats.usd), (2, 0, None));
    assert!(second.engine.runtime.0.get().is_none(), "a runtime was started without requests");
    let error = second.ask(&["a", "missing"]).unwrap_err().to_string();
    let key = second.engine.key(&question("q1", "missing"));
    assert!(error.contains("the question q1") && error.contains(key.as_str()), "{error}");
}

#[test]
fn temporary_failures_are_retried_and_permanent_ones_reported() {
    let tries = EngineOptions { retries: 3, concurrency: 1, ..options() };
    let mut passing =
        test_engine(tries.clone(), |_, _, call| if call < 3 { Err(retry_error("busy")) } else { Ok(yes()) });
    let (exchanges, _) = passing.ask(&["a"]).unwrap();
    assert_eq!((outcomes(&exchanges), exchanges[0].attempts), (vec!["decided".to_owned()], 4));
    let mut staying = test_engine(tries, |_, _, _| Err(retry_error("busy")));
    let (exchanges, stats) = staying.ask(&["a"]).unwrap();
    assert_eq!((outcomes(&exchanges), staying.calls()), (vec!["Unanswered".to_owned()], 4));
    assert!(
        matches!(&exchanges[0].answer, Answer::Missing { why, .. } if why.contains("4 requests failed, the last one: busy"))
    );
    assert_eq!(
        (stats.unjudged, staying.ledger.exchanges().count()),
        (1, 0),
        "a failed request was recorded and would not be retried"
    );
}

#[test]
fn unreadable_answer_gets_one_repair_request() {
    let check = |first: &'static str, second: Reply, expect: &str, calls: u64| {
        let mut harness = test_engine(options(), move |_, prompt, _| {
            if prompt.user.contains("your answer could not be used") {
                Ok(second.clone())
            } else {
                Ok(text_reply(first))
            }
        });
        let (exchanges, _) = harness.ask(&["a"]).unwrap();
        assert_eq!((outcomes(&exchanges), harness.calls()), (vec![expect.to_owned()], calls), "{first}");
        // All of these are paid for, so they are recorded. What could not be read is asked again.
        assert_eq!(harness.ledger.exchanges().count(), 1);
        harness.ask(&["a"]).unwrap();
        let asked = if expect == "Unreadable" { 2 * calls } else { calls };
        assert_eq!((harness.calls(), harness.ledger.exchanges().count()), (asked, 1), "{first}");
    };
    check("{\"match\": tr", yes(), "decided", 2);
    check("I'd say yes.", yes(), "decided", 2);
    check("{\"match\": true, \"confidence\": 7, \"explanation\": \"\"}", text_reply("still no"), "Unreadable", 2);
    check("{\"match\": true, \"confidence\": 1, \"explanation\": \"\"}", text_reply("never"), "decided", 1);
    let refusal = Reply { stop: StopReason::Refused("I won't".into()), ..Reply::default() };
    check("no", refusal, "refused: I won't", 2);
}

/// Equal questions that come late do not pay again for an answer that could not be read.
#[test]
fn unreadable_answers_are_asked_again_by_later_runs_only() {
    for cache in [CacheMode::ReadWrite, CacheMode::Off] {
        let mut harness = test_engine(EngineOptions { cache, concurrency: 1, ..options() }, |_, prompt, _| {
            Ok(if prompt.user.contains("unclear") { text_reply("no idea") } else { yes() })
        });
        let between: Vec<String> = (0..200).map(|n| n.to_string()).collect();
        let texts: Vec<&str> =
            std::iter::once("unclear").chain(between.iter().map(String::as_str)).chain(["unclear"]).collect();
        let (exchanges, stats) = harness.ask(&texts).unwrap();
        assert_eq!((stats.unjudged, stats.cached, harness.calls()), (2, 1, 202), "{cache:?}");
        assert!(exchanges[201].cached && exchanges[201].answer.is_unreadable());
        harness.ask(&["unclear"]).unwrap();
        assert_eq!(harness.calls(), 204, "{cache:?}");
    }
}

#[test]
fn refusal_is_a_separate_outcome() {
    let mut harness = test_engine(options(), |_, _, _| Ok(Reply { stop: StopReason::Refused("no".into()), ..yes() }));
    let (exchanges, stats) = harness.ask(&["a"]).unwrap();
    assert_eq!((outcomes(&exchanges), stats.refused, stats.unjudged), (vec!["refused: no".to_owned()], 1, 0));
    assert_eq!(harness.calls(), 1);
}

#[test]
fn budget_is_never_exceeded() {
    let texts: Vec<String> = (0..100).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let count =
        |exchanges: &[Exchange], what: &str| outcomes(exchanges).iter().filter(|outcome| *outcome == what).count();
    let mut calls = test_engine(EngineOptions { budget_calls: Some(7), ..options() }, |_, _, _| Ok(yes()));
    let (exchanges, stats) = calls.ask(&texts).unwrap();
    assert_eq!((count(&exchanges, "decided"), count(&exchanges, "Budget"), stats.requests), (7, 93, 7));
    let prices = Some(Prices { input: 10_000.0, output: 1_000.0 });
    // An answer costs 1.01 USD, and may cost about 20 beforehand.
    let rich = EngineOptions { prices, budget_usd: Some(60.0), ..options() };
    let mut money = test_engine(rich, |_, _, _| Ok(yes()));
    let (exchanges, stats) = money.ask(&texts).unwrap();
    let (decided, usd) = (count(&exchanges, "decided"), stats.usd.unwrap());
    assert_eq!(decided + count(&exchanges, "Budget"), 100);
    assert!(decided > 20 && usd <= 60.0 && (usd - 1.01 * decided as f64).abs() < 1e-6, "{decided} for {usd}");
    // Questions beyond the budget are asked under a new budget.
    assert_eq!(money.ledger.exchanges().count(), decided);
}

#[test]
fn lost_answers_count_with_their_worst_case() {
    let prices = Some(Prices { input: 10_000.0, output: 1_000.0 });
    let ask = |error: fn() -> SendError| {
        let options = EngineOptions { prices, budget_usd: Some(60.0), retries: 100, concurrency: 1, ..options() };
        let mut harness = test_engine(options, move |_, _, call| if call == 0 { Ok(yes()) } else { Err(error()) });
        let (exchanges, _) = harness.ask(&["a", "b"]).unwrap();
        (outcomes(&exchanges).join(" "), harness.calls())
    };
    let (outcomes, calls) = ask(|| SendError::answer_lost("cut off"));
    // A request may cost several USD.
    assert!(outcomes == "decided Budget" && calls < 30, "{outcomes}, {calls} calls");
    assert_eq!(ask(|| retry_error("busy")), ("decided Unanswered".to_owned(), 102));
}

#[test]
fn cancelling_keeps_finished_answers() {
    let cancel = Cancel::default();
    let stop = Mutex::new(Some(cancel.clone()));
    let mut harness = test_engine(EngineOptions { concurrency: 4, ..options() }, move |_, _, call| {
        if call == 50 {
            stop.lock().unwrap().take().unwrap().cancel();
        }
        // The others never finish.
        if call < 50 {
            Ok(yes())
        } else {
            Err(SendError::Retry { after: Some(Duration::from_secs(3600)), why: "later".into() })
        }
    });
    harness.engine.options.longest_wait = Duration::from_secs(3600);
    let texts: Vec<String> = (0..5000).map(|n| n.to_string()).collect();
    let questions = questions(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let (exchanges, stats) = harness.engine.ask_all(questions, &mut harness.ledger, &cancel).unwrap();
    let all = outcomes(&exchanges);
    assert_eq!((all.len(), stats.questions), (5000, 5000));
    let decided = all.iter().filter(|outcome| *outcome == "decided").count();
    // Up to three other requests are in flight when the fiftieth cancels, and are dropped.
    assert!((47..=50).contains(&decided), "{decided}");
    assert_eq!(all.iter().filter(|outcome| *outcome == "Cancelled").count(), 5000 - decided);
    assert_eq!(harness.ledger.exchanges().count(), decided);
}

#[test]
fn fatal_errors_end_the_call() {
    let mut fatal = test_engine(EngineOptions { concurrency: 1, ..options() }, |_, _, call| {
        if call < 3 { Ok(yes()) } else { Err(SendError::Fatal { why: "the key was rejected".into() }) }
    });
    let error = fatal.ask(&["a", "b", "c", "d", "e"]).unwrap_err().to_string();
    assert!(error.contains("fake cannot be asked: the key was rejected"), "{error}");
    assert_eq!(fatal.ledger.exchanges().count(), 3, "earlier answers were lost");
    let texts: Vec<String> = (0..1000).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut hopeless = test_engine(options(), |_, _, _| Err(SendError::Rejected { why: "no such parameter".into() }));
    let error = hopeless.ask(&texts).unwrap_err().to_string();
    assert!(error.contains("no such parameter") && hopeless.calls() < 200, "{error}");
    // A prompt that is too long does not affect the others.
    let mut single = test_engine(options(), |question, _, _| match question {
        "q1" => Err(SendError::Rejected { why: "too long".into() }),
        _ => Ok(yes()),
    });
    let (exchanges, _) = single.ask(&["a", "b", "c"]).unwrap();
    assert_eq!(outcomes(&exchanges), ["decided", "Rejected", "decided"]);
}

#[test]
fn slow_requests_time_out() {
    let slow = EngineOptions { timeout: Duration::from_millis(1), retries: 1, ..options() };
    let mut harness = slow_engine(slow, Duration::from_secs(3600), |_, _, _| Ok(yes()));
    let (exchanges, _) = harness.ask(&["a"]).unwrap();
    assert_eq!((outcomes(&exchanges), harness.calls()), (vec!["Unanswered".to_owned()], 2));
}

#[test]
fn panicking_provider_loses_no_question() {
    let mut harness = test_engine(options(), |question, _, _| {
        assert_ne!(question, "q1", "a defect");
        Ok(yes())
    });
    let (exchanges, _) = harness.ask(&["a", "b", "c"]).unwrap();
    assert_eq!(outcomes(&exchanges), ["decided", "Unanswered", "decided"]);
}

#[test]
fn requests_are_rate_limited() {
    let mut harness = test_engine(EngineOptions { requests_per_minute: Some(6000), ..options() }, |_, _, _| Ok(yes()));
    let began = std::time::Instant::now();
    harness.ask(&["a", "b", "c", "d", "e", "f"]).unwrap();
    assert!(began.elapsed() >= Duration::from_millis(50), "{:?}", began.elapsed());
}

#[test]
fn ledger_errors_end_the_call() {
    struct Full;
    impl Ledger for Full {
        fn get_many(&mut self, keys: &[&LedgerKey]) -> Result<Vec<Option<Exchange>>, LedgerError> {
            Ok(vec![None; keys.len()])
        }
        fn put(&mut self, _: &[&Exchange]) -> Result<(), LedgerError> {
            Err("the disk is full".into())
        }
    }
    let harness = test_engine(options(), |_, _, _| Ok(yes()));
    let error = harness.engine.ask_all(questions(&["a"]), &mut Full, &Cancel::default()).unwrap_err().to_string();
    assert!(error.contains("the disk is full"), "{error}");
}

/// Requires an explanation for full confidence, which a schema cannot express.
#[derive(Debug)]
struct ExplainFullConfidence;

impl AnswerCheck for ExplainFullConfidence {
    fn check(&self, answer: &Value) -> Result<(), String> {
        let is_fine = answer["confidence"].as_f64() < Some(1.0) || answer["explanation"] != "";
        if is_fine { Ok(()) } else { Err("who is sure must say why".to_owned()) }
    }
}

/// An answer that fits the schema but fails the check gets one repair request, like an unreadable one.
#[test]
fn failed_checks_lead_to_a_repair_request() {
    let answer = |confidence: f64, explanation: &str| {
        let answer = json!({"match": true, "confidence": confidence, "explanation": explanation});
        Reply { structured: Some(answer), ..Reply::default() }
    };
    let check = |first: Reply, second: Reply, expect: &str, fault: &'static str| {
        let mut harness = test_engine(options(), move |_, prompt, _| {
            let again = prompt.user.contains("your answer could not be used");
            assert!(!again || prompt.user.contains(fault), "{}", prompt.user);
            Ok(if again { second.clone() } else { first.clone() })
        });
        let schema = Arc::new(MATCH.schema().clone());
        let form = AnswerSpec { schema, max_tokens: 1024, check: Arc::new(ExplainFullConfidence) };
        let question = Question { form: Some(form), ..question("q", "text") };
        let asked = harness.engine.ask_all(vec![question.clone()], &mut harness.ledger, &Cancel::default());
        let exchanges = asked.unwrap().0;
        assert_eq!(
            (outcomes(&exchanges), harness.calls()),
            (vec![expect.to_owned()], if fault.is_empty() { 1 } else { 2 })
        );
        // Answers are taken from the ledger, and what could not be read is asked again.
        let calls = if expect == "Unreadable" { 2 * harness.calls() } else { harness.calls() };
        harness.engine.ask_all(vec![question], &mut harness.ledger, &Cancel::default()).unwrap();
        assert_eq!(harness.calls(), calls);
        exchanges
    };
    let good = || answer(0.5, "");
    check(good(), good(), "decided", "");
    check(answer(1.0, ""), answer(1.0, "same query"), "decided", "who is sure must say why");
    check(answer(2.0, "x"), good(), "decided", "confidence");
    let exchanges = check(answer(1.0, ""), answer(2.0, ""), "Unreadable", "who is sure must say why");
    let Answer::Missing { why, .. } = &exchanges[0].answer else { panic!("{exchanges:?}") };
    assert!(why.contains("who is sure must say why") && why.contains("confidence"), "{why}");
}
