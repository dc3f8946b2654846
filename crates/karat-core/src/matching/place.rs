//! How near the paths of goldens and findings are, with each path taken apart only once.

use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::{FileSteps, PartialPath};
use std::collections::{BTreeSet, HashMap};

/// The distinct paths of a case's goldens, their names and directories as numbers.
#[derive(Default)]
pub(super) struct Places<'a> {
    patterns: Vec<Pattern<'a>>,
    ids: HashMap<&'a FilePattern, u32>,
    /// File names and directory names alike.
    segments: HashMap<&'a str, u32>,
}

struct Pattern<'a> {
    pattern: &'a FilePattern,
    name: u32,
    directories: Vec<u32>,
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
        let (name, directories) = (number(path.file_name()), path.directories().map(&mut number).collect());
        self.patterns.push(Pattern { pattern, name, directories });
        id
    }

    /// How many distinct paths there are.
    pub(super) fn len(&self) -> usize {
        self.patterns.len()
    }

    /// The file part of a finding's path with every path of the goldens, in the order of their numbers.
    pub(super) fn file_parts(&self, finding: &RepoPath, steps: &FileSteps, partial: PartialPath, parts: &mut Vec<f64>) {
        let name = self.segments.get(finding.file_name()).copied();
        let directories: Vec<u32> = finding.directories().filter_map(|d| self.segments.get(d).copied()).collect();
        parts.extend(self.patterns.iter().map(|own| match own.pattern {
            FilePattern::Glob(_) => file_part(own.pattern, finding, steps, partial),
            FilePattern::Exact(path) if Some(own.name) == name => {
                if path == finding {
                    steps.same_path
                } else {
                    steps.same_name
                }
            }
            FilePattern::Exact(path) => match partial {
                PartialPath::Fixed if own.directories.iter().any(|d| directories.contains(d)) => steps.shared_directory,
                PartialPath::Fixed => 0.0,
                PartialPath::Scaled => scaled(path, finding, steps),
            },
        }));
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
                let mut parts = Vec::new();
                places.file_parts(&finding, &STEPS, partial, &mut parts);
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
            let mut parts = Vec::new();
            places.file_parts(&theirs, &STEPS, PartialPath::Scaled, &mut parts);
            prop_assert!((parts[0] - reference(&golden, &finding)).abs() < 1e-12, "{} {}: {:?}", golden, finding, parts);
        }
    }
}
