//! Reports to standard output and to files.

use crate::args::OutputArgs;
use crate::exit::Failure;
use crate::terminal::{look, print, tell};
use karat::diagnostic::harmless;
use karat::format::report::ReportV1;
use karat::report::{FORMATS, Format, Look, format};
use karat::whole_file;
use std::io::Write;
use std::path::Path;

/// The formats of all files asked for; an unknown one is refused before any work is done.
pub(crate) fn check(args: &OutputArgs) -> Result<(), Failure> {
    args.outputs.iter().try_for_each(|path| of_file(path).map(|_| ()))?;
    args.format.as_deref().map_or(Ok(()), |name| named(name).map(|_| ()))
}

/// Prints the report, then writes the files: a file that cannot be written does not cost the result.
pub(crate) fn write(report: &ReportV1, args: &OutputArgs) -> Result<(), Failure> {
    let name = if args.json { "json" } else { args.format.as_deref().unwrap_or("table") };
    // Whoever reads the output may go away, and files must not be lost with them.
    let printed = print(&(named(name)?.draw)(report, &look()));
    for path in &args.outputs {
        let format = of_file(path)?;
        let text = (format.draw)(report, &Look { width: 100, colour: false });
        whole_file::write(path, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(path.display(), error))?;
        tell(&harmless(&format!("wrote {}", path.display())));
    }
    printed
}

/// Adds the Markdown to the step summary of a CI that asks for one.
pub(crate) fn step_summary(report: &ReportV1) -> Result<(), Failure> {
    let draw = named("markdown")?.draw;
    add_to_summary(&|| draw(report, &Look { width: 100, colour: false }))
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
