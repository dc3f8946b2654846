//! Reports: one value, many drawings. Nothing here calls a judge or starts a tool.

pub mod assessment;
pub mod build;
pub mod compare;
pub mod csv;
pub mod exhibit;
pub mod explain;
pub mod gate;
pub mod grid;
pub mod json;
pub mod judges;
pub mod junit;
pub mod logs;
pub mod markdown;
pub mod number;
pub mod page;
pub mod plot;
pub mod power;
pub mod sarif;
pub mod table;

use crate::format::report::ReportV1;

/// A format a report can be drawn in.
pub struct Format {
    /// The name it is asked for by.
    pub name: &'static str,
    /// The file extension that means it.
    pub extension: &'static str,
    /// What it is for.
    pub description: &'static str,
    /// Draws it.
    pub draw: fn(&ReportV1, &Look) -> String,
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
    Format { name: "table", extension: "txt", description: "for people at a terminal", draw: table::draw },
    Format {
        name: "json",
        extension: "json",
        description: "the whole report, the source of all others",
        draw: json::draw,
    },
    Format {
        name: "markdown",
        extension: "md",
        description: "for a pull request or a step summary",
        draw: markdown::draw,
    },
    Format { name: "csv", extension: "csv", description: "one row for each tool, slice and metric", draw: csv::draw },
    Format { name: "junit", extension: "xml", description: "one test for each tool and case", draw: junit::draw },
    Format {
        name: "sarif",
        extension: "sarif",
        description: "every finding and miss with its verdict",
        draw: sarif::draw,
    },
];

/// The format of that name or file extension.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name || format.extension == name)
}
