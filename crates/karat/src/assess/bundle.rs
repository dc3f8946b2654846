//! A record with its template and its documents, checked against each other.

use super::discover::RecordPlace;
use super::evidence::{Source, Texts};
use super::folder::Bounded;
use super::record::{BLOCKS, Page, Written, read};
use super::template::{MOST_BYTES, Refused, Template, find, too_large};
use crate::diagnostic::{Diagnostic, Faults};
use crate::document::suggest::nearest;
use crate::format::golden_record::GoldenRecordV0_4;
use crate::format::template::TemplateV1;
use crate::ingest::{Document, IngestError, Limits, format_of};
use karat_core::assessment::record::GoldenRecord;
use std::collections::BTreeMap;

pub use super::evidence::Standing;

/// A golden record with everything that it is about. What it says of its documents is true of them.
#[derive(Debug)]
pub struct Bundle {
    /// What is true of the documents.
    pub record: GoldenRecord,
    /// The record's file as the user knows it.
    pub record_path: String,
    /// The requirements.
    pub template: Template,
    /// The documents, taken apart, by name.
    pub documents: Vec<Document>,
    /// The files of the documents, in the same order.
    pub files: Vec<DocumentFile>,
    /// Where the golden parts of each requirement stand, in the order of its `evidence_parts`.
    pub standings: Vec<Vec<Standing>>,
    /// Things a person should know.
    pub notes: Vec<String>,
    pub(super) page: Page,
}

/// A document as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    /// Its name.
    pub name: String,
    /// The BLAKE3 hash of its bytes, in hexadecimal digits.
    pub hash: String,
    /// How many bytes it has.
    pub bytes: usize,
}

/// What a document's bytes are known by: their BLAKE3 hash, in hexadecimal digits.
pub fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Takes a document apart: by its name and its bytes.
pub type Ingest<'i> = dyn FnMut(&str, &[u8]) -> Result<Document, IngestError> + 'i;

