//! The chat completions API of OpenAI and compatible servers.

use super::adaptation::{Adaptation, AnswerFormat};
use super::error::SendError;
use super::http::BEARER;
use super::prompt::Prompt;
use super::provider::{Reply, StopReason};
use super::remote::RemoteApi;
use serde_json::{Value, json};

pub(super) static API: RemoteApi = RemoteApi {
    name: "openai",
    key: "OPENAI_API_KEY",
    base: "OPENAI_BASE_URL",
    address: "https://api.openai.com/v1",
    path: "/chat/completions",
    key_header: BEARER,
    headers: &[],
    default_model: None,
    formats: &[AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text],
    format_names: &["response_format", "json_schema", "json_object", "schema"],
    limit_names: &["max_tokens", "max_completion_tokens"],
    body,
    read,
};

fn body(model: &str, prompt: &Prompt, adaptation: &Adaptation) -> Value {
    let mut body = json!({
        "model": model,
        "messages": [{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.user }],
    });
    if let Some(limit) = adaptation.limit() {
        body[limit] = json!(prompt.max_tokens);
    }
    match adaptation.answer_format {
        AnswerFormat::Schema => {
            let schema = json!({ "name": "answer", "strict": true, "schema": *prompt.schema });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
        }
        AnswerFormat::JsonObject => body["response_format"] = json!({ "type": "json_object" }),
        AnswerFormat::Text => {}
    }
    body
}

fn read(answer: &Value) -> Result<Reply, SendError> {
    let choice =
        answer.pointer("/choices/0").ok_or_else(|| SendError::answer_lost("the answer is not a completion"))?;
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
            assert!(matches!(read(&answer), Err(SendError::AnswerLost { .. })), "{answer}");
        }
    }
}
