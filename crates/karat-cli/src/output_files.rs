//! Prints results other than reports, and writes them to files.

use crate::exit::Failure;
use crate::terminal::tell;
use karat_format::diagnostic::harmless;
use karat_io::atomic_write;
use std::path::{Path, PathBuf};

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
        let text = (drawing.draw)();
        atomic_write::write(path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
        if !quiet {
            tell(&harmless(&format!("wrote {}", path.display())));
        }
    }
    Ok(())
}

/// Pretty JSON, ending in a newline.
pub(crate) fn json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}
