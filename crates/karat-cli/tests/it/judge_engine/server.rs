//! A local server that speaks both wire formats and injects faults on a schedule drawn from a seed.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone)]
pub(crate) struct Behaviour {
    /// Requests out of 1000 that fail.
    pub(crate) faults: u64,
    /// The faults to draw from.
    pub(crate) kinds: &'static [Fault],
    /// The seed of the schedule.
    pub(crate) seed: u64,
    /// The time before an answer.
    pub(crate) latency: Duration,
}

impl Behaviour {
    pub(crate) const GOOD: Self = Self { faults: 0, kinds: &[], seed: 0, latency: Duration::ZERO };

    /// Every request fails with one of these faults.
    pub(crate) fn always(kinds: &'static [Fault]) -> Self {
        Self { faults: 1000, kinds, ..Self::GOOD }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// 429 without `retry-after`.
    TooMany,
    /// 429 with seconds.
    TooManySeconds,
    /// 429 with this many seconds.
    RetryAfter(u32),
    /// 429 with a date in the past.
    TooManyDate,
    /// 500.
    Broken,
    /// 529.
    Overloaded,
    /// The connection is reset before the request is read.
    Reset,
    /// The body stops in the middle, and the connection closes later.
    SlowBody,
    /// An HTML page.
    WrongType,
    /// A body shorter than its `content-length`.
    Truncated,
    /// A body that ends in the middle of its JSON.
    CutJson,
    /// A duplicate JSON key.
    DoubleKey,
    /// 50 MB.
    Huge,
    /// Text without an answer.
    Prose,
    /// The beginning of an answer.
    CutAnswer,
    /// A refusal.
    Refusal,
    /// 400 about the schema, as long as there is one.
    NoSchema,
    /// 401, with the key in the body.
    Unauthorized,
    /// Never answers.
    Silent,
    /// A status and a body.
    Says(u16, &'static str),
}

/// Faults that succeed on retry, or after the model is told what is wrong.
pub(crate) const PASSING: &[Fault] = &[
    Fault::TooMany,
    Fault::TooManySeconds,
    Fault::TooManyDate,
    Fault::Broken,
    Fault::Overloaded,
    Fault::Reset,
    Fault::SlowBody,
    Fault::WrongType,
    Fault::Truncated,
    Fault::CutJson,
    Fault::DoubleKey,
    Fault::Huge,
    Fault::Prose,
    Fault::CutAnswer,
];

/// Maps the body of a request to an answer or a fault.
type Think = dyn Fn(&Value) -> std::result::Result<Value, Fault> + Send + Sync;

/// A running server; it lives as long as the process.
pub(crate) struct Server {
    pub(crate) port: u16,
    state: Arc<State>,
}

struct State {
    behaviour: Behaviour,
    /// Decides on the answer, if the answer is not drawn. The bodies of requests are recorded only then.
    think: Option<Box<Think>>,
    bodies: Mutex<Vec<Value>>,
    connections: AtomicU64,
    requests: AtomicU64,
    faults: AtomicU64,
    after_success: AtomicU64,
    /// How often each question was asked, and answered successfully.
    counts: Mutex<BTreeMap<u64, (u64, u64)>>,
}

impl Server {
    pub(crate) fn start(behaviour: Behaviour) -> Self {
        Self::with(behaviour, None)
    }

    /// A server with one answer for everything.
    pub(crate) fn saying(behaviour: Behaviour, answer: Option<Value>) -> Self {
        Self::with(behaviour, answer.map(|answer| -> Box<Think> { Box::new(move |_| Ok(answer.clone())) }))
    }

    /// A faultless server that decides by the user message.
    pub(crate) fn deciding_by_prompt(think: fn(&str) -> Value) -> Self {
        Self::deciding_by_request(Behaviour::GOOD, move |body| {
            let messages = body["messages"].as_array().into_iter().flatten();
            let user = messages.filter(|message| message["role"] == "user").find_map(|m| m["content"].as_str());
            Ok(think(user.unwrap_or_default()))
        })
    }

    /// A server that decides by the whole request, possibly for a fault.
    pub(crate) fn deciding_by_request(
        behaviour: Behaviour,
        think: impl Fn(&Value) -> std::result::Result<Value, Fault> + Send + Sync + 'static,
    ) -> Self {
        Self::with(behaviour, Some(Box::new(think)))
    }

    fn with(behaviour: Behaviour, think: Option<Box<Think>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(State {
            behaviour,
            think,
            bodies: Mutex::default(),
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            faults: AtomicU64::new(0),
            after_success: AtomicU64::new(0),
            counts: Mutex::default(),
        });
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                shared.connections.fetch_add(1, Ordering::Relaxed);
                let state = Arc::clone(&shared);
                // Clients may disconnect.
                std::thread::spawn(move || state.serve(stream).ok());
            }
        });
        Self { port, state }
    }

    /// The bodies of all requests, if the answers are not drawn.
    pub(crate) fn bodies(&self) -> Vec<Value> {
        self.state.bodies.lock().unwrap().clone()
    }

    pub(crate) fn connections(&self) -> u64 {
        self.state.connections.load(Ordering::Relaxed)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::Relaxed)
    }

    pub(crate) fn faults(&self) -> u64 {
        self.state.faults.load(Ordering::Relaxed)
    }

    /// Requests for questions already answered successfully.
    pub(crate) fn after_success(&self) -> u64 {
        self.state.after_success.load(Ordering::Relaxed)
    }
}

