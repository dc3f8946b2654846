//! A run at a glance, read once: what has ended does not change.

use karat::run::drive::failed;
use karat_format::report::ReportV1;
use karat_report::number::{headline, rank_metric, rank_of, ranked, title};
use karat_store::{RunId, RunInfo, RunState, Store, StoreError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What a list says of a run beside what its own row says.
#[derive(Clone, Debug)]
pub(crate) struct Summary {
    /// How many trials were made; none where that cannot be read.
    pub(crate) made: Option<Made>,
    /// The names of its tools; none where they cannot be read.
    pub(crate) tools: Vec<String>,
    /// The best tool.
    pub(crate) best: Best,
}

/// How many trials were made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    /// With whatever outcome.
    pub(crate) done: u64,
    /// Those on which the tool failed.
    pub(crate) failed: u64,
}

/// The best tool of a run.
#[derive(Clone, Debug)]
pub(crate) enum Best {
    /// A tool with the ranks it may have, and the metric that ranks it.
    Of { tool: String, tools: usize, rank: Option<String>, metric: String, value: Option<f64>, ci: Option<[f64; 2]> },
    /// There is no report yet.
    None,
    /// There is one that cannot be read.
    Unread(String),
}

/// Summaries of runs that have ended, by id and the moment of their end.
#[derive(Debug, Default)]
pub(crate) struct Summaries(Mutex<BTreeMap<(RunId, i64), Arc<Summary>>>);

/// So many are kept; then it begins anew.
const MOST: usize = 4_096;

impl Summaries {
    /// A run at a glance. What is damaged is told in its place, so that the other runs are still shown.
    pub(crate) fn of(&self, store: &mut Store, run: &RunInfo) -> Arc<Summary> {
        let key = (run.id.clone(), run.ended_ms.unwrap_or_default());
        if let Some(there) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(there);
        }
        let tools = store.plan(&run.id).map(|plan| plan.tools.into_iter().map(|tool| tool.name).collect());
        let tools = tools.unwrap_or_default();
        let summary = Arc::new(Summary { made: made(store, &run.id).ok(), tools, best: best(store, run) });
        // One that goes on has another summary soon, and what could not be read may be mended.
        let sound = summary.made.is_some() && matches!(summary.best, Best::Of { .. });
        if run.state != RunState::Running && sound {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() >= MOST {
                kept.clear();
            }
            kept.insert(key, Arc::clone(&summary));
        }
        summary
    }
}

/// How many trials of a run were made.
pub(crate) fn made(store: &mut Store, run: &RunId) -> Result<Made, StoreError> {
    let outcomes = store.outcomes(run)?;
    let failed = outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum();
    Ok(Made { done: outcomes.values().sum(), failed })
}

fn best(store: &mut Store, run: &RunInfo) -> Best {
    let bytes = match store.report(&run.id) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Best::None,
        Err(_) => return Best::Unread("its report is damaged".to_owned()),
    };
    let Ok(report) = serde_json::from_slice::<ReportV1>(&bytes) else {
        return Best::Unread("its report cannot be read by this version".to_owned());
    };
    let Some(tool) = ranked(&report).into_iter().next() else { return Best::None };
    let estimate = headline(&report, tool).get(rank_metric(&report));
    Best::Of {
        tool: tool.tool.clone(),
        tools: report.tools.len(),
        rank: rank_of(&report, &tool.tool),
        metric: title(rank_metric(&report)).to_owned(),
        value: estimate.and_then(|estimate| estimate.value),
        ci: estimate.and_then(|estimate| estimate.ci),
    }
}

/// The state in a word: a run that should be running and that nobody works on was interrupted.
pub(crate) fn state_of(store: &Store, run: &RunInfo) -> &'static str {
    match run.state {
        RunState::Running if !store.is_locked(&run.id) => "interrupted",
        state => state.as_str(),
    }
}
