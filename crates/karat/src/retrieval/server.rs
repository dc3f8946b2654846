//! A server that is asked for vectors or scores: one question after the other, again where that may help.

use super::RetrievalError;
use crate::judge::adaptation::{Adaptation, Parts, Refused, refusal};
use crate::judge::http::Endpoint;
use crate::judge::provider::{SendError, Surroundings};
use serde_json::Value;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// The longest answer that is read: a few thousand long vectors.
const LONGEST_ANSWER: usize = 128 * 1024 * 1024;

/// The longest one request may take.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How often a request that failed for a passing reason is made again.
const RETRIES: u32 = 6;

/// The longest wait after the first failure, which doubles with every further one, and the longest there is, also where a server
/// asks for more.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(60));

/// A server, and who asks it.
pub(super) struct Server {
    who: String,
    endpoint: Endpoint,
    /// What the server has refused so far.
    adaptation: Mutex<Adaptation>,
    runtime: OnceLock<Runtime>,
}

/// What came back, after how many requests.
pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) requests: usize,
}

impl Server {
    /// A server at an address, which is needed, with a key only where a variable is named for one.
    pub(super) fn open(
        who: String,
        base_url: Option<&str>,
        path: &str,
        key_env: Option<&str>,
        around: &Surroundings<'_>,
    ) -> Result<Self, RetrievalError> {
        let needs = || RetrievalError::Needs { who: who.clone(), field: "base_url" };
        let endpoint = Endpoint::at(base_url.ok_or_else(needs)?, path, key_env, LONGEST_ANSWER, around)?;
        Ok(Self { who, endpoint, adaptation: Mutex::default(), runtime: OnceLock::new() })
    }

    pub(super) fn lacks(&self) -> Option<&str> {
        self.endpoint.lacks()
    }

    pub(super) fn entrusts(&self) -> Option<&str> {
        self.endpoint.entrusts()
    }

    pub(super) fn elsewhere(&self) -> Option<&str> {
        self.endpoint.elsewhere()
    }

    /// What the server says to a body. What fails for a passing reason is tried again, and an optional parameter that the server
    /// refuses is left out from then on.
    pub(super) fn post(&self, body: &Value, optional: &[&str]) -> Result<Answer, RetrievalError> {
        self.runtime()?.block_on(async {
            let mut requests = 0;
            loop {
                requests += 1;
                let late =
                    || SendError::Retry { after: None, why: format!("no answer within {} s", TIMEOUT.as_secs()) };
                let (body, parameters) = self.adapted(body, optional);
                let parts = Parts { parameters, format: &[], limit: &[] };
                let sent = match tokio::time::timeout(TIMEOUT, self.endpoint.post(&body)).await {
                    Ok(sent) => sent.map_err(|declined| refusal(declined, &parts)),
                    Err(_) => Err(late()),
                };
                let (after, why) = match sent {
                    Ok(value) => return Ok(Answer { value, requests }),
                    Err(SendError::Retry { after, why }) => (after, why),
                    Err(SendError::Refused { refused, .. }) => {
                        self.leave_out(&refused);
                        continue;
                    }
                    Err(SendError::Rejected { why } | SendError::Fatal { why }) => return Err(self.failed(why)),
                };
                if requests > RETRIES as usize {
                    return Err(self.failed(format!("{requests} requests failed, the last one: {why}")));
                }
                tokio::time::sleep(wait(requests as u32, after)).await;
            }
        })
    }

    /// The body without what was refused, and the optional parameters that are left in it.
    fn adapted<'a>(&self, body: &Value, optional: &[&'a str]) -> (Value, Vec<&'a str>) {
        let adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
        let mut body = body.clone();
        if let Value::Object(entries) = &mut body {
            entries.retain(|name, _| adaptation.sends(name));
        }
        (body, optional.iter().filter(|name| adaptation.sends(name)).copied().collect())
    }

    fn leave_out(&self, refused: &Refused) {
        let mut adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = adaptation.without(refused, &[]) {
            *adaptation = next;
        }
    }

    /// The fault of an answer that says something else than was asked for.
    pub(super) fn unreadable(&self, why: impl Into<String>) -> RetrievalError {
        RetrievalError::BadAnswer { who: self.who.clone(), why: why.into() }
    }

    fn failed(&self, why: String) -> RetrievalError {
        RetrievalError::Failed { who: self.who.clone(), why }
    }

    fn runtime(&self) -> Result<&Runtime, RetrievalError> {
        if let Some(runtime) = self.runtime.get() {
            return Ok(runtime);
        }
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let made = builder.worker_threads(1).thread_name("karat-search").enable_all().build();
        let made = made.map_err(|error| self.failed(error.to_string()))?;
        Ok(self.runtime.get_or_init(|| made))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // A request that nobody waits for any more must not hold up the end.
            runtime.shutdown_background();
        }
    }
}

/// How long to wait after so many failures. One request is under way at a time, so nobody needs to be kept apart from others.
fn wait(failures: u32, asked_for: Option<Duration>) -> Duration {
    let own = WAITS.0.saturating_mul(1_u32.checked_shl(failures - 1).unwrap_or(u32::MAX));
    asked_for.map_or(own, |asked| asked.max(own)).min(WAITS.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_and_end() {
        let check = |failures: u32, asked: Option<u64>, expect: u64| {
            assert_eq!(wait(failures, asked.map(Duration::from_millis)), Duration::from_millis(expect));
        };
        check(1, None, 250);
        check(3, None, 1000);
        check(40, None, 60_000);
        check(1, Some(2000), 2000);
        check(1, Some(10), 250);
        check(1, Some(3_600_000), 60_000);
    }
}
