//! `karat run`: tools, executed on every case, stored, scored and ranked.

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::hints::{word, worst_case};
use crate::progress::Progress;
use crate::stored::{self, StoredRun};
use crate::terminal::{note, print, print_json, tell};
use crate::{inputs, outputs};
use karat::checkout::remove_tree;
use karat::diagnostic::harmless;
use karat::format::report::ReportV1;
use karat::format::run::{PlanV1, ToolFactsV1};
use karat::format::snapshot::SnapshotV1;
use karat::format::tool::ToolManifestV1;
use karat::run::drive::{Drive, Task, drive, tell as tell_all};
use karat::run::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat::run::execute::{self, Executor, LoadError, Loaded, Ready};
use karat::run::lookup::{declared, lookup};
use karat::run::plan::{Request, describe, left, plan};
use karat::run::selection::{CasePattern, Selection, Shard};
use karat::run::site::Site;
use karat::sandbox::{Cancel, Isolation, Supervisor, available, strongest};
use karat::scoring;
use karat::store::{NewRun, RunId, RunLock, RunState, Store};
use karat::suite::LoadedSuite;
use karat::suite::files::Files;
use karat::tool::manifest::{Context, NO_MODEL, in_config};
use karat_core::ids::ToolName;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    if args.judge.as_deref().is_some_and(|judge| judge != "none") && args.judgements.is_empty() {
        let help = "judges are heard from recorded judgements (--judgements FILE)";
        return Err(Failure::usage(format!("no judge `{}`: {help}", args.judge.as_deref().unwrap_or_default())));
    }
    let isolation = isolation(args)?;
    let prepared = match &args.resume {
        Some(reference) => resumed(args, reference)?,
        None => fresh(args, isolation)?,
    };
    if args.dry_run {
        match args.output.json {
            true => print_json(&prepared.plan)?,
            false => print(&harmless_lines(&describe(&prepared.plan)))?,
        }
        return Ok(Exit::Ok);
    }
    warn_of_weakness(&prepared.plan, isolation);
    let cancel = cancel_on_signals()?;
    let (run, ending) = execute(args, jobs, prepared, isolation, &cancel)?;
    finish(args, run, &ending)
}

/// The plan, and all that its tools name.
struct Prepared {
    loaded: LoadedSuite,
    plan: PlanV1,
    tools: Vec<Loaded>,
    /// The store and the run that goes on, where one does.
    earlier: Option<(Store, RunId)>,
}

/// The isolation asked for, else the strongest there is; less than is required is refused.
fn isolation(args: &RunArgs) -> Result<Isolation, Failure> {
    let named = |name: &str| {
        Isolation::from_name(name).ok_or_else(|| {
            Failure::usage(format!("there is no isolation `{name}`; there are bubblewrap, landlock and process"))
        })
    };
    let required = match args.require_isolation.as_deref() {
        None => None,
        Some("any") => Some(Isolation::Landlock),
        Some(name) => Some(named(name)?),
    };
    let refused = |why: String| Failure::Message(Exit::Failed, why);
    let Some(asked) = args.isolation.as_deref().map(named).transpose()? else {
        return strongest(required).map_err(|error| refused(error.to_string()));
    };
    if let Some(why) = available().why_not(asked) {
        return Err(refused(format!("the isolation {} cannot be had: {why}", asked.as_str())));
    }
    match required {
        Some(required) if asked < required => {
            let words = (asked.as_str(), required.as_str());
            Err(Failure::usage(format!("--isolation {} is less than --require-isolation {}", words.0, words.1)))
        }
        _ => Ok(asked),
    }
}

fn warn_of_weakness(plan: &PlanV1, isolation: Isolation) {
    let executes = plan.tools.iter().any(|tool| tool.kind == karat::format::tool::ToolKindV1::Command);
    if executes && isolation == Isolation::Process {
        note(&format!("tools are only loosely isolated here: {}", isolation.describe()));
    }
}

