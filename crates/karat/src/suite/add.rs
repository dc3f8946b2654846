//! Adds cases to a suite from the history of a repository.

use super::from_commit::{CaseSkeleton, DraftedGoldens, skeleton};
use super::from_fix::{OriginCandidate, find_introduction};
use super::init::remove_examples;
use super::objects::ObjectWriter;
use crate::failure::{Failure, Result};
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::wording::count;
use karat_source::git::{CommitId, Repository};
use std::fs;
use std::path::PathBuf;

/// Where the case comes from.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub enum CaseOrigin {
    /// The change of a commit.
    Commit(String),
    /// The change that introduced what a commit repairs, with the repair as its twin.
    Fix { rev: String, introduced_by: Option<String>, title: Option<String> },
}

/// The case to add.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AddRequest {
    pub origin: CaseOrigin,
    pub repo: PathBuf,
    pub suite: PathBuf,
    /// Default: made from the title of the commit.
    pub id: Option<String>,
    /// Whether the case has all files of the repository, and not only the changed ones.
    pub whole_tree: bool,
    /// Whether the unchanged example cases of `karat init` stay.
    pub keep_examples: bool,
}

/// A case and its folder.
#[expect(missing_docs, reason = "field names say it")]
pub struct AddedCase {
    pub id: CaseId,
    pub folder: PathBuf,
}

/// What was added.
#[expect(missing_docs, reason = "field names say it")]
pub struct AddReport {
    pub case: AddedCase,
    /// The fixed counterpart.
    pub twin: Option<AddedCase>,
    /// Of a fix: the commits that its repaired lines come from.
    pub candidates: Vec<OriginCandidate>,
    /// The commit whose change the case is.
    pub commit: CommitId,
    pub notes: Vec<String>,
}

/// Judges compare what a finding says with what a golden says, and a subject such as *Fix crash* says nothing.
const TITLE_ALONE: &str = "the drafted issue has a title and no other words, since the fix has no description: say what is wrong \
                           with `title`, `description` and `keywords`";

/// Adds a case, or a case and its twin. Either both are there in the end or neither is.
pub fn add_case(request: &AddRequest) -> Result<AddReport> {
    let repo = Repository::open(&request.repo)?;
    let mut candidates = Vec::new();
    let mut notes = Vec::new();
    let mut cases = match &request.origin {
        CaseOrigin::Commit(rev) => vec![skeleton(&repo, rev, request.id.as_deref())?],
        CaseOrigin::Fix { rev, introduced_by, title } => {
            let fix = repo.resolve(rev)?;
            let found = find_introduction(&repo, &fix, introduced_by.as_deref())?;
            (candidates, notes) = (found.candidates, found.notes);
            let mut faulty = skeleton(&repo, found.commit.as_str(), request.id.as_deref())?;
            let mut fixed = skeleton(&repo, fix.as_str(), Some(&format!("{}-fixed", faulty.id)))?;
            let is_there = |file: &RepoPath| request.whole_tree || faulty.after.iter().any(|(path, _)| path == file);
            let (places, absent): (Vec<_>, Vec<_>) = found.places.into_iter().partition(|(file, _)| is_there(file));
            if let Some((file, _)) = absent.first() {
                let result = if places.is_empty() { ", so the drafted issue has no lines" } else { "" };
                notes.push(format!("{file} is not in the case{result}; try --whole-tree"));
            }
            let title = title.clone().unwrap_or_else(|| fixed.title.clone());
            let description = fixed.description.clone();
            if description.is_empty() {
                notes.push(TITLE_ALONE.to_owned());
            }
            faulty.goldens = DraftedGoldens::Repaired { fix, title, description, places };
            faulty.twin = Some(fixed.id.clone());
            fixed.goldens = DraftedGoldens::Fixed;
            fixed.twin = Some(faulty.id.clone());
            vec![faulty, fixed]
        }
    };
    refuse_existing(request, &cases)?;
    if request.whole_tree {
        let mut objects = ObjectWriter::new(&request.suite);
        cases.iter_mut().try_for_each(|case| case.store_trees(&repo, &mut objects))?;
    }
    let mut added: Vec<AddedCase> = Vec::new();
    for case in &cases {
        match case.write(&request.suite) {
            Ok(folder) => added.push(AddedCase { id: case.id.clone(), folder }),
            Err(error) => {
                // The first error says more.
                added.iter().for_each(|case| drop(fs::remove_dir_all(&case.folder)));
                return Err(Failure::io(request.suite.display(), error));
            }
        }
        notes.extend(case.notes.iter().filter(|note| !notes.contains(note)).cloned().collect::<Vec<_>>());
    }
    if !request.keep_examples {
        let removed = remove_examples(&request.suite).map_err(|error| Failure::io(request.suite.display(), error))?;
        if !removed.is_empty() {
            let cases = count(removed.len(), "example case");
            let listed = removed.join(", ");
            notes.push(format!("removed the {cases} of `karat init`: {listed}; --keep-examples keeps them"));
        }
    }
    let commit = cases[0].commit.clone();
    let mut added = added.into_iter();
    let Some(case) = added.next() else { return Err(Failure::failed("nothing was added")) };
    Ok(AddReport { case, twin: added.next(), candidates, commit, notes })
}

/// Refuses before anything is stored.
fn refuse_existing(request: &AddRequest, cases: &[CaseSkeleton]) -> Result<()> {
    for case in cases {
        let folder = request.suite.join("cases").join(case.id.as_str());
        if fs::symlink_metadata(&folder).is_ok() {
            let message = "this case already exists; give another id with --id, or remove it first";
            return Err(Failure::bad_input(format!("{}: {message}", folder.display())));
        }
    }
    Ok(())
}
