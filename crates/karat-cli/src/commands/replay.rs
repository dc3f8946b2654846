//! `karat replay`.

use crate::args::ReplayArgs;
use crate::exit::{Exit, Failure};
use crate::outputs::{self, ReportOutput};
use crate::progress::{JudgeProgress, Progress};
use crate::terminal::tell;
use karat::run::drive::emit;
use karat::run_loader;
use karat_core::trial::Trial;
use karat_format::diagnostic::harmless;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use karat_store::{RunState, StoredTrial};
use std::time::{Duration, Instant};

pub(crate) fn run(args: &ReplayArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let mut store = args.store.open()?;
    let run = run_loader::run(&mut store, &args.run)?;
    let mut in_order: Vec<&StoredTrial> = run.trials.iter().collect();
    in_order.sort_by_key(|trial| trial.detail.started_ms);
    let mut progress = Progress::new(args.quiet);
    let consumers: &mut [&mut dyn Consumer] = &mut [&mut progress];
    let mut event = |event: &RunEvent<'_>| {
        emit(consumers, event).map_err(|error: ConsumerError| Failure::failed(error.to_string()))
    };
    tell(&harmless(&format!(
        "replay of run {} of {}",
        run.info.short_id,
        karat_store::timestamp::format_utc(run.info.created_ms)
    )));
    event(&RunEvent::Began { plan: &run.plan, done: 0, left: run.info.planned as usize })?;
    for (tool, facts) in &run.facts {
        event(&RunEvent::ToolReady { tool, facts })?;
    }
    let began = Instant::now();
    let first = in_order.first().map_or(0, |trial| trial.detail.started_ms);
    for stored in in_order {
        wait_until(args.speed, began, stored.detail.started_ms.saturating_sub(first));
        event(&RunEvent::TrialBegan(&TrialKey::from_trial(&stored.trial)))?;
        let (trial, attempt, detail) = (stored.trial.clone(), stored.attempt, stored.detail.clone());
        event(&RunEvent::TrialsDone(&[TrialRecord { trial, attempt, detail, artifacts: Vec::new() }]))?;
    }
    let ending = if run.info.state == RunState::Complete { Ending::Complete } else { Ending::Interrupted };
    event(&RunEvent::Ended(&ending))?;
    let report = run_loader::report(&mut store, run.info.id.as_str(), &mut JudgeProgress::new(false))?.1;
    let trials: Vec<Trial> = run.trials.into_iter().map(|stored| stored.trial).collect();
    outputs::write(ReportOutput::new(&report, &run.loaded, &trials), &args.output)?;
    Ok(Exit::Ok)
}

/// Waits as long as the run did, divided by the speed; without a speed, not at all.
fn wait_until(speed: Option<f64>, began: Instant, ms: i64) {
    let Some(speed) = speed else { return };
    let due = Duration::from_secs_f64((ms.max(0) as f64 / 1_000.0 / speed).min(86_400.0));
    std::thread::sleep(due.saturating_sub(began.elapsed()));
}
