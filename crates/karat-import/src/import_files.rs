//! Runs an importer over files, and detects the format of a file.

use super::rule_map::RuleMap;
use super::{ImportError, ImportedData, Importer, Input, Sources, importer, input};
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Imports all files in the order given; a folder stands for the JSON files below it.
pub fn import_files(
    importer: &Importer,
    paths: &[PathBuf],
    rules: Option<&RuleMap>,
    sources: Sources<'_>,
) -> Result<ImportedData, ImportError> {
    let mut data = ImportedData::default();
    for path in expand(paths)? {
        importer.read(Input { sources, ..input::open(&path)? }, &mut data)?;
    }
    importer.finish(&mut data);
    if let Some(rules) = rules {
        let placed = data.findings.iter_mut().map(|reported| &mut reported.finding);
        let whole = data.trials.iter_mut().flat_map(|trial| &mut trial.findings);
        let mapped = placed.chain(whole).map(|finding| rules.apply(finding)).filter(|mapped| *mapped).count();
        let all = data.findings.len() + data.trials.iter().map(|t| t.findings.len()).sum::<usize>();
        data.notes.push(format!("the rule map knows the rules of {mapped} of {all} findings"));
    }
    Ok(data)
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
            let entries = std::fs::read_dir(&folder).map_err(|error| input::read_error(&folder, error))?;
            for entry in entries {
                let entry = entry.map_err(|error| input::read_error(&folder, error))?;
                // Links are not followed, since they may form a cycle.
                let kind = entry.file_type().map_err(|error| input::read_error(&folder, error))?;
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

/// The importer of a file given as a submission, by its name, else by its first bytes; `None` where it is a submission.
pub fn detect_importer(path: &Path) -> Result<Option<&'static Importer>, ImportError> {
    let name = path.file_name().map(|n| n.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".jsonl") || name == "-" {
        return Ok(None);
    }
    let named = name.ends_with(".sarif") || name.ends_with(".sarif.json");
    // Reading from a pipe would consume its content.
    let sarif = named || (path.is_file() && looks_like_sarif(path)?);
    Ok(importer("sarif").filter(|_| sarif))
}

/// Whether a file holds the findings of a scan as a whole JSON document, and not a submission with one trial on each line.
pub fn holds_scan(path: &Path) -> Result<bool, ImportError> {
    // Reading from a pipe would consume its content.
    if !path.is_file() || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("jsonl")) {
        return Ok(false);
    }
    let mut lines = BufReader::new(input::open(path)?.reader).split(b'\n');
    // What cannot be read is reported by whoever reads all of it.
    let first = lines.find_map(|line| line.ok().filter(|line| !line.trim_ascii().is_empty())).unwrap_or_default();
    let trial = serde_json::from_slice::<serde_json::Value>(&first).is_ok_and(|line| line.get("case").is_some());
    Ok(!trial)
}

fn looks_like_sarif(path: &Path) -> Result<bool, ImportError> {
    let mut head = Vec::new();
    let opened = input::open(path)?;
    // A head that cannot be decoded is not SARIF; reading it as a submission will report the error.
    let _ = opened.reader.take(4096).read_to_end(&mut head);
    let text = String::from_utf8_lossy(&head);
    Ok(text.trim_start().starts_with('{') && text.contains("\"runs\""))
}
