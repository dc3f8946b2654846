//! Summaries of runs for the list, cached for finished runs.

use karat::run::drive::failed;
use karat_format::report::ReportV1;
use karat_report::number::{headline, rank_metric, rank_of, ranked, title};
use karat_store::{RunId, RunInfo, RunState, Store, StoreError};
use quick_cache::sync::Cache;
use std::sync::Arc;

/// What the list shows of a run, in addition to its row in the store.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// Numbers of trials; `None` if they could not be read.
    pub(crate) trials: Option<TrialCounts>,
    /// The names of its tools; empty if they could not be read.
    pub(crate) tools: Vec<String>,
    pub(crate) best: Best,
}

/// Numbers of trials.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrialCounts {
    /// With any outcome.
    pub(crate) done: u64,
    /// Failed trials.
    pub(crate) failed: u64,
}

/// The best tool of a run.
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
#[derive(Debug)]
pub(crate) struct Summaries(Cache<(RunId, i64), Arc<Summary>>);

/// The number of cached summaries.
const CACHED: usize = 4_096;

impl Default for Summaries {
    fn default() -> Self {
        Self(Cache::new(CACHED))
    }
}

impl Summaries {
    /// The summary of a run. Damage is shown in its place, so that other runs are still listed.
    pub(crate) fn get(&self, store: &mut Store, run: &RunInfo) -> Arc<Summary> {
        let key = (run.id.clone(), run.ended_ms.unwrap_or_default());
        if let Some(cached) = self.0.get(&key) {
            return cached;
        }
        let tools = store.plan(&run.id).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
        let tools = tools.unwrap_or_default();
        let summary = Arc::new(Summary { trials: trial_counts(store, &run.id).ok(), tools, best: best(store, run) });
        // Do not cache a running run, or one that could not be read and may be repaired.
        let sound = summary.trials.is_some() && matches!(summary.best, Best::Tool { .. });
        if run.state != RunState::Running && sound {
            self.0.insert(key, Arc::clone(&summary));
        }
        summary
    }
}

/// Counts the trials of a run.
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

/// The state in a word: a running run without a process was interrupted.
pub(crate) fn state_word(store: &Store, run: &RunInfo) -> &'static str {
    match run.state {
        RunState::Running if !store.is_locked(&run.id) => "interrupted",
        state => state.as_str(),
    }
}