/// A new run: what was typed and what `karat.toml` says, resolved.
fn fresh(args: &RunArgs, isolation: Isolation) -> Result<Prepared, Failure> {
    let place = args.suite.as_deref().unwrap_or(".");
    let loaded = inputs::suite(place)?;
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let selection = selection(args)?;
    let model = args.model.clone().or_else(|| variable("KARAT_TOOL_MODEL")).or_else(|| variable("CRB_TOOL_MODEL"));
    let asked = match args.tools.as_slice() {
        [] => declared(&loaded)?,
        some => some.iter().map(|text| lookup(text, &loaded)).collect::<Result<Vec<_>, _>>()?.concat(),
    };
    let mut names = std::collections::HashSet::new();
    if let Some((twice, _)) = asked.iter().find(|(name, _)| !names.insert(name.clone())) {
        return Err(Failure::usage(format!("the tool `{twice}` is asked for twice")));
    }
    let home = variable("HOME").map(PathBuf::from);
    let context = Context { model: model.as_deref(), home: home.as_deref(), files_anywhere: false };
    let mut wanted = Vec::new();
    let mut tools = Vec::new();
    for (name, manifest) in &asked {
        let (tool, model) = load_tool(name, manifest, &loaded, &context)?;
        wanted.push(tool.wanted(name, manifest, model, isolation));
        tools.push(tool);
    }
    let place = match &loaded.files {
        Files::Disk(root) => root.canonicalize().unwrap_or_else(|_| root.clone()).display().to_string(),
        Files::Embedded(name, _) => (*name).to_owned(),
    };
    let request = Request {
        loaded: &loaded,
        place,
        profile: &profile,
        selection: &selection,
        trials: args.trials,
        model,
        seed: args.seed,
    };
    let plan = plan(&request, wanted).map_err(|error| Failure::usage(error.to_string()))?;
    for (tool, wanted) in plan.tools.iter().zip(&asked) {
        let trials = args.trials.or(wanted.1.trials).or(loaded.config.scoring.trials);
        let trials = trials.unwrap_or(karat::run::plan::USUAL_TRIALS);
        if tool.trials < trials {
            note(&format!("{}: {} of {trials} trials were recorded, and no more can be told", tool.name, tool.trials));
        }
    }
    Ok(Prepared { loaded, plan, tools, earlier: None })
}

/// A run that goes on, by the plan it began with.
fn resumed(args: &RunArgs, reference: &str) -> Result<Prepared, Failure> {
    let mut store = stored::open(args.store.folder.as_deref())?;
    let info = store.find(reference)?;
    let plan = store.plan(&info.id)?;
    let place = args.suite.as_deref().unwrap_or(&plan.suite.place);
    let loaded = inputs::suite(place)?;
    if loaded.suite.digest != plan.suite.digest {
        return Err(Failure::bad_input(format!(
            "{place} is not what it was when run {} began, and half a run on other cases is worth nothing; start a new run",
            info.short_id
        )));
    }
    if !args.tools.is_empty() || args.trials.is_some() || !args.only.is_empty() || !args.skip.is_empty() {
        note("a resumed run keeps its own plan: tools, trials and cases are those it began with");
    }
    let home = variable("HOME").map(PathBuf::from);
    let context = Context { model: plan.model.as_deref(), home: home.as_deref(), files_anywhere: false };
    let loading = plan.tools.iter().map(|tool| Ok(load_tool(&tool.name, &tool.manifest, &loaded, &context)?.0));
    let tools = loading.collect::<Result<Vec<_>, Failure>>()?;
    Ok(Prepared { loaded, plan, tools, earlier: Some((store, info.id)) })
}

fn load_tool(
    name: &str,
    manifest: &ToolManifestV1,
    loaded: &LoadedSuite,
    context: &Context<'_>,
) -> Result<(Loaded, Option<String>), Failure> {
    let of_suite = loaded.config.tools.get(name) == Some(manifest);
    let context = Context { files_anywhere: !of_suite, ..*context };
    execute::load(name, manifest, loaded, &context).map_err(|error| match error {
        LoadError::Manifest { tool, faults } if of_suite => {
            // It stands in the suite's own file, so its faults have a place there.
            let places: Vec<_> = faults.iter().map(|fault| in_config(loaded, &tool, fault)).collect();
            if faults.iter().any(|fault| fault.code == NO_MODEL) {
                return Failure::from(LoadError::Manifest { tool, faults });
            }
            Failure::Faults(places.into())
        }
        other => other.into(),
    })
}

fn selection(args: &RunArgs) -> Result<Selection, Failure> {
    let patterns = |texts: &[String]| texts.iter().map(|text| CasePattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let parse = || {
        let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
        Ok(Selection { only: patterns(&args.only)?, skip: patterns(&args.skip)?, shard })
    };
    parse().map_err(|error: karat::run::selection::SelectionError| Failure::usage(error.to_string()))
}

/// The first signal asks everything to stop; a second one ends Karat at once, and supervisors end what is left.
fn cancel_on_signals() -> Result<Cancel, Failure> {
    let flag = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // The order matters: the flag is looked at before it is set.
        signal_hook::flag::register_conditional_shutdown(signal, Exit::Failed as i32, Arc::clone(&flag))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&flag)))
            .map_err(|error| Failure::Message(Exit::Failed, format!("signals cannot be caught: {error}")))?;
    }
    Ok(Cancel::from(flag))
}

