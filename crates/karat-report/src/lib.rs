//! Renders reports, comparisons, gates and assessments. Nothing here calls a judge or starts a tool.

pub mod assessment;
pub mod build;
pub mod compare;
pub mod csv;
pub mod explain;
mod facts;
pub mod fix;
pub mod gate;
pub mod grid;
pub mod html;
pub mod judge_licence;
pub mod junit;
pub mod logs;
pub mod markdown;
pub mod number;
pub mod page;
pub mod plot;
pub mod power;
mod reason;
mod refused;
pub mod report_view;
pub mod sarif;
mod screen;
pub mod table;
mod terminal;

pub use facts::label_command;
pub use terminal::{RED, TerminalStyle, Verbosity};

use karat_format::report::ReportV1;
use report_view::ReportView;
use std::io::{self, Write as _};

/// An output format for reports.
#[expect(missing_docs, reason = "field names say it")]
pub struct Format {
    pub name: &'static str,
    pub extension: &'static str,
    pub description: &'static str,
    pub draw: Draw,
}

/// What a format is rendered from.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Draw {
    Report(fn(&ReportV1, &TerminalStyle) -> String),
    View(fn(&ReportView<'_>, &TerminalStyle) -> String),
}

impl Format {
    const fn new(name: &'static str, extension: &'static str, description: &'static str, draw: Draw) -> Self {
        Self { name, extension, description, draw }
    }

    /// Renders a report.
    pub fn render(&self, view: &ReportView<'_>, terminal: &TerminalStyle) -> String {
        match self.draw {
            Draw::Report(draw) => draw(view.report, terminal),
            Draw::View(draw) => draw(view, terminal),
        }
    }
}

/// All formats, in listing order.
pub static FORMATS: &[Format] = &[
    Format::new("table", "txt", "text for a terminal", Draw::Report(table::draw)),
    Format::new(
        "json",
        "json",
        "the complete report, from which all others are drawn",
        Draw::Report(|report, _| report_json(report)),
    ),
    Format::new("markdown", "md", "a table for a pull request or a step summary", Draw::Report(markdown::draw)),
    Format::new("html", "html", "one self-contained page", Draw::View(html::draw)),
    Format::new("csv", "csv", "one row for each tool, slice and metric", Draw::Report(csv::draw)),
    Format::new("junit", "xml", "one test for each tool and case", Draw::Report(junit::draw)),
    Format::new("sarif", "sarif", "every finding and miss with its verdict", Draw::Report(sarif::draw)),
];

/// Finds a format by name or file extension.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.extension == name)
}

fn report_json(report: &ReportV1) -> String {
    let mut bytes = Vec::new();
    // Writing to memory cannot fail.
    let _ = write_json(report, &mut bytes);
    String::from_utf8(bytes).unwrap_or_default()
}

/// Writes a report as JSON, as the format of that name has it. One that is to be small is written without spaces.
pub fn write_json(report: &ReportV1, out: &mut dyn io::Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    match report.detail.is_all() {
        true => serde_json::to_writer_pretty(&mut out, report)?,
        false => serde_json::to_writer(&mut out, report)?,
    }
    out.write_all(b"\n")?;
    out.flush()
}

fn pretty_json(value: &impl serde::Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
