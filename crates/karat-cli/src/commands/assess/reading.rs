//! Records and their documents, those of a session taken from it.

use super::Site;
use crate::exit::Failure;
use crate::terminal::{notes, tell};
use karat::assess::bundle::hash_of;
use karat::assess::event::AssessEvent;
use karat::assess::{Bundle, RecordPlace, load_all};
use karat::ingest::{Document, IngestError, Limits, ingest};
use karat::report::number::count;
use karat::store::StoreError;
use std::time::Instant;

/// Loads all records. What a session has of their documents is not read again; what is new is kept in it.
pub(super) fn bundles(places: &[RecordPlace], session: Option<&str>, site: &mut Site) -> Result<Vec<Bundle>, Failure> {
    let limits = Limits::default();
    let (mut reused, mut fault) = (0, None::<StoreError>);
    let mut fresh: Vec<(Document, String)> = Vec::new();
    let mut read = |name: &str, bytes: &[u8]| -> Result<Document, IngestError> {
        let began = Instant::now();
        let hash = session.map(|_| hash_of(bytes));
        let kept = match (session, &hash, &mut site.store) {
            (Some(session), Some(hash), Some(store)) => store.session_document(session, name, hash),
            _ => Ok(None),
        };
        // A session that is damaged must not cost the assessment: the document is at hand, and is read.
        let kept = kept.unwrap_or_else(|error| {
            fault.get_or_insert(error);
            None
        });
        let known = kept.is_some();
        let document = kept.map_or_else(|| ingest(name, bytes, &limits), Ok)?;
        reused += usize::from(known);
        let sections = document.sections.len();
        let event = AssessEvent::Read { document: name, sections, reused: known, took: began.elapsed() };
        site.journal.hear(&event);
        if let Some(hash) = hash.filter(|_| !known) {
            fresh.push((document.clone(), hash));
        }
        Ok(document)
    };
    let bundles = load_all(places, &mut read)?;
    if let (Some(session), Some(store)) = (session, &mut site.store) {
        let fresh: Vec<(&Document, &str)> = fresh.iter().map(|(document, hash)| (document, hash.as_str())).collect();
        store.keep_documents(session, &fresh)?;
        if !site.quiet {
            let (new, old) = (count(fresh.len(), "document"), reused);
            tell(&format!("session {session}: {old} taken from it, {new} read and kept"));
        }
    }
    if let Some(fault) = fault {
        notes(&[format!("the session was left aside where it cannot be read: {fault}")]);
    }
    site.measured.documents_reused = reused;
    if !site.quiet {
        notes(&bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect::<Vec<_>>());
    }
    Ok(bundles)
}
