//! From a text to a Rust value, or to all the reasons why not.

use super::{Fault, Node, Parsed, Segment, Source, Value, json, salvage, schema, toml, yaml};
use crate::diagnostic::Diagnostic;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::ops::Range;

/// The language a file is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// YAML 1.2.
    Yaml,
    /// TOML 1.1.
    Toml,
    /// JSON.
    Json,
}

/// A parsed file, kept so that later checks can point into it.
#[derive(Clone, Debug)]
pub struct Document {
    /// What the file says, with places.
    pub node: Node,
    /// The file's text.
    pub source: Source<'static>,
    /// The places that were wrong; stand-ins took them in the value.
    pub wrong: Vec<Range<usize>>,
}

impl Document {
    /// Whether the value at that place is the author's own, and not a stand-in.
    pub fn has(&self, path: &[Segment<'_>]) -> bool {
        own(&self.node, path, &self.wrong)
    }

    /// An error at that place, or at the nearest value around it that exists.
    pub fn at(&self, path: &[Segment<'_>], code: &'static str, message: impl Into<String>) -> Diagnostic {
        self.source.diagnostic(Fault::new(code, self.node.place(path), message))
    }
}

/// Whether the value at that place is there, and not among those that were wrong.
pub(super) fn own(node: &Node, path: &[Segment<'_>], wrong: &[Range<usize>]) -> bool {
    wrong.is_empty() || node.get(path).is_some_and(|there| !wrong.contains(&there.span))
}

/// The schema of a type, for [`decode`]; make it once and use it for many files.
pub fn schema_of<T: JsonSchema>() -> Json {
    schemars::schema_for!(T).to_value()
}

/// A value and all that is wrong with its file. With faults, the value is what could be salvaged: good for finding further
/// faults, and never to be used.
pub struct Decoded<T> {
    /// The value, with the places of its parts.
    pub value: Option<(T, Document)>,
    /// What is wrong; empty: the value is whole.
    pub faults: Vec<Diagnostic>,
}

impl<T> Decoded<T> {
    /// The value, if nothing is wrong.
    pub fn whole(self) -> Result<(T, Document), Vec<Diagnostic>> {
        match self.value {
            Some(value) if self.faults.is_empty() => Ok(value),
            _ => Err(self.faults),
        }
    }
}

/// Reads a text as a value of the type that the schema is of.
pub fn decode<T: DeserializeOwned>(file: &str, text: &str, syntax: Syntax, schema: &Json) -> Decoded<T> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::part(file, body, 1, text.len() - body.len());
    let read = read(source.text(), syntax, schema);
    let wrong: Vec<Range<usize>> = read.faults.iter().map(|fault| fault.span.clone()).collect();
    let faults = source.diagnostics(read.faults);
    let value = read.value.map(|(value, node)| (value, Document { node, source: source.into_owned(), wrong }));
    Decoded { value, faults }
}

/// Reads the bytes of a file as [`decode`] does.
pub fn decode_bytes<T: DeserializeOwned>(file: &str, bytes: &[u8], syntax: Syntax, schema: &Json) -> Decoded<T> {
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(file, text, syntax, schema),
        Err(error) => Decoded { value: None, faults: vec![not_utf8(file, bytes, error, 1, 0)] },
    }
}

/// The fault of bytes that are not UTF-8, at the first that is not.
pub(super) fn not_utf8(file: &str, bytes: &[u8], error: std::str::Utf8Error, line: usize, base: usize) -> Diagnostic {
    let at = error.valid_up_to();
    // The line alone is read leniently, so that a file of any size costs no copy.
    let start = bytes[..at].iter().rposition(|b| *b == b'\n').map_or(0, |newline| newline + 1);
    let lines_before = bytes[..start].iter().filter(|b| **b == b'\n').count();
    let valid = std::str::from_utf8(&bytes[start..at]).unwrap_or_default();
    let shown = format!("{valid}\u{fffd}");
    let bad = bytes.get(at).copied().unwrap_or_default();
    let fault = Fault::new("not-utf8", valid.len()..shown.len(), format!("the byte 0x{bad:02x} is not UTF-8 text"))
        .with_help("save the file as UTF-8");
    let diagnostic = Source::part(file, shown, line + lines_before, base + start).diagnostic(fault);
    Diagnostic { span: Some(base + at..base + at + 1), ..diagnostic }
}

/// A value with its places, and the faults of its text.
pub(super) struct Read<T> {
    pub(super) value: Option<(T, Node)>,
    pub(super) faults: Vec<Fault>,
}

pub(super) fn read<T: DeserializeOwned>(text: &str, syntax: Syntax, schema: &Json) -> Read<T> {
    let Parsed { node, mut faults } = match syntax {
        Syntax::Yaml => yaml::parse_recoverable(text),
        Syntax::Toml => toml::parse_recoverable(text),
        Syntax::Json => json::parse_recoverable(text),
    };
    if syntax != Syntax::Toml && text.trim().is_empty() {
        return Read { value: None, faults: vec![Fault::new("empty-file", 0..0, "the file is empty")] };
    }
    let Some(node) = node else { return Read { value: None, faults } };
    let mut found = schema::check(&node, schema, text);
    if syntax == Syntax::Toml && faults.iter().any(|fault| matches!(fault.code, "syntax" | "too-deep")) {
        // What lies on a broken line may be missing from the table or wrong in it, and must not be held against the file.
        let broken: Vec<Range<usize>> = faults.iter().map(|fault| line_of(text, fault.span.start)).collect();
        found.retain(|f| f.code != "missing-key" && !broken.iter().any(|line| line.contains(&f.span.start)));
    }
    faults.extend(found);
    let json = if faults.is_empty() { Some(node.to_json()) } else { salvage::salvage(&node, schema) };
    match json.map(serde_json::from_value) {
        Some(Ok(value)) => Read { value: Some((value, node)), faults },
        Some(Err(error)) if faults.is_empty() => {
            Read { value: None, faults: vec![leftover::<T>(&node, &error.to_string())] }
        }
        _ => Read { value: None, faults },
    }
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    start..text[at..].find('\n').map_or(text.len(), |newline| at + newline) + 1
}

/// The fault of a value that follows the schema but not the type: a rule that only the type's own code knows.
///
/// Serde says where in a text it stopped, so the node is written out with one sign on each line, and the line tells the node.
fn leftover<T: DeserializeOwned>(node: &Node, message: &str) -> Fault {
    let mut text = String::new();
    let mut places = Vec::new();
    write_lines(node, &mut text, &mut places);
    let (span, message) = match serde_json::from_str::<T>(&text) {
        Ok(_) => (node.span.clone(), message.to_owned()),
        Err(error) => {
            let whole = error.to_string();
            let suffix = format!(" at line {} column {}", error.line(), error.column());
            let said = whole.strip_suffix(&suffix).unwrap_or(&whole).to_owned();
            (places.get(error.line().saturating_sub(1)).cloned().unwrap_or(node.span.clone()), said)
        }
    };
    Fault::new("invalid-value", span, message)
}

fn write_lines(node: &Node, text: &mut String, places: &mut Vec<Range<usize>>) {
    // Serde skips to the next sign before it says where it is, so a comma or bracket stands for the value before it.
    let sign = |text: &mut String, places: &mut Vec<Range<usize>>, sign: &str, span: &Range<usize>| {
        text.push_str(sign);
        text.push('\n');
        places.push(span.clone());
    };
    let mut before = &node.span;
    match &node.value {
        Value::Array(items) => {
            sign(text, places, "[", before);
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    sign(text, places, ",", before);
                }
                write_lines(item, text, places);
                before = &item.span;
            }
            sign(text, places, "]", before);
        }
        Value::Object(entries) => {
            sign(text, places, "{", before);
            for (index, (key, child)) in entries.iter().enumerate() {
                if index > 0 {
                    sign(text, places, ",", before);
                }
                sign(text, places, &format!("{}:", Json::String(key.name.clone())), &key.span);
                write_lines(child, text, places);
                before = &child.span;
            }
            sign(text, places, "}", before);
        }
        _ => sign(text, places, &node.to_json().to_string(), before),
    }
}
