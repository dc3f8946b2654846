//! Finds the change that introduced what a fix repairs.

use super::from_commit::MAX_FILE;
use crate::failure::{Failure, Result};
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::wording::{count, first_few};
use karat_source::change::replaced_lines;
use karat_source::git::{BlamedLine, CommitId, FileChange, GitError, Repository, is_binary};
use karat_source::language::Language;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Repaired lines that are further apart than this are different places.
const MAX_GAP: u32 = 3;
const MAX_LISTED: usize = 5;

/// The change that introduced what a fix repairs.
pub(super) struct Introduction {
    pub(super) commit: CommitId,
    /// The repaired lines as that change left them; the largest place if there are several.
    pub(super) place: Option<(RepoPath, Lines)>,
    /// Every commit that repaired lines come from, and how many do.
    pub(super) candidates: Vec<(CommitId, usize)>,
    pub(super) notes: Vec<String>,
}

/// Finds the commit that most of the repaired lines come from, or takes the stated one.
pub(super) fn find_introduction(
    repo: &Repository,
    fix: &CommitId,
    introduced_by: Option<&str>,
) -> Result<Introduction> {
    let stated = introduced_by.map(|rev| repo.resolve(rev)).transpose()?;
    let Some(parent) = repo.parents(fix)?.into_iter().next() else {
        return Err(Failure::bad_input(format!("commit {fix} has no parent, so it cannot be a fix")));
    };
    let mut notes = Vec::new();
    let blamed = blame_repaired(repo, &parent, fix, &mut notes)?;
    let mut counts: BTreeMap<&CommitId, usize> = BTreeMap::new();
    blamed.iter().for_each(|line| *counts.entry(&line.commit).or_default() += 1);
    let mut candidates: Vec<(CommitId, usize)> =
        counts.into_iter().map(|(commit, lines)| (commit.clone(), lines)).collect();
    candidates.sort_by_key(|(_, lines)| Reverse(*lines));
    // Of commits with equally many lines, the newest comes first.
    for at in 1..candidates.len() {
        if candidates[at].1 == candidates[0].1 && repo.is_ancestor(&candidates[0].0, &candidates[at].0) {
            candidates.swap(0, at);
        }
    }
    let Some(commit) = stated.or_else(|| candidates.first().map(|(commit, _)| commit.clone())) else {
        return Err(Failure::bad_input(format!(
            "commit {fix} changes no line that was there before, so what it repairs cannot be found; name the change that \
             introduced it with --introduced-by REV"
        )));
    };
    let others = candidates.iter().filter(|(other, _)| *other != commit);
    let others: Vec<String> =
        others.map(|(other, lines)| format!("{} ({})", other.short(), count(*lines, "line"))).collect();
    if !others.is_empty() {
        let listed = first_few(&others, MAX_LISTED);
        notes.push(format!("other repaired lines come from {listed}; choose with --introduced-by REV"));
    }
    let mut places = places(blamed.iter().filter(|line| line.commit == commit));
    if places.is_empty() {
        notes.push(format!("no repaired line comes from {commit}, so the drafted issue has no lines"));
    }
    let place = (!places.is_empty()).then(|| places.remove(0));
    if !places.is_empty() {
        let listed: Vec<String> = places
            .iter()
            .take(MAX_LISTED)
            .map(|(file, Lines { start, end })| format!("{file}:{start}-{end}"))
            .collect();
        notes.push(format!("the fix repairs more places of that change: {}", listed.join(", ")));
    }
    Ok(Introduction { commit, place, candidates, notes })
}

/// What a fix did to one file.
struct RepairedFile {
    path: RepoPath,
    replaced: BTreeSet<u32>,
    /// Lines around what was only added.
    around: BTreeSet<u32>,
}

