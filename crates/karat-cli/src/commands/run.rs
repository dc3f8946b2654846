//! `karat run` and `replay`: trials with their progress, prompts and signals, the report and suggested commands.

use crate::args::{ReplayArgs, RunArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::{self, ReportOutput, TableSource, explain_command, writes_tables};
use crate::progress::{JudgeProgress, Progress, at_terminal};
use crate::signals::{cancel_on_signals, end_at_once};
use crate::terminal::{note, note_problem, print_always, print_next, print_stderr, show, word};
use karat::evaluate::{EvaluateError, EvaluateObserver, EvaluateRequest, Evaluated, Phase, execute, prepare};
use karat::judge::run::{JudgeObserver, refuse_incomplete};
use karat::run::plan::describe;
use karat::run::selection::{CasePattern, Selection, Shard};
use karat::run_loader::{self, StoredRun};
use karat::tables::StoredResults;
use karat::tool::failed;
use karat::tool::grants::Request;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{ReportV1, ToolV1};
use karat_format::tool::ToolKindV1;
use karat_io::cancel::Cancel;
use karat_report::label_command;
use karat_report::number::failed_trials;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::event::{Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use karat_store::timestamp::format_utc;
use karat_store::{RunInfo, RunState, Store, StoreLocation, StoredTrial};
use std::io::{BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit> {
    let (request, mut observer) = start(args, jobs)?;
    let prepared = prepare(&request, &mut observer)?;
    if args.resume.is_some() {
        print_ignored(args);
    }
    let (plan, isolation) = (&prepared.plan, prepared.isolation);
    if args.dry_run {
        let line = |line: &str| format!("{}\n", harmless(line));
        return show(args.output.json, plan, |_| describe(plan).lines().map(line).collect());
    }
    if isolation == Isolation::Process && plan.tools.iter().any(|tool| tool.kind == ToolKindV1::Command) {
        note(&format!("tools have only weak isolation here: {}", isolation.describe()));
    }
    let evaluated = execute(&request, prepared, &mut observer).map_err(|error| failure(error, args))?;
    finish(args, evaluated)
}

/// What was asked for, and who shows what happens.
pub(super) fn start(args: &RunArgs, jobs: Option<usize>) -> Result<(EvaluateRequest, RunObserver<'_>)> {
    outputs::check(&args.output)?;
    Ok((request(args, jobs)?, RunObserver::new(args)))
}

fn request(args: &RunArgs, jobs: Option<usize>) -> Result<EvaluateRequest> {
    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let suite = args.suite.clone().or_else(|| args.resume.is_none().then(|| ".".to_owned()));
    Ok(EvaluateRequest {
        suite,
        tools: args.tools.clone(),
        trials: args.trials,
        separate_styles: args.separate_styles,
        selection: selection(args)?,
        model: args.sandbox.tool_model(),
        name: args.name.clone(),
        resume: args.resume.clone(),
        retry_failed: args.retry_failed,
        max_failures: if args.fail_fast { Some(1) } else { args.max_failures.map(|most| most as usize) },
        isolation: args.sandbox.isolation,
        require_isolation: args.require_isolation,
        allow: args.sandbox.allow.clone(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        seed: args.seed,
        jobs,
        no_work: args.no_work,
        max_tries: args.max_tries,
        plan_only: args.dry_run,
        detail: args.detail,
        model_cutoff: args.model_cutoff.clone(),
        ..EvaluateRequest::new("", &[], args.store.location()?, supervisor)
    })
}

/// Flags that are ignored because a resumed run keeps its plan.
fn print_ignored(args: &RunArgs) {
    let typed = [
        ("--tool", !args.tools.is_empty()),
        ("--trials", args.trials.is_some()),
        ("--only", !args.only.is_empty()),
        ("--skip", !args.skip.is_empty()),
        ("--shard", args.shard.is_some()),
        ("--model", args.sandbox.model.is_some()),
        ("--model-cutoff", args.model_cutoff.is_some()),
        ("--seed", args.seed.is_some()),
        ("--judge", args.ask.judge.is_some()),
        ("--consensus", args.ask.panel.consensus.is_some()),
    ];
    let mut ignored: Vec<&str> = typed.iter().filter(|(_, typed)| *typed).map(|(flag, _)| *flag).collect();
    ignored.extend(args.rules.set_flags());
    if !ignored.is_empty() {
        note(&format!("a resumed run keeps its plan; ignored: {}", ignored.join(", ")));
    }
}

fn selection(args: &RunArgs) -> Result<Selection> {
    let patterns = |texts: &[String]| texts.iter().map(|text| CasePattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
    Ok(Selection { only: patterns(&args.only)?, skip: patterns(&args.skip)?, shard })
}

pub(super) struct RunObserver<'a> {
    pub(super) args: &'a RunArgs,
    pub(super) progress: Progress,
    judge: JudgeProgress,
}

impl<'a> RunObserver<'a> {
    fn new(args: &'a RunArgs) -> Self {
        Self { args, progress: Progress::new(), judge: JudgeProgress::new(false) }
    }
}

impl EvaluateObserver for RunObserver<'_> {
    fn note(&mut self, text: &str) {
        note_problem(text);
    }

    fn inform(&mut self, text: &str) {
        note(text);
    }

    fn setting_up(&mut self, tool: &str) {
        print_stderr(&format!("setting up {tool} …"));
    }

    fn consent(&mut self, request: &Request) -> Result<Option<bool>> {
        ask_consent(request)
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn run_event(&mut self, event: &RunEvent<'_>) {
        self.progress.show(event);
    }

    fn phase(&mut self, phase: Phase) {
        // A watch ends after the round, with its report stored.
        end_at_once(phase == Phase::Scoring && !self.args.watch);
    }

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.judge
    }
}

/// Asks at a terminal whether a tool may have what it requests; `None` without one.
pub(crate) fn ask_consent(request: &Request) -> Result<Option<bool>> {
    if !std::io::stdin().is_terminal() || !at_terminal() {
        return Ok(None);
    }
    print_always(&format!(
        "The suite's tool `{}` requests more than the closed sandbox allows:",
        harmless(&request.tool)
    ));
    for line in request.describe() {
        print_always(&format!("  - {}", harmless(&line)));
    }
    let mut answer = String::new();
    let mut screen = anstream::stderr();
    let read = write!(screen, "Allow this for this manifest from now on? [y/N] ")
        .and_then(|()| screen.flush())
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    read.map_err(|error| Failure::io("terminal", error))?;
    Ok(Some(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")))
}

fn finish(args: &RunArgs, evaluated: Evaluated) -> Result<Exit> {
    let failure = evaluated.failure();
    let Evaluated { mut store, mut run, scoring, ending, first_failure, tool_failures } = evaluated;
    let facts = run.take_facts();
    let stderr = first_failure
        .filter(|_| tool_failures.is_empty())
        .and_then(|first| stderr_command(args, &run.info, &mut store, &first.key));
    let mut shown = ReportOutput::of_scoring(&scoring, &run.loaded, Some(&facts));
    // A report with less detail does not have all pairs; the store has.
    let needs_pairs = writes_tables(&args.output) && !scoring.report.detail.is_all();
    let results = needs_pairs.then(|| load_results(&mut store, run.info.id.as_str())).transpose()?;
    if let Some(results) = &results {
        shown.tables = Some(TableSource::Input(results.tables()));
    }
    outputs::write(shown, &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() {
        next_steps(args, &run, &scoring.report, &store, stderr.as_deref());
    }
    if ending != Ending::Complete {
        return Err(stopped(args, &run.info, &ending));
    }
    if let Some(failure) = failure {
        return Err(match stderr {
            None => failure,
            Some(command) => {
                Failure::failed(format!("{}\nshow all that it printed to standard error: {command}", failure.text()))
            }
        });
    }
    refuse_incomplete(&scoring.report, args.allow_incomplete_judging)?;
    let exit = expectation(&scoring.report);
    // The program is about to end, and freeing a large run's memory takes longer than drawing its report.
    std::mem::forget((scoring, run, facts));
    Ok(exit)
}

/// Whether the profile's expectation is met. What an outage kept from being tried is neither met nor failed.
pub(super) fn expectation(report: &ReportV1) -> Exit {
    if !report.profile.expect_pass {
        return Exit::Ok;
    }
    let fails = |tool: &ToolV1| !tool.pass && tool.unavailable() < tool.trials;
    if report.tools.iter().any(fails) {
        Exit::NotMet
    } else if report.tools.iter().any(|tool| tool.unavailable() > 0) {
        Exit::Inconclusive
    } else {
        Exit::Ok
    }
}

pub(super) fn failure(error: EvaluateError, args: &RunArgs) -> Failure {
    match error {
        EvaluateError::Failure(failure) => failure,
        EvaluateError::Stopped { info, ending } => stopped(args, &info, &ending),
        EvaluateError::LeftToWorkers { info } => left_to_workers(args, &info),
        EvaluateError::NotJudged { info, failure } => not_judged(failure, args, &info),
        EvaluateError::Broken { run, error } => {
            let place = args.store.flag();
            let next = format!("finished trials are stored; resume with: karat run --resume {run}{place}");
            Failure::failed(format!("{error}\n{next}"))
        }
    }
}

/// All trials are stored, but the judge failed and can be asked again.
fn not_judged(failure: Failure, args: &RunArgs, info: &RunInfo) -> Failure {
    let Failure::Message(exit, message) = failure else { return failure };
    let (short, place) = (&info.short_id, args.store.flag());
    let again = format!("karat run --resume {short}{place}");
    let without = format!("karat score {short} --judge none{place}");
    let next = format!("all trials are stored; ask the judge again with: {again}\nor score without a judge: {without}");
    Failure::Message(exit, format!("{message}\n{next}"))
}

/// The run goes on without this process.
fn left_to_workers(args: &RunArgs, info: &RunInfo) -> Failure {
    let (short, place) = (&info.short_id, args.store.flag());
    let done: u64 = info.outcomes.values().sum();
    Failure::failed(format!(
        "run {short} is left to its workers: {done} of {} trials are stored\nfollow it again with: karat run --resume \
         {short}{place}\nend it with: karat stop {short}{place}",
        info.planned
    ))
}

fn stopped(args: &RunArgs, info: &RunInfo, ending: &Ending) -> Failure {
    let done: u64 = info.outcomes.values().sum();
    let why = match ending {
        Ending::TooManyFailures => {
            let failures = info.outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum::<u64>();
            format!("stopped because {} failed", count(failures as usize, "trial"))
        }
        _ => "stopped".to_owned(),
    };
    let again = if args.retry_failed { " --retry-failed" } else { "" };
    let place = args.store.flag();
    let next = format!("karat run --resume {}{again}{place}", info.short_id);
    Failure::failed(format!("{why}: {done} of {} trials are stored; resume with: {next}", info.planned))
}

/// The command that prints the standard error of a trial, if it left any.
fn stderr_command(args: &RunArgs, info: &RunInfo, store: &mut Store, key: &TrialKey) -> Option<String> {
    let artifacts = store.artifacts(&info.id, key).ok()?;
    artifacts.iter().find(|artifact| artifact.name == "stderr")?;
    let (run, tool, case, place) =
        (&info.short_id, word(key.tool.as_str()), word(key.case.as_str()), args.store.flag());
    Some(format!("karat store show {run} --trial {tool} {case} {} --artifact stderr{place}", key.number))
}

fn next_steps(args: &RunArgs, run: &StoredRun, report: &ReportV1, store: &Store, stderr: Option<&str>) {
    let short = &run.info.short_id;
    let place = args.store.flag();
    let name = run.info.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let location = store.location();
    let within = || location.as_folder()?.strip_prefix(std::env::current_dir().ok()?).ok().map(StoreLocation::from);
    let shown = within().unwrap_or_else(|| location.clone());
    let mut steps = Vec::new();
    steps.extend(explain_command(report, &format!(" --run {short}{place}")));
    steps.extend(label_command(report).map(|command| command + &place));
    steps.push(format!("karat report {short}{place} -o report.html"));
    let failures: usize = report.tools.iter().map(failed_trials).sum();
    let executed = run.plan.tools.iter().any(|tool| matches!(tool.kind, ToolKindV1::Command | ToolKindV1::Llm));
    steps.extend(stderr.map(str::to_owned));
    if failures > 0 && executed {
        steps.push(format!("karat run --resume {short} --retry-failed{place}"));
    } else if executed && report.tools.iter().any(|tool| tool.unavailable() > 0) {
        steps.push(format!("karat run --resume {short}{place}"));
    }
    let what = if report.detail.is_all() { "full report" } else { "report" };
    let kept = format!("Run {short}{name} is stored in {shown}, with its {what}.");
    print_stderr(&harmless(&kept));
    print_next(&steps);
}

pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit> {
    outputs::check(&args.output)?;
    let mut store = args.store.open()?;
    let run = run_loader::run(&mut store, &args.run)?;
    let mut in_order: Vec<&StoredTrial> = run.trials.iter().collect();
    in_order.sort_by_key(|trial| trial.detail.started_ms);
    let mut progress = Progress::new();
    let started = format_utc(run.info.created_ms);
    let trials = count(in_order.len(), "recorded trial");
    print_stderr(&harmless(&format!("replay of run {} of {started}: {trials}", run.info.short_id)));
    progress.show(&RunEvent::Began { plan: &run.plan, done: 0, left: run.info.planned as usize });
    for (tool, facts) in &run.facts {
        progress.show(&RunEvent::ToolReady { tool, facts });
    }
    let began = Instant::now();
    let first = in_order.first().map_or(0, |trial| trial.detail.started_ms);
    for stored in in_order {
        wait_until(args.speed, began, stored.detail.started_ms.saturating_sub(first));
        let (trial, attempt, detail) = (stored.trial.clone(), stored.attempt, stored.detail.clone());
        progress.show(&RunEvent::TrialsDone(&[TrialRecord { trial, attempt, detail, artifacts: Vec::new() }]));
    }
    let ending = if run.info.state == RunState::Complete { Ending::Complete } else { Ending::Interrupted };
    progress.show(&RunEvent::Ended(&ending));
    let report = run_loader::report(&mut store, run.info.id.as_str(), &mut JudgeProgress::new(false))?.1;
    let trials: Vec<Trial> = run.trials.into_iter().map(|stored| stored.trial).collect();
    let results = writes_tables(&args.output).then(|| load_results(&mut store, run.info.id.as_str())).transpose()?;
    let tables = results.as_ref().map(|results| TableSource::Input(results.tables()));
    outputs::write(ReportOutput { tables, ..ReportOutput::new(&report, &run.loaded, &trials) }, &args.output)
}

/// What tables of a stored run are written from.
pub(super) fn load_results(store: &mut Store, run: &str) -> Result<StoredResults> {
    StoredResults::load(store, run, &mut JudgeProgress::new(false))
}

/// Waits as long as the run did, divided by the speed; without a speed, not at all.
fn wait_until(speed: Option<f64>, began: Instant, ms: i64) {
    let Some(speed) = speed else { return };
    let due = Duration::from_secs_f64((ms.max(0) as f64 / 1_000.0 / speed).min(86_400.0));
    std::thread::sleep(due.saturating_sub(began.elapsed()));
}
