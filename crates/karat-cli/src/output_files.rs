//! Prints results, and writes them to files.

use crate::exit::{Exit, Failure};
use crate::terminal::{look, print, print_json, tell};
use karat_format::diagnostic::harmless;
use karat_io::atomic_write;
use karat_report::TerminalStyle;
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The style of text files.
pub(crate) const PLAIN: TerminalStyle = TerminalStyle { width: 100, colour: false };

/// Prints a result as JSON or as text.
pub(crate) fn show(
    json: bool,
    value: &impl Serialize,
    draw: impl FnOnce(&TerminalStyle) -> String,
) -> Result<Exit, Failure> {
    if json {
        print_json(value)?
    } else {
        print(&draw(&look()))?
    }
    Ok(Exit::Ok)
}

/// One output format of a result.
pub(crate) struct Drawing<'a> {
    pub(crate) extension: &'static str,
    pub(crate) draw: &'a dyn Fn() -> String,
}

/// Refuses files with an unknown extension before any work is done.
pub(crate) fn check(paths: &[PathBuf], extensions: &[&str]) -> Result<(), Failure> {
    match paths.iter().find(|path| !extensions.contains(&extension(path).as_str())) {
        None => Ok(()),
        Some(path) => {
            let known: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
            let known = known.join(", ");
            Err(Failure::usage(format!("{}: unknown extension; expected {known}", path.display())))
        }
    }
}

/// Writes the files, each in the format of its extension, and reports it.
pub(crate) fn write(paths: &[PathBuf], drawings: &[Drawing<'_>], quiet: bool) -> Result<(), Failure> {
    for path in paths {
        let Some(drawing) = drawings.iter().find(|drawing| drawing.extension == extension(path)) else { continue };
        save(path, (drawing.draw)().as_bytes())?;
        if !quiet {
            tell_written(path);
        }
    }
    Ok(())
}

/// Writes a file whole or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    save_with(path, &mut |out| out.write_all(bytes))
}

/// Writes a file whole or not at all.
pub(crate) fn save_with(path: &Path, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    atomic_write::write(path, content).map_err(|error| Failure::unwritten(path.display(), error))
}

/// Reports a written file.
pub(crate) fn tell_written(path: &Path) {
    tell(&harmless(&format!("wrote {}", path.display())));
}

/// Pretty JSON, ending in a newline.
pub(crate) fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
