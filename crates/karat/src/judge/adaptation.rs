//! What a provider does not take of a request. Models and servers differ in the parameters they accept and in the forms in
//! which they can be made to answer; what one refuses is left out from then on, and the ledger's keys say so.

use super::http::Declined;
use super::provider::SendError;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// How requests differ from what is configured, because the provider refused something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Adaptation {
    /// Parameters that are left out.
    dropped: BTreeSet<String>,
    format: AnswerFormat,
    limit: TokenLimit,
}

/// How a provider is made to answer in the right form, strictest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// By the JSON Schema of the answer, or by a tool with that schema.
    #[default]
    Schema,
    /// As any JSON object; the prompt says in words what it holds.
    JsonObject,
    /// By the words of the prompt alone.
    Text,
}

/// What the longest answer is called in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum TokenLimit {
    #[default]
    MaxTokens,
    MaxCompletionTokens,
    Absent,
}

/// The part of a request that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A parameter of the configuration.
    Parameter(String),
    /// The form in which the answer is asked for.
    AnswerFormat,
    /// The limit of the answer's length.
    TokenLimit,
}

/// The names under which a refusal may speak of the parts of a request.
pub(crate) struct Parts<'a> {
    /// The configured parameters, as they are sent.
    pub(crate) parameters: Vec<&'a str>,
    /// The form of the answer.
    pub(crate) format: &'a [&'a str],
    /// The limit of the answer's length.
    pub(crate) limit: &'a [&'a str],
}

/// The key of [`ProviderId::parameters`](super::provider::ProviderId::parameters) that says how requests were adapted.
const ADAPTED: &str = "adapted";

/// With more configured parameters than this, only one or two that were refused are looked for in the ledger.
const MOST_COMBINED: usize = 6;

impl Adaptation {
    /// The form in which the answer is asked for.
    pub(super) fn format(&self) -> AnswerFormat {
        self.format
    }

    /// The parameter for the longest answer, where it is sent.
    pub(super) fn limit(&self) -> Option<&'static str> {
        match self.limit {
            TokenLimit::MaxTokens => Some("max_tokens"),
            TokenLimit::MaxCompletionTokens => Some("max_completion_tokens"),
            TokenLimit::Absent => None,
        }
    }

    /// Whether a parameter is sent.
    pub(crate) fn sends(&self, parameter: &str) -> bool {
        !self.dropped.contains(parameter)
    }

    /// The same without what was refused; `None` where nothing is left to leave out. `formats` are those of the provider.
    pub(crate) fn without(&self, refused: &Refused, formats: &[AnswerFormat]) -> Option<Self> {
        let mut next = self.clone();
        match refused {
            Refused::Parameter(name) => next.dropped.insert(name.clone()).then_some(next),
            Refused::AnswerFormat => {
                next.format = *formats.iter().find(|format| **format > self.format)?;
                Some(next)
            }
            Refused::TokenLimit => {
                next.limit = match self.limit {
                    TokenLimit::MaxTokens => TokenLimit::MaxCompletionTokens,
                    TokenLimit::MaxCompletionTokens => TokenLimit::Absent,
                    TokenLimit::Absent => return None,
                };
                Some(next)
            }
        }
    }

    /// Leaves out what either of the two leaves out.
    pub(super) fn merge(&mut self, other: &Self) {
        self.dropped.extend(other.dropped.iter().cloned());
        self.format = self.format.max(other.format);
        self.limit = self.limit.max(other.limit);
    }

    /// The parameters as they are sent, with a word on what is not.
    pub(super) fn parameters(&self, configured: &Value) -> Value {
        let mut sent = configured.clone();
        let mut dropped: Vec<&str> = self.dropped.iter().map(String::as_str).collect();
        // Either name of the limit means the same to an answer.
        dropped.extend((self.limit == TokenLimit::Absent).then_some("max_tokens"));
        if let Value::Object(entries) = &mut sent {
            entries.retain(|name, _| self.sends(name));
            if !dropped.is_empty() || self.format != AnswerFormat::Schema {
                entries.insert(ADAPTED.to_owned(), json!({ "dropped": dropped, "answer_format": self.format }));
            }
        }
        sent
    }

    /// Every adaptation that requests with these parameters may have come to, as far as the ledger's keys differ by it.
    pub(super) fn all(configured: &Value, formats: &[AnswerFormat]) -> Vec<Self> {
        let names: Vec<&String> = configured.as_object().into_iter().flat_map(|entries| entries.keys()).collect();
        let names = &names[..names.len().min(12)];
        let is_likely = |set: &u32| names.len() <= MOST_COMBINED || set.count_ones() <= 2;
        let mut all = Vec::new();
        for set in (0..1_u32 << names.len()).filter(is_likely) {
            let chosen = names.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            let dropped: BTreeSet<String> = chosen.map(|(_, name)| (*name).clone()).collect();
            for format in formats {
                for limit in [TokenLimit::MaxTokens, TokenLimit::Absent] {
                    all.push(Self { dropped: dropped.clone(), format: *format, limit });
                }
            }
        }
        all
    }
}

