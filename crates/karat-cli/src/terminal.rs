//! Results go to standard output, everything else to standard error.

use crate::exit::Failure;
use karat_format::diagnostic::{Diagnostic, harmless, render};
use karat_report::TerminalStyle;
use std::io::{IsTerminal, Write};

/// Prints a result. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::unwritten("standard output", error))
}

/// Prints a result as JSON.
pub(crate) fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::io("standard output", error.into()))?;
    print(&format!("{text}\n"))
}

/// Prints a line to standard error.
pub(crate) fn tell(text: &str) {
    // A closed standard error is ignored.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a note. The text may contain text from a tool.
pub(crate) fn note(text: &str) {
    tell(&format!("note: {}", harmless(text)));
}

/// Prints the first notes, then the number of the others.
pub(crate) fn notes(all: &[String]) {
    const MOST: usize = 12;
    for text in all.iter().take(MOST) {
        note(text);
    }
    if all.len() > MOST {
        note(&format!("and {} more", all.len() - MOST));
    }
}

/// Width and colour of standard output.
pub(crate) fn look() -> TerminalStyle {
    TerminalStyle { width: width(), colour: colour(&std::io::stdout()) }
}

/// Renders diagnostics for standard error.
pub(crate) fn draw_on_stderr(diagnostics: &[Diagnostic]) -> String {
    render(diagnostics, colour(&std::io::stderr()), width())
}

/// Renders diagnostics for standard output.
pub(crate) fn draw_on_stdout(diagnostics: &[Diagnostic]) -> String {
    render(diagnostics, colour(&std::io::stdout()), width())
}

fn colour(stream: &(impl anstream::stream::RawStream + IsTerminal)) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// The terminal's width; `COLUMNS` without a terminal, else 80.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = if std::io::stdout().is_terminal() { terminal.or(stated) } else { stated.or(terminal) };
    width.unwrap_or(80).clamp(60, 400)
}
