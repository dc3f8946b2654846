//! Compares claims: whether two findings or goldens are about the same issue.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::lines::Lines;
use crate::local_judge::{finding_text, golden_text, stems};
use crate::path::{FilePattern, RepoPath};
use std::collections::BTreeSet;

/// Minimum share of the shorter claim's words for claims at the same place.
const AT_ONE_PLACE: f64 = 0.5;
/// Minimum word overlap, both ways, for claims without lines.
const BY_WORDS: f64 = 0.6;
/// A single shared word may be chance.
const FEWEST_WORDS: usize = 2;

/// What is claimed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim<'a> {
    file: Option<&'a RepoPath>,
    lines: Option<Lines>,
    words: BTreeSet<String>,
}

impl<'a> Claim<'a> {
    /// What a finding claims.
    pub fn from_finding(finding: &'a Finding) -> Self {
        let words = stems(&finding_text(finding)).into_iter().collect();
        Self { file: finding.file.as_ref(), lines: finding.lines(), words }
    }

    /// What a golden claims; one whose file is a pattern claims no file.
    pub fn from_golden(golden: &'a Golden) -> Self {
        let file = match &golden.file {
            Some(FilePattern::Exact(path)) => Some(path),
            Some(FilePattern::Glob(_)) | None => None,
        };
        Self { file, lines: golden.lines, words: stems(&golden_text(golden)).into_iter().collect() }
    }

    /// Similarity from 0 to 1, if it is enough to be about the same issue.
    pub fn likeness(&self, other: &Self, reach: u32) -> Option<f64> {
        if self.file.zip(other.file).is_some_and(|(own, theirs)| own != theirs) {
            return None;
        }
        let one_file = self.file.is_some() && other.file.is_some();
        let gap = self.lines.zip(other.lines).filter(|_| one_file).map(|(own, theirs)| own.gap(theirs));
        if gap.is_some_and(|gap| gap > reach) {
            return None;
        }
        if self.words == other.words {
            return Some(1.0);
        }
        let shared = self.words.intersection(&other.words).count();
        let (own, theirs) = (self.words.len(), other.words.len());
        let both = 2.0 * shared as f64 / (own + theirs).max(1) as f64;
        let enough = match gap {
            Some(_) => shared as f64 >= AT_ONE_PLACE * own.min(theirs) as f64,
            None => both >= BY_WORDS,
        };
        (shared >= FEWEST_WORDS && enough).then_some(both)
    }
}

#[cfg(test)]
mod tests;
