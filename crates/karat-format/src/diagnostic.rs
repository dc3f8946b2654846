//! Diagnostics about inputs, rendered for people or written as JSON.

use crate::diagnostic_groups::grouped;
use annotate_snippets::{AnnotationKind, Level as Heading, Origin, Renderer, Snippet};
use karat_core::wording::count;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// The level of a diagnostic, from worst to mildest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Level {
    Error,
    /// The input is accepted, but needs attention.
    Warning,
    Note,
}

/// A diagnostic about an input file. It holds only the shown part of the line, so that many of them stay small.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Diagnostic {
    pub level: Level,
    /// A short kebab-case name of the kind of fault, such as `unknown-key`.
    pub code: &'static str,
    /// What is wrong, with the value seen and what was expected.
    pub message: String,
    pub file: String,
    /// The line, from 1; 0 for the whole file.
    pub line: usize,
    /// The column in characters, from 1; 0 for the whole file.
    pub column: usize,
    pub span: Option<Range<usize>>,
    /// The part of the source line around the span, sanitized.
    pub source_line: Option<String>,
    /// The bytes of `source_line` to underline.
    #[serde(skip)]
    pub underline: Range<usize>,
    pub label: Option<String>,
    pub help: Option<String>,
    /// How many more of the same kind there are, which are not shown.
    #[serde(skip_serializing_if = "crate::report::is_zero")]
    pub more: usize,
}

#[expect(missing_docs, reason = "method names say it")]
impl Diagnostic {
    /// An error about a file as a whole.
    pub fn of_file(file: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            level: Level::Error,
            code,
            message: message.into(),
            file: file.into(),
            line: 0,
            column: 0,
            span: None,
            source_line: None,
            underline: 0..0,
            label: None,
            help: None,
            more: 0,
        }
    }

    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The faults for which an input was rejected.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Faults(pub Vec<Diagnostic>);

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let faults = || self.0.iter().filter(|d| d.level != Level::Note);
        let (shown, all) = (faults().count(), faults().map(|d| 1 + d.more).sum());
        write!(f, "{}", count(all, "fault"))?;
        // Those that are not shown may be in other files.
        if shown < all {
            return Ok(());
        }
        let files: BTreeSet<&str> = faults().map(|d| d.file.as_str()).collect();
        write!(f, " in {}", count(files.len(), "file"))
    }
}

impl std::error::Error for Faults {}

impl From<Vec<Diagnostic>> for Faults {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self(diagnostics)
    }
}

/// Renders diagnostics like rustc, each followed by an empty line; those of one kind are grouped.
pub fn render(diagnostics: &[Diagnostic], colour: bool, width: usize) -> String {
    let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
    let renderer = renderer.term_width(width.max(40));
    let shown = grouped(diagnostics.iter().cloned());
    shown.iter().map(|diagnostic| draw(diagnostic, &renderer) + "\n\n").collect()
}

fn draw(diagnostic: &Diagnostic, renderer: &Renderer) -> String {
    let heading = match diagnostic.level {
        Level::Error => Heading::ERROR,
        Level::Warning => Heading::WARNING,
        Level::Note => Heading::NOTE,
    };
    let title = heading.primary_title(harmless(&diagnostic.message)).id(diagnostic.code);
    // The position is given apart from the snippet, since the snippet may be only a part of its line.
    let mut origin = Origin::path(harmless(&diagnostic.file));
    if diagnostic.line > 0 {
        origin = origin.line(diagnostic.line).char_column(diagnostic.column);
    }
    let mut group = title.element(origin);
    if let Some(line) = &diagnostic.source_line {
        let line = harmless(line);
        let mut mark = AnnotationKind::Primary.span(within(&line, &diagnostic.underline));
        if let Some(label) = &diagnostic.label {
            mark = mark.label(harmless(label));
        }
        group = group.element(Snippet::source(line).line_start(diagnostic.line).annotation(mark));
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Heading::HELP.message(harmless(help)));
    }
    if diagnostic.more > 0 {
        group = group.element(Heading::NOTE.message(format!("{} more like this", diagnostic.more)));
    }
    let drawn = renderer.render(&[group]);
    // The renderer takes a snippet after a position for one of another file, and marks it with `:::`.
    let lines: Vec<&str> = drawn.lines().filter(|line| unstyled(line).trim() != ":::").collect();
    lines.join("\n")
}

fn unstyled(line: &str) -> String {
    let mut parts = line.split('\u{1b}');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(part.split_once('m').map_or(part, |(_, rest)| rest));
    }
    plain
}

/// The range, clamped to the text, so that a hand-made diagnostic cannot panic.
fn within(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    start..text.floor_char_boundary(range.end).max(start)
}

/// The text with control characters, terminal escapes and invisible direction marks replaced by visible symbols.
pub fn harmless(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| stand_in(c).is_none()) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| stand_in(c).unwrap_or(c)).collect())
}

/// The symbol for a character that a terminal would act on or hide; `None` for all others.
pub fn stand_in(c: char) -> Option<char> {
    match c {
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)),
        '\u{7f}' => Some('\u{2421}'),
        '\u{80}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{e0000}'..='\u{e007f}' => Some('\u{fffd}'),
        _ => None,
    }
}
