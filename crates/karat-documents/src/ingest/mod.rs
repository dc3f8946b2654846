//! Ingests documents: splits them into sections, which are searched, cited and scored.
//!
//! Documents are untrusted. They are read from memory, within [`IngestLimits`], on a thread with a timeout; nothing is written.
//! Notes record what was left out or corrected.

mod clause;
mod docx;
mod error;
mod guard;
mod markdown;
mod outline;
mod pdf;
#[expect(missing_docs, reason = "field names say it")]
mod section;
mod stored;
#[cfg(test)]
mod testing;

pub use error::IngestError;
pub use guard::is_guarded;
pub use section::{Document, Section, SectionId, SectionPlace, Unit};
pub use stored::stored_document;

use outline::Outline;

/// A document format.
#[expect(missing_docs, reason = "field names say it")]
pub struct DocumentFormat {
    pub name: &'static str,
    pub description: &'static str,
    /// Lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// The unit of section places.
    pub unit: Unit,
    read: fn(&Source<'_>, &mut Outline<'_>) -> Result<(), IngestError>,
}

/// All formats, in listing order.
pub static FORMATS: &[DocumentFormat] = &[markdown::FORMAT, docx::FORMAT, pdf::FORMAT];

/// Finds a format by file name.
pub fn format_of(name: &str) -> Option<&'static DocumentFormat> {
    let (_, extension) = name.rsplit_once('.')?;
    let extension = extension.to_ascii_lowercase();
    FORMATS.iter().find(|format| format.extensions.contains(&extension.as_str()))
}

/// Finds a format by name.
pub fn format_named(name: &str) -> Option<&'static DocumentFormat> {
    FORMATS.iter().find(|format| format.name == name)
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
    guard::run(name, format.name, limits.seconds, move || {
        let source = Source { name: &owned, bytes: &kept, limits: &limits };
        let mut outline = Outline::new(&source, format.unit);
        (format.read)(&source, &mut outline)?;
        let (sections, notes) = outline.finish()?;
        Ok(Document { name: owned.clone(), format: format.name, sections, notes })
    })
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
    fn refuse_other_kinds(&self, wanted: &str) -> Result<(), IngestError> {
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
    fn every_format_has_a_description_and_unique_extensions() {
        let mut endings = BTreeSet::new();
        for format in FORMATS {
            assert!(!format.description.is_empty(), "{}", format.name);
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
}
