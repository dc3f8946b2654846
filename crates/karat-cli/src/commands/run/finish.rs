//! After the last trial: the score, the report, and what to type next.

use super::work::LockedRun;
use crate::args::{AskArgs, RuleArgs, RunArgs};
use crate::exit::{Exit, Failure};
use crate::hints::{word, worst_case};
use crate::judging::{self, Sitting};
use crate::outputs::{self, Shown};
use crate::signals::end_at_once;
use crate::store_place;
use crate::stored::{self, StoredRun};
use crate::terminal::tell;
use karat::diagnostic::harmless;
use karat::format::judgement::JudgementV1;
use karat::format::report::{ReportV1, ToolV1};
use karat::format::tool::ToolKindV1;
use karat::report::number::{count, failed_trials};
use karat::run::drive::failed;
use karat::run::event::Ending;
use karat::scoring;
use karat::store::{RunInfo, RunState, Store, StoreError};
use karat::suite::{load, locate};
use karat_core::trial::Outcome;
use std::path::Path;

/// Scores what was done, keeps the report, and says what to type next.
pub(super) fn finish(args: &RunArgs, run: LockedRun, ending: &Ending) -> Result<Exit, Failure> {
    let LockedRun { mut store, id, loaded, .. } = run;
    if !Store::is_at(store.folder()) {
        return Err(StoreError::Missing { folder: store.folder().to_owned() }.into());
    }
    let info = store.find(id.as_str())?;
    let done: u64 = info.outcomes.values().sum();
    // A run that has every trial is whole, also when trying failed ones once more was broken off.
    if done < info.planned {
        store.finish(&id, RunState::Stopped, None)?;
        return Err(stopped(args, &info, ending));
    }
    // Every trial is kept. What follows can be done again at any time, but for what a judge is asked.
    end_at_once(true);
    let plan = store.plan(&id)?;
    let changed = load(locate(&plan.suite.place)).map_or(true, |now| now.suite.digest != plan.suite.digest);
    let mut run = stored::with_suite(&mut store, info, plan, loaded)?;
    let profile = run.profile(&RuleArgs::default())?;
    let expect_pass = profile.expect_pass;
    let first_reason = run.trials.iter().find_map(|trial| trial.detail.reason.clone());
    let mut work = run.work(profile, None);
    if changed {
        work.notes.push("the suite changed while the run went on, so not all trials saw the same code".to_owned());
    }
    // The plan says who is asked.
    let ask = run.asking(&AskArgs { judge_cache: args.ask.judge_cache.clone(), ..AskArgs::default() });
    let sitting = Sitting {
        args: &ask,
        loaded: &run.loaded,
        folder: args.store.folder.as_deref(),
        store: Some(&mut store),
        models: run.models(),
        quiet: args.quiet,
    };
    end_at_once(false);
    let judged = judging::sit(sitting, &mut work);
    end_at_once(true);
    if let Err(failure) = judged {
        store.finish(&id, RunState::Stopped, None)?;
        return Err(not_judged(failure, args, &run.info));
    }
    let scoring = scoring::run(&run.loaded, work);
    let judgements: Vec<JudgementV1> = scoring.judgements.iter().map(JudgementV1::from).collect();
    store.set_judgements(&id, &judgements)?;
    let report = serde_json::to_vec(&scoring.report).map_err(|error| Failure::io("the report", error.into()))?;
    store.finish(&id, RunState::Complete, Some(&report))?;
    outputs::write(Shown::of(&scoring.report, &run.loaded, &scoring.trials), &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() && !args.quiet {
        next_steps(args, &run, &scoring.report, &store);
    }
    if *ending != Ending::Complete {
        return Err(stopped(args, &run.info, ending));
    }
    let reported = |tool: &ToolV1| tool.outcomes.get(&Outcome::Reported).is_some_and(|n| *n > 0);
    if !scoring.report.tools.iter().any(reported) {
        let reason = first_reason.as_deref().unwrap_or("no reason is known");
        let message = format!("not a single trial came to a report, the first because {reason}");
        return Err(Failure::Message(Exit::Failed, message));
    }
    judging::refuse_incomplete(&scoring.report, args.allow_incomplete_judging)?;
    let passed = scoring.report.tools.iter().all(|tool| tool.pass);
    // The program is about to end, and giving a large run's memory back piece by piece takes longer than drawing its report.
    std::mem::forget((scoring, report, run));
    Ok(if expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

/// All trials are there and kept; only the judge is missing, and may be asked another time.
fn not_judged(failure: Failure, args: &RunArgs, info: &RunInfo) -> Failure {
    let Failure::Message(exit, message) = failure else { return failure };
    let (short, place) = (&info.short_id, store_place::flag(args.store.folder.as_deref()));
    let again = format!("karat run --resume {short}{place}");
    let without = format!("karat score {short} --judge none{place}");
    Failure::Message(exit, format!("{message}\nall trials are kept; ask again with: {again}\nor do without: {without}"))
}

/// Why a run ended before its time, and how it goes on.
fn stopped(args: &RunArgs, info: &RunInfo, ending: &Ending) -> Failure {
    let done: u64 = info.outcomes.values().sum();
    let why = match ending {
        Ending::TooManyFailures(_) => {
            let failures = info.outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum::<u64>();
            format!("stopped, as {} failed", count(failures as usize, "trial"))
        }
        _ => "stopped".to_owned(),
    };
    let again = if args.retry_failed { " --retry-failed" } else { "" };
    let place = store_place::flag(args.store.folder.as_deref());
    let next = format!("karat run --resume {}{again}{place}", info.short_id);
    Failure::Message(Exit::Failed, format!("{why}: {done} of {} trials are kept; go on with: {next}", info.planned))
}

fn next_steps(args: &RunArgs, run: &StoredRun, report: &ReportV1, store: &Store) {
    let short = &run.info.short_id;
    let place = store_place::flag(args.store.folder.as_deref());
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
    let kept = format!("Run {short}{name} is kept in {}, with its full report.", shown.display());
    let steps: Vec<String> = steps.iter().map(|step| harmless(step).into_owned()).collect();
    tell(&format!("{}\n\nNext:\n  {}", harmless(&kept), steps.join("\n  ")));
}
