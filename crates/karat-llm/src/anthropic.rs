//! The Messages API of Anthropic. The answer is the input of a tool that the model must call.

use super::adaptation::{Adaptation, AnswerFormat, PartNames, classify_refusal};
use super::http::{ApiDefaults, Endpoint, HttpFailure};
use super::prompt::Prompt;
use super::provider::{
    DEFAULT_MODEL, Provider, ProviderEnv, ProviderError, ProviderId, RemoteVariables, Reply, SendError, SendFuture,
    StopReason,
};
use karat_format::judge::JudgeConfigV1;
use serde_json::{Map, Value, json};

pub(super) const REMOTE: RemoteVariables = RemoteVariables { key: "ANTHROPIC_API_KEY", base: "ANTHROPIC_BASE_URL" };

const API: ApiDefaults = ApiDefaults {
    base: "https://api.anthropic.com",
    base_variable: REMOTE.base,
    key_variable: REMOTE.key,
    path: "/v1/messages",
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
};

/// The name of the tool that takes the answer.
const TOOL: &str = "answer";

/// Names of the answer format in error messages.
const FORMAT: &[&str] = &["tool_choice", "tools", "input_schema"];

struct Anthropic {
    id: ProviderId,
    endpoint: Endpoint,
    options: Map<String, Value>,
}

pub(super) fn open(config: &JudgeConfigV1, env: &ProviderEnv<'_>) -> Result<Box<dyn Provider>, ProviderError> {
    let endpoint = Endpoint::open(&API, config, env)?;
    let mut options = Map::from_iter([("temperature".to_owned(), json!(config.temperature.unwrap_or(0.0)))]);
    options.extend(config.api.clone());
    let model = config.model.clone().unwrap_or_else(|| DEFAULT_MODEL.to_owned());
    let id = ProviderId { provider: "anthropic".to_owned(), model, parameters: Value::Object(options.clone()) };
    Ok(Box::new(Anthropic { id, endpoint, options }))
}

impl Provider for Anthropic {
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
        &[AnswerFormat::Schema, AnswerFormat::Text]
    }

    fn redact(&self, value: &mut Value) {
        self.endpoint.redact(value);
    }

    fn send<'a>(&'a self, _: &'a str, prompt: &'a Prompt, adaptation: &'a Adaptation) -> SendFuture<'a> {
        Box::pin(async move {
            let body = self.body(prompt, adaptation);
            let parameters = self.options.keys().filter(|name| adaptation.sends(name)).map(String::as_str).collect();
            let format: &[&str] = if adaptation.format() == AnswerFormat::Text { &[] } else { FORMAT };
            // The API requires a limit.
            let parts = PartNames { parameters, format, limit: &[] };
            match self.endpoint.post(&body).await {
                Ok(answer) => read(&answer),
                Err(failure) => Err(classify_refusal(failure, &parts)),
            }
        })
    }
}

impl Anthropic {
    fn body(&self, prompt: &Prompt, adaptation: &Adaptation) -> Value {
        let mut body = Map::from_iter([
            ("model".to_owned(), json!(self.id.model)),
            ("max_tokens".to_owned(), json!(prompt.max_tokens)),
            ("system".to_owned(), json!(prompt.system)),
            ("messages".to_owned(), json!([{ "role": "user", "content": prompt.user }])),
        ]);
        if adaptation.format() == AnswerFormat::Schema {
            let tool = json!({ "name": TOOL, "description": "Takes the answer.", "input_schema": *prompt.schema });
            body.insert("tools".to_owned(), json!([tool]));
            body.insert("tool_choice".to_owned(), json!({ "type": "tool", "name": TOOL }));
        }
        let sent = self.options.iter().filter(|(name, _)| adaptation.sends(name));
        body.extend(sent.map(|(name, value)| (name.clone(), value.clone())));
        Value::Object(body)
    }
}

pub(super) fn read(answer: &Value) -> Result<Reply, SendError> {
    let blocks =
        answer["content"].as_array().ok_or_else(|| HttpFailure::temporary("the answer is no message").error)?;
    let text: Vec<&str> = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
    let structured = blocks.iter().find(|block| block["type"] == "tool_use").map(|block| block["input"].clone());
    let text = text.join("\n");
    let stop = match answer["stop_reason"].as_str() {
        Some("refusal") => {
            StopReason::Refused(if text.is_empty() { "the model refused".to_owned() } else { text.clone() })
        }
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Length,
        _ => StopReason::Done,
    };
    let usage = |field: &str| answer["usage"][field].as_u64().unwrap_or(0);
    let cached = usage("cache_creation_input_tokens").saturating_add(usage("cache_read_input_tokens"));
    let tokens_in = usage("input_tokens").saturating_add(cached);
    Ok(Reply { text, structured, tokens_in, tokens_out: usage("output_tokens"), stop })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: Value, expect: Reply) {
        assert_eq!(read(&answer), Ok(expect));
    }

    #[test]
    fn messages_are_read() {
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 7});
        check(
            json!({"content": [{"type": "text", "text": "Well."}, {"type": "tool_use", "name": "answer", "input": {"match": true}}],
                   "stop_reason": "tool_use", "usage": usage}),
            Reply {
                text: "Well.".into(),
                structured: Some(json!({"match": true})),
                tokens_in: 15,
                tokens_out: 7,
                stop: StopReason::Done,
            },
        );
        check(
            json!({"content": [{"type": "text", "text": "I"}], "stop_reason": "max_tokens"}),
            Reply { text: "I".into(), stop: StopReason::Length, ..Reply::default() },
        );
        check(
            json!({"content": [], "stop_reason": "refusal"}),
            Reply { stop: StopReason::Refused("the model refused".into()), ..Reply::default() },
        );
        // A server may count as it likes.
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": u64::MAX, "cache_creation_input_tokens": 1});
        check(json!({"content": [], "usage": usage}), Reply { tokens_in: u64::MAX, ..Reply::default() });
    }

    #[test]
    fn invalid_responses_are_retried() {
        for answer in [json!({}), json!([]), json!({"content": "text"}), json!(null)] {
            assert!(matches!(read(&answer), Err(SendError::Retry { .. })), "{answer}");
        }
    }
}
