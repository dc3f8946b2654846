//! Loads a suite, or reports everything that is wrong with it.

use super::code::{CaseCode, CodeFault, CodeReader, CodeSource, Side};
use super::objects::LeftOut;
use super::{LoadedSuite, StatedIn, left_out_notes};
use crate::failure::{Failure, Result};
use karat_core::ids::CaseId;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Change, Suite};
use karat_format::case::CaseV1;
use karat_format::config::{ConfigV1, SuiteKind};
use karat_format::diagnostic::{Diagnostic, Faults};
use karat_format::diagnostic_groups::{ERROR_LIMIT, STOPPED, stopped};
use karat_format::document::suggest;
use karat_format::document::{Syntax, decode_bytes, decode_lines, schema_of};
use karat_format::shipped_suites;
use karat_format::value_diagnostics;
use karat_io::files::Files;
use karat_source::change::{line_similarity, touched_lines};
use karat_store::LATEST;
use rayon::prelude::*;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;
use std::path::Path;

/// Loads a suite by folder or by name.
pub fn load_suite(name: &str) -> Result<LoadedSuite> {
    if name == LATEST && !Path::new(name).exists() {
        return Err(Failure::no_store(name));
    }
    Ok(load(shipped_suites::locate(name))?)
}

/// Loads a suite, or returns all faults of all its files.
pub fn load(files: Files) -> Result<LoadedSuite, Faults> {
    let (loaded, faults) = load_what_is_there(files);
    if faults.is_empty() { Ok(loaded) } else { Err(Faults(faults)) }
}

/// Loads as much of a suite as possible, and returns all its faults. A suite with faults is only good for finding more of them.
pub fn load_what_is_there(files: Files) -> (LoadedSuite, Vec<Diagnostic>) {
    let mut faults = Vec::new();
    let mut notes = Vec::new();
    let mut stated: Vec<Stated> = Vec::new();
    let config = read_config(&files, &mut faults, &mut notes);

    let schema = schema_of::<CaseV1>();
    let mut folders_seen = false;
    let mut refused = Vec::new();
    for (folder, file) in case_files(&files, &mut faults) {
        folders_seen = true;
        if faults.len() >= ERROR_LIMIT {
            faults.push(stopped(&files.display(""), &folder));
            break;
        }
        match read_case(&files, &folder, &file, &schema, &mut faults) {
            Some(case) => stated.push(case),
            None => refused.push(folder),
        }
    }
    let listed = read_listed(&files, &schema, &mut stated, &mut faults);
    let other_kind = config.suite.kind == SuiteKind::Assessment;
    if !folders_seen && !listed && faults.is_empty() && !other_kind {
        faults.push(nothing_here(&files));
    }
    check_ids(&stated, &mut faults);
    // A twin may be among the cases that were not read.
    if faults.iter().all(|fault| fault.code != STOPPED) {
        check_twins(&stated, &refused, &mut faults);
    }
    if other_kind {
        let message = "kind = \"assessment\": this suite holds documents to assess, not findings to score";
        let place = files.place();
        let help = format!("`karat assess {place}` assesses it, and `karat check {place}` checks its golden records");
        faults.push(Diagnostic::of_file(files.display("karat.toml"), "wrong-kind", message).with_help(help));
    }

    let trees: Vec<Result<Tree, CodeFault>> = stated.par_iter().map(|stated| read_tree(&files, stated)).collect();
    let mut cases = Vec::with_capacity(stated.len());
    let mut digest = blake3::Hasher::new();
    let mut codes = HashMap::new();
    let mut code_hashes = HashMap::new();
    let mut stated_in = BTreeMap::new();
    for (stated, tree) in stated.into_iter().zip(trees) {
        let shown = files.display(stated.folder.as_deref().unwrap_or_default());
        let mut case = stated.case;
        match tree {
            Err(fault) => {
                let mut fault = fault.in_file(shown);
                // Code that is not in the case's folder is named by the case itself.
                if case.rev.is_some() || case.trees.is_some() {
                    (fault.file, fault.line, fault.column) = match &stated.at {
                        StatedIn::File(file) => (files.display(file), 1, 1),
                        StatedIn::Line(number) => (files.display("cases.jsonl"), *number, 1),
                    };
                }
                faults.push(fault);
            }
            Ok(tree) => {
                for link in &tree.refused {
                    let message =
                        format!("the link {link} leads out of its side of the case, to a folder or to nothing");
                    let fault = Diagnostic::of_file(&shown, "path-escapes", message);
                    faults.push(fault.with_help("put the file itself there"));
                }
                digest.update(&digest_of(&case, &tree));
                notes.extend(left_out_notes(tree.left_out.clone()).map(|note| format!("{}: {note}", case.id)));
                code_hashes.extend(tree.code().map(|hash| (case.id.clone(), hash)));
                case.change = tree.change;
                codes.extend(tree.code.map(|code| (case.id.clone(), code)));
            }
        }
        stated_in.insert(case.id.clone(), stated.at);
        cases.push(case);
    }
    faults.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    let suite =
        Suite { name: config.suite.name.clone(), digest: format!("blake3:{}", digest.finalize().to_hex()), cases };
    (LoadedSuite { suite, config, files, notes, codes, code_hashes, stated_in, model_cutoff: None }, faults)
}

