//! Ingests documents: splits them into sections, which are searched, cited and scored.
//!
//! Documents are untrusted. They are read from memory, within [`IngestLimits`], on a thread with a timeout; nothing is written.
//! Notes record what was left out or corrected.

mod clause;
mod docx;
mod markdown;
mod outline;
mod pdf;
#[expect(missing_docs, reason = "field names say it")]
mod section;
#[cfg(test)]
mod testing;

pub use section::{Document, Section, SectionId, SectionPlace, stored_document};

use karat_format::session::UnitV1;
use outline::Outline;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;

/// A document format.
#[expect(missing_docs, reason = "field names say it")]
pub struct DocumentFormat {
    pub name: &'static str,
    /// Lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// The unit of section places.
    pub unit: UnitV1,
    read: fn(&Source<'_>, &mut Outline<'_>) -> Result<()>,
}

/// All formats, in listing order.
pub static FORMATS: &[DocumentFormat] = &[markdown::FORMAT, docx::FORMAT, pdf::FORMAT];

pub(crate) fn format_of(name: &str) -> Option<&'static DocumentFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
}

/// Limits on one document; each applies to every format that has the thing it limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct IngestLimits {
    pub file_bytes: usize,
    /// One packed part (archive entry, PDF stream), unpacked.
    pub part_bytes: usize,
    /// All packed parts together, unpacked.
    pub unpacked_bytes: usize,
    pub entries: usize,
    /// Nesting of XML and Markdown.
    pub depth: usize,
    /// Events of one XML part.
    pub xml_events: usize,
    /// Lines and markup characters of a Markdown file, each of which may become a tree node.
    pub markup: usize,
    pub pages: usize,
    pub sections: usize,
    pub seconds: u64,
}

impl Default for IngestLimits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            part_bytes: 64 << 20,
            unpacked_bytes: 256 << 20,
            entries: 10_000,
            depth: 200,
            xml_events: 10_000_000,
            markup: 500_000,
            pages: 5_000,
            sections: 50_000,
            seconds: 60,
        }
    }
}

fn size(bytes: usize) -> String {
    if bytes >= 1 << 20 && bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}

/// Incremented when the same bytes give other sections, so that stored ones are not reused.
pub const VERSION: i64 = 1;

/// Ingests a document. The name selects the format and is used in messages; no file is opened.
pub fn ingest(name: &str, bytes: &[u8], limits: &IngestLimits) -> Result<Document, IngestError> {
    let Some(format) = format_of(name) else {
        return Err(IngestError::UnknownFormat { name: name.to_owned() });
    };
    if bytes.is_empty() {
        return Err(IngestError::Empty { name: name.to_owned() });
    }
    if bytes.len() > limits.file_bytes {
        let what = "the file".to_owned();
        return Err(IngestError::TooMuch { name: name.to_owned(), what, limit: size(limits.file_bytes) });
    }
    // An abandoned thread outlives this call, so it owns its input.
    let (owned, kept, limits) = (name.to_owned(), bytes.to_vec(), limits.clone());
    run_guarded(name, format.name, limits.seconds, move || {
        let source = Source { name: &owned, bytes: &kept, limits: &limits };
        let mut outline = Outline::new(&source, format.unit);
        (format.read)(&source, &mut outline)?;
        let (sections, notes) = outline.finish()?;
        Ok(Document { name: owned.clone(), format: format.name, sections, notes })
    })
}

const THREAD: &str = "karat-ingest";
/// Third-party readers recurse within limits checked before; this is enough for them.
const STACK: usize = 64 << 20;

/// Whether a panic on this thread is caught and reported as a fault of the document.
pub fn is_guarded() -> bool {
    std::thread::current().name() == Some(THREAD)
}

/// A reader that takes longer is abandoned, since threads cannot be stopped; the other limits bound its work.
fn run_guarded<T: Send + 'static>(
    name: &str,
    format: &'static str,
    seconds: u64,
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, receive) = channel();
    let broken = || IngestError::Broken { name: name.to_owned(), format };
    // Third-party readers panic on some damaged files; nothing that such a reader built is used.
    let guarded = move || send.send(catch_unwind(AssertUnwindSafe(read)).ok());
    Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn(guarded).map_err(|_| broken())?;
    match receive.recv_timeout(Duration::from_secs(seconds)) {
        Ok(Some(result)) => result,
        Ok(None) | Err(RecvTimeoutError::Disconnected) => Err(broken()),
        Err(RecvTimeoutError::Timeout) => Err(IngestError::TooSlow { name: name.to_owned(), seconds }),
    }
}

