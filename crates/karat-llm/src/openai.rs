//! The chat completions API of OpenAI and compatible servers, and OpenAI's Responses API for models that have no other.

use super::adaptation::AnswerFormat;
use super::error::SendError;
use super::http::BEARER;
use super::provider::{Reply, StopReason};
use super::remote::{RemoteApi, RequestParts, WireFormat};
use serde_json::{Value, json};

pub(super) static API: RemoteApi = RemoteApi {
    name: "openai",
    key: "OPENAI_API_KEY",
    base: "OPENAI_BASE_URL",
    address: "https://api.openai.com/v1",
    key_header: BEARER,
    headers: &[],
    wire: &CHAT,
    other_wire: Some(&RESPONSES),
};

pub(super) static CHAT: WireFormat = WireFormat {
    path: "/chat/completions",
    formats: &[AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text],
    format_names: chat_format_names,
    limit_names: &["max_tokens", "max_completion_tokens"],
    effort_names: &["reasoning_effort", "effort"],
    body: chat_body,
    read: read_completion,
};

static RESPONSES: WireFormat = WireFormat {
    path: "/responses",
    formats: &[AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text],
    format_names: responses_format_names,
    limit_names: &["max_output_tokens"],
    effort_names: &["reasoning.effort", "reasoning", "effort"],
    body: responses_body,
    read: read_response,
};

fn chat_format_names(format: AnswerFormat) -> &'static [&'static str] {
    match format {
        AnswerFormat::Text => &[],
        _ => &["response_format", "json_schema", "json_object", "schema"],
    }
}

fn chat_body(parts: &RequestParts<'_>) -> Value {
    let RequestParts { model, prompt, effort, adaptation } = *parts;
    let mut body = json!({
        "model": model,
        "messages": [{ "role": "system", "content": prompt.system }, { "role": "user", "content": prompt.user }],
    });
    if let Some(limit) = adaptation.limit() {
        body[limit] = json!(prompt.max_tokens);
    }
    if let Some(effort) = effort {
        body["reasoning_effort"] = json!(effort);
    }
    match adaptation.answer_format {
        AnswerFormat::Schema | AnswerFormat::Tool => {
            let schema = json!({ "name": "answer", "strict": true, "schema": *prompt.schema });
            body["response_format"] = json!({ "type": "json_schema", "json_schema": schema });
        }
        AnswerFormat::JsonObject => body["response_format"] = json!({ "type": "json_object" }),
        AnswerFormat::Text => {}
    }
    body
}

fn read_completion(answer: &Value) -> Result<Reply, SendError> {
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
    let usage = |field: &str| answer.pointer(&format!("/usage/{field}")).and_then(Value::as_u64).unwrap_or(0);
    let (tokens_in, stated) = (usage("prompt_tokens"), usage("completion_tokens"));
    // Some servers count what was thought in the total alone.
    let tokens_out = stated.max(usage("total_tokens").saturating_sub(tokens_in));
    let thinking = usage("completion_tokens_details/reasoning_tokens").max(tokens_out - stated);
    Ok(Reply { text, structured: None, tokens_in, tokens_out, tokens_thinking: thinking, stop, sent: None })
}

fn responses_format_names(format: AnswerFormat) -> &'static [&'static str] {
    match format {
        AnswerFormat::Text => &[],
        _ => &["text.format", "json_schema", "json_object", "schema"],
    }
}

fn responses_body(parts: &RequestParts<'_>) -> Value {
    let RequestParts { model, prompt, effort, adaptation } = *parts;
    let mut body = json!({ "model": model, "instructions": prompt.system, "input": prompt.user, "store": false });
    if adaptation.limit().is_some() {
        body["max_output_tokens"] = json!(prompt.max_tokens);
    }
    if let Some(effort) = effort {
        body["reasoning"] = json!({ "effort": effort });
    }
    match adaptation.answer_format {
        AnswerFormat::Schema | AnswerFormat::Tool => {
            let format = json!({ "type": "json_schema", "name": "answer", "strict": true, "schema": *prompt.schema });
            body["text"] = json!({ "format": format });
        }
        AnswerFormat::JsonObject => body["text"] = json!({ "format": { "type": "json_object" } }),
        AnswerFormat::Text => {}
    }
    body
}

