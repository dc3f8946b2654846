//! Writes reports to standard output and files.

use crate::args::OutputArgs;
use crate::exit::Failure;
use crate::output_files::{PLAIN, extension, save, tell_written};
use crate::terminal::{look, print};
use karat::report_view::gather;
use karat::suite::LoadedSuite;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::trial::Trial;
use karat_format::report::ReportV1;
use karat_report::report_view::{EarlierReport, ReportView, Sources};
use karat_report::{Draw, FORMATS, Format, format};
use std::io::Write;
use std::path::Path;

/// Refuses an unknown output format before any work is done.
pub(crate) fn check(args: &OutputArgs) -> Result<(), Failure> {
    args.outputs.iter().try_for_each(|path| of_file(path).map(|_| ()))?;
    args.format.as_deref().map_or(Ok(()), |name| named(name).map(|_| ()))
}

/// A report with its sources and history.
pub(crate) struct ReportOutput<'a> {
    pub(crate) report: &'a ReportV1,
    /// The run's name, if it has one.
    pub(crate) name: Option<String>,
    /// The suite and the trials of the report, if available.
    pub(crate) from: Option<(&'a LoadedSuite, &'a [Trial])>,
    /// Earlier reports, oldest first.
    pub(crate) earlier: Vec<EarlierReport>,
}

impl<'a> ReportOutput<'a> {
    /// A report with the suite and trials it was made from.
    pub(crate) fn new(report: &'a ReportV1, loaded: &'a LoadedSuite, trials: &'a [Trial]) -> Self {
        Self { report, name: None, from: Some((loaded, trials)), earlier: Vec::new() }
    }
}

/// Whether a requested format needs more than the report.
pub(crate) fn shows_more(args: &OutputArgs) -> bool {
    let more = |format: &Format| matches!(format.draw, Draw::View(_));
    args.format.as_deref().and_then(format).is_some_and(more)
        || args.outputs.iter().flat_map(|path| of_file(path)).any(more)
}

/// Prints the report, then writes the files, so that an unwritable file does not lose the result.
pub(crate) fn write(shown: ReportOutput<'_>, args: &OutputArgs) -> Result<(), Failure> {
    let ReportOutput { report, name, from, earlier } = shown;
    let code = |case: &CaseId, path: &RepoPath| from.and_then(|(loaded, _)| loaded.source(case, path));
    let view = if shows_more(args) {
        let sources = from.map(|(loaded, trials)| Sources { suite: &loaded.suite, trials, code: &code });
        ReportView { name, ..gather(report, earlier, sources) }
    } else {
        ReportView::new(report)
    };
    let name = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    // Standard output may be closed; the files are written all the same.
    let printed = print(&named(name)?.render(&view, &look()));
    for path in &args.outputs {
        save(path, of_file(path)?.render(&view, &PLAIN).as_bytes())?;
        tell_written(path);
    }
    printed
}

/// Appends the Markdown report to GITHUB_STEP_SUMMARY, if set.
pub(crate) fn step_summary(report: &ReportV1) -> Result<(), Failure> {
    let markdown = named("markdown")?;
    add_to_summary(&|| markdown.render(&ReportView::new(report), &PLAIN))
}

/// Appends Markdown to GITHUB_STEP_SUMMARY, if set.
pub(crate) fn add_to_summary(draw: &dyn Fn() -> String) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let text = draw();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let result = file.and_then(|mut file| file.write_all(text.as_bytes()));
    result.map_err(|error| Failure::unwritten(format!("{} (GITHUB_STEP_SUMMARY)", Path::new(&path).display()), error))
}

fn of_file(path: &Path) -> Result<&'static Format, Failure> {
    format(&extension(path)).ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|f| format!(".{} ({})", f.extension, f.name)).collect();
        Failure::usage(format!("{}: unknown extension; expected {}", path.display(), known.join(", ")))
    })
}

fn named(name: &str) -> Result<&'static Format, Failure> {
    format(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        Failure::usage(format!("unknown format `{name}`; expected {}", known.join(", ")))
    })
}
