//! Importers: what other programs write becomes findings, cases and judgements.
//!
//! One importer is one file and one line in [`IMPORTERS`]. An importer reads its input as a stream, says what it saw into a
//! [`Harvest`], and knows nothing of suites: [`placement`] puts findings to cases afterwards.

mod bandit;
mod code_review_bench;
mod csv;
pub mod cwe;
mod delimited;
pub mod drive;
mod eslint;
mod eval_spec;
mod github_review;
pub mod input;
pub mod json;
mod line;
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
mod tally;
#[cfg(test)]
mod testing;

use crate::format::plain_id;
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::path::RepoPath;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use std::collections::BTreeSet;
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
    /// Called once after the last file, by formats whose files only make sense together.
    pub finish: Option<Finish>,
    /// The profile that a suite made from this format is scored by, where nobody says otherwise.
    pub suite_profile: &'static str,
}

/// What an importer does once all files are read.
pub type Finish = fn(&mut Harvest) -> Result<(), ImportError>;

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
    /// The code that findings are about, for tools that say places as offsets only.
    pub sources: Sources<'a>,
}

/// Gives the text of a file, where it is at hand.
pub type Sources<'a> = &'a dyn Fn(&RepoPath) -> Option<String>;

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
    /// What one format keeps until all its files are read.
    code_review_bench: code_review_bench::Collected,
}

impl Harvest {
    /// Says that tools ran; those named before are not named again.
    pub fn ran(&mut self, tools: impl IntoIterator<Item = ToolName>) {
        // A file may name very many tools, so they are not looked for one by one.
        let mut known: BTreeSet<ToolName> = self.tools.iter().cloned().collect();
        self.tools.extend(tools.into_iter().filter(|tool| known.insert(tool.clone())));
    }
}

/// A tool by the name a file gives it, made fit to stand in a submission; `None` when it is blank.
fn tool_name(name: &str) -> Option<ToolName> {
    plain_id(name).map(ToolName::new)
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

/// So many results, rows or documents are taken from one file. Each takes up far more memory than a file need have bytes for it.
const MOST_RESULTS: usize = 1_000_000;

fn refuse_more_than(most: usize, count: usize) -> Result<(), String> {
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

    /// Cut and damaged files are refused or read, whatever the format they are taken for; none ends the program.
    #[test]
    fn damaged_inputs_are_survived() {
        let all: Vec<Vec<u8>> =
            IMPORTERS.iter().flat_map(fixtures).filter_map(|path| std::fs::read(path).ok()).collect();
        let try_all = |bytes: &[u8]| {
            for one in IMPORTERS {
                let mut harvest = Harvest::default();
                let input = input::from_reader(Path::new("damaged"), Box::new(bytes));
                if input.and_then(|input| (one.import)(input, &mut harvest)).is_ok() {
                    let _ = one.finish.map(|finish| finish(&mut harvest));
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