/// The origins of the lines that a fix repairs: those of code, if it changes any, and else those of tests and other files.
fn blame_repaired(
    repo: &Repository,
    parent: &CommitId,
    fix: &CommitId,
    notes: &mut Vec<String>,
) -> Result<Vec<BlamedLine>> {
    let mut repaired = Vec::new();
    for change in repo.changed_files(Some(parent), fix)?.files {
        repaired.extend(repaired_file(repo, &change)?);
    }
    let (code, rest): (Vec<_>, Vec<_>) =
        repaired.into_iter().partition(|file| Language::from_path(&file.path).is_some() && !is_test(&file.path));
    for files in [&code, &rest] {
        let is_only_added = files.iter().all(|file| file.replaced.is_empty());
        let mut blamed = Vec::new();
        for file in files {
            let lines = if is_only_added { &file.around } else { &file.replaced };
            blamed.extend(repo.blame(parent, &file.path, &ranges(lines, 0))?);
        }
        if blamed.is_empty() {
            continue;
        }
        if is_only_added {
            notes.push("the fix only adds lines; the lines around them were taken for the repaired ones".to_owned());
        }
        return Ok(blamed);
    }
    Ok(Vec::new())
}

fn repaired_file(repo: &Repository, change: &FileChange) -> Result<Option<RepairedFile>, GitError> {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return Ok(None) };
    if !old.is_file || !new.is_file {
        return Ok(None);
    }
    let (Some(before), Some(after)) = (repo.content(old, MAX_FILE)?, repo.content(new, MAX_FILE)?) else {
        return Ok(None);
    };
    if is_binary(&before) || is_binary(&after) {
        return Ok(None);
    }
    let before = String::from_utf8_lossy(&before);
    let found = replaced_lines(&before, &String::from_utf8_lossy(&after));
    let filled: BTreeSet<u32> =
        (1..).zip(before.lines()).filter(|(_, line)| !line.trim().is_empty()).map(|(n, _)| n).collect();
    let neighbours = |at: &u32| [filled.range(..=at).next_back().copied(), filled.range(at + 1..).next().copied()];
    let around = found.insertions.iter().flat_map(neighbours).flatten().collect();
    Ok(Some(RepairedFile { path: old.path.clone(), replaced: found.lines.into_iter().collect(), around }))
}

/// Whether a file is a test by its name, as fixes change tests too.
fn is_test(path: &RepoPath) -> bool {
    let lower = path.as_str().to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_folder =
        |part: &str| matches!(part, "test" | "tests" | "testing" | "testdata" | "spec" | "specs" | "__tests__");
    let marks = ["_test.", ".test.", "_tests.", "_spec.", ".spec."];
    folders.split('/').any(is_folder) || name.starts_with("test_") || marks.iter().any(|mark| name.contains(mark))
}

/// The places of these lines in the commit they come from, the largest first.
fn places<'a>(lines: impl Iterator<Item = &'a BlamedLine>) -> Vec<(RepoPath, Lines)> {
    let mut by_file: BTreeMap<&RepoPath, BTreeSet<u32>> = BTreeMap::new();
    for line in lines {
        if let Some(file) = &line.file {
            by_file.entry(file).or_default().insert(line.line_there);
        }
    }
    let mut places = Vec::new();
    for (file, lines) in by_file {
        for range in ranges(&lines, MAX_GAP) {
            let size = lines.range(range.start..=range.end).count();
            places.push((size, file.clone(), range));
        }
    }
    places.sort_by_key(|(size, ..)| Reverse(*size));
    places.into_iter().map(|(_, file, range)| (file, range)).collect()
}

