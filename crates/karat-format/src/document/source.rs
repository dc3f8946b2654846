//! A text with a name and line numbers, which turns spans into diagnostics.

use crate::diagnostic::{Diagnostic, Fault, stand_in};
use crate::diagnostic_groups::DiagnosticGroups;
use karat_core::wording;
use std::borrow::Cow;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

const MAX_SHOWN_COLUMNS: usize = 160;
/// How many of them may come before the span.
const MAX_COLUMNS_BEFORE: usize = 60;

/// A text, its file, and its position in the file.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    file: Cow<'a, str>,
    text: Cow<'a, str>,
    /// Byte offsets at which lines begin; never empty, ascending.
    starts: Vec<usize>,
    first_line: usize,
    base: usize,
}

impl<'a> Source<'a> {
    /// A whole file.
    pub fn new(file: impl Into<Cow<'a, str>>, text: impl Into<Cow<'a, str>>) -> Self {
        Self::part(file, text, 1, 0)
    }

    /// A part of a file that begins at this line, from 1, and at this byte.
    pub fn part(file: impl Into<Cow<'a, str>>, text: impl Into<Cow<'a, str>>, first_line: usize, base: usize) -> Self {
        let text = text.into();
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { file: file.into(), text, starts, first_line, base }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The same with its own copy of the text.
    pub fn into_owned(self) -> Source<'static> {
        Source {
            file: Cow::Owned(self.file.into_owned()),
            text: Cow::Owned(self.text.into_owned()),
            starts: self.starts,
            first_line: self.first_line,
            base: self.base,
        }
    }

    /// An error at a span of the text.
    pub fn diagnostic(&self, fault: Fault) -> Diagnostic {
        let start = self.text.floor_char_boundary(fault.span.start);
        let end = self.text.floor_char_boundary(fault.span.end).max(start);
        let index = self.starts.partition_point(|line| *line <= start).saturating_sub(1);
        let line_start = self.starts.get(index).copied().unwrap_or(0);
        let line_end = self.starts.get(index + 1).map_or(self.text.len(), |next| next - 1);
        let line = self.text[line_start..line_end].trim_end_matches('\r');
        // A span in the line break is shown at the end of the line, and a span of many lines by its first.
        let from = (start - line_start).min(line.len());
        let to = (end - line_start).min(line.len());
        let (shown, underline) = excerpt(line, from..to);
        Diagnostic {
            line: self.first_line + index,
            column: line[..from].chars().count() + 1,
            span: Some(self.base + start..self.base + end),
            source_line: Some(shown),
            underline,
            label: fault.label,
            help: fault.help,
            ..Diagnostic::of_file(&*self.file, fault.code, fault.message)
        }
    }

    /// The faults as diagnostics, sorted by position, without duplicates; of each kind a few examples and a count.
    pub fn diagnostics(&self, mut faults: Vec<Fault>) -> Vec<Diagnostic> {
        faults.sort_by_key(|fault| (fault.span.start, fault.span.end));
        faults.dedup();
        let mut groups = DiagnosticGroups::default();
        faults.into_iter().for_each(|fault| groups.push_fault(fault, |fault| self.diagnostic(fault)));
        groups.into_diagnostics()
    }
}

/// A part of the line of at most [`MAX_SHOWN_COLUMNS`] columns around the span, safe to show, and where the span lies in it.
fn excerpt(line: &str, span: Range<usize>) -> (String, Range<usize>) {
    let head = &line[..span.start];
    let fits = line.len() <= MAX_SHOWN_COLUMNS * 4 && line.chars().map(columns).sum::<usize>() <= MAX_SHOWN_COLUMNS;
    let begin = if fits { 0 } else { back(head) };
    let mut shown = String::new();
    let mut used = 0;
    if begin > 0 {
        shown.push('…');
        used += 1;
    }
    let mut underline = None;
    let mut underline_end = None;
    for (offset, c) in line[begin..].char_indices() {
        let at = begin + offset;
        if at == span.start {
            underline = Some(shown.len());
        }
        if at == span.end {
            underline_end = Some(shown.len());
        }
        if !fits && used + columns(c) >= MAX_SHOWN_COLUMNS {
            shown.push('…');
            break;
        }
        used += columns(c);
        match c {
            '\t' => shown.push_str("    "),
            _ => shown.push(stand_in(c).unwrap_or(c)),
        }
    }
    let start = underline.unwrap_or(shown.len());
    let end = underline_end.unwrap_or(shown.len()).max(start);
    // Trailing blanks are not underlined.
    let trimmed = start + shown[start..end].trim_end().len();
    (shown, start..trimmed)
}

/// Where the part before the span begins that still fits.
fn back(head: &str) -> usize {
    let mut used = 0;
    for (at, c) in head.char_indices().rev() {
        used += columns(c);
        if used > MAX_COLUMNS_BEFORE {
            return at + c.len_utf8();
        }
    }
    0
}

fn columns(c: char) -> usize {
    if c == '\t' { 4 } else { c.width().unwrap_or(1) }
}

pub(crate) fn truncated(text: &str) -> String {
    wording::truncate(text, 40)
}
