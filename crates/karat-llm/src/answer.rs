//! Parses a model's reply into an answer that fits a schema. Tolerant of wrapping such as code fences, but missing, wrong or
//! contradictory values are faults; nothing is guessed.

use super::provider::{Reply, StopReason};
use karat_format::diagnostic::Fault;
use karat_format::document::{Key, Node, Value as Written, json, schema};
use serde_json::Value;

/// Why an answer cannot be used. The repair request quotes the same message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum AnswerFault {
    #[error("it holds no JSON object")]
    NoObject,
    #[error("it ends in the middle of the JSON object")]
    CutOff,
    #[error("{0}")]
    Unfit(String),
    #[error("it holds several JSON objects that differ, and only one can be the answer")]
    Several,
    #[error("it is longer than {LONGEST} bytes")]
    TooLong,
}

const LONGEST: usize = 256 * 1024;

/// How many possible beginnings of an object are tried.
const MAX_TRIES: usize = 64;

/// The answer in a reply, checked against the schema. Unknown fields and nulls are left out.
pub fn parse_reply(reply: &Reply, schema: &Value) -> Result<Value, AnswerFault> {
    let Some(value) = &reply.structured else {
        return match parse_text(&reply.text, schema) {
            Err(AnswerFault::NoObject) if reply.stop == StopReason::Length => Err(AnswerFault::CutOff),
            result => result,
        };
    };
    fit(&value.to_string(), schema).map_err(|unfit| AnswerFault::Unfit(unfit.message))
}

/// The answer in a text: a JSON object, which may stand in a code fence, between sentences, and have trailing commas.
pub fn parse_text(text: &str, schema: &Value) -> Result<Value, AnswerFault> {
    if text.len() > LONGEST {
        return Err(AnswerFault::TooLong);
    }
    let text = skip_reasoning(text);
    let mut found = None::<Value>;
    let mut fault = None;
    let mut cut_off = false;
    let mut at = 0;
    for _ in 0..MAX_TRIES {
        let Some(start) = text[at..].find('{').map(|offset| at + offset) else { break };
        let Some(length) = object_length(&text[start..]) else {
            cut_off = true;
            at = start + 1;
            continue;
        };
        match fit(&text[start..start + length], schema) {
            Ok(value) if found.as_ref().is_some_and(|other| *other != value) => return Err(AnswerFault::Several),
            Ok(value) => {
                // An unclosed brace before this object was part of a sentence.
                (found, cut_off) = (Some(value), false);
                at = start + length;
            }
            Err(unfit) => {
                fault.get_or_insert(unfit.message);
                at = if unfit.is_json { start + length } else { start + 1 };
            }
        }
    }
    match (found, fault) {
        (_, _) if cut_off => Err(AnswerFault::CutOff),
        (Some(value), _) => Ok(value),
        (None, Some(fault)) => Err(AnswerFault::Unfit(fault)),
        (None, None) => Err(AnswerFault::NoObject),
    }
}

/// Some models write their reasoning between these tags before they answer.
fn skip_reasoning(text: &str) -> &str {
    let text = text.trim_start();
    if !text.starts_with("<think>") {
        return text;
    }
    text.split_once("</think>").map_or(text, |(_, answer)| answer)
}

/// The length of the object at the start of the text; `None` where it does not end.
fn object_length(text: &str) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

struct Unfit {
    is_json: bool,
    message: String,
}

fn fit(text: &str, schema: &Value) -> Result<Value, Unfit> {
    let (node, faults) = json::parse_recoverable(text);
    let harmless = |fault: &Fault| HARMLESS.iter().any(|known| fault.message.starts_with(known));
    if let Some(fault) = faults.iter().find(|fault| !harmless(fault)) {
        return Err(Unfit { is_json: node.is_some(), message: fault.message.clone() });
    }
    let mut node = node.ok_or_else(|| Unfit { is_json: false, message: AnswerFault::NoObject.to_string() })?;
    if !matches!(node.value, Written::Object(_)) {
        return Err(Unfit { is_json: true, message: AnswerFault::NoObject.to_string() });
    }
    tidy(&mut node, schema);
    if let Some(fault) = schema::check(&node, schema, text).first() {
        return Err(Unfit { is_json: true, message: fault.message.clone() });
    }
    let mut value = node.to_json();
    drop_nulls(&mut value);
    value.sort_all_objects();
    Ok(value)
}

