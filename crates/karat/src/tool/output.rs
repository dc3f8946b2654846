//! From what a tool wrote to a trial. What cannot be read is a failed trial, never one that found nothing.

mod answer;
mod paths;

use karat_core::finding::Finding;
use karat_core::ids::FindingId;
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_import::rule_map::RuleMap;
use karat_import::{IMPORTERS, ImportError, ImportedData, Importer, Input, Sources, importer, input};
use paths::Roots;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The name of our own format.
pub const KARAT: &str = "karat";

/// Formats of goldens and of whole benchmarks, which no tool writes about a single case.
const NOT_OF_TOOLS: &[&str] = &["code-review-bench", "eval-spec", "owasp"];

/// The format with one line for each finding, so that an empty file means no finding.
const EMPTY_IS_NONE: &str = "rdjsonl";

const MAX_FAILURES: usize = 20;

/// The formats a tool may write, our own first.
pub fn formats() -> impl Iterator<Item = &'static str> {
    let foreign = IMPORTERS.iter().map(|importer| importer.name).filter(|name| !NOT_OF_TOOLS.contains(name));
    std::iter::once(KARAT).chain(foreign)
}

/// The output of a tool that ended with an accepted exit code.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Output<'a> {
    /// The trial that it belongs to, which has no findings yet.
    pub trial: &'a Trial,
    /// One of [`formats`].
    pub format: &'a str,
    /// `None` if the result file is missing.
    pub bytes: Option<&'a [u8]>,
    pub caps: Caps,
    /// The absolute paths under which the tool may have seen the checkout.
    pub roots: &'a [String],
    pub rules: Option<&'a RuleMap>,
    /// The code that was checked out.
    pub sources: Sources<'a>,
}

/// The most that is read from the output of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Bytes after decompression (`limits.output`).
    pub unpacked: u64,
    /// `limits.findings`
    pub findings: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { unpacked: 64 << 20, findings: 100_000 }
    }
}

/// A trial as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// Reported, or unparsable. Its notes say what the tool could not do.
    pub trial: Trial,
    /// Why it is unparsable.
    pub problem: Option<String>,
    /// What the importer left out or corrected.
    pub notes: Vec<String>,
}

/// Reads what a tool wrote.
pub fn read(output: &Output<'_>) -> Read {
    let mut trial = output.trial.clone();
    let mut notes = Vec::new();
    let problem = fill(&mut trial, output, &mut notes).err();
    if problem.is_some() {
        trial.outcome = Outcome::Unparsable;
        trial.findings = Vec::new();
    }
    Read { trial, problem, notes }
}

fn fill(trial: &mut Trial, output: &Output<'_>, notes: &mut Vec<String>) -> Result<(), String> {
    let bytes = output.bytes.ok_or("the tool succeeded but wrote no result file")?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        let problem =
            || format!("the tool succeeded but its result is empty, which is not a {} document", output.format);
        return if output.format == EMPTY_IS_NONE { Ok(()) } else { Err(problem()) };
    }
    let roots = Roots::new(output.roots, output.sources);
    if output.format == KARAT {
        answer::read(bytes, trial)?;
    } else {
        let importer = importer(output.format).ok_or_else(|| format!("unknown format `{}`", output.format))?;
        let imported = import(importer, bytes, output.caps, &roots).map_err(|error| error.to_string())?;
        if output.format == "review-text" {
            trial.response = Some(String::from_utf8_lossy(bytes).into_owned());
        }
        fill_imported(imported, trial, &roots, notes)?;
    }
    let most = output.caps.findings;
    if trial.findings.len() > most {
        let found = count(trial.findings.len(), "finding");
        return Err(format!("it reports {found}, and {most} are the most for one case (limits.findings)"));
    }
    for finding in &mut trial.findings {
        roots.strip(finding);
        if let Some(rules) = output.rules {
            rules.apply(finding);
        }
    }
    Ok(())
}

fn import(importer: &Importer, bytes: &[u8], caps: Caps, roots: &Roots<'_>) -> Result<ImportedData, ImportError> {
    let mut imported = ImportedData::default();
    let sources = |path: &_| roots.source(path);
    let help = "`limits.output` of the manifest is the most, also unpacked";
    let most = input::Limits { total: caps.unpacked, help, ..input::Limits::default() };
    let opened = input::from_reader_within(Path::new("output"), Box::new(bytes), most)?;
    importer.read(Input { sources: &sources, ..opened }, &mut imported)?;
    importer.finish(&mut imported);
    Ok(imported)
}

/// Puts imported data into its trial, whatever tool and case the file names.
fn fill_imported(
    imported: ImportedData,
    trial: &mut Trial,
    roots: &Roots<'_>,
    notes: &mut Vec<String>,
) -> Result<(), String> {
    if !imported.trials.is_empty() || !imported.cases.is_empty() || !imported.judgements.is_empty() {
        return Err("the result contains cases or trials, not the findings of one tool in one case".to_owned());
    }
    if let Some(fatal) = imported.failures.iter().find(|failure| failure.fatal) {
        return Err(format!("the tool reported that it failed: {}", roots.plain(&fatal.message)));
    }
    for failure in imported.failures.iter().take(MAX_FAILURES) {
        let place = failure.file.as_deref().map(|file| format!("{}: ", roots.display(file))).unwrap_or_default();
        trial.notes.push(format!("incomplete: {place}{}", roots.plain(&failure.message)));
    }
    if imported.failures.len() > MAX_FAILURES {
        trial.notes.push(format!("incomplete: and {} more failures", imported.failures.len() - MAX_FAILURES));
    }
    for (number, reported) in (1..).zip(imported.findings) {
        trial.findings.push(Finding { id: FindingId::new(format!("f{number}")), ..reported.finding });
    }
    notes.extend(imported.notes);
    Ok(())
}

#[cfg(test)]
mod tests;
