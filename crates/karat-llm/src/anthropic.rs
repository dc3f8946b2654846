//! The Messages API of Anthropic. The answer is text in the form of its schema, or, of models without that, the input of a tool that
//! the model must call.

use super::adaptation::AnswerFormat;
use super::error::SendError;
use super::provider::{Reply, StopReason};
use super::remote::{RemoteApi, RequestParts, WireFormat};
use serde_json::{Map, Value, json};

pub(super) static API: RemoteApi = RemoteApi {
    name: "anthropic",
    key: "ANTHROPIC_API_KEY",
    base: "ANTHROPIC_BASE_URL",
    address: "https://api.anthropic.com",
    key_header: ("x-api-key", ""),
    headers: &[("anthropic-version", "2023-06-01")],
    wire: &MESSAGES,
    other_wire: None,
};

static MESSAGES: WireFormat = WireFormat {
    path: "/v1/messages",
    formats: &[AnswerFormat::Schema, AnswerFormat::Tool, AnswerFormat::Text],
    format_names,
    limit_names: &[],
    effort_names: &["output_config.effort", "output_config", "effort"],
    body,
    read,
};

const TOOL: &str = "answer";

fn format_names(format: AnswerFormat) -> &'static [&'static str] {
    match format {
        AnswerFormat::Schema => &["output_config.format", "output_config", "output_format", "json_schema", "schema"],
        AnswerFormat::Tool => &["tool_choice", "tools", "input_schema"],
        AnswerFormat::JsonObject | AnswerFormat::Text => &[],
    }
}

fn body(parts: &RequestParts<'_>) -> Value {
    let RequestParts { model, prompt, effort, adaptation } = *parts;
    let mut body = json!({
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{ "role": "user", "content": prompt.user }],
    });
    let mut output = Map::new();
    output.extend(effort.map(|effort| ("effort".to_owned(), json!(effort))));
    match adaptation.answer_format {
        AnswerFormat::Schema => {
            let format = json!({ "type": "json_schema", "schema": supported_schema(&prompt.schema) });
            output.insert("format".to_owned(), format);
        }
        AnswerFormat::Tool => {
            let tool = json!({ "name": TOOL, "description": "Takes the answer.", "input_schema": *prompt.schema });
            body["tools"] = json!([tool]);
            body["tool_choice"] = json!({ "type": "tool", "name": TOOL });
        }
        AnswerFormat::JsonObject | AnswerFormat::Text => {}
    }
    if !output.is_empty() {
        body["output_config"] = output.into();
    }
    body
}

/// Constraints that native structured output refuses. The answer is checked against them when it is read.
const UNSUPPORTED: [&str; 10] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
];

fn supported_schema(schema: &Value) -> Value {
    match schema {
        Value::Object(entries) => {
            let is_supported = |name: &str| !UNSUPPORTED.contains(&name);
            let entries = entries.iter().filter(|(name, value)| value.is_object() || is_supported(name));
            entries.map(|(name, value)| (name.clone(), supported_schema(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(supported_schema).collect(),
        other => other.clone(),
    }
}

fn read(answer: &Value) -> Result<Reply, SendError> {
    let blocks = answer["content"].as_array().ok_or_else(|| SendError::answer_lost("the answer is not a message"))?;
    // Thinking comes in blocks of its own before the text.
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text: Vec<&str> = texts.filter_map(|block| block["text"].as_str()).collect();
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
    // They are among the tokens of the answer.
    let thinking = answer.pointer("/usage/output_tokens_details/thinking_tokens").and_then(Value::as_u64).unwrap_or(0);
    Ok(Reply {
        text,
        structured,
        tokens_in,
        tokens_out: usage("output_tokens"),
        tokens_thinking: thinking,
        stop,
        sent: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adaptation::Adaptation;
    use crate::testing::question;

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
                ..Reply::default()
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
    fn thinking_is_counted_and_not_taken_for_the_answer() {
        let thinking = json!({"type": "thinking", "thinking": "{\"match\": false}", "signature": "s"});
        let content = json!([thinking, {"type": "redacted_thinking", "data": "x"}, {"type": "text", "text": "{}"}]);
        let usage = json!({"input_tokens": 1, "output_tokens": 90, "output_tokens_details": {"thinking_tokens": 80}});
        check(
            json!({"content": content, "stop_reason": "end_turn", "usage": usage}),
            Reply { text: "{}".into(), tokens_in: 1, tokens_out: 90, tokens_thinking: 80, ..Reply::default() },
        );
    }

    #[test]
    fn invalid_responses_are_retried() {
        for answer in [json!({}), json!([]), json!({"content": "text"}), json!(null)] {
            assert!(matches!(read(&answer), Err(SendError::AnswerLost { .. })), "{answer}");
        }
    }

    /// Native structured output refuses ranges, and knows neither `tools` nor `tool_choice`.
    #[test]
    fn schema_is_sent_natively_without_ranges() {
        let prompt = question("q", "text").prompt();
        let adaptation = Adaptation::default();
        let body = body(&RequestParts { model: "m", prompt: &prompt, effort: Some("low"), adaptation: &adaptation });
        assert_eq!((body.get("tools"), body.get("tool_choice")), (None, None));
        assert_eq!(
            (&body["output_config"]["effort"], &body["output_config"]["format"]["type"]),
            (&json!("low"), &json!("json_schema"))
        );
        let schema = &body["output_config"]["format"]["schema"];
        assert_eq!(schema["properties"]["confidence"], json!({ "type": "number" }));
        assert_eq!((&schema["required"], &schema["additionalProperties"]), (&prompt.schema["required"], &json!(false)));
    }
}
