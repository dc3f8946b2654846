//! Executes what is left of a plan, and scores the run.

use super::evaluated::{EvaluateError, Evaluated, FirstFailure};
use super::observer::{EvaluateObserver, Phase};
use super::prepare::{LoadedTool, Prepared, TakenOver};
use super::request::EvaluateRequest;
use crate::failure::{Failure, Result};
use crate::judge::run::{JudgeEnv, JudgeObserver, JudgeRequest, run_judge};
use crate::profile::ProfileRequest;
use crate::run::plan::remaining_tasks;
use crate::run::workers::{Emit, Runners, Workers};
use crate::run_loader::{self, StoredRun};
use crate::scratch::{Scratch, make_scratch};
use crate::suite::{LoadedSuite, load};
use crate::tool::command::isolation_kind;
use crate::tool::run_context::RunContext;
use crate::tool::{Task, TrialRunner, UnavailableTool, facts_without_program};
use crate::work::{Scoring, Work};
use karat_core::ids::ToolName;
use karat_core::trial::Outcome;
use karat_core::wording::plural;
use karat_format::judgement::JudgementV1;
use karat_format::report::DetailV1;
use karat_format::run::{PlanV1, PlannedToolV1, ToolFactsV1};
use karat_format::shipped_suites::locate;
use karat_io::cancel::Cancel;
use karat_sandbox::Isolation;
use karat_store::event::{Ending, RunEvent};
use karat_store::record::TrialKey;
use karat_store::{NewRun, RunId, RunInfo, RunLock, RunState, Store, StoreError, StoredTrial};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::path::Path;

type Facts = BTreeMap<ToolName, ToolFactsV1>;

/// Executes a run on this machine alone.
pub(super) fn execute_here(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    if request.no_work {
        return Err(StoreError::NoServer { location: request.store.clone() }.into());
    }
    let (LockedRun { mut store, id, loaded, tool_failures, _lock }, ending) = run_trials(request, prepared, observer)?;
    if !Store::is_at(store.location()) {
        return Err(StoreError::Missing { store: store.location().clone() }.into());
    }
    let info = store.find(id.as_str())?;
    let done: u64 = info.outcomes.values().sum();
    // A run with every trial is complete, even if retrying the failed ones was interrupted.
    if done < info.planned {
        store.finish(&id, RunState::Stopped, None)?;
        return Err(EvaluateError::Stopped { info: Box::new(info), ending });
    }
    // Every trial is stored. What follows can be repeated at any time, except asking a judge.
    observer.phase(Phase::Scoring);
    let plan = store.plan(&id)?;
    let changed = load(locate(&plan.suite.place)).map_or(true, |now| now.suite.digest != plan.suite.digest);
    let notes = changed.then(|| "the suite changed during the run, so not all trials saw the same code".to_owned());
    let wanted = JudgeRequest { cache: request.judge.cache, ..JudgeRequest::default() };
    observer.phase(Phase::Judging);
    let judged = judge_run(&mut store, info, plan, loaded, &wanted, notes, observer.judge());
    observer.phase(Phase::Scoring);
    let judged = match judged {
        Ok(judged) => judged,
        Err(failure) => {
            store.finish(&id, RunState::Stopped, None)?;
            return Err(EvaluateError::NotJudged { info: Box::new(store.find(id.as_str())?), failure });
        }
    };
    let ScoredRun { run, scoring, first_failure } = judged.score(request.detail);
    let judgements: Vec<JudgementV1> = scoring.judgements.iter().map(JudgementV1::from).collect();
    store.set_judgements(&id, &judgements)?;
    let report = serde_json::to_vec(&scoring.report).map_err(|error| Failure::io("the report", error.into()))?;
    store.finish(&id, RunState::Complete, Some(&report))?;
    Ok(Evaluated { store, run, scoring, ending, first_failure, tool_failures })
}

/// A run whose trials are judged.
pub(crate) struct JudgedRun {
    run: StoredRun,
    work: Work,
    first_failure: Option<FirstFailure>,
}

/// A run that is scored.
pub(crate) struct ScoredRun {
    pub(crate) run: StoredRun,
    pub(crate) scoring: Scoring,
    pub(crate) first_failure: Option<FirstFailure>,
}

