//! How messages refer to a value.

use super::source::truncated;
use super::{Key, Node, Value};

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
pub(super) fn span(node: &Node, context: ValueContext<'_>) -> std::ops::Range<usize> {
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
