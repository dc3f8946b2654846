//! Streams JSONL, one value a line, and reports the faults of its lines.

use super::decode::{is_authors_own, not_utf8, read};
use super::{Node, Segment, Source, Syntax, json};
use crate::diagnostic::{Diagnostic, Fault};
use crate::diagnostic_groups::DiagnosticGroups;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::io::{BufRead, Read};
use std::ops::Range;

/// The most bytes in a line.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;

/// The code of a file that is not JSONL at all.
pub const NOT_LINES: &str = "not-jsonl";

/// In longer lines only the first fault is reported.
const MAX_SALVAGED_BYTES: usize = 4 << 20;

/// A line of a file, so that checks can point into it.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Line<'a> {
    pub file: &'a str,
    pub number: usize,
    /// The line without its line break.
    pub text: &'a str,
    /// The byte offset of the line in the file.
    pub offset: usize,
    /// The positions of wrong values, which were replaced by stand-ins.
    pub wrong: &'a [Range<usize>],
}

impl Line<'_> {
    /// The line as a node with positions. Parses again, so this is only for lines with faults.
    pub fn parse(&self) -> Option<Node> {
        json::parse_recoverable(self.text).0
    }

    /// Whether the value at this path is the author's own, and not a stand-in.
    pub fn has(&self, path: &[Segment<'_>]) -> bool {
        self.wrong.is_empty() || self.parse().is_some_and(|node| is_authors_own(&node, path, self.wrong))
    }

    /// An error at this path, or at the nearest enclosing value that exists.
    pub fn at(&self, path: &[Segment<'_>], code: &'static str, message: impl Into<String>) -> Diagnostic {
        self.within(self.parse().as_ref(), path, code, message)
    }

    /// Like [`Line::at`], for a line that is already parsed.
    pub fn within(
        &self,
        node: Option<&Node>,
        path: &[Segment<'_>],
        code: &'static str,
        message: impl Into<String>,
    ) -> Diagnostic {
        let span = node.map_or(0..self.text.len(), |node| node.place(path));
        self.source().diagnostic(Fault::new(code, span, message))
    }

    fn source(&self) -> Source<'_> {
        Source::part(self.file, self.text, self.number, self.offset)
    }
}

/// Reads a JSONL file line by line and passes each value to `each`, whose diagnostics are added to the result.
///
/// A line with faults is passed on too, as far as it can be salvaged, so that all its faults are reported at once.
/// Faults of one kind are grouped, and after [`crate::diagnostic_groups::ERROR_LIMIT`] of them reading stops.
///
/// Blank lines are skipped. The type must deny unknown keys, since lines that serde accepts are not checked further.
pub fn decode_lines<T: DeserializeOwned>(
    file: &str,
    reader: impl BufRead,
    schema: &Json,
    each: impl FnMut(usize, T, &Line<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    decode_lines_within(MAX_LINE_BYTES, file, reader, schema, each)
}

pub(super) fn decode_lines_within<T: DeserializeOwned>(
    max_line_bytes: usize,
    file: &str,
    mut reader: impl BufRead,
    schema: &Json,
    mut each: impl FnMut(usize, T, &Line<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut groups = DiagnosticGroups::default();
    let mut buffer = Vec::new();
    let (mut number, mut offset) = (0, 0);
    let mut is_first = true;
    loop {
        if groups.is_full() {
            groups.stop_at(file, number);
            break;
        }
        buffer.clear();
        number += 1;
        let length = match next_line(&mut reader, &mut buffer, max_line_bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) => {
                let message = format!("could not be read after line {number}: {error}");
                groups.push(Diagnostic::of_file(file, "unreadable", message));
                break;
            }
        };
        let mut start = offset;
        offset += length;
        if length > buffer.len() {
            groups.push(too_long(file, number, start, &buffer, max_line_bytes));
            continue;
        }
        let mut bytes = buffer.as_slice();
        if number == 1
            && let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf")
        {
            bytes = rest;
            start += 3;
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.trim_end_matches(['\n', '\r']),
            Err(error) => {
                groups.push(not_utf8(file, bytes, error, number, start));
                continue;
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        let mut line = Line { file, number, text, offset: start, wrong: &[] };
        if std::mem::take(&mut is_first)
            && let Some(fault) = not_lines(text)
        {
            groups.push(line.source().diagnostic(fault));
            break;
        }
        let wrong: Vec<Range<usize>>;
        let value = match serde_json::from_slice(text.as_bytes()) {
            Ok(value) => Some(value),
            // Nodes take far more memory than the line.
            Err(error) if text.len() > MAX_SALVAGED_BYTES => {
                let at = error.column().saturating_sub(1).min(text.len());
                groups.push(line.source().diagnostic(Fault::new("bad-line", at..at, error.to_string())));
                continue;
            }
            Err(_) => {
                let (value, faults) = read(text, Syntax::Json, schema);
                wrong = faults.iter().map(|fault| fault.span.clone()).collect();
                groups.extend(line.source().diagnostics(faults));
                line.wrong = &wrong;
                value.map(|(value, _)| value)
            }
        };
        if let Some(value) = value {
            groups.extend(each(number, value, &line));
        }
    }
    groups.into_diagnostics()
}

/// Reads a line with its line break, and returns its full length, of which the buffer holds no more than the limit.
fn next_line(reader: &mut impl BufRead, buffer: &mut Vec<u8>, limit: usize) -> std::io::Result<usize> {
    let most = u64::try_from(limit).unwrap_or(u64::MAX);
    let length = reader.by_ref().take(most).read_until(b'\n', buffer)?;
    if length < limit || buffer.ends_with(b"\n") {
        return Ok(length);
    }
    Ok(length + reader.skip_until(b'\n')?)
}

fn too_long(file: &str, number: usize, offset: usize, buffer: &[u8], limit: usize) -> Diagnostic {
    let beginning = String::from_utf8_lossy(&buffer[..buffer.len().min(400)]).into_owned();
    let fault = Fault::new("line-too-long", 0..0, format!("a line of more than {limit} bytes"))
        .with_help("write one value on each line");
    Source::part(file, beginning, number, offset).diagnostic(fault)
}

/// The fault of a text whose first line shows that it is not JSONL at all.
fn not_lines(first: &str) -> Option<Fault> {
    let start = first.trim_start();
    let has = |opening: &str| start.get(..opening.len()).is_some_and(|head| head.eq_ignore_ascii_case(opening));
    let (found, help) = if has("<!doctype html") || has("<html") {
        ("HTML", None)
    } else if has("<") {
        ("XML", None)
    } else if has("%PDF-") {
        ("a PDF file", None)
    } else if start.trim_end() == "{" {
        ("JSON over several lines", Some("write each object on a line of its own, such as with `jq -c .`"))
    } else if start.trim_end() == "[" {
        ("a JSON list over several lines", Some("write each item on a line of its own, such as with `jq -c '.[]'`"))
    // A comment gets its own advice from the parser.
    } else if !start.starts_with(['{', '#', '/']) && json::parse_recoverable(start).0.is_none() {
        ("not JSON", None)
    } else {
        return None;
    };
    let at = first.len() - start.len();
    let message = format!("this is {found}; expected one JSON object on each line");
    let fault = Fault::new(NOT_LINES, at..first.trim_end().len(), message);
    Some(Fault { help: help.map(str::to_owned), ..fault })
}
