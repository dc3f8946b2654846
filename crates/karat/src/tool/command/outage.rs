//! Outages: a trial that failed because of a rate limit, a server or a network says nothing about its tool.

use crate::tool::Retries;
use crate::tool::manifest::Check;
use karat_format::quantity;
use karat_sandbox::{ExitReason, JobResult};
use regex::bytes::Regex;
use std::time::Duration;

/// What a manifest says of outages.
#[derive(Clone, Debug)]
pub(crate) struct Outages {
    pub(crate) retries: Retries,
    exit: Vec<i32>,
    pattern: Option<Regex>,
}

impl PartialEq for Outages {
    fn eq(&self, other: &Self) -> bool {
        let parts =
            |own: &Self| (own.retries, own.exit.clone(), own.pattern.as_ref().map(|own| own.as_str().to_owned()));
        parts(self) == parts(other)
    }
}

const RETRIES: u32 = 3;
const FIRST_WAIT: Duration = Duration::from_secs(1);
/// Bytes of a matching text that are repeated in the reason.
const MAX_QUOTE: usize = 100;

impl Outages {
    /// Why a trial that failed met an outage, in the manifest's terms; `None` if the tool is to blame.
    pub(in crate::tool) fn explain(&self, finished: &JobResult) -> Option<String> {
        let code = match finished.exit {
            ExitReason::Exited(code) => Some(code),
            // A sandbox reports an exit code above 128 as the signal it may stand for.
            ExitReason::Signalled(signal) => Some(128 + signal),
            ExitReason::TimedOut => None,
            _ => return None,
        };
        if let Some(code) = code.filter(|code| self.exit.contains(code)) {
            return Some(format!("exit code {code} means an outage (infra_exit)"));
        }
        let pattern = self.pattern.as_ref()?;
        let printed = [("stderr", &finished.stderr.bytes), ("stdout", &finished.stdout.bytes)];
        let (name, found) = printed.into_iter().find_map(|(name, bytes)| Some((name, pattern.find(bytes)?)))?;
        let quote = String::from_utf8_lossy(&found.as_bytes()[..found.len().min(MAX_QUOTE)]).into_owned();
        let quote = quote.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(format!("`{quote}` in its {name} means an outage (infra_pattern)"))
    }
}

impl Check<'_> {
    pub(super) fn outages(&mut self, ok_exit: &[i32]) -> Outages {
        let raw = self.raw;
        for (index, code) in raw.infra_exit.iter().enumerate() {
            let path = ["infra_exit", &index.to_string()];
            if !(0..=255).contains(code) {
                self.fault(&path, "out-of-range", format!("invalid exit code {code}: expected 0 to 255"));
            } else if ok_exit.contains(code) {
                let message =
                    format!("exit code {code} does not mean failure (ok_exit); remove it from one of the two");
                self.fault(&path, "set-twice", message);
            }
        }
        let pattern = raw.infra_pattern.as_deref().and_then(|text| self.outage_pattern(text));
        let first_wait = match raw.retry_wait.as_deref().map(quantity::duration).transpose() {
            Ok(wait) => wait.unwrap_or(FIRST_WAIT),
            Err(message) => {
                self.fault(&["retry_wait"], "bad-duration", message);
                FIRST_WAIT
            }
        };
        let retries = Retries { most: raw.llm.retries.unwrap_or(RETRIES), first_wait };
        Outages { retries, exit: raw.infra_exit.clone(), pattern }
    }

    fn outage_pattern(&mut self, text: &str) -> Option<Regex> {
        match Regex::new(text) {
            Ok(pattern) if pattern.is_match(b"") => {
                let message = format!(
                    "`{text}` matches every text, so every failure would be an outage; name what the tool prints, such as \"rate limit|429\""
                );
                self.fault(&["infra_pattern"], "bad-pattern", message);
                None
            }
            Ok(pattern) => Some(pattern),
            Err(error) => {
                // The last line says what is wrong; the others draw the pattern.
                let error = error.to_string();
                let why = error.lines().last().unwrap_or_default().trim_start_matches("error: ");
                self.fault(&["infra_pattern"], "bad-pattern", format!("`{text}` is not a regular expression: {why}"));
                None
            }
        }
    }
}
