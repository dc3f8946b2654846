//! Loads a golden record with its template and documents, and checks them against each other.

use super::discover::RecordPlace;
use super::evidence::{BundleTexts, Source};
use super::folder::Bounded;
use super::record::{BLOCKS, SourceFile, read};
use super::template::{MOST_BYTES, Template, TemplateError, find, too_large};
use crate::did_you_mean;
use crate::ingest::{Document, IngestError, IngestLimits, format_of};
use karat_core::assessment::record::GoldenRecord;
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::golden_record::GoldenRecordV0_4;
use karat_format::template::TemplateV1;
use std::collections::BTreeMap;

pub use super::evidence::EvidenceLocation;

/// A valid golden record with its template and documents.
#[derive(Debug)]
pub struct Bundle {
    pub record: GoldenRecord,
    /// As the user knows it.
    pub record_path: String,
    pub template: Template,
    pub documents: Vec<Document>,
    /// In the order of `documents`.
    pub files: Vec<DocumentFile>,
    /// Locations of each requirement's golden parts, in the order of its `evidence_parts`.
    pub evidence_locations: Vec<Vec<EvidenceLocation>>,
    pub notes: Vec<String>,
    pub(super) source: SourceFile,
}

#[derive(Clone, Copy, Debug)]
pub struct BundleRef<'a> {
    pub bundle_id: &'a str,
    pub template_id: &'a str,
}

#[derive(Clone, Copy, Debug)]
pub struct RequirementRef<'a> {
    pub bundle: BundleRef<'a>,
    pub requirement_id: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    pub name: String,
    /// BLAKE3, in hex.
    pub hash: String,
    pub bytes: usize,
}

/// BLAKE3 of a document, in hex.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Ingests a document, given its name and bytes.
pub type Ingest<'i> = dyn FnMut(&str, &[u8]) -> Result<Document, IngestError> + 'i;

