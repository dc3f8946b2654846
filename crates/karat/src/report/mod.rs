//! Reports: one value, many drawings. Nothing here calls a judge or starts a tool.

pub mod assessment;
pub mod build;
pub mod clusters;
pub mod compare;
pub mod csv;
pub mod exhibit;
pub mod explain;
pub mod gate;
pub mod grid;
pub mod html;
pub mod json;
pub mod judges;
pub mod junit;
pub mod logs;
pub mod markdown;
pub mod number;
pub mod page;
pub mod plot;
pub mod power;
mod reason;
pub mod sarif;
pub mod slice_order;
pub mod table;
pub mod trial_spread;

use crate::format::report::ReportV1;
use exhibit::Exhibit;

/// A format a report can be drawn in.
pub struct Format {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The file extension that means it.
    pub extension: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Draws it.
    pub draw: Draw,
}

/// What a format is drawn from.
#[derive(Clone, Copy)]
pub enum Draw {
    /// The report alone.
    Report(fn(&ReportV1, &Look) -> String),
    /// The report, and what can be shown beside it.
    Exhibit(fn(&Exhibit<'_>, &Look) -> String),
}

impl Format {
    /// The drawing.
    pub fn drawn(&self, exhibit: &Exhibit<'_>, look: &Look) -> String {
        match self.draw {
            Draw::Report(draw) => draw(exhibit.report, look),
            Draw::Exhibit(draw) => draw(exhibit, look),
        }
    }
}

/// How a drawing may look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Columns at hand.
    pub width: usize,
    /// Whether colours are wanted.
    pub colour: bool,
}

/// All formats, in the order in which they are listed.
pub static FORMATS: &[Format] = &[
    Format {
        name: "table",
        extension: "txt",
        description: "for people at a terminal",
        draw: Draw::Report(table::draw),
    },
    Format {
        name: "json",
        extension: "json",
        description: "the whole report, the source of all others",
        draw: Draw::Report(json::draw),
    },
    Format {
        name: "markdown",
        extension: "md",
        description: "for a pull request or a step summary",
        draw: Draw::Report(markdown::draw),
    },
    Format {
        name: "html",
        extension: "html",
        description: "one page to look at and send around",
        draw: Draw::Exhibit(html::draw),
    },
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

/// The format of that name or file extension.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.extension == name)
}
