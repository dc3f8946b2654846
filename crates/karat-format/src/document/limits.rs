//! Checks the bounds that a schema sets for a number, a text or a list.

use super::naming::{ValueContext, describe_value, span};
use super::{Fault, Node, Value};
use serde_json::Value as Json;

/// The fault of a value outside the bounds of this part of the schema.
pub(super) fn check(node: &Node, facet: &Json, context: ValueContext<'_>) -> Option<Fault> {
    match &node.value {
        Value::Int(whole) => format_bounds(facet)
            .filter(|(least, most)| whole < least || whole > most)
            .map(|(least, most)| out_of_range(node, context, &format!("from {least} to {most}")))
            .or_else(|| number(node, *whole as f64, facet, context)),
        Value::Float(float) => number(node, *float, facet, context),
        Value::String(text) => length(node, text.chars().count(), facet, context, ["minLength", "maxLength"]),
        Value::Array(items) => length(node, items.len(), facet, context, ["minItems", "maxItems"]),
        _ => None,
    }
}

fn number(node: &Node, number: f64, facet: &Json, context: ValueContext<'_>) -> Option<Fault> {
    let bound = |word: &str, is_outside: fn(&f64, &f64) -> bool| {
        let bound = facet.get(word)?;
        is_outside(&number, &bound.as_f64()?).then_some(bound)
    };
    let expected = if let Some(least) = bound("minimum", f64::lt) {
        format!("of at least {least}")
    } else if let Some(most) = bound("maximum", f64::gt) {
        format!("of at most {most}")
    } else if let Some(below) = bound("exclusiveMinimum", f64::le) {
        format!("above {below}")
    } else {
        format!("below {}", bound("exclusiveMaximum", f64::ge)?)
    };
    Some(out_of_range(node, context, &expected))
}

fn out_of_range(node: &Node, context: ValueContext<'_>, expected: &str) -> Fault {
    let message = format!("expected a number {expected}{}, found {}", context.for_phrase(), describe_value(node));
    Fault::new("out-of-range", span(node, context), message).with_label(format!("expected a number {expected}"))
}

fn length(node: &Node, length: usize, facet: &Json, context: ValueContext<'_>, words: [&str; 2]) -> Option<Fault> {
    let bound = |word: &str| facet.get(word).and_then(Json::as_u64).and_then(|n| usize::try_from(n).ok());
    let (unit, what) = if words[0] == "minItems" { ("item", "a list") } else { ("character", "text") };
    let plural = |n: usize| format!("{n} {unit}{}", if n == 1 { "" } else { "s" });
    let (code, expected) = if let Some(least) = bound(words[0]).filter(|least| length < *least) {
        ("too-short", format!("at least {}", plural(least)))
    } else {
        let most = bound(words[1]).filter(|most| length > *most)?;
        ("too-long", format!("at most {}", plural(most)))
    };
    let message = format!("expected {what} of {expected}{}, found {}", context.for_phrase(), plural(length));
    Some(Fault::new(code, span(node, context), message).with_label(format!("expected {expected}")))
}

/// The bounds of Rust's integers, which schemars names as formats.
fn format_bounds(facet: &Json) -> Option<(i128, i128)> {
    match facet.get("format")?.as_str()? {
        "uint8" => Some((0, u8::MAX.into())),
        "uint16" => Some((0, u16::MAX.into())),
        "uint32" => Some((0, u32::MAX.into())),
        "uint64" | "uint" => Some((0, u64::MAX.into())),
        "int8" => Some((i8::MIN.into(), i8::MAX.into())),
        "int16" => Some((i16::MIN.into(), i16::MAX.into())),
        "int32" => Some((i32::MIN.into(), i32::MAX.into())),
        "int64" | "int" => Some((i64::MIN.into(), i64::MAX.into())),
        _ => None,
    }
}
