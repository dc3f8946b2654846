//! Loads a golden record with its template and documents, and checks them against each other.

use super::discover::RecordPlace;
use super::evidence::{BundleTexts, Documents};
use super::folder::Bounded;
use super::record::{BLOCKS, SourceFile, read};
use super::template::{Template, find, read_file};
use crate::DocumentError;
use crate::ingest::{Document, IngestLimits, format_of};
use karat_core::assessment::record::GoldenRecord;
use karat_core::wording::first_few;
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::diagnostic_groups::{ERROR_LIMIT, stopped};
use karat_format::document::suggest::did_you_mean;
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
    /// BLAKE3 of each document, in hex.
    pub hashes: Vec<String>,
    /// Locations of each requirement's golden parts, in the order of its `evidence_parts`.
    pub evidence_locations: Vec<Vec<EvidenceLocation>>,
    pub notes: Vec<String>,
    pub(super) source: SourceFile,
}

#[derive(Clone, Copy, Debug)]
pub struct RequirementRef<'a> {
    pub bundle_id: &'a str,
    pub template_id: &'a str,
    pub requirement_id: &'a str,
}

/// BLAKE3 of a document, in hex.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

/// Ingests a document, given its name and bytes.
pub type Ingest<'i> = dyn FnMut(&str, &[u8]) -> Result<Document, DocumentError> + 'i;

/// Loads many records. All faults are reported at once; two records must not state the same bundle for a template.
pub fn load_all(places: &[RecordPlace], ingest: &mut Ingest<'_>) -> Result<Vec<Bundle>, Faults> {
    let (mut bundles, mut faults): (Vec<Bundle>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for place in places {
        if faults.len() >= ERROR_LIMIT {
            faults.push(stopped(&place.display_path(), "this record"));
            break;
        }
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
            faults.push(bundle.source.document.at(&["bundle_id".into()], "duplicate-id", message));
        } else {
            first.insert((id, template), &bundle.record_path);
        }
    }
    if faults.is_empty() { Ok(bundles) } else { Err(Faults(faults)) }
}

/// Loads a record with its template and documents. All faults are reported at once.
pub fn load(place: &RecordPlace, ingest: &mut Ingest<'_>) -> Result<Bundle, Vec<Diagnostic>> {
    let record_path = place.display_path();
    let bytes = read_file(&place.folder, &place.name)?.ok_or_else(|| {
        vec![match place.folder.leads_out(&place.name) {
            true => {
                Diagnostic::of_file(&record_path, "path-escapes", "this link leads out of the folder of the record")
                    .with_help("put the record itself there, beside its documents")
            }
            false => Diagnostic::of_file(&record_path, "no-such-place", "missing file"),
        }]
    })?;
    let (record, mut source) = read(&record_path, &bytes)?;
    let id = &record.template_id;
    let plain = !id.contains(['/', '\\']) && karat_format::id_fault(&[], id).is_none();
    let named = plain && source.document.has(&["template_id".into()]);
    let template = named.then(|| find(id, &place.folder.and_above(), &mut source)).flatten();
    if let Some(template) = &template {
        check_names(&record, template, &mut source);
    }
    let (documents, hashes) = ingest_all(place, ingest, &mut source.faults);
    let evidence_locations = locate_all(&record, &documents, &mut source);
    source.faults.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    let Some(template) = template.filter(|_| source.faults.is_empty()) else { return Err(source.faults) };
    let documents: Vec<Document> = documents.into_iter().filter_map(|(_, document)| document).collect();
    let notes = documents.iter().flat_map(|own| own.notes.iter().map(|note| format!("{}: {note}", own.name))).collect();
    let record = record.into_record();
    Ok(Bundle { record, record_path, template, documents, hashes, evidence_locations, notes, source })
}

