//! Results go to standard output, everything else to standard error.

use crate::exit::{Exit, Failure, Result};
use anstream::stream::RawStream;
use karat_format::diagnostic::{Diagnostic, harmless, render};
use karat_report::TerminalStyle;
use karat_report::grid::{self, Cell};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};

/// Prints a result, which is how most commands end. A closed pipe is not an error.
pub(crate) fn print(text: &str) -> Result<Exit> {
    let mut out = anstream::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| Failure::unwritten("standard output", error)).map(|()| Exit::Ok)
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<Exit> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::io("standard output", error.into()))?;
    print(&format!("{text}\n"))
}

/// One object with the fields of both.
pub(crate) fn merged(mut first: Value, rest: &impl Serialize) -> Value {
    if let (Value::Object(fields), Value::Object(rest)) = (&mut first, json!(rest)) {
        fields.extend(rest);
    }
    first
}

pub(crate) fn show(json: bool, value: &impl Serialize, draw: impl FnOnce(&TerminalStyle) -> String) -> Result<Exit> {
    if json { print_json(value) } else { print(&draw(&look())) }
}

/// Reports what was done: as JSON, if asked for, and in a line on standard error.
pub(crate) fn print_done(json: bool, value: &impl Serialize, line: &str) -> Result<Exit> {
    if json {
        print_json(value)?;
    }
    print_stderr(line);
    Ok(Exit::Ok)
}

pub(crate) fn print_stderr(text: &str) {
    // A closed standard error is ignored.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints a note. The text may contain text from a tool.
pub(crate) fn note(text: &str) {
    print_stderr(&format!("note: {}", harmless(text)));
}

pub(crate) fn notes(all: &[String]) {
    const MOST: usize = 12;
    for text in all.iter().take(MOST) {
        note(text);
    }
    if all.len() > MOST {
        note(&format!("and {} more", all.len() - MOST));
    }
}

pub(crate) fn look() -> TerminalStyle {
    TerminalStyle { width: width(), colour: colour(&std::io::stdout()) }
}

pub(crate) fn draw_table(rows: &[Vec<Cell>]) -> String {
    let TerminalStyle { width, colour } = look();
    grid::draw(rows, width, colour)
}

/// Quotes a name as one shell word; names may contain text from a tool.
pub(crate) fn word(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:@+".contains(c);
    let quoted = || format!("'{}'", name.replace('\'', r"'\''"));
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { quoted() }
}

pub(crate) fn flags(flags: &[(&str, String)]) -> String {
    flags.iter().map(|(flag, value)| format!(" {flag} {}", word(value))).collect()
}

/// Draws diagnostics for standard output or standard error.
pub(crate) fn draw_diagnostics(diagnostics: &[Diagnostic], stream: &(impl RawStream + IsTerminal)) -> String {
    render(diagnostics, colour(stream), width())
}

fn colour(stream: &(impl RawStream + IsTerminal)) -> bool {
    anstream::AutoStream::choice(stream) != anstream::ColorChoice::Never
}

/// The terminal's width; `COLUMNS` without a terminal, else 80.
fn width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = if std::io::stdout().is_terminal() { terminal.or(stated) } else { stated.or(terminal) };
    width.unwrap_or(80).clamp(60, 400)
}
