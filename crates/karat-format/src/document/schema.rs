//! Checks a node against a JSON Schema, as far as the schemas generated from Karat's own types go.
//!
//! A schema consists of *facets*: itself, what it refers to, all of `allOf`, and the chosen branch of `anyOf` or
//! `oneOf`. A mapping may have the keys that any facet names, which is what serde does with flattened and tagged types.

use super::source::truncated;
use super::suggest::nearest;
use super::{FAULT_LIMIT, Key, Node, Value};
use crate::diagnostic::Fault;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::ops::Range;

/// The most nodes checked; only nested alternatives come near it.
const STEP_LIMIT: usize = 20_000_000;
/// The most facets of one schema; one that refers to itself would have infinitely many.
const FACET_LIMIT: usize = 64;

/// All faults of the node; `text` is the text it was parsed from.
pub fn check(node: &Node, schema: &Json, text: &str) -> Vec<Fault> {
    let mut checker = Checker { root: schema, text, faults: Vec::new(), steps: 0 };
    checker.node(node, schema, ValueContext::default());
    if checker.steps > STEP_LIMIT {
        let message = "too many alternatives within alternatives: not all of it could be checked";
        checker.faults.push(Fault::new("too-large", node.span.clone(), message));
    }
    checker.faults
}

pub(super) struct Checker<'s> {
    pub(super) root: &'s Json,
    pub(super) text: &'s str,
    pub(super) faults: Vec<Fault>,
    pub(super) steps: usize,
}

impl<'s> Checker<'s> {
    pub(super) fn node(&mut self, node: &Node, schema: &'s Json, context: ValueContext<'_>) {
        self.steps += 1;
        if self.steps > STEP_LIMIT || self.faults.len() > FAULT_LIMIT {
            return;
        }
        let facets = match self.facets_for(node, schema, context) {
            Ok(facets) => facets,
            Err(fault) => return self.faults.push(fault),
        };
        for facet in &facets {
            if let Some(fault) = self.own(node, facet, context) {
                // The first fault of a value is enough, since others mostly follow from it.
                return self.faults.push(fault);
            }
        }
        match &node.value {
            Value::Object(entries) => self.object(node, entries, &facets, context),
            Value::Array(items) => self.array(items, &facets, context),
            _ => {}
        }
    }

