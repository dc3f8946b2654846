//! Executes what is left of a plan, and scores the run.

use super::{EvaluateError, EvaluateObserver, EvaluateRequest, Evaluated, Phase, Prepared};
use crate::failure::Failure;
use crate::judge::run::{JudgeEnv, JudgeRequest, run_judge};
use crate::profile::request::ProfileRequest;
use crate::run::drive::{Drive, drive, emit};
use crate::run::execute::{Executor, Runners};
use crate::run::plan::remaining_tasks;
use crate::run::scratch::Scratch;
use crate::run_loader;
use crate::scoring;
use crate::suite::{LoadedSuite, load};
use crate::tool::command::isolation_kind;
use crate::tool::run_context::RunContext;
use crate::tool::{Task, Tool};
use karat_core::ids::ToolName;
use karat_format::judgement::JudgementV1;
use karat_format::run::{PlanV1, ToolFactsV1};
use karat_format::shipped_suites::locate;
use karat_sandbox::Isolation;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::{NewRun, RunId, RunLock, RunState, Store, StoreError, StoredTrial};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// What was found out about each tool.
type Facts = BTreeMap<ToolName, ToolFactsV1>;

/// Executes the trials that are left, stores each as soon as it is done, and scores the run when all are done.
pub fn execute(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    let (run, ending) = run_trials(request, prepared, observer)?;
    score(request, run, ending, observer)
}

/// Scores a run whose trials are all done, and stores the report.
fn score(
    request: &EvaluateRequest,
    run: LockedRun,
    ending: Ending,
    observer: &mut dyn EvaluateObserver,
) -> Result<Evaluated, EvaluateError> {
    let LockedRun { mut store, id, loaded, .. } = run;
    if !Store::is_at(store.folder()) {
        return Err(StoreError::Missing { folder: store.folder().to_owned() }.into());
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
    let mut run = run_loader::with_suite(&mut store, info, plan, loaded)?;
    let profile = run.profile(&ProfileRequest::default())?;
    let first_failure = run.trials.iter().find_map(|trial| trial.detail.reason.clone());
    let mut work = run.work(profile, None);
    if changed {
        work.notes.push("the suite changed during the run, so not all trials saw the same code".to_owned());
    }
    // The plan names the judge.
    let wanted = run.judge_request(&JudgeRequest { cache: request.judge.cache, ..JudgeRequest::default() });
    observer.phase(Phase::Judging);
    let folder = store.folder().to_owned();
    let judge = observer.judge();
    let env = JudgeEnv { request: &wanted, store_folder: &folder, store: Some(&mut store), observer: judge };
    let judged = run_judge(env, &run.loaded, &run.models(), &mut work);
    observer.phase(Phase::Scoring);
    if let Err(failure) = judged {
        store.finish(&id, RunState::Stopped, None)?;
        return Err(EvaluateError::NotJudged { info: Box::new(run.info), failure });
    }
    let scoring = scoring::run(&run.loaded, work);
    let judgements: Vec<JudgementV1> = scoring.judgements.iter().map(JudgementV1::from).collect();
    store.set_judgements(&id, &judgements)?;
    let report = serde_json::to_vec(&scoring.report).map_err(|error| Failure::io("the report", error.into()))?;
    store.finish(&id, RunState::Complete, Some(&report))?;
    Ok(Evaluated { store, run, scoring, ending, first_failure })
}

/// Hands the events of a run to the observer.
struct Observed<'a>(&'a mut dyn EvaluateObserver);

impl Consumer for Observed<'_> {
    fn consume(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError> {
        self.0.run_event(event)
    }
}

/// A run in its store that only this process works on.
struct LockedRun {
    store: Store,
    id: RunId,
    loaded: LoadedSuite,
    _lock: RunLock,
}

/// Executes what is left of the plan.
fn run_trials(
    request: &EvaluateRequest,
    prepared: Prepared,
    observer: &mut dyn EvaluateObserver,
) -> Result<(LockedRun, Ending), EvaluateError> {
    let cancel = observer.cancel()?;
    let Prepared { loaded, plan, tools, isolation, earlier } = prepared;
    let parent = std::env::temp_dir();
    let scratch = Scratch::make(&parent).map_err(|error| {
        let parent = parent.display();
        Failure::failed(format!("could not create a folder for trials in {parent}: {error}; set TMPDIR to use another"))
    })?;
    let folder = &request.store_folder;
    let (mut store, locked) = match earlier {
        Some((mut store, id)) => {
            let lock = store.lock(&id)?;
            require_isolation(request, &mut store, &id)?;
            (store, Some((id, lock)))
        }
        None => {
            let mut store = Store::create(folder)?;
            require_free_name(request, &mut store)?;
            (store, None)
        }
    };
    let done = match &locked {
        Some((id, _)) => store.finished_trials(id)?,
        None => BTreeMap::new(),
    };
    let tasks: Vec<Task> = remaining_tasks(&plan, &done, request.retry_failed);

    let mut context = RunContext::new(
        &loaded,
        scratch.path().to_owned(),
        request.supervisor.clone(),
        cancel.clone(),
        request.environment.clone(),
        plan.seed,
    );
    context.secret.extend(secrets(&plan, folder));
    let (runners, facts) = prepare_tools(&plan, tools, &tasks, isolation, &context, observer)?;
    let (id, lock) = match locked {
        Some(locked) => locked,
        None => {
            let id = begin(request, &mut store, &plan, &loaded, scratch.path())?;
            let lock = store.lock(&id)?;
            (id, lock)
        }
    };
    store.reopen(&id)?;
    store.set_scratch(&id, Some(scratch.path()))?;
    note_changes(&mut store, &id, &facts, observer)?;

    let executor = Executor::new(runners, &tasks, &context);
    let execute = |task: &Task| executor.execute(task).map_err(|error| Box::new(error) as ConsumerError);
    let jobs = request.jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    // If a trial has filled the disk of the store, that trial is ended, and what others did is stored.
    let recover =
        |error: &ConsumerError| matches!(error.downcast_ref(), Some(StoreError::Full { .. })) && context.make_room();
    let work = Drive {
        tasks: &tasks,
        execute: &execute,
        jobs,
        max_failures: request.max_failures,
        cancel: &cancel,
        recover: &recover,
    };
    let ending = {
        let mut sink = store.sink(&id);
        run_with_events(&work, &plan, &facts, &mut [&mut sink, &mut Observed(observer)])
    };
    let ending = ending.map_err(|error| {
        let run = store.find(id.as_str()).map_or_else(|_| id.to_string(), |info| info.short_id);
        let _ = store.finish(&id, RunState::Stopped, None);
        EvaluateError::Broken { run, error }
    })?;
    store.set_scratch(&id, None)?;
    drop(executor);
    Ok((LockedRun { store, id, loaded, _lock: lock }, ending))
}

