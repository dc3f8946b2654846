//! Inserts one member into the text of a JSON object and leaves all other bytes as they are.

use crate::sarif::run_tables::KEY;
use karat_format::ordered_map::OrderedMap;
use serde_json::value::RawValue;
use std::ops::Range;

/// The text of a result with the key among its partial fingerprints; `None` when the text is not an object.
pub(super) fn with_key(result: &str, key: &str) -> Option<String> {
    let value = serde_json::to_string(key).ok()?;
    let members = members(result)?;
    let Some(prints) = value_of(result, &members, "partialFingerprints") else {
        return with_member(result, members.is_empty(), "partialFingerprints", &format!("{{\"{KEY}\": {value}}}"));
    };
    let old = &result[prints.clone()];
    let new = match self::members(old) {
        None => format!("{{\"{KEY}\": {value}}}"),
        Some(inner) => match value_of(old, &inner, KEY) {
            Some(range) => replaced(old, range, &value),
            None => with_member(old, inner.is_empty(), KEY, &value)?,
        },
    };
    Some(replaced(result, prints, &new))
}

/// The object with one more member at its end.
fn with_member(object: &str, empty: bool, name: &str, value: &str) -> Option<String> {
    let close = object.rfind('}')?;
    let end = object[..close].trim_end().len();
    let comma = if empty { "" } else { ", " };
    Some(replaced(object, end..end, &format!("{comma}\"{name}\": {value}")))
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    [&text[..range.start], by, &text[range.end..]].concat()
}

/// The range of a member's value. Of duplicates the last counts, as in every JSON reader we know.
fn value_of(text: &str, members: &[(String, &RawValue)], name: &str) -> Option<Range<usize>> {
    let (_, value) = members.iter().rev().find(|(key, _)| key == name)?;
    let start = (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = start..start + value.get().len();
    text.get(range.clone()).map(|_| range)
}

fn members(object: &str) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<OrderedMap<&RawValue>>(object).ok().map(|members| members.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_is_inserted_and_nothing_else_changes() {
        let check =
            |result: &str, expect: &str| assert_eq!(with_key(result, "k\"").as_deref(), Some(expect), "{result}");
        check("{}", r#"{"partialFingerprints": {"karatIdentity/v2": "k\""}}"#);
        check("{\n  \"n\": 1.50\n}", "{\n  \"n\": 1.50, \"partialFingerprints\": {\"karatIdentity/v2\": \"k\\\"\"}\n}");
        check(
            r#"{"partialFingerprints" : { "a" : "}" } , "z":[]}"#,
            r#"{"partialFingerprints" : { "a" : "}", "karatIdentity/v2": "k\"" } , "z":[]}"#,
        );
        check(r#"{"partialFingerprints":{}}"#, r#"{"partialFingerprints":{"karatIdentity/v2": "k\""}}"#);
        check(r#"{"partialFingerprints":null}"#, r#"{"partialFingerprints":{"karatIdentity/v2": "k\""}}"#);
        check(
            r#"{"partialFingerprints":{"karatIdentity/v2":"old","b":"c"}}"#,
            r#"{"partialFingerprints":{"karatIdentity/v2":"k\"","b":"c"}}"#,
        );
    }
}