impl JudgedRun {
    pub(crate) fn score(self, detail: DetailV1) -> ScoredRun {
        let Self { run, mut work, first_failure } = self;
        work.detail = detail;
        let scoring = work.score(&run.loaded);
        ScoredRun { run, scoring, first_failure }
    }
}

/// Has the trials of a run judged. The plan names the judge; `wanted` says how the ledger is used.
pub(crate) fn judge_run(
    store: &mut Store,
    info: RunInfo,
    plan: PlanV1,
    loaded: LoadedSuite,
    wanted: &JudgeRequest,
    notes: impl IntoIterator<Item = String>,
    observer: &mut dyn JudgeObserver,
) -> Result<JudgedRun> {
    let id = info.id.clone();
    let mut run = run_loader::with_suite(store, info, plan, loaded)?;
    let profile = run.profile(&ProfileRequest::default())?;
    let first_failure = first_failure(store, &id, &run.trials);
    let mut work = run.work(profile, None);
    work.notes.extend(notes);
    let wanted = run.judge_request(wanted);
    let location = store.location().clone();
    store.share_budget(id.as_str());
    let env = JudgeEnv { request: &wanted, location: &location, store: Some(store), observer };
    run_judge(env, &run.loaded, &run.models(), &mut work)?;
    Ok(JudgedRun { run, work, first_failure })
}

/// Lines of a tool's output that are shown where nothing else is.
const LAST_LINES: usize = 10;
const LAST_BYTES: usize = 64 << 10;

/// The first trial without a report, one that failed before one that was never run, with the end of what it printed.
pub(super) fn first_failure(store: &mut Store, id: &RunId, trials: &[StoredTrial]) -> Option<FirstFailure> {
    let of_kind = |fits: fn(Outcome) -> bool| trials.iter().find(|stored| fits(stored.trial.outcome));
    let first = of_kind(|outcome| !matches!(outcome, Outcome::Reported | Outcome::Skipped));
    let StoredTrial { trial, detail, .. } = first.or_else(|| of_kind(|outcome| outcome != Outcome::Reported))?;
    let key = TrialKey::from_trial(trial);
    // What was printed helps, and its absence must not hide the reason.
    let printed = store.artifacts(id, &key).unwrap_or_default();
    let artifact = |name: &str| printed.iter().find(|artifact| artifact.name == name).map(|found| found.hash.clone());
    let hash = artifact("stderr").or_else(|| artifact("stdout"));
    let bytes = hash.and_then(|hash| store.artifact(&hash).ok()).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(LAST_BYTES)..]).into_owned();
    let lines: Vec<String> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect();
    Some(FirstFailure {
        key,
        outcome: trial.outcome,
        reason: detail.reason.clone(),
        last_lines: lines[lines.len().saturating_sub(LAST_LINES)..].to_vec(),
    })
}

/// A run in its store that only this process works on.
struct LockedRun {
    store: Store,
    id: RunId,
    loaded: LoadedSuite,
    tool_failures: BTreeMap<ToolName, String>,
    _lock: RunLock,
}

