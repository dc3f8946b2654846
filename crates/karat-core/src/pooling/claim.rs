//! What a finding or a golden claims, and whether two claims are about the same thing.

use crate::finding::Finding;
use crate::golden::Golden;
use crate::lines::Lines;
use crate::local_judge::{finding_text, golden_text, stems};
use crate::path::{FilePattern, RepoPath};
use std::collections::BTreeSet;

/// Of the shorter claim, so many words are shared where both lie at the same place.
const AT_ONE_PLACE: f64 = 0.5;
/// So far words must agree, both ways, where nothing is known of the lines.
const BY_WORDS: f64 = 0.6;
/// One shared word is chance.
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
    pub fn of_finding(finding: &'a Finding) -> Self {
        let words = stems(&finding_text(finding)).into_iter().collect();
        Self { file: finding.file.as_ref(), lines: finding.lines(), words }
    }

    /// What a golden claims; one whose file is a pattern claims no file.
    pub fn of_golden(golden: &'a Golden) -> Self {
        let file = match &golden.file {
            Some(FilePattern::Exact(path)) => Some(path),
            Some(FilePattern::Glob(_)) | None => None,
        };
        Self { file, lines: golden.lines, words: stems(&golden_text(golden)).into_iter().collect() }
    }

    /// How much the two have in common, from 0 to 1, where that is enough to be about the same thing.
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
mod tests {
    use super::*;

    /// `a.py:3-5 words`, `- words`.
    fn finding(line: &str) -> Finding {
        let (place, words) = line.split_once(' ').unwrap_or((line, ""));
        let (file, lines) = place.split_once(':').unwrap_or((place, ""));
        let (start, end) = lines.split_once('-').unwrap_or((lines, lines));
        Finding {
            file: RepoPath::new(file).filter(|_| file != "-"),
            line_start: start.parse().ok(),
            line_end: end.parse().ok(),
            message: Some(words.to_owned()),
            ..Finding::named("f")
        }
    }

    #[track_caller]
    fn check(a: &str, b: &str, expect: bool) {
        let (a, b) = (finding(a), finding(b));
        let (a, b) = (Claim::of_finding(&a), Claim::of_finding(&b));
        assert_eq!(a.likeness(&b, 5).is_some(), expect, "{a:?} and {b:?}");
        assert_eq!(a.likeness(&b, 5), b.likeness(&a, 5));
    }

    #[test]
    fn claims_are_alike_by_place_and_words() {
        let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
        check(&format!("a.py:10 {long}"), "a.py:12 SQL injection", true);
        check(&format!("a.py:10 {long}"), "a.py:16 SQL injection", false);
        check(&format!("a.py:10-14 {long}"), "a.py:16 SQL injections", true);
        check(&format!("a.py:10 {long}"), "b.py:10 SQL injection", false);
        check(&format!("a.py:10 {long}"), "a.py:10 the socket is never closed", false);
        check("a.py:10 unused import", "a.py:10 unused variable", false);
    }

    #[test]
    fn without_lines_words_must_agree_both_ways() {
        let long = "The query is built from user input, which allows SQL injection by whoever calls the search";
        check(&format!("a.py {long}"), "a.py:12 SQL injection", false);
        check("- SQL injection in the search query", "a.py:12 search query has an SQL injection", true);
        check("- SQL injection", "- SQL injection", true);
        check("a.py SQL injection", "b.py SQL injection", false);
        check("-", "-", true);
        check("-", "- SQL injection", false);
    }

    #[test]
    fn goldens_claim_as_findings_do() {
        let golden = Golden {
            file: FilePattern::new("a.py"),
            lines: Lines::from_start(Some(10), None),
            description: Some("SQL injection by the search".to_owned()),
            ..Golden::named("g")
        };
        let near = |line: &str| Claim::of_golden(&golden).likeness(&Claim::of_finding(&finding(line)), 5).is_some();
        assert!(near("a.py:12 SQL injection"));
        assert!(!near("a.py:19 SQL injection"));
        assert!(!near("b.py:10 SQL injection"));
    }
}
