//! Identity keys of findings.

use crate::failure::{Failure, Result};
use crate::profile::{ProfileRequest, resolve_for_suite};
use crate::submissions::{file_importer, find_importer, open_lines};
use crate::suite::load_what_is_there;
use karat_core::identity::key;
use karat_core::ids::{CaseId, FindingId, ToolName};
use karat_core::path::RepoPath;
use karat_core::trial::Trial;
use karat_format::recorded::read_trials;
use karat_import::Importer;
use karat_import::import_files::{holds_scan, import_files};
use karat_import::sarif::write_keys;
use karat_import::scan_findings::{KeyedScan, WRITABLE, add_keys};
use karat_io::atomic_write;
use karat_io::files::Files;
use karat_io::regular_file;
use karat_source::symbols::SymbolCache;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The findings, and the rules of their keys.
#[expect(missing_docs, reason = "field names say it")]
pub struct KeyRequest {
    pub files: Vec<PathBuf>,
    /// Name of an importer; default: detected from each file.
    pub format: Option<String>,
    /// A checkout or a suite folder, for symbol keys.
    pub source: Option<PathBuf>,
    pub profile: ProfileRequest,
}

/// A finding with its keys: by lines or anchor, and by symbol.
#[derive(Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct KeyedFinding {
    pub case: CaseId,
    pub tool: ToolName,
    pub trial: u32,
    pub finding: FindingId,
    pub v2: Option<String>,
    pub v3: Option<String>,
    /// Whether it states a key that differs from the computed one.
    #[serde(skip)]
    pub differs: bool,
}

/// Computes the keys of all findings. `notes` receives what importers say.
pub fn finding_keys(request: &KeyRequest, notes: &mut dyn FnMut(&[String])) -> Result<Vec<KeyedFinding>> {
    let rules = resolve_for_suite(&request.profile, None)?.identity;
    let mut trials = read(request, notes)?;
    if let Some(source) = &request.source {
        if !source.is_dir() {
            return Err(Failure::bad_input(format!("{}: no such folder", source.display())));
        }
        fill_symbols(&mut trials, source);
    }
    let findings = trials.iter().flat_map(|trial| trial.findings.iter().map(move |finding| (trial, finding)));
    let keyed = findings.map(|(trial, finding)| KeyedFinding {
        case: trial.case.clone(),
        tool: trial.tool.clone(),
        trial: trial.number,
        finding: finding.id.clone(),
        v2: key::finding_key(finding, &rules),
        v3: key::symbol_key(finding, &rules),
        differs: key::key_mismatch(finding, &rules).is_some(),
    });
    Ok(keyed.collect())
}

/// Copies a SARIF file with the keys added, and returns their number.
pub fn add_keys_to_sarif(from: &Path, to: &Path, profile: &ProfileRequest) -> Result<usize> {
    let rules = resolve_for_suite(profile, None)?.identity;
    let mut result = Ok(0);
    let written = atomic_write::write(to, &mut |out| {
        result = write_keys(from, out, &rules);
        // The import's error is returned below; this only discards the incomplete file.
        result.as_ref().map(drop).map_err(|_| io::Error::other("not written"))
    });
    let keys = result?;
    written.map_err(|error| Failure::unwritten(to.display(), error))?;
    Ok(keys)
}

/// A scan's file, and how many of its findings have which key.
#[derive(Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct KeyedFile {
    pub file: PathBuf,
    pub added: usize,
    pub replaced: usize,
    pub kept: usize,
    pub keyless: usize,
}