    /// All facets that apply to a node, with those of the alternatives it is meant to follow.
    pub(super) fn facets_for(
        &mut self,
        node: &Node,
        schema: &'s Json,
        context: ValueContext<'_>,
    ) -> Result<Vec<&'s Json>, Fault> {
        let mut facets = self.facets(schema);
        // Chosen branches add their own facets, which may contain alternatives again, so the list grows during the loop.
        let mut next = 0;
        while let Some(facet) = facets.get(next).copied() {
            next += 1;
            for word in ["oneOf", "anyOf"] {
                let Some(branches) = facet.get(word).and_then(Json::as_array) else { continue };
                let branch = self.choose(node, branches, context)?;
                self.gather(branch, &mut facets);
            }
        }
        Ok(facets)
    }

    /// The schema and everything else that applies unconditionally.
    pub(super) fn facets(&self, schema: &'s Json) -> Vec<&'s Json> {
        let mut facets = Vec::new();
        self.gather(schema, &mut facets);
        facets
    }

    fn gather(&self, schema: &'s Json, facets: &mut Vec<&'s Json>) {
        if facets.len() >= FACET_LIMIT || facets.iter().any(|facet| std::ptr::eq(*facet, schema)) {
            return;
        }
        facets.push(schema);
        if let Some(target) =
            schema.get("$ref").and_then(Json::as_str).and_then(|r| self.root.pointer(r.strip_prefix('#')?))
        {
            self.gather(target, facets);
        }
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.gather(part, facets);
        }
    }

    pub(super) fn own(&self, node: &Node, facet: &Json, context: ValueContext<'_>) -> Option<Fault> {
        if *facet == Json::Bool(false) {
            let message = format!("no value is allowed{}", context.for_phrase());
            return Some(Fault::new("unexpected-value", span(node, context), message));
        }
        if matches!(node.value, Value::Float(number) if !number.is_finite()) {
            // The parsers have already rejected it.
            return None;
        }
        if let Some(types) = types_of(facet)
            && !types.iter().any(|name| is_of_type(node, name))
        {
            return Some(self.wrong_type(node, &types, context));
        }
        if let Some(allowed) = allowed_of(facet) {
            let value = node.to_json();
            if !allowed.iter().any(|a| **a == value) {
                return Some(self.wrong_value(node, &allowed, context));
            }
        }
        check_bounds(node, facet, context)
    }

    pub(super) fn wrong_type(&self, node: &Node, types: &[&str], context: ValueContext<'_>) -> Fault {
        let expected: Vec<&str> = types.iter().filter(|t| **t != "null").map(|t| type_name(t)).collect();
        let expected = if expected.is_empty() { "nothing".into() } else { expected.join(" or ") };
        let message = format!("expected {expected}{}, found {}", context.for_phrase(), describe_value(node));
        let fault = Fault::new("wrong-type", span(node, context), message).with_label(format!("expected {expected}"));
        let takes = |name: &str| types.contains(&name);
        let is_large = matches!(node.value, Value::Float(number) if number.abs() >= 1e15);
        let help = match &node.value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) if takes("string") => {
                let written = self.text.get(node.span.clone()).filter(|w| !w.is_empty() && w.len() <= 40);
                written.map(|written| format!("quote it: \"{written}\""))
            }
            Value::String(text) if takes("boolean") => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" | "y" | "1" => Some("write `true`, without quotes".into()),
                "no" | "off" | "false" | "n" | "0" => Some("write `false`, without quotes".into()),
                _ => None,
            },
            Value::String(text) if text.parse::<i64>().is_ok() && (takes("integer") || takes("number")) => {
                Some(format!("write it without quotes: {text}"))
            }
            Value::Float(number) if takes("integer") && number.fract() == 0.0 && !is_large => {
                Some(format!("write it without a point: {number:.0}"))
            }
            Value::Float(_) if takes("integer") && is_large => Some("write a smaller whole number".into()),
            Value::Int(_) if takes("integer") => Some("write a smaller whole number".into()),
            Value::Null => context.key.filter(|_| !context.item).map(|key| {
                let empty = if takes("object") { "; `{}` stands for an empty one" } else { "" };
                format!("give `{}` a value{empty}", truncated(&key.name))
            }),
            // Nobody splits a command into words.
            Value::String(text) if matches!(types, ["array"] | ["array", "null"]) && text.contains(' ') => {
                let words: Vec<String> = text.split_whitespace().map(|word| format!("{word:?}")).collect();
                Some(format!("write each word as an item: [{}]", truncated(&words.join(", "))))
            }
            _ if matches!(types, ["array"] | ["array", "null"]) => Some("write it as a list of one: [ … ]".into()),
            _ => None,
        };
        Fault { help, ..fault }
    }

    pub(super) fn wrong_value(&self, node: &Node, allowed: &[&Json], context: ValueContext<'_>) -> Fault {
        let words: Vec<&str> = allowed.iter().filter_map(|a| a.as_str()).collect();
        let plain = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let listed: Vec<String> = allowed.iter().map(|a| format!("`{}`", plain(a))).collect();
        let expected = match listed.as_slice() {
            [only] => only.clone(),
            _ => format!("one of {}", listed.join(", ")),
        };
        let message = format!("expected {expected}{}, found {}", context.for_phrase(), describe_value(node));
        let fault = Fault::new("unknown-value", span(node, context), message);
        match &node.value {
            Value::String(text) => match nearest(text, words.iter().copied()) {
                Some(word) => fault.with_label(format!("did you mean `{word}`?")),
                None => fault.with_label("not a known value"),
            },
            _ => fault,
        }
    }

    fn array(&mut self, items: &[Node], facets: &[&'s Json], context: ValueContext<'_>) {
        let context = ValueContext { item: true, ..context };
        for facet in facets {
            let first = facet.get("prefixItems").and_then(Json::as_array);
            let rest = facet.get("items");
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = first.and_then(|first| first.get(index)).or(rest) {
                    self.node(item, schema, context);
                }
            }
        }
    }

    fn object(&mut self, node: &Node, entries: &[(Key, Node)], facets: &[&'s Json], context: ValueContext<'_>) {
        let properties = facets.iter().filter_map(|f| f.get("properties")?.as_object()).flatten();
        let known: Vec<(&str, &'s Json)> = properties.map(|(k, v)| (k.as_str(), v)).collect();
        let denies = |word: &str| facets.iter().any(|f| f.get(word) == Some(&Json::Bool(false)));
        let closed = denies("additionalProperties") || denies("unevaluatedProperties");
        let others: Vec<&'s Json> =
            facets.iter().filter_map(|f| f.get("additionalProperties")).filter(|o| o.is_object()).collect();
        let given: BTreeSet<&str> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
        let free: Vec<&str> = known.iter().map(|(name, _)| *name).filter(|name| !given.contains(name)).collect();
        let mut reported = Vec::new();
        for (key, child) in entries {
            if self.faults.len() > FAULT_LIMIT {
                return;
            }
            let context = ValueContext { key: Some(key), item: false };
            let mut named = false;
            for (_, schema) in known.iter().filter(|(name, _)| *name == key.name) {
                named = true;
                self.node(child, schema, context);
            }
            if named {
                continue;
            }
            // Mappings from numbers have keys that match a pattern.
            let patterns = facets.iter().filter_map(|f| f.get("patternProperties")?.as_object()).flatten();
            let fits = |pattern: &str| regex::Regex::new(pattern).is_ok_and(|regex| regex.is_match(&key.name));
            let patterned = patterns.filter(|(pattern, _)| fits(pattern)).map(|(_, schema)| schema).next();
            if let Some(schema) = patterned.or(others.first().copied()) {
                self.node(child, schema, context);
            } else if closed {
                let fault = unknown_key(key, &free, &known, &mut reported);
                let pattern =
                    facets.iter().filter_map(|f| f.get("patternProperties")?.as_object()?.keys().next()).next();
                self.faults.push(match pattern {
                    Some(pattern) => fault.with_help(format!("expected a key that matches `{pattern}`")),
                    None => fault,
                });
            }
        }
        for name in required_keys(facets) {
            // A required key that is only misspelt is already reported.
            if !given.contains(name) && !reported.contains(&name) {
                reported.push(name);
                let schema = known.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema);
                self.faults.push(self.missing_key(node, name, schema, context));
            }
        }
    }

    fn missing_key(&self, node: &Node, name: &str, schema: Option<&'s Json>, context: ValueContext<'_>) -> Fault {
        let message = format!("the key `{name}` is missing{}", context.in_phrase());
        let fault =
            Fault::new("missing-key", span(node, context), message).with_label(format!("`{name}` is required here"));
        let facets = schema.map_or_else(Vec::new, |schema| self.facets(schema));
        let described = facets.iter().find_map(|f| f.get("description")?.as_str());
        match described.and_then(|text| text.lines().next()) {
            Some(line) => fault.with_help(format!("`{name}`: {line}")),
            None => fault,
        }
    }
}

