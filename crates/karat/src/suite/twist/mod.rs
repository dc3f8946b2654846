//! Writes a copy of a suite whose cases mean the same and read differently, to tell what a tool remembers from what it finds.
//!
//! All versions of a case's code are changed in step: before, after, and after with each fix, whose patches are written anew. Names that
//! are said anywhere outside the code stay, so that proofs, pull requests and goldens stay true.

mod case_file;
mod dead_code;
mod layout;
mod moves;
mod new_names;
mod patch;
mod program;
#[cfg(test)]
mod tests;

pub use program::TwistOperation;

use super::code::Side;
use super::kept_proofs::{PROOFS, case_folder, proof_path};
use super::package::make_parents;
use super::prove::ProveReport;
use super::{LoadedSuite, StatedIn, load_suite};
use crate::failure::{Failure, Result};
use crate::run::selection::Selection;
use crate::scratch::{Scratch, make_scratch};
use case_file::{CaseEdit, edited_cases};
use karat_core::golden::{Golden, Proof};
use karat_core::ids::CaseId;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::suite::{Case, TwistedFrom};
use karat_io::atomic_write;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use karat_source::git::apply_patch;
use karat_source::language::Language;
use patch::write_patch;
use program::{FileTree, Mark, Program, TwistedProgram};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Longer code takes too long to twist, since some questions about it are asked of every pair of its functions.
const MAX_CODE: usize = 256 << 10;
/// What findings of the original would be wrong about.
const SUBMISSIONS: &str = "submissions/";
/// What is no part of a suite.
const NO_PART: [&str; 3] = [".git/", ".karat/", "target/"];

/// Which suite to make a variant of, and where.
#[derive(Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TwistRequest {
    /// A folder or the name of a built-in suite.
    pub suite: String,
    /// A folder that does not exist yet, or is empty.
    pub folder: PathBuf,
    /// Where random choices start from.
    pub seed: u64,
    pub selection: Selection,
}

/// What was written.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct TwistReport {
    /// The name of the suite.
    pub suite: String,
    /// The hash of the original.
    pub twisted_from: String,
    pub seed: u64,
    pub folder: PathBuf,
    pub cases: Vec<CaseTwist>,
    /// How many goldens have proofs, which should still hold.
    pub proofs: usize,
    /// Files that were not copied, since they are about the original.
    pub left_out: Vec<String>,
}

/// What became of a case.
#[derive(Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct CaseTwist {
    pub case: CaseId,
    pub language: Option<String>,
    /// How often each operation was done: names, files or texts.
    pub operations: BTreeMap<TwistOperation, usize>,
    /// Operations that found nothing to change.
    pub not_applied: Vec<TwistOperation>,
    /// Operations that were taken back, since the case's proofs did not hold.
    pub dropped: BTreeSet<TwistOperation>,
    /// Files of the case in a language without a grammar.
    pub unread_files: usize,
    /// Why it is a mere copy.
    pub copied_because: Option<String>,
}

/// The order in which operations are taken back where a proof does not hold: those first that change most.
const DROPPED_FIRST: [TwistOperation; 5] = [
    TwistOperation::Rename,
    TwistOperation::Move,
    TwistOperation::Reorder,
    TwistOperation::LogText,
    TwistOperation::DeadCode,
];

/// A file to write, and whether it can be executed.
type Written = BTreeMap<String, (Vec<u8>, bool)>;

/// Writes a variant of a suite into a new folder.
pub fn twist_suite(request: &TwistRequest) -> Result<TwistReport> {
    let twist = SuiteTwist::new(request)?;
    twist.write(&Written::new())?;
    Ok(twist.report())
}

/// The same, and runs the proofs of the variant with `prove`. Where one does not hold, its case is written again with fewer
/// operations, and at last as a mere copy.
pub fn twist_proven(
    request: &TwistRequest,
    prove: &mut dyn FnMut(&Path) -> Result<ProveReport>,
) -> Result<(TwistReport, ProveReport)> {
    let mut twist = SuiteTwist::new(request)?;
    let mut written = twist.write(&Written::new())?;
    loop {
        let proofs = prove(&request.folder)?;
        let failed: BTreeSet<&CaseId> =
            proofs.proofs.iter().filter(|proof| !proof.holds()).map(|proof| &proof.case).collect();
        if !twist.drop_operations(&failed)? {
            return Ok((twist.report(), proofs));
        }
        written = twist.write(&written)?;
    }
}

