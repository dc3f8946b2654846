//! Runs as addresses name them.

use super::fault::Fault;
use axum::http::StatusCode;
use karat_format::report::ReportV1;
use karat_store::{RunInfo, Store, StoreError};

/// The run that somebody means, and all others. No trial is looked at.
pub(super) fn found(store: &mut Store, reference: &str) -> Result<(RunInfo, Vec<RunInfo>), StoreError> {
    let id = store.resolve_run(reference)?;
    let all = store.overview()?;
    match all.iter().find(|run| run.id == id).cloned() {
        Some(run) => Ok((run, all)),
        // It was removed between the two questions.
        None => Err(StoreError::NoRun { reference: reference.to_owned(), hint: String::new() }),
    }
}

/// What people call a run.
pub(super) fn called(run: &RunInfo) -> &str {
    run.name.as_deref().unwrap_or(&run.short_id)
}

/// The report that a run ended with.
pub(super) fn kept(store: &mut Store, run: &RunInfo) -> Result<Option<ReportV1>, Fault> {
    let Some(bytes) = store.report(&run.id)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let said = format!(
            "The report of run {} cannot be read ({error}). Score the run again with `karat score {}`, or use the version of Karat that made it ({}).",
            run.short_id, run.short_id, run.karat
        );
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, said)
    })
}
