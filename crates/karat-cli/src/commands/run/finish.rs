//! After the last trial: the report and suggested commands.

use crate::args::RunArgs;
use crate::exit::{Exit, Failure, Result};
use crate::outputs::{self, ReportOutput, worst_case};
use crate::terminal::{print_stderr, word};
use karat::evaluate::{EvaluateError, Evaluated};
use karat::judge::run::refuse_incomplete;
use karat::run_loader::StoredRun;
use karat::tool::failed;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::report::{ReportV1, ToolV1};
use karat_format::tool::ToolKindV1;
use karat_report::number::failed_trials;
use karat_store::event::Ending;
use karat_store::{RunInfo, Store};
use std::path::Path;

pub(super) fn finish(args: &RunArgs, evaluated: Evaluated) -> Result<Exit> {
    let Evaluated { store, run, scoring, ending, first_failure } = evaluated;
    outputs::write(ReportOutput::new(&scoring.report, &run.loaded, &scoring.trials), &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() && !args.quiet {
        next_steps(args, &run, &scoring.report, &store);
    }
    if ending != Ending::Complete {
        return Err(stopped(args, &run.info, &ending));
    }
    let reported = |tool: &ToolV1| tool.outcomes.get(&Outcome::Reported).is_some_and(|n| *n > 0);
    if !scoring.report.tools.iter().any(reported) {
        let reason = first_failure.as_deref().unwrap_or("unknown reason");
        return Err(Failure::failed(format!("all trials failed; first error: {reason}")));
    }
    refuse_incomplete(&scoring.report, args.allow_incomplete_judging)?;
    let passed = scoring.report.tools.iter().all(|tool| tool.pass);
    let expect_pass = scoring.profile.expect_pass;
    // The program is about to end, and freeing a large run's memory takes longer than drawing its report.
    std::mem::forget((scoring, run));
    Ok(if expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

pub(super) fn failure(error: EvaluateError, args: &RunArgs) -> Failure {
    match error {
        EvaluateError::Failure(failure) => failure,
        EvaluateError::Stopped { info, ending } => stopped(args, &info, &ending),
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

fn stopped(args: &RunArgs, info: &RunInfo, ending: &Ending) -> Failure {
    let done: u64 = info.outcomes.values().sum();
    let why = match ending {
        Ending::TooManyFailures(_) => {
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

fn next_steps(args: &RunArgs, run: &StoredRun, report: &ReportV1, store: &Store) {
    let short = &run.info.short_id;
    let place = args.store.flag();
    let name = run.info.name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
    let folder = store.folder();
    let here = std::env::current_dir().ok();
    let shown = here.and_then(|here| folder.strip_prefix(here).ok().map(Path::to_owned)).unwrap_or(folder.to_owned());
    let mut steps = Vec::new();
    if let Some((tool, case)) = worst_case(report) {
        steps.push(format!("karat explain {} --tool {} --run {short}{place}", word(case), word(tool)));
    }
    steps.push(format!("karat report {short}{place} -o report.html"));
    let failures: usize = report.tools.iter().map(failed_trials).sum();
    let executed = run.plan.tools.iter().any(|tool| matches!(tool.kind, ToolKindV1::Command | ToolKindV1::Llm));
    if failures > 0 && executed {
        steps.push(format!("karat run --resume {short} --retry-failed{place}"));
    }
    let kept = format!("Run {short}{name} is stored in {}, with its full report.", shown.display());
    let steps: Vec<String> = steps.iter().map(|step| harmless(step).into_owned()).collect();
    print_stderr(&format!("{}\n\nNext:\n  {}", harmless(&kept), steps.join("\n  ")));
}
