//! Hand-written files: three syntaxes, one schema for each format.

use karat_core::profile::Profile;
use karat_format::case::CaseV1;
use karat_format::config::ConfigV1;
use karat_format::diagnostic::Diagnostic;
use karat_format::diagnostic_render::render;
use karat_format::document::{Syntax, decode, decode_bytes, decode_lines, schema_of};
use karat_format::judgement::JudgementV1;
use karat_format::report::ReportV1;
use karat_format::submission::TrialV1;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::sync::OnceLock;

/// How the first byte chooses.
pub const SYNTAXES: [Syntax; 3] = [Syntax::Yaml, Syntax::Toml, Syntax::Json];

/// What a schema takes survives being written as JSON, and every fault points into the text and can be drawn.
pub fn check(bytes: &[u8]) {
    // The schemas are made once, as they are for the many files of a suite.
    static FORMATS: OnceLock<[(Check, Value); 6]> = OnceLock::new();
    let formats = FORMATS.get_or_init(|| {
        [
            format::<ConfigV1>(),
            format::<CaseV1>(),
            format::<TrialV1>(),
            format::<JudgementV1>(),
            format::<Profile>(),
            format::<ReportV1>(),
        ]
    });
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let choice = usize::from(choice);
    let (check, schema) = &formats[choice / SYNTAXES.len() % formats.len()];
    check(bytes, SYNTAXES[choice % SYNTAXES.len()], schema);
}

type Check = fn(&[u8], Syntax, &Value);

fn format<T: Serialize + DeserializeOwned + JsonSchema>() -> (Check, Value) {
    (one::<T>, schema_of::<T>())
}

fn one<T: Serialize + DeserializeOwned>(bytes: &[u8], syntax: Syntax, schema: &Value) {
    match decode_bytes::<T>("in", bytes, syntax, schema).into_result() {
        Err(faults) => check_faults(&faults, bytes),
        Ok((value, _)) => {
            let text = json(&value);
            match decode::<T>("out", &text, Syntax::Json, schema).into_result() {
                Err(faults) => panic!("{text}\n{}", render(&faults, false, 100)),
                Ok((again, _)) => assert_eq!(json(&again), text),
            }
            let mut lines = Vec::new();
            let faults = decode_lines::<T>("out", text.as_bytes(), schema, |_, value, _| {
                lines.push(json(&value));
                Vec::new()
            });
            assert_eq!((lines, faults), (vec![text], Vec::new()), "as a line it reads otherwise");
        }
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| panic!("cannot be written: {error}"))
}

/// Every fault points into the text and can be drawn.
pub fn check_faults(faults: &[Diagnostic], bytes: &[u8]) {
    assert!(!faults.is_empty(), "refused without a reason");
    let lines = 1 + bytes.iter().filter(|byte| **byte == b'\n').count();
    for fault in faults {
        assert!(fault.line <= lines, "{fault:?} lies after line {lines}");
        assert!(
            fault.span.as_ref().is_none_or(|span| span.start <= span.end && span.end <= bytes.len() + 1),
            "{fault:?}"
        );
    }
    // Drawing takes far longer than finding.
    let few = &faults[..faults.len().min(3)];
    assert!(!render(few, false, 80).contains('\u{1b}'), "a terminal escape came through");
}
