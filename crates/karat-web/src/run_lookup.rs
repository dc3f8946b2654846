//! Finds runs, and what pages show of them: state, report, and a summary that is cached for finished runs.

use super::reply::Fault;
use axum::http::StatusCode;
use karat::tool::failed;
use karat_format::report::ReportV1;
use karat_report::number::{headline, rank_metric, rank_of, ranked, title};
use karat_store::{RunId, RunInfo, RunState, Store, StoreError};
use quick_cache::sync::Cache;
use std::sync::Arc;

/// The named run, and all others. Reads no trials.
pub(crate) fn find_run(store: &mut Store, reference: &str) -> Result<(RunInfo, Vec<RunInfo>), StoreError> {
    let id = store.resolve_run(reference)?;
    let all = store.overview()?;
    match all.iter().find(|run| run.id == id).cloned() {
        Some(run) => Ok((run, all)),
        // It was removed between the two queries.
        None => Err(StoreError::NoRun { reference: reference.to_owned(), hint: String::new() }),
    }
}

pub(crate) fn display_name(run: &RunInfo) -> &str {
    run.name.as_deref().unwrap_or(&run.short_id)
}

pub(crate) fn stored_report(store: &mut Store, run: &RunInfo) -> Result<Option<ReportV1>, Fault> {
    let Some(bytes) = store.report(&run.id)? else { return Ok(None) };
    serde_json::from_slice(&bytes).map(Some).map_err(|error| {
        let said = format!(
            "The report of run {} could not be read ({error}). Score the run again with `karat score {}`, or use the version of Karat that wrote it ({}).",
            run.short_id, run.short_id, run.karat
        );
        Fault::new(StatusCode::INTERNAL_SERVER_ERROR, said)
    })
}

/// What the list shows of a run, in addition to its row in the store.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// `None` if they could not be read.
    pub(crate) trials: Option<TrialCounts>,
    /// Empty if they could not be read.
    pub(crate) tools: Vec<String>,
    pub(crate) best: Best,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TrialCounts {
    pub(crate) done: u64,
    pub(crate) failed: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum Best {
    /// A tool with its range of ranks, and the ranking metric.
    Tool { tool: String, tools: usize, rank: Option<String>, metric: String, value: Option<f64>, ci: Option<[f64; 2]> },
    /// No report yet.
    None,
    /// The report could not be read.
    Unread(String),
}

/// Summaries of finished runs, by id and end time.
pub(crate) type Summaries = Cache<(RunId, i64), Arc<Summary>>;

/// The summary of a run. Damage is shown in its place, so that other runs are still listed.
pub(crate) fn summary(cache: &Summaries, store: &mut Store, run: &RunInfo) -> Arc<Summary> {
    let key = (run.id.clone(), run.ended_ms.unwrap_or_default());
    if let Some(cached) = cache.get(&key) {
        return cached;
    }
    let tools = store.plan(&run.id).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
    let trials = trial_counts(store, &run.id).ok();
    let summary = Arc::new(Summary { trials, tools: tools.unwrap_or_default(), best: best(store, run) });
    // Do not cache a running run, or one that could not be read and may be repaired.
    let sound = summary.trials.is_some() && matches!(summary.best, Best::Tool { .. });
    if run.state != RunState::Running && sound {
        cache.insert(key, Arc::clone(&summary));
    }
    summary
}

pub(crate) fn trial_counts(store: &mut Store, run: &RunId) -> Result<TrialCounts, StoreError> {
    let outcomes = store.outcomes(run)?;
    let failed = outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum();
    Ok(TrialCounts { done: outcomes.values().sum(), failed })
}

fn best(store: &mut Store, run: &RunInfo) -> Best {
    let bytes = match store.report(&run.id) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Best::None,
        Err(_) => return Best::Unread("its report is damaged".to_owned()),
    };
    let Ok(report) = serde_json::from_slice::<ReportV1>(&bytes) else {
        return Best::Unread("its report is not readable by this version".to_owned());
    };
    let Some(tool) = ranked(&report).into_iter().next() else { return Best::None };
    let estimate = headline(&report, tool).get(rank_metric(&report));
    Best::Tool {
        tool: tool.tool.clone(),
        tools: report.tools.len(),
        rank: rank_of(&report, &tool.tool),
        metric: title(rank_metric(&report)).to_owned(),
        value: estimate.and_then(|estimate| estimate.value),
        ci: estimate.and_then(|estimate| estimate.ci),
    }
}