pub(super) fn unknown_key<'s>(
    key: &Key,
    free: &[&'s str],
    known: &[(&'s str, &Json)],
    reported: &mut Vec<&'s str>,
) -> Fault {
    let fault = Fault::new("unknown-key", key.span.clone(), format!("unknown key `{}`", truncated(&key.name)));
    if key.name == "<<" {
        return fault.with_help("YAML 1.2 has no merge keys: write the keys out");
    }
    if let Some(name) = nearest(&key.name, free.iter().copied()) {
        reported.push(name);
        return fault.with_label(format!("did you mean `{name}`?"));
    }
    if let Some(name) = nearest(&key.name, known.iter().map(|(name, _)| *name)) {
        return fault.with_label(format!("did you mean `{name}`, which is already given?"));
    }
    let mut names: Vec<String> = Vec::new();
    for name in known.iter().map(|(name, _)| format!("`{name}`")) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    match names.as_slice() {
        [] => fault.with_label("unknown here"),
        _ => fault.with_label("unknown here").with_help(format!("known keys: {}", names.join(", "))),
    }
}

pub(super) fn required_keys<'s>(facets: &[&'s Json]) -> impl Iterator<Item = &'s str> {
    facets.iter().filter_map(|f| f.get("required")?.as_array()).flatten().filter_map(Json::as_str)
}

pub(super) fn types_of(facet: &Json) -> Option<Vec<&str>> {
    match facet.get("type")? {
        Json::String(name) => Some(vec![name]),
        Json::Array(names) => Some(names.iter().filter_map(Json::as_str).collect()),
        _ => None,
    }
}

pub(super) fn allowed_of(facet: &Json) -> Option<Vec<&Json>> {
    facet.get("const").map(|only| vec![only]).or_else(|| Some(facet.get("enum")?.as_array()?.iter().collect()))
}

pub(super) fn is_of_type(node: &Node, name: &str) -> bool {
    match &node.value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        // Readers accept no wider integers.
        Value::Int(whole) => {
            name == "number" || (name == "integer" && (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(whole))
        }
        Value::Float(_) => name == "number",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

pub(super) fn type_name(name: &str) -> &'static str {
    match name {
        "null" => "nothing",
        "boolean" => "`true` or `false`",
        "integer" => "a whole number",
        "number" => "a number",
        "string" => "text",
        "array" => "a list",
        _ => "a mapping",
    }
}

fn check_bounds(node: &Node, facet: &Json, context: ValueContext<'_>) -> Option<Fault> {
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

/// Where the value under check is.
#[derive(Clone, Copy, Default)]
pub(super) struct ValueContext<'n> {
    pub(super) key: Option<&'n Key>,
    /// Whether it is an item of the list under the key.
    pub(super) item: bool,
}

impl ValueContext<'_> {
    /// ` for `line_start``, ` for an item of `cwe``, or nothing at the top.
    pub(super) fn for_phrase(&self) -> String {
        match self.key {
            None => String::new(),
            Some(key) if self.item => format!(" for an item of `{}`", truncated(&key.name)),
            Some(key) => format!(" for `{}`", truncated(&key.name)),
        }
    }

    /// ` in `pr``, ` in an item of `issues``, or nothing at the top.
    pub(super) fn in_phrase(&self) -> String {
        self.for_phrase().replacen(" for ", " in ", 1)
    }
}

/// The span to underline: the value, or its key where the value is empty.
pub(super) fn span(node: &Node, context: ValueContext<'_>) -> Range<usize> {
    match context.key {
        Some(key) if node.span.is_empty() && !context.item => key.span.clone(),
        _ => node.span.clone(),
    }
}

pub(super) fn describe_value(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".into(),
        Value::Bool(b) => format!("`{b}`"),
        Value::Int(i) => format!("the number {i}"),
        Value::Float(f) => format!("the number {f:?}"),
        Value::String(text) => format!("the text \"{}\"", truncated(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a mapping".into(),
    }
}
