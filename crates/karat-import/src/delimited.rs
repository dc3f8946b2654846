//! Reads delimited text row by row, with line numbers for errors.

use super::input::{self, display_path};
use super::{ImportError, Input, check_count};
use ::csv::{ErrorKind, ReaderBuilder, StringRecord, Trim};
use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::Path;

/// How many bytes are searched for the end of the header.
const MAX_HEADER_BYTES: u64 = 64 * 1024;
/// A longer row most likely has an unclosed quote.
const MAX_ROW_BYTES: usize = 16 << 20;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// As many as the first row.
    Even,
    /// Any number; the importer checks.
    Any,
}

/// Passes every row and the line it starts on to `each`, whose `Err` becomes an error with that line.
pub(super) fn for_each_row(
    input: Input<'_>,
    width: Width,
    mut each: impl FnMut(u64, &StringRecord) -> Result<(), String>,
) -> Result<(), ImportError> {
    let Input { path, mut reader, .. } = input;
    let mut head = Vec::new();
    let read = reader.by_ref().take(MAX_HEADER_BYTES).read_to_end(&mut head);
    read.map_err(|error| input::read_error(path, error))?;
    let delimiter = delimiter(&head);
    let since_row = Cell::new(0);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(width == Width::Any)
        .delimiter(delimiter)
        .trim(Trim::All)
        .from_reader(Bounded { inner: Cursor::new(head).chain(reader), since_row: &since_row });
    let mut record = StringRecord::new();
    // The first row is the header.
    for count in 0.. {
        since_row.set(0);
        if !reader.read_record(&mut record).map_err(|error| fault(path, error))? {
            break;
        }
        let line = record.position().map_or(0, ::csv::Position::line);
        check_count(count).and_then(|()| each(line, &record)).map_err(|message| row_fault(path, line, message))?;
    }
    Ok(())
}

/// Fails if too much was read since the last row began, since a row is held in memory.
struct Bounded<'a, R> {
    inner: R,
    since_row: &'a Cell<usize>,
}

impl<R: Read> Read for Bounded<'_, R> {
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

pub(super) fn row_fault(path: &Path, line: u64, message: String) -> ImportError {
    let line = usize::try_from(line).unwrap_or(usize::MAX);
    ImportError { path: display_path(path), line, column: 1, message }
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
    use crate::MAX_RESULTS;

    #[test]
    fn long_rows_are_refused() {
        let endless = b"a,\"".chain(io::repeat(b'x'));
        let input = Input { path: Path::new("in"), reader: Box::new(endless), sources: &|_| None };
        let error = for_each_row(input, Width::Any, |_, _| Ok(()));
        assert!(error.is_err_and(|error| error.to_string().contains("a row is longer than 16 MiB")));
    }

    #[test]
    fn as_many_rows_as_results_are_read_after_the_header() {
        let read = |rows: usize| {
            let text = Cursor::new("a\n".repeat(1 + rows));
            let input = Input { path: Path::new("in"), reader: Box::new(text), sources: &|_| None };
            let mut count = 0;
            let read = for_each_row(input, Width::Even, |_, _| {
                count += 1;
                Ok(())
            });
            (count, read.map_err(|error| error.to_string()))
        };
        assert_eq!(read(MAX_RESULTS), (1 + MAX_RESULTS, Ok(())));
        let (count, refused) = read(MAX_RESULTS + 1);
        assert_eq!(count, 1 + MAX_RESULTS);
        assert!(refused.is_err_and(|error| error.contains("there are more than 1000000 results in one file")));
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
