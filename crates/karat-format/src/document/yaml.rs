//! Parses YAML 1.2 with the core schema and with positions.

use super::{DEPTH_LIMIT, Entries, FaultLog, Key, Node, Stopped, Value, fail_on_faults};
use crate::diagnostic::Fault;
use saphyr_parser::{Event, Marker, Parser, ScalarStyle, Span, StrInput, Tag};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

/// How many values anchors and aliases may add; long texts count more.
const EXPANSION_LIMIT: usize = 1_000_000;

/// Parses one YAML document.
pub fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    fail_on_faults(parse_recoverable(text))
}

/// Parses one YAML document and continues after faults that leave its meaning clear. There is no value if parsing stopped.
pub fn parse_recoverable(text: &str) -> (Option<Node>, Vec<Fault>) {
    let mut reader = Reader {
        events: Parser::new_from_str(text),
        offsets: ByteOffsets::new(text),
        anchors: BTreeMap::new(),
        expanded: 0,
        faults: FaultLog::default(),
    };
    let node = reader.stream().ok();
    (node, reader.faults.0)
}

struct Reader<'a> {
    events: Parser<'a, StrInput<'a>>,
    offsets: ByteOffsets<'a>,
    /// The values of anchors; absent while the value is still being parsed.
    anchors: BTreeMap<usize, Anchored>,
    expanded: usize,
    faults: FaultLog,
}

struct Anchored {
    node: Node,
    weight: usize,
    height: usize,
}

