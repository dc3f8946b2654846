//! Writes results to files, and reports to standard output and files.

use crate::args::OutputArgs;
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{look, print, print_stderr, word};
use karat::report_view::gather;
use karat::run_facts::RunFacts;
use karat::suite::LoadedSuite;
use karat::tables::{CaseTables, EXTENSION, TablesInput, check_target};
use karat::work::Scoring;
use karat_core::trial::Trial;
use karat_format::diagnostic::harmless;
use karat_format::report::{CaseResultV1, ReportV1};
use karat_io::atomic_write;
use karat_report::number::ranked;
use karat_report::report_view::{EarlierReport, ReportView, RunReference, Sources};
use karat_report::{Draw, FORMATS, Format, TerminalStyle, format, write_json};
use serde::Serialize;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Files are complete, whatever is printed.
pub(crate) const PLAIN: TerminalStyle = TerminalStyle::complete(100);

pub(crate) fn check_extensions(paths: &[PathBuf], extensions: &[&str]) -> Result<()> {
    let unknown = paths.iter().find(|path| !extensions.contains(&extension(path).as_str()));
    let Some(path) = unknown else { return Ok(()) };
    let known = format!(".{}", extensions.join(", ."));
    Err(Failure::usage(format!("{}: unknown extension; expected {known}", path.display())))
}

/// Writes the files, each drawn by its extension, and reports it.
pub(crate) fn save_drawn(paths: &[PathBuf], draw: impl Fn(&str) -> String) -> Result<()> {
    for path in paths {
        save(path, draw(&extension(path)).as_bytes())?;
        print_written(path);
    }
    Ok(())
}

/// Writes a file whole or not at all.
pub(crate) fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    save_with(path, &mut |out| out.write_all(bytes))
}

pub(crate) fn save_with(path: &Path, content: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    atomic_write::write(path, content).map_err(|error| Failure::unwritten(path.display(), error))
}

pub(crate) fn print_written(path: &Path) {
    print_stderr(&harmless(&format!("wrote {}", path.display())));
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

pub(crate) fn check(args: &OutputArgs) -> Result<()> {
    args.outputs.iter().try_for_each(|path| match is_tables(path) {
        true => check_target(path).map_err(Failure::from),
        false => of_file(path).map(drop),
    })?;
    args.format.as_deref().map_or(Ok(()), |name| named(name).map(drop))
}

pub(crate) struct ReportOutput<'a> {
    pub(crate) report: &'a ReportV1,
    pub(crate) name: Option<String>,
    pub(crate) run: Option<RunReference>,
    pub(crate) from: Option<(&'a LoadedSuite, &'a [Trial])>,
    /// Earlier reports, oldest first.
    pub(crate) earlier: Vec<EarlierReport>,
    /// Where tables come from; default: the report and the trials above.
    pub(crate) tables: Option<TableSource<'a>>,
}

/// Where the rows of tables come from.
pub(crate) enum TableSource<'a> {
    Input(TablesInput<'a>),
    /// They were written while cases were scored.
    Scored(Vec<CaseTables>, &'a Scoring),
}

impl TableSource<'_> {
    fn write(&mut self, folder: &Path) -> Result<()> {
        match self {
            Self::Input(input) => input.write(folder)?,
            Self::Scored(written, scoring) => {
                let Some(at) = written.iter().position(|tables| tables.folder() == folder) else { return Ok(()) };
                written.remove(at).finish(scoring)?
            }
        };
        Ok(())
    }
}

impl<'a> ReportOutput<'a> {
    pub(crate) fn new(report: &'a ReportV1, loaded: &'a LoadedSuite, trials: &'a [Trial]) -> Self {
        Self { report, name: None, run: None, from: Some((loaded, trials)), earlier: Vec::new(), tables: None }
    }

    pub(crate) fn of_scoring(scoring: &'a Scoring, loaded: &'a LoadedSuite, run: Option<&'a RunFacts>) -> Self {
        let tables = Some(TableSource::Input(TablesInput::of_scoring(scoring, run)));
        Self { tables, ..Self::new(&scoring.report, loaded, &scoring.trials) }
    }
}

/// Whether a requested format needs more than the report.
pub(crate) fn shows_more(args: &OutputArgs) -> bool {
    let more = |format: &Format| matches!(format.draw, Draw::View(_));
    args.format.as_deref().and_then(format).is_some_and(more)
        || args.outputs.iter().flat_map(|path| of_file(path)).any(more)
}

/// Whether a folder of tables is requested.
pub(crate) fn writes_tables(args: &OutputArgs) -> bool {
    args.outputs.iter().any(|path| is_tables(path))
}

