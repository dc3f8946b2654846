//! The chat completions API of OpenAI and compatible servers.

use super::adaptation::{Adaptation, AnswerFormat, PartNames, classify_refusal};
use super::http::{ApiDefaults, Endpoint, HttpFailure};
use super::prompt::Prompt;
use super::provider::{
    Provider, ProviderEnv, ProviderError, ProviderId, RemoteVariables, Reply, SendError, SendFuture, StopReason,
};
use karat_format::judge::JudgeConfigV1;
use serde_json::{Map, Value, json};

pub(super) const REMOTE: RemoteVariables = RemoteVariables { key: "OPENAI_API_KEY", base: "OPENAI_BASE_URL" };

const API: ApiDefaults = ApiDefaults {
    base: "https://api.openai.com/v1",
    base_variable: REMOTE.base,
    key_variable: REMOTE.key,
    path: "/chat/completions",
    key_header: ("authorization", "Bearer "),
    headers: &[],
};

/// Names of the answer format in error messages.
const FORMAT: &[&str] = &["response_format", "json_schema", "json_object", "schema"];

/// Names of the token limit in error messages.
const LIMIT: &[&str] = &["max_tokens", "max_completion_tokens"];

struct OpenAi {
    id: ProviderId,
    endpoint: Endpoint,
    options: Map<String, Value>,
}

pub(super) fn open(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let model = config.model.clone().ok_or(ProviderError::NoModel { name: "openai" })?;
    let endpoint = Endpoint::open(&API, config, env)?;
    let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
    options.extend(config.api.clone());
    let id = ProviderId { provider: "openai".to_owned(), model, parameters: Value::Object(options.clone()) };
    Ok(Box::new(OpenAi { id, endpoint, options }))
}

impl Provider for OpenAi {
    fn id(&self) -> &ProviderId {
        &self.id
    }

    fn missing_setup(&self) -> Option<&str> {
        self.endpoint.missing_setup()
    }

    fn key_recipient(&self) -> Option<&str> {
        self.endpoint.key_recipient()
    }

    fn formats(&self) -> &'static [AnswerFormat] {
        &[AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text]
    }

    fn redact(&self, value: &mut Value) {
        self.endpoint.redact(value);
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let body = self.body(prompt, adaptation);
            let parameters = self.options.keys().filter(|name| adaptation.sends(name)).map(String::as_str).collect();
            let format: &[&str] = if adaptation.format() == AnswerFormat::Text { &[] } else { FORMAT };
            let limit: &[&str] = if adaptation.limit().is_none() { &[] } else { LIMIT };
            let parts = PartNames { parameters, format, limit };
            match self.endpoint.post(&body).await {
                Ok(answer) => read(&answer),
                Err(failure) => Err(classify_refusal(failure, &parts)),
            }
        })
    }
}

impl OpenAi {
    fn body(&self, prompt: &Prompt, adaptation: &Adaptation) -> Value {
        let mut body = Map::from_iter([
            ("model".to_owned(), json!(self.id.model)),
            (
                "messages".to_owned(),
                json!([{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.user }]),
            ),
        ]);
        if let Some(limit) = adaptation.limit() {
            body.insert(limit.to_owned(), json!(prompt.max_tokens));
        }
        let format = match adaptation.format() {
            AnswerFormat::Schema => {
                let schema = json!({ "name": "answer", "strict": true, "schema": *prompt.schema });
                Some(json!({ "type": "json_schema", "json_schema": schema }))
            }
            AnswerFormat::JsonObject => Some(json!({ "type": "json_object" })),
            AnswerFormat::Text => None,
        };
        body.extend(format.map(|format| ("response_format".to_owned(), format)));
        let sent = self.options.iter().filter(|(name, _)| adaptation.sends(name));
        body.extend(sent.map(|(name, value)| (name.clone(), value.clone())));
        Value::Object(body)
    }
}

pub(super) fn read(answer: &Value) -> Result<Reply, SendError> {
    let choice =
        answer.pointer("/choices/0").ok_or_else(|| HttpFailure::temporary("the answer is no completion").error)?;
    let message = &choice["message"];
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    };
    let stop = match (message["refusal"].as_str(), choice["finish_reason"].as_str()) {
        (Some(words), _) if !words.is_empty() => StopReason::Refused(words.to_owned()),
        (_, Some("content_filter")) => StopReason::Refused("a content filter held the answer back".to_owned()),
        (_, Some("length")) => StopReason::Length,
        _ => StopReason::Done,
    };
    let usage = |field: &str| answer["usage"][field].as_u64().unwrap_or(0);
    let (tokens_in, tokens_out) = (usage("prompt_tokens"), usage("completion_tokens"));
    Ok(Reply { text, structured: None, tokens_in, tokens_out, stop })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(choice: Value, text: &str, stop: StopReason) {
        let reply = read(&json!({"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})).unwrap();
        assert_eq!(reply, Reply { text: text.into(), structured: None, tokens_in: 3, tokens_out: 4, stop });
    }

    #[test]
    fn completions_are_read() {
        check(json!({"message": {"content": "{}"}, "finish_reason": "stop"}), "{}", StopReason::Done);
        check(json!({"message": {"content": [{"text": "a"}, {"text": "b"}]}}), "ab", StopReason::Done);
        check(json!({"message": {"content": "{\"ma"}, "finish_reason": "length"}), "{\"ma", StopReason::Length);
        check(json!({"message": {"content": null, "refusal": "I won't"}}), "", StopReason::Refused("I won't".into()));
        let filtered = StopReason::Refused("a content filter held the answer back".into());
        check(json!({"message": {"content": ""}, "finish_reason": "content_filter"}), "", filtered);
    }

    #[test]
    fn invalid_responses_are_retried() {
        for answer in [json!({}), json!([]), json!({"choices": []}), json!(null)] {
            assert!(matches!(read(&answer), Err(SendError::Retry { .. })), "{answer}");
        }
    }
}