fn read_response(answer: &Value) -> Result<Reply, SendError> {
    let output = answer["output"].as_array().ok_or_else(|| SendError::answer_lost("the answer is not a response"))?;
    let messages = output.iter().filter(|item| item["type"] == "message");
    let parts: Vec<&Value> = messages.filter_map(|item| item["content"].as_array()).flatten().collect();
    let text = parts.iter().filter(|part| part["type"] == "output_text").filter_map(|part| part["text"].as_str());
    let refusal = parts.iter().find_map(|part| part["refusal"].as_str());
    let stop = match (refusal, answer.pointer("/incomplete_details/reason").and_then(Value::as_str)) {
        (Some(words), _) => StopReason::Refused(words.to_owned()),
        (_, Some("content_filter")) => StopReason::Refused("a content filter held the answer back".to_owned()),
        (_, Some(_)) => StopReason::Length,
        _ => StopReason::Done,
    };
    let usage = |field: &str| answer.pointer(&format!("/usage/{field}")).and_then(Value::as_u64).unwrap_or(0);
    Ok(Reply {
        text: text.collect(),
        structured: None,
        tokens_in: usage("input_tokens"),
        tokens_out: usage("output_tokens"),
        tokens_thinking: usage("output_tokens_details/reasoning_tokens"),
        stop,
        sent: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(choice: Value, text: &str, stop: StopReason) {
        let usage = json!({"prompt_tokens": 3, "completion_tokens": 4});
        let reply = read_completion(&json!({"choices": [choice], "usage": usage})).unwrap();
        assert_eq!(reply, Reply { text: text.into(), tokens_in: 3, tokens_out: 4, stop, ..Reply::default() });
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
    fn reasoning_is_counted_wherever_it_is_stated() {
        let tokens = |usage: Value| {
            let reply = read_completion(&json!({"choices": [{"message": {"content": ""}}], "usage": usage})).unwrap();
            (reply.tokens_in, reply.tokens_out, reply.tokens_thinking)
        };
        let detail = json!({"reasoning_tokens": 30});
        let within = json!({"prompt_tokens": 3, "completion_tokens": 40, "total_tokens": 43, "completion_tokens_details": detail});
        assert_eq!(tokens(within), (3, 40, 30));
        assert_eq!(tokens(json!({"prompt_tokens": 3, "completion_tokens": 10, "total_tokens": 43})), (3, 40, 30));
        assert_eq!(tokens(json!({"prompt_tokens": 3, "completion_tokens": 10})), (3, 10, 0));
        assert_eq!(tokens(json!(null)), (0, 0, 0));
    }

    #[test]
    fn responses_are_read() {
        let item =
            |content: Value| json!([{"type": "reasoning", "summary": []}, {"type": "message", "content": [content]}]);
        let usage = json!({"input_tokens": 3, "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 30}});
        let text = item(json!({"type": "output_text", "text": "{}"}));
        let reply = read_response(&json!({"output": text, "usage": usage})).unwrap();
        let expect = Reply { text: "{}".into(), tokens_in: 3, tokens_out: 40, tokens_thinking: 30, ..Reply::default() };
        assert_eq!(reply, expect);
        let stop = |answer: Value| read_response(&answer).unwrap().stop;
        let refused = item(json!({"type": "refusal", "refusal": "I won't"}));
        assert_eq!(stop(json!({"output": refused})), StopReason::Refused("I won't".into()));
        let reason = |reason: &str| json!({"output": [], "incomplete_details": {"reason": reason}});
        assert_eq!(stop(reason("max_output_tokens")), StopReason::Length);
        assert!(matches!(stop(reason("content_filter")), StopReason::Refused(_)));
        assert!(matches!(read_response(&json!({"choices": []})), Err(SendError::AnswerLost { .. })));
    }

    #[test]
    fn invalid_responses_are_retried() {
        for answer in [json!({}), json!([]), json!({"choices": []}), json!(null)] {
            assert!(matches!(read_completion(&answer), Err(SendError::AnswerLost { .. })), "{answer}");
        }
    }
}
