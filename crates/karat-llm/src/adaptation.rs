//! Adapts requests to what a provider accepts. Models and servers differ in the parameters and answer formats they support; what
//! one refuses is left out from then on, and becomes part of the ledger keys. What the table of models says, or what the ledger
//! remembers of earlier runs, is left out from the start and gives the same keys.

pub use super::error::RefusedPart;

use super::error::{HttpFailure, SendError};
use karat_format::models::{ModelV1, RefusalV1};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// How requests differ from the configuration because the provider refused something. Exchanges record it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Adaptation {
    pub dropped: BTreeSet<String>,
    pub answer_format: AnswerFormat,
    /// How many of [`LIMITS`] were refused.
    #[serde(default)]
    refused_limits: usize,
}

/// The parameters that limit the answer's length, in the order in which they are tried.
const LIMITS: [&str; 2] = ["max_tokens", "max_completion_tokens"];

/// How a provider is made to answer in the right format, strictest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerFormat {
    /// By the JSON Schema of the answer.
    #[default]
    Schema,
    /// By a tool with that schema, which must be called.
    Tool,
    /// As any JSON object, described by the prompt.
    JsonObject,
    /// By the prompt alone.
    Text,
}

/// The names by which an error message may refer to parts of a request.
#[expect(missing_docs, reason = "field names say it")]
pub struct PartNames<'a> {
    pub parameters: Vec<&'a str>,
    pub format: &'a [&'a str],
    pub limit: &'a [&'a str],
    pub effort: &'a [&'a str],
}

/// The parameter that says how hard to think; every provider has another place for it.
pub(super) const EFFORT: &str = "effort";

/// The key of [`ProviderId::parameters`](super::provider::ProviderId::parameters) that says how requests were adapted.
const ADAPTED: &str = "adapted";

/// With more configured parameters than this, the ledger is searched for one or two refused ones only.
const MAX_COMBINED: usize = 6;

impl Adaptation {
    /// Reads it from the parameters of an exchange; the default where nothing was adapted.
    pub fn from_parameters(parameters: &Value) -> Self {
        parameters.get(ADAPTED).and_then(|stated| Self::deserialize(stated).ok()).unwrap_or_default()
    }

    /// The parameter that limits the answer's length, if it is sent.
    pub(super) fn limit(&self) -> Option<&'static str> {
        LIMITS.get(self.refused_limits).copied()
    }

    /// Whether a parameter is sent.
    pub fn sends(&self, parameter: &str) -> bool {
        !self.dropped.contains(parameter)
    }

    /// What a model is known to refuse of requests with these parameters. `formats` are those of the provider.
    pub(super) fn of_model(model: &ModelV1, configured: &Value, formats: &[AnswerFormat]) -> Self {
        let is_refused = |name: &str, value: &Value| match name {
            "temperature" | "top_p" | "top_k" => model.refuses(RefusalV1::Sampling),
            EFFORT => model.refuses(RefusalV1::Effort),
            "thinking" => match value["type"].as_str() {
                Some("enabled") => model.refuses(RefusalV1::ThinkingBudget),
                Some("disabled") => model.refuses(RefusalV1::DisabledThinking),
                _ => false,
            },
            _ => false,
        };
        let options = configured.as_object().into_iter().flatten();
        let dropped = options.filter(|(name, value)| is_refused(name, value)).map(|(name, _)| name.clone()).collect();
        let is_accepted = |format: &&AnswerFormat| match format {
            AnswerFormat::Schema => !model.refuses(RefusalV1::StructuredOutput),
            AnswerFormat::Tool => !model.refuses(RefusalV1::ForcedToolChoice),
            AnswerFormat::JsonObject | AnswerFormat::Text => true,
        };
        Self {
            dropped,
            answer_format: formats.iter().find(is_accepted).copied().unwrap_or_default(),
            refused_limits: usize::from(model.refuses(RefusalV1::MaxTokens)),
        }
    }

    /// The same for requests with other parameters: what they do not have cannot be left out.
    pub(super) fn restricted_to(mut self, configured: &Value) -> Self {
        self.dropped.retain(|name| configured.get(name).is_some());
        self
    }

    /// The same without the refused part; `None` where there is no alternative. `formats` are those of the provider.
    pub fn without(&self, refused: &RefusedPart, formats: &[AnswerFormat]) -> Option<Self> {
        let mut next = self.clone();
        match refused {
            RefusedPart::Parameter(name) => next.dropped.insert(name.clone()).then_some(next),
            RefusedPart::AnswerFormat => {
                next.answer_format = *formats.iter().find(|format| **format > self.answer_format)?;
                Some(next)
            }
            RefusedPart::TokenLimit => {
                next.refused_limits += 1;
                self.limit().map(|_| next)
            }
        }
    }

    /// Leaves out what either adaptation leaves out.
    pub fn merge(&mut self, other: &Self) {
        self.dropped.extend(other.dropped.iter().cloned());
        self.answer_format = self.answer_format.max(other.answer_format);
        self.refused_limits = self.refused_limits.max(other.refused_limits);
    }

    /// The parameters as they are sent, with a record of what is left out.
    pub(super) fn parameters(&self, configured: &Value) -> Value {
        let mut sent = configured.clone();
        let mut dropped: Vec<&str> = self.dropped.iter().map(String::as_str).collect();
        // The name of the limit does not change the answer; its absence may.
        dropped.extend(self.limit().is_none().then_some("max_tokens"));
        // Nor does the way in which the schema is enforced.
        let format = match self.answer_format {
            AnswerFormat::Tool => AnswerFormat::Schema,
            format => format,
        };
        if let Value::Object(entries) = &mut sent {
            entries.retain(|name, _| self.sends(name));
            if !dropped.is_empty() || format != AnswerFormat::Schema {
                entries.insert(ADAPTED.to_owned(), json!({ "dropped": dropped, "answer_format": format }));
            }
        }
        sent
    }

    /// Every possible adaptation of requests with these parameters that leads to a different ledger key.
    pub(super) fn all(configured: &Value, formats: &[AnswerFormat]) -> Vec<Self> {
        let names: Vec<&String> = configured.as_object().into_iter().flat_map(|entries| entries.keys()).collect();
        let names = &names[..names.len().min(12)];
        let is_likely = |set: &u32| names.len() <= MAX_COMBINED || set.count_ones() <= 2;
        let mut all = Vec::new();
        for set in (0..1_u32 << names.len()).filter(is_likely) {
            let chosen = names.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
            let dropped: BTreeSet<String> = chosen.map(|(_, name)| (*name).clone()).collect();
            for format in formats.iter().filter(|format| **format != AnswerFormat::Tool) {
                for refused_limits in [0, LIMITS.len()] {
                    all.push(Self { dropped: dropped.clone(), answer_format: *format, refused_limits });
                }
            }
        }
        all
    }

    /// Whether sampling was left to the provider's default.
    pub fn samples_by_default(&self) -> bool {
        self.dropped.contains("temperature")
    }

    /// A note for readers of a report, if a parameter was refused.
    pub fn describe(&self) -> Option<String> {
        let names: Vec<String> = self.dropped.iter().map(|name| format!("`{name}`")).collect();
        let sampling = if self.samples_by_default() { ", so that sampling was the provider's default" } else { "" };
        (!names.is_empty()).then(|| format!("the model refuses {}{sampling}", names.join(", ")))
    }
}

