//! `karat run` and `replay`: trials with their progress, prompts and signals.

mod finish;

use crate::args::{ReplayArgs, RunArgs};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::{self, ReportOutput};
use crate::progress::{JudgeProgress, Progress, at_terminal};
use crate::signals::{cancel_on_signals, end_at_once};
use crate::terminal::{note, print_stderr, show};
use karat::evaluate::{EvaluateObserver, EvaluateRequest, Phase, execute, prepare};
use karat::judge::run::JudgeObserver;
use karat::run::plan::describe;
use karat::run::selection::{CasePattern, Selection, Shard};
use karat::run_loader;
use karat::tool::grants::Request;
use karat_core::trial::Trial;
use karat_format::diagnostic::harmless;
use karat_format::tool::ToolKindV1;
use karat_io::cancel::Cancel;
use karat_sandbox::{Isolation, Supervisor};
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use karat_store::timestamp::format_utc;
use karat_store::{RunState, StoredTrial};
use std::io::{BufRead, IsTerminal, Write};
use std::time::{Duration, Instant};

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit> {
    outputs::check(&args.output)?;
    let request = request(args, jobs)?;
    let mut observer = RunObserver::new(args.quiet);
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
    let evaluated = execute(&request, prepared, &mut observer).map_err(|error| finish::failure(error, args))?;
    finish::finish(args, evaluated)
}

fn request(args: &RunArgs, jobs: Option<usize>) -> Result<EvaluateRequest> {
    let supervisor = Supervisor::this_program(crate::SUPERVISE).map_err(|error| Failure::io("the program", error))?;
    let suite = args.suite.clone().or_else(|| args.resume.is_none().then(|| ".".to_owned()));
    Ok(EvaluateRequest {
        suite,
        tools: args.tools.clone(),
        trials: args.trials,
        selection: selection(args)?,
        model: args.model.clone().or_else(|| variable("KARAT_TOOL_MODEL")).or_else(|| variable("CRB_TOOL_MODEL")),
        name: args.name.clone(),
        resume: args.resume.clone(),
        retry_failed: args.retry_failed,
        max_failures: if args.fail_fast { Some(1) } else { args.max_failures.map(|most| most as usize) },
        isolation: args.isolation.map(Into::into),
        require_isolation: args.require_isolation.map(Into::into),
        allow: args.allow.clone(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        seed: args.seed,
        jobs,
        plan_only: args.dry_run,
        ..EvaluateRequest::new("", &[], args.store.path(), supervisor)
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
        ("--model", args.model.is_some()),
        ("--seed", args.seed.is_some()),
        ("--judge", args.ask.judge.is_some()),
        ("--consensus", args.ask.panel.consensus.is_some()),
        ("--profile", args.rules.profile.is_some()),
        ("--set", !args.rules.sets.is_empty()),
    ];
    let ignored: Vec<&str> = typed.iter().filter(|(_, typed)| *typed).map(|(flag, _)| *flag).collect();
    if !ignored.is_empty() {
        note(&format!("a resumed run keeps its plan; ignored: {}", ignored.join(", ")));
    }
}

fn selection(args: &RunArgs) -> Result<Selection> {
    let patterns = |texts: &[String]| texts.iter().map(|text| CasePattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
    Ok(Selection { only: patterns(&args.only)?, skip: patterns(&args.skip)?, shard })
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

struct RunObserver {
    quiet: bool,
    progress: Progress,
    judge: JudgeProgress,
}

impl RunObserver {
    fn new(quiet: bool) -> Self {
        Self { quiet, progress: Progress::new(quiet), judge: JudgeProgress::new(quiet) }
    }
}

impl EvaluateObserver for RunObserver {
    fn note(&mut self, text: &str) {
        note(text);
    }

    fn setting_up(&mut self, tool: &str) {
        if !self.quiet {
            print_stderr(&format!("setting up {tool} …"));
        }
    }

    fn consent(&mut self, request: &Request) -> Result<Option<bool>> {
        if std::io::stdin().is_terminal() && at_terminal() { ask(request).map(Some) } else { Ok(None) }
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn run_event(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError> {
        self.progress.consume(event)
    }

    fn phase(&mut self, phase: Phase) {
        end_at_once(phase == Phase::Scoring);
    }

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.judge
    }
}

fn ask(request: &Request) -> Result<bool> {
    print_stderr(&format!(
        "The suite's tool `{}` requests more than the closed sandbox allows:",
        harmless(&request.tool)
    ));
    for line in request.describe() {
        print_stderr(&format!("  - {}", harmless(&line)));
    }
    let mut answer = String::new();
    let mut screen = anstream::stderr();
    let read = write!(screen, "Allow this for this manifest from now on? [y/N] ")
        .and_then(|()| screen.flush())
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    read.map_err(|error| Failure::io("terminal", error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

pub(crate) fn replay(args: &ReplayArgs) -> Result<Exit> {
    outputs::check(&args.output)?;
    let mut store = args.store.open()?;
    let run = run_loader::run(&mut store, &args.run)?;
    let mut in_order: Vec<&StoredTrial> = run.trials.iter().collect();
    in_order.sort_by_key(|trial| trial.detail.started_ms);
    let mut progress = Progress::new(args.quiet);
    let mut event = |event: &RunEvent<'_>| progress.consume(event).map_err(Failure::failed);
    let started = format_utc(run.info.created_ms);
    print_stderr(&harmless(&format!("replay of run {} of {started}", run.info.short_id)));
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
    outputs::write(ReportOutput::new(&report, &run.loaded, &trials), &args.output)
}

/// Waits as long as the run did, divided by the speed; without a speed, not at all.
fn wait_until(speed: Option<f64>, began: Instant, ms: i64) {
    let Some(speed) = speed else { return };
    let due = Duration::from_secs_f64((ms.max(0) as f64 / 1_000.0 / speed).min(86_400.0));
    std::thread::sleep(due.saturating_sub(began.elapsed()));
}
