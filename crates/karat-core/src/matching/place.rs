//! How near the paths of goldens and findings are, with each path taken apart only once.

use crate::path::{FilePattern, RepoPath, glob_matches};
use crate::profile::FileSteps;
use std::collections::HashMap;

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
    pub(super) fn file_parts(&self, finding: &RepoPath, steps: &FileSteps, parts: &mut Vec<f64>) {
        let name = self.segments.get(finding.file_name()).copied();
        let directories: Vec<u32> = finding.directories().filter_map(|d| self.segments.get(d).copied()).collect();
        parts.extend(self.patterns.iter().map(|own| match own.pattern {
            FilePattern::Glob(_) => file_part(own.pattern, finding, steps),
            FilePattern::Exact(path) if Some(own.name) == name => {
                if path == finding {
                    steps.same_path
                } else {
                    steps.same_name
                }
            }
            FilePattern::Exact(_) if own.directories.iter().any(|d| directories.contains(d)) => steps.shared_directory,
            FilePattern::Exact(_) => 0.0,
        }));
    }
}

/// The same path, the same file name, or a directory name in common.
fn file_part(golden: &FilePattern, finding: &RepoPath, steps: &FileSteps) -> f64 {
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
    let shared = own.directories().filter(|d| !d.contains('*')).any(|d| finding.directories().any(|other| other == d));
    if shared { steps.shared_directory } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_compared_by_number_get_the_part_of_paths_compared_by_text() {
        let steps = FileSteps { same_path: 1.0, same_name: 0.8, shared_directory: 0.3 };
        let raw =
            ["src/a.rs", "a.rs", "src/web/b.rs", "web/src/c.rs", "b.rs/a.rs", "src", "src/*.rs", "**/b.rs", "a*/*"];
        let patterns: Vec<FilePattern> = raw.iter().filter_map(|p| FilePattern::new(p)).collect();
        let mut places = Places::default();
        for pattern in patterns.iter().chain(&patterns) {
            places.number(pattern);
        }
        assert_eq!(places.len(), raw.len());
        for finding in raw.iter().filter_map(|p| RepoPath::new(p)) {
            let mut parts = Vec::new();
            places.file_parts(&finding, &steps, &mut parts);
            let expect: Vec<f64> = patterns.iter().map(|own| file_part(own, &finding, &steps)).collect();
            assert_eq!(parts, expect, "{finding}");
        }
    }
}
