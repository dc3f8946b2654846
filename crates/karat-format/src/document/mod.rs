//! Hand-written input files: parsed with positions, checked against the schema of their Rust type, and decoded.
//!
//! All faults of a file are reported at once, and a file with a fault is not used at all. The stages are
//! [`yaml`], [`toml`] or [`json`] (text to [`Node`]), [`schema`] (node against schema) and [`mod@decode`] (node to Rust value).

pub mod decode;
pub mod json;
pub mod lines;
pub mod schema;
pub mod source;
pub mod suggest;
pub mod toml;
pub mod yaml;

mod alternatives;
pub mod rows;
mod salvage;
#[cfg(test)]
mod tests;

pub use decode::{Decoded, Document, Syntax, decode, decode_bytes, schema_of};
pub use lines::{Line, decode_lines};
pub use source::Source;

use crate::diagnostic::Fault;
use std::collections::BTreeSet;
use std::ops::Range;

/// The deepest nesting of lists and mappings, which is also that of `serde_json`.
pub const DEPTH_LIMIT: usize = 127;

/// The most faults of one text, so that they cannot fill the memory.
const FAULT_LIMIT: usize = 10_000;

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Node {
    pub value: Value,
    /// Byte offsets in the text.
    pub span: Range<usize>,
}

/// The data model shared by YAML, TOML and JSON.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    String(String),
    Array(Vec<Node>),
    /// A mapping, in file order and without duplicates.
    Object(Vec<(Key, Node)>),
}

/// A key of a mapping and its position.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Key {
    pub name: String,
    /// Byte offsets in the text.
    pub span: Range<usize>,
}

/// One step of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Segment<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> From<&'a str> for Segment<'a> {
    fn from(key: &'a str) -> Self {
        Self::Key(key)
    }
}

impl From<usize> for Segment<'_> {
    fn from(index: usize) -> Self {
        Self::Index(index)
    }
}

fn fail_on_faults<T, F>((value, faults): (Option<T>, Vec<F>)) -> Result<T, Vec<F>> {
    value.filter(|_| faults.is_empty()).ok_or(faults)
}

impl Node {
    /// The value at a path.
    pub fn get(&self, path: &[Segment<'_>]) -> Option<&Node> {
        path.iter().try_fold(self, |node, segment| node.step(*segment).map(|(_, child)| child))
    }

    /// The span to underline for a path: the value, the key of an empty value, or the nearest enclosing value.
    pub fn place(&self, path: &[Segment<'_>]) -> Range<usize> {
        let (mut node, mut key) = (self, None);
        for segment in path {
            let Some(step) = node.step(*segment) else { break };
            (key, node) = step;
        }
        match key {
            Some(key) if node.span.is_empty() => key.span.clone(),
            _ => node.span.clone(),
        }
    }

    fn step(&self, segment: Segment<'_>) -> Option<(Option<&Key>, &Node)> {
        match (segment, &self.value) {
            (Segment::Key(name), Value::Object(entries)) => {
                entries.iter().find(|(key, _)| key.name == name).map(|(key, child)| (Some(key), child))
            }
            (Segment::Index(index), Value::Array(items)) => items.get(index).map(|item| (None, item)),
            _ => None,
        }
    }

    /// The value without positions. A number that JSON cannot represent becomes null; the parsers reject such numbers.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            // A wider integer becomes a float; a schema rejects it wherever an integer is expected.
            Value::Int(i) => i64::try_from(*i)
                .map(Json::from)
                .or_else(|_| u64::try_from(*i).map(Json::from))
                .unwrap_or_else(|_| Json::from(*i as f64)),
            Value::Float(f) => Json::from(*f),
            Value::String(s) => Json::String(s.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Object(entries) => {
                Json::Object(entries.iter().map(|(key, child)| (key.name.clone(), child.to_json())).collect())
            }
        }
    }
}

/// Parsing cannot continue; the fault is already recorded.
pub(crate) struct Stopped;

#[derive(Default)]
pub(crate) struct FaultLog(Vec<Fault>);

impl FaultLog {
    /// Records a fault that leaves the meaning of the text clear.
    pub(crate) fn add(&mut self, fault: Fault) {
        if self.0.len() < FAULT_LIMIT {
            self.0.push(fault);
        }
    }

    /// Records a fault that ends parsing.
    pub(crate) fn stop<T>(&mut self, fault: Fault) -> Result<T, Stopped> {
        self.0.push(fault);
        Err(Stopped)
    }

    pub(crate) fn too_deep<T>(&mut self, span: Range<usize>) -> Result<T, Stopped> {
        let message = format!("lists and mappings are nested more than {DEPTH_LIMIT} levels deep");
        self.stop(Fault::new("too-deep", span, message))
    }
}

/// The entries of a mapping while it is parsed: keeps the first of each key and reports the others as faults.
#[derive(Default)]
pub(crate) struct Entries {
    list: Vec<(Key, Node)>,
    names: BTreeSet<String>,
}

impl Entries {
    pub(crate) fn push(&mut self, key: Key, node: Node, faults: &mut FaultLog) {
        if self.names.insert(key.name.clone()) {
            return self.list.push((key, node));
        }
        let message = format!("the key `{}` is given twice", source::truncated(&key.name));
        let fault = Fault::new("duplicate-key", key.span, message).with_label("given before in the same mapping");
        faults.add(fault.with_help("remove one of the two"));
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.list)
    }
}
