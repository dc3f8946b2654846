//! `karat score`.

use crate::args::ScoreArgs;
use crate::exit::{Exit, Result};
use crate::outputs::{self, ReportOutput, save_with, worst_case};
use crate::progress::JudgeProgress;
use crate::terminal::{flags, print_stderr, word};
use karat::judge::run::refuse_incomplete;
use karat::score::{ScoreRequest, ScoreSource, score};
use karat_format::diagnostic::harmless;
use karat_format::recorded::write_judgements;
use karat_format::report::ReportV1;

pub(crate) fn run(args: &ScoreArgs) -> Result<Exit> {
    outputs::check(&args.output)?;
    let store_folder = args.store.path();
    let request = ScoreRequest {
        submissions: (&args.trials).into(),
        judgements: args.trials.judgements.clone(),
        labels: args.labels.clone(),
        tools: args.tools.clone(),
        judge: args.ask.request(),
        profile: (&args.rules).into(),
        intervals: args.intervals.options(None),
        seed: args.seed,
        ..ScoreRequest::new(ScoreSource::resolve(&args.suite, &store_folder), store_folder)
    };
    let scored = score(&request, &mut JudgeProgress::new(false))?;
    let report = &scored.scoring.report;
    if let Some(path) = &args.save_judgements {
        save_with(path, &mut |out| write_judgements(out, &scored.scoring.voices))?;
    }
    outputs::write(ReportOutput::new(report, &scored.loaded, &scored.scoring.trials), &args.output)?;
    outputs::step_summary(report)?;
    if !args.output.json && args.output.format.is_none() && args.output.outputs.is_empty() {
        next_steps(args, &request.source, report);
    }
    refuse_incomplete(report, args.allow_incomplete_judging)?;
    let passed = report.tools.iter().all(|tool| tool.pass);
    Ok(if scored.scoring.profile.expect_pass && !passed { Exit::NotMet } else { Exit::Ok })
}

/// Suggests the next commands: explain the worst case of the best tool, and write a report.
fn next_steps(args: &ScoreArgs, source: &ScoreSource, report: &ReportV1) {
    let Some((tool, case)) = worst_case(report) else { return };
    let from = match source {
        ScoreSource::Run(run) => format!(" --run {}", word(run)),
        ScoreSource::Suite(suite) if suite == "." => String::new(),
        ScoreSource::Suite(suite) => format!(" --suite {}", word(suite)),
    };
    let files = same_flags(args);
    let steps = [
        format!("karat explain {} --tool {}{from}{files}", word(case), word(tool)),
        format!("karat score {}{files} -o report.html -o report.json", word(&args.suite)),
    ];
    print_stderr(&format!("\nNext:\n  {}", steps.map(|step| harmless(&step).into_owned()).join("\n  ")));
}

/// The flags with which another command loads the same trials and profile.
fn same_flags(args: &ScoreArgs) -> String {
    let (trials, place) = (&args.trials, &args.trials.place);
    let path = |path: &std::path::PathBuf| path.display().to_string();
    let mut all: Vec<(&str, String)> = Vec::new();
    all.extend(trials.submissions.iter().map(|file| ("--submission", path(file))));
    all.extend(trials.judgements.iter().map(|file| ("--judgements", path(file))));
    all.extend(args.ask.judge.iter().map(|judge| ("--judge", judge.clone())));
    all.extend(place.from.iter().map(|format| ("--from", format.clone())));
    all.extend(place.case.iter().map(|case| ("--case", case.clone())));
    all.extend(place.case_from.iter().map(|pattern| ("--case-from", pattern.clone())));
    if place.trial_number != 1 {
        all.push(("--trial-number", place.trial_number.to_string()));
    }
    all.extend(place.rule_map.iter().map(|file| ("--rule-map", path(file))));
    all.extend(args.rules.flags());
    flags(&all)
}
