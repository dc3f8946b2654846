//! The Messages API of Anthropic. The answer is the input of a tool that the model must call.

use super::adaptation::{Adaptation, AnswerFormat};
use super::error::SendError;
use super::prompt::Prompt;
use super::provider::{Reply, StopReason};
use super::remote::RemoteApi;
use serde_json::{Value, json};

pub(super) static API: RemoteApi = RemoteApi {
    name: "anthropic",
    key: "ANTHROPIC_API_KEY",
    base: "ANTHROPIC_BASE_URL",
    address: "https://api.anthropic.com",
    path: "/v1/messages",
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    default_model: Some("claude-sonnet-4-20250514"),
    formats: &[AnswerFormat::Schema, AnswerFormat::Text],
    format_names: &["tool_choice", "tools", "input_schema"],
    limit_names: &[],
    body,
    read,
};

const TOOL: &str = "answer";

fn body(model: &str, prompt: &Prompt, adaptation: &Adaptation) -> Value {
    let mut body = json!({
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{ "role": "user", "content": prompt.user }],
    });
    if adaptation.answer_format == AnswerFormat::Schema {
        let tool = json!({ "name": TOOL, "description": "Takes the answer.", "input_schema": *prompt.schema });
        body["tools"] = json!([tool]);
        body["tool_choice"] = json!({ "type": "tool", "name": TOOL });
    }
    body
}

fn read(answer: &Value) -> Result<Reply, SendError> {
    let blocks = answer["content"].as_array().ok_or_else(|| SendError::answer_lost("the answer is not a message"))?;
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
        // Token counts come from the server and may be anything.
        let usage = json!({"input_tokens": 10, "cache_read_input_tokens": u64::MAX, "cache_creation_input_tokens": 1});
        check(json!({"content": [], "usage": usage}), Reply { tokens_in: u64::MAX, ..Reply::default() });
    }

    #[test]
    fn invalid_responses_are_retried() {
        for answer in [json!({}), json!([]), json!({"content": "text"}), json!(null)] {
            assert!(matches!(read(&answer), Err(SendError::AnswerLost { .. })), "{answer}");
        }
    }
}
