//! The code of a case in all its versions, and what is said about it elsewhere.

use super::program::FileTree;
use crate::scratch::Scratch;
use crate::suite::LoadedSuite;
use crate::suite::code::Side;
use crate::suite::kept_proofs::proof_path;
use crate::suite::package::make_parents;
use karat_core::golden::Proof;
use karat_core::path::RepoPath;
use karat_core::suite::Case;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use karat_source::git::apply_patch;
use karat_source::language::Language;
use std::fs;
use std::io;
use std::path::Path;

/// The code of a case in all its versions.
pub(super) struct Versions {
    /// First that before the change, if there is one, then that after it, then that with each fix.
    pub(super) files: Vec<FileTree>,
    pub(super) before: Option<usize>,
    pub(super) after: usize,
    /// The patch of each version after that.
    pub(super) patches: Vec<String>,
}

/// Reads all versions of a case's code, or says why they cannot be had.
pub(super) fn read_versions(
    loaded: &LoadedSuite,
    case: &Case,
    scratch: &Scratch,
) -> io::Result<Result<Versions, String>> {
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
pub(super) fn outside_text(loaded: &LoadedSuite, case: &Case, versions: &Versions) -> io::Result<String> {
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
