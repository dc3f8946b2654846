//! A reader that ends a hostile text with an error before it can fill the memory.

use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::io::{self, Read};

/// How much of an input is taken before it is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one JSON string. It is applied to input that starts as JSON does; `None` applies it to none.
    pub string: Option<u64>,
    /// Bytes of the whole text.
    pub total: u64,
    /// Bytes of the whole text where it was compressed: a file of a few kilobytes may hold more than any memory.
    pub unpacked: u64,
    /// What to do about a text that is too long.
    pub help: &'static str,
}

impl Default for Limits {
    fn default() -> Self {
        let help = "split it, or unpack it first with `gunzip` if it is what it should be";
        Self { string: Some(16 << 20), total: 16 << 30, unpacked: 256 << 20, help }
    }
}

/// Why an input was refused, and where.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct Refusal {
    /// The line, counted from 1; 0 where it is of no use.
    pub(super) line: usize,
    /// The column, counted from 1; 0 where it is of no use.
    pub(super) column: usize,
    /// What was seen and what to do.
    pub(super) message: String,
}

/// How deep arrays and objects may lie in each other. Parsers that skip a value hold a byte for each level.
const DEPTH: usize = 512;

/// How far into the text zero bytes are looked for.
const FIRST: u64 = 8192;

/// Passes a text on while it watches its size, its strings and its nesting.
pub(super) struct Guard<R> {
    inner: R,
    limits: Limits,
    total: u64,
    /// Whether the text starts as JSON does; `None` until that is known.
    json: Option<bool>,
    place: Place,
    depth: usize,
    /// Where the open string started and how long it is so far.
    string: Option<(Place, u64)>,
    /// Whether the last byte was a backslash within a string.
    escaped: bool,
}

/// A place in the text.
#[derive(Clone, Copy)]
struct Place {
    line: usize,
    column: usize,
}

impl Place {
    /// The place of `block[at]`, when this is the place of `block[0]`.
    fn within(self, block: &[u8], at: usize) -> Self {
        let before = &block[..at];
        match memrchr(b'\n', before) {
            Some(newline) => Self { line: self.line + memchr_iter(b'\n', before).count(), column: at - newline },
            None => Self { line: self.line, column: self.column + at },
        }
    }

    fn refuse(self, message: String) -> Refusal {
        Refusal { line: self.line, column: self.column, message }
    }
}

impl<R: Read> Guard<R> {
    pub(super) fn new(inner: R, limits: Limits) -> Self {
        let json = limits.string.is_none().then_some(false);
        let place = Place { line: 1, column: 1 };
        Self { inner, limits, total: 0, json, place, depth: 0, string: None, escaped: false }
    }

    fn watch(&mut self, block: &[u8]) -> Result<(), Refusal> {
        let nowhere = Place { line: 0, column: 0 };
        if self.total < FIRST && memchr(0, block).is_some() {
            return Err(
                nowhere.refuse("this is not text: there are zero bytes in it; is it the right file?".to_owned())
            );
        }
        self.total += block.len() as u64;
        if self.total > self.limits.total {
            let limit = self.limits.total;
            let help = self.limits.help;
            let message = format!("the text is longer than {limit} bytes, more than is taken from one input; {help}");
            return Err(nowhere.refuse(message));
        }
        if self.json.is_none() {
            self.json = block.iter().find(|byte| !byte.is_ascii_whitespace()).map(|byte| matches!(byte, b'{' | b'['));
        }
        if self.json == Some(true) {
            self.watch_json(block)?;
            self.place = self.place.within(block, block.len());
        }
        Ok(())
    }

    fn watch_json(&mut self, block: &[u8]) -> Result<(), Refusal> {
        let mut at = match self.string.take() {
            Some(open) => self.pass_string(block, 0, Some(open))?,
            None => 0,
        };
        while at < block.len() {
            match block[at] {
                b'"' => {
                    at = self.pass_string(block, at + 1, None)?;
                    continue;
                }
                b'[' | b'{' => {
                    self.depth += 1;
                    if self.depth > DEPTH {
                        let message = format!("nested more than {DEPTH} levels deep; no known format does that");
                        return Err(self.place.within(block, at).refuse(message));
                    }
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => (),
            }
            at += 1;
        }
        Ok(())
    }

    /// Goes on from `from`, which lies within a string, to what follows the string or to the end of the block.
    fn pass_string(&mut self, block: &[u8], from: usize, open: Option<(Place, u64)>) -> Result<usize, Refusal> {
        let (end, closed) = string_end(block, from, &mut self.escaped);
        let length = open.map_or(0, |(_, length)| length) + (end - from) as u64;
        let place = self.place;
        let start = || open.map_or_else(|| place.within(block, from.saturating_sub(1)), |(start, _)| start);
        if let Some(limit) = self.limits.string.filter(|&limit| length > limit) {
            let message = format!("a string of more than {limit} bytes starts here; what is this long is no finding");
            return Err(start().refuse(message));
        }
        if closed {
            return Ok(end + 1);
        }
        self.string = Some((start(), length));
        Ok(end)
    }
}

/// Where the string that `from` lies in ends within the block, and whether it does.
fn string_end(block: &[u8], from: usize, escaped: &mut bool) -> (usize, bool) {
    let mut at = from;
    loop {
        if *escaped && at < block.len() {
            *escaped = false;
            at += 1;
        }
        match memchr2(b'"', b'\\', &block[at..]) {
            None => return (block.len(), false),
            Some(found) if block[at + found] == b'"' => return (at + found, true),
            Some(found) => {
                *escaped = true;
                at += found + 1;
            }
        }
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.watch(&buffer[..count]).map_err(io::Error::other)?;
        Ok(count)
    }
}
