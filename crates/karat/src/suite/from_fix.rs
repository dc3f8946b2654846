//! Finds the change that introduced what a fix repairs.

use super::from_commit::MAX_FILE;
use crate::failure::{Failure, Result};
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use karat_core::wording::{count, first_few};
use karat_source::git::{BlamedLine, CommitId, FileChange, GitError, Repository, is_binary};
use karat_source::language::Language;
use karat_source::repair::{Repair, is_lock_file, repair};
use karat_source::symbols::Symbols;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Repaired lines that are further apart than this are different places.
const MAX_GAP: u32 = 3;
const MAX_LISTED: usize = 5;
/// More repaired places are listed and not drafted.
const MAX_PLACES: usize = 12;

/// The change that introduced what a fix repairs.
pub(super) struct Introduction {
    pub(super) commit: CommitId,
    /// The repaired lines as that change left them, the most important place first.
    pub(super) places: Vec<(RepoPath, Lines)>,
    /// Every commit that repaired lines come from, that of the most important ones first.
    pub(super) candidates: Vec<OriginCandidate>,
    pub(super) notes: Vec<String>,
}

/// A commit that repaired lines come from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct OriginCandidate {
    pub commit: CommitId,
    pub lines: usize,
    /// How many nodes of the syntax tree the fix changed on these lines; without a grammar, how many lines.
    pub weight: u64,
}

/// A repaired line, its origin and its weight.
struct Repaired {
    line: BlamedLine,
    weight: u32,
    /// Whether it was not changed itself, and something new was added next to it.
    is_around: bool,
}

/// Finds the commit that what was repaired most comes from, or takes the stated one.
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
    let repaired = blame_repaired(repo, &parent, fix, &mut notes)?;
    let candidates = candidates(repo, &repaired);
    let Some(commit) = stated.or_else(|| candidates.first().map(|candidate| candidate.commit.clone())) else {
        return Err(Failure::bad_input(format!(
            "commit {fix} repairs no line that was there before: new files, layout, comments, imports, version numbers and \
             lock files do not count; name the change that introduced the problem with --introduced-by REV"
        )));
    };
    let others = candidates.iter().filter(|other| other.commit != commit);
    let others: Vec<String> =
        others.map(|other| format!("{} ({})", other.commit.short(), count(other.lines, "line"))).collect();
    if !others.is_empty() {
        let listed = first_few(&others, MAX_LISTED);
        notes.push(format!("other repaired lines come from {listed}; choose with --introduced-by REV"));
    }
    let mut places = places(repo, &commit, repaired.iter().filter(|repaired| repaired.line.commit == commit))?;
    if places.is_empty() {
        notes.push(format!("no repaired line comes from {commit}, so the drafted issue has no lines"));
    }
    if places.len() > MAX_PLACES {
        let rest = places.split_off(MAX_PLACES);
        let listed: Vec<String> = rest.iter().map(|(file, lines)| format!("{file}:{}", lines.start)).collect();
        notes.push(format!("the fix repairs more places of that change: {}", first_few(&listed, MAX_LISTED)));
    }
    Ok(Introduction { commit, places, candidates, notes })
}

/// The origins of repaired lines: first by weight; of equal ones, the newest.
fn candidates(repo: &Repository, repaired: &[Repaired]) -> Vec<OriginCandidate> {
    let mut found: BTreeMap<&CommitId, (usize, u64)> = BTreeMap::new();
    for Repaired { line, weight, .. } in repaired {
        let entry = found.entry(&line.commit).or_default();
        *entry = (entry.0 + 1, entry.1 + u64::from(*weight));
    }
    let candidate =
        |(commit, (lines, weight)): (&CommitId, _)| OriginCandidate { commit: commit.clone(), lines, weight };
    let mut candidates: Vec<OriginCandidate> = found.into_iter().map(candidate).collect();
    candidates.sort_by_key(|candidate| Reverse(candidate.weight));
    for at in 1..candidates.len() {
        let [first, other] = [0, at].map(|at| &candidates[at]);
        if other.weight == first.weight && repo.is_ancestor(&first.commit, &other.commit) {
            candidates.swap(0, at);
        }
    }
    candidates
}

