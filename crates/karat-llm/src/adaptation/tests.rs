use super::*;
use crate::http::parse_error_body;

const FORMAT: &[&str] = &["response_format", "json_schema", "json_object", "schema", "output_config"];
const LIMIT: &[&str] = &["max_tokens", "max_completion_tokens"];

/// Checks which part of a request with `temperature`, `top_p` and `seed` a server's error refuses.
#[track_caller]
fn check(status: u16, body: &str, expect: Option<RefusedPart>) {
    let (words, parameters) = parse_error_body(body);
    let error = SendError::Rejected { why: words.clone() };
    let failure = HttpFailure { status, error, parameters, words };
    let parameters = vec!["temperature", "top_p", "seed", "thinking"];
    let effort = &["output_config.effort", "effort"];
    let parts = PartNames { parameters, format: FORMAT, limit: LIMIT, effort };
    assert_eq!(find_refused_part(&failure, &parts), expect, "{status} {body}");
}

fn parameter(name: &str) -> Option<RefusedPart> {
    Some(RefusedPart::Parameter(name.to_owned()))
}

#[test]
fn refused_parts_are_recognised() {
    check(
        400,
        r#"{"error": {"message": "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "type": "invalid_request_error", "param": "temperature", "code": "unsupported_value"}}"#,
        parameter("temperature"),
    );
    check(
        400,
        r#"{"type": "error", "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."}}"#,
        parameter("temperature"),
    );
    check(
        400,
        r#"{"error": {"message": "`temperature` and `top_p` cannot both be specified for this model."}}"#,
        parameter("temperature"),
    );
    check(
        400,
        r#"{"error": {"message": "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "param": "max_tokens"}}"#,
        Some(RefusedPart::TokenLimit),
    );
    check(400, r#"{"error": {"message": "response_format is not supported"}}"#, Some(RefusedPart::AnswerFormat));
    check(
        400,
        r#"{"error": {"message": "Invalid schema", "param": "response_format.json_schema"}}"#,
        Some(RefusedPart::AnswerFormat),
    );
    check(
        422,
        r#"{"detail": [{"type": "extra_forbidden", "loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": {"temperature": 0}}]}"#,
        parameter("seed"),
    );
    check(501, "Unsupported: seed", parameter("seed"));
    // The longest name at a place counts.
    check(
        400,
        r#"{"error": {"message": "output_config.effort: Extra inputs are not permitted"}}"#,
        parameter("effort"),
    );
    check(400, r#"{"error": {"message": "no", "param": "output_config.effort"}}"#, parameter("effort"));
    check(
        400,
        r#"{"error": {"message": "output_config: Extra inputs are not permitted"}}"#,
        Some(RefusedPart::AnswerFormat),
    );
    check(
        400,
        r#"{"error": {"message": "\"thinking.type.disabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \"output_config.effort\" to control thinking behavior."}}"#,
        parameter("thinking"),
    );
    // Messages of LiteLLM's proxy and llama-cpp-python's server.
    check(
        400,
        r#"{"error": {"message": "litellm.UnsupportedParamsError: gpt-5 doesn't support temperature=0.0 while reasoning is active. Only temperature=1 is supported", "param": null, "code": "400"}}"#,
        parameter("temperature"),
    );
    check(
        500,
        r#"{"error": {"message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema'}", "type": "internal_server_error", "param": null}}"#,
        Some(RefusedPart::AnswerFormat),
    );
}

#[test]
fn other_failures_are_not_refusals() {
    // A status about keys, URLs, rates or size, whatever the message.
    for status in [301, 401, 403, 404, 408, 413, 429] {
        check(status, r#"{"error": {"message": "temperature is not supported", "param": "temperature"}}"#, None);
    }
    check(500, "<h1>Internal error</h1>", None);
    check(503, r#"{"error": {"message": "overloaded"}}"#, None);
    // A server error about something else.
    check(500, "out of memory at a temperature of 90 degrees", None);
    check(400, r#"{"error": {"message": "invalid value for 'temperature_scale' and 'my-seed'"}}"#, None);
    let long = r#"{"error": {"message": "'max_tokens' is too large: 1024. This model's maximum context length is 512 tokens.", "param": "max_tokens"}}"#;
    check(400, long, None);
    check(400, r#"{"error": {"message": "prompt is too long; reduce max_tokens"}}"#, None);
}

#[test]
fn refused_parts_are_omitted_one_by_one() {
    let formats = [AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text];
    let all = Adaptation::default();
    let without = |from: &Adaptation, refused: RefusedPart| from.without(&refused, &formats);
    let cool = without(&all, RefusedPart::Parameter("temperature".into())).unwrap();
    assert!(!cool.sends("temperature") && cool.sends("seed"));
    assert_eq!(without(&cool, RefusedPart::Parameter("temperature".into())), None);
    let object = without(&cool, RefusedPart::AnswerFormat).unwrap();
    let text = without(&object, RefusedPart::AnswerFormat).unwrap();
    assert_eq!((object.answer_format, text.answer_format), (AnswerFormat::JsonObject, AnswerFormat::Text));
    assert_eq!(without(&text, RefusedPart::AnswerFormat), None);
    let renamed = without(&all, RefusedPart::TokenLimit).unwrap();
    let unlimited = without(&renamed, RefusedPart::TokenLimit).unwrap();
    assert_eq!((all.limit(), renamed.limit()), (Some("max_tokens"), Some("max_completion_tokens")));
    assert_eq!((unlimited.limit(), without(&unlimited, RefusedPart::TokenLimit)), (None, None));
    let mut merged = object.clone();
    merged.merge(&renamed);
    assert_eq!((merged.answer_format, merged.limit()), (object.answer_format, renamed.limit()));
}

#[test]
fn adapted_parameters_are_recorded_and_enumerable() {
    let configured = json!({ "temperature": 0.0, "seed": 7 });
    let formats = [AnswerFormat::Schema, AnswerFormat::JsonObject, AnswerFormat::Text];
    let mut adaptation = Adaptation::default();
    assert_eq!(adaptation.parameters(&configured), configured);
    // The limit has two names.
    adaptation = adaptation.without(&RefusedPart::TokenLimit, &formats).unwrap();
    assert_eq!(adaptation.parameters(&configured), configured);
    adaptation = adaptation.without(&RefusedPart::Parameter("temperature".into()), &formats).unwrap();
    adaptation = adaptation.without(&RefusedPart::AnswerFormat, &formats).unwrap();
    let sent = adaptation.parameters(&configured);
    assert_eq!(sent, json!({ "seed": 7, "adapted": { "dropped": ["temperature"], "answer_format": "json_object" } }));
    let adapted = Adaptation::from_parameters(&sent);
    assert!(adapted.samples_by_default() && adapted.answer_format == AnswerFormat::JsonObject);
    assert_eq!(Adaptation::from_parameters(&configured), Adaptation::default());
    let all: Vec<Value> =
        Adaptation::all(&configured, &formats).iter().map(|one| one.parameters(&configured)).collect();
    assert_eq!((all.len(), &all[0]), (2 * 2 * 3 * 2, &configured));
    assert!(all.contains(&sent));
    // A parameter that was never configured cannot have been refused.
    assert!(!all.contains(&json!({ "seed": 7 })));
}

/// What is learned and what is known of a model give the same keys.
#[test]
fn known_refusals_are_left_out_from_the_start() {
    let formats = [AnswerFormat::Schema, AnswerFormat::Tool, AnswerFormat::Text];
    let configured = json!({
        "temperature": 0.0, "top_k": 5, "effort": "low", "seed": 1,
        "thinking": { "type": "enabled", "budget_tokens": 1024 },
    });
    let of = |refuses: &[RefusalV1]| {
        let model = ModelV1 { refuses: refuses.iter().copied().collect(), ..ModelV1::default() };
        Adaptation::of_model(&model, &configured, &formats)
    };
    assert_eq!(of(&[]), Adaptation::default());
    assert_eq!(Vec::from_iter(of(&[RefusalV1::Sampling]).dropped), ["temperature", "top_k"]);
    assert_eq!(Vec::from_iter(of(&[RefusalV1::ThinkingBudget]).dropped), ["thinking"]);
    assert_eq!(of(&[RefusalV1::DisabledThinking, RefusalV1::Prefill]), Adaptation::default());
    assert_eq!(Vec::from_iter(of(&[RefusalV1::Effort]).dropped), ["effort"]);
    assert_eq!(of(&[RefusalV1::StructuredOutput]).answer_format, AnswerFormat::Tool);
    let neither = [RefusalV1::StructuredOutput, RefusalV1::ForcedToolChoice];
    assert_eq!(of(&neither).answer_format, AnswerFormat::Text);
    assert_eq!(of(&[RefusalV1::MaxTokens]).limit(), Some("max_completion_tokens"));
    let learned = Adaptation::default().without(&RefusedPart::Parameter("temperature".into()), &formats).unwrap();
    let learned = learned.without(&RefusedPart::Parameter("top_k".into()), &formats).unwrap();
    assert_eq!(learned.parameters(&configured), of(&[RefusalV1::Sampling]).parameters(&configured));
    // How the schema is enforced is no part of the key.
    assert_eq!(of(&[RefusalV1::StructuredOutput]).parameters(&configured), configured);
    assert!(Adaptation::all(&configured, &formats).iter().all(|one| one.answer_format != AnswerFormat::Tool));
    // Another configuration cannot leave out what it does not have.
    let restricted = of(&[RefusalV1::Sampling]).restricted_to(&json!({ "temperature": 0.0 }));
    assert_eq!(Vec::from_iter(restricted.dropped), ["temperature"]);
}