fn run_trials(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<(LockedRun, Ending), EvaluateError> {
    let cancel = observer.cancel()?;
    let Prepared { loaded, plan, tools, isolation, earlier, taken_over } = prepared;
    let scratch = make_scratch()?;
    let (mut store, locked) = match earlier {
        Some((mut store, id)) => {
            let lock = store.lock(&id)?;
            require_isolation(request, &mut store, &id)?;
            (store, Some((id, lock)))
        }
        None => {
            let mut store = Store::create(&request.store)?;
            require_free_name(request.name.as_deref(), &mut store)?;
            (store, None)
        }
    };
    let finished = locked.as_ref().map(|(id, _)| store.finished_trials(id)).transpose()?.unwrap_or_default();
    let done = taken_over.as_ref().map_or(&finished, |taken| &taken.trials);
    let tasks = remaining_tasks(&plan, done, request.retry_failed);

    let context = new_context(request, &loaded, &plan, &scratch, cancel);
    let without_key = missing_keys(&plan, &tools, &tasks, &context);
    require_other_tool(&without_key, tools_of(&tasks).len(), observer)?;
    let PreparedTools { runners, facts, mut failures } =
        prepare_tools(&plan, tools, &tasks, &without_key, isolation, &context, observer)?;
    failures.extend(without_key);
    let (id, lock) = match locked {
        Some(locked) => locked,
        None => {
            let snapshot = serde_json::to_vec(&loaded.snapshot());
            let id = store.begin(&NewRun {
                name: request.name.clone(),
                plan: plan.clone(),
                suite_snapshot: snapshot.map_err(|error| Failure::io("the suite", error.into()))?,
                scratch: Some(scratch.path.clone()),
            })?;
            let lock = store.lock(&id)?;
            if let Some(TakenOver { run, trials }) = &taken_over {
                store.copy_trials(run, &id, &trials.keys().cloned().collect())?;
            }
            (id, lock)
        }
    };
    store.reopen(&id)?;
    store.set_scratch(&id, Some(&scratch.path))?;
    note_changes(&mut store, &id, &facts, observer)?;

    let workers = Workers::new(runners, &tasks, &context, request.max_failures);
    let jobs = request.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let ending = run_with_events(&workers, jobs, &plan, &facts, &mut |event| {
        store.store_event(&id, event)?;
        observer.run_event(event);
        Ok(())
    });
    let ending = ending.map_err(|error| {
        let run = store.find(id.as_str()).map_or_else(|_| id.to_string(), |info| info.short_id);
        let _ = store.finish(&id, RunState::Stopped, None);
        EvaluateError::Broken { run, error }
    })?;
    store.set_scratch(&id, None)?;
    failures.extend(workers.tool_failures());
    drop(workers);
    Ok((LockedRun { store, id, loaded, tool_failures: failures, _lock: lock }, ending))
}

pub(crate) fn new_context<'a>(
    request: &'a EvaluateRequest,
    loaded: &'a LoadedSuite,
    plan: &PlanV1,
    scratch: &Scratch,
    cancel: Cancel,
) -> RunContext<'a> {
    let mut context =
        RunContext::new(loaded, scratch.path.clone(), &request.supervisor, cancel, &request.environment, plan.seed);
    // Neither the store nor files with recorded answers may be seen.
    let files = plan.tools.iter().flat_map(|tool| [&tool.manifest.submission, &tool.manifest.llm.file]);
    let recorded = files.flatten().map(Path::new).filter(|path| path.is_absolute());
    let store = request.store.local_folder();
    context.secret.extend(recorded.chain([store.as_path()]).filter_map(|path| path.canonicalize().ok()));
    context
}

fn run_with_events(
    workers: &Workers<'_>,
    jobs: usize,
    plan: &PlanV1,
    facts: &Facts,
    emit: &mut Emit<'_>,
) -> io::Result<Ending> {
    let planned: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();
    let left = workers.tasks.len();
    emit(&RunEvent::Began { plan, done: planned - left, left }).map_err(io::Error::other)?;
    for tool in plan.tools.iter().map(|tool| ToolName::new(&tool.name)) {
        if let Some(facts) = facts.get(&tool) {
            emit(&RunEvent::ToolReady { tool: &tool, facts }).map_err(io::Error::other)?;
        }
    }
    let ending = workers.run(jobs, emit)?;
    emit(&RunEvent::Ended(&ending)).map_err(io::Error::other)?;
    Ok(ending)
}