/// Loads many records. All faults of all of them come at once, and no bundle is stated twice for a template.
pub fn load_all(places: &[RecordPlace], ingest: &mut Ingest<'_>) -> Result<Vec<Bundle>, Faults> {
    let (mut bundles, mut faults): (Vec<Bundle>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for place in places {
        match load(place, ingest) {
            Ok(bundle) => bundles.push(bundle),
            // Records share templates, whose faults are told once.
            Err(own) => own.into_iter().for_each(|fault| {
                if !faults.contains(&fault) {
                    faults.push(fault);
                }
            }),
        }
    }
    let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for bundle in &bundles {
        let GoldenRecord { bundle: id, template, .. } = &bundle.record;
        if let Some(earlier) = first.get(&(id.as_str(), template.as_str())) {
            let message = format!("the bundle `{id}` is held against `{template}` already, by {earlier}");
            faults.extend(bundle.page.at(&["bundle_id"], "duplicate-id", message));
        } else {
            first.insert((id, template), &bundle.record_path);
        }
    }
    if faults.is_empty() { Ok(bundles) } else { Err(Faults(faults)) }
}

/// Loads a record with its template and its documents. All faults come at once; nothing is half-loaded.
pub fn load(place: &RecordPlace, ingest: &mut Ingest<'_>) -> Result<Bundle, Vec<Diagnostic>> {
    let shown = place.shown();
    let bytes = record_bytes(place, &shown)?;
    let (written, mut faults) = read(&shown, &bytes);
    let Some(Written { record, page }) = written else { return Err(faults) };
    let template = match template_of(&record, place, &page) {
        Ok(template) => template,
        Err(own) => {
            faults.extend(own);
            None
        }
    };
    if let Some(template) = &template {
        check_names(&record, template, &page, &mut faults);
    }
    let (documents, files) = documents_of(place, ingest, &mut faults);
    let standings = standings(&record, &documents, &page, &mut faults);
    faults.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    match template {
        Some(template) if faults.is_empty() => {
            let documents: Vec<Document> = documents.into_iter().filter_map(|(_, document)| document).collect();
            let note = |document: &Document| {
                document.notes.iter().map(|note| format!("{}: {note}", document.name)).collect::<Vec<_>>()
            };
            let notes = documents.iter().flat_map(note).collect();
            let record = record.into_record();
            Ok(Bundle { record, record_path: shown, template, documents, files, standings, notes, page })
        }
        _ => Err(faults),
    }
}

fn record_bytes(place: &RecordPlace, shown: &str) -> Result<Vec<u8>, Vec<Diagnostic>> {
    let fault = match place.folder.read(&place.name, MOST_BYTES) {
        Ok(Bounded::Whole(bytes)) => return Ok(bytes),
        Ok(Bounded::TooLarge) => too_large(shown),
        Ok(Bounded::Absent) if place.folder.leads_out(&place.name) => {
            Diagnostic::of_file(shown, "path-escapes", "this link leads out of the folder of the record")
                .with_help("put the record itself there, beside its documents")
        }
        Ok(Bounded::Absent) => Diagnostic::of_file(shown, "no-such-place", "there is no such file"),
        Err(error) => Diagnostic::of_file(shown, "unreadable", error.to_string()),
    };
    Err(vec![fault])
}

/// The template; `None` where the record does not name one in a way that could be looked for.
fn template_of(
    record: &GoldenRecordV0_4,
    place: &RecordPlace,
    page: &Page,
) -> Result<Option<Template>, Vec<Diagnostic>> {
    let id = &record.template_id;
    let plain = !id.contains(['/', '\\']) && crate::format::id_fault(&[], id).is_none();
    if !plain || !page.0.has(&["template_id".into()]) {
        return Ok(None);
    }
    match find(id, &place.folder.and_above()) {
        Ok(template) => Ok(Some(template)),
        Err(Refused::Faulty(faults)) => Err(faults),
        Err(Refused::Unknown { message, help }) => {
            let fault = page.at(&["template_id"], "unknown-template", message);
            Err(fault.map(|fault| fault.with_help(help)).into_iter().collect())
        }
    }
}

/// Holds the ids of a record against those of its template.
fn check_names(record: &GoldenRecordV0_4, template: &Template, page: &Page, faults: &mut Vec<Diagnostic>) {
    let TemplateV1 { requirements, questions, .. } = &template.config;
    let unknown = |path: &[&str], what: &str, id: &str, known: &[&str]| {
        let message = format!("the template `{}` has no {what} `{id}`", template.id);
        let help = match nearest(id, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there is: {}", listed(known)),
        };
        let code = if what == "question" { "unknown-question" } else { "unknown-requirement" };
        page.at_key(path, code, message).map(|fault| fault.with_help(help))
    };
    let known: Vec<&str> = requirements.names().collect();
    for id in record.requirements.names().filter(|id| requirements.get(id).is_none()) {
        faults.extend(unknown(&["requirements", id], "requirement", id, &known));
    }
    let known: Vec<&str> = questions.names().collect();
    let asked = |id: &&str| known.is_empty() || questions.get(id).is_some();
    for id in record.assumptions.question_answers.names().filter(|id| !asked(id)) {
        faults.extend(unknown(&["assumptions", "question_answers", id], "question", id, &known));
    }
}

/// Names in a row, of which the first are enough.
pub(super) fn listed(names: &[&str]) -> String {
    let most = 8;
    let more = names.len().saturating_sub(most);
    let first = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// The documents beside a record, by name; `None` for one that could not be taken, which is told.
type Documents = Vec<(String, Option<Document>)>;

fn documents_of(
    place: &RecordPlace,
    ingest: &mut Ingest<'_>,
    faults: &mut Vec<Diagnostic>,
) -> (Documents, Vec<DocumentFile>) {
    let (mut documents, mut files) = (Vec::new(), Vec::new());
    let shown = |name: &str| place.folder.display(name);
    let entries = match place.folder.entries() {
        Ok(entries) => entries,
        Err(error) => {
            faults.push(Diagnostic::of_file(shown(""), "unreadable", error.to_string()));
            return (documents, files);
        }
    };
    for link in entries.refused.iter().filter(|name| is_source(name)) {
        let message = "this link leads out of the folder of the record, or to nothing";
        let help = "put the document itself there";
        faults.push(Diagnostic::of_file(shown(link), "path-escapes", message).with_help(help));
        documents.push((link.clone(), None));
    }
    let limits = Limits::default();
    for name in entries.files.into_iter().filter(|name| is_source(name)) {
        let mut refuse = |message: String| faults.push(Diagnostic::of_file(shown(&name), "bad-document", message));
        let document = match place.folder.read(&name, limits.file_bytes) {
            Err(error) => {
                refuse(error.to_string());
                None
            }
            Ok(Bounded::Absent) => {
                refuse("the file cannot be read by its name".to_owned());
                None
            }
            Ok(Bounded::TooLarge) => {
                refuse(format!("the file is larger than the {} MiB that are read of one", limits.file_bytes >> 20));
                None
            }
            Ok(Bounded::Whole(bytes)) => {
                let hash = hash_of(&bytes);
                files.push(DocumentFile { name: name.clone(), hash, bytes: bytes.len() });
                ingest(&name, &bytes).map_err(|error| refuse(error.to_string())).ok()
            }
        };
        documents.push((name, document));
    }
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    if documents.is_empty() {
        let message = "there is no document beside the record";
        let help = "put .md, .pdf or .docx files into the folder of the record; *.golden.* files do not count";
        faults.push(Diagnostic::of_file(place.shown(), "no-documents", message).with_help(help));
    }
    (documents, files)
}

/// A document to assess: known by its ending, no golden side file, not hidden, and not the lock of an open document.
fn is_source(name: &str) -> bool {
    format_of(name).is_some() && !name.contains(".golden.") && !name.starts_with(['.', '~'])
}

/// Where every golden part stands; what does not is a fault.
fn standings(
    record: &GoldenRecordV0_4,
    documents: &Documents,
    page: &Page,
    faults: &mut Vec<Diagnostic>,
) -> Vec<Vec<Standing>> {
    let names: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    // Documents that were refused hold no text, and nothing is said of what should stand in them.
    let mut sources = Vec::new();
    for (name, document) in documents {
        let sections = document.as_ref().map_or(&[][..], |document| &document.sections);
        sources.push(Source { name, sections });
    }
    let mut texts = Texts::new(sources);
    let own = record.clone().into_record();
    let mut standings = Vec::new();
    for requirement in &own.requirements {
        let mut stand = Vec::new();
        for (role, part) in requirement.evidence_parts() {
            let block = BLOCKS[role as usize];
            let at = |key| ["requirements", requirement.id.as_str(), block, part.id.as_str(), key];
            let stated = |key| page.0.has(&at(key).map(Into::into));
            let path_like = part.document.trim().is_empty() || part.document.contains(['/', '\\']);
            if names.is_empty() || path_like || !stated("document") {
                continue;
            }
            let Some(document) = names.iter().position(|name| *name == part.document) else {
                let message = format!("there is no document `{}` beside the record", part.document);
                let help = match nearest(&part.document, names.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("there is: {}", listed(&names)),
                };
                let fault = page.at(&at("document"), "unknown-document", message);
                faults.extend(fault.map(|fault| fault.with_help(help)));
                continue;
            };
            let worded = |text: &str| !karat_core::assessment::text::tokens(text).is_empty();
            let sound = stated("title") && stated("text") && worded(&part.title) && worded(&part.text);
            if !sound || documents[document].1.is_none() {
                continue;
            }
            match texts.stands(part, document) {
                Ok(standing) => stand.push(standing),
                Err(found) => faults.extend(found.into_iter().filter_map(|fault| {
                    let placed = page.at(&at(fault.key), fault.code, fault.message)?;
                    Some(Diagnostic { help: fault.help, ..placed })
                })),
            }
        }
        standings.push(stand);
    }
    standings
}