/// Loads many records. All faults are reported at once; two records must not state the same bundle for a template.
pub fn load_all(places: &[RecordPlace], ingest: &mut Ingest<'_>) -> Result<Vec<Bundle>, Faults> {
    let (mut bundles, mut faults): (Vec<Bundle>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for place in places {
        match load(place, ingest) {
            Ok(bundle) => bundles.push(bundle),
            // Records share templates, whose faults are reported once.
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
            let message = format!("the bundle `{id}` is already compared with `{template}`, by {earlier}");
            faults.extend(bundle.source.at(&["bundle_id"], "duplicate-id", message));
        } else {
            first.insert((id, template), &bundle.record_path);
        }
    }
    if faults.is_empty() { Ok(bundles) } else { Err(Faults(faults)) }
}

/// Loads a record with its template and documents. All faults are reported at once.
pub fn load(place: &RecordPlace, ingest: &mut Ingest<'_>) -> Result<Bundle, Vec<Diagnostic>> {
    let shown = place.display_path();
    let bytes = record_bytes(place, &shown)?;
    let (written, mut faults) = read(&shown, &bytes);
    let Some((record, source)) = written else { return Err(faults) };
    let template = template_of(&record, place, &source).unwrap_or_else(|own| {
        faults.extend(own);
        None
    });
    if let Some(template) = &template {
        check_names(&record, template, &source, &mut faults);
    }
    let (documents, files) = documents_of(place, ingest, &mut faults);
    let evidence_locations = evidence_locations(&record, &documents, &source, &mut faults);
    faults.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    match template {
        Some(template) if faults.is_empty() => {
            let documents: Vec<Document> = documents.into_iter().filter_map(|(_, document)| document).collect();
            let note = |document: &Document| {
                document.notes.iter().map(|note| format!("{}: {note}", document.name)).collect::<Vec<_>>()
            };
            let notes = documents.iter().flat_map(note).collect();
            let record = record.into_record();
            Ok(Bundle { record, record_path: shown, template, documents, files, evidence_locations, notes, source })
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
        Ok(Bounded::Absent) => Diagnostic::of_file(shown, "no-such-place", "missing file"),
        Err(error) => Diagnostic::of_file(shown, "unreadable", error.to_string()),
    };
    Err(vec![fault])
}

/// The template; `None` if the record names none that could be looked for.
fn template_of(
    record: &GoldenRecordV0_4,
    place: &RecordPlace,
    source: &SourceFile,
) -> Result<Option<Template>, Vec<Diagnostic>> {
    let id = &record.template_id;
    let plain = !id.contains(['/', '\\']) && karat_format::id_fault(&[], id).is_none();
    if !plain || !source.0.has(&["template_id".into()]) {
        return Ok(None);
    }
    match find(id, &place.folder.and_above()) {
        Ok(template) => Ok(Some(template)),
        Err(TemplateError::Faulty(faults)) => Err(faults),
        Err(TemplateError::Unknown { message, help }) => {
            let fault = source.at(&["template_id"], "unknown-template", message);
            Err(fault.map(|fault| fault.with_help(help)).into_iter().collect())
        }
    }
}

/// Checks the ids of a record against its template.
fn check_names(record: &GoldenRecordV0_4, template: &Template, source: &SourceFile, faults: &mut Vec<Diagnostic>) {
    let TemplateV1 { requirements, questions, .. } = &template.config;
    let unknown = |path: &[&str], what: &str, id: &str, known: &[&str]| {
        let message = format!("the template `{}` has no {what} `{id}`", template.id);
        let help = did_you_mean(id, known, || format!("there is: {}", listed(known)));
        let code = if what == "question" { "unknown-question" } else { "unknown-requirement" };
        source.at_key(path, code, message).map(|fault| fault.with_help(help))
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

/// Lists names, the first few if there are many.
pub(super) fn listed(names: &[&str]) -> String {
    let most = 8;
    let more = names.len().saturating_sub(most);
    let first = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{first} and {more} more") } else { first }
}

/// The documents by name; `None` for one that failed, which is reported.
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
    let limits = IngestLimits::default();
    for name in entries.files.into_iter().filter(|name| is_source(name)) {
        let bytes = match place.folder.read(&name, limits.file_bytes) {
            Ok(Bounded::Whole(bytes)) => Ok(bytes),
            Ok(Bounded::Absent) => Err("the file cannot be read by its name".to_owned()),
            Ok(Bounded::TooLarge) => {
                Err(format!("the file is larger than the {} MiB that are read of one", limits.file_bytes >> 20))
            }
            Err(error) => Err(error.to_string()),
        };
        let document = bytes.and_then(|bytes| {
            files.push(DocumentFile { name: name.clone(), hash: content_hash(&bytes), bytes: bytes.len() });
            ingest(&name, &bytes).map_err(|error| error.to_string())
        });
        let document = document.map_err(|message| {
            faults.push(Diagnostic::of_file(shown(&name), "bad-document", message));
        });
        documents.push((name, document.ok()));
    }
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    if documents.is_empty() {
        let message = "there is no document beside the record";
        let help = "put .md, .pdf or .docx files into the folder of the record; *.golden.* files do not count";
        faults.push(Diagnostic::of_file(place.display_path(), "no-documents", message).with_help(help));
    }
    (documents, files)
}

/// Whether a file is a document to assess: a known extension, not a golden side file, not hidden, not an editor's lock file.
fn is_source(name: &str) -> bool {
    format_of(name).is_some() && !name.contains(".golden.") && !name.starts_with(['.', '~'])
}

/// Locates every golden part; those not found are faults.
fn evidence_locations(
    record: &GoldenRecordV0_4,
    documents: &Documents,
    source: &SourceFile,
    faults: &mut Vec<Diagnostic>,
) -> Vec<Vec<EvidenceLocation>> {
    let names: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    // A document that failed has no text, so nothing is reported about its parts.
    let mut sources = Vec::new();
    for (name, document) in documents {
        let sections = document.as_ref().map_or(&[][..], |document| &document.sections);
        sources.push(Source { name, sections });
    }
    let mut texts = BundleTexts::new(sources);
    let own = record.clone().into_record();
    let mut evidence_locations = Vec::new();
    for requirement in &own.requirements {
        let mut stand = Vec::new();
        for (role, part) in requirement.evidence_parts() {
            let block = BLOCKS[role as usize];
            let at = |key| ["requirements", requirement.id.as_str(), block, part.id.as_str(), key];
            let stated = |key| source.0.has(&at(key).map(Into::into));
            let path_like = part.document.trim().is_empty() || part.document.contains(['/', '\\']);
            if names.is_empty() || path_like || !stated("document") {
                continue;
            }
            let Some(document) = names.iter().position(|name| *name == part.document) else {
                let message = format!("there is no document `{}` beside the record", part.document);
                let help = did_you_mean(&part.document, &names, || format!("there is: {}", listed(&names)));
                let fault = source.at(&at("document"), "unknown-document", message);
                faults.extend(fault.map(|fault| fault.with_help(help)));
                continue;
            };
            let worded = |text: &str| !karat_core::assessment::text::tokens(text).is_empty();
            let sound = stated("title") && stated("text") && worded(&part.title) && worded(&part.text);
            if !sound || documents[document].1.is_none() {
                continue;
            }
            match texts.locate(part, document) {
                Ok(standing) => stand.push(standing),
                Err(found) => faults.extend(found.into_iter().filter_map(|fault| {
                    let placed = source.at(&at(fault.key), fault.code, fault.message)?;
                    Some(Diagnostic { help: fault.help, ..placed })
                })),
            }
        }
        evidence_locations.push(stand);
    }
    evidence_locations
}
