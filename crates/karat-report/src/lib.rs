//! Renders reports, comparisons, gates and assessments. Nothing here calls a judge or starts a tool.

pub mod assessment;
pub mod build;
pub mod clusters;
pub mod compare;
pub mod csv;
pub mod explain;
pub mod gate;
pub mod grid;
pub mod html;
pub mod judge_licence;
pub mod judges;
pub mod junit;
pub mod logs;
pub mod markdown;
pub mod number;
pub mod page;
pub mod plot;
pub mod power;
mod reason;
pub mod report_view;
pub mod sarif;
pub mod slice_order;
pub mod table;
mod terminal;
pub mod trial_spread;

pub use terminal::TerminalStyle;

use karat_format::report::ReportV1;
use report_view::ReportView;

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
pub enum Draw {
    /// The report alone.
    Report(fn(&ReportV1, &TerminalStyle) -> String),
    /// The report with its surrounding data.
    View(fn(&ReportView<'_>, &TerminalStyle) -> String),
}

impl Format {
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
    Format { name: "table", extension: "txt", description: "text for a terminal", draw: Draw::Report(table::draw) },
    Format {
        name: "json",
        extension: "json",
        description: "the complete report, from which all others are drawn",
        draw: Draw::Report(draw_json),
    },
    Format {
        name: "markdown",
        extension: "md",
        description: "a table for a pull request or a step summary",
        draw: Draw::Report(markdown::draw),
    },
    Format { name: "html", extension: "html", description: "one self-contained page", draw: Draw::View(html::draw) },
    Format {
        name: "csv",
        extension: "csv",
        description: "one row for each tool, slice and metric",
        draw: Draw::Report(csv::draw),
    },
    Format {
        name: "junit",
        extension: "xml",
        description: "one test for each tool and case",
        draw: Draw::Report(junit::draw),
    },
    Format {
        name: "sarif",
        extension: "sarif",
        description: "every finding and miss with its verdict",
        draw: Draw::Report(sarif::draw),
    },
];

/// Finds a format by name or file extension.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.extension == name)
}

/// Pretty JSON with a final newline; a report always serialises.
fn draw_json(report: &ReportV1, _: &TerminalStyle) -> String {
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}
