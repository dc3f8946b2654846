//! From what a tool wrote to a trial. What cannot be read is a failed trial, never one that found nothing.

mod answer;
mod paths;

use karat_core::finding::Finding;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::trial::{Outcome, Trial};
use karat_core::wording::count;
use karat_import::rule_map::RuleMap;
use karat_import::{IMPORTERS, ImportError, ImportedData, Importer, Input, Sources, importer, input};
use paths::Roots;
use std::path::Path;

/// The name of our own format.
pub const KARAT: &str = "karat";

/// Formats of goldens and of whole benchmarks, which no tool writes about a single case.
const NOT_OF_TOOLS: &[&str] = &["code-review-bench", "eval-spec", "owasp"];

/// Formats in which no text at all is how a tool says that it found nothing: one line for each thing found, and no frame.
const EMPTY_IS_NONE: &[&str] = &["rdjsonl"];

/// Files that a tool could not work on are told one by one up to this many.
const MOST_TOLD: usize = 20;

/// The formats a tool may write, our own first.
pub fn formats() -> impl Iterator<Item = &'static str> {
    let foreign = IMPORTERS.iter().map(|importer| importer.name).filter(|name| !NOT_OF_TOOLS.contains(name));
    std::iter::once(KARAT).chain(foreign)
}

/// What a tool that ended with an accepted exit code left behind.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a> {
    /// What it is written in: one of [`formats`].
    pub format: &'a str,
    /// The bytes of the result; `None` if the file that was to be written is not there.
    pub bytes: Option<&'a [u8]>,
    /// How much is taken from it.
    pub caps: Caps,
}

/// How much is taken from the output of one trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of the text, once it is unpacked (`limits.output`).
    pub unpacked: u64,
    /// Findings (`limits.findings`).
    pub findings: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Self { unpacked: 64 << 20, findings: 100_000 }
    }
}

/// What the output is about.
#[derive(Clone, Copy)]
pub struct About<'a> {
    /// The case the tool ran on.
    pub case: &'a CaseId,
    /// The tool, by our name for it.
    pub tool: &'a ToolName,
    /// Which of the repetitions it is, counted from 1.
    pub number: u32,
    /// The absolute path of the checkout, by every name the tool may have seen it under.
    pub roots: &'a [&'a str],
    /// A table from the tool's rules to categories.
    pub rules: Option<&'a RuleMap>,
    /// The code that was checked out.
    pub sources: Sources<'a>,
}

/// A trial, and how its output was to read.
#[derive(Clone, Debug, PartialEq)]
pub struct Read {
    /// The trial: reported, or unparsable. Its notes say what the tool could not do.
    pub trial: Trial,
    /// Why it is unparsable.
    pub problem: Option<String>,
    /// What the importer left out or put right.
    pub notes: Vec<String>,
}

/// Reads what a tool wrote.
pub fn read(output: &Output<'_>, about: &About<'_>) -> Read {
    let mut trial = Trial::reported(about.case.clone(), about.tool.clone(), about.number);
    let mut notes = Vec::new();
    let problem = fill(&mut trial, output, about, &mut notes).err();
    if problem.is_some() {
        trial.outcome = Outcome::Unparsable;
        trial.findings = Vec::new();
    }
    Read { trial, problem, notes }
}

fn fill(trial: &mut Trial, output: &Output<'_>, about: &About<'_>, notes: &mut Vec<String>) -> Result<(), String> {
    let bytes = output.bytes.ok_or("the tool succeeded but wrote no result file")?;
    if bytes.iter().all(u8::is_ascii_whitespace) {
        if EMPTY_IS_NONE.contains(&output.format) {
            return Ok(());
        }
        return Err(format!("the tool succeeded but its result is empty, which is not a {} document", output.format));
    }
    let roots = Roots::new(about.roots, about.sources);
    if output.format == KARAT {
        answer::read(bytes, trial)?;
    } else {
        let importer = importer(output.format).ok_or_else(|| format!("unknown format `{}`", output.format))?;
        let harvest = harvest(importer, bytes, output.caps, &roots).map_err(|error| error.to_string())?;
        if output.format == "review-text" {
            trial.response = Some(String::from_utf8_lossy(bytes).into_owned());
        }
        take(harvest, trial, &roots, notes)?;
    }
    let (found, most) = (trial.findings.len(), output.caps.findings);
    if found > most {
        return Err(format!(
            "it reports {}, and {most} are the most for one case (limits.findings)",
            count(found, "finding")
        ));
    }
    for finding in &mut trial.findings {
        roots.strip(finding);
        if let Some(rules) = about.rules {
            rules.apply(finding);
        }
    }
    Ok(())
}

fn harvest(importer: &Importer, bytes: &[u8], caps: Caps, roots: &Roots<'_>) -> Result<ImportedData, ImportError> {
    let mut harvest = ImportedData::default();
    let sources = |path: &_| roots.source(path);
    let help = "`limits.output` of the manifest is the most, also unpacked";
    let most = input::Limits { total: caps.unpacked, help, ..input::Limits::default() };
    let opened = input::from_reader_within(Path::new("output"), Box::new(bytes), most)?;
    (importer.import)(Input { sources: &sources, ..opened }, &mut harvest)?;
    if let Some(finish) = importer.finish {
        finish(&mut harvest)?;
    }
    Ok(harvest)
}

/// Puts a harvest into its trial. Whose findings they are and what case they belong to is known, whatever the file says.
fn take(harvest: ImportedData, trial: &mut Trial, roots: &Roots<'_>, notes: &mut Vec<String>) -> Result<(), String> {
    if !harvest.trials.is_empty() || !harvest.cases.is_empty() || !harvest.judgements.is_empty() {
        return Err("the result holds cases or trials of its own, not the findings of one tool in one case".to_owned());
    }
    if let Some(fatal) = harvest.failures.iter().find(|failure| failure.fatal) {
        return Err(format!("the tool reported that it failed: {}", roots.plain(&fatal.message)));
    }
    for failure in harvest.failures.iter().take(MOST_TOLD) {
        let place = failure.file.as_deref().map(|file| format!("{}: ", roots.display(file))).unwrap_or_default();
        trial.notes.push(format!("incomplete: {place}{}", roots.plain(&failure.message)));
    }
    if harvest.failures.len() > MOST_TOLD {
        trial.notes.push(format!("incomplete: and {} more failures", harvest.failures.len() - MOST_TOLD));
    }
    let numbered =
        |(index, finding): (usize, Finding)| Finding { id: FindingId::new(format!("f{}", index + 1)), ..finding };
    trial.findings = harvest.findings.into_iter().map(|reported| reported.finding).enumerate().map(numbered).collect();
    notes.extend(harvest.notes);
    Ok(())
}

#[cfg(test)]
mod tests;
