//! Errors of ingesting a document.

use super::FORMATS;

/// Why a document could not be ingested; no part of it is used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum IngestError {
    #[error("{name}: unsupported kind of document; supported: {}", endings())]
    UnknownFormat { name: String },
    #[error("{name}: the file is empty; is it the right one?")]
    Empty { name: String },
    #[error("{name}: {what} exceeds the limit for one document ({limit}); split it, or remove what it does not need")]
    TooMuch { name: String, what: String, limit: String },
    #[error("{name}{}: {message}", within(.place))]
    Malformed {
        name: String,
        /// Where in the document, such as `word/document.xml`; empty for the whole.
        place: String,
        message: String,
    },
    #[error("{name}: this is {what}; open it in the program that made it and save it again without a password")]
    Encrypted { name: String, what: &'static str },
    #[error(
        "{name}: there is no text on {}; it was probably scanned, so run text recognition (OCR) over it first",
        all_of(*.pages)
    )]
    NoText { name: String, pages: usize },
    #[error(
        "{name}: reading it took longer than {seconds} s and was stopped; is it damaged? Save it again, or split it"
    )]
    TooSlow { name: String, seconds: u64 },
    #[error("{name}: this {format} is damaged in a way that breaks its reader; open it and save it again")]
    Broken { name: String, format: &'static str },
}

fn endings() -> String {
    let all: Vec<String> = FORMATS.iter().flat_map(|format| format.extensions).map(|e| format!(".{e}")).collect();
    all.join(", ")
}

fn within(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" ({place})") }
}

fn all_of(n: usize) -> String {
    if n == 1 { "its page".to_owned() } else { format!("any of its {n} pages") }
}
