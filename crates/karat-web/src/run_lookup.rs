//! Finds runs, their stored reports, and how many of their trials are done.

use super::reply::Fault;
use axum::http::StatusCode;
use karat::report_source::AnyReport;
use karat::run_loader::assessment;
use karat::tool::failed;
use karat_core::trial::Outcome;
use karat_format::assessment::AssessmentReportV1;
use karat_format::config::SuiteKind;
use karat_format::report::ReportV1;
use karat_store::{RunId, RunInfo, Store, StoreError};
use maud::Markup;
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The named run with its outcomes, where they can be read, and all others without.
pub(crate) fn find_run(store: &mut Store, reference: &str) -> Result<(RunInfo, Vec<RunInfo>), StoreError> {
    let id = store.resolve_run(reference)?;
    let all = store.overview()?;
    match all.iter().find(|run| run.id == id).cloned() {
        Some(run) => {
            let outcomes = store.outcomes(&run.id).unwrap_or_default();
            Ok((RunInfo { outcomes, ..run }, all))
        }
        // It was removed between the two queries.
        None => Err(StoreError::NoRun { reference: reference.to_owned(), hint: String::new() }),
    }
}

/// A run where its suite is named already: its name, or when it began.
pub(crate) fn breadcrumb_name(run: &RunInfo) -> String {
    run.name.clone().unwrap_or_else(|| run.began())
}

/// The title of a run's page.
pub(crate) fn page_title(run: &RunInfo) -> String {
    match &run.name {
        Some(name) => format!("{name} · {}", run.suite),
        None => format!("{}, {}", run.suite, run.began()),
    }
}

/// A run as commands take it.
pub(crate) fn display_name(run: &RunInfo) -> &str {
    run.name.as_deref().unwrap_or(&run.short_id)
}

pub(crate) fn stored_report(store: &mut Store, run: &RunInfo) -> Result<Option<ReportV1>, Fault> {
    let Some(bytes) = store.report(&run.id)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let message = format!(
            "The report of run {} could not be read ({error}). Score the run again with `karat score {}`, or use the version of Karat that wrote it ({}).",
            run.short_id, run.short_id, run.karat
        );
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    })
}

/// The stored report of a run of either kind.
pub(crate) fn stored_result(store: &mut Store, run: &RunInfo) -> Result<Option<AnyReport>, Fault> {
    Ok(match run.kind {
        SuiteKind::Findings => stored_report(store, run)?.map(|report| AnyReport::Findings(Box::new(report))),
        SuiteKind::Assessment => stored_assessment(store, run)?.map(|report| AnyReport::Assessment(Box::new(report))),
    })
}

pub(crate) fn stored_assessment(store: &mut Store, run: &RunInfo) -> Result<Option<AssessmentReportV1>, Fault> {
    Ok(if run.has_report { Some(assessment(store, run)?) } else { None })
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrialCounts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
    pub(crate) unavailable: u64,
    pub(crate) reported: u64,
}

pub(crate) fn trial_counts(store: &mut Store, run: &RunId) -> Result<TrialCounts, StoreError> {
    let outcomes = store.outcomes(run)?;
    let failed = outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum();
    let count = |outcome: Outcome| outcomes.get(&outcome).copied().unwrap_or_default();
    let (unavailable, reported) = (count(Outcome::Unavailable), count(Outcome::Reported));
    Ok(TrialCounts { done: outcomes.values().sum(), failed, unavailable, reported })
}

/// What the list shows of a run, in addition to its row in the store.
pub(crate) struct Summary {
    /// `None` if they could not be read.
    pub(crate) trials: Option<TrialCounts>,
    /// The best tool; `Err` shows why there is none.
    pub(crate) best: Result<Best, Markup>,
}

/// The best tool of a run.
pub(crate) struct Best {
    pub(crate) shown: Markup,
    /// `None` if it is undefined.
    pub(crate) figure: Option<BestFigure>,
}

/// The value of the ranking metric.
#[derive(Clone)]
pub(crate) struct BestFigure {
    pub(crate) metric: String,
    pub(crate) value: f64,
    /// Values can be compared if these are equal: [`karat::comparison::Side::basis`].
    pub(crate) basis: String,
}

/// Summaries of finished runs, by id and end time.
pub(crate) type Summaries = Cache<(RunId, i64), Arc<Summary>>;

/// Names of the tools of runs, which never change.
pub(crate) type ToolNames = Cache<RunId, Arc<[String]>>;
