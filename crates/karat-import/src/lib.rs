//! Importers convert the output of other programs into findings, cases and judgements.
//!
//! One importer is one file and one line in [`IMPORTERS`]. An importer streams its input into [`ImportedData`] and knows nothing
//! of suites: [`placement`] assigns findings to cases afterwards.

mod bandit;
mod code_review_bench;
mod csv;
mod cwe;
mod delimited;
mod eslint;
mod eval_spec;
mod fields;
mod github_review;
pub mod import_files;
pub mod input;
mod json;
mod note_counter;
mod owasp;
pub mod placement;
mod rdjson;
mod review_text;
pub mod rule_map;
pub mod sarif;
pub mod scan_findings;
mod semgrep;
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
use note_counter::NoteCounter;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::Path;

/// A format that can be imported.
#[expect(missing_docs, reason = "field names say it")]
pub struct Importer {
    pub name: &'static str,
    pub description: &'static str,
    import: Import,
    /// Called once after the last file, by formats whose files only make sense together.
    finish: fn(&mut ImportedData),
    /// The default profile of a suite made from this format.
    pub suite_profile: &'static str,
}

type Import = fn(Input<'_>, &mut ImportedData) -> Result<(), ImportError>;

/// All importers, in the order in which they are listed.
pub static IMPORTERS: &[Importer] = &[
    Importer::new(
        "sarif",
        "SARIF 2.1.0, plain or gzipped: CodeQL, Semgrep, Bandit, ESLint, Trivy, Slither and most other scanners",
        sarif::import,
    ),
    Importer::new("semgrep", "Semgrep JSON (semgrep --json); its errors are reported as failures", semgrep::import),
    Importer::new(
        "bandit",
        "Bandit JSON (bandit -f json); files it could not read are reported as failures",
        bandit::import,
    ),
    Importer::new(
        "eslint",
        "ESLint JSON (eslint -f json); files it could not parse are reported as failures",
        eslint::import,
    ),
    Importer::new(
        "slither",
        "Slither JSON (slither --json); a run without success is reported as a failure",
        slither::import,
    ),
    Importer::new("rdjson", "reviewdog diagnostic format, one JSON document", rdjson::import),
    Importer::new("rdjsonl", "reviewdog diagnostic format, one JSON diagnostic a line", rdjson::import_lines),
    Importer::new(
        "github-review",
        "GitHub pull-request review comments (gh api --paginate repos/OWNER/REPO/pulls/N/comments)",
        github_review::import,
    ),
    Importer::new(
        "review-text",
        "A review in Markdown prose (PR-Agent, Shippie); text that names a file, preferably with a line, is a finding",
        review_text::import,
    ),
    Importer {
        finish: code_review_bench::finish,
        suite_profile: "recorded",
        ..Importer::new(
            "code-review-bench",
            "code-review-bench golden_comments/*.json, and candidates.json and evaluations.json of one judge",
            code_review_bench::import,
        )
    },
    Importer::new(
        "scan-findings",
        "scan findings with location and details.identityKeyV2, ruleId and anchorNodeId",
        scan_findings::import,
    ),
    Importer {
        suite_profile: "identity",
        ..Importer::new(
            "eval-spec",
            "eval expectations in groups: filepath, expectation, ruleId, identityKeyV2, anchorNodeId, startLine, endLine",
            eval_spec::import,
        )
    },
    Importer {
        suite_profile: "owasp",
        ..Importer::new(
            "owasp",
            "OWASP Benchmark expectedresults-*.csv: cases with a verdict, a category and a CWE, no goldens",
            owasp::import,
        )
    },
    Importer::new(
        "csv",
        "CSV with a header: case, tool, trial, id, rule_id, title, message, file, line_start, line_end, severity, \
         confidence, category, cwe, function",
        csv::import,
    ),
];

impl Importer {
    const fn new(name: &'static str, description: &'static str, import: Import) -> Self {
        Self { name, description, import, finish: |_| (), suite_profile: "karat" }
    }

    /// Imports one input; inputs come in the order given.
    pub fn read(&self, input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
        let path = input.path;
        let (findings, cases) = (data.findings.len(), data.cases.len());
        let (tools, failures) = (data.tools.len(), data.failures.len());
        let result = (self.import)(input, data);
        let lines = std::mem::take(&mut data.counter).into_lines();
        match result {
            Ok(()) => data.notes.extend(lines.iter().map(|line| format!("{}: {line}", input::display_path(path)))),
            Err(_) => {
                // Nothing of a file that cannot be read to its end is used.
                data.findings.truncate(findings);
                data.cases.truncate(cases);
                data.tools.truncate(tools);
                data.failures.truncate(failures);
            }
        }
        result
    }

    /// Completes the data after the last input.
    pub fn finish(&self, data: &mut ImportedData) {
        (self.finish)(data);
    }
}

/// The importer with this name.
pub fn importer(name: &str) -> Option<&'static Importer> {
    IMPORTERS.iter().find(|importer| importer.name == name)
}

