//! What a variant of a suite has in common with the original, and what is about the original alone.

use super::Written;
use crate::failure::{Failure, Result};
use crate::suite::kept_proofs::{PROOFS, case_folder, proof_path};
use crate::suite::{LoadedSuite, StatedIn};
use karat_core::ids::CaseId;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::submission::TrialV1;
use karat_import::input;
use karat_io::files::Files;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// What findings of the original would be wrong about.
const SUBMISSIONS: &str = "submissions/";
/// What is no part of a suite.
const NO_PART: [&str; 3] = [".git/", ".karat/", "target/"];
/// In so many lines of a file a recorded trial is looked for.
const MOST_LINES: usize = 20;

/// Refuses a folder with content, and one inside the suite, which the copy would become a part of.
pub(super) fn refuse_folder(folder: &Path, suite: &Files) -> Result<()> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(Failure::unwritten(folder.display(), error)),
    };
    if !is_empty {
        let shown = folder.display();
        return Err(Failure::bad_input(format!(
            "{shown} is not empty; name a new folder, so that nothing of yours is overwritten"
        )));
    }
    let Files::Disk(root) = suite else { return Ok(()) };
    let (Ok(root), Some(place)) = (root.canonicalize(), existing_part(folder)) else { return Ok(()) };
    if place.starts_with(&root) {
        let (folder, root) = (folder.display(), root.display());
        return Err(Failure::bad_input(format!("{folder} is inside the suite {root}; name a folder outside of it")));
    }
    Ok(())
}

/// The full path of what exists of a path.
fn existing_part(path: &Path) -> Option<PathBuf> {
    let full = std::path::absolute(path).ok()?;
    full.ancestors().find_map(|own| own.canonicalize().ok())
}

/// The files of the suite as they are, without cases that were not selected, and the names of those that are left out.
pub(super) fn copied_files(loaded: &LoadedSuite, selected: &BTreeSet<CaseId>) -> Result<(Written, Vec<String>)> {
    let failed = |path: &str, error| Failure::io(loaded.files.display(path), error);
    let others: Vec<String> = loaded
        .suite
        .cases
        .iter()
        .filter(|case| !selected.contains(&case.id))
        .map(|case| format!("{}/", case_folder(loaded, &case.id)))
        .collect();
    // A tool that repeats findings of the original goes with these.
    let replays: BTreeMap<&str, &str> = loaded
        .config
        .tools
        .iter()
        .filter_map(|(name, manifest)| Some((name.as_str(), manifest.submission.as_deref()?)))
        .collect();
    let trial = schema_of::<TrialV1>();
    let code = code_folders(loaded, selected);
    let replayed: BTreeSet<&str> = replays.values().copied().collect();
    let mut written = Written::new();
    let mut left_out = Vec::new();
    for path in loaded.files.walk("").map_err(|error| failed("", error))?.files {
        if NO_PART.iter().any(|own| path.starts_with(own)) || others.iter().any(|own| path.starts_with(own)) {
            continue;
        }
        if path == PROOFS || path.starts_with(SUBMISSIONS) || replayed.contains(path.as_str()) {
            left_out.push(path);
            continue;
        }
        let Some(bytes) = loaded.files.read(&path).map_err(|error| failed(&path, error))? else { continue };
        let is_code = code.iter().any(|own| path.starts_with(own));
        if !is_code && path != "cases.jsonl" && is_submission(&path, &bytes, &trial) {
            left_out.push(path);
            continue;
        }
        let bytes = match std::str::from_utf8(&bytes) {
            Ok(text) if path == "cases.jsonl" => only_lines(loaded, selected, text).into_bytes(),
            Ok(text) if path == "karat.toml" => without_tools(text, &replays).into_bytes(),
            _ => bytes,
        };
        let is_executable = loaded.files.is_executable(&path);
        written.insert(path, (bytes, is_executable));
    }
    Ok((written, left_out))
}

/// The folders of code and proofs, whose files are what they are whatever they contain.
fn code_folders(loaded: &LoadedSuite, selected: &BTreeSet<CaseId>) -> Vec<String> {
    let mut folders = Vec::new();
    for case in loaded.suite.cases.iter().filter(|case| selected.contains(&case.id)) {
        let proofs = case.goldens.iter().filter_map(|golden| golden.proof.as_ref());
        let own = ["before", "after"].into_iter().chain(proofs.map(|proof| proof.files.as_str()));
        folders.extend(
            own.map(|own| format!("{}/", proof_path(loaded, &case.id, own)).trim_start_matches('/').to_owned()),
        );
    }
    folders
}

/// Whether a file has a line that is a recorded trial.
fn is_submission(path: &str, bytes: &[u8], schema: &serde_json::Value) -> bool {
    let Ok(input) = input::from_reader(Path::new(path), Box::new(bytes)) else { return false };
    let is_trial = |line: &String| {
        let decoded = decode_bytes::<TrialV1>(path, line.as_bytes(), Syntax::Json, schema);
        decoded.value.is_some() && decoded.faults.is_empty()
    };
    let lines = BufReader::new(input.reader).lines().map_while(std::result::Result::ok);
    lines.filter(|line| line.starts_with('{')).take(MOST_LINES).any(|line| is_trial(&line))
}

/// A `karat.toml` without the tables of these tools.
fn without_tools(text: &str, names: &BTreeMap<&str, &str>) -> String {
    let mut is_kept = true;
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if let Some(header) = line.trim().strip_prefix('[') {
            let table = header.split(']').next().unwrap_or_default().strip_prefix("tools.");
            let name = table.and_then(|own| own.trim_start_matches('"').split(['.', '"']).next());
            is_kept = !name.is_some_and(|name| names.contains_key(name));
        }
        if is_kept {
            out.push_str(line);
        }
    }
    out
}

/// The lines of `cases.jsonl` that state selected cases.
pub(super) fn only_lines(loaded: &LoadedSuite, selected: &BTreeSet<CaseId>, text: &str) -> String {
    let stated = loaded.stated_in.iter().filter(|(case, _)| !selected.contains(*case));
    let others: BTreeSet<usize> = stated
        .filter_map(|(_, at)| match at {
            StatedIn::Line(number) => Some(*number),
            StatedIn::File(_) => None,
        })
        .collect();
    let lines = text.split_inclusive('\n').zip(1..);
    lines.filter(|(_, number)| !others.contains(number)).map(|(line, _)| line).collect()
}
