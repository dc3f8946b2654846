//! Reports to standard output and to files.

use crate::args::OutputArgs;
use crate::exit::Failure;
use crate::terminal::{look, print, tell};
use karat::exhibit::gather;
use karat::suite::LoadedSuite;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::trial::Trial;
use karat_format::diagnostic::harmless;
use karat_format::report::ReportV1;
use karat_io::atomic_write;
use karat_report::report_view::{EarlierReport, ReportView, Sources};
use karat_report::{Draw, FORMATS, Format, TerminalStyle, format};
use std::io::Write;
use std::path::Path;

/// The formats of all files asked for; an unknown one is refused before any work is done.
pub(crate) fn check(args: &OutputArgs) -> Result<(), Failure> {
    args.outputs.iter().try_for_each(|path| of_file(path).map(|_| ()))?;
    args.format.as_deref().map_or(Ok(()), |name| named(name).map(|_| ()))
}

/// A report, and what is at hand to show beside it.
pub(crate) struct Shown<'a> {
    /// The report.
    pub(crate) report: &'a ReportV1,
    /// What people call it, where it has a name.
    pub(crate) name: Option<String>,
    /// The suite and the trials that it is about, where they are at hand.
    pub(crate) from: Option<(&'a LoadedSuite, &'a [Trial])>,
    /// Reports of what came before, oldest first.
    pub(crate) earlier: Vec<EarlierReport>,
}

impl<'a> Shown<'a> {
    /// A report and all that it was made from.
    pub(crate) fn of(report: &'a ReportV1, loaded: &'a LoadedSuite, trials: &'a [Trial]) -> Self {
        Self { report, name: None, from: Some((loaded, trials)), earlier: Vec::new() }
    }
}

/// Whether any of what is asked for shows more than the report.
pub(crate) fn shows_more(args: &OutputArgs) -> bool {
    let more = |format: &Format| matches!(format.draw, Draw::View(_));
    args.format.as_deref().and_then(format).is_some_and(more)
        || args.outputs.iter().flat_map(|path| of_file(path)).any(more)
}

/// Prints the report, then writes the files: a file that cannot be written does not cost the result.
pub(crate) fn write(shown: Shown<'_>, args: &OutputArgs) -> Result<(), Failure> {
    let Shown { report, name, from, earlier } = shown;
    let code = |case: &CaseId, path: &RepoPath| from.and_then(|(loaded, _)| loaded.source(case, path));
    let exhibit = if shows_more(args) {
        let sources = from.map(|(loaded, trials)| Sources { suite: &loaded.suite, trials, code: &code });
        ReportView { name, ..gather(report, earlier, sources) }
    } else {
        ReportView::new(report)
    };
    let name = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    // Whoever reads the output may go away, and files must not be lost with them.
    let printed = print(&named(name)?.render(&exhibit, &look()));
    for path in &args.outputs {
        let text = of_file(path)?.render(&exhibit, &TerminalStyle { width: 100, colour: false });
        atomic_write::write(path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
        tell(&harmless(&format!("wrote {}", path.display())));
    }
    printed
}

/// Adds the Markdown to the step summary of a CI that asks for one.
pub(crate) fn step_summary(report: &ReportV1) -> Result<(), Failure> {
    let markdown = named("markdown")?;
    add_to_summary(&|| markdown.render(&ReportView::new(report), &TerminalStyle { width: 100, colour: false }))
}

/// Adds any Markdown to the step summary of a CI that asks for one.
pub(crate) fn add_to_summary(draw: &dyn Fn() -> String) -> Result<(), Failure> {
    let Some(path) = std::env::var_os("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()) else { return Ok(()) };
    let text = draw();
    let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
    let result = file.and_then(|mut file| file.write_all(text.as_bytes()));
    result.map_err(|error| Failure::unwritten(format!("{} (GITHUB_STEP_SUMMARY)", Path::new(&path).display()), error))
}

fn of_file(path: &Path) -> Result<&'static Format, Failure> {
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    format(&extension).ok_or_else(|| {
        let known: Vec<String> = FORMATS.iter().map(|f| format!(".{} ({})", f.extension, f.name)).collect();
        Failure::usage(format!("{}: the extension says no format; there are {}", path.display(), known.join(", ")))
    })
}

fn named(name: &str) -> Result<&'static Format, Failure> {
    format(name).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.name).collect();
        Failure::usage(format!("there is no format `{name}`; there are {}", known.join(", ")))
    })
}