/// Turns a failure into [`SendError::Refused`] if the server's message, whatever its status, names a part of the request.
pub fn classify_refusal(failure: HttpFailure, parts: &PartNames<'_>) -> SendError {
    match find_refused_part(&failure, parts) {
        Some(refused) => SendError::Refused { refused, otherwise: Box::new(failure.error) },
        None => failure.error,
    }
}

fn find_refused_part(failure: &HttpFailure, parts: &PartNames<'_>) -> Option<RefusedPart> {
    let is_about_the_request = match failure.status {
        _ if matches!(failure.error, SendError::Exhausted { .. }) => false,
        // Authentication, addresses, rates and time-outs.
        401 | 403 | 404 | 407 | 408 | 409 | 413 | 425 | 429 => false,
        status => status >= 400,
    };
    if !is_about_the_request {
        return None;
    }
    let words = failure.words.to_lowercase();
    // A limit may also be refused because of its value or the length of the prompt.
    let is_refused = |part: &RefusedPart| *part != RefusedPart::TokenLimit || !is_about_length(&words);
    let named = |path: &String| part_of_path(path, parts);
    if let Some(part) = failure.parameters.iter().find_map(named) {
        return Some(part).filter(is_refused);
    }
    if failure.status >= 500 && !OBJECTIONS.split('|').any(|objection| words.contains(objection)) {
        return None;
    }
    let names = parts.parameters.iter().chain(parts.format).chain(parts.limit).chain(parts.effort);
    // Of several names at the same place the longest says most: `output_config.effort` is not `output_config`.
    let found = names.filter_map(|name| Some((position(&words, name)?, Reverse(name.len()), *name)));
    let (_, _, first) = found.min()?;
    part_of_name(first, parts).filter(is_refused)
}

/// The part that the longest known beginning of a path names.
fn part_of_path(path: &str, parts: &PartNames<'_>) -> Option<RefusedPart> {
    let shorter = path.rsplit_once('.').map(|(beginning, _)| beginning);
    part_of_name(path, parts).or_else(|| part_of_path(shorter?, parts))
}

fn part_of_name(name: &str, parts: &PartNames<'_>) -> Option<RefusedPart> {
    match name {
        name if parts.parameters.contains(&name) => Some(RefusedPart::Parameter(name.to_owned())),
        name if parts.format.contains(&name) => Some(RefusedPart::AnswerFormat),
        name if parts.limit.contains(&name) => Some(RefusedPart::TokenLimit),
        name if parts.effort.contains(&name) => Some(RefusedPart::Parameter(EFFORT.to_owned())),
        _ => None,
    }
}

const OBJECTIONS: &str = "support|should be|must be|may not|not permitted|not allowed|not accept|forbidden|deprecated|invalid|\
    unknown|unrecognized|unexpected|incompatible";

fn is_about_length(words: &str) -> bool {
    let complaints = ["too large", "too long", "context length", "context window", "exceed", "at most", "reduce"];
    complaints.iter().any(|complaint| words.contains(complaint))
}

fn position(words: &str, name: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    words.match_indices(name).map(|(at, _)| at).find(|at| {
        !words[..*at].chars().next_back().is_some_and(is_part)
            && !words[at + name.len()..].chars().next().is_some_and(is_part)
    })
}

#[cfg(test)]
mod tests;
