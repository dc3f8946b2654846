//! Standard output and standard error: results on the one, the rest on the other.

use crate::exit::Failure;
use karat_format::diagnostic::{Diagnostic, harmless, render};
use karat_report::TerminalStyle;
use std::io::{IsTerminal, Write};

/// Prints a result. A reader that went away is no fault.
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

/// Tells the person something that is not the result.
pub(crate) fn tell(text: &str) {
    // Where nobody listens there is nobody to tell.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// A note: worth knowing, not worth stopping for. The text may hold what a tool wrote.
pub(crate) fn note(text: &str) {
    tell(&format!("note: {}", harmless(text)));
}

/// Notes of which there may be many: the first few, then their number.
pub(crate) fn notes(all: &[String]) {
    const MOST: usize = 12;
    for text in all.iter().take(MOST) {
        note(text);
    }
    if all.len() > MOST {
        note(&format!("and {} more like these", all.len() - MOST));
    }
}

/// How drawings on standard output may look.
pub(crate) fn look() -> TerminalStyle {
    TerminalStyle { width: width(), colour: colour(&std::io::stdout()) }
}

/// How diagnostics on standard error are drawn.
pub(crate) fn draw_on_stderr(diagnostics: &[Diagnostic]) -> String {
    render(diagnostics, colour(&std::io::stderr()), width())
}

/// How diagnostics on standard output are drawn.
pub(crate) fn draw_on_stdout(diagnostics: &[Diagnostic]) -> String {
    render(diagnostics, colour(&std::io::stdout()), width())
}

fn colour(stream: &(impl anstream::stream::RawStream + IsTerminal)) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// The terminal's width; `COLUMNS` where there is no terminal, else 80.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = if std::io::stdout().is_terminal() { terminal.or(stated) } else { stated.or(terminal) };
    width.unwrap_or(80).clamp(60, 400)
}