/// Removes unknown fields, adds missing nulls, and takes one value for a list of it and a list of one for its value, as deep as
/// the schema goes.
fn tidy(node: &mut Node, schema: &Value) {
    let takes = |name: &str| match schema.get("type") {
        Some(Value::Array(types)) => types.iter().any(|own| own == name),
        Some(own) => own == name,
        None => false,
    };
    match &mut node.value {
        Written::Array(items) if !takes("array") && (takes("integer") || takes("number") || takes("string")) => {
            match (items.len(), takes("null")) {
                (0, true) => node.value = Written::Null,
                (1, _) => node.value = items.remove(0).value,
                _ => {}
            }
        }
        Written::Array(_) | Written::Null => {}
        _ if takes("array") => {
            let one = Node { value: std::mem::replace(&mut node.value, Written::Null), span: node.span.clone() };
            node.value = Written::Array(vec![one]);
        }
        _ => {}
    }
    match &mut node.value {
        Written::Array(items) => {
            let schema = schema.get("items");
            items.iter_mut().for_each(|item| schema.into_iter().for_each(|schema| tidy(item, schema)));
        }
        Written::Object(entries) => {
            let Some(known) = schema.get("properties").and_then(Value::as_object) else { return };
            entries.retain(|(key, _)| known.contains_key(&key.name));
            for (key, child) in entries.iter_mut() {
                known.get(&key.name).into_iter().for_each(|schema| tidy(child, schema));
            }
            for (name, property) in known {
                let types = property.get("type").and_then(Value::as_array);
                let nullable = types.is_some_and(|types| types.iter().any(|t| t == "null"));
                if nullable && !entries.iter().any(|(key, _)| key.name == *name) {
                    let key = Key { name: name.clone(), span: 0..0 };
                    entries.push((key, Node { value: Written::Null, span: 0..0 }));
                }
            }
        }
        _ => {}
    }
}

/// Removes the nulls of all objects.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            fields.values_mut().for_each(drop_nulls);
        }
        _ => {}
    }
}

