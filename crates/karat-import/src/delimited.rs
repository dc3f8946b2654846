//! Reads delimited text row by row, with line numbers for errors.

use super::input::{self, display_path};
use super::{ImportError, Input, MAX_RESULTS, check_count};
use ::csv::{ErrorKind, Reader, ReaderBuilder, StringRecord, Trim};
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::Path;
use std::rc::Rc;

/// How many bytes are searched for the end of the header.
const MAX_HEADER_BYTES: u64 = 64 * 1024;
/// A longer row most likely has an unclosed quote.
const MAX_ROW_BYTES: usize = 16 << 20;

/// How many fields a row may have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// As many as the first row.
    Even,
    /// Any number; the importer checks.
    Any,
}

/// The rows of a file, including the header.
pub(super) struct Rows<'a> {
    path: &'a Path,
    reader: Reader<Box<dyn Read + 'a>>,
    record: StringRecord,
    since_row: Rc<Cell<usize>>,
    count: usize,
}

impl<'a> Rows<'a> {
    /// The delimiter is the most frequent of comma, semicolon and tab in the first row.
    pub(super) fn new(input: Input<'a>, width: Width) -> Result<Self, ImportError> {
        let Input { path, mut reader, .. } = input;
        let mut head = Vec::new();
        let read = reader.by_ref().take(MAX_HEADER_BYTES).read_to_end(&mut head);
        read.map_err(|error| input::read_error(path, error))?;
        let delimiter = delimiter(&head);
        let since_row = Rc::new(Cell::new(0));
        let whole: Box<dyn Read + 'a> =
            Box::new(Bounded { inner: Cursor::new(head).chain(reader), since_row: Rc::clone(&since_row) });
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(width == Width::Any)
            .delimiter(delimiter)
            .trim(Trim::All)
            .from_reader(whole);
        Ok(Self { path, reader, record: StringRecord::new(), since_row, count: 0 })
    }

    /// The next row and the line it starts on, or `None` at the end.
    pub(super) fn next_row(&mut self) -> Result<Option<(u64, &StringRecord)>, ImportError> {
        self.since_row.set(0);
        let more = self.reader.read_record(&mut self.record).map_err(|error| fault(self.path, error))?;
        let line = self.record.position().map_or(0, ::csv::Position::line);
        self.count += 1;
        check_count(MAX_RESULTS, self.count).map_err(|message| row_fault(self.path, line, message))?;
        Ok(more.then_some((line, &self.record)))
    }
}

/// Fails if too much was read since the last row began, since a row is held in memory.
struct Bounded<R> {
    inner: R,
    since_row: Rc<Cell<usize>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row.get() > MAX_ROW_BYTES {
            return Err(io::Error::other(
                "a row is longer than 16 MiB; a quote may not be closed, or the file is not CSV",
            ));
        }
        let read = self.inner.read(buffer)?;
        self.since_row.set(self.since_row.get() + read);
        Ok(read)
    }
}

/// A fault in the row that starts on a line.
pub(super) fn row_fault(path: &Path, line: u64, message: String) -> ImportError {
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    ImportError::Malformed { path: display_path(path), line, column: 1, message }
}

fn fault(path: &Path, error: ::csv::Error) -> ImportError {
    let line = error.position().map_or(0, ::csv::Position::line);
    match error.into_kind() {
        ErrorKind::Io(error) => input::read_error(path, error),
        ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let message = format!(
                "this row has {len} fields, but the first row has {expected_len}; quote fields that contain the delimiter"
            );
            row_fault(path, line, message)
        }
        ErrorKind::Utf8 { .. } => row_fault(path, line, "this row is not UTF-8; save the file as UTF-8".to_owned()),
        other => row_fault(path, line, format!("this row could not be read: {other:?}")),
    }
}

/// The most frequent of comma, semicolon and tab in the first row, outside quotes; a comma where there is none.
fn delimiter(head: &[u8]) -> u8 {
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    let mut quoted = false;
    for &byte in head {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            _ if !quoted => {
                for (_, count) in counts.iter_mut().filter(|(delimiter, _)| *delimiter == byte) {
                    *count += 1;
                }
            }
            _ => {}
        }
    }
    // The first of equals wins, which makes the comma the default.
    counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(delimiter, _)| *delimiter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_are_refused() {
        let endless = b"a,\"".chain(io::repeat(b'x'));
        let input = Input { path: Path::new("in"), reader: Box::new(endless), sources: &|_| None };
        let error = Rows::new(input, Width::Any).and_then(|mut rows| rows.next_row().map(|_| ()));
        assert!(error.is_err_and(|error| error.to_string().contains("a row is longer than 16 MiB")));
    }

    #[test]
    fn delimiter_is_detected_from_the_header() {
        let check = |head: &str, expect: u8| assert_eq!(delimiter(head.as_bytes()), expect, "{head:?}");
        check("a,b\n1;2;3;4", b',');
        check("a;b;c\n1,2", b';');
        check("a\tb", b'\t');
        check("\"a;;;\",b", b',');
        check("", b',');
        check("one", b',');
    }
}
