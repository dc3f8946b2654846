//! Checks a node against a JSON Schema, as far as the schemas generated from Karat's own types go.
//!
//! A schema consists of *facets*: itself, what it refers to, all of `allOf`, and the chosen branch of `anyOf` or
//! `oneOf`. A mapping may have the keys that any facet names, which is what serde does with flattened and tagged types.

use super::naming::{ValueContext, describe_value, span};
use super::source::truncated;
use super::suggest::nearest;
use super::{FAULT_LIMIT, Fault, Key, Node, Value};
use serde_json::Value as Json;
use std::collections::BTreeSet;

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
        let mut facets = Vec::new();
        self.gather(schema, &mut facets);
        // Chosen branches add their own facets, which may contain alternatives again, so the list grows during the loop.
        let mut next = 0;
        while let Some(facet) = facets.get(next).copied() {
            next += 1;
            for word in ["oneOf", "anyOf"] {
                let Some(branches) = facet.get(word).and_then(Json::as_array) else { continue };
                match self.choose(node, branches, context) {
                    Ok(branch) => self.gather(branch, &mut facets),
                    Err(fault) => return self.faults.push(fault),
                }
            }
        }
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

    /// The schema and everything else that applies unconditionally.
    pub(super) fn gather(&self, schema: &'s Json, facets: &mut Vec<&'s Json>) {
        if facets.len() >= FACET_LIMIT || facets.iter().any(|facet| std::ptr::eq(*facet, schema)) {
            return;
        }
        facets.push(schema);
        if let Some(target) = schema.get("$ref").and_then(Json::as_str).and_then(|r| self.resolve(r)) {
            self.gather(target, facets);
        }
        for part in schema.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.gather(part, facets);
        }
    }

    fn resolve(&self, reference: &str) -> Option<&'s Json> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// The fault of the value itself, apart from its children.
    pub(super) fn own(&self, node: &Node, facet: &Json, context: ValueContext<'_>) -> Option<Fault> {
        if *facet == Json::Bool(false) {
            return Some(Fault::new(
                "unexpected-value",
                span(node, context),
                format!("no value is allowed{}", context.for_phrase()),
            ));
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
        super::limits::check(node, facet, context)
    }

    pub(super) fn wrong_type(&self, node: &Node, types: &[&str], context: ValueContext<'_>) -> Fault {
        let expected: Vec<&str> = types.iter().filter(|t| **t != "null").map(|t| type_name(t)).collect();
        let expected = if expected.is_empty() { "nothing".into() } else { expected.join(" or ") };
        let message = format!("expected {expected}{}, found {}", context.for_phrase(), describe_value(node));
        let fault = Fault::new("wrong-type", span(node, context), message).with_label(format!("expected {expected}"));
        let help = match &node.value {
            Value::Bool(_) | Value::Int(_) | Value::Float(_) if types.contains(&"string") => {
                let written = self.text.get(node.span.clone()).filter(|w| !w.is_empty() && w.len() <= 40);
                written.map(|written| format!("quote it: \"{written}\""))
            }
            Value::String(text) if types.contains(&"boolean") => match text.to_ascii_lowercase().as_str() {
                "yes" | "on" | "true" | "y" | "1" => Some("write `true`, without quotes".into()),
                "no" | "off" | "false" | "n" | "0" => Some("write `false`, without quotes".into()),
                _ => None,
            },
            Value::String(text)
                if text.parse::<i64>().is_ok() && (types.contains(&"integer") || types.contains(&"number")) =>
            {
                Some(format!("write it without quotes: {text}"))
            }
            Value::Float(number) if types.contains(&"integer") && number.fract() == 0.0 && number.abs() < 1e15 => {
                Some(format!("write it without a point: {number:.0}"))
            }
            Value::Float(number) if types.contains(&"integer") && number.abs() >= 1e15 => {
                Some("write a smaller whole number".into())
            }
            Value::Int(_) if types.contains(&"integer") => Some("write a smaller whole number".into()),
            Value::Null => context.key.filter(|_| !context.item).map(|key| {
                let empty = if types.contains(&"object") { "; `{}` stands for an empty one" } else { "" };
                format!("give `{}` a value{empty}", truncated(&key.name))
            }),
            _ if matches!(types, ["array"] | ["array", "null"]) => Some("write it as a list of one: [ … ]".into()),
            _ => None,
        };
        Fault { help, ..fault }
    }

    pub(super) fn wrong_value(&self, node: &Node, allowed: &[&Json], context: ValueContext<'_>) -> Fault {
        let words: Vec<&str> = allowed.iter().filter_map(|a| a.as_str()).collect();
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
        let known: Vec<(&str, &'s Json)> = facets
            .iter()
            .filter_map(|f| f.get("properties")?.as_object())
            .flatten()
            .map(|(k, v)| (k.as_str(), v))
            .collect();
        let is_closed = |f: &&&Json| {
            ["additionalProperties", "unevaluatedProperties"].iter().any(|w| f.get(w) == Some(&Json::Bool(false)))
        };
        let closed = facets.iter().find(is_closed).is_some();
        let others: Vec<&'s Json> =
            facets.iter().filter_map(|f| f.get("additionalProperties")).filter(|o| o.is_object()).collect();
        let given: BTreeSet<&str> = entries.iter().map(|(key, _)| key.name.as_str()).collect();
        let free: Vec<&str> = known.iter().map(|(name, _)| *name).filter(|name| !given.contains(name)).collect();
        let mut meant = Vec::new();
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
            let patterned = patterned(facets, &key.name);
            if let Some(schema) = patterned.first().or(others.first()) {
                self.node(child, schema, context);
            } else if closed {
                let fault = unknown_key(key, &free, &known, &mut meant);
                let pattern =
                    facets.iter().filter_map(|f| f.get("patternProperties")?.as_object()?.keys().next()).next();
                self.faults.push(match pattern {
                    Some(pattern) => fault.with_help(format!("expected a key that matches `{pattern}`")),
                    None => fault,
                });
            }
        }
        for name in facets.iter().filter_map(|f| f.get("required")?.as_array()).flatten().filter_map(Json::as_str) {
            // A required key that is only misspelt is already reported.
            if !given.contains(name) && !meant.contains(&name) {
                meant.push(name);
                let schema = known.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema);
                self.faults.push(self.missing_key(node, name, schema, context));
            }
        }
    }

    fn missing_key(&self, node: &Node, name: &str, schema: Option<&'s Json>, context: ValueContext<'_>) -> Fault {
        let message = format!("the key `{name}` is missing{}", context.in_phrase());
        let fault =
            Fault::new("missing-key", span(node, context), message).with_label(format!("`{name}` is required here"));
        let mut facets = Vec::new();
        if let Some(schema) = schema {
            self.gather(schema, &mut facets);
        }
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
    meant: &mut Vec<&'s str>,
) -> Fault {
    let fault = Fault::new("unknown-key", key.span.clone(), format!("unknown key `{}`", truncated(&key.name)));
    if key.name == "<<" {
        return fault.with_help("YAML 1.2 has no merge keys: write the keys out");
    }
    if let Some(name) = nearest(&key.name, free.iter().copied()) {
        meant.push(name);
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

/// The schemas of keys that match a pattern, as generated for mappings from numbers.
fn patterned<'s>(facets: &[&'s Json], name: &str) -> Vec<&'s Json> {
    let patterns = facets.iter().filter_map(|f| f.get("patternProperties")?.as_object()).flatten();
    patterns.filter(|(p, _)| regex::Regex::new(p).is_ok_and(|p| p.is_match(name))).map(|(_, schema)| schema).collect()
}

/// The types that the facet itself names.
pub(super) fn types_of(facet: &Json) -> Option<Vec<&str>> {
    match facet.get("type")? {
        Json::String(name) => Some(vec![name]),
        Json::Array(names) => Some(names.iter().filter_map(Json::as_str).collect()),
        _ => None,
    }
}

/// The values that the facet itself allows, where it names them.
pub(super) fn allowed_of(facet: &Json) -> Option<Vec<&Json>> {
    facet.get("const").map(|only| vec![only]).or_else(|| Some(facet.get("enum")?.as_array()?.iter().collect()))
}

pub(super) fn is_of_type(node: &Node, name: &str) -> bool {
    match &node.value {
        Value::Null => name == "null",
        Value::Bool(_) => name == "boolean",
        // Readers accept no wider integers.
        Value::Int(whole) => name == "number" || (name == "integer" && fits_in_64_bits(*whole)),
        Value::Float(_) => name == "number",
        Value::String(_) => name == "string",
        Value::Array(_) => name == "array",
        Value::Object(_) => name == "object",
    }
}

fn fits_in_64_bits(whole: i128) -> bool {
    i64::try_from(whole).is_ok() || u64::try_from(whole).is_ok()
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

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