/// What a fix did to one file.
struct RepairedFile {
    path: RepoPath,
    repair: Repair,
}

/// The origins of the lines that a fix repairs: those of code, if it changes any, and else those of tests and other files.
fn blame_repaired(
    repo: &Repository,
    parent: &CommitId,
    fix: &CommitId,
    notes: &mut Vec<String>,
) -> Result<Vec<Repaired>> {
    let mut files = Vec::new();
    for change in repo.changed_files(Some(parent), fix)?.files {
        files.extend(repaired_file(repo, &change)?);
    }
    let (code, rest): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|file| Language::from_path(&file.path).is_some() && !is_test(&file.path));
    for files in [&code, &rest] {
        let only_adds = files.iter().all(|file| file.repair.only_adds);
        for is_around in [false, true] {
            let mut repaired = Vec::new();
            for RepairedFile { path, repair } in files {
                let weights = if is_around { &repair.around } else { &repair.lines };
                let asked = join(weights.keys().copied(), 0, None);
                let blamed = repo.blame(parent, path, &asked)?;
                let weigh = |line: BlamedLine| {
                    let weight = weights.get(&line.line).copied().unwrap_or(1);
                    Repaired { line, weight, is_around }
                };
                repaired.extend(blamed.into_iter().map(weigh));
            }
            if repaired.is_empty() {
                continue;
            }
            if only_adds {
                let added = "the fix only adds lines; the lines around them were taken for the repaired ones";
                notes.push(added.to_owned());
            }
            return Ok(repaired);
        }
    }
    Ok(Vec::new())
}

fn repaired_file(repo: &Repository, change: &FileChange) -> Result<Option<RepairedFile>, GitError> {
    let (Some(old), Some(new)) = (&change.old, &change.new) else { return Ok(None) };
    if !old.is_file || !new.is_file || is_lock_file(&old.path) {
        return Ok(None);
    }
    let (Some(before), Some(after)) = (repo.content(old, MAX_FILE)?, repo.content(new, MAX_FILE)?) else {
        return Ok(None);
    };
    if is_binary(&before) || is_binary(&after) {
        return Ok(None);
    }
    let language = Language::from_path(&old.path);
    let repair = repair(language, &String::from_utf8_lossy(&before), &String::from_utf8_lossy(&after));
    Ok(Some(RepairedFile { path: old.path.clone(), repair }))
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

/// The places of these lines in the commit they come from, those first of which most was repaired.
fn places<'a>(
    repo: &Repository,
    commit: &CommitId,
    repaired: impl Iterator<Item = &'a Repaired>,
) -> Result<Vec<(RepoPath, Lines)>> {
    let mut by_file: BTreeMap<&RepoPath, BTreeMap<u32, u64>> = BTreeMap::new();
    let mut separates_definitions = true;
    for Repaired { line, weight, is_around } in repaired {
        // Something new between two functions is one place.
        separates_definitions &= !is_around;
        if let Some(file) = &line.file {
            *by_file.entry(file).or_default().entry(line.line_there).or_default() += u64::from(*weight);
        }
    }
    let mut places = Vec::new();
    for (file, weights) in by_file {
        let symbols = if separates_definitions { symbols(repo, commit, file)? } else { None };
        for range in join(weights.keys().copied(), MAX_GAP, symbols.as_ref()) {
            let weight: u64 = weights.range(range.start..=range.end).map(|(_, weight)| weight).sum();
            places.push((weight, file.clone(), range));
        }
    }
    places.sort_by_key(|(weight, ..)| Reverse(*weight));
    Ok(places.into_iter().map(|(_, file, range)| (file, range)).collect())
}