struct Stated {
    case: Case,
    folder: Option<String>,
    at: StatedIn,
    /// `None` if the id is missing, which is a fault of its own.
    id_at: Option<Diagnostic>,
    twin_at: Option<Diagnostic>,
}

fn read_config(files: &Files, faults: &mut Vec<Diagnostic>, notes: &mut Vec<String>) -> ConfigV1 {
    let shown = files.display("karat.toml");
    match files.read("karat.toml") {
        Err(error) => faults.push(unreadable(shown, &error)),
        Ok(Some(bytes)) => {
            let decoded = decode_bytes::<ConfigV1>(&shown, &bytes, Syntax::Toml, &schema_of::<ConfigV1>());
            faults.extend(decoded.faults);
            if let Some((config, _)) = decoded.value {
                return config;
            }
        }
        Ok(None) => {
            if files.read("cases.jsonl").is_ok_and(|f| f.is_some()) || files.has_folder("cases") {
                notes.push(format!("{shown} is absent; its defaults apply"));
            }
        }
    }
    let mut config = ConfigV1::default();
    config.suite.name = match files {
        Files::Disk(root) => {
            let real = root.canonicalize().unwrap_or_else(|_| root.clone());
            real.file_name().map_or_else(|| "suite".to_owned(), |name| name.to_string_lossy().into_owned())
        }
        Files::Embedded(name, _) => (*name).to_owned(),
    };
    config
}

/// The folders of cases, each with the file that describes the case.
fn case_files(files: &Files, faults: &mut Vec<Diagnostic>) -> Vec<(String, String)> {
    // Whether a folder holds the code of a case in `cases.jsonl`.
    let is_bare_tree =
        |folder: &str| files.has_folder(&format!("{folder}/after")) && matches!(files.open("cases.jsonl"), Ok(Some(_)));
    let mut found = Vec::new();
    // `cases/<id>/case.yaml` is our own layout; a folder of CRB challenges holds them directly, or under `challenges/`.
    let layouts =
        [("cases", &["case.yaml", "case.yml"][..]), ("", &["challenge.yaml"]), ("challenges", &["challenge.yaml"])];
    for (parent, names) in layouts {
        let folders = files.folders(parent).unwrap_or_else(|error| {
            faults.push(unreadable(files.display(parent), &error));
            Vec::new()
        });
        for name in folders.iter().filter(|name| !name.starts_with(['_', '.'])) {
            let folder = if parent.is_empty() { name.clone() } else { format!("{parent}/{name}") };
            let mut all = names.iter().chain(&["challenge.yaml"]).map(|file| format!("{folder}/{file}"));
            match all.find(|path| !matches!(files.open(path), Ok(None)) || files.links_outside(path)) {
                Some(file) => found.push((folder, file)),
                None if parent == "cases" && !is_bare_tree(&folder) => {
                    let message = format!("the folder {name} has no case.yaml");
                    let help = "add one, or start the folder's name with an underscore to have it skipped";
                    faults.push(Diagnostic::of_file(files.display(&folder), "no-case-file", message).with_help(help));
                }
                None => {}
            }
        }
    }
    found
}

