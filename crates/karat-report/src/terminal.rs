//! Terminal output shared by the text renderers: styles, wrapping and headings.

use super::grid;
use anstyle::{AnsiColor, Style};
use karat_format::diagnostic::harmless;
use unicode_width::UnicodeWidthStr;

/// How much is printed. Both may be set: `verbose` is about the result, `quiet` about everything else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verbosity {
    /// Print only the result and errors: no progress, notes or hints.
    pub quiet: bool,
    /// Print every section of the result, and shorten no list.
    pub verbose: bool,
}

/// Size and colour support of the output, and how much is shown.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TerminalStyle {
    pub width: usize,
    /// The lines that a reader sees at once.
    pub height: usize,
    pub colour: bool,
    pub verbosity: Verbosity,
}

impl TerminalStyle {
    /// Text without colours, with every section.
    pub const fn complete(width: usize) -> Self {
        Self { width, height: usize::MAX, colour: false, verbosity: Verbosity { quiet: false, verbose: true } }
    }
}

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
/// The style of what failed.
pub const RED: Style = AnsiColor::Red.on_default();
pub(crate) const GOOD: Style = GREEN.bold();
pub(crate) const BAD: Style = RED.bold();
pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default();

pub(crate) fn paint(text: &str, style: Style, terminal: &TerminalStyle) -> String {
    if terminal.colour { format!("{}{text}{}", style.render(), style.render_reset()) } else { text.to_owned() }
}

pub(crate) fn indented(text: &str, style: Style, terminal: &TerminalStyle) -> String {
    let lines = grid::wrap(&harmless(text), terminal.width.saturating_sub(2));
    lines.iter().map(|line| format!("  {}\n", paint(line, style, terminal))).collect()
}

pub(crate) fn heading(text: &str, terminal: &TerminalStyle) -> String {
    format!("\n{}\n", paint(text, BOLD, terminal))
}

pub(crate) fn more(all: usize, shown: usize, place: &str, terminal: &TerminalStyle) -> String {
    if all <= shown {
        return String::new();
    }
    format!("  {}\n", paint(&format!("and {} more{place}", all - shown), DIM, terminal))
}

pub(crate) fn warnings(warnings: &[String], terminal: &TerminalStyle) -> String {
    if warnings.is_empty() {
        return String::new();
    }
    let lines: String = warnings.iter().map(|warning| indented(warning, Style::new(), terminal)).collect();
    format!("\n{}\n{lines}", paint("Warnings", WARNING.bold(), terminal))
}

/// A heading followed by text, below it if it does not fit.
pub(crate) fn beside(head: &str, gap: &str, text: &str, terminal: &TerminalStyle) -> String {
    if head.width() + gap.width() + text.width() <= terminal.width {
        return format!("{}{gap}{}\n", paint(head, BOLD, terminal), paint(text, DIM, terminal));
    }
    folded("", head, BOLD, terminal) + &folded("", text, DIM, terminal)
}

pub(crate) fn folded(indent: &str, text: &str, style: Style, terminal: &TerminalStyle) -> String {
    let lines = grid::fold(text, terminal.width.saturating_sub(indent.len()));
    lines.iter().map(|line| format!("{indent}{}\n", paint(line, style, terminal))).collect()
}