/// The definitions of a file in a commit.
fn symbols(repo: &Repository, commit: &CommitId, file: &RepoPath) -> Result<Option<Symbols>, GitError> {
    let Some(language) = Language::from_path(file) else { return Ok(None) };
    let Some(entry) = repo.entry(commit, file)? else { return Ok(None) };
    let content = repo.content(&entry, MAX_FILE)?;
    Ok(content.and_then(|bytes| Symbols::parse(language, &String::from_utf8_lossy(&bytes))))
}

/// Joins sorted lines over gaps of up to so many lines. Lines of different definitions stay apart, unless one definition is within
/// the other, as a method is within its class.
fn join(lines: impl Iterator<Item = u32>, gap: u32, symbols: Option<&Symbols>) -> Vec<Lines> {
    let mut ranges: Vec<Lines> = Vec::new();
    // A line of the innermost definition of the last range.
    let mut inner = 0;
    for line in lines {
        let around_both = symbols.map(|symbols| symbols.around(Lines { start: inner, end: line }));
        let is_around_both =
            |line| symbols.map(|symbols| symbols.around(Lines { start: line, end: line })) == around_both;
        match ranges.last_mut().filter(|last| line <= last.end + 1 + gap) {
            Some(last) if is_around_both(inner) => (last.end, inner) = (line, line),
            Some(last) if is_around_both(line) => last.end = line,
            _ => {
                ranges.push(Lines { start: line, end: line });
                inner = line;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::from_commit::scratch_repository::Scratch;

    fn check(scratch: &Scratch, introduced_by: Option<&str>, commit: &str, places: &[&str], notes: &[&str]) {
        let repo = scratch.open();
        let fix = repo.resolve("HEAD").unwrap();
        let found = find_introduction(&repo, &fix, introduced_by).unwrap_or_else(|error| panic!("{}", error.text()));
        assert_eq!(repo.message(&found.commit).unwrap().0, commit);
        let shown = found.places.iter().map(|(file, Lines { start, end })| format!("{file}:{start}-{end}"));
        assert_eq!(shown.collect::<Vec<_>>(), places);
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
        check(&scratch, None, "average", &["old.py:2-2"], &[]);
        check(
            &scratch,
            Some("HEAD~4"),
            "first",
            &[],
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
        check(&scratch, None, "first", &["old.py:6-6"], &[]);
        // If nothing else changes, they do.
        scratch.write("README.md", "y\n").commit("Fix the text");
        check(&scratch, None, "Fix tail", &["README.md:1-1"], &[]);
    }

    #[test]
    fn added_lines_are_placed_by_their_neighbours() {
        let scratch = history();
        let text = std::fs::read_to_string(scratch.path().join("new.py")).unwrap();
        scratch
            .write("new.py", text.replace("\tn = len", "\tif not rows:\n\t\treturn 0\n\tn = len"))
            .commit("Fix empty rows");
        check(&scratch, None, "average", &["old.py:2-2"], &["only adds lines", "other repaired lines come from"]);
    }

    #[test]
    fn repaired_functions_are_different_places() {
        let scratch = Scratch::new();
        let before = "class A:\n    limit = 1\n\n    def f(self, a):\n        b = a\n        return b\n\n    \
                      def g(self, a):\n        return a\n\n    def h(self, a):\n        return a\n";
        scratch.write("a.py", before).commit("first");
        let after = before.replace("limit = 1", "limit = 2").replace("return a", "return a + 1");
        scratch
            .write("a.py", after.replace("return b", "return b + 1").replace("b = a", "b = 2 * a"))
            .commit("Fix all");
        check(&scratch, None, "first", &["a.py:2-6", "a.py:9-9", "a.py:12-12"], &[]);
        // What was added between two functions is one place.
        let scratch = Scratch::new();
        scratch.write("a.py", before).commit("first");
        scratch
            .write("a.py", before.replace("    def g", "    def n(self):\n        return 1\n\n    def g"))
            .commit("Fix");
        check(&scratch, None, "first", &["a.py:6-8"], &["only adds lines"]);
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