/// One file to import: decompressed, decoded to UTF-8, and guarded against oversized content.
#[expect(missing_docs, reason = "field names say it")]
pub struct Input<'a> {
    /// The path as the user gave it, for messages and for formats that distinguish files by name.
    pub path: &'a Path,
    pub reader: Box<dyn Read + 'a>,
    /// The code that findings are about, for tools that report offsets only.
    pub sources: Sources<'a>,
}

/// Returns the text of a file, if available.
pub type Sources<'a> = &'a dyn Fn(&RepoPath) -> Option<String>;

/// What was imported, from all files together.
#[derive(Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ImportedData {
    /// Findings that still have to be assigned to a case and a trial.
    pub findings: Vec<ReportedFinding>,
    /// Complete trials, from formats that name case, tool and trial.
    pub trials: Vec<Trial>,
    pub cases: Vec<Case>,
    pub judgements: Vec<Judgement>,
    /// Tools that ran; one without findings found nothing.
    pub tools: Vec<ToolName>,
    pub failures: Vec<ToolFailure>,
    pub notes: Vec<String>,
    /// What was left out of the current file.
    counter: NoteCounter,
    /// The state of one format until all its files are read.
    code_review_bench: code_review_bench::Collected,
}

impl ImportedData {
    fn add_finding(&mut self, tool: Option<&ToolName>, finding: Finding) {
        self.findings.push(ReportedFinding { tool: tool.cloned(), case: None, finding });
    }

    fn add_tools(&mut self, tools: impl IntoIterator<Item = ToolName>) {
        // A file may name very many tools, so a linear search would be too slow.
        let mut known: BTreeSet<ToolName> = self.tools.iter().cloned().collect();
        self.tools.extend(tools.into_iter().filter(|tool| known.insert(tool.clone())));
    }

    fn add_tools_of_findings(&mut self, first: usize) {
        let tools: Vec<ToolName> = self.findings[first..].iter().filter_map(|found| found.tool.clone()).collect();
        self.add_tools(tools);
    }
}

/// The name of a tool in a file, made valid for a submission; `None` when it is blank.
fn tool_name(name: &str) -> Option<ToolName> {
    plain_id(name).map(ToolName::new)
}

/// A finding that has no case yet.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportedFinding {
    pub tool: Option<ToolName>,
    pub case: Option<CaseId>,
    /// It gets its id when it is placed.
    pub finding: Finding,
}

/// A complete or partial failure that a tool reported.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ToolFailure {
    pub tool: Option<ToolName>,
    pub file: Option<String>,
    pub message: String,
    /// Whether the whole execution failed, so that its trials cannot count as reported.
    pub fatal: bool,
}

/// An input that could not be read. Nothing of it is imported.
#[derive(Debug, thiserror::Error)]
#[error("{path}{}: {message}", position(*.line, *.column))]
pub struct ImportError {
    path: String,
    /// From 1, as the column; 0 where they are not known.
    line: usize,
    column: usize,
    message: String,
}

/// The most results, rows or documents in one file. Each may take far more memory than bytes in the file.
const MAX_RESULTS: usize = 1_000_000;

