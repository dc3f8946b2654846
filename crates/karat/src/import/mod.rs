//! Importers: what other programs write becomes findings, cases and judgements.
//!
//! One importer is one file and one line in [`IMPORTERS`]. An importer reads its input as a stream, says what it saw into a
//! [`Harvest`], and knows nothing of suites: [`placement`] puts findings to cases afterwards.

pub mod input;
pub mod json;
pub mod placement;
pub mod rule_map;
pub mod sarif;

use karat_core::finding::Finding;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use std::io::Read;
use std::path::Path;

/// A format that can be imported.
pub struct Importer {
    /// The name it is asked for by, as in `--from sarif`.
    pub name: &'static str,
    /// What the format is, in one sentence.
    pub description: &'static str,
    /// Reads one input into the harvest. Called once for each file, in the order given.
    pub import: fn(Input<'_>, &mut Harvest) -> Result<(), ImportError>,
}

/// All importers, in the order in which they are listed.
pub static IMPORTERS: &[Importer] = &[sarif::IMPORTER];

/// The importer of that name.
pub fn importer(name: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.name == name)
}

/// One file to import: decompressed, decoded to UTF-8, and guarded against endless strings.
pub struct Input<'a> {
    /// The path as the user gave it, for messages and for formats that tell files apart by name.
    pub path: &'a Path,
    /// The text, streamed.
    pub reader: Box<dyn Read + 'a>,
}

/// What importers saw.
#[derive(Debug, Default)]
pub struct Harvest {
    /// Findings that still need a case, and a trial to lie in.
    pub findings: Vec<Reported>,
    /// Whole trials, from formats that know case, tool and trial themselves.
    pub trials: Vec<Trial>,
    /// Cases, from formats that carry goldens.
    pub cases: Vec<Case>,
    /// Judgements, from formats that carry decisions.
    pub judgements: Vec<Judgement>,
    /// Tools that ran and reported, perhaps nothing; a tool named here without findings found nothing.
    pub tools: Vec<ToolName>,
    /// Ways in which a tool did not do its whole work.
    pub failures: Vec<ToolFailure>,
    /// Things a person should know; nothing is left out silently.
    pub notes: Vec<String>,
}

/// A finding on its way to a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Reported {
    /// The tool, where the format names it.
    pub tool: Option<ToolName>,
    /// The case, where the format names it.
    pub case: Option<CaseId>,
    /// The finding; its id is given when it is placed.
    pub finding: Finding,
}

/// A tool said that it failed, wholly or in part.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The tool, where the format names it.
    pub tool: Option<ToolName>,
    /// The file it failed on, where it says so.
    pub file: Option<String>,
    /// What it said.
    pub message: String,
    /// Whether the whole execution failed, so that its trials cannot count as reported.
    pub fatal: bool,
}

/// An input that could not be read. Nothing of it is taken.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file could not be read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The text is not what the format says.
    #[error("{path}{}: {message}", position(*.line, *.column))]
    Malformed {
        /// The file.
        path: String,
        /// The line, counted from 1; 0 where it is not known.
        line: usize,
        /// The column, counted from 1; 0 where it is not known.
        column: usize,
        /// What was seen, what was expected, and what to do.
        message: String,
    },
}

fn position(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(":{line}:{column}") }
}
