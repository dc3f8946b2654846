//! Carrying goldens from one revision of the code to another.

use crate::git::{Blob, CommitId, Entry, EntryKind, FileChange, GitError, Repository, is_binary};
use crate::source::change::{Carried, LineMap, line_map};
use karat_core::ids::{CaseId, GoldenId};
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use std::collections::BTreeMap;
use std::fmt;

/// Files longer than this are not compared.
const MAX_FILE: u64 = 16 << 20;

/// A golden to be carried.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftInput {
    /// The case it belongs to.
    pub case: CaseId,
    /// Its name.
    pub golden: GoldenId,
    /// Where it lies in the old revision; `None` cannot be carried.
    pub file: Option<FilePattern>,
    /// The lines it lies on; without them only the file is followed.
    pub lines: Option<Lines>,
    /// A scanner's own locator, which only the scanner can carry.
    pub anchor: Option<String>,
}

/// A golden carried, or not.
#[derive(Clone, Debug, PartialEq)]
pub struct DriftOutcome {
    /// The case it belongs to.
    pub case: CaseId,
    /// Its name.
    pub golden: GoldenId,
    /// What became of its place.
    pub status: DriftStatus,
    /// Its place changed and it has a scanner's locator, which should be taken anew from the scanner.
    pub anchor_in_doubt: bool,
}

/// A file and the lines in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Relative to the same folder as the golden's file was.
    pub file: RepoPath,
    /// The lines, where there were any.
    pub lines: Option<Lines>,
}

/// What became of a golden's place.
#[derive(Clone, Debug, PartialEq)]
pub enum DriftStatus {
    /// It is where it was, as it was.
    Unchanged(Place),
    /// It is elsewhere, as it was.
    Moved {
        /// The old place.
        from: Place,
        /// The new place.
        to: Place,
    },
    /// Some of its lines changed; the new place is the best there is, and a person should look.
    Edited {
        /// The old place.
        from: Place,
        /// The new place.
        to: Place,
    },
    /// It could not be carried.
    Lost {
        /// Why.
        reason: LostReason,
    },
}

/// Why a golden could not be carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostReason {
    /// The golden names no file.
    NoFile,
    /// The golden's file is a glob, which stands for many places.
    Glob,
    /// The file is not in the old revision.
    NotInFrom,
    /// The file is a link or a submodule in one of the revisions.
    NotAFile,
    /// The file is not in the new revision.
    FileDeleted,
    /// The lines are gone, or rewritten together with what was around them.
    LinesDeleted,
    /// The lines begin or end past the end of the old file, which has this many.
    BeyondEnd(u32),
    /// The file is not text.
    Binary,
    /// The file is too long to be compared.
    TooLong,
    /// The file moved out of the folder that paths are relative to.
    LeftPrefix(RepoPath),
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("it names no file"),
            Self::Glob => f.write_str("its file is a glob, which stands for many places"),
            Self::NotInFrom => f.write_str("its file is not in the old revision"),
            Self::NotAFile => f.write_str("its file is a link or a submodule"),
            Self::FileDeleted => f.write_str("its file was deleted"),
            Self::LinesDeleted => f.write_str("its lines were deleted or rewritten"),
            Self::BeyondEnd(count) => write!(f, "its lines are not among the {count} of the old file"),
            Self::Binary => f.write_str("its file is binary"),
            Self::TooLong => write!(f, "its file is longer than {} MiB", MAX_FILE >> 20),
            Self::LeftPrefix(path) => write!(f, "its file moved away, to {path}"),
        }
    }
}

/// Carries goldens from one revision to another, renames followed; one outcome for each, in the order given.
///
/// The files of goldens are relative to the root of the repository, or to `prefix` below it.
pub fn drift(
    repo: &Repository,
    from: &str,
    to: &str,
    prefix: Option<&RepoPath>,
    goldens: &[DriftInput],
) -> Result<Vec<DriftOutcome>, GitError> {
    let (from, to) = (repo.resolve(from)?, repo.resolve(to)?);
    let changes = repo.changed_files(Some(&from), &to)?;
    let changed: BTreeMap<&RepoPath, &FileChange> =
        changes.files.iter().filter_map(|change| Some((&change.old.as_ref()?.path, change))).collect();
    let mut read: BTreeMap<RepoPath, Followed> = BTreeMap::new();
    let mut outcomes = Vec::with_capacity(goldens.len());
    for golden in goldens {
        let status = match path_of(golden, prefix) {
            Err(reason) => DriftStatus::Lost { reason },
            Ok((file, full)) => {
                if !read.contains_key(&full) {
                    let followed = follow(repo, &from, &full, changed.get(&full).copied())?;
                    read.insert(full.clone(), followed);
                }
                match read.get(&full) {
                    Some(Ok(followed)) => carry(followed, file, golden.lines, prefix),
                    Some(Err(reason)) => DriftStatus::Lost { reason: reason.clone() },
                    None => DriftStatus::Lost { reason: LostReason::NotInFrom },
                }
            }
        };
        outcomes.push(DriftOutcome {
            case: golden.case.clone(),
            golden: golden.golden.clone(),
            anchor_in_doubt: golden.anchor.is_some() && !matches!(status, DriftStatus::Unchanged(_)),
            status,
        });
    }
    Ok(outcomes)
}

