//! `karat score` and `explain`.

use super::score_changes::print_changes;
use crate::args::{ExplainArgs, ScoreArgs};
use crate::exit::{Exit, Result};
use crate::outputs::{self, ReportOutput, TableSource, explain_command, is_table_only, save_with};
use crate::progress::JudgeProgress;
use crate::terminal::{flags, notes, print_next, show, verbosity, word};
use karat::explain::{ExplainRequest, Explained, explain as explain_case, find_requirements};
use karat::folder_state::find_suite;
use karat::judge::run::refuse_incomplete;
use karat::report_source::ReportLoader;
use karat::score::{ScoreRequest, ScoreSource, score, score_observed};
use karat_format::assessment::AssessmentReportV1;
use karat_format::config::SuiteKind;
use karat_format::recorded::write_judgements;
use karat_format::report::ReportV1;
use karat_report::explain::{CaseExplanation, candidate_json, draw, refused_findings};
use karat_report::label_command;
use karat_store::{LATEST, StoreLocation};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The number of candidates shown of each golden, and with `--verbose`.
const CANDIDATES: usize = 3;
const MORE_CANDIDATES: usize = 10;

pub(crate) fn run(args: &ScoreArgs) -> Result<Exit> {
    outputs::check(&args.output)?;
    let store = args.store.location()?;
    let source = match &args.run {
        Some(run) => ScoreSource::Run { name: run.clone(), suite: Some(args.suite.clone()) },
        None => ScoreSource::resolve(&args.suite, &store),
    };
    let request = ScoreRequest {
        labels: args.labels.clone(),
        tools: args.tools.clone(),
        intervals: args.intervals.options(None),
        seed: args.seed,
        label_source: label_source(args, &source),
        detail: args.detail,
        keep_voices: args.save_judgements.is_some(),
        model_cutoff: args.model_cutoff.clone(),
        ..args.trials.request(source, &args.ask, &args.rules, store)
    };
    let mut judge = JudgeProgress::new(false);
    let mut tables = Vec::new();
    // A report with less detail does not have all pairs, so tables are written while there are any.
    let scored = match args.detail.is_all() || !outputs::writes_tables(&args.output) {
        true => score(&request, &mut judge)?,
        false => {
            tables = outputs::case_tables(&args.output);
            score_observed(&request, &mut judge, &mut tables)?
        }
    };
    let report = &scored.scoring.report;
    if let Some(path) = &args.save_judgements {
        save_with(path, &mut |out| write_judgements(out, &scored.scoring.voices))?;
    }
    let mut shown = ReportOutput::of_scoring(&scored.scoring, &scored.loaded, scored.run.as_ref());
    if !tables.is_empty() {
        shown.tables = Some(TableSource::Scored(tables, &scored.scoring));
    }
    outputs::write(shown, &args.output)?;
    outputs::step_summary(report)?;
    if let Some(changes) = &scored.changes {
        print_changes(changes, &args.output)?;
    }
    if is_table_only(&args.output) {
        next_steps(args, &request.source, report);
    }
    refuse_incomplete(report, args.allow_incomplete_judging)?;
    Ok(super::run::expectation(report))
}

/// Suggests the next commands: explain the worst case of the best tool, label pairs that decide the ranking, and write a report.
fn next_steps(args: &ScoreArgs, source: &ScoreSource, report: &ReportV1) {
    let from = match source {
        ScoreSource::Run { name, suite } => flags(&run_flags(name, suite.as_deref())),
        ScoreSource::Suite(suite) => format!(" --suite {}", word(suite)),
    };
    let files = same_flags(args);
    let mut steps = Vec::from_iter(explain_command(report, &format!("{from}{files}")));
    steps.extend(label_command(report));
    let run = args.run.iter().map(|run| ("--run", run.clone())).collect::<Vec<_>>();
    let run = flags(&run);
    steps.push(format!("karat score {}{run}{files} -o report.html -o report.json", word(&args.suite)));
    print_next(&steps);
}

/// The arguments with which `karat label next` selects the same pairs; it reads neither judgements nor scanners' files, and all
/// tools.
fn label_source(args: &ScoreArgs, source: &ScoreSource) -> Option<String> {
    let (trials, place) = (&args.trials, &args.trials.place);
    let is_submission = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "jsonl");
    let is_plain = place.from.is_none() && trials.judgements.is_empty() && args.tools.is_empty();
    if !is_plain || !trials.submissions.iter().all(is_submission) {
        return None;
    }
    let rules = || args.rules.flags().into_iter().chain(args.ask.flags());
    match source {
        ScoreSource::Run { suite: Some(_), .. } => None,
        ScoreSource::Run { .. } if !trials.submissions.is_empty() => None,
        ScoreSource::Run { name, .. } => Some(word(name) + &flags(&rules().collect::<Vec<_>>())),
        ScoreSource::Suite(suite) => {
            let files = trials.submissions.iter().map(|file| ("--submission", file.display().to_string()));
            let all: Vec<_> = std::iter::once(("--suite", suite.clone())).chain(files).chain(rules()).collect();
            Some(flags(&all).trim_start().to_owned())
        }
    }
}

