//! Runs in a store on a server: the plan, its suite and its units are stored, any number of workers work on them, this process
//! too unless it is told not to, and everything that happens is followed until the run ends.

use super::evaluated::{EvaluateError, Evaluated};
use super::observer::{EvaluateObserver, Phase};
use super::prepare::{Prepared, TakenOver};
use super::request::EvaluateRequest;
use super::run_and_score::{
    ScoredRun, first_failure, missing_keys, new_context, prepare_tools, require_free_name, require_isolation,
    require_other_tool, tools_of,
};
use crate::failure::{Failure, Result};
use crate::judge::registry::Judge;
use crate::judge::run::{NoObserver, judge_of_plan};
use crate::profile::ProfileRequest;
use crate::run::plan::remaining_tasks;
use crate::run_loader;
use crate::scratch::make_scratch;
use crate::suite::{LoadedSuite, package};
use crate::tool::command::isolation_kind;
use crate::tool::{Task, facts_without_program, failed};
use crate::worker::{Counters, DEFAULT_LEASE, WhenIdle, WorkerObserver, WorkerRequest, work};
use karat_core::ids::ToolName;
use karat_core::judgement::Judgement;
use karat_format::report::ReportV1;
use karat_format::run::{PlanV1, ToolFactsV1};
use karat_io::cancel::Cancel;
use karat_llm::ledger::CacheMode;
use karat_report::build::reduce;
use karat_store::event::{Ending, RunEvent};
use karat_store::queue::{QueueOptions, QueuedTrial};
use karat_store::record::TrialRecord;
use karat_store::{NewRun, RunId, RunInfo, RunState, Store, StoreError, StoredTrial};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often the progress of all workers is read.
const POLL: Duration = Duration::from_millis(200);

/// Results read at once.
const MAX_READ: u32 = 500;

/// How long progress cannot be read before this is an error.
const MAX_OUTAGE: Duration = Duration::from_secs(15 * 60);

/// Plans or resumes a run for workers, and follows it until it ends.
pub(super) fn execute_on_server(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    if request.judge.cache != CacheMode::default() {
        let message = "--judge-cache is for runs of one machine: workers use what a server has stored, and add to it";
        return Err(Failure::usage(message).into());
    }
    let cancel = observer.cancel()?;
    let QueuedRun { mut store, id, plan, loaded, tool_failures } = queue_run(request, prepared, observer)?;
    let ending = std::thread::scope(|scope| {
        let drain = Cancel::default();
        let (notes, received) = channel();
        let own = (!request.no_work).then(|| {
            let worker = worker_request(request, &id);
            let mut observer = ForwardedNotes { notes, drain: drain.clone() };
            scope.spawn(move || work(&worker, &Arc::new(Counters::default()), &mut observer))
        });
        let mut own = OwnWorker(own);
        let outage = Outage { request, cancel: &cancel, since: None };
        let mut follower =
            Follower { request, id: &id, plan: &plan, cancel: &cancel, position: 0, failures: 0, outage };
        let ending = follower.follow(&mut store, &received, &mut own, observer);
        drain.cancel();
        own.end(observer);
        ending
    })?;
    let mut outage = Outage { request, cancel: &cancel, since: None };
    let info = outage.wait_out(&mut store, observer, |store| Ok(store.find(id.as_str())?))?;
    match info.state {
        RunState::Complete => {}
        RunState::Running => return Err(EvaluateError::LeftToWorkers { info: Box::new(info) }),
        RunState::Stopped => {
            let why = outage.wait_out(&mut store, observer, |store| Ok(store.why_stopped(&info.id)?))?;
            why.iter().for_each(|why| observer.note(why));
            return Err(EvaluateError::Stopped { info: Box::new(info), ending });
        }
    }
    observer.phase(Phase::Scoring);
    let stored = outage.wait_out(&mut store, observer, |store| StoredResult::read(store, &info))?;
    let ScoredRun { run, mut scoring, first_failure } = stored.into_scored(&mut store, info, plan, loaded)?;
    // Workers store all of it; what is shown is what was asked for.
    reduce(&mut scoring.report, request.detail).map_err(Failure::failed)?;
    Ok(Evaluated { store, run, scoring, ending, first_failure, tool_failures })
}