/// Drives the work, with the events of its beginning and its end.
fn run_with_events(
    work: &Drive<'_>,
    plan: &PlanV1,
    facts: &Facts,
    consumers: &mut [&mut dyn Consumer],
) -> Result<Ending, ConsumerError> {
    let planned: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();
    let left = work.tasks.len();
    emit(consumers, &RunEvent::Began { plan, done: planned - left, left })?;
    for tool in plan.tools.iter().map(|tool| ToolName::new(&tool.name)) {
        if let Some(facts) = facts.get(&tool) {
            emit(consumers, &RunEvent::ToolReady { tool: &tool, facts })?;
        }
    }
    let ending = drive(work, consumers)?;
    emit(consumers, &RunEvent::Ended(&ending))?;
    Ok(ending)
}

fn begin(
    request: &EvaluateRequest,
    store: &mut Store,
    plan: &PlanV1,
    loaded: &LoadedSuite,
    scratch: &Path,
) -> Result<RunId, Failure> {
    let snapshot = serde_json::to_vec(&loaded.snapshot());
    let suite_snapshot = snapshot.map_err(|error| Failure::io("the suite", error.into()))?;
    Ok(store.begin(&NewRun {
        name: request.name.clone(),
        plan: plan.clone(),
        suite_snapshot,
        scratch: Some(scratch.to_owned()),
    })?)
}

/// Refuses a name that is taken before anything is set up.
fn require_free_name(request: &EvaluateRequest, store: &mut Store) -> Result<(), Failure> {
    let Some(name) = &request.name else { return Ok(()) };
    match store.find(name) {
        Ok(run) => Err(Failure::usage(format!("run {} is already named `{name}`; choose another name", run.short_id))),
        Err(StoreError::NoRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Applies the required isolation to the trials that the run has already.
fn require_isolation(request: &EvaluateRequest, store: &mut Store, id: &RunId) -> Result<(), Failure> {
    let Some(required) = request.require_isolation else { return Ok(()) };
    let kind = isolation_kind(required);
    let is_weaker = |trial: &StoredTrial| trial.detail.isolation_kind.is_some_and(|used| used < kind);
    let weaker = store.trials(id)?.iter().filter(|trial| is_weaker(trial)).count();
    if weaker == 0 {
        return Ok(());
    }
    let message = format!(
        "{} with less isolation than {} in this run; start a new run",
        karat_core::wording::plural(weaker, "trial was executed", "trials were executed"),
        required.as_str()
    );
    Err(Failure::failed(message))
}

/// What no tool of this run may see beside the suite: the store, and files with recorded answers.
fn secrets(plan: &PlanV1, store: &Path) -> Vec<PathBuf> {
    let files = plan.tools.iter().flat_map(|tool| [&tool.manifest.submission, &tool.manifest.llm.file]);
    let recorded = files.flatten().map(Path::new).filter(|path| path.is_absolute());
    recorded.chain([store]).filter_map(|path| path.canonicalize().ok()).collect()
}

/// Prepares every tool with trials left. If one cannot be run, the run ends before it begins.
fn prepare_tools<'a>(
    plan: &PlanV1,
    tools: Vec<Box<dyn Tool>>,
    tasks: &[Task],
    isolation: Isolation,
    context: &'a RunContext<'a>,
    observer: &mut dyn EvaluateObserver,
) -> Result<(Runners<'a>, Facts), Failure> {
    let wanted: HashSet<&str> = tasks.iter().map(|task| task.key.tool.as_str()).collect();
    let mut runners = HashMap::new();
    let mut facts = BTreeMap::new();
    for (planned, tool) in plan.tools.iter().zip(tools).filter(|(tool, _)| wanted.contains(tool.name.as_str())) {
        let name = ToolName::new(&planned.name);
        if !planned.manifest.setup.is_empty() {
            observer.setting_up(name.as_str());
        }
        let (runner, known) = tool
            .prepare(isolation, context)
            .map_err(|error| Failure::failed(format!("the tool `{name}` cannot be run: {error}")))?;
        facts.insert(name.clone(), known);
        runners.insert(name, runner);
    }
    Ok((runners, facts))
}

/// Warns if a tool's version or isolation has changed since the run began.
fn note_changes(
    store: &mut Store,
    id: &RunId,
    facts: &Facts,
    observer: &mut dyn EvaluateObserver,
) -> Result<(), Failure> {
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
