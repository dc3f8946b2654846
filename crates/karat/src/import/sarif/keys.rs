//! Writing identity keys into a SARIF document.
//!
//! The document is read twice: once for the rules and addresses, which may stand after the results, and once to copy it.
//! The copy is made byte by byte, so that all that is not a key stays exactly as it was written; only one result at a time is
//! held.

mod splice;

use super::document::{Document, Reader, Rest};
use super::model::Item;
use super::tables::Tables;
use crate::import::json::{self, Object};
use crate::import::{ImportError, input};
use karat_core::identity::key;
use karat_core::profile::IdentityRules;
use memchr::memchr2;
use std::io::{self, Read, Write};
use std::path::Path;

/// Copies a SARIF document as plain UTF-8 and gives each result its key as `partialFingerprints["karatIdentity/v2"]`. Tells
/// how many results have got one; the others lack a file, a rule or a place.
pub fn write_keys(path: &Path, output: &mut dyn Write, rules: &IdentityRules) -> Result<usize, ImportError> {
    if path == Path::new("-") {
        return Err(json::malformed(path, "the document is read twice, so it must be a file; save it first"));
    }
    let mut tables = AllTables(Vec::new());
    json::read_seed(input::open(path)?, Document(&mut tables))?;
    let mut reader = input::open(path)?.reader;
    let mut copy = Copy { state: State::default(), tables: &tables.0, rules, result: Vec::new(), keys: 0 };
    let mut block = vec![0; 64 * 1024];
    let written = |error| ImportError::Io { path: "writing the copy".to_owned(), source: error };
    loop {
        let count = match reader.read(&mut block) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(input::fault(path, error)),
        };
        copy.pass(&block[..count], output).map_err(written)?;
    }
    output.write_all(&copy.result).and_then(|()| output.flush()).map_err(written)?;
    Ok(copy.keys)
}

/// The tables of each run, in order.
struct AllTables(Vec<Tables>);

impl Reader for AllTables {
    type Run = ();

    fn result(&mut self, (): &mut (), _: Item) -> Result<(), String> {
        Ok(())
    }

    fn run(&mut self, (): (), rest: Rest) -> Result<(), String> {
        self.0.push(Tables::new(rest.parts));
        Ok(())
    }
}

/// A copy in the making.
struct Copy<'a> {
    state: State,
    tables: &'a [Tables],
    rules: &'a IdentityRules,
    /// The result that is being read; empty outside of results.
    result: Vec<u8>,
    keys: usize,
}

impl Copy<'_> {
    fn pass(&mut self, block: &[u8], output: &mut dyn Write) -> io::Result<()> {
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
        match self.keyed(&result) {
            Some(text) => {
                self.keys += 1;
                output.write_all(text.as_bytes())
            }
            None => output.write_all(&result),
        }
    }

    fn keyed(&self, result: &[u8]) -> Option<String> {
        let tables = self.tables.get(self.state.run.checked_sub(1)?)?;
        let text = std::str::from_utf8(result).ok()?;
        let Object(item) = serde_json::from_str::<Object<Item>>(text).ok()?;
        let resolved = tables.finding(item, &|_| None)?;
        splice::with_key(text, &key::computed(&resolved.finding, self.rules)?)
    }
}

/// Where in the document the copy has come to. The first reading has made sure that it is valid JSON.
#[derive(Default)]
struct State {
    depth: usize,
    /// How many runs have started.
    run: usize,
    in_string: bool,
    escaped: bool,
    /// Whether the string that is being read may be a key of the document or of a run.
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

/// How deep things lie: document 1, runs 2, run 3, results 4, result 5.
const DOCUMENT: usize = 1;
const RUN: usize = 3;
const RESULT: usize = 5;

/// No key that matters is as long as this, however it is written.
const LONGEST_KEY: usize = 100;

impl State {
    fn in_result(&self) -> bool {
        self.runs && self.results && self.depth >= RESULT
    }

    /// Goes over at least one byte, and gives where to go on.
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
        if self.reading_key && self.key.len() <= LONGEST_KEY {
            self.key.extend_from_slice(&bytes[..bytes.len().min(LONGEST_KEY)]);
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

#[cfg(test)]
mod tests;
