//! Writes identity keys into a SARIF document.
//!
//! The document is read twice: once for the rules and URIs, which may come after the results, and once to copy it. The copy
//! preserves every byte outside the keys, and holds only one result at a time.

use super::document::{Document, Reader, Run};
use super::model::SarifResult;
use super::run_tables::{KEY, RunTables};
use crate::json::{self, By, Object};
use crate::{ImportError, input};
use karat_core::identity::key;
use karat_core::profile::IdentityRules;
use karat_format::ordered_map::OrderedMap;
use memchr::memchr2;
use serde_json::value::RawValue;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::Path;

/// Copies a SARIF document as UTF-8 with a key in each result that has file, rule and location; returns their number.
pub fn write_keys(path: &Path, output: &mut dyn Write, rules: &IdentityRules) -> Result<usize, ImportError> {
    if path == Path::new("-") {
        return Err(json::malformed(path, "the document is read twice, so it must be a file; save it first"));
    }
    let mut tables = TablesOfRuns(Vec::new());
    json::read_seed(input::open(path)?, By::Map(Document(&mut tables)))?;
    let mut reader = input::open(path)?.reader;
    let mut copy = KeyWriter { state: State::default(), tables: &tables.0, rules, result: Vec::new(), keys: 0 };
    let mut block = vec![0; 64 * 1024];
    let written = |error: io::Error| json::malformed(Path::new("writing the copy"), error.to_string());
    loop {
        let count = match reader.read(&mut block) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input::read_error(path, error)),
        };
        copy.copy_block(&block[..count], output).map_err(written)?;
    }
    output.write_all(&copy.result).and_then(|()| output.flush()).map_err(written)?;
    Ok(copy.keys)
}

struct TablesOfRuns(Vec<RunTables>);

impl Reader for TablesOfRuns {
    fn run(&mut self, run: Run, _: bool) -> Result<(), String> {
        self.0.push(RunTables::new(run));
        Ok(())
    }
}

struct KeyWriter<'a> {
    state: State,
    tables: &'a [RunTables],
    rules: &'a IdentityRules,
    result: Vec<u8>,
    keys: usize,
}

impl KeyWriter<'_> {
    fn copy_block(&mut self, block: &[u8], output: &mut dyn Write) -> io::Result<()> {
        let mut from = 0;
        let mut at = 0;
        while at < block.len() {
            let (next, event) = self.state.step(block, at);
            match event {
                Event::None => (),
                Event::ResultStarts => {
                    output.write_all(&block[from..at])?;
                    from = at;
                }
                Event::ResultEnds => {
                    self.result.extend_from_slice(&block[from..next]);
                    from = next;
                    self.finish_result(output)?;
                }
            }
            at = next;
        }
        if self.state.in_result() {
            self.result.extend_from_slice(&block[from..]);
            return Ok(());
        }
        output.write_all(&block[from..])
    }

    fn finish_result(&mut self, output: &mut dyn Write) -> io::Result<()> {
        let result = std::mem::take(&mut self.result);
        match self.add_key(&result) {
            Some(text) => {
                self.keys += 1;
                output.write_all(text.as_bytes())
            }
            None => output.write_all(&result),
        }
    }

    fn add_key(&self, result: &[u8]) -> Option<String> {
        let tables = self.tables.get(self.state.run.checked_sub(1)?)?;
        let text = std::str::from_utf8(result).ok()?;
        let Object(item) = serde_json::from_str::<Object<SarifResult>>(text).ok()?;
        let resolved = tables.finding(item, &|_| None)?;
        with_key(text, &key::computed_key(&resolved.finding, self.rules)?)
    }
}

/// The position in the document, which the first pass has found to be valid JSON.
#[derive(Default)]
struct State {
    depth: usize,
    run: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the current string may be a key of the document or of a run.
    key: Vec<u8>,
    reading_key: bool,
    /// Whether the next string is a key, where that matters.
    key_comes: bool,
    runs: bool,
    results: bool,
}

enum Event {
    None,
    ResultStarts,
    ResultEnds,
}

/// Nesting depths; `runs` and `results` arrays lie between them.
const DOCUMENT: usize = 1;
const RUN: usize = 3;
const RESULT: usize = 5;

/// Longer keys are none of those that matter.
const MAX_KEY_BYTES: usize = 100;

