//! Metadata of goldens and findings, interned so that pairs compare numbers instead of names.

use super::words::bounded;
use crate::finding::Finding;
use crate::golden::{Golden, Severity};
use crate::lines::Lines;
use crate::matching::keywords::{KeywordIndex, Keywords, fold};
use crate::matching::lists::{Lists, Sets};
use crate::path::{FilePattern, RepoPath};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// What a case's goldens and a trial's findings say beside their texts.
pub(super) struct PairMetadata {
    pub(super) goldens: Vec<GoldenMetadata>,
    pub(super) findings: Vec<FindingMetadata>,
    /// Which of the goldens' functions and keywords each finding's text has.
    pub(super) in_text: Sets,
    in_kind: Sets,
}

pub(super) struct GoldenMetadata {
    pub(super) place: Option<Place>,
    pub(super) lines: Option<Lines>,
    pub(super) rules: Vec<u32>,
    pub(super) category: Option<Kind>,
    pub(super) function: Option<u32>,
    pub(super) severity: Option<Severity>,
    pub(super) keywords: Vec<u32>,
    /// Whether it has a category or keywords, and its text says hardly more.
    pub(super) is_terse: bool,
    /// Whether its title is all that it says in words.
    is_title: bool,
}

pub(super) struct FindingMetadata {
    pub(super) file: Option<File>,
    pub(super) lines: Option<Lines>,
    pub(super) rules: Vec<u32>,
    pub(super) category: Option<Kind>,
    /// Its function: one of the goldens', or another one.
    pub(super) function: Option<Option<u32>>,
    pub(super) severity: Option<Severity>,
}

/// A category; nothing where it is mere punctuation, which is not the same as anything.
pub(super) type Kind = Option<u32>;

#[derive(Clone, Copy)]
pub(super) struct File {
    path: u32,
    pub(super) name: u32,
}

pub(super) struct Place {
    pub(super) file: File,
    /// For a glob, which of the findings' paths fit.
    fits: Option<Arc<[bool]>>,
}

impl Place {
    pub(super) fn has(&self, file: File) -> bool {
        self.fits.as_ref().map_or(self.file.path == file.path, |fits| fits[file.path as usize])
    }
}

