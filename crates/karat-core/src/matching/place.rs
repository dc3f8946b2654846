//! Compares the paths of goldens and findings, splitting each path only once.

use super::lists::Lists;
use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::{FileSteps, PartialPath};
use std::collections::{BTreeSet, HashMap};

/// The distinct paths of a case's goldens, with file and directory names interned.
#[derive(Default)]
pub(super) struct Places<'a> {
    pub(super) patterns: Vec<Pattern<'a>>,
    ids: HashMap<&'a FilePattern, u32>,
    pub(super) segments: HashMap<&'a str, u32>,
}

pub(super) struct Pattern<'a> {
    pub(super) pattern: &'a FilePattern,
    pub(super) name: u32,
    /// The names of its directories, but for those that are globs.
    pub(super) directories: Vec<u32>,
}

/// A finding's path with names interned as in [`Places`]; names that no golden's path has are left out.
pub(super) struct FindingPath<'f> {
    pub(super) path: &'f RepoPath,
    pub(super) name: Option<u32>,
    pub(super) directories: Vec<u32>,
}

impl<'a> Places<'a> {
    /// The number of a golden's path, a new one where it was not seen before.
    pub(super) fn number(&mut self, pattern: &'a FilePattern) -> u32 {
        if let Some(&id) = self.ids.get(pattern) {
            return id;
        }
        let id = self.patterns.len() as u32;
        self.ids.insert(pattern, id);
        let segments = &mut self.segments;
        let mut number = |segment: &'a str| {
            let next = segments.len() as u32;
            *segments.entry(segment).or_insert(next)
        };
        let path = pattern.path();
        let name = number(path.file_name());
        let directories = path.directories().filter(|d| !d.contains('*')).map(&mut number).collect();
        self.patterns.push(Pattern { pattern, name, directories });
        id
    }

    /// A finding's path in the numbers of the goldens' paths.
    pub(super) fn read<'f>(&self, path: &'f RepoPath) -> FindingPath<'f> {
        FindingPath {
            path,
            name: self.segments.get(path.file_name()).copied(),
            directories: path.directories().filter_map(|d| self.segments.get(d).copied()).collect(),
        }
    }

    /// The same path, the same file name, or a part in common.
    pub(super) fn file_part(&self, own: u32, other: &FindingPath<'_>, steps: &FileSteps, partial: PartialPath) -> f64 {
        let own = &self.patterns[own as usize];
        let same_name = || match own.pattern {
            FilePattern::Exact(_) => Some(own.name) == other.name,
            FilePattern::Glob(glob) => {
                let name = glob.file_name();
                !name.contains("**") && glob_matches(name, other.path.file_name())
            }
        };
        if own.pattern.matches(other.path) {
            steps.same_path
        } else if same_name() {
            steps.same_name
        } else if partial == PartialPath::Scaled {
            scaled(own.pattern.path(), other.path, steps)
        } else if own.directories.iter().any(|d| other.directories.contains(d)) {
            steps.shared_directory
        } else {
            0.0
        }
    }

    /// Puts paths that go by the same last segment into one class: which class each golden's path is of, and which findings'
    /// paths fit the segment of each class. No other path can be the same, fit the glob or have its file name.
    pub(super) fn name_classes(&self, paths: &[FindingPath<'_>]) -> (Vec<u32>, Lists) {
        let mut by_name: HashMap<&str, Vec<u32>> = HashMap::new();
        for (id, path) in (0_u32..).zip(paths) {
            by_name.entry(path.path.file_name()).or_default().push(id);
        }
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut fitting = Lists::default();
        let mut class_of = Vec::with_capacity(self.patterns.len());
        for own in &self.patterns {
            let name = own.pattern.path().file_name();
            let class = *known.entry(name).or_insert_with(|| {
                if name.contains('*') {
                    let fits = |name_of: &str| name.contains("**") || glob_matches(name, name_of);
                    let fitting_paths = (0_u32..).zip(paths).filter(|(_, path)| fits(path.path.file_name()));
                    fitting.push(&fitting_paths.map(|(id, _)| id).collect::<Vec<_>>());
                } else {
                    fitting.push(by_name.get(name).map_or(&[], Vec::as_slice));
                }
                fitting.len() as u32 - 1
            });
            class_of.push(class);
        }
        (class_of, fitting)
    }
}

/// Scaled by the share of the longer path's parts in common. Each counts once, and one with a `*` names none.
fn scaled(golden: &RepoPath, finding: &RepoPath, steps: &FileSteps) -> f64 {
    let own: Vec<&str> = golden.as_str().split('/').collect();
    let theirs: Vec<&str> = finding.as_str().split('/').collect();
    let distinct: BTreeSet<&str> = own.iter().copied().filter(|part| !part.contains('*')).collect();
    let common = distinct.iter().filter(|part| theirs.contains(part)).count();
    steps.shared_directory * common as f64 / own.len().max(theirs.len()) as f64
}

#[cfg(test)]
mod tests;