fn read_case(files: &Files, folder: &str, file: &str, schema: &Json, faults: &mut Vec<Diagnostic>) -> Option<Stated> {
    let shown = files.display(file);
    let bytes = match files.read(file) {
        Ok(Some(bytes)) => bytes,
        refused => {
            let outside = || Diagnostic::of_file(&shown, "path-escapes", "the file lies outside the suite");
            faults.push(refused.err().map_or_else(outside, |error| unreadable(&shown, &error)));
            return None;
        }
    };
    let decoded = decode_bytes::<CaseV1>(&shown, &bytes, Syntax::Yaml, schema);
    faults.extend(decoded.faults);
    let (value, document) = decoded.value?;
    let (case, found) = value.into_case();
    let own = found.iter().filter(|f| document.has(&f.steps()));
    faults.extend(own.map(|f| document.at(&f.steps(), f.code, f.message.clone())));
    let named = document.has(&["id".into()]);
    let id_at = document.at(&["id".into()], "duplicate-id", "");
    let twin_at = case.twin.is_some().then(|| document.at(&["twin".into()], "unknown-twin", ""));
    let at = StatedIn::File(file.to_owned());
    Some(Stated { case, folder: Some(folder.to_owned()), at, id_at: named.then_some(id_at), twin_at })
}

/// Reads `cases.jsonl`; returns whether it exists.
fn read_listed(files: &Files, schema: &Json, stated: &mut Vec<Stated>, faults: &mut Vec<Diagnostic>) -> bool {
    let shown = files.display("cases.jsonl");
    let reader = match files.open("cases.jsonl") {
        Ok(Some(reader)) => reader,
        Ok(None) => return false,
        Err(error) => {
            faults.push(unreadable(shown, &error));
            return true;
        }
    };
    let has_trees = files.has_folder("cases");
    let found = decode_lines::<CaseV1>(&shown, reader, schema, |number, value, line| {
        let (case, found) = value.into_case();
        let own = value_diagnostics(&found, line);
        let folder = format!("cases/{}", case.id);
        let plain = !case.id.as_str().split('/').any(|part| part.is_empty() || part == "." || part == "..");
        // Only the positions are kept, so that 100,000 cases need no second copy of their text.
        let mark = |code| Diagnostic { line: number, column: 1, ..Diagnostic::of_file(&shown, code, "") };
        let twin_at = case.twin.is_some().then(|| mark("unknown-twin"));
        let folder = (has_trees && plain && files.has_folder(&folder)).then_some(folder);
        let id_at = line.has(&["id".into()]).then(|| mark("duplicate-id"));
        stated.push(Stated { case, folder, at: StatedIn::Line(number), id_at, twin_at });
        own
    });
    faults.extend(found);
    true
}

fn unreadable(file: impl Into<String>, error: &io::Error) -> Diagnostic {
    Diagnostic::of_file(file, "unreadable", error.to_string())
}

fn nothing_here(files: &Files) -> Diagnostic {
    let shown = files.display("");
    let fault = |message: &str, help: &str| Diagnostic::of_file(&shown, "no-suite", message).with_help(help);
    let is_file = matches!(files, Files::Disk(root) if root.is_file());
    let is_suite = matches!(files.read("karat.toml"), Ok(Some(_))) || files.has_folder("cases");
    if is_file {
        return fault(
            "this is a file; a suite is a folder",
            "name the folder that holds karat.toml; a file of findings goes to --submission FILE",
        );
    }
    if is_suite {
        return fault(
            "the suite has no cases",
            "`karat suite add --from-commit REV --repo DIR` makes a case of a commit; `karat init DIR` writes an example",
        );
    }
    if files.has_folder("") {
        return fault(
            "no suite here: there is no karat.toml with cases/, no cases.jsonl, and no folder with a challenge.yaml",
            "`karat init DIR` writes a small working suite",
        );
    }
    match suggest::nearest(&shown, shipped_suites::names()) {
        Some(near) => fault("there is no such folder", &format!("did you mean the built-in suite `{near}`?")),
        None => fault("there is no such folder", "`karat init DIR` writes a small working suite"),
    }
}