/// Refuses a name that is taken before anything is set up.
pub(crate) fn require_free_name(name: Option<&str>, store: &mut Store) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    match store.find(name) {
        Ok(run) => Err(Failure::usage(format!("run {} is already named `{name}`; choose another name", run.short_id))),
        Err(StoreError::NoRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Applies the required isolation to the trials that the run has already.
pub(super) fn require_isolation(request: &EvaluateRequest, store: &mut Store, id: &RunId) -> Result<()> {
    let Some(required) = request.require_isolation else { return Ok(()) };
    let kind = isolation_kind(required);
    let is_weaker = |trial: &StoredTrial| trial.detail.isolation_kind.is_some_and(|used| used < kind);
    let weaker = store.trials(id)?.iter().filter(|trial| is_weaker(trial)).count();
    if weaker == 0 {
        return Ok(());
    }
    let (weaker, required) = (plural(weaker, "trial was executed", "trials were executed"), required.as_str());
    Err(Failure::failed(format!("{weaker} with less isolation than {required} in this run; start a new run")))
}

/// The tools with trials left that lack a key, and why.
pub(super) fn missing_keys(
    plan: &PlanV1,
    tools: &[LoadedTool],
    tasks: &[Task],
    context: &RunContext<'_>,
) -> BTreeMap<ToolName, String> {
    let wanted = tools_of(tasks);
    let tools = plan.tools.iter().zip(tools).filter(|(planned, _)| wanted.contains(planned.name.as_str()));
    let missing = |(planned, (tool, _)): (&PlannedToolV1, &LoadedTool)| {
        Some((ToolName::new(&planned.name), tool.missing_key(context)?))
    };
    tools.filter_map(missing).collect()
}

/// Says that the trials of these tools are unavailable. Without any other tool to run, the run ends before it begins.
pub(super) fn require_other_tool(
    missing: &BTreeMap<ToolName, String>,
    left: usize,
    observer: &mut dyn EvaluateObserver,
) -> Result<()> {
    if let Some((name, why)) = missing.first_key_value().filter(|_| missing.len() == left) {
        return Err(Failure::failed(cannot_be_run(name, why)));
    }
    for (name, why) in missing {
        let failure = cannot_be_run(name, why);
        observer.note(&format!("{failure}; its trials are unavailable, and --resume tries them again"));
    }
    Ok(())
}

pub(super) fn cannot_be_run(tool: &ToolName, why: &str) -> String {
    format!("the tool `{tool}` cannot be run: {why}")
}

pub(super) fn tools_of(tasks: &[Task]) -> HashSet<&str> {
    tasks.iter().map(|task| task.key.tool.as_str()).collect()
}

/// The tools of a run, ready for their trials.
pub(super) struct PreparedTools<'a> {
    pub(super) runners: Runners<'a>,
    pub(super) facts: Facts,
    /// Why tools could not be made ready, but for those without a key. Their trials are unavailable.
    pub(super) failures: BTreeMap<ToolName, String>,
}

/// Prepares every tool with trials left, but for those without a key. If none can be run, the run ends before it begins.
pub(super) fn prepare_tools<'a>(
    plan: &PlanV1,
    tools: Vec<LoadedTool>,
    tasks: &[Task],
    without_key: &BTreeMap<ToolName, String>,
    isolation: Isolation,
    context: &'a RunContext<'a>,
    observer: &mut dyn EvaluateObserver,
) -> Result<PreparedTools<'a>> {
    let wanted = tools_of(tasks);
    let mut runners: Runners<'a> = HashMap::new();
    let (mut facts, mut failures) = (BTreeMap::new(), BTreeMap::new());
    for (planned, (tool, _)) in plan.tools.iter().zip(tools).filter(|(tool, _)| wanted.contains(tool.name.as_str())) {
        let name = ToolName::new(&planned.name);
        if !planned.manifest.setup.is_empty() && !without_key.contains_key(&name) {
            observer.setting_up(name.as_str());
        }
        let prepared = match without_key.get(&name) {
            Some(why) => Err(why.clone()),
            None => tool.prepare(isolation, context).map_err(|error| error.to_string()),
        };
        let (runner, known): (Box<dyn TrialRunner + 'a>, _) = match prepared {
            Ok(ready) => ready,
            // Nothing was found out about the tool.
            Err(why) if context.cancel.is_cancelled() => return Err(Failure::failed(cannot_be_run(&name, &why))),
            Err(why) => {
                if !without_key.contains_key(&name) {
                    failures.insert(name.clone(), why.clone());
                }
                (Box::new(UnavailableTool { why }), facts_without_program(None))
            }
        };
        facts.insert(name.clone(), known);
        runners.insert(name, runner);
    }
    require_other_tool(&failures, wanted.len() - without_key.len(), observer)?;
    Ok(PreparedTools { runners, facts, failures })
}

/// Warns if a tool's version or isolation has changed since the run began.
fn note_changes(store: &mut Store, id: &RunId, facts: &Facts, observer: &mut dyn EvaluateObserver) -> Result<()> {
    let before = store.tools(id)?;
    for (tool, now) in facts {
        let Some(then) = before.get(tool).filter(|then| *then != now) else { continue };
        let describe = |facts: &ToolFactsV1| {
            let version = facts.version.as_deref().unwrap_or("no version");
            format!("{version}, isolation {}", facts.isolation)
        };
        observer.note(&format!("{tool} changed since the run began: {} then, {} now", describe(then), describe(now)));
    }
    Ok(())
}
