//! `karat report` and `plot`.

use super::assess;
use super::run::load_results;
use crate::args::{PlotArgs, ReportArgs};
use crate::exit::{Category, Exit, Failure, Result};
use crate::outputs::{
    self, ReportOutput, TableSource, check_extensions, explain_command, extension, is_table_only, print_written, save,
    writes_tables,
};
use crate::progress::JudgeProgress;
use crate::terminal::{note, print_next, show, word};
use karat::report_source::{
    ReportLoader, find_metric, names_run, read_report, refuse_assessment_metrics, select_tools,
};
use karat::report_view::{gather, run_reference};
use karat::run_loader::{self, StoredRun};
use karat::submissions::open_lines;
use karat::suggestion;
use karat::suite::{LoadedSuite, load_suite};
use karat::tables::TablesInput;
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_format::report::ReportV1;
use karat_report::build::reduce;
use karat_report::grid::{Cell, draw};
use karat_report::label_command;
use karat_report::plot::{KINDS, Plot, PlotKind, PlotOptions, RasterError, kind};
use karat_report::report_view::{AssessmentView, EarlierAssessment, EarlierReport, ReportView};
use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ReportArgs) -> Result<Exit> {
    let Some((last, before)) = args.reports.split_last() else {
        return Err(Failure::usage("no report or run given"));
    };
    let path = Path::new(last);
    let store = args.store.location()?;
    let is_run = names_run(last, &store);
    let mut reports = ReportLoader { store: &store, observer: &mut JudgeProgress::new(false) };
    // A page of one report file is titled by its suite; with several, each needs its file name.
    let (name, run) = match is_run {
        true => {
            let info = args.store.open()?.find(last)?;
            (info.name.clone(), Some(run_reference(&info)))
        }
        false => ((!before.is_empty()).then(|| reports.label(last)).transpose()?, None),
    };
    if let Some(report) = reports.assessment(last)? {
        assess::refuse_idle_flags([
            (args.suite.iter().map(|_| "--suite").collect(), "its report has all that is shown"),
            (args.detail.iter().map(|_| "--detail").collect(), "it is always whole"),
        ])?;
        let earlier = load_earlier_assessments(&mut reports, before)?;
        return assess::redraw(&AssessmentView { name, run, report: &report, earlier }, &args.output);
    }
    outputs::check(&args.output)?;
    let earlier = load_earlier(&mut reports, before)?;
    // The tables of a run need no more than its store.
    let more = outputs::shows_more(&args.output) || writes_tables(&args.output) && !is_run;
    let (mut report, from) = match is_run {
        true => of_run(last, args, more)?,
        false => (read_report(path)?.0, more.then(|| of_suite(args)).transpose()?.flatten()),
    };
    let has_tables = writes_tables(&args.output);
    if has_tables && !is_run && !report.detail.is_all() {
        let message = "does not have all pairs, which tables need; write them when scoring, with -o and any --detail";
        return Err(Failure::usage(format!("{last} {message}")));
    }
    let full = (has_tables && !is_run && args.detail.is_some()).then(|| report.clone());
    if let Some(detail) = args.detail {
        reduce(&mut report, detail).map_err(|why| Failure::usage(format!("{last}: {why}")))?;
    }
    if let Some((loaded, _)) = from.as_ref().filter(|(loaded, _)| loaded.suite.digest != report.suite.digest && !is_run)
    {
        let name = &loaded.suite.name;
        note(&format!("{name} differs from the input of the report; code and texts may not fit"));
    }
    let from = from.as_ref().map(|(loaded, trials)| (loaded, trials.as_slice()));
    let results = match is_run && has_tables {
        true => Some(load_results(&mut args.store.open()?, last)?),
        false => None,
    };
    let tables = match (&results, &full) {
        (Some(results), _) => Some(results.tables()),
        (None, Some(full)) => Some(TablesInput::of_report(full, from.map_or(&[], |(_, trials)| trials))),
        (None, None) => None,
    };
    let tables = tables.map(TableSource::Input);
    let exit = outputs::write(ReportOutput { report: &report, name, run, from, earlier, tables }, &args.output)?;
    if is_table_only(&args.output) {
        let place = args.store.flag();
        // A report file does not say where its suite and submissions are.
        let explain = is_run.then(|| explain_command(&report, &format!(" --run {}{place}", word(last)))).flatten();
        let mut steps = Vec::from_iter(explain);
        steps.extend(label_command(&report).map(|command| command + &place));
        let reports: Vec<String> = args.reports.iter().map(|name| word(name)).collect();
        steps.push(format!("karat report {}{place} -o report.html", reports.join(" ")));
        print_next(&steps);
    }
    Ok(exit)
}

fn load_earlier(reports: &mut ReportLoader<'_>, names: &[String]) -> Result<Vec<EarlierReport>> {
    names.iter().map(|name| Ok(EarlierReport { label: reports.label(name)?, report: reports.report(name)? })).collect()
}

fn load_earlier_assessments(reports: &mut ReportLoader<'_>, names: &[String]) -> Result<Vec<EarlierAssessment>> {
    let load = |name: &String| {
        let report = reports.assessment(name)?.ok_or_else(|| {
            Failure::bad_input(format!("{name} is not an assessment, and the last report is; use reports of one kind"))
        })?;
        Ok(EarlierAssessment { label: reports.label(name)?, report })
    };
    names.iter().map(load).collect()
}

