//! `karat run`.

mod finish;
mod observer;

use crate::args::RunArgs;
use crate::exit::{Exit, Failure};
use crate::outputs;
use crate::terminal::{note, print, print_json};
use karat::evaluate::{EvaluateRequest, execute, prepare};
use karat::run::plan::describe;
use karat::run::selection::{CasePattern, Selection, Shard};
use karat_format::diagnostic::harmless;
use karat_format::run::PlanV1;
use karat_format::tool::ToolKindV1;
use karat_sandbox::{Isolation, Supervisor};
use observer::RunObserver;

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let request = request(args, jobs)?;
    let mut observer = RunObserver::new(args.quiet);
    let prepared = prepare(&request, &mut observer)?;
    if args.resume.is_some() {
        tell_ignored(args);
    }
    if args.dry_run {
        match args.output.json {
            true => print_json(prepared.plan())?,
            false => print(&harmless_lines(&describe(prepared.plan())))?,
        }
        return Ok(Exit::Ok);
    }
    warn_of_weakness(prepared.plan(), prepared.isolation());
    let evaluated = execute(&request, prepared, &mut observer).map_err(|error| finish::failure(error, args))?;
    finish::finish(args, evaluated)
}

/// Resolves the arguments and the environment to a request.
fn request(args: &RunArgs, jobs: Option<usize>) -> Result<EvaluateRequest, Failure> {
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

fn warn_of_weakness(plan: &PlanV1, isolation: Isolation) {
    let executes = plan.tools.iter().any(|tool| tool.kind == ToolKindV1::Command);
    if executes && isolation == Isolation::Process {
        note(&format!("tools have only weak isolation here: {}", isolation.describe()));
    }
}

/// Flags that are ignored because a resumed run keeps its plan.
fn tell_ignored(args: &RunArgs) {
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

fn selection(args: &RunArgs) -> Result<Selection, Failure> {
    let patterns = |texts: &[String]| texts.iter().map(|text| CasePattern::parse(text)).collect::<Result<Vec<_>, _>>();
    let parse = || {
        let shard = args.shard.as_deref().map(Shard::parse).transpose()?;
        Ok(Selection { only: patterns(&args.only)?, skip: patterns(&args.skip)?, shard })
    };
    parse().map_err(|error: karat::run::selection::SelectionError| Failure::usage(error.to_string()))
}

fn harmless_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", harmless(line))).collect()
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