impl<'a> Reader<'a> {
    fn stream(&mut self) -> Result<Node, Stopped> {
        let mut document = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => break,
                Event::DocumentStart(_) if document.is_some() => {
                    let span = self.offsets.span(span);
                    let fault = Fault::new("several-documents", span, "a second YAML document in the same file");
                    let help = "keep one document per file: remove the `---` and everything after it";
                    return self.faults.stop(fault.with_help(help));
                }
                Event::DocumentStart(_) => {
                    let (event, span) = self.next()?;
                    document = Some(self.node(event, span, 0)?);
                }
                _ => {}
            }
        }
        Ok(document.unwrap_or(Node { value: Value::Null, span: 0..0 }))
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Stopped> {
        let (anchor, node, place) = match event {
            Event::Alias(id) => return self.alias(id, span, depth),
            Event::Scalar(text, style, anchor, tag) => {
                let span = self.offsets.span(span);
                let value = self.scalar(text, style, tag.as_deref(), &span);
                (anchor, Node { value, span: span.clone() }, span)
            }
            Event::SequenceStart(anchor, tag) => {
                let open = self.open(span, tag.as_deref(), "seq", depth)?;
                (anchor, self.sequence(&open, depth)?, open)
            }
            Event::MappingStart(anchor, tag) => {
                let open = self.open(span, tag.as_deref(), "map", depth)?;
                (anchor, self.mapping(&open, depth)?, open)
            }
            _ => return Ok(Node { value: Value::Null, span: self.offsets.span(span) }),
        };
        self.remember(anchor, &node, &place)?;
        Ok(node)
    }

    fn sequence(&mut self, open: &Range<usize>, depth: usize) -> Result<Node, Stopped> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                let end = items.last().map_or(open.end, |last| last.span.end);
                let span = open.start..self.close(span, end);
                return Ok(Node { value: Value::Array(items), span });
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, open: &Range<usize>, depth: usize) -> Result<Node, Stopped> {
        let mut entries = Entries::default();
        let mut end = open.end;
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                let span = open.start..self.close(span, end);
                return Ok(Node { value: entries.into_value(), span });
            }
            let key = self.key(event, span, depth)?;
            let (event, span) = self.next()?;
            let mut node = self.node(event, span, depth + 1)?;
            if node.span.is_empty() {
                // The scanner puts a missing value at the next token, perhaps many lines below.
                node.span = key.span.end..key.span.end;
            }
            end = end.max(key.span.end).max(node.span.end);
            entries.push(key, node, &mut self.faults);
        }
    }

    fn key(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Key, Stopped> {
        if let Event::Scalar(text, _, anchor, _) = event {
            let span = self.offsets.span(span);
            let name = text.into_owned();
            if anchor > 0 {
                let node = Node { value: Value::String(name.clone()), span: span.clone() };
                self.remember(anchor, &node, &span)?;
            }
            return Ok(Key { name, span });
        }
        let node = self.node(event, span, depth + 1)?;
        if let Value::String(name) = node.value {
            return Ok(Key { name, span: node.span });
        }
        self.faults
            .stop(Fault::new("complex-key", node.span, "a list or a mapping as a key").with_help("keys are plain text"))
    }

    fn open(&mut self, span: Span, tag: Option<&Tag>, expected: &str, depth: usize) -> Result<Range<usize>, Stopped> {
        let span = self.offsets.span(span);
        if depth >= DEPTH_LIMIT {
            return self.faults.too_deep(span);
        }
        if tag.is_some_and(|tag| !tag.is_yaml_core_schema() || tag.suffix != expected) {
            self.refuse_tag(tag, &span);
        }
        Ok(span)
    }

    /// Where a list or mapping ends: after its bracket, or with its last value if it has none.
    fn close(&self, span: Span, last: usize) -> usize {
        let span = self.offsets.span(span);
        if matches!(self.offsets.text.get(span.clone()), Some("}" | "]")) { span.end } else { last }
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Result<Node, Stopped> {
        let span = self.offsets.span(span);
        let Some(anchored) = self.anchors.get(&id) else {
            return self.faults.stop(Fault::new("recursive-alias", span, "an alias inside its own anchor"));
        };
        if depth + anchored.height > DEPTH_LIMIT {
            return self.faults.too_deep(span);
        }
        let weight = anchored.weight;
        self.charge(weight, &span)?;
        let value = self.anchors.get(&id).map_or(Value::Null, |anchored| anchored.node.value.clone());
        Ok(Node { value, span })
    }

    fn remember(&mut self, anchor: usize, node: &Node, span: &Range<usize>) -> Result<(), Stopped> {
        if anchor > 0 {
            let (weight, height) = measure(node);
            self.charge(weight, span)?;
            self.anchors.insert(anchor, Anchored { node: node.clone(), weight, height });
        }
        Ok(())
    }

    fn charge(&mut self, weight: usize, span: &Range<usize>) -> Result<(), Stopped> {
        self.expanded = self.expanded.saturating_add(weight);
        if self.expanded > EXPANSION_LIMIT {
            let message = format!("anchors and aliases expand to more than {EXPANSION_LIMIT} values");
            let fault = Fault::new("too-many-aliases", span.clone(), message);
            return self.faults.stop(fault.with_help("write the values out instead"));
        }
        Ok(())
    }

    fn scalar(&mut self, text: Cow<'a, str>, style: ScalarStyle, tag: Option<&Tag>, span: &Range<usize>) -> Value {
        let value = match tag {
            None if style == ScalarStyle::Plain => plain(&text),
            None => Value::String(text.into_owned()),
            Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => Value::String(text.into_owned()),
            Some(tag) => {
                let value = plain(&text);
                let fits = matches!(
                    (tag.suffix.as_str(), &value),
                    ("null", Value::Null)
                        | ("bool", Value::Bool(_))
                        | ("int", Value::Int(_))
                        | ("float", Value::Int(_) | Value::Float(_))
                );
                if !fits || !tag.is_yaml_core_schema() {
                    self.refuse_tag(Some(tag), span);
                }
                value
            }
        };
        if let Value::Float(number) = value
            && !number.is_finite()
        {
            self.faults.add(Fault::new("not-finite", span.clone(), "expected a finite number"));
        }
        value
    }

    fn refuse_tag(&mut self, tag: Option<&Tag>, span: &Range<usize>) {
        let name = tag.map_or_else(String::new, ToString::to_string);
        let message = format!("unexpected tag `{}`", super::source::truncated(&name));
        self.faults.add(Fault::new("unknown-tag", span.clone(), message).with_help("remove the tag"));
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Stopped> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => {
                let at = self.offsets.offset(error.marker());
                if error.info().contains("recursion limit") {
                    return self.faults.too_deep(at..at);
                }
                let quoted = self.offsets.quoted_line(at);
                let what = match error.info() {
                    "mapping values are not allowed in this context" if quoted.is_some() => {
                        "a colon within text that is not quoted"
                    }
                    info => info,
                };
                let tabs = self.offsets.tab_before(at) || error.info().contains("found a tab");
                let help = match quoted {
                    _ if tabs => Some("indent with spaces: YAML does not allow tabs".to_owned()),
                    quoted => quoted.map(|line| format!("quote the text: {line}")),
                };
                let fault = Fault::new("syntax", at..at, format!("not valid YAML: {what}"));
                self.faults.stop(Fault { help, ..fault })
            }
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }
}

/// The number of values of a node, where long texts count more, and its nesting depth.
fn measure(node: &Node) -> (usize, usize) {
    let over = |parts: &mut dyn Iterator<Item = (usize, usize)>| {
        parts.fold((1usize, 1usize), |(weight, height), (w, h)| (weight.saturating_add(w), height.max(h + 1)))
    };
    match &node.value {
        Value::String(text) => (1 + text.len() / 64, 0),
        Value::Array(items) => over(&mut items.iter().map(measure)),
        Value::Object(entries) => over(&mut entries.iter().map(|(key, child)| {
            let (weight, height) = measure(child);
            (weight + 1 + key.name.len() / 64, height)
        })),
        _ => (1, 0),
    }
}

/// The value of an unquoted scalar in the core schema.
fn plain(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Value::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Value::Float(f64::NEG_INFINITY),
        ".nan" | ".NaN" | ".NAN" => return Value::Float(f64::NAN),
        _ => {}
    }
    number(text).unwrap_or_else(|| Value::String(text.to_owned()))
}