impl PairMetadata {
    /// Looks at goldens and findings; `texts` are the findings' texts.
    pub(super) fn new<'f>(goldens: &'f [Golden], findings: &'f [Finding], texts: &[String]) -> Self {
        let (mut files, mut kinds) = (Files::default(), HashMap::new());
        let mut wanted = KeywordIndex::default();
        let mut functions: HashMap<Cow<'_, str>, u32> = HashMap::new();
        let mut paths: Vec<&RepoPath> = Vec::new();
        let of_finding = |finding: &'f Finding| {
            let path = finding.file.as_ref()?;
            let file = files.file(path);
            if file.path as usize == paths.len() {
                paths.push(path);
            }
            Some(file)
        };
        let of_findings: Vec<Option<File>> = findings.iter().map(of_finding).collect();
        let mut own = Vec::with_capacity(goldens.len());
        for golden in goldens {
            let function = golden.function.as_deref().and_then(|name| {
                let number = wanted.number(name)?;
                functions.insert(fold(name.trim()), number);
                Some(number)
            });
            own.push(GoldenMetadata {
                place: golden.file.as_ref().map(|pattern| files.place(pattern, &paths)),
                lines: golden.lines,
                rules: golden.rules().filter_map(|rule| kind(rule, &mut kinds)).collect(),
                category: golden.category.as_ref().map(|category| kind(category, &mut kinds)),
                function,
                severity: golden.severity,
                keywords: golden.keywords.iter().filter_map(|word| wanted.number(word)).collect(),
                is_terse: (golden.category.is_some() || !golden.keywords.is_empty()) && is_terse(golden),
                is_title: [&golden.description, &golden.root_cause, &golden.attack_scenario, &golden.fix]
                    .into_iter()
                    .flatten()
                    .chain(&golden.keywords)
                    .all(|text| text.trim().is_empty()),
            });
        }
        let named = |name: &str| (!name.is_empty()).then(|| functions.get(&fold(name)).copied());
        let other = |(finding, file): (&Finding, Option<File>)| FindingMetadata {
            file,
            lines: finding.lines(),
            rules: finding.rules().filter_map(|rule| kind(rule, &mut kinds)).collect(),
            category: finding.category.as_ref().map(|category| kind(category, &mut kinds)),
            function: finding.function.as_deref().map(str::trim).and_then(named),
            severity: finding.severity,
        };
        let others = findings.iter().zip(of_findings).map(other).collect();
        let keywords = Keywords::new(wanted);
        let count = keywords.as_ref().map_or(0, Keywords::len);
        let (mut in_text, mut in_kind) = (Lists::default(), Lists::default());
        let (mut found, mut of_kind) = (Vec::new(), Vec::new());
        for (finding, text) in findings.iter().zip(texts) {
            of_kind.clear();
            if let Some(keywords) = &keywords {
                for kind in finding.rule_id.iter().chain(&finding.category) {
                    keywords.find(&fold(kind), &mut found);
                    of_kind.append(&mut found);
                }
                of_kind.sort_unstable();
                of_kind.dedup();
                keywords.find(&fold(bounded(text)), &mut found);
            }
            in_text.push(&found);
            in_kind.push(&of_kind);
        }
        let (in_text, in_kind) = (Sets::new(in_text, count), Sets::new(in_kind, count));
        Self { goldens: own, findings: others, in_text, in_kind }
    }

    /// Whether the golden says no more than its title, and the finding lies in a file of another name.
    pub(super) fn is_title_elsewhere(&self, g: usize, f: usize) -> bool {
        let (golden, file) = (&self.goldens[g], self.findings[f].file);
        let elsewhere = |(place, file): (&Place, File)| !place.has(file) && place.file.name != file.name;
        golden.is_title && golden.place.as_ref().zip(file).is_some_and(elsewhere)
    }

    /// The share of a golden's keywords that a finding has in its text, rule or category.
    pub(super) fn keyword_share(&self, g: usize, f: usize) -> Option<f64> {
        let wanted = &self.goldens[g].keywords;
        if wanted.is_empty() {
            return None;
        }
        let there = |word: &&u32| self.in_text.has(f, **word) || self.in_kind.has(f, **word);
        Some(wanted.iter().filter(there).count() as f64 / wanted.len() as f64)
    }
}

/// The number of a text, in the order in which texts are first met.
fn number<T: std::hash::Hash + Eq>(numbers: &mut HashMap<T, u32>, text: T) -> u32 {
    let new = numbers.len() as u32;
    *numbers.entry(text).or_insert(new)
}

/// Numbers for paths and for the names of files, and which of the findings' paths fit each glob.
#[derive(Default)]
struct Files<'a> {
    paths: HashMap<&'a str, u32>,
    names: HashMap<&'a str, u32>,
    globs: HashMap<&'a str, Arc<[bool]>>,
}

impl<'a> Files<'a> {
    fn file(&mut self, path: &'a RepoPath) -> File {
        File { path: number(&mut self.paths, path.as_str()), name: number(&mut self.names, path.file_name()) }
    }

    /// Where a golden with this pattern lies; `paths` are those of findings, in the order of their numbers.
    fn place(&mut self, pattern: &'a FilePattern, paths: &[&RepoPath]) -> Place {
        let fits = pattern.is_glob().then(|| {
            let fitting = || paths.iter().map(|path| pattern.matches(path)).collect();
            Arc::clone(self.globs.entry(pattern.path().as_str()).or_insert_with(fitting))
        });
        Place { file: self.file(pattern.path()), fits }
    }
}

/// Ignores case and punctuation: `sql-injection` is `SQL injection`. What is mere punctuation has no number.
fn kind(text: &str, kinds: &mut HashMap<String, u32>) -> Kind {
    let plain: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    (!plain.is_empty()).then(|| number(kinds, plain))
}

/// A golden with more words of its own than this says something.
const TERSE: usize = 3;

fn is_terse(golden: &Golden) -> bool {
    fn words(text: &str) -> impl Iterator<Item = String> {
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
    }
    let known: Vec<String> = golden.category.iter().chain(&golden.keywords).flat_map(|text| words(text)).collect();
    let words_of_golden = golden.title.iter().chain(&golden.description).flat_map(|text| words(text));
    words_of_golden.filter(|word| !known.contains(word)).nth(TERSE).is_none()
}
