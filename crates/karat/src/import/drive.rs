//! Running an importer over files, and telling a format by looking.

use super::rule_map::RuleMap;
use super::{Harvest, ImportError, Importer, Input, Sources, importer, input};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads all files, in the order given, into one harvest; folders stand for the JSON files below them.
pub fn read_all(
    importer: &Importer,
    paths: &[PathBuf],
    rules: Option<&RuleMap>,
    sources: Sources<'_>,
) -> Result<Harvest, ImportError> {
    let mut harvest = Harvest::default();
    for path in expand(paths)? {
        (importer.import)(Input { sources, ..input::open(&path)? }, &mut harvest)?;
    }
    if let Some(finish) = importer.finish {
        finish(&mut harvest)?;
    }
    if let Some(rules) = rules {
        let placed = harvest.findings.iter_mut().map(|reported| &mut reported.finding);
        let whole = harvest.trials.iter_mut().flat_map(|trial| &mut trial.findings);
        let mapped = placed.chain(whole).map(|finding| rules.apply(finding)).filter(|mapped| *mapped).count();
        let all = harvest.findings.len() + harvest.trials.iter().map(|t| t.findings.len()).sum::<usize>();
        harvest.notes.push(format!("the rule map knows the rules of {mapped} of {all} findings"));
    }
    Ok(harvest)
}

fn expand(paths: &[PathBuf]) -> Result<Vec<PathBuf>, ImportError> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut open = vec![path.clone()];
        let mut found = Vec::new();
        while let Some(folder) = open.pop() {
            let entries = std::fs::read_dir(&folder).map_err(|error| input::fault(&folder, error))?;
            for entry in entries {
                let entry = entry.map_err(|error| input::fault(&folder, error))?;
                // Links are not followed, so that a circle of folders ends.
                let kind = entry.file_type().map_err(|error| input::fault(&folder, error))?;
                if kind.is_dir() {
                    open.push(entry.path());
                } else if kind.is_file() && entry.path().extension().is_some_and(|e| e == "json") {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

/// What a file given as a submission is.
pub enum Kind {
    /// Our own format.
    Submission,
    /// Another's, with its importer.
    Foreign(&'static Importer),
}

/// Tells by name, and where the name does not tell, by the first bytes, what a file is.
pub fn kind_of(path: &Path) -> Result<Kind, ImportError> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".jsonl") || name == "-" {
        return Ok(Kind::Submission);
    }
    let named = name.ends_with(".sarif") || name.ends_with(".sarif.json");
    // What is read from a pipe is gone, so only a file on disk is looked into.
    let sarif = named || (path.is_file() && looks_like_sarif(path)?);
    Ok(importer("sarif").filter(|_| sarif).map_or(Kind::Submission, Kind::Foreign))
}

fn looks_like_sarif(path: &Path) -> Result<bool, ImportError> {
    let mut head = Vec::new();
    let opened = input::open(path)?;
    // A head that cannot be decoded is no SARIF; the reader for our own format will say what is wrong with it.
    let _ = opened.reader.take(4096).read_to_end(&mut head);
    let text = String::from_utf8_lossy(&head);
    Ok(text.trim_start().starts_with('{') && text.contains("\"runs\""))
}