impl State {
    fn in_result(&self) -> bool {
        self.runs && self.results && self.depth >= RESULT
    }

    /// Consumes at least one byte, and returns the next position.
    fn step(&mut self, block: &[u8], at: usize) -> (usize, Event) {
        if self.in_string {
            return (self.pass_string(block, at), Event::None);
        }
        match block[at] {
            b'"' => {
                self.in_string = true;
                self.reading_key = self.key_comes;
                self.key_comes = false;
                self.key.clear();
            }
            opening @ (b'{' | b'[') => {
                self.depth += 1;
                let matters = self.depth == DOCUMENT || (self.depth == RUN && self.runs);
                self.key_comes = matters && opening == b'{';
                self.run += usize::from(self.depth == RUN && self.runs);
                if self.depth == RESULT && self.in_result() {
                    return (at + 1, Event::ResultStarts);
                }
            }
            b'}' | b']' => {
                let ends = self.depth == RESULT && self.in_result();
                self.depth = self.depth.saturating_sub(1);
                if ends {
                    return (at + 1, Event::ResultEnds);
                }
            }
            b',' => self.key_comes = self.depth == DOCUMENT || (self.depth == RUN && self.runs),
            _ => (),
        }
        (at + 1, Event::None)
    }

    fn pass_string(&mut self, block: &[u8], at: usize) -> usize {
        if self.escaped {
            self.escaped = false;
            self.keep(&block[at..=at]);
            return at + 1;
        }
        let Some(found) = memchr2(b'"', b'\\', &block[at..]) else {
            self.keep(&block[at..]);
            return block.len();
        };
        let end = at + found;
        self.keep(&block[at..end]);
        if block[end] == b'\\' {
            self.escaped = true;
            self.keep(b"\\");
        } else {
            self.in_string = false;
            if self.reading_key {
                self.take_key();
            }
        }
        end + 1
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.reading_key && self.key.len() <= MAX_KEY_BYTES {
            self.key.extend_from_slice(&bytes[..bytes.len().min(MAX_KEY_BYTES)]);
        }
    }

    fn take_key(&mut self) {
        self.reading_key = false;
        let quoted = [b"\"", self.key.as_slice(), b"\""].concat();
        let key: String = serde_json::from_slice(&quoted).unwrap_or_default();
        if self.depth == DOCUMENT {
            self.runs = key == "runs";
            self.results = false;
        } else {
            self.results = key == "results";
        }
    }
}

/// The text of a result with the key among its partial fingerprints; `None` when the text is not an object.
fn with_key(result: &str, key: &str) -> Option<String> {
    let value = serde_json::to_string(key).ok()?;
    let members = members_of(result)?;
    let Some(prints) = value_of(result, &members, "partialFingerprints") else {
        return with_member(result, members.is_empty(), "partialFingerprints", &format!("{{\"{KEY}\": {value}}}"));
    };
    let old = &result[prints.clone()];
    let new = match members_of(old) {
        None => format!("{{\"{KEY}\": {value}}}"),
        Some(inner) => match value_of(old, &inner, KEY) {
            Some(range) => replaced(old, range, &value),
            None => with_member(old, inner.is_empty(), KEY, &value)?,
        },
    };
    Some(replaced(result, prints, &new))
}

fn with_member(object: &str, empty: bool, name: &str, value: &str) -> Option<String> {
    let close = object.rfind('}')?;
    let end = object[..close].trim_end().len();
    let comma = if empty { "" } else { ", " };
    Some(replaced(object, end..end, &format!("{comma}\"{name}\": {value}")))
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    [&text[..range.start], by, &text[range.end..]].concat()
}

/// The range of a member's value. Of duplicates the last counts, as in every JSON reader we know.
fn value_of(text: &str, members: &[(String, &RawValue)], name: &str) -> Option<Range<usize>> {
    let (_, value) = members.iter().rev().find(|(key, _)| key == name)?;
    let start = (value.get().as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let range = start..start + value.get().len();
    text.get(range.clone()).map(|_| range)
}

fn members_of(object: &str) -> Option<Vec<(String, &RawValue)>> {
    serde_json::from_str::<OrderedMap<&RawValue>>(object).ok().map(|members| members.0)
}

#[cfg(test)]
mod tests;