/// The variant of a suite, before it is written.
struct SuiteTwist<'r> {
    request: &'r TwistRequest,
    loaded: LoadedSuite,
    selected: BTreeSet<CaseId>,
    /// The files that no operation changes.
    copied: Written,
    left_out: Vec<String>,
    scratch: Scratch,
    cases: BTreeMap<CaseId, (CaseTwist, Option<TwistedCode>)>,
}

impl<'r> SuiteTwist<'r> {
    fn new(request: &'r TwistRequest) -> Result<Self> {
        refuse_folder(&request.folder)?;
        let loaded = load_suite(&request.suite)?;
        let selected = select_with_twins(&loaded, &request.selection)?;
        let (copied, left_out) = copied_files(&loaded, &selected)?;
        let scratch = make_scratch()?;
        let mut twist = Self { request, loaded, selected, copied, left_out, scratch, cases: BTreeMap::new() };
        let mut cases = BTreeMap::new();
        for id in &twist.selected {
            cases.extend(twist.twist_case(id, &BTreeSet::new())?.map(|twisted| (id.clone(), twisted)));
        }
        twist.cases = cases;
        Ok(twist)
    }

    fn twist_case(
        &self,
        id: &CaseId,
        dropped: &BTreeSet<TwistOperation>,
    ) -> Result<Option<(CaseTwist, Option<TwistedCode>)>> {
        let Some(case) = self.loaded.suite.cases.iter().find(|case| case.id == *id) else { return Ok(None) };
        let failed = |error| Failure::io(format!("the code of `{id}`"), error);
        twist_case(&self.loaded, case, self.request.seed, dropped, &self.scratch).map(Some).map_err(failed)
    }

    /// Twists cases again without one more of the operations that were done to them; `false` if none of them has one.
    fn drop_operations(&mut self, cases: &BTreeSet<&CaseId>) -> Result<bool> {
        let mut has_dropped = false;
        for id in cases {
            let Some((done, Some(_))) = self.cases.get(*id) else { continue };
            let Some(next) = DROPPED_FIRST.into_iter().find(|own| done.operations.contains_key(own)) else { continue };
            let mut dropped = done.dropped.clone();
            dropped.insert(next);
            if let Some(twisted) = self.twist_case(id, &dropped)? {
                self.cases.insert((*id).clone(), twisted);
                has_dropped = true;
            }
        }
        Ok(has_dropped)
    }

    /// Writes the variant over an earlier one of which these files were written.
    fn write(&self, earlier: &Written) -> Result<Written> {
        let TwistRequest { folder, seed, .. } = self.request;
        let loaded = &self.loaded;
        let mut written = self.copied.clone();
        let mut edits = Vec::new();
        for case in &loaded.suite.cases {
            let Some((done, Some(code))) = self.cases.get(&case.id) else { continue };
            let operations = done.operations.keys().map(|own| own.as_str().to_owned()).collect();
            let from = TwistedFrom { suite: loaded.suite.digest.clone(), seed: *seed, operations };
            edits.push(CaseEdit { case: case.id.clone(), marks: code.program.marks.clone(), from });
            replace_code(loaded, case, code, &mut written);
        }
        let edited = edited_cases(loaded, &edits).map_err(Failure::bad_input)?;
        for (path, text) in edited {
            let text = if path == "cases.jsonl" { only_lines(loaded, &self.selected, &text) } else { text };
            written.insert(path, (text.into_bytes(), false));
        }
        write_files(folder, &written, earlier).map_err(|error| Failure::unwritten(folder.display(), error))?;
        Ok(written)
    }

