//! Rows of delimited text with their positions.

use super::Source;
use crate::diagnostic::{Diagnostic, Fault};
use crate::diagnostic_groups::{ERROR_LIMIT, stopped};
use std::ops::Range;

/// A row and its position.
pub struct Row<'a> {
    text: &'a str,
    start: usize,
    /// The line it starts on, from 1.
    pub line: usize,
    delimiter: u8,
    record: &'a ::csv::StringRecord,
}

/// Reads text with a header and returns its faults; a wrong header or too many faults end the reading, and blank rows are
/// skipped. `expected` describes the header.
pub fn read_rows<S, C>(
    file: &str,
    text: &str,
    expected: &str,
    state: &mut S,
    header: fn(&mut S, &Row<'_>) -> Result<C, Vec<Fault>>,
    row: fn(&mut S, &Row<'_>, &C) -> Vec<Fault>,
) -> Vec<Diagnostic> {
    let delimiter = delimiter(text);
    let mut reader =
        ::csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(text.as_bytes());
    let mut record = ::csv::StringRecord::new();
    let mut columns = None;
    let mut faults = Vec::new();
    let mut stop = None;
    loop {
        if faults.len() >= ERROR_LIMIT {
            stop = Some(stopped(file, &format!("line {}", reader.position().line())));
            break;
        }
        match reader.read_record(&mut record) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                let at = error.position().map_or(0, |position| position.byte() as usize);
                faults.push(Fault::new("bad-csv", at..at, format!("this row could not be read: {error}")));
                break;
            }
        }
        let position = record.position();
        let (start, line) = position.map_or((0, 0), |position| (position.byte() as usize, position.line()));
        // The reader includes blank lines before a row in it.
        let skipped = text[start..].find(|c| !matches!(c, '\n' | '\r')).unwrap_or(0);
        let line = line as usize + text[start..start + skipped].matches('\n').count();
        let found = Row { text, start: start + skipped, line, delimiter, record: &record };
        if let Some((columns, width)) = &columns {
            if !found.is_blank() {
                let wrong = found.wrong_width(*width).map(|fault| vec![fault]);
                faults.extend(wrong.unwrap_or_else(|| row(state, &found, columns)));
            }
            continue;
        }
        match header(state, &found) {
            Ok(columns_found) => columns = Some((columns_found, record.len())),
            Err(wrong) => {
                faults.extend(wrong);
                break;
            }
        }
    }
    if columns.is_none() && faults.is_empty() {
        faults.push(Fault::new("no-header", 0..0, format!("the file is empty; {expected}")));
    }
    let mut diagnostics = Source::new(file, text).diagnostics(faults);
    diagnostics.extend(stop);
    diagnostics
}

/// The columns of a header.
#[expect(missing_docs, reason = "field names say it")]
pub struct Header<const N: usize> {
    /// The positions of the known columns.
    pub known: [Option<usize>; N],
    pub others: Vec<(usize, String)>,
    /// Known columns that occur twice.
    pub faults: Vec<Fault>,
}

impl Row<'_> {
    /// Finds the columns of these names.
    pub fn header<const N: usize>(&self, names: [&str; N]) -> Header<N> {
        let mut header = Header { known: [None; N], others: Vec::new(), faults: Vec::new() };
        for (at, name) in self.record.iter().enumerate() {
            let name = name.trim().to_lowercase();
            let Some(found) = names.iter().position(|known| *known == name) else {
                header.others.push((at, name));
                continue;
            };
            if header.known[found].replace(at).is_some() {
                let message = format!("duplicate column `{name}`");
                header.faults.push(Fault::new("duplicate-column", self.span(at), message));
            }
        }
        header
    }

    /// The bytes of a field, quotes included.
    pub fn span(&self, field: usize) -> Range<usize> {
        let (mut quoted, mut at, mut begin) = (false, 0, self.start);
        for (offset, byte) in self.text.as_bytes()[self.start..].iter().enumerate() {
            let here = self.start + offset;
            match byte {
                b'"' => quoted = !quoted,
                b'\n' | b'\r' if !quoted => return begin..here,
                byte if *byte == self.delimiter && !quoted => {
                    if at == field {
                        return begin..here;
                    }
                    at += 1;
                    begin = here + 1;
                }
                _ => {}
            }
        }
        begin..self.text.len()
    }

    /// The bytes of the whole row.
    pub fn full_span(&self) -> Range<usize> {
        self.span(0).start..self.span(self.record.len().saturating_sub(1)).end
    }

    /// A trimmed field; empty where the row has no such field.
    pub fn field(&self, at: usize) -> &str {
        self.record.get(at).unwrap_or_default().trim()
    }

    /// The fault of a row with another number of fields than the header.
    fn wrong_width(&self, wanted: usize) -> Option<Fault> {
        let found = self.record.len();
        let message = format!("this row has {found} fields, but the header has {wanted}");
        let help = "quote fields that contain the delimiter, and close every quote";
        (found != wanted).then(|| Fault::new("wrong-width", self.full_span(), message).with_help(help))
    }

    fn is_blank(&self) -> bool {
        self.record.iter().all(|field| field.trim().is_empty())
    }
}

fn delimiter(text: &str) -> u8 {
    let header = text.trim_start().lines().next().unwrap_or_default();
    [b',', b';', b'\t'].into_iter().find(|delimiter| header.as_bytes().contains(delimiter)).unwrap_or(b',')
}
