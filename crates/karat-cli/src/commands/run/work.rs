//! Doing what is left of a plan.

use super::Prepared;
use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::progress::Progress;
use crate::signals::cancel_on_signals;
use crate::store_place;
use crate::terminal::{note, tell};
use karat::format::run::{PlanV1, ToolFactsV1};
use karat::run::drive::{Drive, Task, drive, emit};
use karat::run::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat::run::execute::{Executor, Loaded, Ready};
use karat::run::plan::left;
use karat::run::scratch::Scratch;
use karat::run::site::Site;
use karat::sandbox::{Isolation, Supervisor};
use karat::store::{NewRun, RunId, RunLock, RunState, Store, StoreError};
use karat::suite::LoadedSuite;
use karat_core::ids::ToolName;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// A run in its store that only this process works on.
pub(super) struct LockedRun {
    pub(super) store: Store,
    pub(super) id: RunId,
    pub(super) loaded: LoadedSuite,
    _lock: RunLock,
}

/// Does what is left of the plan.
pub(super) fn execute(args: &RunArgs, jobs: Option<usize>, prepared: Prepared) -> Result<(LockedRun, Ending), Failure> {
    let cancel = cancel_on_signals()?;
    let Prepared { loaded, plan, tools, isolation, earlier } = prepared;
    let parent = std::env::temp_dir();
    let scratch = Scratch::make(&parent).map_err(|error| {
        let message =
            format!("no folder for trials can be made in {}: {error}; TMPDIR names another", parent.display());
        Failure::Message(Exit::Failed, message)
    })?;
    let folder = store_place::folder(args.store.folder.as_deref());
    let (mut store, held) = match earlier {
        Some((mut store, id)) => {
            let lock = store.lock(&id)?;
            require_isolation(args, &mut store, &id)?;
            (store, Some((id, lock)))
        }
        None => {
            let mut store = Store::create(&folder)?;
            name_is_free(args, &mut store)?;
            (store, None)
        }
    };
    let done = match &held {
        Some((id, _)) => store.done(id)?,
        None => BTreeMap::new(),
    };
    let tasks: Vec<Task> = left(&plan, &done, args.retry_failed);

    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    let path = scratch.path().to_owned();
    let mut site = Site::new(&loaded, path, supervisor, cancel.clone(), environment, plan.seed);
    site.secret.extend(secrets(&plan, &folder));
    let (ready, facts) = get_ready(args, &plan, tools, &tasks, isolation, &site)?;
    let (id, lock) = match held {
        Some(held) => held,
        None => {
            let id = begin(args, &mut store, &plan, &loaded, scratch.path())?;
            let lock = store.lock(&id)?;
            (id, lock)
        }
    };
    store.reopen(&id)?;
    store.set_scratch(&id, Some(scratch.path()))?;
    tell_changes(&mut store, &id, &facts)?;

    let executor = Executor::new(ready, &tasks, &site);
    let execute = |task: &Task| executor.execute(task).map_err(|error| Box::new(error) as ConsumerError);
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let most_failures = if args.fail_fast { Some(1) } else { args.max_failures.map(|most| most as usize) };
    // Where a trial has filled the disk that the store lies on, that trial ends, and what others did is kept.
    let full = |error: &ConsumerError| matches!(error.downcast_ref(), Some(StoreError::Full { .. }));
    let recover = |error: &ConsumerError| full(error) && site.make_room();
    let work = Drive { tasks: &tasks, execute: &execute, jobs, most_failures, cancel: &cancel, recover: &recover };
    let mut progress = Progress::new(args.quiet);
    let ending = {
        let mut sink = store.sink(&id);
        told(&work, &plan, &facts, &mut [&mut sink, &mut progress])
    };
    let ending = ending.map_err(|error| {
        let short = store.find(id.as_str()).map_or_else(|_| id.to_string(), |info| info.short_id);
        let _ = store.finish(&id, RunState::Stopped, None);
        let done = "what was reported done is kept; go on with";
        let place = store_place::flag(args.store.folder.as_deref());
        Failure::Message(Exit::Failed, format!("{error}\n{done}: karat run --resume {short}{place}"))
    })?;
    store.set_scratch(&id, None)?;
    drop(executor);
    Ok((LockedRun { store, id, loaded, _lock: lock }, ending))
}

