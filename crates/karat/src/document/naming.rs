//! What a message calls a value, and where it points.

use super::source::shortened;
use super::{Key, Node, Value};

/// What the value under check is called.
#[derive(Clone, Copy, Default)]
pub(super) struct Place<'n> {
    /// The key it lies under.
    pub(super) key: Option<&'n Key>,
    /// Whether it is an item of the list under that key.
    pub(super) item: bool,
}

impl Place<'_> {
    /// ` for `line_start``, ` for an item of `cwe``, or nothing at the top.
    pub(super) fn for_it(&self) -> String {
        match self.key {
            None => String::new(),
            Some(key) if self.item => format!(" for an item of `{}`", shortened(&key.name)),
            Some(key) => format!(" for `{}`", shortened(&key.name)),
        }
    }

    /// ` in `pr``, ` in an item of `issues``, or nothing at the top.
    pub(super) fn in_it(&self) -> String {
        self.for_it().replacen(" for ", " in ", 1)
    }
}

/// Where to point for a value: at its key where it takes no room itself.
pub(super) fn span(node: &Node, place: Place<'_>) -> std::ops::Range<usize> {
    match place.key {
        Some(key) if node.span.is_empty() && !place.item => key.span.clone(),
        _ => node.span.clone(),
    }
}

/// The value as a message calls it.
pub(super) fn seen(node: &Node) -> String {
    match &node.value {
        Value::Null => "nothing".into(),
        Value::Bool(b) => format!("`{b}`"),
        Value::Int(i) => format!("the number {i}"),
        Value::Float(f) => format!("the number {f:?}"),
        Value::String(text) => format!("the text \"{}\"", shortened(text)),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "a mapping".into(),
    }
}
