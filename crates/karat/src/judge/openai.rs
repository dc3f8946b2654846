//! Chat completions as OpenAI has them, and as many others speak them. Servers differ in what they take; what one refuses is
//! left away from then on.

use super::http::{Declined, Endpoint, Site};
use super::provider::{Provider, ProviderError, ProviderId, Remote, Reply, SendError, Sending, Stop, Surroundings};
use super::template::Prompt;
use crate::format::judge::JudgeConfigV1;
use serde_json::{Map, Value, json};
use std::sync::atomic::{AtomicBool, Ordering};

/// What the environment may say of it.
pub(super) const REMOTE: Remote = Remote { key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL" };

const SITE: Site = Site {
    base: "https://api.openai.com/v1",
    base_variable: REMOTE.base,
    key_variable: REMOTE.key,
    path: "/chat/completions",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};

struct OpenAi {
    id: ProviderId,
    endpoint: Endpoint,
    options: Map<String, Value>,
    /// The server takes no schema; the prompt says in words what the answer looks like.
    schemaless: AtomicBool,
    /// The server calls the longest answer by its newer name.
    renamed: AtomicBool,
}

/// Opens a server with a judge's settings.
pub(super) fn open(config: &JudgeConfigV1, around: &Surroundings<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let model = config.model.clone().ok_or(ProviderError::NoModel { name: "openai" })?;
    let endpoint = Endpoint::open(&SITE, config, around)?;
    let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
    options.extend(config.api.clone());
    let id = ProviderId { provider: "openai".to_owned(), model, parameters: Value::Object(options.clone()) };
    Ok(Box::new(OpenAi { id, endpoint, options, schemaless: AtomicBool::new(false), renamed: AtomicBool::new(false) }))
}

impl Provider for OpenAi {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn lacks(&self) -> Option<&str> {
        self.endpoint.lacks()
    }

    fn entrusts(&self) -> Option<&str> {
        self.endpoint.entrusts()
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt) -> Sending<'a> {
        Box::pin(async move {
            loop {
                let (schemaless, renamed) =
                    (self.schemaless.load(Ordering::Relaxed), self.renamed.load(Ordering::Relaxed));
                match self.endpoint.post(&self.body(prompt, schemaless, renamed)).await {
                    Ok(answer) => return read(&answer),
                    Err(declined) if !self.adapts(&declined, schemaless, renamed) => return Err(declined.error),
                    Err(_) => {}
                }
            }
        })
    }
}

impl OpenAi {
    fn body(&self, prompt: &Prompt, schemaless: bool, renamed: bool) -> Value {
        let limit = if renamed { "max_completion_tokens" } else { "max_tokens" };
        let mut body = json!({
            "model": self.id.model,
            "messages": [{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.user }],
            limit: prompt.max_tokens,
        });
        if let Value::Object(entries) = &mut body {
            if !schemaless {
                let schema = json!({ "name": "answer", "strict": true, "schema": *prompt.schema });
                entries.insert("response_format".to_owned(), json!({ "type": "json_schema", "json_schema": schema }));
            }
            entries.extend(self.options.clone());
        }
        body
    }

    /// Whether the server refused something that can be left away, so that the request is worth another try. Others may have
    /// found that out while this request was under way.
    fn adapts(&self, declined: &Declined, schemaless: bool, renamed: bool) -> bool {
        if !matches!(declined.status, 400 | 422) {
            return false;
        }
        let says = |word: &str| declined.words.contains(word);
        if !renamed && says("max_completion_tokens") {
            self.renamed.store(true, Ordering::Relaxed);
            return true;
        }
        if !schemaless && (says("response_format") || says("json_schema") || says("schema")) {
            self.schemaless.store(true, Ordering::Relaxed);
            return true;
        }
        false
    }
}

fn read(answer: &Value) -> Result<Reply, SendError> {
    let choice = answer.pointer("/choices/0").ok_or_else(|| Declined::passing("the answer is no completion").error)?;
    let message = &choice["message"];
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let stop = match (message["refusal"].as_str(), choice["finish_reason"].as_str()) {
        (Some(words), _) if !words.is_empty() => Stop::Refused(words.to_owned()),
        (_, Some("content_filter")) => Stop::Refused("a content filter held the answer back".to_owned()),
        (_, Some("length")) => Stop::Length,
        _ => Stop::Done,
    };
    let usage = |field: &str| answer["usage"][field].as_u64().unwrap_or(0);
    let (tokens_in, tokens_out) = (usage("prompt_tokens"), usage("completion_tokens"));
    Ok(Reply { text, structured: None, tokens_in, tokens_out, stop })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(choice: Value, text: &str, stop: Stop) {
        let reply = read(&json!({"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})).unwrap();
        assert_eq!(reply, Reply { text: text.into(), structured: None, tokens_in: 3, tokens_out: 4, stop });
    }

    #[test]
    fn completions_are_read() {
        check(json!({"message": {"content": "{}"}, "finish_reason": "stop"}), "{}", Stop::Done);
        check(json!({"message": {"content": [{"text": "a"}, {"text": "b"}]}}), "ab", Stop::Done);
        check(json!({"message": {"content": "{\"ma"}, "finish_reason": "length"}), "{\"ma", Stop::Length);
        check(json!({"message": {"content": null, "refusal": "I won't"}}), "", Stop::Refused("I won't".into()));
        let filtered = Stop::Refused("a content filter held the answer back".into());
        check(json!({"message": {"content": ""}, "finish_reason": "content_filter"}), "", filtered);
    }

    #[test]
    fn what_is_no_completion_may_become_one() {
        for answer in [json!({}), json!([]), json!({"choices": []}), json!(null)] {
            assert!(matches!(read(&answer), Err(SendError::Retry { .. })), "{answer}");
        }
    }
}