fn check_ids(stated: &[Stated], faults: &mut Vec<Diagnostic>) {
    let mut first: HashMap<&CaseId, &Diagnostic> = HashMap::new();
    for (id, at) in stated.iter().filter_map(|stated| Some((&stated.case.id, stated.id_at.as_ref()?))) {
        let earlier = *first.entry(id).or_insert(at);
        if !std::ptr::eq(earlier, at) {
            let message = format!("duplicate case id `{id}`, first used at {}:{}", earlier.file, earlier.line);
            faults.push(Diagnostic { message, ..at.clone() });
        }
    }
}

/// Reports unknown twins. A case that was refused for another fault is known by its folder's name.
fn check_twins(stated: &[Stated], refused: &[String], faults: &mut Vec<Diagnostic>) {
    let refused = refused.iter().filter_map(|folder| folder.rsplit('/').next());
    let ids: HashSet<&str> = stated.iter().map(|s| s.case.id.as_str()).chain(refused).collect();
    for case in stated {
        let (Some(twin), Some(at)) = (&case.case.twin, &case.twin_at) else { continue };
        if twin == &case.case.id {
            faults.push(Diagnostic { message: format!("the case `{twin}` cannot be its own twin"), ..at.clone() });
        } else if !ids.contains(twin.as_str()) {
            let help = suggest::did_you_mean(twin.as_str(), stated.iter().map(|s| s.case.id.as_str()));
            faults.push(Diagnostic { message: format!("unknown twin `{twin}`"), help, ..at.clone() });
        }
    }
}

/// Larger files are not compared line by line.
const LARGEST_COMPARED: usize = 4 << 20;

#[derive(Debug, Default)]
struct Tree {
    change: Option<Change>,
    refused: Vec<String>,
    left_out: LeftOut,
    code: Option<CaseCode>,
    /// Side, path and hash of every file, or the hash of a whole side.
    hashes: Vec<(String, blake3::Hash)>,
}

fn read_tree(files: &Files, stated: &Stated) -> Result<Tree, CodeFault> {
    let mut tree = Tree::default();
    let Some(source) = CodeSource::find(files, &stated.case, stated.folder.as_deref())? else { return Ok(tree) };
    let (before, after) = (source.list(files, Side::Before)?, source.list(files, Side::After)?);
    tree.refused = before.refused.into_iter().map(|link| format!("before/{link}")).collect();
    tree.refused.extend(after.refused.into_iter().map(|link| format!("after/{link}")));
    tree.left_out = after.left_out;
    tree.hashes = source.hashes()?;
    let is_whole = source.is_whole();
    let mut change = Change::default();
    let mut removed: BTreeMap<RepoPath, Vec<u8>> = BTreeMap::new();
    let mut added: BTreeMap<RepoPath, Vec<u8>> = BTreeMap::new();
    let is_deletion = after.files.is_empty() && !before.files.is_empty();
    let mut reader = CodeReader::new(files, &source, before.files, Cow::Owned(after.files));
    for name in reader.paths() {
        if reader.is_unchanged(&name) {
            continue;
        }
        let old = reader.read(Side::Before, &name)?.map(|file| file.bytes);
        let new = reader.read(Side::After, &name)?.map(|file| file.bytes);
        for (side, content) in [("before", &old), ("after", &new)] {
            if let Some(content) = content.as_ref().filter(|_| !is_whole) {
                tree.hashes.push((format!("{side}/{name}"), blake3::hash(content)));
            }
        }
        let Some(path) = RepoPath::new(&name) else { continue };
        match (old, new) {
            (Some(old), Some(new)) if old != new => drop(change.touched.insert(path, touched(&old, &new))),
            (Some(old), None) => drop(removed.insert(path, old)),
            (None, Some(new)) => drop(added.insert(path, new)),
            _ => {}
        }
    }
    let renamed = find_renames(&removed, &added);
    for (path, new) in &added {
        let old = renamed.get(path).and_then(|old| removed.get(*old)).map_or(&[][..], Vec::as_slice);
        change.touched.insert(path.clone(), touched(old, new));
    }
    change.touched.extend(removed.into_keys().map(|path| (path, vec![EVERY_LINE])));
    let after = reader.into_after();
    tree.change = source.is_compared(files, is_deletion).then_some(change);
    tree.code = Some(CaseCode { source, after, is_deletion });
    Ok(tree)
}