/// A run in its store, held by this process.
struct Held {
    store: Store,
    id: RunId,
    loaded: LoadedSuite,
    _lock: RunLock,
}

/// Does what is left of the plan.
fn execute(
    args: &RunArgs,
    jobs: Option<usize>,
    prepared: Prepared,
    isolation: Isolation,
    cancel: &Cancel,
) -> Result<(Held, Ending), Failure> {
    let Prepared { loaded, plan, tools, earlier } = prepared;
    let scratch = Scratch::make()?;
    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))).collect();
    let mut site = Site::new(&loaded, scratch.0.clone(), supervisor, cancel.clone(), environment, plan.seed);
    let store_folder = stored::folder(args.store.folder.as_deref());
    let mut store = match earlier.is_some() {
        true => None,
        false => Some(Store::create(&store_folder)?),
    };
    let mut secret = |path: &Path| site.secret.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
    secret(&store_folder);
    let (ready, facts) = get_ready(&plan, tools, isolation, &site)?;
    let (mut store, id) = match (earlier, store.take()) {
        (Some(earlier), _) => earlier,
        (None, Some(mut store)) => {
            let snapshot = serde_json::to_vec(&SnapshotV1::of(&loaded.suite, &loaded.config));
            let suite_snapshot = snapshot.map_err(|error| Failure::io("the suite", error.into()))?;
            let scratch = Some(scratch.0.clone());
            let id = store.begin(&NewRun { name: args.name.clone(), plan: plan.clone(), suite_snapshot, scratch })?;
            (store, id)
        }
        (None, None) => return Err(Failure::Message(Exit::Internal, "there is no store".to_owned())),
    };
    let lock = store.lock(&id)?;
    store.reopen(&id)?;
    store.set_scratch(&id, Some(&scratch.0))?;
    let done = store.done(&id)?;
    let tasks: Vec<Task> = left(&plan, &done, args.retry_failed);
    let planned: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();

    let executor = Executor::new(ready, &tasks, &site);
    let execute = |task: &Task| executor.execute(task).map_err(|error| Box::new(error) as ConsumerError);
    let jobs = jobs.or_else(|| std::thread::available_parallelism().ok().map(usize::from)).unwrap_or(1);
    let most_failures = if args.fail_fast { Some(1) } else { args.max_failures.map(|most| most as usize) };
    let work = Drive { tasks: &tasks, execute: &execute, jobs, most_failures, cancel };
    let mut progress = Progress::new(args.quiet);
    let ending = {
        let mut sink = store.sink(&id);
        let consumers: &mut [&mut dyn Consumer] = &mut [&mut sink, &mut progress];
        let told = || -> Result<Ending, ConsumerError> {
            tell_all(consumers, &RunEvent::Began { plan: &plan, done: planned - tasks.len(), left: tasks.len() })?;
            for tool in &plan.tools {
                let tool = ToolName::new(&tool.name);
                if let Some(facts) = facts.get(&tool) {
                    tell_all(consumers, &RunEvent::ToolReady { tool: &tool, facts })?;
                }
            }
            let ending = drive(&work, consumers)?;
            tell_all(consumers, &RunEvent::Ended(&ending))?;
            Ok(ending)
        };
        let mut told = told;
        told()
    };
    let ending = ending.map_err(|error| {
        let short = store.find(id.as_str()).map_or_else(|_| id.to_string(), |info| info.short_id);
        let _ = store.finish(&id, RunState::Stopped, None);
        let done = "what was reported done is kept; go on with";
        Failure::Message(Exit::Failed, format!("{error}\n{done}: karat run --resume {short}"))
    })?;
    store.set_scratch(&id, None)?;
    drop(executor);
    Ok((Held { store, id, loaded, _lock: lock }, ending))
}

/// What was found out about each tool.
type Facts = BTreeMap<ToolName, ToolFactsV1>;