/// How the requests of an exchange differed from what was configured.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Adapted {
    /// Parameters that the provider refused.
    pub dropped: BTreeSet<String>,
    /// How the answer was asked for.
    pub answer_format: AnswerFormat,
}

impl Adapted {
    /// What the parameters of an exchange say; the default where everything was sent as configured.
    pub fn of(parameters: &Value) -> Self {
        parameters.get(ADAPTED).and_then(|stated| Self::deserialize(stated).ok()).unwrap_or_default()
    }

    /// Whether the model's sampling was left to the provider.
    pub fn samples_by_default(&self) -> bool {
        self.dropped.contains("temperature")
    }

    /// Adds what another exchange was asked without.
    pub(crate) fn merge(&mut self, other: Self) {
        self.dropped.extend(other.dropped);
        self.answer_format = self.answer_format.max(other.answer_format);
    }

    /// What a reader must know of it; nothing where no parameter was refused.
    pub fn in_words(&self) -> Option<String> {
        let names: Vec<String> = self.dropped.iter().map(|name| format!("`{name}`")).collect();
        let sampling = if self.samples_by_default() { ", so that sampling was the provider's default" } else { "" };
        (!names.is_empty()).then(|| format!("the provider refused {}{sampling}", names.join(", ")))
    }
}

/// Says of a declined request that a part of it was refused, where the server's words name one. Whatever the status: some
/// servers answer 500 to a parameter they do not know. Without such words the failure stays what its status says.
pub(crate) fn refusal(declined: Declined, parts: &Parts<'_>) -> SendError {
    match refused(&declined, parts) {
        Some(refused) => SendError::Refused { refused, otherwise: Box::new(declined.error) },
        None => declined.error,
    }
}

fn refused(declined: &Declined, parts: &Parts<'_>) -> Option<Refused> {
    let is_about_the_request = match declined.status {
        // Keys, addresses, rates and time-outs are nobody's parameters.
        401 | 403 | 404 | 407 | 408 | 409 | 413 | 425 | 429 => false,
        status => status >= 400,
    };
    if !is_about_the_request {
        return None;
    }
    let words = declined.words.to_lowercase();
    let named = |name: &str| {
        let first = name.split('.').next().unwrap_or_default();
        part(first, parts)
    };
    if let Some(refused) = declined.parameters.iter().find_map(|name| named(name)) {
        return Some(refused).filter(|refused| *refused != Refused::TokenLimit || !is_about_length(&words));
    }
    if declined.status >= 500 && !OBJECTIONS.iter().any(|objection| words.contains(objection)) {
        return None;
    }
    let names = parts.parameters.iter().chain(parts.format).chain(parts.limit);
    let first = names.filter_map(|name| Some((position(&words, name)?, *name))).min()?;
    part(first.1, parts).filter(|refused| *refused != Refused::TokenLimit || !is_about_length(&words))
}

fn part(name: &str, parts: &Parts<'_>) -> Option<Refused> {
    match name {
        name if parts.parameters.contains(&name) => Some(Refused::Parameter(name.to_owned())),
        name if parts.format.contains(&name) => Some(Refused::AnswerFormat),
        name if parts.limit.contains(&name) => Some(Refused::TokenLimit),
        _ => None,
    }
}

/// What servers say of a parameter that they do not take.
const OBJECTIONS: &[&str] = &[
    "support",
    "should be",
    "must be",
    "may not",
    "not permitted",
    "not allowed",
    "not accept",
    "forbidden",
    "deprecated",
    "invalid",
    "unknown",
    "unrecognized",
    "unexpected",
    "incompatible",
];

/// Whether a limit is refused for what it is set to, or for the length of the prompt beside it.
fn is_about_length(words: &str) -> bool {
    ["too large", "too long", "context length", "context window", "exceed", "at most", "reduce"]
        .iter()
        .any(|complaint| words.contains(complaint))
}

/// Where a name stands in a text as a word of its own.
fn position(words: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    words.match_indices(name).map(|(at, _)| at).find(|at| {
        !words[..*at].chars().next_back().is_some_and(is_part)
            && !words[at + name.len()..].chars().next().is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests;
