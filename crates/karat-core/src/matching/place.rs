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
    segments: HashMap<&'a str, u32>,
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

    pub(super) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// How many distinct names of files and directories there are.
    pub(super) fn segments(&self) -> usize {
        self.segments.len()
    }

    /// A finding's path in the numbers of the goldens' paths.
    pub(super) fn read<'f>(&self, path: &'f RepoPath) -> FindingPath<'f> {
        FindingPath {
            path,
            name: self.segments.get(path.file_name()).copied(),
            directories: path.directories().filter_map(|d| self.segments.get(d).copied()).collect(),
        }
    }

    /// The file part of a golden's path with a finding's.
    pub(super) fn file_part(
        &self,
        own: u32,
        finding: &FindingPath<'_>,
        steps: &FileSteps,
        partial: PartialPath,
    ) -> f64 {
        let own = &self.patterns[own as usize];
        match own.pattern {
            FilePattern::Glob(_) => file_part(own.pattern, finding.path, steps, partial),
            FilePattern::Exact(path) if Some(own.name) == finding.name => {
                if path == finding.path {
                    steps.same_path
                } else {
                    steps.same_name
                }
            }
            FilePattern::Exact(path) if partial == PartialPath::Scaled => scaled(path, finding.path, steps),
            FilePattern::Exact(_) if own.directories.iter().any(|d| finding.directories.contains(d)) => {
                steps.shared_directory
            }
            FilePattern::Exact(_) => 0.0,
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
                if name.contains("**") {
                    fitting.push(&(0..paths.len() as u32).collect::<Vec<_>>());
                } else if name.contains('*') {
                    let fits = |id: &u32| glob_matches(name, paths[*id as usize].path.file_name());
                    fitting.push(&(0..paths.len() as u32).filter(fits).collect::<Vec<_>>());
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

/// The same path, the same file name, or a part in common.
fn file_part(golden: &FilePattern, finding: &RepoPath, steps: &FileSteps, partial: PartialPath) -> f64 {
    if golden.matches(finding) {
        return steps.same_path;
    }
    let own = golden.path();
    let same_name = match golden {
        FilePattern::Exact(path) => path.file_name() == finding.file_name(),
        FilePattern::Glob(glob) => {
            let name = glob.file_name();
            !name.contains("**") && glob_matches(name, finding.file_name())
        }
    };
    if same_name {
        return steps.same_name;
    }
    if partial == PartialPath::Scaled {
        return scaled(own, finding, steps);
    }
    let shared = own.directories().filter(|d| !d.contains('*')).any(|d| finding.directories().any(|other| other == d));
    if shared { steps.shared_directory } else { 0.0 }
}

/// The step for a partial path, scaled by the share of the longer path's parts that are in common. Each part counts once, and a
/// part with a `*` names none.
fn scaled(golden: &RepoPath, finding: &RepoPath, steps: &FileSteps) -> f64 {
    let own: Vec<&str> = golden.parts().collect();
    let theirs: Vec<&str> = finding.parts().collect();
    let distinct: BTreeSet<&str> = own.iter().copied().filter(|part| !part.contains('*')).collect();
    let common = distinct.iter().filter(|part| theirs.contains(part)).count();
    steps.shared_directory * common as f64 / own.len().max(theirs.len()) as f64
}

#[cfg(test)]
mod tests;