struct Request {
    path: String,
    key: String,
    body: Value,
}

impl State {
    fn serve(&self, stream: TcpStream) -> Result<()> {
        stream.set_nodelay(true)?;
        let mut reader = BufReader::new(stream.try_clone()?);
        let mut stream = stream;
        while let Some((path, length, key)) = read_head(&mut reader)? {
            let mut body = vec![0; length];
            reader.read_exact(&mut body)?;
            self.requests.fetch_add(1, Ordering::Relaxed);
            let request = Request { path, key, body: serde_json::from_slice(&body)? };
            if !self.answer(&request, &mut stream)? {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Answers; returns whether the connection stays open.
    fn answer(&self, request: &Request, stream: &mut TcpStream) -> Result<bool> {
        let anthropic = request.path.ends_with("/v1/messages");
        let user = request.body["messages"][usize::from(!anthropic)]["content"].as_str();
        let user = user.or_else(|| request.body["input"].as_str()).unwrap_or_default();
        let repair = user.contains("your answer could not be used");
        let question = hash(user.split("\n\nYou were asked this before").next().unwrap_or_default().as_bytes());
        let attempt = {
            let mut counts = self.counts.lock().unwrap();
            let entry = counts.entry(question).or_default();
            entry.0 += 1;
            if entry.1 > 0 {
                self.after_success.fetch_add(1, Ordering::Relaxed);
            }
            entry.0
        };
        std::thread::sleep(self.behaviour.latency);
        let drawn = mix(question ^ mix(self.behaviour.seed ^ mix(attempt)));
        let fault = (drawn % 1000 < self.behaviour.faults)
            .then(|| self.behaviour.kinds[((drawn >> 20) % self.behaviour.kinds.len() as u64) as usize]);
        // A model that was told what is wrong answers correctly the next time.
        let fault = fault.filter(|fault| !(repair && is_content_fault(*fault) && self.behaviour.faults < 1000));
        let thought = self.think.as_ref().map(|think| {
            self.bodies.lock().unwrap().push(request.body.clone());
            think(&request.body)
        });
        let (answer, fault) = match thought {
            None => (decision(question), fault),
            Some(Ok(answer)) => (answer, fault),
            Some(Err(thought)) => (Value::Null, Some(thought)),
        };
        let Some(fault) = fault else {
            self.counts.lock().unwrap().entry(question).or_default().1 += 1;
            write_response(stream, 200, "", &message(&request.path, &request.body, &answer).to_string())?;
            return Ok(true);
        };
        self.faults.fetch_add(1, Ordering::Relaxed);
        let good = message(&request.path, &request.body, &answer).to_string();
        let failure = |kind: &str| {
            json!({"type": "error", "error": {"type": kind, "message": format!("{kind} for {}", request.key)}})
                .to_string()
        };
        match fault {
            Fault::TooMany => write_response(stream, 429, "", &failure("rate_limit_error"))?,
            Fault::TooManySeconds => write_response(stream, 429, "Retry-After: 0\r\n", &failure("rate_limit_error"))?,
            Fault::RetryAfter(seconds) => {
                let header = format!("Retry-After: {seconds}\r\n");
                write_response(stream, 429, &header, &failure("rate_limit_error"))?;
            }
            Fault::TooManyDate => write_response(
                stream,
                429,
                "Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\n",
                &failure("rate_limit_error"),
            )?,
            Fault::Broken => write_response(stream, 500, "", "<h1>Internal error</h1>")?,
            Fault::Overloaded => write_response(stream, 529, "", &failure("overloaded_error"))?,
            Fault::Unauthorized => write_response(stream, 401, "", &failure("authentication_error"))?,
            Fault::Reset => return Ok(false),
            Fault::SlowBody | Fault::Truncated => {
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                    good.len()
                )?;
                stream.write_all(&good.as_bytes()[..good.len() / 2])?;
                let pause = if fault == Fault::SlowBody { 50 } else { 0 };
                std::thread::sleep(Duration::from_millis(pause));
                return Ok(false);
            }
            Fault::WrongType => {
                let page = "<!doctype html><p>Please wait.";
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                    page.len()
                )?;
            }
            Fault::CutJson => write_response(stream, 200, "", &good[..good.len() - 20])?,
            Fault::DoubleKey if request.body["tool_choice"].is_object() => {
                write_response(stream, 200, "", &good.replacen("\"match\":", "\"match\":false,\"match\":", 1))?;
            }
            Fault::DoubleKey => {
                // In the text of the answer, which comes after what was thought.
                let (before, answer) = good.rsplit_once("\\\"match\\\":").unwrap_or((&good, ""));
                let twice = format!("{before}\\\"match\\\":false,\\\"match\\\":{answer}");
                write_response(stream, 200, "", &twice)?;
            }
            Fault::Huge => {
                return write_huge_body(stream, drawn >> 40 & 1 == 0).map(|()| false);
            }
            Fault::Prose => write_response(
                stream,
                200,
                "",
                &text_response(anthropic, "I believe they are about the same problem.", "end_turn", "stop"),
            )?,
            Fault::CutAnswer => write_response(
                stream,
                200,
                "",
                &text_response(anthropic, "{\"match\": true, \"confi", "max_tokens", "length"),
            )?,
            Fault::Refusal => write_response(
                stream,
                200,
                "",
                &text_response(anthropic, "I cannot help with that.", "refusal", "content_filter"),
            )?,
            Fault::NoSchema if request.body["response_format"].is_null() => write_response(stream, 200, "", &good)?,
            Fault::NoSchema => {
                write_response(stream, 400, "", "{\"error\": {\"message\": \"response_format is not supported\"}}")?
            }
            Fault::Says(status, body) => write_response(stream, status, "", body)?,
            Fault::Silent => std::thread::sleep(Duration::from_secs(3600)),
        }
        Ok(true)
    }
}

/// Whether the fault is in the content rather than in the transport.
fn is_content_fault(fault: Fault) -> bool {
    matches!(fault, Fault::Prose | Fault::CutAnswer | Fault::DoubleKey)
}

/// The answer drawn for a question.
pub(crate) fn decision(question: u64) -> Value {
    let drawn = mix(question);
    json!({"match": drawn & 1 == 0, "confidence": (drawn >> 8 & 0xff) as f64 / 255.0, "partial": false, "explanation": format!("drawn {drawn:x}")})
}

/// An answer in the form that the request asks for. Anthropic's models think first.
fn message(path: &str, request: &Value, answer: &Value) -> Value {
    if path.ends_with("/v1/messages") {
        let usage = json!({"input_tokens": 800, "output_tokens": 60});
        if request["tool_choice"].is_object() {
            let content = json!([{"type": "tool_use", "id": "t", "name": "answer", "input": answer}]);
            return json!({"type": "message", "content": content, "stop_reason": "tool_use", "usage": usage});
        }
        let thinking = json!({"type": "thinking", "thinking": "Is it {\"match\": false}?", "signature": "s"});
        let content = json!([thinking, {"type": "text", "text": answer.to_string()}]);
        return json!({"type": "message", "content": content, "stop_reason": "end_turn", "usage": usage});
    }
    if path.ends_with("/responses") {
        let content = json!([{"type": "output_text", "text": answer.to_string()}]);
        let details = json!({"reasoning_tokens": 40});
        let usage = json!({"input_tokens": 800, "output_tokens": 60, "output_tokens_details": details});
        return json!({"output": [{"type": "reasoning"}, {"type": "message", "content": content}], "usage": usage});
    }
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": answer.to_string()}, "finish_reason": "stop"});
    json!({"choices": [choice], "usage": {"prompt_tokens": 800, "completion_tokens": 60}})
}

fn text_response(anthropic: bool, text: &str, stop: &str, finish: &str) -> String {
    if anthropic {
        return json!({"content": [{"type": "text", "text": text}], "stop_reason": stop, "usage": {"input_tokens": 800, "output_tokens": 9}}).to_string();
    }
    json!({"choices": [{"message": {"content": text}, "finish_reason": finish}]}).to_string()
}

/// The path of the next request, the length of its body, and its key.
fn read_head(reader: &mut BufReader<TcpStream>) -> Result<Option<(String, usize, String)>> {
    let (mut path, mut length, mut key, mut line) = (None, 0, String::new(), String::new());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let text = line.trim_end();
        if text.is_empty() {
            return Ok(path.map(|path| (path, length, key)));
        }
        if path.is_none() {
            path = text.split(' ').nth(1).map(str::to_owned);
        }
        match text.split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap_or(0),
            Some((name, value)) if name.eq_ignore_ascii_case("x-api-key") => key = value.to_owned(),
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => key = value.to_owned(),
            _ => {}
        }
    }
}

fn write_response(stream: &mut TcpStream, status: u16, headers: &str, body: &str) -> Result<()> {
    let text = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes())
}

/// A body of 50 MB, with or without `content-length`.
fn write_huge_body(stream: &mut TcpStream, announced: bool) -> Result<()> {
    const SIZE: usize = 50_000_000;
    let length = if announced { format!("Content-Length: {SIZE}\r\n") } else { "Connection: close\r\n".to_owned() };
    write!(stream, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{length}\r\n\"")?;
    let piece = vec![b'x'; 65_536];
    for _ in 0..SIZE / piece.len() {
        stream.write_all(&piece)?;
    }
    Ok(())
}

/// FNV-1a, sufficient to distinguish questions.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The finalizer of SplitMix64.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
