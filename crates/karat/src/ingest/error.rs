//! Why a document could not be taken.

use super::FORMATS;

/// A document that could not be taken apart. Nothing of it is taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IngestError {
    /// Its name tells no known format.
    #[error("{name}: documents of this kind cannot be read; known are {}", endings())]
    UnknownFormat {
        /// The document.
        name: String,
    },
    /// There is nothing in it.
    #[error("{name}: the file is empty; is it the right one?")]
    Empty {
        /// The document.
        name: String,
    },
    /// There is more of something than is taken.
    #[error(
        "{name}: {what} is more than is taken from one document ({limit}); split it, or leave out what it does not need"
    )]
    TooMuch {
        /// The document.
        name: String,
        /// What there is too much of.
        what: String,
        /// How much would be taken.
        limit: String,
    },
    /// It is not what its name or its own words say.
    #[error("{name}{}: {message}", within(.place))]
    Malformed {
        /// The document.
        name: String,
        /// Where in it, such as `word/document.xml`; empty for the whole.
        place: String,
        /// What was seen and what to do.
        message: String,
    },
    /// It cannot be opened without a password.
    #[error("{name}: this is {what}; open it in the program that made it and save it again without a password")]
    Encrypted {
        /// The document.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// It has pages, and no text on them.
    #[error(
        "{name}: there is no text on {}; it was probably scanned, so run text recognition (OCR) over it first",
        all_of(*.pages)
    )]
    NoText {
        /// The document.
        name: String,
        /// How many pages it has.
        pages: usize,
    },
    /// Reading it took too long.
    #[error(
        "{name}: reading it took longer than {seconds} s and was given up; is it damaged? Save it again, or split it"
    )]
    TooSlow {
        /// The document.
        name: String,
        /// How long it was given.
        seconds: u64,
    },
    /// Something in it broke the reader.
    #[error("{name}: this {format} is damaged in a way that breaks its reader; open it and save it again")]
    Broken {
        /// The document.
        name: String,
        /// The format it was read as.
        format: &'static str,
    },
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