struct QueuedRun {
    store: Store,
    id: RunId,
    plan: PlanV1,
    loaded: LoadedSuite,
    /// Why tools could not be made ready. Their trials are unavailable.
    tool_failures: BTreeMap<ToolName, String>,
}

/// Stores the run with its suite, and queues its trials.
fn queue_run(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<QueuedRun, EvaluateError> {
    let Prepared { loaded, plan, tools, isolation, earlier, taken_over } = prepared;
    let (mut store, earlier) = match earlier {
        Some((mut store, id)) => {
            refuse_other_isolation(request, &plan)?;
            require_isolation(request, &mut store, &id)?;
            (store, Some(id))
        }
        None => {
            let mut store = Store::create(&request.store)?;
            require_free_name(request.name.as_deref(), &mut store)?;
            (store, None)
        }
    };
    let finished = earlier.as_ref().map(|id| store.finished_trials(id)).transpose()?.unwrap_or_default();
    let done = taken_over.as_ref().map_or(&finished, |taken| &taken.trials);
    let tasks = remaining_tasks(&plan, done, request.retry_failed);
    let scratch = make_scratch()?;
    let context = new_context(request, &loaded, &plan, &scratch, Cancel::default());
    // Whoever plans decides which tools have their keys: workers could only wait for one that has them. What is queued already
    // is left to the workers that may be at work on it.
    let without_key = missing_keys(&plan, &tools, &tasks, &context);
    let is_under_way = match &earlier {
        Some(id) => store.is_queued(id)? && store.state(id)? == RunState::Running,
        None => false,
    };
    if !is_under_way {
        require_other_tool(&without_key, tools_of(&tasks).len(), observer)?;
    }
    // Workers that are at work may have the keys.
    let mut tool_failures = if is_under_way { BTreeMap::new() } else { without_key.clone() };
    let mut not_run = without_key;
    if !request.no_work {
        // What cannot be executed here is unavailable, or refused before the run begins, as it is without a server.
        let prepared = prepare_tools(&plan, tools, &tasks, &not_run, isolation, &context, observer);
        let failures = prepared.map(|prepared| prepared.failures).map_err(|failure| {
            Failure::failed(format!("{}; --no-work leaves the run to workers that can", failure.text()))
        })?;
        not_run.extend(failures.clone());
        tool_failures.extend(failures);
    }
    let (unavailable, tasks): (Vec<Task>, Vec<Task>) =
        tasks.into_iter().partition(|task| not_run.contains_key(&task.key.tool));
    note_folders(&plan, observer);
    let parts = package::pack(&loaded.files)?;
    let is_new = earlier.is_none();
    let id = match earlier {
        Some(id) => id,
        None => {
            let snapshot = serde_json::to_vec(&loaded.snapshot());
            let id = store.begin(&NewRun {
                name: request.name.clone(),
                plan: plan.clone(),
                suite_snapshot: snapshot.map_err(|error| Failure::io("the suite", error.into()))?,
                scratch: None,
            })?;
            if let Some(TakenOver { run, trials }) = &taken_over {
                store.copy_trials(run, &id, &trials.keys().cloned().collect())?;
            }
            id
        }
    };
    if is_new || !store.has_suite_parts(&id)? {
        store.set_suite_parts(&id, &parts)?;
    }
    let judging = judge_of_plan(&loaded, &plan, &request.judge)?.as_ref().is_some_and(Judge::asks_models);
    let max_tries = request.max_tries.unwrap_or(QueueOptions::MAX_TRIES);
    let options = QueueOptions { max_tries, judging, follow: is_under_way };
    let queued: Vec<QueuedTrial> = tasks.iter().map(|task| queued_trial(&plan, task)).collect();
    if !is_under_way {
        record_unavailable(&mut store, &id, &unavailable, &not_run)?;
    }
    store.queue_trials(&id, &queued, &options)?;
    Ok(QueuedRun { store, id, plan, loaded, tool_failures })
}

/// Flags bind the workers of a run through its plan, which is never changed.
fn refuse_other_isolation(request: &EvaluateRequest, plan: &PlanV1) -> Result<()> {
    let (asked, required) = (request.isolation.map(isolation_kind), request.require_isolation.map(isolation_kind));
    if asked.is_none_or(|asked| plan.isolation == Some(asked)) && required <= plan.require_isolation {
        return Ok(());
    }
    let message = "--isolation and --require-isolation bind all workers of a run when it is planned, and this one was planned \
                   without them; start a new run, or give the flags to each `karat worker`";
    Err(Failure::usage(message))
}

/// Workers get the suite, and nothing else from this machine.
fn note_folders(plan: &PlanV1, observer: &mut dyn EvaluateObserver) {
    for tool in &plan.tools {
        let outside = tool.manifest_dir.as_ref().filter(|folder| !Path::new(folder).starts_with(&plan.suite.place));
        if let Some(folder) = outside {
            observer.note(&format!(
                "the tool `{}` comes from {folder}: workers need this folder at the same path; a tool that the suite's karat.toml \
                 declares is sent along with the suite",
                tool.name
            ));
        }
    }
}

/// Records the trials of tools that cannot be run, as a run of one machine does.
fn record_unavailable(
    store: &mut Store,
    run: &RunId,
    tasks: &[Task],
    not_run: &BTreeMap<ToolName, String>,
) -> Result<()> {
    let now_ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64);
    let mut records = Vec::new();
    for task in tasks {
        let Some(why) = not_run.get(&task.key.tool) else { continue };
        let mut record = task.unavailable(why);
        record.detail.started_ms = now_ms;
        records.push(record);
    }
    for tool in records.iter().map(|record| &record.trial.tool).collect::<BTreeSet<_>>() {
        store.set_tool(run, tool, &facts_without_program(None))?;
    }
    if !records.is_empty() {
        store.record_unexecuted(run, &records)?;
    }
    Ok(())
}

