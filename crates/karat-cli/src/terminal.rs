//! Results go to standard output, everything else to standard error.

use crate::exit::{Exit, Failure, Result};
use anstream::stream::RawStream;
use karat_format::diagnostic::{Diagnostic, harmless};
use karat_format::diagnostic_render::render;
use karat_report::grid::{self, Cell};
use karat_report::{TerminalStyle, Verbosity};
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

static VERBOSITY: OnceLock<Verbosity> = OnceLock::new();

/// Sets what `-q` and `-v` ask for, once, before anything is printed.
pub(crate) fn set_verbosity(verbosity: Verbosity) {
    // A second call would be a fault of the program, and the first value is as good as any.
    let _ = VERBOSITY.set(verbosity);
}

pub(crate) fn verbosity() -> Verbosity {
    VERBOSITY.get().copied().unwrap_or_default()
}

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

/// Prints errors, questions and what a person has to know to go on, even with `--quiet`.
pub(crate) fn print_always(text: &str) {
    // A closed standard error is ignored.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Prints what is neither the result nor an error, unless `--quiet`.
pub(crate) fn print_stderr(text: &str) {
    if !verbosity().quiet {
        print_always(text);
    }
}

/// Suggests commands to type next. They may contain text from a tool.
pub(crate) fn print_next(commands: &[String]) {
    let commands: Vec<_> = commands.iter().map(|command| harmless(command)).collect();
    print_stderr(&format!("\nNext:\n  {}", commands.join("\n  ")));
}

/// Prints why something failed. The text may contain text from a tool.
pub(crate) fn print_failure(failure: &Failure) {
    match failure {
        Failure::BrokenPipe => {}
        Failure::Message(_, message) | Failure::Outage(message) => {
            let lines: Vec<_> = message.lines().map(harmless).collect();
            print_always(&format!("error: {}", lines.join("\n")));
        }
        Failure::Faults(faults) => {
            print_always(draw_diagnostics(&faults.0, &std::io::stderr()).trim_end());
            print_always(&format!("\nerror: {faults}; nothing was loaded"));
        }
    }
}

/// Prints a note. The text may contain text from a tool.
pub(crate) fn note(text: &str) {
    print_stderr(&format!("note: {}", harmless(text)));
}

/// Prints a note about something that went wrong, even with `--quiet`.
pub(crate) fn note_problem(text: &str) {
    print_always(&format!("note: {}", harmless(text)));
}

/// How much of a list is printed: all of it with `--verbose`.
pub(crate) fn most_shown(usual: usize) -> usize {
    if verbosity().verbose { usize::MAX } else { usual }
}

pub(crate) fn notes(all: &[String]) {
    let most = most_shown(12);
    for text in all.iter().take(most) {
        note(text);
    }
    if all.len() > most {
        note(&format!("and {} more with -v", all.len() - most));
    }
}

pub(crate) fn look() -> TerminalStyle {
    TerminalStyle { width: width(), height: height(), colour: colour(&std::io::stdout()), verbosity: verbosity() }
}

pub(crate) fn draw_table(rows: &[Vec<Cell>]) -> String {
    let TerminalStyle { width, colour, .. } = look();
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

/// The width of tables and messages.
fn width() -> usize {
    screen_width().clamp(60, 400)
}

/// The lines of a screen: the terminal's, less those of the commands before and after; 40 without a terminal.
fn height() -> usize {
    let terminal = terminal_size::terminal_size().filter(|_| std::io::stdout().is_terminal());
    terminal.map_or(40, |(_, height)| usize::from(height.0).saturating_sub(2)).clamp(20, 100)
}

/// The terminal's width; `COLUMNS` without a terminal, else 80.
pub(crate) fn screen_width() -> usize {
    let terminal = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
    let stated = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let width = if std::io::stdout().is_terminal() { terminal.or(stated) } else { stated.or(terminal) };
    width.unwrap_or(80)
}