fn check_count(count: usize) -> Result<(), String> {
    if count <= MAX_RESULTS {
        return Ok(());
    }
    Err(format!("there are more than {} in one file; split it", karat_core::wording::count(MAX_RESULTS, "result")))
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

    /// Findings are named by their own messages, never by the text of their rule.
    #[test]
    fn findings_of_every_importer_are_named_by_their_message() {
        let message = "First line of the message.\\nThe rest of it.";
        for one in IMPORTERS {
            let text = match one.name {
                "sarif" => format!(
                    r#"{{"version":"2.1.0","runs":[{{"tool":{{"driver":{{"name":"t","rules":[{{"id":"R","name":"blacklist",
                    "shortDescription":{{"text":"blacklist"}}}}]}}}},"results":[{{"ruleId":"R","message":{{"text":"{message}"}}}}]}}]}}"#
                ),
                "semgrep" => format!(
                    r#"{{"results":[{{"check_id":"blacklist","path":"a.py","extra":{{"message":"{message}"}}}}],"errors":[]}}"#
                ),
                "bandit" => format!(
                    r#"{{"results":[{{"filename":"a.py","test_id":"B1","test_name":"blacklist","issue_text":"{message}"}}],"errors":[]}}"#
                ),
                "eslint" => format!(
                    r#"[{{"filePath":"a.js","messages":[{{"ruleId":"blacklist","severity":2,"message":"{message}"}}]}}]"#
                ),
                "slither" => format!(
                    r#"{{"success":true,"results":{{"detectors":[{{"check":"blacklist","description":"{message}"}}]}}}}"#
                ),
                "rdjson" => {
                    format!(r#"{{"diagnostics":[{{"message":"{message}","code":{{"value":"blacklist"}}}}]}}"#)
                }
                "rdjsonl" => format!(r#"{{"message":"{message}","code":{{"value":"blacklist"}}}}"#),
                "github-review" => {
                    format!(r#"[{{"id":1,"user":{{"login":"u"}},"path":"a.py","line":1,"body":"{message}"}}]"#)
                }
                "review-text" => "## a.py:3\n\nFirst line of the message.\nThe rest of it.\n".to_owned(),
                "scan-findings" => format!(r#"[{{"message":"{message}","details":{{"ruleId":"blacklist"}}}}]"#),
                "csv" => "rule_id,message\nblacklist,\"First line of the message.\nThe rest of it.\"\n".to_owned(),
                // Its findings are texts without rules, in files that only make sense together.
                "code-review-bench" => continue,
                // They have goldens or verdicts, and no findings.
                "eval-spec" | "owasp" => continue,
                other => panic!("what does a finding of {other} look like?"),
            };
            let mut data = ImportedData::default();
            let input = Input { path: Path::new("in"), reader: Box::new(text.as_bytes()), sources: &|_| None };
            one.read(input, &mut data).unwrap_or_else(|error| panic!("{}: {error}", one.name));
            let [found] = data.findings.as_slice() else { panic!("{}: {:?}", one.name, data.findings) };
            // The title of prose is a whole paragraph, whose lines are joined.
            let headline = found.finding.headline();
            assert!(headline.starts_with("First line of the message."), "{}: {headline:?}", one.name);
            assert_eq!(headline.lines().count(), 1, "{}: {headline:?}", one.name);
            assert!(found.finding.message.as_deref().is_none_or(|all| all.contains("The rest of it.")), "{}", one.name);
        }
    }

    #[test]
    fn damaged_inputs_do_not_panic() {
        let all: Vec<Vec<u8>> =
            IMPORTERS.iter().flat_map(fixtures).filter_map(|path| std::fs::read(path).ok()).collect();
        let try_all = |bytes: &[u8]| {
            for one in IMPORTERS {
                let mut data = ImportedData::default();
                let input = input::from_reader(Path::new("damaged"), Box::new(bytes));
                if input.and_then(|input| one.read(input, &mut data)).is_ok() {
                    one.finish(&mut data);
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