const EVERY_LINE: Lines = Lines { start: 1, end: u32::MAX };

fn touched(old: &[u8], new: &[u8]) -> Vec<Lines> {
    // An emptied file has no lines left, and what is said of it is about the change.
    if new.is_empty() || old.len().max(new.len()) > LARGEST_COMPARED {
        return vec![EVERY_LINE];
    }
    touched_lines(&String::from_utf8_lossy(old), &String::from_utf8_lossy(new))
}

/// From this share of equal lines on, an added file is a removed one under another name; git's default.
const RENAMED: f64 = 0.5;

/// With more pairs of removed and added files, only equal contents are looked for.
const MOST_RENAME_PAIRS: usize = 10_000;

/// The removed file that each added one was before: equal ones first, then the most similar.
pub(super) fn find_renames<'t>(
    removed: &'t BTreeMap<RepoPath, Vec<u8>>,
    added: &'t BTreeMap<RepoPath, Vec<u8>>,
) -> BTreeMap<&'t RepoPath, &'t RepoPath> {
    let few = removed.len() * added.len() <= MOST_RENAME_PAIRS;
    let similarity = |old: &[u8], new: &[u8]| {
        if old == new {
            1.0
        } else if few && old.len().max(new.len()) <= LARGEST_COMPARED {
            line_similarity(&String::from_utf8_lossy(old), &String::from_utf8_lossy(new))
        } else {
            0.0
        }
    };
    let mut pairs: Vec<(f64, &RepoPath, &RepoPath)> = Vec::new();
    for (path, new) in added.iter().filter(|(_, new)| !new.is_empty()) {
        let near = removed.iter().map(|(old_path, old)| (similarity(old, new), path, old_path));
        pairs.extend(near.filter(|(share, ..)| *share >= RENAMED));
    }
    // Ties go to equal file names, then to the first paths.
    let other_name = |path: &RepoPath, old: &RepoPath| path.file_name() != old.file_name();
    pairs.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| (other_name(a.1, a.2), a.1, a.2).cmp(&(other_name(b.1, b.2), b.1, b.2)))
    });
    let (mut renamed, mut used) = (BTreeMap::new(), BTreeSet::new());
    for (_, path, old) in pairs {
        if !renamed.contains_key(path) && used.insert(old) {
            renamed.insert(path, old);
        }
    }
    renamed
}

impl Tree {
    /// A hash of the code; `None` without code.
    fn code(&self) -> Option<String> {
        if self.hashes.is_empty() {
            return None;
        }
        let mut hasher = blake3::Hasher::new();
        self.add_to(&mut hasher);
        Some(hasher.finalize().to_hex().to_string())
    }

    fn add_to(&self, hasher: &mut blake3::Hasher) {
        for (name, hash) in &self.hashes {
            hasher.update(name.as_bytes());
            hasher.update(&[0]);
            hasher.update(hash.as_bytes());
        }
    }
}

fn digest_of(case: &Case, tree: &Tree) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new();
    // The mirror's serialisation is the canonical form: same meaning, same bytes.
    hasher.update(&serde_json::to_vec(&CaseV1::from(case)).unwrap_or_default());
    tree.add_to(&mut hasher);
    *hasher.finalize().as_bytes()
}