fn check_names(record: &GoldenRecordV0_4, template: &Template, source: &mut SourceFile) {
    let TemplateV1 { requirements, questions, .. } = &template.config;
    let mut report = |path: &[&str], what: &str, code, id: &str, known: &[&str]| {
        let message = format!("the template `{}` has no {what} `{id}`", template.id);
        let help = did_you_mean(id, known.iter().copied()).unwrap_or_else(|| format!("there is: {}", listed(known)));
        source.report_key(path, code, message, Some(help));
    };
    let known: Vec<&str> = requirements.names().collect();
    for id in record.requirements.names().filter(|id| requirements.get(id).is_none()) {
        report(&["requirements", id], "requirement", "unknown-requirement", id, &known);
    }
    let known: Vec<&str> = questions.names().collect();
    let asked = |id: &&str| known.is_empty() || questions.get(id).is_some();
    for id in record.assumptions.question_answers.names().filter(|id| !asked(id)) {
        report(&["assumptions", "question_answers", id], "question", "unknown-question", id, &known);
    }
}

pub(super) fn listed(names: &[&str]) -> String {
    first_few(names, 8)
}

/// The documents, and the hashes of those that could be read.
fn ingest_all(place: &RecordPlace, ingest: &mut Ingest<'_>, faults: &mut Vec<Diagnostic>) -> (Documents, Vec<String>) {
    let (mut documents, mut hashes) = (Vec::new(), Vec::new());
    let shown = |name: &str| place.folder.display(name);
    let entries = match place.folder.entries() {
        Ok(entries) => entries,
        Err(error) => {
            faults.push(Diagnostic::of_file(shown(""), "unreadable", error.to_string()));
            return (documents, hashes);
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
        let document = match place.folder.read(&name, limits.file_bytes) {
            Ok(Bounded::Whole(bytes)) => {
                hashes.push(content_hash(&bytes));
                ingest(&name, &bytes).map_err(|error| error.to_string())
            }
            Ok(Bounded::Absent) => Err("the file cannot be read by its name".to_owned()),
            Ok(Bounded::TooLarge) => {
                Err(format!("the file is larger than the {} MiB that are read of one", limits.file_bytes >> 20))
            }
            Err(error) => Err(error.to_string()),
        };
        let report = |message: String| faults.push(Diagnostic::of_file(shown(&name), "bad-document", message));
        let document = document.map_err(report).ok();
        documents.push((name, document));
    }
    documents.sort_by(|a, b| a.0.cmp(&b.0));
    if documents.is_empty() {
        let message = "there is no document beside the record";
        let help = "put .md, .pdf or .docx files into the folder of the record; *.golden.* files do not count";
        faults.push(Diagnostic::of_file(place.display_path(), "no-documents", message).with_help(help));
    }
    (documents, hashes)
}

/// Whether a file is a document to assess: a known extension, not a golden side file, not hidden, not an editor's lock file.
fn is_source(name: &str) -> bool {
    format_of(name).is_some() && !name.contains(".golden.") && !name.starts_with(['.', '~'])
}

/// Locates every golden part; those not found are faults.
fn locate_all(record: &GoldenRecordV0_4, documents: &Documents, source: &mut SourceFile) -> Vec<Vec<EvidenceLocation>> {
    let names: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    let mut texts = BundleTexts::new(documents);
    let own = record.clone().into_record();
    let mut evidence_locations = Vec::new();
    for requirement in &own.requirements {
        let mut locations = Vec::new();
        for (role, part) in requirement.evidence_parts() {
            let block = BLOCKS[role as usize];
            let at = |key| ["requirements", requirement.id.as_str(), block, part.id.as_str(), key];
            let stated = |key| source.document.has(&at(key).map(Into::into));
            let path_like = part.document.trim().is_empty() || part.document.contains(['/', '\\']);
            if names.is_empty() || path_like || !stated("document") {
                continue;
            }
            let Some(document) = names.iter().position(|name| *name == part.document) else {
                let message = format!("there is no document `{}` beside the record", part.document);
                let help = did_you_mean(&part.document, names.iter().copied())
                    .unwrap_or_else(|| format!("there is: {}", listed(&names)));
                source.report(&at("document"), "unknown-document", message, Some(help));
                continue;
            };
            let worded = |text: &str| !karat_core::assessment::text::tokens(text).is_empty();
            let sound = stated("title") && stated("text") && worded(&part.title) && worded(&part.text);
            // A document that failed has no text, so nothing is reported about its parts.
            if !sound || documents[document].1.is_none() {
                continue;
            }
            let mut report = |key, code, message, help| source.report(&at(key), code, message, help);
            locations.extend(texts.locate(part, document, &mut report));
        }
        evidence_locations.push(locations);
    }
    evidence_locations
}