    fn report(self) -> TwistReport {
        let TwistRequest { folder, seed, .. } = self.request;
        let suite = &self.loaded.suite;
        let goldens = suite.cases.iter().filter(|case| self.selected.contains(&case.id)).flat_map(|case| &case.goldens);
        let proofs = goldens.filter(|golden| golden.proof.is_some()).count();
        let mut cases = self.cases;
        TwistReport {
            suite: suite.name.clone(),
            twisted_from: suite.digest.clone(),
            seed: *seed,
            folder: folder.clone(),
            cases: suite.cases.iter().filter_map(|case| Some(cases.remove(&case.id)?.0)).collect(),
            proofs,
            left_out: self.left_out,
        }
    }
}

fn refuse_folder(folder: &Path) -> Result<()> {
    let is_empty = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => true,
        Err(error) => return Err(Failure::unwritten(folder.display(), error)),
    };
    let message =
        || format!("{} is not empty; name a new folder, so that nothing of yours is overwritten", folder.display());
    if is_empty { Ok(()) } else { Err(Failure::bad_input(message())) }
}

/// The selected cases, and their twins, without which they could not be loaded.
fn select_with_twins(loaded: &LoadedSuite, selection: &Selection) -> Result<BTreeSet<CaseId>> {
    let selected = selection.select(&loaded.suite)?;
    Ok(selected.into_iter().flat_map(|case| std::iter::once(case.id.clone()).chain(case.twin.clone())).collect())
}

