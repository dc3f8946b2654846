//! Streams JSONL, one value a line, and reports all faults of all lines.

use super::decode::{is_authors_own, not_utf8, read};
use super::{Fault, Node, Segment, Source, Syntax, json};
use crate::diagnostic::{Diagnostic, Level};
use karat_core::wording::plural;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::io::{BufRead, Read};
use std::ops::Range;

/// The most bytes in a line.
pub(super) const MAX_LINE_BYTES: usize = 64 << 20;
/// The most diagnostics; further ones are counted.
pub(super) const MAX_DIAGNOSTICS: usize = 200;

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
///
/// Blank lines are skipped. The type must deny unknown keys, since lines that serde accepts are not checked further.
pub fn decode_lines<T: DeserializeOwned>(
    file: &str,
    reader: impl BufRead,
    schema: &Json,
    each: impl FnMut(usize, T, &Line<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    decode_lines_within(MAX_LINE_BYTES, MAX_DIAGNOSTICS, file, reader, schema, each)
}

pub(super) fn decode_lines_within<T: DeserializeOwned>(
    max_line_bytes: usize,
    max_diagnostics: usize,
    file: &str,
    mut reader: impl BufRead,
    schema: &Json,
    mut each: impl FnMut(usize, T, &Line<'_>) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let mut capped = CappedDiagnostics { limit: max_diagnostics, diagnostics: Vec::new(), more: 0, worst: Level::Note };
    let mut buffer = Vec::new();
    let (mut number, mut offset) = (0, 0);
    loop {
        buffer.clear();
        number += 1;
        let length = match next_line(&mut reader, &mut buffer, max_line_bytes) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) => {
                let message = format!("could not be read after line {number}: {error}");
                capped.push(Diagnostic::of_file(file, "unreadable", message));
                break;
            }
        };
        let mut start = offset;
        offset += length;
        if length > buffer.len() {
            capped.push(too_long(file, number, start, &buffer, max_line_bytes));
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
                capped.push(not_utf8(file, bytes, error, number, start));
                continue;
            }
        };
        if text.trim().is_empty() {
            continue;
        }
        let mut line = Line { file, number, text, offset: start, wrong: &[] };
        let wrong: Vec<Range<usize>>;
        let value = match serde_json::from_str(text) {
            Ok(value) => Some(value),
            // Nodes take far more memory than the line.
            Err(error) if text.len() > MAX_SALVAGED_BYTES => {
                let at = error.column().saturating_sub(1).min(text.len());
                capped.push(line.source().diagnostic(Fault::new("bad-line", at..at, error.to_string())));
                continue;
            }
            Err(_) => {
                let (value, faults) = read(text, Syntax::Json, schema);
                wrong = faults.iter().map(|fault| fault.span.clone()).collect();
                line.source().diagnostics(faults).into_iter().for_each(|d| capped.push(d));
                line.wrong = &wrong;
                value.map(|(value, _)| value)
            }
        };
        if let Some(value) = value {
            each(number, value, &line).into_iter().for_each(|d| capped.push(d));
        }
    }
    capped.into_diagnostics(file)
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

struct CappedDiagnostics {
    limit: usize,
    diagnostics: Vec<Diagnostic>,
    more: usize,
    worst: Level,
}

impl CappedDiagnostics {
    fn push(&mut self, diagnostic: Diagnostic) {
        if self.diagnostics.len() < self.limit {
            self.diagnostics.push(diagnostic);
        } else {
            self.more += 1;
            self.worst = self.worst.min(diagnostic.level);
        }
    }

    fn into_diagnostics(mut self, file: &str) -> Vec<Diagnostic> {
        if self.more > 0 {
            let message = format!("{} not shown", plural(self.more, "more error is", "more errors are"));
            // Has the worst level of them, so that an error which is not shown still rejects the file.
            self.diagnostics.push(Diagnostic::of_file(file, "more-faults", message).with_level(self.worst));
        }
        self.diagnostics
    }
}