fn queued_trial(plan: &PlanV1, task: &Task) -> QueuedTrial {
    let planned = plan.tools.iter().find(|tool| tool.name == task.key.tool.as_str());
    let needs = planned.map(|tool| tool.manifest.needs.clone()).unwrap_or_default();
    QueuedTrial { key: task.key.clone(), attempt: task.attempt, needs }
}

fn worker_request(request: &EvaluateRequest, id: &RunId) -> WorkerRequest {
    WorkerRequest {
        store: request.store.clone(),
        run: Some(id.to_string()),
        jobs: request.jobs,
        offers: BTreeSet::new(),
        lease: DEFAULT_LEASE,
        grace: Duration::ZERO,
        idle: WhenIdle::Exit,
        isolation: request.isolation,
        require_isolation: request.require_isolation,
        environment: request.environment.clone(),
        supervisor: request.supervisor.clone(),
    }
}

/// The worker in this process shows nothing itself.
struct ForwardedNotes {
    notes: Sender<String>,
    drain: Cancel,
}

impl WorkerObserver for ForwardedNotes {
    fn note(&mut self, text: &str) {
        let _ = self.notes.send(text.to_owned());
    }

    fn drain(&mut self) -> Result<Cancel> {
        Ok(self.drain.clone())
    }
}

/// The worker of this process, unless the work is left to others, or it has ended.
struct OwnWorker<'s>(Option<ScopedJoinHandle<'s, Result<()>>>);

impl OwnWorker<'_> {
    /// Whether it still works. When it has ended, it is said why, as soon as that is known.
    fn is_at_work(&mut self, observer: &mut dyn EvaluateObserver) -> bool {
        if self.0.as_ref().is_some_and(ScopedJoinHandle::is_finished) {
            self.end(observer);
        }
        self.0.is_some()
    }

    /// Waits for its end.
    fn end(&mut self, observer: &mut dyn EvaluateObserver) {
        match self.0.take().map(ScopedJoinHandle::join) {
            None | Some(Ok(Ok(()))) => {}
            Some(Ok(Err(failure))) => {
                observer.note(&format!("this process does not work on the run any more: {}", failure.text()));
            }
            Some(Err(_)) => {
                observer.note("this process does not work on the run any more: a defect of Karat ended its worker")
            }
        }
    }
}