/// Every tool, ready for its first trial, and what was found out about it. The first that is not ends the run before it begins.
fn get_ready(
    plan: &PlanV1,
    tools: Vec<Loaded>,
    isolation: Isolation,
    site: &Site<'_>,
) -> Result<(HashMap<ToolName, Ready>, Facts), Failure> {
    let mut ready = HashMap::new();
    let mut facts = BTreeMap::new();
    for (planned, tool) in plan.tools.iter().zip(tools) {
        let name = ToolName::new(&planned.name);
        let (tool, known) = tool
            .ready(planned, isolation, site)
            .map_err(|error| Failure::Message(Exit::Failed, format!("the tool `{name}` cannot be run: {error}")))?;
        facts.insert(name.clone(), known);
        ready.insert(name, tool);
    }
    Ok((ready, facts))
}

/// Scores what was done, keeps the report, and says what to type next.
fn finish(args: &RunArgs, held: Held, ending: &Ending) -> Result<Exit, Failure> {
    let Held { mut store, id, loaded, _lock } = held;
    let info = store.find(id.as_str())?;
    let short = info.short_id.clone();
    if *ending != Ending::Complete {
        store.finish(&id, RunState::Stopped, None)?;
        let done: u64 = info.outcomes.values().sum();
        let why = match ending {
            Ending::TooManyFailures(failures) => format!("stopped after {failures} failed trials"),
            _ => "stopped".to_owned(),
        };
        let message =
            format!("{why}: {done} of {} trials are kept; go on with: karat run --resume {short}", info.planned);
        return Err(Failure::Message(Exit::Failed, message));
    }
    let plan = store.plan(&id)?;
    let run = stored::with_suite(&mut store, info, plan, loaded)?;
    let profile = run.profile(&args.rules)?;
    let expect_pass = profile.expect_pass;
    let mut work = run.work(profile, args.seed);
    work.judgements = inputs::judgements(&args.judgements, args.judge.as_deref(), &run.loaded.suite)?;
    let scoring = scoring::run(&run.loaded, work);
    let report = serde_json::to_vec(&scoring.report).map_err(|error| Failure::io("the report", error.into()))?;
    store.finish(&id, RunState::Complete, Some(&report))?;
    outputs::write(&scoring.report, &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() && !args.quiet {
        next_steps(&run, &scoring.report, &store);
    }
    let reported = |tool: &karat::format::report::ToolV1| {
        tool.outcomes.get(&karat_core::trial::Outcome::Reported).is_some_and(|n| *n > 0)
    };
    if !scoring.report.tools.iter().any(reported) {
        return Err(Failure::Message(
            Exit::Failed,
            "not a single trial came to a report; see the reasons above".to_owned(),
        ));
    }
    let passed = scoring.report.tools.iter().all(|tool| tool.pass);
    Ok(if expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

fn next_steps(run: &StoredRun, report: &ReportV1, store: &Store) {
    let short = &run.info.short_id;
    let name = run.info.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let folder = store.folder();
    let here = std::env::current_dir().ok();
    let shown = here.and_then(|here| folder.strip_prefix(here).ok().map(Path::to_owned)).unwrap_or(folder.to_owned());
    let mut steps = Vec::new();
    if let Some((tool, case)) = worst_case(report) {
        steps.push(format!("karat explain {} --tool {} --run {short}", word(case), word(tool)));
    }
    steps.push(format!("karat report {short} -o report.json -o report.md"));
    let failed: usize = report.tools.iter().map(karat::report::number::failed_trials).sum();
    let executed = run.plan.tools.iter().any(|tool| tool.kind == karat::format::tool::ToolKindV1::Command);
    if failed > 0 && executed {
        steps.push(format!("karat run --resume {short} --retry-failed"));
    }
    let kept = format!("\nRun {short}{name} is kept in {}, with its full report.", shown.display());
    let steps: Vec<String> = steps.iter().map(|step| harmless(step).into_owned()).collect();
    tell(&format!("{}\n\nNext:\n  {}", harmless(kept.trim_start()), steps.join("\n  ")));
}

fn harmless_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", harmless(line))).collect()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// A folder for the time of a run.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn make() -> Result<Self, Failure> {
        let moment = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |time| time.as_nanos());
        let folder = std::env::temp_dir().join(format!("karat-{}-{moment:x}", std::process::id()));
        let failed = |error| Failure::Message(Exit::Failed, format!("{}: {error}", folder.display()));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(failed)?;
        Ok(Self(folder.canonicalize().map_err(failed)?))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is removed by `karat store gc`.
        let _ = remove_tree(&self.0);
    }
}
