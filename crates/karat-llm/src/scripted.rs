//! Answers from files: `scripted` for what a person wrote down, `replay` for what was recorded.

use super::adaptation::Adaptation;
use super::ledger::Exchange;
use super::prompt::Prompt;
use super::provider::{Provider, ProviderEnv, ProviderError, ProviderId, Reply, SendError, SendFuture};
use karat_format::document::json;
use karat_format::judge::JudgeConfigV1;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// A line of a script. Without `question` and `prompt` it answers the next question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    question: Option<String>,
    /// The BLAKE3 hash, in hex, of the user prompt.
    prompt: Option<String>,
    /// The answer: an object, or a text to be parsed like a model's reply.
    answer: Value,
}

struct Scripted {
    id: ProviderId,
    by_question: BTreeMap<String, Value>,
    by_prompt: BTreeMap<String, Value>,
    in_order: Mutex<std::vec::IntoIter<Value>>,
}

/// Opens a script: one answer a line.
pub(super) fn open(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let (file, text, lines) = read_lines("scripted", config, env)?;
    let (mut by_question, mut by_prompt, mut in_order) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    for (number, value) in lines {
        let wrong = |reason: String| ProviderError::Other(format!("{file}: line {number}: {reason}"));
        let line: Line = serde_json::from_value(value)
            .map_err(|error| wrong(format!("{error}; a line is {{\"question\": \"…\", \"answer\": {{…}}}}")))?;
        let before = match (line.question, line.prompt) {
            (Some(question), None) => by_question.insert(question, line.answer),
            (None, Some(prompt)) => by_prompt.insert(prompt, line.answer),
            (None, None) => {
                in_order.push(line.answer);
                None
            }
            (Some(_), Some(_)) => {
                return Err(wrong("it names a question and a prompt; one of them is enough".to_owned()));
            }
        };
        if before.is_some() {
            return Err(wrong("it is answered on a line before; remove one of the two".to_owned()));
        }
    }
    let parameters = json!({ "script": blake3::hash(text.as_bytes()).to_hex().to_string() });
    let id =
        ProviderId { provider: "scripted".to_owned(), model: config.model.clone().unwrap_or_default(), parameters };
    Ok(Box::new(Scripted { id, by_question, by_prompt, in_order: Mutex::new(in_order.into_iter()) }))
}

impl Provider for Scripted {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, _: &'a Adaptation) -> SendFuture<'a> {
        let hash = blake3::hash(prompt.user.as_bytes()).to_hex();
        let named = self.by_question.get(question).or_else(|| self.by_prompt.get(hash.as_str())).cloned();
        let next = || self.in_order.lock().unwrap_or_else(PoisonError::into_inner).next();
        let result = match named.or_else(next) {
            Some(Value::String(text)) => Ok(Reply { text, ..Reply::default() }),
            Some(answer) => Ok(Reply { structured: Some(answer), ..Reply::default() }),
            None => Err(SendError::Rejected { why: format!("the script has no answer to the question {question}") }),
        };
        Box::pin(std::future::ready(result))
    }
}

struct Replay {
    id: ProviderId,
    file: String,
    /// By user prompt and system prompt.
    exchanges: BTreeMap<(String, String), Exchange>,
}

/// Opens recorded exchanges, one a line, all with the same model, whose identity and keys they keep.
pub(super) fn open_replay(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let (file, _, lines) = read_lines("replay", config, env)?;
    let (mut id, mut exchanges) = (None::<ProviderId>, BTreeMap::new());
    for (number, value) in lines {
        let wrong = |reason: String| ProviderError::Other(format!("{file}: line {number}: {reason}"));
        let exchange: Exchange = serde_json::from_value(value)
            .map_err(|error| wrong(format!("{error}; this is not a recorded exchange")))?;
        if id.get_or_insert_with(|| exchange.provider.clone()) != &exchange.provider {
            return Err(wrong("another model answers here than on the lines before; a replay takes one".to_owned()));
        }
        exchanges.insert((exchange.user.clone(), exchange.system.clone()), exchange);
    }
    let id = id.ok_or_else(|| ProviderError::Other(format!("{file}: it holds no exchange")))?;
    Ok(Box::new(Replay { id, file, exchanges }))
}

impl Provider for Replay {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn send<'a>(&'a self, question: &'a str, prompt: &'a Prompt, _: &'a Adaptation) -> SendFuture<'a> {
        let prompts = (prompt.user.clone(), prompt.system.clone());
        // A repair request begins with the original request.
        let nearest = self.exchanges.range(..=prompts).next_back().map(|(_, exchange)| exchange);
        let same = nearest.filter(|known| known.system == prompt.system && prompt.user.starts_with(&known.user));
        let found =
            same.and_then(|known| if known.user == prompt.user { known.replies.first() } else { known.replies.last() });
        let missing =
            || SendError::Fatal { why: format!("{} holds no exchange for the question {question}", self.file) };
        Box::pin(std::future::ready(found.cloned().ok_or_else(missing)))
    }
}

/// The values of a JSONL file with their line numbers.
type NumberedValues = Vec<(usize, Value)>;

/// The path of a judge's JSONL file, for messages, its text, and its values; blank lines are skipped.
fn read_lines(
    name: &str,
    config: &JudgeConfigV1,
    env: &ProviderEnv<'_>,
) -> Result<(String, String, NumberedValues), ProviderError> {
    let stated = config.file.as_deref().ok_or_else(|| {
        ProviderError::Other(format!("the provider `{name}` needs `file = \"…\"`, a JSONL file with answers"))
    })?;
    let path = env.folder.join(stated);
    let file = path.display().to_string();
    let text =
        karat_io::regular_file::read_named(&path).map_err(|error| ProviderError::Other(format!("{file}: {error}")))?;
    let mut values = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let value = json::parse(line).map_err(|faults| {
            let first = faults.first().map(|fault| fault.message.clone()).unwrap_or_default();
            ProviderError::Other(format!("{file}: line {}: {first}", index + 1))
        })?;
        values.push((index + 1, value.to_json()));
    }
    Ok((file, text, values))
}
