//! `karat report`.

use super::assess;
use crate::args::ReportArgs;
use crate::exit::{Exit, Failure};
use crate::outputs::{self, ReportOutput};
use crate::progress::JudgeProgress;
use karat::report_source::{ReportLoader, names_run, read_assessment, read_report};
use karat::run_loader::{self, StoredRun};
use karat::submissions::{load_suite, open_lines};
use karat::suite::LoadedSuite;
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_format::report::ReportV1;
use karat_report::report_view::EarlierReport;
use std::path::Path;

pub(crate) fn run(args: &ReportArgs) -> Result<Exit, Failure> {
    let Some((last, before)) = args.reports.split_last() else {
        return Err(Failure::usage("no report or run given"));
    };
    let path = Path::new(last);
    let store_folder = args.store.path();
    let is_run = names_run(last, &store_folder);
    if let Some(report) = (!is_run).then(|| read_assessment(path)).transpose()?.flatten() {
        if !before.is_empty() {
            return Err(Failure::usage("an assessment has no trend; use one report"));
        }
        assess::redraw(&report, &args.output)?;
        return Ok(Exit::Ok);
    }
    outputs::check(&args.output)?;
    let mut reports = ReportLoader { store_folder: &store_folder, observer: &mut JudgeProgress::new(false) };
    let mut earlier = Vec::new();
    for name in before {
        earlier.push(EarlierReport { label: reports.label(name)?, report: reports.report(name)? });
    }
    let more = outputs::shows_more(&args.output);
    let (report, from) = match is_run {
        true => of_run(last, args, more)?,
        false => (read_report(path)?.0, more.then(|| of_suite(args)).transpose()?.flatten()),
    };
    if let Some((loaded, _)) = from.as_ref().filter(|(loaded, _)| loaded.suite.digest != report.suite.digest && !is_run)
    {
        let name = &loaded.suite.name;
        crate::terminal::notes(&[format!("{name} differs from the input of the report; code and texts may not fit")]);
    }
    let from = from.as_ref().map(|(loaded, trials)| (loaded, trials.as_slice()));
    // A page of one report is titled by its suite; with several, each needs its file name.
    let name = (is_run || !before.is_empty()).then(|| reports.label(last)).transpose()?;
    outputs::write(ReportOutput { report: &report, name, from, earlier }, &args.output)?;
    Ok(Exit::Ok)
}

/// A suite and its trials.
type From = (LoadedSuite, Vec<Trial>);

/// The report of a run, with its suite and trials if a format shows them.
fn of_run(reference: &str, args: &ReportArgs, more: bool) -> Result<(ReportV1, Option<From>), Failure> {
    let mut store = args.store.open()?;
    let (info, report) = run_loader::report(&mut store, reference, &mut JudgeProgress::new(false))?;
    if !more {
        return Ok((report, None));
    }
    let StoredRun { loaded, trials, .. } = run_loader::run(&mut store, info.id.as_str())?;
    Ok((report, Some((loaded, trials.into_iter().map(|stored| stored.trial).collect()))))
}

/// The suite and submissions given for a report file.
fn of_suite(args: &ReportArgs) -> Result<Option<From>, Failure> {
    let Some(place) = &args.suite else { return Ok(None) };
    let loaded = load_suite(place)?;
    let files = args.submissions.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>, _>>()?;
    let trials = read_trials(files, Some(&loaded.suite))?;
    Ok(Some((loaded, trials)))
}