type Result<T, E = IngestError> = std::result::Result<T, E>;

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

struct Source<'a> {
    name: &'a str,
    bytes: &'a [u8],
    limits: &'a IngestLimits,
}

impl Source<'_> {
    fn malformed(&self, place: &str, message: impl Into<String>) -> IngestError {
        IngestError::Malformed { name: self.name.to_owned(), place: place.to_owned(), message: message.into() }
    }

    fn too_much(&self, what: impl Into<String>, limit: impl std::fmt::Display) -> IngestError {
        IngestError::TooMuch { name: self.name.to_owned(), what: what.into(), limit: limit.to_string() }
    }

    /// Rejects files that are obviously of another format.
    fn refuse_other_kinds(&self, wanted: &str) -> Result<()> {
        let seen = match self.bytes {
            [b'P', b'K', 3 | 5, 4 | 6, ..] if wanted != "docx" => "a zip archive, perhaps a .docx",
            [0xd0, 0xcf, 0x11, 0xe0, ..] if wanted == "docx" => {
                return Err(IngestError::Encrypted {
                    name: self.name.to_owned(),
                    what: "an old .doc, or a .docx with a password",
                });
            }
            [0xd0, 0xcf, 0x11, 0xe0, ..] => "an old Office file",
            bytes if bytes.starts_with(b"%PDF-") && wanted != "pdf" => "a PDF",
            bytes if bytes.starts_with(b"{\\rtf") => "a rich text file",
            _ => return Ok(()),
        };
        let message = format!("this is {seen}, not what its name says; give it the ending of what it is");
        Err(self.malformed("", message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_format_has_unique_extensions() {
        let mut endings = BTreeSet::new();
        for format in FORMATS {
            assert!(!format.extensions.is_empty(), "{}", format.name);
            for extension in format.extensions {
                assert!(endings.insert(*extension), "{extension} is used twice");
                assert_eq!(format_of(&format!("a.b.{}", extension.to_uppercase())).map(|f| f.name), Some(format.name));
            }
        }
        assert!(format_of("md").is_none() && format_of("a.exe").is_none() && format_of("").is_none());
    }

    #[track_caller]
    fn check_refused(name: &str, bytes: &[u8], expect: &str) {
        let limits = IngestLimits { file_bytes: 1000, ..IngestLimits::default() };
        let error = ingest(name, bytes, &limits).expect_err("it was taken").to_string();
        assert_eq!(error, expect);
    }

    #[test]
    fn unsupported_files_are_refused_with_help() {
        check_refused("a.exe", b"x", "a.exe: unsupported kind of document; supported: .md, .markdown, .docx, .pdf");
        check_refused("a.md", b"", "a.md: the file is empty; is it the right one?");
        check_refused(
            "a.md",
            &[b'x'; 1001],
            "a.md: the file exceeds the limit for one document (1000 bytes); split it, or remove what it does not need",
        );
        check_refused(
            "a.md",
            b"%PDF-1.7 ...",
            "a.md: this is a PDF, not what its name says; give it the ending of what it is",
        );
        check_refused(
            "a.md",
            b"PK\x03\x04 ...",
            "a.md: this is a zip archive, perhaps a .docx, not what its name says; give it the ending of what it is",
        );
    }

    #[test]
    fn panicking_and_slow_readers_are_errors() {
        assert_eq!(run_guarded("a.pdf", "pdf", 5, || Ok(is_guarded())), Ok(true));
        assert!(!is_guarded());
        let broken: Result<(), _> = run_guarded("a.pdf", "pdf", 5, || panic!("bad xref"));
        let expect = "a.pdf: this pdf is damaged in a way that breaks its reader; open it and save it again";
        assert_eq!(broken.expect_err("the reader panicked").to_string(), expect);
        let slow: Result<(), _> = run_guarded("a.pdf", "pdf", 0, || {
            std::thread::sleep(Duration::from_secs(2));
            Ok(())
        });
        assert_eq!(slow, Err(IngestError::TooSlow { name: "a.pdf".to_owned(), seconds: 0 }));
    }
}