/// Drives the work and tells everybody what happens, from the beginning to the end.
fn told(
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
    args: &RunArgs,
    store: &mut Store,
    plan: &PlanV1,
    loaded: &LoadedSuite,
    scratch: &Path,
) -> Result<RunId, Failure> {
    let snapshot = serde_json::to_vec(&loaded.snapshot());
    let suite_snapshot = snapshot.map_err(|error| Failure::io("the suite", error.into()))?;
    Ok(store.begin(&NewRun {
        name: args.name.clone(),
        plan: plan.clone(),
        suite_snapshot,
        scratch: Some(scratch.to_owned()),
    })?)
}

/// A name that is taken is refused before anything is set up.
fn name_is_free(args: &RunArgs, store: &mut Store) -> Result<(), Failure> {
    let Some(name) = &args.name else { return Ok(()) };
    match store.find(name) {
        Ok(run) => Err(Failure::usage(format!("run {} is called `{name}` already; choose another name", run.short_id))),
        Err(StoreError::NoRun { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// What is required of a run holds for the trials that it has already, too.
fn require_isolation(args: &RunArgs, store: &mut Store, id: &RunId) -> Result<(), Failure> {
    if args.require_isolation.is_none() {
        return Ok(());
    }
    let loose = |words: &String| words.starts_with(Isolation::Process.as_str());
    let weak = store.trials(id)?.iter().filter(|trial| trial.detail.isolation.as_ref().is_some_and(loose)).count();
    if weak == 0 {
        return Ok(());
    }
    let message = format!(
        "{} without a sandbox in this run; start a new run",
        karat_core::wording::plural(weak, "trial was executed", "trials were executed")
    );
    Err(Failure::Message(Exit::Failed, message))
}

/// What no tool of this run may see beside the suite: the store, and recorded answers that it tells again.
fn secrets(plan: &PlanV1, store: &Path) -> Vec<PathBuf> {
    let files = plan.tools.iter().flat_map(|tool| [&tool.manifest.submission, &tool.manifest.llm.file]);
    let recorded = files.flatten().map(PathBuf::from);
    let all = recorded.filter(|path| path.is_absolute()).chain([store.to_owned()]);
    all.filter_map(|path| path.canonicalize().ok()).collect()
}

/// What was found out about each tool.
type Facts = BTreeMap<ToolName, ToolFactsV1>;

/// Every tool with trials left, ready for the first of them. One that is not ends the run before it begins.
fn get_ready(
    args: &RunArgs,
    plan: &PlanV1,
    tools: Vec<Loaded>,
    tasks: &[Task],
    isolation: Isolation,
    site: &Site<'_>,
) -> Result<(HashMap<ToolName, Ready>, Facts), Failure> {
    let wanted: HashSet<&str> = tasks.iter().map(|task| task.key.tool.as_str()).collect();
    let mut ready = HashMap::new();
    let mut facts = BTreeMap::new();
    for (planned, tool) in plan.tools.iter().zip(tools).filter(|(tool, _)| wanted.contains(tool.name.as_str())) {
        let name = ToolName::new(&planned.name);
        if !planned.manifest.setup.is_empty() && !args.quiet {
            tell(&format!("setting up {name} …"));
        }
        let (tool, known) = tool
            .ready(planned, isolation, site)
            .map_err(|error| Failure::Message(Exit::Failed, format!("the tool `{name}` cannot be run: {error}")))?;
        facts.insert(name.clone(), known);
        ready.insert(name, tool);
    }
    Ok((ready, facts))
}

/// A tool that is not what it was when the run began makes one run of two tools.
fn tell_changes(store: &mut Store, id: &RunId, facts: &Facts) -> Result<(), Failure> {
    let before = store.tools(id)?;
    for (tool, now) in facts {
        let Some(then) = before.get(tool).filter(|then| *then != now) else { continue };
        let was = |facts: &ToolFactsV1| {
            let version = facts.version.as_deref().unwrap_or("no version");
            format!("{version}, isolation {}", facts.isolation)
        };
        note(&format!("{tool} is not what it was when the run began: {} then, {} now", was(then), was(now)));
    }
    Ok(())
}
