//! Loads records and their documents, with a cache per session.

use super::RunContext;
use crate::exit::Failure;
use crate::terminal::{notes, tell};
use karat_core::wording::count;
use karat_documents::assess::bundle::content_hash;
use karat_documents::assess::event::AssessEvent;
use karat_documents::assess::{Bundle, RecordPlace, load_all};
use karat_documents::ingest::{self, Document, IngestError, IngestLimits, ingest, stored_document};
use karat_format::session::IngestedV1;
use karat_store::{NewDocument, StoreError};
use std::time::Instant;

/// Loads all records. Documents in the session's cache are not read again; new ones are added to it.
pub(super) fn bundles(
    places: &[RecordPlace],
    session: Option<&str>,
    site: &mut RunContext,
) -> Result<Vec<Bundle>, Failure> {
    let limits = IngestLimits::default();
    let (mut reused, mut fault) = (0, None::<StoreError>);
    let mut fresh: Vec<NewDocument> = Vec::new();
    let mut read = |name: &str, bytes: &[u8]| -> Result<Document, IngestError> {
        let began = Instant::now();
        let hash = session.map(|_| content_hash(bytes));
        let kept = match (session, &hash, &mut site.store) {
            (Some(session), Some(hash), Some(store)) => store.session_document(session, name, hash, ingest::VERSION),
            _ => Ok(None),
        };
        // A damaged session must not stop the assessment: the document itself is read instead.
        let kept = kept.unwrap_or_else(|error| {
            fault.get_or_insert(error);
            None
        });
        let kept = kept.and_then(|stored| stored_document(stored, name));
        let known = kept.is_some();
        let document = kept.map_or_else(|| ingest(name, bytes, &limits), Ok)?;
        reused += usize::from(known);
        let sections = document.sections.len();
        let event = AssessEvent::Read { document: name, sections, reused: known, took: began.elapsed() };
        site.journal.record(&event);
        if let Some(hash) = hash.filter(|_| !known) {
            let (name, reader) = (name.to_owned(), ingest::VERSION);
            fresh.push(NewDocument { name, hash, reader, document: IngestedV1::from(&document) });
        }
        Ok(document)
    };
    let bundles = load_all(places, &mut read)?;
    if let (Some(session), Some(store)) = (session, &mut site.store) {
        store.save_documents(session, &fresh)?;
        if !site.quiet {
            let (new, old) = (count(fresh.len(), "document"), reused);
            tell(&format!("session {session}: {old} from the cache, {new} read and cached"));
        }
    }
    if let Some(fault) = fault {
        notes(&[format!("unreadable session entries were ignored: {fault}")]);
    }
    site.measured.documents_reused = reused;
    if !site.quiet {
        notes(&bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect::<Vec<_>>());
    }
    Ok(bundles)
}
