//! A reader that stops hostile input with an error before it can fill the memory.

use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::io::{self, Read};

/// Limits on the size of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one JSON string, for input that starts like JSON; `None` for no limit.
    pub string: Option<u64>,
    /// Bytes of the whole text.
    pub total: u64,
    /// Bytes of the whole text if it was compressed: a few kilobytes may expand to more than any memory.
    pub unpacked: u64,
    /// Advice for a text that is too long.
    pub help: &'static str,
}

impl Default for Limits {
    fn default() -> Self {
        let help = "split it, or unpack it first with `gunzip` if it is the right file";
        Self { string: Some(16 << 20), total: 16 << 30, unpacked: 256 << 20, help }
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(super) struct GuardError {
    pub(super) position: Position,
    pub(super) message: String,
}

/// The deepest nesting. Parsers that skip a value hold a byte for each level.
const MAX_DEPTH: usize = 512;

const BINARY_CHECK_BYTES: u64 = 8192;

pub(super) struct GuardedReader<R> {
    inner: R,
    limits: Limits,
    total: u64,
    /// Whether the text starts like JSON; `None` until known.
    json: Option<bool>,
    position: Position,
    depth: usize,
    /// The start and length so far of the open string.
    string: Option<(Position, u64)>,
    /// Whether the last byte was a backslash within a string.
    escaped: bool,
}

/// Counted from 1; 0 for no position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

impl Position {
    /// The position of `block[at]`, if this is the position of `block[0]`.
    fn within(self, block: &[u8], at: usize) -> Self {
        let before = &block[..at];
        match memrchr(b'\n', before) {
            Some(newline) => Self { line: self.line + memchr_iter(b'\n', before).count(), column: at - newline },
            None => Self { line: self.line, column: self.column + at },
        }
    }

    fn error(self, message: String) -> GuardError {
        GuardError { position: self, message }
    }
}

impl<R: Read> GuardedReader<R> {
    pub(super) fn new(inner: R, limits: Limits) -> Self {
        let json = limits.string.is_none().then_some(false);
        let position = Position { line: 1, column: 1 };
        Self { inner, limits, total: 0, json, position, depth: 0, string: None, escaped: false }
    }

    fn check(&mut self, block: &[u8]) -> Result<(), GuardError> {
        let no_position = Position { line: 0, column: 0 };
        if self.total < BINARY_CHECK_BYTES && memchr(0, block).is_some() {
            return Err(no_position.error("this is not text: it contains zero bytes; is it the right file?".to_owned()));
        }
        self.total += block.len() as u64;
        if self.total > self.limits.total {
            let limit = self.limits.total;
            let help = self.limits.help;
            let message = format!("the text is longer than {limit} bytes, the limit for one input; {help}");
            return Err(no_position.error(message));
        }
        if self.json.is_none() {
            self.json = block.iter().find(|byte| !byte.is_ascii_whitespace()).map(|byte| matches!(byte, b'{' | b'['));
        }
        if self.json == Some(true) {
            self.check_json(block)?;
            self.position = self.position.within(block, block.len());
        }
        Ok(())
    }

    fn check_json(&mut self, block: &[u8]) -> Result<(), GuardError> {
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
                    if self.depth > MAX_DEPTH {
                        let message = format!("nested more than {MAX_DEPTH} levels deep; no known format does that");
                        return Err(self.position.within(block, at).error(message));
                    }
                }
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                _ => (),
            }
            at += 1;
        }
        Ok(())
    }

    /// Skips from `from`, which lies within a string, to the end of the string or of the block.
    fn pass_string(&mut self, block: &[u8], from: usize, open: Option<(Position, u64)>) -> Result<usize, GuardError> {
        let (end, closed) = string_end(block, from, &mut self.escaped);
        let length = open.map_or(0, |(_, length)| length) + (end - from) as u64;
        let position = self.position;
        let start = || open.map_or_else(|| position.within(block, from.saturating_sub(1)), |(start, _)| start);
        if let Some(limit) = self.limits.string.filter(|&limit| length > limit) {
            let message = format!("a string of more than {limit} bytes starts here, which is too long for a finding");
            return Err(start().error(message));
        }
        if closed {
            return Ok(end + 1);
        }
        self.string = Some((start(), length));
        Ok(end)
    }
}

/// Where the string around `from` ends within the block, and whether it does.
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

impl<R: Read> Read for GuardedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.check(&buffer[..count]).map_err(io::Error::other)?;
        Ok(count)
    }
}
