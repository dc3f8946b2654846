//! A server for embeddings or scores, with retries.

use super::RetrievalError;
use karat_llm::adaptation::{Adaptation, PartNames, RefusedPart, classify_refusal};
use karat_llm::http::Endpoint;
use karat_llm::provider::{ProviderEnv, SendError};
use serde_json::Value;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::runtime::Runtime;

/// A few thousand long vectors.
const LONGEST_ANSWER: usize = 128 * 1024 * 1024;

const TIMEOUT: Duration = Duration::from_secs(120);

const RETRIES: u32 = 6;

/// The longest wait after the first failure, which doubles each time, and the overall longest, even if the server asks for
/// more.
const WAITS: (Duration, Duration) = (Duration::from_millis(250), Duration::from_secs(60));

pub(super) struct Server {
    who: String,
    endpoint: Endpoint,
    adaptation: Mutex<Adaptation>,
    runtime: OnceLock<Runtime>,
}

pub(super) struct Answer {
    pub(super) value: Value,
    pub(super) requests: usize,
}

impl Server {
    /// A server at a given address; a key is used only if a variable is named for it.
    pub(super) fn open(
        who: String,
        base_url: Option<&str>,
        path: &str,
        key_env: Option<&str>,
        around: &ProviderEnv<'_>,
    ) -> Result<Self, RetrievalError> {
        let needs = || RetrievalError::Needs { who: who.clone(), field: "base_url" };
        let endpoint = Endpoint::from_address(base_url.ok_or_else(needs)?, path, key_env, LONGEST_ANSWER, around)?;
        Ok(Self { who, endpoint, adaptation: Mutex::default(), runtime: OnceLock::new() })
    }

    pub(super) fn missing_setting(&self) -> Option<&str> {
        self.endpoint.missing_setup()
    }

    pub(super) fn unconfirmed_key_host(&self) -> Option<&str> {
        self.endpoint.key_recipient()
    }

    pub(super) fn elsewhere(&self) -> Option<&str> {
        self.endpoint.remote_host()
    }

    /// Posts a body. Transient failures are retried, and an optional parameter that the server rejects is left out from then
    /// on.
    pub(super) fn post(&self, body: &Value, optional: &[&str]) -> Result<Answer, RetrievalError> {
        self.runtime()?.block_on(async {
            let mut requests = 0;
            loop {
                requests += 1;
                let late =
                    || SendError::Retry { after: None, why: format!("no answer within {} s", TIMEOUT.as_secs()) };
                let (body, parameters) = self.adapted(body, optional);
                let parts = PartNames { parameters, format: &[], limit: &[] };
                let sent = match tokio::time::timeout(TIMEOUT, self.endpoint.post(&body)).await {
                    Ok(sent) => sent.map_err(|declined| classify_refusal(declined, &parts)),
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

    fn adapted<'a>(&self, body: &Value, optional: &[&'a str]) -> (Value, Vec<&'a str>) {
        let adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
        let mut body = body.clone();
        if let Value::Object(entries) = &mut body {
            entries.retain(|name, _| adaptation.sends(name));
        }
        (body, optional.iter().filter(|name| adaptation.sends(name)).copied().collect())
    }

    fn leave_out(&self, refused: &RefusedPart) {
        let mut adaptation = self.adaptation.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(next) = adaptation.without(refused, &[]) {
            *adaptation = next;
        }
    }

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
            // An abandoned request must not delay the exit.
            runtime.shutdown_background();
        }
    }
}

/// The wait after this many failures. There is one request at a time, so no jitter is needed.
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
