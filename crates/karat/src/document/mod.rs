//! Hand-written input files: parsed with places, checked against the schema of their Rust type, and decoded.
//!
//! All faults of a file are found before any is reported, and a file with a fault is not taken at all. The stages are
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
mod limits;
mod naming;
pub(crate) mod rows;
mod salvage;
#[cfg(test)]
mod tests;

pub use decode::{Decoded, Document, Syntax, decode, decode_bytes, schema_of};
pub use lines::{Limits, Line, decode_lines, decode_lines_within};
pub use source::Source;

use std::collections::BTreeSet;
use std::ops::Range;

/// How deeply lists and mappings may lie in one another.
pub const DEPTH_LIMIT: usize = 128;

/// How many faults are looked for in one text; a text made of faults must not fill the memory with them.
const FAULT_LIMIT: usize = 10_000;

/// A value and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What is written.
    pub value: Value,
    /// Where, as byte offsets into the text.
    pub span: Range<usize>,
}

/// What YAML, TOML and JSON can all say.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, said so.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// Text.
    String(String),
    /// A list.
    Array(Vec<Node>),
    /// A mapping, in the order of the file and without duplicates.
    Object(Vec<(Key, Node)>),
}

/// A key of a mapping and where it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub name: String,
    /// Where, as byte offsets into the text.
    pub span: Range<usize>,
}

/// One step from a value into a value within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'a> {
    /// Into a mapping.
    Key(&'a str),
    /// Into a list, counted from 0.
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

/// A fault of a text, before it is known which file the text is.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// A short kebab-case name of the kind of fault.
    pub code: &'static str,
    /// What is wrong.
    pub message: String,
    /// Where, as byte offsets into the text.
    pub span: Range<usize>,
    /// A few words beside the underline.
    pub label: Option<String>,
    /// What to do.
    pub help: Option<String>,
}

impl Fault {
    /// A fault without label and help.
    pub fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: None, help: None }
    }

    /// The same with words beside the underline.
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The same with what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// What a parser made of a text: the node as far as it could be read, and all faults.
#[derive(Debug)]
pub struct Parsed {
    /// The whole value, or `None` where the text breaks off. It may be there beside faults, such as duplicate keys.
    pub node: Option<Node>,
    /// The faults, in the order in which they were met.
    pub faults: Vec<Fault>,
}

impl Parsed {
    /// The node of a faultless text.
    pub fn into_result(self) -> Result<Node, Vec<Fault>> {
        match self.node {
            Some(node) if self.faults.is_empty() => Ok(node),
            _ => Err(self.faults),
        }
    }
}

impl Node {
    /// The value that lies there, if there is one.
    pub fn get(&self, path: &[Segment<'_>]) -> Option<&Node> {
        path.iter().try_fold(self, |node, segment| node.step(*segment).map(|(_, child)| child))
    }

    /// The value that lies there or, failing that, the nearest one around it that exists.
    pub fn nearest(&self, path: &[Segment<'_>]) -> &Node {
        let mut node = self;
        for segment in path {
            let Some((_, child)) = node.step(*segment) else { break };
            node = child;
        }
        node
    }

    /// The span to underline for that place: the value; the key of a value that takes no room; the nearest value around it.
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

    /// The same value without its places. A number that JSON cannot hold becomes null; the parsers refuse such numbers.
    pub fn to_json(&self) -> serde_json::Value {
        use serde_json::Value as Json;
        match &self.value {
            Value::Null => Json::Null,
            Value::Bool(b) => Json::Bool(*b),
            Value::Int(i) => whole(*i),
            Value::Float(f) => serde_json::Number::from_f64(*f).map_or(Json::Null, Json::Number),
            Value::String(s) => Json::String(s.clone()),
            Value::Array(items) => Json::Array(items.iter().map(Node::to_json).collect()),
            Value::Object(entries) => {
                Json::Object(entries.iter().map(|(key, child)| (key.name.clone(), child.to_json())).collect())
            }
        }
    }
}

fn whole(i: i128) -> serde_json::Value {
    if let Ok(i) = i64::try_from(i) {
        return i.into();
    }
    if let Ok(u) = u64::try_from(i) {
        return u.into();
    }
    // No wider number exists in JSON as serde knows it; a schema refuses it wherever a whole number is wanted.
    serde_json::Number::from_f64(i as f64).map_or(serde_json::Value::Null, serde_json::Value::Number)
}

/// The entries of a mapping while it is read: keeps the first of each key and states the others as faults.
#[derive(Default)]
pub(crate) struct Entries {
    list: Vec<(Key, Node)>,
    names: BTreeSet<String>,
}

impl Entries {
    pub(crate) fn push(&mut self, key: Key, node: Node) -> Result<(), Fault> {
        if !self.names.insert(key.name.clone()) {
            let message = format!("the key `{}` is given twice", source::shortened(&key.name));
            return Err(Fault::new("duplicate-key", key.span, message)
                .with_label("given before in the same mapping")
                .with_help("remove one of the two"));
        }
        self.list.push((key, node));
        Ok(())
    }

    pub(crate) fn into_value(self) -> Value {
        Value::Object(self.list)
    }
}
