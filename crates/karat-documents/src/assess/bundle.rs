//! Loads a golden record with its template and documents, and checks them against each other.

use super::discover::RecordPlace;
use super::evidence::{BundleTexts, Documents, Finding};
use super::folder::Bounded;
use super::record::{BLOCKS, SourceFile, read};
use super::template::{Template, find, read_file};
use crate::DocumentError;
use crate::ingest::{Document, IngestLimits, format_of, ingest};
use karat_core::assessment::record::GoldenRecord;
use karat_core::assessment::rules::Thresholds;
use karat_core::wording::first_few;
use karat_format::assessment::UnreadableV1;
use karat_format::diagnostic::{Diagnostic, Faults, Level};
use karat_format::diagnostic_groups::{ERROR_LIMIT, stopped};
use karat_format::document::suggest::did_you_mean;
use karat_format::golden_record::GoldenRecordV0_4;
use karat_format::template::TemplateV1;
use std::collections::{BTreeMap, BTreeSet};

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
    /// Documents that are left out.
    pub unreadable: Vec<UnreadableV1>,
    /// Locations of each requirement's golden parts, in the order of its `evidence_parts`; `None` in an unreadable document.
    pub evidence_locations: Vec<Vec<Option<EvidenceLocation>>>,
    pub notes: Vec<String>,
    /// What is wrong and does not prevent an assessment: errors for unreadable documents, warnings for inexact golden parts.
    pub problems: Vec<Diagnostic>,
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

/// Where the documents of bundles come from.
pub trait DocumentSource {
    /// Ingests a document, given its name and bytes.
    fn read(&mut self, bundle_id: &str, name: &str, bytes: &[u8]) -> Result<Document, DocumentError>;

    /// The documents of a bundle that were ingested before, for files that are gone.
    /// `wanted` are the documents that golden parts refer to.
    fn ingested_before(&mut self, bundle_id: &str, wanted: &BTreeSet<&str>) -> Vec<IngestedBefore>;
}

pub struct IngestedBefore {
    pub document: Document,
    /// BLAKE3 of the file, in hex.
    pub hash: String,
}

/// Reads every document from its file.
pub struct FilesOnly;

impl DocumentSource for FilesOnly {
    fn read(&mut self, _: &str, name: &str, bytes: &[u8]) -> Result<Document, DocumentError> {
        ingest(name, bytes, &IngestLimits::default())
    }

    fn ingested_before(&mut self, _: &str, _: &BTreeSet<&str>) -> Vec<IngestedBefore> {
        Vec::new()
    }
}