/// A file in both revisions, or why it is not.
type Followed = Result<(RepoPath, LineMap), LostReason>;

/// The golden's path as it stands, and from the root of the repository.
fn path_of<'a>(golden: &'a DriftInput, prefix: Option<&RepoPath>) -> Result<(&'a RepoPath, RepoPath), LostReason> {
    let file = match &golden.file {
        None => return Err(LostReason::NoFile),
        Some(FilePattern::Glob(_)) => return Err(LostReason::Glob),
        Some(FilePattern::Exact(file)) => file,
    };
    let full = prefix.map_or_else(|| Some(file.clone()), |prefix| RepoPath::new(&format!("{prefix}/{file}")));
    full.map(|full| (file, full)).ok_or(LostReason::NotInFrom)
}

fn follow(
    repo: &Repository,
    from: &CommitId,
    path: &RepoPath,
    change: Option<&FileChange>,
) -> Result<Followed, GitError> {
    let old = match change.and_then(|change| change.old.clone()) {
        Some(entry) => Some(entry),
        None => repo.entry(from, path)?,
    };
    let Some(old) = old else { return Ok(Err(LostReason::NotInFrom)) };
    let new = match change {
        None => Some(&old),
        Some(change) => change.new.as_ref(),
    };
    let Some(new) = new else { return Ok(Err(LostReason::FileDeleted)) };
    let before = match text(repo, &old)? {
        Ok(text) => text,
        Err(reason) => return Ok(Err(reason)),
    };
    if old.content == new.content && old.kind == new.kind {
        return Ok(Ok((new.path.clone(), line_map(&before, &before))));
    }
    Ok(text(repo, new)?.map(|after| (new.path.clone(), line_map(&before, &after))))
}

