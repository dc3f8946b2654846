//! A JSON parser that keeps positions and reports what it expected.

use super::{DEPTH_LIMIT, Entries, FaultLog, Key, Node, Stopped, Value, fail_on_faults};
use crate::diagnostic::Fault;
use std::ops::Range;

/// The most values in a text; nodes need many times the memory of the text itself.
const VALUE_LIMIT: usize = 5_000_000;

/// Parses one JSON value.
pub fn parse(text: &str) -> Result<Node, Vec<Fault>> {
    fail_on_faults(parse_recoverable(text))
}

/// Parses one JSON value and continues after faults that leave its meaning clear. There is no value if parsing stopped.
pub fn parse_recoverable(text: &str) -> (Option<Node>, Vec<Fault>) {
    let mut reader = Reader { text, at: 0, values: 0, faults: FaultLog::default() };
    let node = reader.document().ok();
    (node, reader.faults.0)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    values: usize,
    faults: FaultLog,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Node, Stopped> {
        self.blanks();
        let node = self.value(0)?;
        self.blanks();
        if self.at < self.text.len() {
            return self.unexpected("the end of the text");
        }
        Ok(node)
    }

    fn value(&mut self, depth: usize) -> Result<Node, Stopped> {
        let start = self.at;
        self.values += 1;
        if self.values > VALUE_LIMIT {
            let message = format!("more than {VALUE_LIMIT} values in one text");
            return self.faults.stop(Fault::new("too-large", start..start, message));
        }
        let value = match self.peek() {
            Some(b'{' | b'[') if depth >= DEPTH_LIMIT => return self.faults.too_deep(start..start + 1),
            Some(b'{') => self.object(depth)?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => Value::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Value::Bool(true))?,
            Some(b'f') => self.word("false", Value::Bool(false))?,
            Some(b'n') => self.word("null", Value::Null)?,
            _ => return self.unexpected("a value"),
        };
        Ok(Node { value, span: start..self.at })
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stopped> {
        let mut entries = Entries::default();
        self.items(b'}', "`,` or `}`", |reader| {
            let start = reader.at;
            if reader.peek() != Some(b'"') {
                return reader.unexpected("a key in double quotes");
            }
            let key = Key { name: reader.string()?, span: start..reader.at };
            reader.blanks();
            if !reader.take(b':') {
                return reader.unexpected("`:` after the key");
            }
            reader.blanks();
            let node = reader.value(depth + 1)?;
            entries.push(key, node, &mut reader.faults);
            Ok(())
        })?;
        Ok(entries.into_value())
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stopped> {
        let mut items = Vec::new();
        self.items(b']', "`,` or `]`", |reader| reader.value(depth + 1).map(|item| items.push(item)))?;
        Ok(Value::Array(items))
    }

    /// Reads what is between brackets, with commas between items.
    fn items(
        &mut self,
        bracket: u8,
        expected: &str,
        mut item: impl FnMut(&mut Self) -> Result<(), Stopped>,
    ) -> Result<(), Stopped> {
        self.at += 1;
        self.blanks();
        while !self.take(bracket) {
            item(self)?;
            self.blanks();
            if self.take(bracket) {
                break;
            }
            let comma = self.at;
            if !self.take(b',') {
                return self.unexpected(expected);
            }
            self.blanks();
            if self.peek() == Some(bracket) {
                let fault = Fault::new("syntax", comma..comma + 1, "a comma after the last item");
                self.faults.add(fault.with_help("remove it: JSON does not allow a trailing comma"));
            }
        }
        Ok(())
    }

    fn word(&mut self, word: &str, value: Value) -> Result<Value, Stopped> {
        if !self.text[self.at..].starts_with(word) {
            return self.unexpected(&format!("`{word}`"));
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Result<Value, Stopped> {
        let start = self.at;
        let negative = self.take(b'-');
        let first = self.at;
        let digits = self.digits();
        if digits == 0 {
            return self.unexpected("a digit");
        }
        if digits > 1 && self.text.as_bytes().get(first) == Some(&b'0') {
            let fault = Fault::new("syntax", start..self.at, "a number that begins with 0");
            self.faults.add(fault.with_help("remove the zeros, or put it in double quotes if it is text"));
        }
        let mut exact = true;
        if self.take(b'.') {
            exact = false;
            if self.digits() == 0 {
                return self.unexpected("a digit after the point");
            }
        }
        if self.take(b'e') || self.take(b'E') {
            exact = false;
            let _sign = self.take(b'+') || self.take(b'-');
            if self.digits() == 0 {
                return self.unexpected("a digit of the exponent");
            }
        }
        let written = &self.text[start..self.at];
        if exact
            && !(negative && written == "-0")
            && let Ok(whole) = written.parse::<i128>()
        {
            return Ok(Value::Int(whole));
        }
        let number = written.parse::<f64>().unwrap_or(f64::INFINITY);
        if !number.is_finite() {
            self.faults.add(Fault::new("not-finite", start..self.at, "a number too large to hold"));
        }
        Ok(Value::Float(number))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn string(&mut self) -> Result<String, Stopped> {
        let open = self.at;
        self.at += 1;
        let mut read = String::new();
        loop {
            let rest = &self.text[self.at..];
            let run = rest.bytes().position(|b| matches!(b, b'"' | b'\\' | 0..=0x1f));
            let Some(run) = run else {
                self.at = self.text.len();
                let fault = Fault::new("syntax", open..self.at, "a text without its closing quote");
                return self.faults.stop(fault.with_help("end it with `\"`, and write `\\\"` for quotes within it"));
            };
            read.push_str(&rest[..run]);
            self.at += run;
            match rest.as_bytes()[run] {
                b'"' => {
                    self.at += 1;
                    return Ok(read);
                }
                b'\\' => read.push(self.escape()?),
                control => {
                    let written = if control == b'\n' { "\\n".into() } else { format!("\\u{control:04x}") };
                    let fault = Fault::new("syntax", self.at..self.at + 1, "a control character in a text");
                    self.faults.add(fault.with_help(format!("write it as `{written}`")));
                    read.push(char::from(control));
                    self.at += 1;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, Stopped> {
        let start = self.at;
        self.at += 1;
        let simple = match self.peek() {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => return self.unicode(start),
            _ => {
                let end = self.at + self.text[self.at..].chars().next().map_or(0, char::len_utf8);
                let fault = Fault::new("syntax", start..end, "an escape that JSON does not know");
                return self.faults.stop(fault.with_help("write `\\\\` for a backslash"));
            }
        };
        self.at += 1;
        Ok(simple)
    }

    fn unicode(&mut self, start: usize) -> Result<char, Stopped> {
        let high = self.hex(start)?;
        if let Some(c) = char::from_u32(high) {
            return Ok(c);
        }
        if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            let before = self.at;
            self.at += 1;
            let low = self.hex(before)?;
            if (0xdc00..0xe000).contains(&low) {
                let joined = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = before;
        }
        let fault = Fault::new("syntax", start..self.at, "half of a surrogate pair");
        self.faults.add(fault.with_help("write both halves, as in `\\ud83d\\ude00`, or the character itself"));
        Ok(char::REPLACEMENT_CHARACTER)
    }

    fn hex(&mut self, start: usize) -> Result<u32, Stopped> {
        self.at += 1;
        let digits = self.text.get(self.at..self.at + 4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
        let Some(code) = digits.and_then(|d| u32::from_str_radix(d, 16).ok()) else {
            let fault = Fault::new("syntax", start..self.at, "expected four hexadecimal digits after `\\u`");
            return self.faults.stop(fault);
        };
        self.at += 4;
        Ok(code)
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn unexpected<T>(&mut self, expected: &str) -> Result<T, Stopped> {
        let span = self.token();
        let found = match &self.text[span.clone()] {
            "" => "the end of the text".into(),
            token => format!("`{}`", super::source::truncated(token)),
        };
        let fault = Fault::new("syntax", span.clone(), format!("expected {expected}, found {found}"));
        let help = match self.text[span].chars().next() {
            Some('\'') => "use double quotes: JSON does not allow single quotes",
            Some('/' | '#') => "remove it: JSON does not allow comments",
            Some('T') => "write `true`",
            Some('F') => "write `false`",
            Some('N') => "write `null`",
            Some('"') if expected.contains(',') => "a comma is missing before it",
            _ => return self.faults.stop(fault),
        };
        self.faults.stop(fault.with_help(help))
    }

    fn token(&self) -> Range<usize> {
        let rest = &self.text[self.at..];
        let word = rest.chars().take(40).take_while(|c| c.is_alphanumeric()).map(char::len_utf8).sum::<usize>();
        let length = if word > 0 { word } else { rest.chars().next().map_or(0, char::len_utf8) };
        self.at..self.at + length
    }
}
