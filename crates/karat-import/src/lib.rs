//! Importers convert the output of other programs into findings, cases and judgements.
//!
//! One importer is one file and one line in [`IMPORTERS`]. An importer streams its input into [`ImportedData`] and knows nothing
//! of suites: [`placement`] assigns findings to cases afterwards.

mod bandit;
mod code_review_bench;
mod csv;
pub mod cwe;
mod delimited;
mod eslint;
mod eval_spec;
mod github_review;
pub mod import_files;
pub mod input;
pub mod json;
mod line;
mod note_counter;
mod owasp;
pub mod placement;
mod rdjson;
mod review_text;
pub mod rule_map;
pub mod sarif;
mod scan_findings;
mod semgrep;
pub mod severity;
mod slither;
#[cfg(test)]
mod testing;

use karat_core::finding::Finding;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::path::RepoPath;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::plain_id;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// A format that can be imported.
pub struct Importer {
    /// The name on the command line, as in `--from sarif`.
    pub name: &'static str,
    /// One sentence about the format.
    pub description: &'static str,
    /// Imports one input. Called once for each file, in the order given.
    pub import: fn(Input<'_>, &mut ImportedData) -> Result<(), ImportError>,
    /// Called once after the last file, by formats whose files only make sense together.
    pub finish: Option<Finish>,
    /// The default profile of a suite made from this format.
    pub suite_profile: &'static str,
}

/// Runs once all files are read.
pub type Finish = fn(&mut ImportedData) -> Result<(), ImportError>;

/// All importers, in the order in which they are listed.
pub static IMPORTERS: &[Importer] = &[
    sarif::IMPORTER,
    semgrep::IMPORTER,
    bandit::IMPORTER,
    eslint::IMPORTER,
    slither::IMPORTER,
    rdjson::IMPORTER,
    rdjson::LINES_IMPORTER,
    github_review::IMPORTER,
    review_text::IMPORTER,
    code_review_bench::IMPORTER,
    scan_findings::IMPORTER,
    eval_spec::IMPORTER,
    owasp::IMPORTER,
    csv::IMPORTER,
];

/// The importer with this name.
pub fn importer(name: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.name == name)
}

/// One file to import: decompressed, decoded to UTF-8, and guarded against oversized content.
pub struct Input<'a> {
    /// The path as the user gave it, for messages and for formats that distinguish files by name.
    pub path: &'a Path,
    /// The text, streamed.
    pub reader: Box<dyn Read + 'a>,
    /// The code that findings are about, for tools that report offsets only.
    pub sources: Sources<'a>,
}

/// Returns the text of a file, if available.
pub type Sources<'a> = &'a dyn Fn(&RepoPath) -> Option<String>;

/// What was imported, from all files together.
#[derive(Debug, Default)]
pub struct ImportedData {
    /// Findings that still have to be assigned to a case and a trial.
    pub findings: Vec<ReportedFinding>,
    /// Complete trials, from formats that name case, tool and trial.
    pub trials: Vec<Trial>,
    /// Cases, from formats that carry goldens.
    pub cases: Vec<Case>,
    /// Judgements, from formats that carry decisions.
    pub judgements: Vec<Judgement>,
    /// Tools that ran; one without findings found nothing.
    pub tools: Vec<ToolName>,
    /// Failures that tools reported.
    pub failures: Vec<ToolFailure>,
    /// Notes for the user; nothing is left out silently.
    pub notes: Vec<String>,
    /// The state of one format until all its files are read.
    code_review_bench: code_review_bench::Collected,
}

impl ImportedData {
    /// Adds tools that ran, without duplicates.
    pub fn add_tools(&mut self, tools: impl IntoIterator<Item = ToolName>) {
        // A file may name very many tools, so a linear search would be too slow.
        let mut known: BTreeSet<ToolName> = self.tools.iter().cloned().collect();
        self.tools.extend(tools.into_iter().filter(|tool| known.insert(tool.clone())));
    }
}

/// The name of a tool in a file, made valid for a submission; `None` when it is blank.
fn tool_name(name: &str) -> Option<ToolName> {
    plain_id(name).map(ToolName::new)
}

/// A finding that has no case yet.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportedFinding {
    /// The tool, if the format names it.
    pub tool: Option<ToolName>,
    /// The case, if the format names it.
    pub case: Option<CaseId>,
    /// The finding; it gets its id when it is placed.
    pub finding: Finding,
}

/// A complete or partial failure that a tool reported.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// The tool, if the format names it.
    pub tool: Option<ToolName>,
    /// The file it failed on, if known.
    pub file: Option<String>,
    /// Its message.
    pub message: String,
    /// Whether the whole execution failed, so that its trials cannot count as reported.
    pub fatal: bool,
}

/// An input that could not be read. Nothing of it is imported.
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

/// The most results, rows or documents in one file. Each may take far more memory than bytes in the file.
const MAX_RESULTS: usize = 1_000_000;

fn check_count(most: usize, count: usize) -> Result<(), String> {
    if count <= most { Ok(()) } else { Err(format!("there are more than {most} results in one file; split it")) }
}

fn position(line: usize, column: usize) -> String {
    if line == 0 { String::new() } else { format!(":{line}:{column}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::PathBuf;

    fn fixtures(importer: &Importer) -> Vec<PathBuf> {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(importer.name)];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                if entry.path().is_dir() { folders.push(entry.path()) } else { files.push(entry.path()) }
            }
        }
        files.sort();
        files
    }

    #[test]
    fn every_importer_is_described_and_has_a_fixture() {
        let mut names = BTreeSet::new();
        for one in IMPORTERS {
            assert!(names.insert(one.name), "{} is listed twice", one.name);
            assert!(!one.description.is_empty(), "{} has no description", one.name);
            assert!(!fixtures(one).is_empty(), "{} has no fixture", one.name);
            assert_eq!(importer(one.name).map(|found| found.name), Some(one.name));
        }
        assert!(importer("no such format").is_none());
    }

    #[test]
    fn damaged_inputs_do_not_panic() {
        let all: Vec<Vec<u8>> =
            IMPORTERS.iter().flat_map(fixtures).filter_map(|path| std::fs::read(path).ok()).collect();
        let try_all = |bytes: &[u8]| {
            for one in IMPORTERS {
                let mut data = ImportedData::default();
                let input = input::from_reader(Path::new("damaged"), Box::new(bytes));
                if input.and_then(|input| (one.import)(input, &mut data)).is_ok() {
                    let _ = one.finish.map(|finish| finish(&mut data));
                }
            }
        };
        for bytes in &all {
            let step = (bytes.len() / 40).max(1);
            for cut in (0..=bytes.len()).step_by(step) {
                try_all(&bytes[..cut]);
                let mut damaged = bytes.clone();
                for byte in damaged.iter_mut().skip(cut).take(1) {
                    *byte = b"\0\"{}[],:-9\xff"[cut % 11];
                }
                try_all(&damaged);
            }
        }
    }
}
