//! Ingests documents: splits them into sections, which are searched, cited and scored.
//!
//! Documents are untrusted. They are read from memory, within [`IngestLimits`], on a thread with a timeout; nothing is written.
//! Notes record what was left out or corrected.

mod clause;
mod docx;
mod markdown;
mod outline;
mod pdf;
#[cfg(test)]
mod tests;

pub use karat_format::session::{IngestedSectionV1 as Section, PlaceV1 as SectionPlace};

use crate::{DocumentError, Result};
use karat_format::session::{IngestedV1, UnitV1};
use outline::Outline;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::{Duration, Instant};

/// An ingested document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Document {
    pub name: String,
    pub format: &'static str,
    /// In document order; all text is in exactly one of them.
    pub sections: Vec<Section>,
    pub notes: Vec<String>,
}

impl From<&Document> for IngestedV1 {
    fn from(document: &Document) -> Self {
        let Document { format, sections, notes, .. } = document.clone();
        Self { format: format.to_owned(), sections, notes }
    }
}

/// Restores a stored document under its current name; `None` if its format is unknown.
pub fn stored_document(stored: IngestedV1, name: &str) -> Option<Document> {
    let IngestedV1 { format, sections, notes } = stored;
    let format = FORMATS.iter().find(|known| known.name == format)?.name;
    Some(Document { name: name.to_owned(), format, sections, notes })
}

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
pub fn ingest(name: &str, bytes: &[u8], limits: &IngestLimits) -> Result<Document> {
    let source = Source { name, bytes, limits };
    let Some(format) = format_of(name) else {
        let known: Vec<String> = FORMATS.iter().flat_map(|format| format.extensions).map(|e| format!(".{e}")).collect();
        let message = format!("{name}: unsupported kind of document; supported: {}", known.join(", "));
        return Err(DocumentError::Usage(message));
    };
    if bytes.is_empty() {
        return Err(source.unreadable("the file is empty; is it the right one?"));
    }
    if bytes.len() > limits.file_bytes {
        return Err(source.too_much("the file", size(limits.file_bytes)));
    }
    // An abandoned thread outlives this call, so it owns its input.
    let (owned, kept, limits) = (name.to_owned(), bytes.to_vec(), limits.clone());
    run_guarded(&source, format.name, move || {
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
    source: &Source<'_>,
    format: &str,
    read: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let (send, receive) = channel();
    let seconds = source.limits.seconds;
    // Third-party readers panic on some damaged files; nothing that such a reader built is used.
    let guarded = move || send.send(catch_unwind(AssertUnwindSafe(read)).ok());
    Builder::new().name(THREAD.to_owned()).stack_size(STACK).spawn(guarded).map_err(|_| source.broken(format))?;
    let limit = Duration::from_secs(seconds);
    let (began, spent_before) = (Instant::now(), processor_time());
    let mut wait = limit;
    loop {
        match receive.recv_timeout(wait) {
            Ok(Some(result)) => return result,
            Ok(None) | Err(RecvTimeoutError::Disconnected) => return Err(source.broken(format)),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if took_too_long(processor_time().saturating_sub(spent_before), began.elapsed(), limit) {
            let help = "is it damaged? Save it again, or split it";
            let message = format!("reading it took longer than {seconds} s and was stopped; {help}");
            return Err(source.unreadable(message));
        }
        wait = LOOK;
    }
}

/// How often it is looked whether a reader has taken too long.
const LOOK: Duration = Duration::from_millis(200);
/// How many times the limit a reader may take by the clock.
const LONGEST: u32 = 20;

/// On a busy machine a reader gets little of the time that passes, so the limit is one of processor time.
fn took_too_long(spent: Duration, elapsed: Duration, limit: Duration) -> bool {
    spent >= limit || elapsed >= limit * LONGEST
}

/// The processor time of this process: at least that of a reader in it.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

struct Source<'a> {
    name: &'a str,
    bytes: &'a [u8],
    limits: &'a IngestLimits,
}

impl Source<'_> {
    fn unreadable(&self, message: impl Display) -> DocumentError {
        DocumentError::BadInput(format!("{}: {message}", self.name))
    }

    /// Something is wrong in a part of the document, such as `word/document.xml`.
    fn malformed_part(&self, part: &str, message: impl Display) -> DocumentError {
        DocumentError::BadInput(format!("{} ({part}): {message}", self.name))
    }

    fn too_much(&self, what: impl Display, limit: impl Display) -> DocumentError {
        let help = "split it, or remove what it does not need";
        self.unreadable(format!("{what} exceeds the limit for one document ({limit}); {help}"))
    }

    fn encrypted(&self, what: &str) -> DocumentError {
        let help = "open it in the program that made it and save it again without a password";
        self.unreadable(format!("this is {what}; {help}"))
    }

    fn broken(&self, format: &str) -> DocumentError {
        let help = "open it and save it again";
        self.unreadable(format!("this {format} is damaged in a way that breaks its reader; {help}"))
    }

    /// Rejects files that are obviously of another format.
    fn refuse_other_kinds(&self, wanted: &str) -> Result<()> {
        let actual = match self.bytes {
            [b'P', b'K', 3 | 5, 4 | 6, ..] if wanted != "docx" => "a zip archive, perhaps a .docx",
            [0xd0, 0xcf, 0x11, 0xe0, ..] if wanted == "docx" => {
                return Err(self.encrypted("an old .doc, or a .docx with a password"));
            }
            [0xd0, 0xcf, 0x11, 0xe0, ..] => "an old Office file",
            bytes if bytes.starts_with(b"%PDF-") && wanted != "pdf" => "a PDF",
            bytes if bytes.starts_with(b"{\\rtf") => "a rich text file",
            _ => return Ok(()),
        };
        Err(self.unreadable(format!("this is {actual}, not what its name says; give it the ending of what it is")))
    }
}