/// Prefixes of the parser's messages about faults that leave no doubt about what is meant.
const HARMLESS: &[&str] = &["a comma after the last item", "a control character in a text"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::MATCH;
    use serde_json::json;

    fn schema() -> Value {
        MATCH.schema().clone()
    }

    #[track_caller]
    fn check(text: &str, expect: &str) {
        let message = match parse_text(text, &schema()) {
            Ok(value) => value.to_string(),
            Err(fault) => format!("fault: {fault}"),
        };
        assert_eq!(message, expect, "{text}");
    }

    const YES: &str = r#"{"confidence":0.9,"explanation":"same","match":true}"#;

    #[test]
    fn wrapping_is_removed() {
        check(r#"{"match": true, "confidence": 0.9, "explanation": "same"}"#, YES);
        check("```json\n{\"match\": true, \"confidence\": 0.9, \"explanation\": \"same\"}\n```\n", YES);
        check(
            "Sure! Here: {\"match\": true, \"confidence\": 0.9, \"partial\": null, \"explanation\": \"same\",}. Bye",
            YES,
        );
        check("The set {a, b} and an open { first. {\"match\":true,\"confidence\":0.9,\"explanation\":\"same\"}", YES);
        check("<think>{\"match\":false}</think>{\"match\":true,\"confidence\":0.9,\"explanation\":\"same\"}", YES);
        check("{\"match\":true,\"confidence\":0.9,\"explanation\":\"same\",\"note\":\"extra\"}", YES);
        let twice = "{\"match\":true,\"confidence\":0.9,\"explanation\":\"same\"}";
        check(&format!("{twice} so: {twice}"), YES);
        check(
            "{\"match\":false,\"confidence\":1,\"partial\":true,\"explanation\":\"a } \\\" {\nb\"}",
            "{\"confidence\":1,\"explanation\":\"a } \\\" {\\nb\",\"match\":false,\"partial\":true}",
        );
    }

    #[test]
    fn ambiguous_answers_are_rejected() {
        check("", "fault: it holds no JSON object");
        check("I think it is a match.", "fault: it holds no JSON object");
        check("[true]", "fault: it holds no JSON object");
        check("{\"match\": true, \"confid", "fault: it ends in the middle of the JSON object");
        check("{'match': true}", "fault: expected a key in double quotes, found `'`");
        for (answer, expect) in [
            (r#"{"match":true,"confidence":1.2,"explanation":"x"}"#, "confidence"),
            (r#"{"match":"yes","confidence":1,"explanation":"x"}"#, "match"),
            (r#"{"match":true,"confidence":"high","explanation":"x"}"#, "confidence"),
            (r#"{"match":true,"explanation":"x"}"#, "confidence"),
            (r#"{"match":null,"confidence":1,"explanation":"x"}"#, "match"),
            (r#"{"match":true,"confidence":1,"confidence":0,"explanation":"x"}"#, "confidence"),
        ] {
            let message = parse_text(answer, &schema()).unwrap_err();
            assert!(matches!(&message, AnswerFault::Unfit(message) if message.contains(expect)), "{answer}: {message}");
        }
    }

    #[test]
    fn contradictory_answers_are_rejected() {
        let (yes, no) = (
            r#"{"match":true,"confidence":1,"explanation":"x"}"#,
            r#"{"match":false,"confidence":1,"explanation":"x"}"#,
        );
        assert_eq!(parse_text(&format!("{yes} {no}"), &schema()), Err(AnswerFault::Several));
        assert_eq!(parse_text(&format!("{yes} or rather {{\"match\":fal"), &schema()), Err(AnswerFault::CutOff));
    }

    #[test]
    fn structured_answers_are_validated() {
        let reply = |structured: Value| Reply { structured: Some(structured), ..Reply::default() };
        let read = |value: Value| parse_reply(&reply(value), &schema());
        assert_eq!(read(json!({"match": true, "confidence": 1, "explanation": ""})).unwrap()["match"], true);
        assert!(matches!(read(json!({"match": true, "confidence": 2, "explanation": ""})), Err(AnswerFault::Unfit(_))));
        assert!(matches!(read(json!("no object")), Err(AnswerFault::Unfit(_))));
    }

    #[test]
    fn nested_objects_are_cleaned() {
        let item = json!({
            "type": "object", "required": ["a", "b"], "additionalProperties": false,
            "properties": { "a": { "type": "integer" }, "b": { "type": ["string", "null"] } }
        });
        let schema = json!({
            "type": "object", "required": ["items"], "additionalProperties": false,
            "properties": { "items": { "type": "array", "items": item } }
        });
        let check = |text: &str, expect: Option<&str>| {
            let read = parse_text(text, &schema);
            assert_eq!(read.as_ref().ok().map(ToString::to_string).as_deref(), expect, "{text}: {read:?}");
        };
        check(r#"{"items":[{"c":{"d":1},"b":"x","a":1},{"a":2}]}"#, Some(r#"{"items":[{"a":1,"b":"x"},{"a":2}]}"#));
        check(r#"{"items":[{"a":2,"b":null}]}"#, Some(r#"{"items":[{"a":2}]}"#));
        check(r#"{"items":[{"b":"x"}]}"#, None);
        check(r#"{"items":[{"a":"2"}]}"#, None);
        check(r#"{"items":[null]}"#, None);
        // One value for a list of it, and the other way round.
        check(r#"{"items":{"a":[1],"b":["x"]}}"#, Some(r#"{"items":[{"a":1,"b":"x"}]}"#));
        check(r#"{"items":[{"a":1,"b":[]}]}"#, Some(r#"{"items":[{"a":1}]}"#));
        check(r#"{"items":[]}"#, Some(r#"{"items":[]}"#));
        check(r#"{"items":[{"a":[]}]}"#, None);
        check(r#"{"items":[{"a":[1,2]}]}"#, None);
        check(r#"{"items":[{"a":1,"b":["x","y"]}]}"#, None);
    }

    #[test]
    fn malicious_texts_are_rejected() {
        for text in
            ["{".repeat(LONGEST), "{\"a\":".repeat(LONGEST / 5), "{}".repeat(LONGEST / 2), "\"{\\".repeat(LONGEST / 3)]
        {
            assert!(parse_text(&text, &schema()).is_err());
        }
        assert_eq!(parse_text(&" ".repeat(LONGEST + 1), &schema()), Err(AnswerFault::TooLong));
    }
}
