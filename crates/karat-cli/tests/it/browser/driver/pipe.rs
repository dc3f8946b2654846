//! The DevTools protocol over two pipes: numbered requests, responses and events, each ended by a zero byte.

use super::TIMEOUT;
use super::page_log::PageLog;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub(super) struct Pipe {
    line: Arc<Line>,
}

struct Line {
    to: Mutex<Option<ChildStdin>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    last_id: u64,
    answers: BTreeMap<u64, Value>,
    /// By session.
    logs: BTreeMap<String, PageLog>,
    ended: bool,
}

impl Pipe {
    pub(super) fn new(to: ChildStdin, from: ChildStdout) -> Self {
        let line = Line { to: Mutex::new(Some(to)), state: Mutex::default(), changed: Condvar::new() };
        let line = Arc::new(line);
        let listening = Arc::clone(&line);
        std::thread::spawn(move || listening.listen(from));
        Self { line }
    }

    pub(super) fn is_open(&self) -> bool {
        !self.line.state().ended
    }

    /// Closes the browser if it still runs.
    pub(super) fn close(&self) {
        let _ = self.line.send(None, "Browser.close", json!({}));
        *self.line.to.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    #[track_caller]
    pub(super) fn call(&self, session: Option<&str>, method: &str, about: Value) -> Value {
        self.try_call(session, method, about).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    pub(super) fn try_call(&self, session: Option<&str>, method: &str, about: Value) -> Result<Value, String> {
        let number = self.line.send(session, method, about)?;
        let answer = self.line.wait(TIMEOUT, |state| state.answers.remove(&number));
        let mut answer = answer.ok_or_else(|| match self.is_open() {
            true => format!("Chromium did not answer within {} s", TIMEOUT.as_secs()),
            false => "Chromium has ended".to_owned(),
        })?;
        match answer["error"]["message"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    /// Reads or edits the log of a page.
    pub(super) fn with_log<T>(&self, session: &str, look: impl FnOnce(&mut PageLog) -> T) -> T {
        look(self.line.state().logs.entry(session.to_owned()).or_default())
    }

    /// Waits until the log of a page satisfies a condition.
    pub(super) fn wait_log<T>(&self, session: &str, for_: impl Fn(&PageLog) -> Option<T>) -> Option<T> {
        self.line.wait(TIMEOUT, |state| state.logs.get(session).and_then(&for_))
    }

    pub(super) fn remove_log(&self, session: &str) {
        self.line.state().logs.remove(session);
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, session: Option<&str>, method: &str, about: Value) -> Result<u64, String> {
        let number = {
            let mut state = self.state();
            state.last_id += 1;
            state.last_id
        };
        let mut message = json!({ "id": number, "method": method, "params": about });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let to = to.as_mut().ok_or("Chromium was closed")?;
        to.write_all(&bytes)
            .and_then(|()| to.flush())
            .map_err(|error| format!("Chromium cannot be written to: {error}"))?;
        Ok(number)
    }

    fn wait<T>(&self, most: Duration, mut for_: impl FnMut(&mut State) -> Option<T>) -> Option<T> {
        let until = Instant::now() + most;
        let mut state = self.state();
        loop {
            if let Some(found) = for_(&mut state) {
                return Some(found);
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.ended || left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn listen(&self, from: ChildStdout) {
        let mut from = BufReader::with_capacity(1 << 16, from);
        let mut bytes = Vec::new();
        while from.read_until(0, &mut bytes).is_ok_and(|read| read > 0) {
            bytes.pop();
            if let Ok(message) = serde_json::from_slice::<Value>(&bytes) {
                self.receive(message);
            }
            bytes.clear();
        }
        self.state().ended = true;
        self.changed.notify_all();
    }

    fn receive(&self, mut message: Value) {
        if let Some(number) = message["id"].as_u64() {
            self.state().answers.insert(number, message);
        } else {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let session = message["sessionId"].as_str().map(str::to_owned);
            let about = message["params"].take();
            // Events without a session are the browser's own and differ between versions.
            let Some(session) = session else { return };
            let dialog = method == "Page.javascriptDialogOpening";
            self.state().logs.entry(session.clone()).or_default().record(&method, &about);
            // An open dialog blocks its page, and with it the test.
            if dialog {
                let _ = self.send(Some(&session), "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
        }
        self.changed.notify_all();
    }
}
