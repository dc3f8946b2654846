//! Writes a copy of a suite whose cases mean the same and read differently, to tell what a tool remembers from what it finds.
//!
//! All versions of a case's code are changed in step: before, after, and after with each fix, whose patches are written anew. Names that
//! are said anywhere outside the code stay, so that proofs, pull requests and goldens stay true.

mod case_file;
mod copied;
mod dead_code;
mod layout;
mod moves;
mod new_names;
mod patch;
mod program;
#[cfg(test)]
mod tests;
mod versions;

pub use program::TwistOperation;

use super::kept_proofs::{case_folder, proof_path};
use super::package::make_parents;
use super::prove::ProveReport;
use super::{LoadedSuite, load_suite};
use crate::failure::{Failure, Result};
use crate::run::selection::Selection;
use crate::scratch::{Scratch, make_scratch};
use case_file::{CaseEdit, can_be_edited, edited_cases};
use copied::{copied_files, only_lines, refuse_folder};
use karat_core::golden::Golden;
use karat_core::ids::CaseId;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::suite::{Case, TwistedFrom};
use karat_io::atomic_write;
use karat_source::language::Language;
use patch::write_patch;
use program::{Mark, Program, TwistedProgram};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use versions::{Versions, outside_text, read_versions};

/// Longer code takes too long to twist, since some questions about it are asked of every pair of its functions.
const MAX_CODE: usize = 256 << 10;

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
    /// Why operations could not be done at all, where it is not that there was nothing to change.
    pub refused: BTreeMap<TwistOperation, String>,
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
        let loaded = load_suite(&request.suite)?;
        refuse_folder(&request.folder, &loaded.files)?;
        let selected = select_with_twins(&loaded, &request.selection)?;
        if loaded.suite.cases.iter().any(|case| case.twisted_from.is_some()) {
            let message = "this suite was twisted already; twist the original with another --seed";
            return Err(Failure::bad_input(message));
        }
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
            edits.push(case_edit(loaded, case, &done.operations, &code.program, *seed));
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

/// The selected cases, and their twins, without which they could not be loaded.
fn select_with_twins(loaded: &LoadedSuite, selection: &Selection) -> Result<BTreeSet<CaseId>> {
    let selected = selection.select(&loaded.suite)?;
    Ok(selected.into_iter().flat_map(|case| std::iter::once(case.id.clone()).chain(case.twin.clone())).collect())
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
        refused: BTreeMap::new(),
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
        if !can_be_edited(loaded, case_edit(loaded, case, &operations, &twisted, seed)) {
            return Ok((copied("its case file is laid out in a way that cannot be edited safely", unread), None));
        }
        let is_open = |own: &TwistOperation| !operations.contains_key(own) && !dropped.contains(own);
        let not_applied: Vec<TwistOperation> = TwistOperation::ALL.into_iter().filter(is_open).collect();
        let why = if is_keyed { "a key of a golden may contain lines and paths" } else { why.as_str() };
        let left_out = not_applied.iter().filter(|own| !wanted.contains(own)).map(|own| (*own, why.to_owned()));
        let refused = left_out.chain(twisted.refused.clone()).collect();
        let done = CaseTwist { operations, not_applied, refused, copied_because: None, ..copied("", unread) };
        return Ok((done, Some(TwistedCode { program: twisted, versions, patches })));
    }
    Ok((copied(&why, unread), None))
}

fn case_edit(
    loaded: &LoadedSuite,
    case: &Case,
    operations: &BTreeMap<TwistOperation, usize>,
    program: &TwistedProgram,
    seed: u64,
) -> CaseEdit {
    let operations = operations.keys().map(|own| own.as_str().to_owned()).collect();
    let from = TwistedFrom { suite: loaded.suite.digest.clone(), seed, operations };
    CaseEdit { case: case.id.clone(), marks: program.marks.clone(), from }
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