/// The requested folders of tables.
pub(crate) fn case_tables(args: &OutputArgs) -> Vec<CaseTables> {
    args.outputs.iter().filter(|path| is_tables(path)).cloned().map(CaseTables::new).collect()
}

fn is_tables(path: &Path) -> bool {
    extension(path) == EXTENSION
}

/// Prints the report, then writes the files, so that an unwritable file does not lose the result.
pub(crate) fn write(shown: ReportOutput<'_>, args: &OutputArgs) -> Result<Exit> {
    let (view, tables) = gather_view(shown, args);
    let name = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    // Standard output may be closed; the files are written all the same.
    let printed = print(&named(name)?.render(&view, &look()));
    save_view(&view, tables, args)?;
    printed
}

/// Writes the report's files and prints nothing.
pub(crate) fn save_report(shown: ReportOutput<'_>, args: &OutputArgs) -> Result<()> {
    let (view, tables) = gather_view(shown, args);
    save_view(&view, tables, args)
}

fn gather_view<'a>(shown: ReportOutput<'a>, args: &OutputArgs) -> (ReportView<'a>, TableSource<'a>) {
    let ReportOutput { report, name, run, from, earlier, tables } = shown;
    let of_report = || TableSource::Input(TablesInput::of_report(report, from.map_or(&[], |(_, trials)| trials)));
    let tables = tables.unwrap_or_else(of_report);
    let view = if shows_more(args) {
        let sources = from.map(|(loaded, trials)| Sources { suite: &loaded.suite, trials, code: loaded });
        ReportView { name, run, ..gather(report, earlier, sources) }
    } else {
        ReportView::new(report)
    };
    (view, tables)
}

fn save_view(view: &ReportView<'_>, mut tables: TableSource<'_>, args: &OutputArgs) -> Result<()> {
    for path in &args.outputs {
        if is_tables(path) {
            tables.write(path)?;
            print_written(path);
            continue;
        }
        match of_file(path)? {
            // It may be large, and need not be in memory a second time.
            format if format.name == "json" => save_with(path, &mut |out| write_json(view.report, out))?,
            format => save(path, format.render(view, &PLAIN).as_bytes())?,
        }
        print_written(path);
    }
    Ok(())
}

/// Appends the Markdown report to GITHUB_STEP_SUMMARY, if set.
pub(crate) fn step_summary(report: &ReportV1) -> Result<()> {
    let markdown = named("markdown")?;
    add_to_summary(&|| markdown.render(&ReportView::new(report), &PLAIN))
}

pub(crate) fn add_to_summary(draw: &dyn Fn() -> String) -> Result<()> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let text = draw();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let result = file.and_then(|mut file| file.write_all(text.as_bytes()));
    result.map_err(|error| Failure::unwritten(format!("{} (GITHUB_STEP_SUMMARY)", Path::new(&path).display()), error))
}

fn of_file(path: &Path) -> Result<&'static Format> {
    format(&extension(path)).ok_or_else(|| {
        let mut known: Vec<String> = FORMATS.iter().map(|f| format!(".{} ({})", f.extension, f.name)).collect();
        known.push(format!(".{EXTENSION} (a folder of tables)"));
        Failure::usage(format!("{}: unknown extension; expected {}", path.display(), known.join(", ")))
    })
}

fn named(name: &str) -> Result<&'static Format> {
    format(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        Failure::usage(format!("unknown format `{name}`; expected {}", known.join(", ")))
    })
}

/// Whether only the table is printed, so that a person reads it and suggestions help.
pub(crate) fn is_table_only(args: &OutputArgs) -> bool {
    !args.json && args.format.as_deref().is_none_or(|name| name == "table") && args.outputs.is_empty()
}

/// The command that explains the case on which the best tool did worst; `flags` name where it is.
pub(crate) fn explain_command(report: &ReportV1, flags: &str) -> Option<String> {
    let (tool, case) = worst_case(report)?;
    Some(format!("karat explain {} --tool {}{flags}", word(case), word(tool)))
}

/// The case on which the best tool did worst, as (tool, case id).
fn worst_case(report: &ReportV1) -> Option<(&str, &str)> {
    let tool = ranked(report).into_iter().next()?;
    // A clean case has no F1; `clean_pass` takes its place.
    let value = |case: &CaseResultV1, id: &str| case.value(id);
    let goodness = |case| value(case, "f1").or_else(|| value(case, "clean_pass"));
    let worst = tool.cases.iter().filter_map(|case| Some((goodness(case)?, case.case.as_str())));
    let (_, case) = worst.min_by(|a, b| a.0.total_cmp(&b.0))?;
    Some((&tool.tool, case))
}