/// The files of the suite as they are, without cases that were not selected, and the names of those that are left out.
fn copied_files(loaded: &LoadedSuite, selected: &BTreeSet<CaseId>) -> Result<(Written, Vec<String>)> {
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
fn only_lines(loaded: &LoadedSuite, selected: &BTreeSet<CaseId>, text: &str) -> String {
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

/// The code of a case in all its versions.
struct Versions {
    /// First that before the change, if there is one, then that after it, then that with each fix.
    files: Vec<FileTree>,
    before: Option<usize>,
    after: usize,
    /// The patch of each version after that.
    patches: Vec<String>,
}

/// The variant of a case's code.
struct TwistedCode {
    program: TwistedProgram,
    versions: Versions,
    /// The text of each patch, by its path in the case.
    patches: BTreeMap<String, String>,
}

/// Makes a variant of a case without the operations that are dropped, or says why it is copied.
fn twist_case(
    loaded: &LoadedSuite,
    case: &Case,
    seed: u64,
    dropped: &BTreeSet<TwistOperation>,
    scratch: &Scratch,
) -> io::Result<(CaseTwist, Option<TwistedCode>)> {
    let copied = |why: &str, unread_files: usize| CaseTwist {
        case: case.id.clone(),
        language: case.language.clone(),
        operations: BTreeMap::new(),
        not_applied: TwistOperation::ALL.into_iter().filter(|own| !dropped.contains(own)).collect(),
        dropped: dropped.clone(),
        unread_files,
        copied_because: Some(why.to_owned()),
    };
    if case.trees.is_some() || case.rev.is_some() {
        return Ok((copied("its code is not in its folder", 0), None));
    }
    let versions = match read_versions(loaded, case, scratch)? {
        Ok(versions) => versions,
        Err(why) => return Ok((copied(&why, 0), None)),
    };
    let after = &versions.files[versions.after];
    let has_grammar = |path: &String| RepoPath::new(path).is_some_and(|path| Language::from_path(&path).is_some());
    let unread = after.keys().filter(|path| !has_grammar(path)).count();
    if unread == after.len() {
        return Ok((copied("no grammar for its language", unread), None));
    }
    if versions.files.iter().flatten().any(|(path, bytes)| has_grammar(path) && bytes.len() > MAX_CODE) {
        return Ok((copied("a file of its code is longer than 256 KiB", unread), None));
    }
    let outside = outside_text(loaded, case, &versions)?;
    let marks: Vec<Mark> = case.goldens.iter().map(mark).collect();
    let program = Program {
        versions: &versions.files,
        after: versions.after,
        before: versions.before,
        outside: &outside,
        marks: &marks,
        seed,
    };
    // A key may contain lines and paths.
    let is_keyed = case.goldens.iter().any(|golden| golden.identity_key.is_some() || golden.anchor.is_some());
    let renames = [TwistOperation::Rename, TwistOperation::LogText];
    let attempts: &[&[TwistOperation]] =
        if is_keyed { &[&renames] } else { &[&TwistOperation::ALL, &renames, &[TwistOperation::DeadCode]] };
    let mut why = match dropped.is_empty() {
        true => "nothing in it can be changed safely".to_owned(),
        false => "its proofs do not hold on variants of it".to_owned(),
    };
    for wanted in attempts {
        let wanted: Vec<TwistOperation> = wanted.iter().copied().filter(|own| !dropped.contains(own)).collect();
        let twisted = match program.twist(&wanted) {
            Ok(twisted) if !twisted.operations.is_empty() && twisted.versions != versions.files => twisted,
            Ok(_) => continue,
            Err(reason) => {
                why = reason;
                continue;
            }
        };
        let Some(patches) = new_patches(&versions, &twisted) else {
            "a patch of it cannot be written".clone_into(&mut why);
            continue;
        };
        let operations = twisted.operations.clone();
        let is_open = |own: &TwistOperation| !operations.contains_key(own) && !dropped.contains(own);
        let not_applied = TwistOperation::ALL.into_iter().filter(is_open).collect();
        let done = CaseTwist { operations, not_applied, copied_because: None, ..copied("", unread) };
        return Ok((done, Some(TwistedCode { program: twisted, versions, patches })));
    }
    Ok((copied(&why, unread), None))
}

/// The patches from the variant to each of its fixes; `None` if one cannot be written.
fn new_patches(versions: &Versions, twisted: &TwistedProgram) -> Option<BTreeMap<String, String>> {
    let (after, fixed) = twisted.versions.get(versions.after..)?.split_first()?;
    let patches = versions.patches.iter().zip(fixed);
    patches.map(|(path, fixed)| Some((path.clone(), write_patch(after, fixed)?))).collect()
}

fn mark(golden: &Golden) -> Mark {
    let file = golden.file.as_ref().map(ToString::to_string);
    let is_exact = matches!(golden.file, Some(FilePattern::Exact(_)));
    Mark { file, lines: golden.lines.filter(|_| is_exact), quote: golden.quote.clone() }
}

/// Reads all versions of a case's code, or says why they cannot be had.
fn read_versions(loaded: &LoadedSuite, case: &Case, scratch: &Scratch) -> io::Result<Result<Versions, String>> {
    let Some(mut code) = loaded.read_code(&case.id)? else { return Ok(Err("it has no code".to_owned())) };
    let mut read = |side: Side| -> io::Result<FileTree> {
        let mut files = FileTree::new();
        for path in code.paths() {
            if let Some(file) = code.read(side, &path)? {
                files.insert(path, file.bytes);
            }
        }
        Ok(files)
    };
    let before = Some(read(Side::Before)?).filter(|files| !files.is_empty());
    let after = read(Side::After)?;
    let mut versions =
        Versions { before: before.is_some().then_some(0), after: 0, files: Vec::new(), patches: Vec::new() };
    versions.files.extend(before);
    versions.after = versions.files.len();
    versions.files.push(after);
    for proof in case.goldens.iter().filter_map(|golden| golden.proof.as_ref()) {
        if versions.patches.contains(&proof.fixed) {
            continue;
        }
        match fixed_version(loaded, case, proof, &versions.files[versions.after], scratch)? {
            Ok(files) => versions.files.push(files),
            Err(why) => return Ok(Err(why)),
        }
        versions.patches.push(proof.fixed.clone());
    }
    Ok(Ok(versions))
}

/// The code with a fix.
fn fixed_version(
    loaded: &LoadedSuite,
    case: &Case,
    proof: &Proof,
    after: &FileTree,
    scratch: &Scratch,
) -> io::Result<Result<FileTree, String>> {
    let Some(patch) = loaded.files.read(&proof_path(loaded, &case.id, &proof.fixed))? else {
        return Ok(Err(format!("{} is missing", proof.fixed)));
    };
    let folder = scratch.path.join("fixed");
    fs::create_dir(&folder)?;
    for (path, bytes) in after {
        make_parents(&folder, Path::new(path))?;
        fs::write(folder.join(path), bytes)?;
    }
    let applied = apply_patch(&folder, &patch);
    let files = Files::Disk(folder.clone());
    let mut fixed = FileTree::new();
    for path in files.walk("")?.files {
        if let Some(bytes) = files.read(&path)? {
            fixed.insert(path, bytes);
        }
    }
    remove_tree(&folder)?;
    Ok(applied.map(|()| fixed).map_err(|error| format!("{} does not apply: {error}", proof.fixed)))
}

/// Everything that is said about the code of a case outside of it.
fn outside_text(loaded: &LoadedSuite, case: &Case, versions: &Versions) -> io::Result<String> {
    let mut parts: Vec<String> = vec![case.id.to_string()];
    parts.extend(case.name.iter().chain(&case.description).cloned());
    parts.extend(case.pr.iter().flat_map(|pr| [pr.title.clone(), pr.description.clone()]));
    parts.extend(case.categories.iter().chain(case.meta.values()).cloned());
    for golden in &case.goldens {
        let texts = [
            &golden.title,
            &golden.description,
            &golden.function,
            &golden.rule_id,
            &golden.anchor,
            &golden.identity_key,
            &golden.root_cause,
            &golden.attack_scenario,
            &golden.fix,
            &golden.category,
        ];
        parts.extend(texts.into_iter().flatten().cloned());
        parts.extend(golden.keywords.iter().chain(&golden.rule_aliases).cloned());
        let Some(proof) = &golden.proof else { continue };
        parts.extend(proof.run.iter().cloned());
        let folder = proof_path(loaded, &case.id, &proof.files);
        for path in loaded.files.walk(&folder)?.files {
            let bytes = loaded.files.read(&format!("{folder}/{path}"))?.unwrap_or_default();
            parts.push(path);
            parts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    for (path, bytes) in versions.files.iter().flatten() {
        let is_code = RepoPath::new(path).is_some_and(|path| Language::from_path(&path).is_some());
        if !is_code || std::str::from_utf8(bytes).is_err() {
            parts.push(String::from_utf8_lossy(bytes).into_owned());
        }
    }
    Ok(parts.join("\n"))
}

/// Puts the code of a variant in place of that of the case, and writes its patches.
fn replace_code(loaded: &LoadedSuite, case: &Case, code: &TwistedCode, written: &mut Written) {
    let TwistedCode { program, versions, patches } = code;
    let folder = case_folder(loaded, &case.id);
    for (side, index) in [("before", versions.before), ("after", Some(versions.after))] {
        let Some(index) = index else { continue };
        let mut executable = BTreeSet::new();
        for path in versions.files[index].keys() {
            let removed = written.remove(&format!("{folder}/{side}/{path}"));
            if removed.is_some_and(|(_, is_executable)| is_executable) {
                executable.insert(program.moves.get(path).unwrap_or(path));
            }
        }
        for (path, bytes) in &program.versions[index] {
            let place = format!("{folder}/{side}/{path}");
            written.insert(place, (bytes.clone(), executable.contains(path)));
        }
    }
    for (path, text) in patches {
        written.insert(proof_path(loaded, &case.id, path), (text.clone().into_bytes(), false));
    }
}

/// Writes files, of which earlier ones need not be written again, and removes those that are no longer among them.
fn write_files(folder: &Path, written: &Written, earlier: &Written) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for path in earlier.keys().filter(|path| !written.contains_key(*path)) {
        fs::remove_file(folder.join(path))?;
    }
    for (path, (bytes, is_executable)) in written {
        if earlier.get(path).is_some_and(|own| own.0 == *bytes && own.1 == *is_executable) {
            continue;
        }
        make_parents(folder, Path::new(path))?;
        let target = folder.join(path);
        atomic_write::write(&target, &mut |out| out.write_all(bytes))?;
        if *is_executable {
            fs::set_permissions(&target, fs::Permissions::from_mode(0o755))?;
        }
    }
    Ok(())
}