fn text(repo: &Repository, entry: &Entry) -> Result<Result<String, LostReason>, GitError> {
    if entry.kind != EntryKind::File {
        return Ok(Err(LostReason::NotAFile));
    }
    Ok(match repo.content(entry, MAX_FILE)? {
        Blob::TooLong => Err(LostReason::TooLong),
        Blob::Whole(bytes) if is_binary(&bytes) => Err(LostReason::Binary),
        Blob::Whole(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    })
}

fn carry(
    (full, map): &(RepoPath, LineMap),
    file: &RepoPath,
    lines: Option<Lines>,
    prefix: Option<&RepoPath>,
) -> DriftStatus {
    let lost = |reason| DriftStatus::Lost { reason };
    let Some(new_file) = below(full, prefix) else { return lost(LostReason::LeftPrefix(full.clone())) };
    let from = Place { file: file.clone(), lines };
    let Some(lines) = lines else { return settle(from, Place { file: new_file, lines: None }) };
    if lines.start == 0 || lines.end > map.line_count() {
        return lost(LostReason::BeyondEnd(map.line_count()));
    }
    match map.carry(lines) {
        Carried::Unchanged(to) | Carried::Moved(to) => settle(from, Place { file: new_file, lines: Some(to) }),
        Carried::Edited { lines: to } => DriftStatus::Edited { from, to: Place { file: new_file, lines: Some(to) } },
        Carried::Lost => lost(LostReason::LinesDeleted),
    }
}

fn settle(from: Place, to: Place) -> DriftStatus {
    if from == to { DriftStatus::Unchanged(to) } else { DriftStatus::Moved { from, to } }
}

fn below(full: &RepoPath, prefix: Option<&RepoPath>) -> Option<RepoPath> {
    let Some(prefix) = prefix else { return Some(full.clone()) };
    let rest = full.as_str().strip_prefix(prefix.as_str().trim_end_matches('/'))?;
    RepoPath::new(rest.strip_prefix('/')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Scratch;

    fn golden(file: &str, lines: Option<(u32, u32)>) -> DriftInput {
        DriftInput {
            case: CaseId::new("c"),
            golden: GoldenId::new("g"),
            file: FilePattern::new(file),
            lines: lines.map(|(start, end)| Lines { start, end }),
            anchor: None,
        }
    }

    fn show(status: &DriftStatus) -> String {
        let place = |place: &Place| match place.lines {
            Some(lines) => format!("{}:{}-{}", place.file, lines.start, lines.end),
            None => place.file.to_string(),
        };
        match status {
            DriftStatus::Unchanged(at) => format!("unchanged {}", place(at)),
            DriftStatus::Moved { from, to } => format!("moved {} to {}", place(from), place(to)),
            DriftStatus::Edited { from, to } => format!("edited {} to {}", place(from), place(to)),
            DriftStatus::Lost { reason } => format!("lost: {reason}"),
        }
    }

    fn rows(range: std::ops::RangeInclusive<u32>) -> String {
        range.map(|row| format!("row {row}\n")).collect()
    }

    fn scratch() -> Scratch {
        let scratch = Scratch::new();
        scratch
            .write("app/same.py", rows(1..=9))
            .write("app/shifted.py", rows(1..=9))
            .write("app/edited.py", rows(1..=9));
        scratch.write("app/cut.py", rows(1..=9)).write("app/gone.py", "bye\n").write("app/old.py", rows(1..=30));
        scratch.write("app/leaves.py", rows(40..=70)).write("app/data.bin", b"a\0b").commit("one");
        scratch.write("app/shifted.py", "new\n".to_owned() + &rows(1..=9));
        scratch.write("app/edited.py", rows(1..=9).replace("row 4\n", "row four\n"));
        scratch.write("app/cut.py", rows(1..=3) + &rows(6..=9)).remove("app/gone.py");
        scratch.remove("app/old.py").write("app/sub/new.py", "top\n".to_owned() + &rows(1..=30));
        scratch.remove("app/leaves.py").write("lib/left.py", rows(40..=70)).write("app/later.py", "x\n");
        scratch.write("app/data.bin", b"a\0c").commit("two");
        scratch
    }

    #[test]
    fn goldens_are_carried() {
        let scratch = scratch();
        let repo = scratch.open();
        let check = |file: &str, lines: Option<(u32, u32)>, expect: &str| {
            let app = RepoPath::new("app/").expect("a path");
            let outcomes = drift(&repo, "HEAD~1", "HEAD", Some(&app), &[golden(file, lines)]).expect("git");
            let seen: Vec<String> = outcomes.iter().map(|outcome| show(&outcome.status)).collect();
            assert_eq!(seen, [expect], "{file} {lines:?}");
        };
        check("same.py", Some((3, 4)), "unchanged same.py:3-4");
        check("same.py", None, "unchanged same.py");
        check("same.py", Some((9, 10)), "lost: its lines are not among the 9 of the old file");
        check("same.py", Some((0, 1)), "lost: its lines are not among the 9 of the old file");
        check("shifted.py", Some((3, 4)), "moved shifted.py:3-4 to shifted.py:4-5");
        check("edited.py", Some((3, 4)), "edited edited.py:3-4 to edited.py:3-4");
        check("edited.py", Some((5, 6)), "unchanged edited.py:5-6");
        check("cut.py", Some((4, 5)), "lost: its lines were deleted or rewritten");
        check("cut.py", Some((3, 4)), "edited cut.py:3-4 to cut.py:3-3");
        check("cut.py", Some((7, 7)), "moved cut.py:7-7 to cut.py:5-5");
        check("gone.py", Some((1, 1)), "lost: its file was deleted");
        check("old.py", Some((5, 6)), "moved old.py:5-6 to sub/new.py:6-7");
        check("old.py", None, "moved old.py to sub/new.py");
        check("leaves.py", Some((1, 1)), "lost: its file moved away, to lib/left.py");
        check("later.py", Some((1, 1)), "lost: its file is not in the old revision");
        check("sub", Some((1, 1)), "lost: its file is not in the old revision");
        check("../x.py", Some((1, 1)), "lost: its file is not in the old revision");
        check("data.bin", Some((1, 1)), "lost: its file is binary");
        check("*.py", Some((1, 1)), "lost: its file is a glob, which stands for many places");
        check(" ", Some((1, 1)), "lost: it names no file");
    }

    #[test]
    fn paths_from_the_root_need_no_prefix() {
        let scratch = scratch();
        let goldens = [golden("app/old.py", Some((1, 1))), golden("app/leaves.py", Some((2, 2)))];
        let outcomes = drift(&scratch.open(), "HEAD~1", "HEAD", None, &goldens).expect("git");
        let seen: Vec<String> = outcomes.iter().map(|outcome| show(&outcome.status)).collect();
        assert_eq!(seen, ["moved app/old.py:1-1 to app/sub/new.py:2-2", "moved app/leaves.py:2-2 to lib/left.py:2-2"]);
    }

    #[test]
    fn locators_of_moved_goldens_are_in_doubt() {
        let scratch = scratch();
        let anchored = |file: &str| DriftInput { anchor: Some("n1".to_owned()), ..golden(file, Some((2, 2))) };
        let goldens = [anchored("app/same.py"), anchored("app/shifted.py"), golden("app/shifted.py", Some((2, 2)))];
        let outcomes = drift(&scratch.open(), "HEAD~1", "HEAD", None, &goldens).expect("git");
        let seen: Vec<bool> = outcomes.iter().map(|outcome| outcome.anchor_in_doubt).collect();
        assert_eq!(seen, [false, true, false]);
    }

    #[test]
    fn unknown_revisions_are_errors() {
        let error = drift(&scratch().open(), "HEAD~9", "HEAD", None, &[]).expect_err("no such revision");
        assert!(error.to_string().contains("names no commit"), "{error}");
    }
}
