//! Decodes a text into a Rust value, or reports everything that is wrong with it.

use super::{Key, Node, Segment, Source, Value, fail_on_faults, json, salvage, schema, toml, yaml};
use crate::diagnostic::{Diagnostic, Fault};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::ops::Range;

/// The syntax of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Syntax {
    Yaml,
    Toml,
    Json,
}

/// A parsed file, so that later checks can point into it.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Document {
    pub node: Node,
    pub source: Source<'static>,
    /// The positions of wrong values, which were replaced by stand-ins.
    pub wrong: Vec<Range<usize>>,
}

impl Document {
    /// Whether the value at this path is the author's own, and not a stand-in.
    pub fn has(&self, path: &[Segment<'_>]) -> bool {
        is_authors_own(&self.node, path, &self.wrong)
    }

    /// An error at this path, or at the nearest enclosing value that exists.
    pub fn at(&self, path: &[Segment<'_>], code: &'static str, message: impl Into<String>) -> Diagnostic {
        self.source.diagnostic(Fault::new(code, self.node.place(path), message))
    }
}

pub(super) fn is_authors_own(node: &Node, path: &[Segment<'_>], wrong: &[Range<usize>]) -> bool {
    wrong.is_empty() || node.get(path).is_some_and(|there| !wrong.contains(&there.span))
}

/// The schema of a type, for [`decode`]; build it once for many files.
pub fn schema_of<T: JsonSchema>() -> Json {
    schemars::schema_for!(T).to_value()
}

/// A value and everything that is wrong with its file. With faults, the value only serves to find further ones.
pub struct Decoded<T> {
    /// The value and its document.
    pub value: Option<(T, Document)>,
    /// The faults; if empty, the value is complete.
    pub faults: Vec<Diagnostic>,
}

impl<T> Decoded<T> {
    /// The value, if there are no faults.
    pub fn into_result(self) -> Result<(T, Document), Vec<Diagnostic>> {
        fail_on_faults((self.value, self.faults))
    }
}

/// Decodes a text. The schema must be that of the type.
pub fn decode<T: DeserializeOwned>(file: &str, text: &str, syntax: Syntax, schema: &Json) -> Decoded<T> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source = Source::part(file, body, 1, text.len() - body.len());
    let (value, faults) = read(source.text(), syntax, schema);
    let wrong: Vec<Range<usize>> = faults.iter().map(|fault| fault.span.clone()).collect();
    let faults = source.diagnostics(faults);
    let value = value.map(|(value, node)| (value, Document { node, source: source.into_owned(), wrong }));
    Decoded { value, faults }
}

/// Like [`decode`], for bytes.
pub fn decode_bytes<T: DeserializeOwned>(file: &str, bytes: &[u8], syntax: Syntax, schema: &Json) -> Decoded<T> {
    match std::str::from_utf8(bytes) {
        Ok(text) => decode(file, text, syntax, schema),
        Err(error) => Decoded { value: None, faults: vec![not_utf8(file, bytes, error, 1, 0)] },
    }
}

pub(super) fn not_utf8(file: &str, bytes: &[u8], error: std::str::Utf8Error, line: usize, base: usize) -> Diagnostic {
    let at = error.valid_up_to();
    // Only this line is decoded leniently, so that a large file is not copied.
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

pub(super) fn read<T: DeserializeOwned>(text: &str, syntax: Syntax, schema: &Json) -> (Option<(T, Node)>, Vec<Fault>) {
    if syntax != Syntax::Toml && text.trim().is_empty() {
        return (None, vec![Fault::new("empty-file", 0..0, "the file is empty")]);
    }
    let (node, mut faults) = match syntax {
        Syntax::Yaml => yaml::parse_recoverable(text),
        Syntax::Toml => toml::parse_recoverable(text),
        Syntax::Json => json::parse_recoverable(text),
    };
    let Some(node) = node else { return (None, faults) };
    let mut found = schema::check(&node, schema, text);
    if syntax == Syntax::Toml && faults.iter().any(|fault| matches!(fault.code, "syntax" | "too-deep")) {
        // What is on a broken line may be missing or wrong, so further faults there are not reported.
        let broken: Vec<Range<usize>> = faults.iter().map(|fault| line_of(text, fault.span.start)).collect();
        found.retain(|f| f.code != "missing-key" && !broken.iter().any(|line| line.contains(&f.span.start)));
    }
    faults.extend(found);
    if faults.is_empty() {
        return match from_node(&node) {
            Ok(value) => (Some((value, node)), faults),
            Err(fault) => (None, vec![fault]),
        };
    }
    let salvaged = salvage::salvage(&node, schema);
    let value = salvaged.and_then(|json| serde_json::from_slice(json.to_string().as_bytes()).ok());
    (value.map(|value| (value, node)), faults)
}

fn line_of(text: &str, at: usize) -> Range<usize> {
    let at = text.floor_char_boundary(at);
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    start..text[at..].find('\n').map_or(text.len(), |newline| at + newline) + 1
}

/// The value of a node that matches the schema. The fault is one of a rule in the type's own code.
///
/// Serde reports the line where it stopped, so the node is written with one token a line to find it again.
fn from_node<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    let mut text = String::new();
    let mut places = Vec::new();
    write_lines(node, &mut text, &mut places);
    serde_json::from_slice(text.as_bytes()).map_err(|error| {
        let whole = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let message = whole.strip_suffix(&suffix).unwrap_or(&whole).to_owned();
        let span = places.get(error.line().saturating_sub(1)).cloned().unwrap_or(node.span.clone());
        Fault::new("invalid-value", span, message)
    })
}

fn write_lines(node: &Node, text: &mut String, places: &mut Vec<Range<usize>>) {
    // Serde skips to the next token before it reports a position, so a comma or bracket stands for the value before it.
    let sign = |text: &mut String, places: &mut Vec<Range<usize>>, sign: &str, span: &Range<usize>| {
        text.push_str(sign);
        text.push('\n');
        places.push(span.clone());
    };
    let (open, children, close): (_, Vec<(Option<&Key>, &Node)>, _) = match &node.value {
        Value::Array(items) => ("[", items.iter().map(|item| (None, item)).collect(), "]"),
        Value::Object(entries) => ("{", entries.iter().map(|(key, child)| (Some(key), child)).collect(), "}"),
        _ => return sign(text, places, &node.to_json().to_string(), &node.span),
    };
    let mut before = &node.span;
    sign(text, places, open, before);
    for (index, (key, child)) in children.into_iter().enumerate() {
        if index > 0 {
            sign(text, places, ",", before);
        }
        if let Some(key) = key {
            sign(text, places, &format!("{}:", Json::String(key.name.clone())), &key.span);
        }
        write_lines(child, text, places);
        before = &child.span;
    }
    sign(text, places, close, before);
}