fn number(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            // `from_str_radix` would accept a sign, which the core schema does not allow here.
            let clean = digits.bytes().all(|b| b.is_ascii_alphanumeric());
            return clean.then(|| i128::from_str_radix(digits, radix).ok()).flatten().map(Value::Int);
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        || !unsigned.contains(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    if unsigned.bytes().all(|b| b.is_ascii_digit())
        && let Ok(whole) = text.parse()
    {
        return Some(Value::Int(whole));
    }
    // Rust parses the remaining floats of the core schema, apart from the words for non-finite ones.
    let shaped = unsigned.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'));
    shaped.then(|| text.parse().ok()).flatten().map(Value::Float)
}

/// Converts the scanner's positions, counted in characters, to byte offsets.
struct ByteOffsets<'a> {
    text: &'a str,
    /// The byte offset of every [`ByteOffsets::STEP`]th character; empty for ASCII text.
    marks: Vec<usize>,
}

impl<'a> ByteOffsets<'a> {
    const STEP: usize = 64;

    fn new(text: &'a str) -> Self {
        let marks = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().step_by(Self::STEP).map(|(at, _)| at).collect()
        };
        Self { text, marks }
    }

    fn span(&self, span: Span) -> Range<usize> {
        let start = self.offset(&span.start);
        start..self.offset(&span.end).max(start)
    }

    fn offset(&self, marker: &Marker) -> usize {
        let index = marker.index();
        if self.marks.is_empty() {
            return index.min(self.text.len());
        }
        let Some(base) = self.marks.get(index / Self::STEP) else { return self.text.len() };
        let rest = &self.text[*base..];
        rest.char_indices().nth(index % Self::STEP).map_or(self.text.len(), |(at, _)| base + at)
    }

    /// The line of a position with its text quoted, if the text has a character that YAML gives a meaning.
    fn quoted_line(&self, at: usize) -> Option<String> {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[start..].lines().next()?.trim().trim_start_matches("- ");
        let (key, text) = line.split_once(": ")?;
        let text = text.trim();
        let has_meaning = text.starts_with(['@', '`', '%', '*', '&', '!', '[', '{', '-', '?', '\'', '"'])
            || text.contains(": ")
            || text.ends_with(':');
        if !has_meaning || line.len() > 200 {
            return None;
        }
        let inner = ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
        Some(format!("{key}: {}", serde_json::Value::from(inner.unwrap_or(text))))
    }

    /// Whether the line of a position is indented by a tab.
    fn tab_before(&self, at: usize) -> bool {
        let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        self.text[line..].trim_start_matches(' ').starts_with('\t')
    }
}
