//! The protocol: questions with numbers and answers with the same, events in between, each ended by a zero byte.

use super::PATIENCE;
use super::heard::Heard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Both directions, for any number of threads.
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
    asked: u64,
    answers: BTreeMap<u64, Value>,
    /// By session, what pages did.
    heard: BTreeMap<String, Heard>,
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

    /// Ends the browser, if it still listens.
    pub(super) fn close(&self) {
        let _ = self.line.send(None, "Browser.close", json!({}));
        *self.line.to.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// The answer to a question that has one.
    #[track_caller]
    pub(super) fn call(&self, session: Option<&str>, method: &str, about: Value) -> Value {
        self.try_call(session, method, about).unwrap_or_else(|why| panic!("{method}: {why}"))
    }

    /// The answer, or why there is none.
    pub(super) fn try_call(&self, session: Option<&str>, method: &str, about: Value) -> Result<Value, String> {
        let number = self.line.send(session, method, about)?;
        // Whatever is asked may have to wait for a page that is busy, so one is more patient than with the page itself.
        let answer = self.line.wait(PATIENCE * 3, |state| state.answers.remove(&number));
        let mut answer = answer.ok_or_else(|| match self.is_open() {
            true => format!("Chromium did not answer within {} s", PATIENCE.as_secs() * 3),
            false => "Chromium has ended".to_owned(),
        })?;
        match answer["error"]["message"].as_str() {
            Some(why) => Err(why.to_owned()),
            None => Ok(answer["result"].take()),
        }
    }

    /// Looks at what a page did, and may take it away.
    pub(super) fn heard<T>(&self, session: &str, look: impl FnOnce(&mut Heard) -> T) -> T {
        look(self.line.state().heard.entry(session.to_owned()).or_default())
    }

    /// Waits until what a page did is enough.
    pub(super) fn wait_heard<T>(&self, session: &str, for_: impl Fn(&Heard) -> Option<T>) -> Option<T> {
        self.line.wait(PATIENCE * 3, |state| state.heard.get(session).and_then(&for_))
    }

    /// Forgets a page.
    pub(super) fn forget(&self, session: &str) {
        self.line.state().heard.remove(session);
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, session: Option<&str>, method: &str, about: Value) -> Result<u64, String> {
        let number = {
            let mut state = self.state();
            state.asked += 1;
            state.asked
        };
        let mut message = json!({ "id": number, "method": method, "params": about });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        let mut to = self.to.lock().unwrap_or_else(PoisonError::into_inner);
        let to = to.as_mut().ok_or("Chromium was closed")?;
        to.write_all(&bytes).and_then(|()| to.flush()).map_err(|error| format!("Chromium does not listen: {error}"))?;
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
                self.take(message);
            }
            bytes.clear();
        }
        self.state().ended = true;
        self.changed.notify_all();
    }

    fn take(&self, mut message: Value) {
        if let Some(number) = message["id"].as_u64() {
            self.state().answers.insert(number, message);
        } else {
            let method = message["method"].as_str().unwrap_or_default().to_owned();
            let session = message["sessionId"].as_str().map(str::to_owned);
            let about = message["params"].take();
            // What belongs to no page is the browser's own business, and differs from one version to the next.
            let Some(session) = session else { return };
            let dialog = method == "Page.javascriptDialogOpening";
            self.state().heard.entry(session.clone()).or_default().take(&method, &about);
            // An open dialog stops its page, and with it the test that wants to tell of it.
            if dialog {
                let _ = self.send(Some(&session), "Page.handleJavaScriptDialog", json!({ "accept": false }));
            }
        }
        self.changed.notify_all();
    }
}
