//! Diagnostics about inputs.

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

/// A fault of a text, without a file name.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Fault {
    /// A short kebab-case name of the kind of fault.
    pub code: &'static str,
    pub message: String,
    /// Byte offsets in the text.
    pub span: Range<usize>,
    /// A short text beside the underline.
    pub label: Option<String>,
    pub help: Option<String>,
}

impl Fault {
    /// A fault without label and help.
    pub fn new(code: &'static str, span: Range<usize>, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), span, label: None, help: None }
    }

    pub(crate) fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// Adds advice.
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
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
