//! `karat plot`.

use crate::args::PlotArgs;
use crate::args::choices::PlotFormat;
use crate::exit::{Category, Exit, Failure};
use crate::output_files::{self, extension, save, show, tell_written};
use crate::progress::JudgeProgress;
use karat::did_you_mean;
use karat::report_source::{ReportLoader, find_metric, select_tools};
use karat::report_view::gather;
use karat_report::grid::{Cell, draw};
use karat_report::plot::{KINDS, Plot, PlotKind, PlotOptions, RasterError, kind};
use karat_report::report_view::{EarlierReport, ReportView};
use std::io::{IsTerminal, Write};
use std::path::Path;

pub(crate) fn run(args: &PlotArgs) -> Result<Exit, Failure> {
    if args.list {
        return list(args.json);
    }
    let kind = named(args.kind.as_deref().unwrap_or_default())?;
    check(args, kind)?;
    let plot = drawn(args, kind)?;
    if args.outputs.is_empty() {
        print_plot(args, &plot)?;
    }
    // All pictures are drawn before any is written, so that a failure leaves no files.
    let files: Vec<(&Path, Vec<u8>)> = args
        .outputs
        .iter()
        .map(|path| Ok((path.as_path(), bytes(args, &plot, extension(path) == "png")?)))
        .collect::<Result<_, Failure>>()?;
    for (path, bytes) in files {
        save(path, &bytes)?;
        tell_written(path);
    }
    Ok(Exit::Ok)
}

fn list(json: bool) -> Result<Exit, Failure> {
    let value = |kind: &PlotKind| serde_json::json!({ "name": kind.name, "title": kind.title, "description": kind.description });
    let row = |kind: &PlotKind| vec![Cell::left(kind.name), Cell::folded(kind.description)];
    show(json, &KINDS.iter().map(value).collect::<Vec<_>>(), |look| {
        draw(&KINDS.iter().map(row).collect::<Vec<_>>(), look.width, false)
    })
}

/// Finds a kind of plot by name; the error suggests a similar one.
fn named(name: &str) -> Result<&'static PlotKind, Failure> {
    kind(name).ok_or_else(|| {
        let hint = did_you_mean(name, KINDS.iter().map(|kind| kind.name)).unwrap_or_default();
        Failure::usage(format!("unknown plot `{name}`{hint}; list them with `karat plot --list`"))
    })
}

/// Refuses invalid arguments before any work is done.
fn check(args: &PlotArgs, kind: &PlotKind) -> Result<(), Failure> {
    output_files::check(&args.outputs, &["svg", "png"])?;
    if let Some(id) = &args.metric {
        find_metric(id)?;
    }
    if args.dimension.is_some() && kind.name != "slices" {
        return Err(Failure::usage(format!("--by applies only to slices; `{}` shows the whole suite", kind.name)));
    }
    if args.outputs.is_empty() && args.format == PlotFormat::Png && std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "a PNG cannot be shown on a terminal; write it to a file with -o plot.png, or pipe it",
        ));
    }
    Ok(())
}

fn drawn(args: &PlotArgs, kind: &PlotKind) -> Result<Plot, Failure> {
    let Some((last, before)) = args.reports.split_last() else {
        return Err(Failure::usage("no report or run given, such as report.json or latest"));
    };
    let store_folder = args.store.path();
    let mut reports = ReportLoader { store_folder: &store_folder, observer: &mut JudgeProgress::new(false) };
    let report = reports.report(last)?;
    select_tools(&report, &args.tools, last)?;
    let mut earlier = Vec::new();
    for name in before {
        earlier.push(EarlierReport { label: reports.label(name)?, report: reports.report(name)? });
    }
    let choice =
        PlotOptions { metric: args.metric.clone(), dimension: args.dimension.clone(), tools: args.tools.clone() };
    let nothing = |why: String| Failure::bad_input(format!("nothing to draw: {why}"));
    let view = match kind.derived {
        true => gather(&report, earlier, None),
        false => ReportView { earlier, ..ReportView::new(&report) },
    };
    let view = ReportView { name: Some(reports.label(last)?), ..view };
    let plots = (kind.draw)(&view, &choice).map_err(|why| nothing(why.to_string()))?;
    Plot::beside(kind.title, plots).ok_or_else(|| nothing("no tool has the data of this plot".to_owned()))
}

fn bytes(args: &PlotArgs, plot: &Plot, is_png: bool) -> Result<Vec<u8>, Failure> {
    let theme = args.theme.into();
    if !is_png {
        return Ok(plot.standalone(theme).into_bytes());
    }
    plot.png(theme, args.scale).map_err(|why| match why {
        RasterError::TooLarge { .. } => Failure::usage(why.to_string()),
        RasterError::Failed(_) => Failure::Message(Category::Internal, why.to_string()),
    })
}

fn print_plot(args: &PlotArgs, plot: &Plot) -> Result<(), Failure> {
    let bytes = bytes(args, plot, args.format == PlotFormat::Png)?;
    // Write the raw bytes: the text writer would strip what looks like terminal colours.
    let mut out = std::io::stdout().lock();
    out.write_all(&bytes).and_then(|()| out.flush()).map_err(|error| Failure::unwritten("standard output", error))
}