/// Loads many records. All faults are reported at once; two records must not state the same bundle for a template.
pub fn load_all(places: &[RecordPlace], documents: &mut dyn DocumentSource) -> Result<Vec<Bundle>, Faults> {
    let (mut bundles, mut faults): (Vec<Bundle>, Vec<Diagnostic>) = (Vec::new(), Vec::new());
    for place in places {
        if faults.len() >= ERROR_LIMIT {
            faults.push(stopped(&place.display_path(), "this record"));
            break;
        }
        match load(place, documents) {
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
pub fn load(place: &RecordPlace, documents: &mut dyn DocumentSource) -> Result<Bundle, Vec<Diagnostic>> {
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
    let mut read = BundleDocuments::read(place, &record, documents, &mut source.faults);
    let thresholds = template.as_ref().map(|template| template.config.scoring.thresholds).unwrap_or_default();
    let evidence_locations = locate_all(&record, &mut read, &thresholds, &mut source);
    let is_all_lost = read.documents.iter().all(|(_, document)| document.is_none());
    let template = template.filter(|_| source.faults.is_empty() && !is_all_lost);
    let Some(template) = template else {
        // What would not prevent an assessment is reported with what does.
        source.faults.append(&mut read.problems);
        source.faults.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
        return Err(source.faults);
    };
    let BundleDocuments { documents, mut hashes, unreadable, mut notes, problems } = read;
    let documents: Vec<Document> = documents.into_iter().filter_map(|(_, document)| document).collect();
    let hashes = documents.iter().map(|own| hashes.remove(&own.name).unwrap_or_default()).collect();
    for own in &documents {
        notes.extend(own.notes.iter().map(|note| format!("{}: {note}", own.name)));
    }
    let record = record.into_record();
    Ok(Bundle {
        record,
        record_path,
        template,
        documents,
        hashes,
        unreadable,
        evidence_locations,
        notes,
        problems,
        source,
    })
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

/// What lies beside a record.
#[derive(Default)]
struct BundleDocuments {
    documents: Documents,
    /// By name.
    hashes: BTreeMap<String, String>,
    unreadable: Vec<UnreadableV1>,
    notes: Vec<String>,
    problems: Vec<Diagnostic>,
}

impl BundleDocuments {
    /// One document that cannot be read does not lose the others; a bundle without any document is a fault.
    fn read(
        place: &RecordPlace,
        record: &GoldenRecordV0_4,
        source: &mut dyn DocumentSource,
        faults: &mut Vec<Diagnostic>,
    ) -> Self {
        let mut read = Self::default();
        let entries = match place.folder.entries() {
            Ok(entries) => entries,
            Err(error) => {
                faults.push(Diagnostic::of_file(place.folder.display(""), "unreadable", error.to_string()));
                return read;
            }
        };
        for link in entries.refused.into_iter().filter(|name| is_source(name)) {
            let message = "this link leads out of the folder of the record, or to nothing";
            let fault = Diagnostic::of_file(place.folder.display(&link), "path-escapes", message);
            read.leave_out(link, fault.with_help("put the document itself there"));
        }
        let limits = IngestLimits::default();
        for name in entries.files.into_iter().filter(|name| is_source(name)) {
            let document = match place.folder.read(&name, limits.file_bytes) {
                Ok(Bounded::Whole(bytes)) => {
                    read.hashes.insert(name.clone(), content_hash(&bytes));
                    source.read(&record.bundle_id, &name, &bytes).map_err(|error| error.to_string())
                }
                Ok(Bounded::Absent) => Err("the file cannot be read by its name".to_owned()),
                Ok(Bounded::TooLarge) => {
                    Err(format!("the file is larger than the {} MiB that are read of one", limits.file_bytes >> 20))
                }
                Err(error) => Err(error.to_string()),
            };
            match document {
                Ok(document) => read.documents.push((name, Some(document))),
                Err(why) => {
                    let fault = Diagnostic::of_file(place.folder.display(&name), "bad-document", why);
                    read.leave_out(name, fault);
                }
            }
        }
        read.replace_missing(record, source);
        // Those that failed come last, so that the places of the others stay when these are removed.
        read.documents.sort_by(|a, b| a.1.is_none().cmp(&b.1.is_none()).then_with(|| a.0.cmp(&b.0)));
        if read.documents.is_empty() {
            let message = "there is no document beside the record";
            let help = "put .md, .pdf or .docx files into the folder of the record; *.golden.* files do not count";
            faults.push(Diagnostic::of_file(place.display_path(), "no-documents", message).with_help(help));
        }
        read
    }

    fn leave_out(&mut self, name: String, fault: Diagnostic) {
        self.unreadable.push(UnreadableV1 { name: name.clone(), why: fault.message.clone(), golden_parts: 0 });
        self.problems.push(fault);
        self.documents.push((name, None));
    }

    /// Documents that were ingested before stand for files that are gone: all of them if no document is left, else those that
    /// golden parts refer to.
    fn replace_missing(&mut self, record: &GoldenRecordV0_4, source: &mut dyn DocumentSource) {
        let there: BTreeSet<String> = self.documents.iter().map(|(name, _)| name.clone()).collect();
        let mut wanted = BTreeSet::new();
        for (_, requirement) in record.requirements.iter() {
            let parts = requirement.primary_evidence.iter().chain(requirement.supporting_evidence.iter());
            wanted.extend(parts.map(|(_, part)| part.document.as_str()));
        }
        if !there.is_empty() && wanted.iter().all(|name| there.contains(*name)) {
            return;
        }
        for IngestedBefore { document, hash } in source.ingested_before(&record.bundle_id, &wanted) {
            let name = document.name.clone();
            if there.contains(&name) || !there.is_empty() && !wanted.contains(name.as_str()) {
                continue;
            }
            self.notes.push(format!("{name}: taken from the session, since there is no such file beside the record"));
            self.hashes.insert(name.clone(), hash);
            self.documents.push((name, Some(document)));
        }
    }
}

/// Whether a file is a document to assess: a known extension, not a golden side file, not hidden, not an editor's lock file.
fn is_source(name: &str) -> bool {
    format_of(name).is_some() && !name.contains(".golden.") && !name.starts_with(['.', '~'])
}

/// Locates every golden part; those not found are faults, those found inexactly are problems.
fn locate_all(
    record: &GoldenRecordV0_4,
    read: &mut BundleDocuments,
    thresholds: &Thresholds,
    source: &mut SourceFile,
) -> Vec<Vec<Option<EvidenceLocation>>> {
    let BundleDocuments { documents, unreadable, problems, .. } = read;
    let names: Vec<&str> = documents.iter().map(|(name, _)| name.as_str()).collect();
    let mut texts = BundleTexts::new(documents, thresholds);
    let own = record.clone().into_record();
    let mut evidence_locations = Vec::new();
    for requirement in &own.requirements {
        let mut locations = Vec::new();
        for (role, part) in requirement.evidence_parts() {
            let block = BLOCKS[role as usize];
            let at = |key| ["requirements", requirement.id.as_str(), block, part.id.as_str(), key];
            let stated = |key| source.document.has(&at(key).map(Into::into));
            let path_like = part.document.trim().is_empty() || part.document.contains(['/', '\\']);
            let place = locations.len();
            locations.push(None);
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
            // A document that failed has no text, so nothing is reported about its parts.
            if documents[document].1.is_none() {
                let failed = unreadable.iter_mut().filter(|failed| failed.name == part.document);
                failed.for_each(|failed| failed.golden_parts += 1);
                continue;
            }
            let worded = |text: &str| !karat_core::assessment::text::tokens(text).is_empty();
            if !(stated("title") && stated("text") && worded(&part.title) && worded(&part.text)) {
                continue;
            }
            locations[place] = texts.locate(part, document, &mut |found| {
                let Finding { level, key, code, message, help } = found;
                match level {
                    Level::Error => source.report(&at(key), code, message, help),
                    _ => problems.push(Diagnostic {
                        help,
                        ..source.document.at(&at(key).map(Into::into), code, message).with_level(level)
                    }),
                }
            });
        }
        evidence_locations.push(locations);
    }
    evidence_locations
}