type LoadedSources = (LoadedSuite, Vec<Trial>);

fn of_run(reference: &str, args: &ReportArgs, more: bool) -> Result<(ReportV1, Option<LoadedSources>)> {
    let mut store = args.store.open()?;
    let (info, report) = run_loader::report(&mut store, reference, &mut JudgeProgress::new(false))?;
    if !more {
        return Ok((report, None));
    }
    let StoredRun { loaded, trials, .. } = run_loader::run(&mut store, info.id.as_str())?;
    Ok((report, Some((loaded, trials.into_iter().map(|stored| stored.trial).collect()))))
}

fn of_suite(args: &ReportArgs) -> Result<Option<LoadedSources>> {
    let Some(place) = &args.suite else { return Ok(None) };
    let loaded = load_suite(place)?;
    let files = args.submissions.iter().map(|path| open_lines(path)).collect::<Result<Vec<_>, _>>()?;
    let trials = read_trials(files, Some(&loaded.suite))?;
    Ok(Some((loaded, trials)))
}

pub(crate) fn plot(args: &PlotArgs) -> Result<Exit> {
    if args.list {
        return list_plots(args.json);
    }
    let kind = find_kind(args.kind.as_deref().unwrap_or_default())?;
    check_plot(args, kind)?;
    let plot = draw_plot(args, kind)?;
    if args.outputs.is_empty() {
        let bytes = encode(args, &plot, args.format == "png")?;
        // Write the raw bytes: the text writer would strip what looks like terminal colours.
        let mut out = std::io::stdout().lock();
        let written = out.write_all(&bytes).and_then(|()| out.flush());
        written.map_err(|error| Failure::unwritten("standard output", error))?;
    }
    // All pictures are drawn before any is written, so that a failure leaves no files.
    let drawn = |path: &PathBuf| encode(args, &plot, extension(path) == "png");
    let pictures = args.outputs.iter().map(drawn).collect::<Result<Vec<_>, _>>()?;
    for (path, bytes) in args.outputs.iter().zip(pictures) {
        save(path, &bytes)?;
        print_written(path);
    }
    Ok(Exit::Ok)
}

fn list_plots(json: bool) -> Result<Exit> {
    let value = |kind: &PlotKind| serde_json::json!({ "name": kind.name, "title": kind.title, "description": kind.description });
    let row = |kind: &PlotKind| vec![Cell::left(kind.name), Cell::folded(kind.description)];
    show(json, &KINDS.iter().map(value).collect::<Vec<_>>(), |look| {
        draw(&KINDS.iter().map(row).collect::<Vec<_>>(), look.width, false)
    })
}

fn find_kind(name: &str) -> Result<&'static PlotKind> {
    kind(name).ok_or_else(|| {
        let hint = suggestion(name, KINDS.iter().map(|kind| kind.name), ";");
        Failure::usage(format!("unknown plot `{name}`{hint} list them with `karat plot --list`"))
    })
}

fn check_plot(args: &PlotArgs, kind: &PlotKind) -> Result<()> {
    check_extensions(&args.outputs, &["svg", "png"])?;
    if let Some(id) = &args.metric {
        find_metric(id)?;
    }
    if args.dimension.is_some() && kind.name != "slices" {
        return Err(Failure::usage(format!("--by applies only to slices; `{}` shows the whole suite", kind.name)));
    }
    if args.outputs.is_empty() && args.format == "png" && std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "a PNG cannot be shown on a terminal; write it to a file with -o plot.png, or pipe it",
        ));
    }
    Ok(())
}

fn draw_plot(args: &PlotArgs, kind: &PlotKind) -> Result<Plot> {
    let Some((last, before)) = args.reports.split_last() else {
        return Err(Failure::usage("no report or run given, such as report.json or latest"));
    };
    let store = args.store.location()?;
    let mut reports = ReportLoader { store: &store, observer: &mut JudgeProgress::new(false) };
    let report = reports.report(last)?;
    select_tools(&report, &args.tools, last)?;
    refuse_assessment_metrics(&args.metric, &report, last)?;
    let earlier = load_earlier(&mut reports, before)?;
    let choice =
        PlotOptions { metric: args.metric.clone(), dimension: args.dimension.clone(), tools: args.tools.clone() };
    let nothing = |why: &dyn Display| Failure::bad_input(format!("nothing to draw: {why}"));
    let view = match kind.derived {
        true => gather(&report, earlier, None),
        false => ReportView { earlier, ..ReportView::new(&report) },
    };
    let view = ReportView { name: Some(reports.label(last)?), ..view };
    let plots = (kind.draw)(&view, &choice).map_err(|why| nothing(&why))?;
    Plot::beside(kind.title, plots).ok_or_else(|| nothing(&"no tool has the data of this plot"))
}

fn encode(args: &PlotArgs, plot: &Plot, is_png: bool) -> Result<Vec<u8>> {
    if !is_png {
        return Ok(plot.standalone(args.theme).into_bytes());
    }
    plot.png(args.theme, args.scale).map_err(|why| match why {
        RasterError::TooLarge { .. } => Failure::usage(why.to_string()),
        RasterError::Failed(_) => Failure::Message(Category::Internal, why.to_string()),
    })
}