/// Ranges of lines, joined over gaps of up to so many lines.
fn ranges(lines: &BTreeSet<u32>, gap: u32) -> Vec<Lines> {
    let mut ranges: Vec<Lines> = Vec::new();
    for &line in lines {
        match ranges.last_mut() {
            Some(last) if line <= last.end + 1 + gap => last.end = line,
            _ => ranges.push(Lines { start: line, end: line }),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::from_commit::scratch_repository::Scratch;

    fn check(scratch: &Scratch, introduced_by: Option<&str>, commit: &str, place: Option<&str>, notes: &[&str]) {
        let repo = scratch.open();
        let fix = repo.resolve("HEAD").unwrap();
        let found = find_introduction(&repo, &fix, introduced_by).unwrap_or_else(|error| panic!("{}", error.text()));
        assert_eq!(repo.message(&found.commit).unwrap().0, commit);
        let shown = found.place.map(|(file, Lines { start, end })| format!("{file}:{start}-{end}"));
        assert_eq!(shown.as_deref(), place);
        assert_eq!(found.notes.len(), notes.len(), "{:?}", found.notes);
        for (note, expect) in found.notes.iter().zip(notes) {
            assert!(note.contains(expect), "{note}");
        }
    }

    /// Two changes to a file, a rename, and a change of white space.
    fn history() -> Scratch {
        let scratch = Scratch::new();
        scratch.write("old.py", "def f(rows):\n    return rows\n\n\ndef tail():\n    return 1\n").commit("first");
        scratch
            .write(
                "old.py",
                "def f(rows):\n    n = len(rows)\n    return sum(rows) / n\n\n\ndef tail():\n    return 1\n",
            )
            .commit("average");
        let moved =
            "import os\n\n\ndef f(rows):\n    n = len(rows)\n    return sum(rows) / n\n\n\ndef tail():\n    return 1\n";
        scratch.remove("old.py").write("new.py", moved).commit("move");
        scratch.write("new.py", moved.replace("    ", "\t")).commit("tabs");
        scratch
    }

    #[test]
    fn the_repaired_lines_lead_to_their_change() {
        let scratch = history();
        let fixed =
            "import os\n\n\ndef f(rows):\n\tn = len(rows) or 1\n\treturn sum(rows) / n\n\n\ndef tail():\n\treturn 1\n";
        scratch.write("new.py", fixed).write("tests/test_new.py", "assert f([]) == 0\n").commit("Fix empty rows");
        check(&scratch, None, "average", Some("old.py:2-2"), &[]);
        check(
            &scratch,
            Some("HEAD~4"),
            "first",
            None,
            &["other repaired lines come from", "no repaired line comes from"],
        );
    }

    #[test]
    fn tests_and_documents_do_not_decide() {
        let scratch = history();
        scratch.write("tests/test_f.py", "a\nb\nc\nd\n").write("README.md", "a\nb\nc\n").commit("tests");
        let text = std::fs::read_to_string(scratch.path().join("new.py")).unwrap();
        scratch
            .write("new.py", text.replace("return 1", "return 2"))
            .write("tests/test_f.py", "x\n")
            .write("README.md", "x\n");
        scratch.commit("Fix tail");
        check(&scratch, None, "first", Some("old.py:6-6"), &[]);
        // If nothing else changes, they do.
        scratch.write("README.md", "y\n").commit("Fix the text");
        check(&scratch, None, "Fix tail", Some("README.md:1-1"), &[]);
    }

    #[test]
    fn added_lines_are_placed_by_their_neighbours() {
        let scratch = history();
        let text = std::fs::read_to_string(scratch.path().join("new.py")).unwrap();
        scratch
            .write("new.py", text.replace("\tn = len", "\tif not rows:\n\t\treturn 0\n\tn = len"))
            .commit("Fix empty rows");
        check(&scratch, None, "average", Some("old.py:2-2"), &["only adds lines", "other repaired lines come from"]);
    }

    #[test]
    fn a_fix_without_repaired_lines_is_refused() {
        let scratch = history();
        scratch.write("other.py", "new\n").commit("Add a file");
        let repo = scratch.open();
        let refused = |rev: &str, expect: &str| {
            let error = find_introduction(&repo, &repo.resolve(rev).unwrap(), None).err().unwrap();
            assert!(error.text().contains(expect), "{}", error.text());
        };
        refused("HEAD", "--introduced-by");
        refused("HEAD~4", "has no parent");
    }
}
