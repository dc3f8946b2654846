//! How near the paths of goldens and findings are, with each path taken apart only once.

use super::lists::Lists;
use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::{FileSteps, PartialPath};
use std::collections::{BTreeSet, HashMap};

/// The distinct paths of a case's goldens, their names and directories as numbers.
#[derive(Default)]
pub(super) struct Places<'a> {
    pub(super) patterns: Vec<Pattern<'a>>,
    ids: HashMap<&'a FilePattern, u32>,
    /// File names and directory names alike.
    segments: HashMap<&'a str, u32>,
}

/// A golden's path or glob.
pub(super) struct Pattern<'a> {
    pub(super) pattern: &'a FilePattern,
    pub(super) name: u32,
    /// The names of its directories, but for those that are globs.
    pub(super) directories: Vec<u32>,
}

/// A finding's path, in the numbers of the goldens' paths; what no golden's path has is left out.
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

    /// How many distinct paths there are.
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
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    const STEPS: FileSteps = FileSteps { same_path: 1.0, same_name: 0.8, shared_directory: 0.3 };

    #[test]
    fn paths_compared_by_number_get_the_part_of_paths_compared_by_text() {
        let raw =
            ["src/a.rs", "a.rs", "src/web/b.rs", "web/src/c.rs", "b.rs/a.rs", "src", "src/*.rs", "**/b.rs", "a*/*"];
        let patterns: Vec<FilePattern> = raw.iter().filter_map(|p| FilePattern::new(p)).collect();
        let mut places = Places::default();
        for pattern in patterns.iter().chain(&patterns) {
            places.number(pattern);
        }
        assert_eq!(places.len(), raw.len());
        for partial in [PartialPath::Fixed, PartialPath::Scaled] {
            for finding in raw.iter().filter_map(|p| RepoPath::new(p)) {
                let read = places.read(&finding);
                let part = |own| places.file_part(own, &read, &STEPS, partial);
                let parts: Vec<f64> = (0..places.len() as u32).map(part).collect();
                let expect: Vec<f64> = patterns.iter().map(|own| file_part(own, &finding, &STEPS, partial)).collect();
                assert_eq!(parts, expect, "{finding}");
            }
        }
    }

    /// The file score of the reference program, in the order of its tests: equal parts, equal last parts, then the share of
    /// the longer path.
    fn reference(golden: &str, finding: &str) -> f64 {
        let (own, theirs): (Vec<&str>, Vec<&str>) = (golden.split('/').collect(), finding.split('/').collect());
        if own == theirs {
            return 1.0;
        }
        if own.last() == theirs.last() {
            return 0.8;
        }
        let sets: [HashSet<&str>; 2] = [own.iter().copied().collect(), theirs.iter().copied().collect()];
        let common = sets[0].intersection(&sets[1]).count();
        0.3 * common as f64 / own.len().max(theirs.len()) as f64
    }

    #[test]
    fn scaled_paths_by_hand() {
        let check = |golden: &str, finding: &str, fixed: f64, scaled: f64| {
            let (own, theirs) = (FilePattern::new(golden).unwrap(), RepoPath::new(finding).unwrap());
            assert_eq!(file_part(&own, &theirs, &STEPS, PartialPath::Fixed), fixed, "{golden} {finding}");
            let part = file_part(&own, &theirs, &STEPS, PartialPath::Scaled);
            assert!((part - scaled).abs() < 1e-12, "{golden} {finding}: {part}");
        };
        check("src/web/a.rs", "src/web/a.rs", 1.0, 1.0);
        check("src/web/a.rs", "a.rs", 0.8, 0.8);
        check("src/web/a.rs", "src/web/b.rs", 0.3, 0.2);
        check("src/a.rs", "src/x/y/z/b.rs", 0.3, 0.06);
        // A directory that stands twice is one part in common, of three.
        check("src/src/a.rs", "src/b.rs", 0.3, 0.1);
        // A file named like a directory is a part, and no directory.
        check("src/a.rs", "b/src", 0.0, 0.15);
        check("lib/a.rs", "src/b.rs", 0.0, 0.0);
        check("src/*/a.rs", "src/x/b.rs", 0.3, 0.1);
    }

    proptest! {
        #[test]
        fn scaled_paths_are_those_of_the_reference(
            golden in prop::collection::vec("[abc]", 1..5),
            finding in prop::collection::vec("[abc]", 1..5),
        ) {
            let (golden, finding) = (golden.join("/"), finding.join("/"));
            let (own, theirs) = (FilePattern::new(&golden).unwrap(), RepoPath::new(&finding).unwrap());
            let mut places = Places::default();
            places.number(&own);
            let part = places.file_part(0, &places.read(&theirs), &STEPS, PartialPath::Scaled);
            prop_assert!((part - reference(&golden, &finding)).abs() < 1e-12, "{} {}: {}", golden, finding, part);
        }
    }
}