/// Reads what all workers do.
struct Follower<'a> {
    request: &'a EvaluateRequest,
    id: &'a RunId,
    plan: &'a PlanV1,
    cancel: &'a Cancel,
    /// The last result that was shown.
    position: i64,
    failures: usize,
    outage: Outage<'a>,
}

impl Follower<'_> {
    fn follow(
        &mut self,
        store: &mut Store,
        notes: &Receiver<String>,
        own: &mut OwnWorker<'_>,
        observer: &mut dyn EvaluateObserver,
    ) -> Result<Ending, EvaluateError> {
        let id = self.id;
        let found = self.outage.wait_out(store, observer, |store| Ok(store.find_with_position(id)?));
        let (info, position) = found?;
        let done = usize::try_from(info.outcomes.values().sum::<u64>()).unwrap_or(usize::MAX);
        let planned = usize::try_from(info.planned).unwrap_or(usize::MAX);
        observer.run_event(&RunEvent::Began { plan: self.plan, done, left: planned.saturating_sub(done) });
        self.position = position;
        let mut shown_tools = BTreeSet::new();
        let mut noted_waiting = false;
        loop {
            notes.try_iter().for_each(|note| observer.note(&note));
            if self.cancel.is_cancelled() {
                observer.run_event(&RunEvent::Ended(&Ending::Interrupted));
                return Ok(Ending::Interrupted);
            }
            match self.read(store, &mut shown_tools, observer) {
                Ok(Some(ending)) => {
                    observer.run_event(&RunEvent::Ended(&ending));
                    return Ok(ending);
                }
                Ok(None) => self.outage.since = None,
                Err(error) => self.outage.reconnect(store, error.into(), observer)?,
            }
            if !own.is_at_work(observer) && !noted_waiting {
                noted_waiting = true;
                observer.note(&waiting_note(&store.queued_needs(Some(id)).unwrap_or_default()));
            }
            self.cancel.sleep(POLL);
        }
    }

    /// Shows what is new; how the run ended, if it did.
    fn read(
        &mut self,
        store: &mut Store,
        shown_tools: &mut BTreeSet<ToolName>,
        observer: &mut dyn EvaluateObserver,
    ) -> Result<Option<Ending>, StoreError> {
        // The state first: what was stored before the end is read below.
        let state = store.state(self.id)?;
        for (tool, facts) in store.tools(self.id)? {
            if shown_tools.insert(tool.clone()) {
                observer.run_event(&RunEvent::ToolReady { tool: &tool, facts: &facts });
            }
        }
        loop {
            let new = store.attempts_after(self.id, self.position, MAX_READ)?;
            let is_last = new.len() < MAX_READ as usize;
            let mut records = Vec::new();
            for (position, stored) in new {
                self.position = position;
                self.failures += usize::from(failed(stored.trial.outcome));
                let (trial, attempt, detail) = (stored.trial, stored.attempt, stored.detail);
                records.push(TrialRecord { trial, attempt, detail, artifacts: Vec::new() });
            }
            if !records.is_empty() {
                observer.run_event(&RunEvent::TrialsDone(&records));
            }
            if is_last {
                break;
            }
        }
        if state == RunState::Running && self.request.max_failures.is_some_and(|most| self.failures >= most) {
            match store.stop(self.id) {
                Ok(()) => return Ok(Some(Ending::TooManyFailures)),
                // It ended meanwhile.
                Err(StoreError::Ended { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(match state {
            RunState::Running => None,
            RunState::Complete => Some(Ending::Complete),
            RunState::Stopped => Some(Ending::Interrupted),
        })
    }
}

fn waiting_note(needs: &BTreeSet<String>) -> String {
    let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
    let needs = match needs.as_slice() {
        [] => String::new(),
        needs => format!("; its tools need {}: workers must have them, or be told so with --needs", needs.join(", ")),
    };
    format!(
        "waiting for workers: `karat worker` with the same --store works on this run{needs}; Ctrl-C leaves it to them"
    )
}

/// Waits for a server that is away.
struct Outage<'a> {
    request: &'a EvaluateRequest,
    cancel: &'a Cancel,
    /// Since when the server cannot be reached.
    since: Option<Instant>,
}

impl Outage<'_> {
    /// Repeats `read` while the server is away.
    fn wait_out<T>(
        &mut self,
        store: &mut Store,
        observer: &mut dyn EvaluateObserver,
        mut read: impl FnMut(&mut Store) -> Result<T>,
    ) -> Result<T> {
        loop {
            match read(store) {
                Ok(value) => {
                    self.since = None;
                    return Ok(value);
                }
                Err(failure) if self.cancel.is_cancelled() => return Err(failure),
                Err(failure) => self.reconnect(store, failure, observer)?,
            }
            self.cancel.sleep(POLL);
        }
    }

    /// Connects again after an outage. Any other failure, and an outage that lasts for too long, is returned.
    fn reconnect(&mut self, store: &mut Store, failure: Failure, observer: &mut dyn EvaluateObserver) -> Result<()> {
        let Failure::Outage(why) = failure else { return Err(failure) };
        let since = *self.since.get_or_insert_with(|| {
            observer.note(&format!("{why}; trying again"));
            Instant::now()
        });
        if since.elapsed() >= MAX_OUTAGE {
            return Err(Failure::Outage(why));
        }
        if let Ok(opened) = Store::open(&self.request.store) {
            *store = opened;
        }
        Ok(())
    }
}

/// What is stored of a run that a worker has scored.
struct StoredResult {
    report: ReportV1,
    judgements: Vec<Judgement>,
    trials: Vec<StoredTrial>,
    facts: BTreeMap<ToolName, ToolFactsV1>,
}

impl StoredResult {
    fn read(store: &mut Store, info: &RunInfo) -> Result<Self> {
        let (_, report) = run_loader::report(store, info.id.as_str(), &mut NoObserver)?;
        let judgements = run_loader::judgements(store, info)?;
        Ok(Self { report, judgements, trials: store.trials(&info.id)?, facts: store.tools(&info.id)? })
    }

    /// The report is the stored one; what else is shown comes from the stored judgements.
    fn into_scored(self, store: &mut Store, info: RunInfo, plan: PlanV1, loaded: LoadedSuite) -> Result<ScoredRun> {
        let id = info.id.clone();
        let mut run = run_loader::with_trials(info, plan, loaded, self.trials, self.facts);
        let first_failure = first_failure(store, &id, &run.trials);
        let mut work = run.work(run.profile(&ProfileRequest::default())?, None);
        work.judgements = self.judgements;
        let mut scoring = work.score(&run.loaded);
        scoring.report = self.report;
        Ok(ScoredRun { run, scoring, first_failure })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::run::JudgeObserver;

    #[derive(Default)]
    struct Notes(Vec<String>, NoObserver);

    impl EvaluateObserver for Notes {
        fn note(&mut self, text: &str) {
            self.0.push(text.to_owned());
        }

        fn judge(&mut self) -> &mut dyn JudgeObserver {
            &mut self.1
        }
    }

    #[test]
    fn it_is_said_at_once_why_the_own_worker_ended() {
        let ended = |work: fn() -> Result<()>| {
            let mut notes = Notes::default();
            std::thread::scope(|scope| {
                let mut own = OwnWorker(Some(scope.spawn(work)));
                while own.is_at_work(&mut notes) {
                    std::thread::yield_now();
                }
            });
            notes.0.concat()
        };
        assert_eq!(ended(|| Ok(())), "");
        assert!(ended(|| Err(Failure::failed("no room"))).ends_with("any more: no room"));
        assert!(ended(|| std::panic::resume_unwind(Box::new("bug"))).contains("defect"));
    }
}
