//! Finds the run that an address names.

use super::fault::Fault;
use axum::http::StatusCode;
use karat_format::report::ReportV1;
use karat_store::{RunInfo, Store, StoreError};

/// The named run, and all others. Reads no trials.
pub(super) fn find_run(store: &mut Store, reference: &str) -> Result<(RunInfo, Vec<RunInfo>), StoreError> {
    let id = store.resolve_run(reference)?;
    let all = store.overview()?;
    match all.iter().find(|run| run.id == id).cloned() {
        Some(run) => Ok((run, all)),
        // It was removed between the two queries.
        None => Err(StoreError::NoRun { reference: reference.to_owned(), hint: String::new() }),
    }
}

/// A run's name, else its short id.
pub(super) fn display_name(run: &RunInfo) -> &str {
    run.name.as_deref().unwrap_or(&run.short_id)
}

/// The stored report of a run.
pub(super) fn stored_report(store: &mut Store, run: &RunInfo) -> Result<Option<ReportV1>, Fault> {
    let Some(bytes) = store.report(&run.id)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let said = format!(
            "The report of run {} could not be read ({error}). Score the run again with `karat score {}`, or use the version of Karat that wrote it ({}).",
            run.short_id, run.short_id, run.karat
        );
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, said)
    })
}