/// The flags that name a run, and the suite whose present goldens it is scored with.
fn run_flags(run: &str, suite: Option<&str>) -> Vec<(&'static str, String)> {
    std::iter::once(("--run", run.to_owned())).chain(suite.map(|suite| ("--suite", suite.to_owned()))).collect()
}

/// The flags with which another command loads the same trials and profile.
fn same_flags(args: &ScoreArgs) -> String {
    let (trials, place) = (&args.trials, &args.trials.place);
    let path = |path: &PathBuf| path.display().to_string();
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

pub(crate) fn explain(args: &ExplainArgs) -> Result<Exit> {
    let store = args.store.location()?;
    if let Some(report) = find_assessment(args, &store)? {
        return super::assess::explain(report, args);
    }
    let source = explain_source(args, &store);
    let mut score = args.trials.request(source, &args.ask, &args.rules, store);
    score.tools.extend(args.tool.clone());
    let request = ExplainRequest { score, case: args.case.clone(), tool: args.tool.clone(), trial: args.trial };
    let explained = explain_case(&request, &mut JudgeProgress::new(false))?;
    notes(&explained.notes);
    let most = if verbosity().verbose && !args.json { MORE_CANDIDATES } else { CANDIDATES };
    let candidates = explained.candidates(most);
    let tool = &explained.scoring.report.tools[explained.tool_index].tool;
    let explanation = CaseExplanation {
        case: explained.case(),
        score: explained.score(),
        trial: explained.trial(),
        choice: explained.choice,
        reported: explained.reported(),
        judgements: &explained.scoring.judgements,
        candidates: &candidates,
        profile: &explained.scoring.profile,
    };
    show(args.json, &explained_json(&explained, &explanation), |look| draw(&explanation, tool, look))
}

/// The assessment that is explained: the named run, or the latest in the folder of an assessment's suite.
fn find_assessment(args: &ExplainArgs, store: &StoreLocation) -> Result<Option<AssessmentReportV1>> {
    let is_default = || args.suite.is_none() && args.trials.submissions.is_empty();
    let is_assessment = || find_suite(Path::new(".")).is_some_and(|suite| suite.kind == SuiteKind::Assessment);
    let name = match &args.run {
        Some(run) => run,
        None if is_default() && is_assessment() => LATEST,
        None => return Ok(None),
    };
    let mut reports = ReportLoader { store, observer: &mut JudgeProgress::new(false) };
    let report = reports.assessment(name)?;
    // The latest run of tools may be older than the latest of all.
    let is_latest = name.eq_ignore_ascii_case(LATEST);
    Ok(report.filter(|report| !is_latest || args.run.is_none() || !find_requirements(report, &args.case).is_empty()))
}

/// The named run or suite; default: the latest run of the suite in the current folder, else that suite.
fn explain_source(args: &ExplainArgs, store: &StoreLocation) -> ScoreSource {
    match (&args.run, &args.suite) {
        (Some(run), suite) => ScoreSource::Run { name: run.clone(), suite: suite.clone() },
        (None, Some(suite)) => ScoreSource::Suite(suite.clone()),
        (None, None) if args.trials.submissions.is_empty() => ScoreSource::latest_of(Path::new("."), store),
        (None, None) => ScoreSource::Suite(".".to_owned()),
    }
}

fn explained_json(explained: &Explained, explanation: &CaseExplanation<'_>) -> Value {
    let findings = explained.reported().map_or(&[][..], |trial| &trial.findings);
    let (mut best, mut refused) = (serde_json::Map::new(), serde_json::Map::new());
    for (index, golden) in explained.case().goldens.iter().enumerate() {
        let Some(candidates) = explanation.candidates.get(index) else { continue };
        let list: Vec<_> = candidates.iter().map(|candidate| candidate_json(candidate, findings)).collect();
        best.insert(golden.id.to_string(), json!(list));
        refused.insert(golden.id.to_string(), json!(refused_findings(explanation, index)));
    }
    let report = &explained.scoring.report;
    let tool = &report.tools[explained.tool_index];
    json!({
        "case": report.cases[explained.case_index],
        "tool": tool.tool,
        "trial": explained.trial().number,
        "trial_choice": explained.choice.as_str(),
        "result": tool.cases[explained.case_index],
        "candidates": best,
        "refused": refused,
    })
}
