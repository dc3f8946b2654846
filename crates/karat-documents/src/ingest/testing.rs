//! Helpers: documents as text.

use super::{Document, IngestLimits, ingest};

/// Reads a document that must be accepted.
#[track_caller]
pub(super) fn read(name: &str, bytes: &[u8]) -> Document {
    ingest(name, bytes, &IngestLimits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The sections of a document, one heading per line with its text below, then the notes.
#[track_caller]
pub(super) fn draw(name: &str, bytes: &[u8]) -> String {
    let document = read(name, bytes);
    let mut out = String::new();
    for section in &document.sections {
        let number = section.number.as_ref().map_or_else(String::new, |number| format!(" [{number}]"));
        let above = section.path.last().map_or_else(String::new, |above| format!(" in «{above}»"));
        out.push_str(&format!("{} «{}»{number} {}{above}\n", section.level, section.heading, section.place));
        out.extend(section.body.lines().map(|line| format!("{}\n", format!("  {line}").trim_end())));
    }
    out.extend(document.notes.iter().map(|note| format!("note: {note}\n")));
    out
}

#[track_caller]
pub(super) fn refusal(name: &str, bytes: &[u8]) -> String {
    ingest(name, bytes, &IngestLimits::default())
        .map(|document| document.sections.len())
        .expect_err("it was taken")
        .to_string()
}
