//! `karat score`.

use crate::args::ScoreArgs;
use crate::exit::{Exit, Failure};
use crate::hints::{word, worst_case};
use crate::judging::JudgeCall;
use crate::outputs::ReportOutput;
use crate::terminal::tell;
use crate::{inputs, outputs, store_path};
use karat::judge::run::{JudgeRequest, refuse_incomplete};
use karat::run_loader;
use karat::scoring::{self, Work};
use karat::suite::LoadedSuite;
use karat_core::ids::ToolName;
use karat_core::trial::Trial;
use karat_format::diagnostic::harmless;
use karat_format::recorded::write_judgements;
use karat_format::report::ReportV1;
use karat_io::atomic_write;
use karat_store::Store;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(args: &ScoreArgs) -> Result<Exit, Failure> {
    outputs::check(&args.output)?;
    let Scored { loaded, mut work, mut store, request, models } =
        if store_path::names_run(&args.suite, args.store.folder.as_deref()) { of_run(args)? } else { of_suite(args)? };
    if !args.tools.is_empty() {
        work.trials.retain(|t| args.tools.iter().any(|tool| tool == t.tool.as_str()));
        if work.trials.is_empty() {
            return Err(Failure::usage(format!("no trials of {}", args.tools.join(", "))));
        }
    }
    work.judgements.extend(inputs::judgements(&args.trials.judgements, &loaded.suite)?);
    let call = JudgeCall {
        request,
        loaded: &loaded,
        folder: args.store.folder.as_deref(),
        store: store.as_mut(),
        models,
        quiet: false,
    };
    call.run(&mut work)?;
    work.labels = inputs::judgements(&args.labels, &loaded.suite)?;
    work.intervals = inputs::intervals(&args.intervals, &loaded.suite)?;
    let expect_pass = work.profile.expect_pass;
    let scoring = scoring::run(&loaded, work);
    if let Some(path) = &args.save_judgements {
        atomic_write::write(path, &mut |out| write_judgements(out, &scoring.voices))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
    }
    outputs::write(ReportOutput::new(&scoring.report, &loaded, &scoring.trials), &args.output)?;
    outputs::step_summary(&scoring.report)?;
    if !args.output.json && args.output.format.is_none() && args.output.outputs.is_empty() {
        next_steps(args, &scoring.report);
    }
    refuse_incomplete(&scoring.report, args.allow_incomplete_judging)?;
    let passed = scoring.report.tools.iter().all(|tool| tool.pass);
    Ok(if expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

/// What is scored.
struct Scored {
    loaded: LoadedSuite,
    work: Work,
    /// The store of the run, if it is a run.
    store: Option<Store>,
    request: JudgeRequest,
    /// The known models of tools.
    models: Vec<(String, String)>,
}

/// Submissions to a suite.
fn of_suite(args: &ScoreArgs) -> Result<Scored, Failure> {
    let loaded = inputs::suite(&args.suite)?;
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let name = if let [only] = args.tools.as_slice() { Some(only.as_str()) } else { None };
    let (trials, mut notes) = inputs::trials(&args.trials, &loaded, name)?;
    let wanted = |trial: &&Trial| args.tools.is_empty() || args.tools.iter().any(|tool| tool == trial.tool.as_str());
    notes.extend(too_few_trials(trials.iter().filter(wanted), loaded.config.scoring.trials));
    let work = Work { seed: args.seed, notes, ..Work::new(trials, profile) };
    Ok(Scored { loaded, work, store: None, request: args.ask.request(), models: Vec::new() })
}

/// A stored run, by its own profile or another, with further submissions if given.
fn of_run(args: &ScoreArgs) -> Result<Scored, Failure> {
    let mut store = store_path::open(args.store.folder.as_deref())?;
    let mut run = run_loader::run(&mut store, &args.suite)?;
    let mut work = run.work(run.profile(&(&args.rules).into())?, args.seed);
    if !args.trials.submissions.is_empty() {
        let (more, notes) = inputs::trials(&args.trials, &run.loaded, None)?;
        inputs::refuse_twice(work.trials.iter().chain(&more))?;
        work.trials.extend(more);
        work.notes.extend(notes);
    }
    let request = run.judge_request(&args.ask.request());
    let models = run.models();
    Ok(Scored { loaded: run.loaded, work, store: Some(store), request, models })
}

/// A warning for each tool with fewer trials per case than the suite plans.
fn too_few_trials<'t>(trials: impl Iterator<Item = &'t Trial>, planned: Option<u32>) -> Vec<String> {
    let mut numbers: BTreeMap<&ToolName, BTreeSet<u32>> = BTreeMap::new();
    for trial in trials {
        numbers.entry(&trial.tool).or_default().insert(trial.number);
    }
    let planned = planned.unwrap_or(1) as usize;
    let fewer = numbers.iter().filter(|(_, seen)| seen.len() < planned);
    fewer.map(|(tool, seen)| format!("{tool}: only {} of {planned} planned trials of each case", seen.len())).collect()
}

/// Suggests the next commands: explain the worst case of the best tool, and write a report.
fn next_steps(args: &ScoreArgs, report: &ReportV1) {
    let Some((tool, case)) = worst_case(report) else { return };
    let of_run = store_path::names_run(&args.suite, args.store.folder.as_deref());
    let from = match args.suite.as_str() {
        "." => String::new(),
        run if of_run => format!(" --run {}", word(run)),
        suite => format!(" --suite {}", word(suite)),
    };
    let files = same_again(args);
    let steps = [
        format!("karat explain {} --tool {}{from}{files}", word(case), word(tool)),
        format!("karat score {}{files} -o report.html -o report.json", word(&args.suite)),
    ];
    tell(&format!("\nNext:\n  {}", steps.map(|step| harmless(&step).into_owned()).join("\n  ")));
}

/// The flags with which another command loads the same trials and profile.
fn same_again(args: &ScoreArgs) -> String {
    let (trials, place, rules) = (&args.trials, &args.trials.place, &args.rules);
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let mut flags: Vec<(&str, String)> = Vec::new();
    flags.extend(trials.submissions.iter().map(|file| ("--submission", path(file))));
    flags.extend(trials.judgements.iter().map(|file| ("--judgements", path(file))));
    flags.extend(args.ask.judge.iter().map(|judge| ("--judge", judge.clone())));
    flags.extend(place.from.iter().map(|format| ("--from", format.clone())));
    flags.extend(place.case.iter().map(|case| ("--case", case.clone())));
    flags.extend(place.case_from.iter().map(|pattern| ("--case-from", pattern.clone())));
    if place.trial_number != 1 {
        flags.push(("--trial-number", place.trial_number.to_string()));
    }
    flags.extend(place.rule_map.iter().map(|file| ("--rule-map", path(file))));
    flags.extend(rules.profile.iter().map(|name| ("--profile", name.clone())));
    flags.extend(rules.sets.iter().map(|set| ("--set", set.clone())));
    flags.iter().map(|(flag, value)| format!(" {flag} {}", word(value))).collect()
}