/// Writes the v2 key of each finding into the scans' own files. Nothing is written unless all of them can be.
pub fn write_keys_back(request: &KeyRequest) -> Result<Vec<KeyedFile>> {
    let rules = resolve_for_suite(&request.profile, None)?.identity;
    let mut scans = Vec::new();
    for path in &request.files {
        let bytes = regular_file::read(path).map_err(|error| Failure::io(path.display(), error))?;
        require_scan(path, request.format.as_deref())?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Failure::bad_input(format!("{} is not UTF-8 text, or compressed; {WRITABLE}", path.display()))
        })?;
        scans.push((path, add_keys(path, &text, &rules)?));
    }
    let mut files = Vec::new();
    for (path, scan) in scans {
        if scan.is_changed() {
            let written = atomic_write::write(path, &mut |out| out.write_all(scan.text.as_bytes()));
            written.map_err(|error| Failure::unwritten(path.display(), error))?;
        }
        let KeyedScan { added, replaced, kept, keyless, .. } = scan;
        files.push(KeyedFile { file: path.clone(), added, replaced, kept, keyless });
    }
    Ok(files)
}

/// Refuses files of a format that keys cannot be written into.
fn require_scan(path: &Path, format: Option<&str>) -> Result<()> {
    let refused = |what: &str| Err(Failure::usage(format!("{}: is {what}; {WRITABLE}", path.display())));
    match importer_of(path, format)? {
        Some(importer) if importer.name != SCAN => refused(importer.name),
        None => refused("a submission"),
        _ => Ok(()),
    }
}

/// The importer of a file; `None` where it is a submission.
fn importer_of(path: &Path, format: Option<&str>) -> Result<Option<&'static Importer>> {
    match file_importer(path, format)? {
        None if holds_scan(path)? => Ok(Some(find_importer(SCAN)?)),
        found => Ok(found),
    }
}

const SCAN: &str = "scan-findings";

fn read(request: &KeyRequest, notes: &mut dyn FnMut(&[String])) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for path in &request.files {
        let Some(importer) = importer_of(path, request.format.as_deref())? else {
            trials.extend(read_trials(vec![open_lines(path)?], None)?);
            continue;
        };
        let harvest = import_files(importer, std::slice::from_ref(path), None, &|_| None)?;
        notes(&harvest.notes);
        trials.extend(harvest.trials);
        let mut own: BTreeMap<(CaseId, ToolName), Trial> = BTreeMap::new();
        for reported in harvest.findings {
            // Without a suite, the case is unknown and the column stays empty.
            let case = reported.case.unwrap_or_else(|| CaseId::new(""));
            let tool = reported.tool.unwrap_or_else(|| ToolName::new(""));
            let trial = own.entry((case.clone(), tool.clone())).or_insert_with(|| Trial::reported(case, tool, 1));
            let mut finding = reported.finding;
            finding.id = FindingId::new(format!("f{}", trial.findings.len() + 1));
            trial.findings.push(finding);
        }
        trials.extend(own.into_values());
    }
    Ok(trials)
}

/// Reads the symbol around each finding from a checkout or a suite folder.
fn fill_symbols(trials: &mut [Trial], source: &Path) {
    let files = Files::Disk(source.to_owned());
    // Of a suite, also the code that is not in the folder of its case.
    let is_suite = files.has_folder("cases") || files.on_disk("cases.jsonl").is_some();
    let suite = is_suite.then(|| load_what_is_there(files.clone()).0);
    let mut caches: BTreeMap<CaseId, SymbolCache> = BTreeMap::new();
    for trial in trials {
        let case = trial.case.clone();
        let cache = caches.entry(case.clone()).or_default();
        let mut read = |path: &RepoPath| {
            if let Some(text) = suite.as_ref().and_then(|suite| suite.source(&case, path)) {
                return Some(text);
            }
            let places = [format!("cases/{case}/after/{path}"), format!("{case}/after/{path}"), path.to_string()];
            String::from_utf8(places.iter().find_map(|place| files.read(place).ok().flatten())?).ok()
        };
        for finding in &mut trial.findings {
            if let (Some(path), Some(lines)) = (&finding.file, finding.lines()) {
                finding.symbol = cache.symbol_of(&mut read, path, lines);
            }
        }
    }
}
