//! Determines which file belongs to which case.

use karat_core::ids::CaseId;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::suite::Suite;
use std::collections::{HashMap, HashSet};

pub(super) struct Layout<'a> {
    suite: Option<&'a Suite>,
    ids: HashMap<&'a str, &'a CaseId>,
    longest: usize,
    /// Files with goldens, and the case that has them; `None` where several do.
    owners: HashMap<&'a str, Option<&'a CaseId>>,
    files: HashSet<(&'a str, &'a str)>,
    globs: HashMap<&'a str, Vec<&'a FilePattern>>,
    known_files: &'a dyn Fn(&CaseId, &RepoPath) -> bool,
}

/// A part of a path that is a case's id: where it starts, and where the rest starts.
struct CaseIdSpan<'a> {
    case: &'a CaseId,
    start: usize,
    rest: usize,
    below_cases: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn new(suite: Option<&'a Suite>, known_files: &'a dyn Fn(&CaseId, &RepoPath) -> bool) -> Self {
        let mut layout = Self {
            suite,
            ids: HashMap::new(),
            longest: 0,
            owners: HashMap::new(),
            files: HashSet::new(),
            globs: HashMap::new(),
            known_files,
        };
        for case in suite.iter().flat_map(|suite| &suite.cases) {
            let id = case.id.as_str();
            layout.ids.insert(id, &case.id);
            layout.longest = layout.longest.max(id.split('/').count());
            for file in case.goldens.iter().filter_map(|golden| golden.file.as_ref()) {
                if file.is_glob() {
                    layout.globs.entry(id).or_default().push(file);
                } else {
                    let path = file.path().as_str();
                    layout.files.insert((id, path));
                    let owner = layout.owners.entry(path).or_insert(Some(&case.id));
                    if *owner != Some(&case.id) {
                        *owner = None;
                    }
                }
            }
        }
        layout
    }

    /// Whether the case exists; without a suite any id does.
    pub(super) fn has(&self, case: &CaseId) -> bool {
        self.suite.is_none() || self.ids.contains_key(case.as_str())
    }

    /// The case of a finding, by its path; a suite of one case has them all.
    pub(super) fn owner(&self, path: Option<&RepoPath>) -> Option<&'a CaseId> {
        match self.suite.map(|suite| suite.cases.as_slice()) {
            Some([only]) => Some(&only.id),
            _ => self.owner_of(path?),
        }
    }

    /// In order of reliability: an id at the start, a golden's file, an id further on, a known file, a suffix, a name.
    fn owner_of(&self, path: &RepoPath) -> Option<&'a CaseId> {
        let spans = self.spans(path.as_str());
        let best = |strong: bool| {
            let fitting = spans.iter().filter(|span| !strong || span.start == 0 || span.below_cases);
            // The longest id wins; among equals the one nearest to the root.
            fitting.max_by_key(|span| (span.case.as_str().len(), std::cmp::Reverse(span.start)))
        };
        best(true)
            .map(|span| span.case)
            .or_else(|| self.golden_owner(path))
            .or_else(|| best(false).map(|span| span.case))
            .or_else(|| self.known_owner(path))
            .or_else(|| endings(path).find_map(|ending| self.golden_owner(&ending)))
            .or_else(|| endings(path).find_map(|ending| self.known_owner(&ending)))
            .or_else(|| self.ids.get(path.file_name().split_once('.')?.0).copied())
    }

    pub(super) fn relative(&self, case: &CaseId, path: &RepoPath) -> RepoPath {
        if self.owns(case, path) {
            return path.clone();
        }
        let text = path.as_str();
        let spans = spans_of(text, case);
        let span = spans.iter().find(|span| span.below_cases).or(spans.first());
        let inner = span.and_then(|span| RepoPath::new(&text[span.rest..]));
        let start = inner.as_ref().unwrap_or(path);
        if inner.is_some() && self.owns(case, start) {
            return start.clone();
        }
        let side = ["after/", "before/"].iter().find_map(|side| RepoPath::new(start.as_str().strip_prefix(side)?));
        match side {
            // Outside the case's folder such a name may be a folder of the code itself.
            Some(side) if inner.is_some() || self.owns(case, &side) => side,
            _ => inner.or_else(|| endings(path).find(|ending| self.owns(case, ending))).unwrap_or_else(|| path.clone()),
        }
    }

    fn owns(&self, case: &CaseId, path: &RepoPath) -> bool {
        let id = case.as_str();
        self.files.contains(&(id, path.as_str()))
            || self.globs.get(id).is_some_and(|globs| globs.iter().any(|glob| glob.matches(path)))
            || (self.known_files)(case, path)
    }

    fn golden_owner(&self, path: &RepoPath) -> Option<&'a CaseId> {
        self.owners.get(path.as_str()).copied().flatten()
    }

    /// The only case that is known to have exactly this file, if goldens do not decide it.
    fn known_owner(&self, path: &RepoPath) -> Option<&'a CaseId> {
        if self.owners.contains_key(path.as_str()) {
            return None;
        }
        let cases = &self.suite?.cases;
        let mut having = cases.iter().map(|case| &case.id).filter(|case| (self.known_files)(case, path));
        having.next().filter(|_| having.next().is_none())
    }

    fn spans(&self, path: &str) -> Vec<CaseIdSpan<'a>> {
        let starts: Vec<usize> = starts(path).collect();
        let mut found = Vec::new();
        for (index, &start) in starts.iter().enumerate() {
            for &rest in starts[index + 1..].iter().take(self.longest) {
                if let Some(&case) = self.ids.get(&path[start..rest - 1]) {
                    found.push(CaseIdSpan { case, start, rest, below_cases: below_cases(path, start) });
                }
            }
        }
        found
    }
}

/// The parts of the path that are this id, the one nearest to the root first.
fn spans_of<'c>(path: &str, case: &'c CaseId) -> Vec<CaseIdSpan<'c>> {
    let id = case.as_str();
    let fits = |start: &usize| path[*start..].strip_prefix(id).is_some_and(|rest| rest.starts_with('/'));
    let span = |start| CaseIdSpan { case, start, rest: start + id.len() + 1, below_cases: below_cases(path, start) };
    starts(path).filter(fits).map(span).collect()
}

fn starts(path: &str) -> impl Iterator<Item = usize> + '_ {
    std::iter::once(0).chain(path.match_indices('/').map(|(slash, _)| slash + 1))
}

fn below_cases(path: &str, start: usize) -> bool {
    let before = &path[..start];
    before == "cases/" || before.ends_with("/cases/")
}

/// Top-level folders of machines rather than of code: a path that starts with one was absolute.
const MACHINE_FOLDERS: [&str; 13] =
    ["Users", "builds", "github", "home", "mnt", "opt", "private", "root", "runner", "tmp", "var", "work", "workspace"];

/// The suffixes of a path that was absolute, longest first.
fn endings(path: &RepoPath) -> impl Iterator<Item = RepoPath> + '_ {
    let text = path.as_str();
    let first = text.split('/').next().unwrap_or_default();
    let absolute = path.escapes() || MACHINE_FOLDERS.contains(&first);
    // Bounds the work, since each suffix may be compared with every case.
    starts(text).skip(1).take(64).filter(move |_| absolute).filter_map(|start| RepoPath::new(&text[start..]))
}
