//! The score of a golden and a finding held together.

use super::outcome::Parts;
use super::text::{Term, Vocabulary};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::identity::key::normal_rule;
use crate::lines::Lines;
use crate::path::{FilePattern, RepoPath};
use crate::profile::{FileSteps, Profile, Requirement, Unstated};
use crate::suite::Case;
use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::collections::HashMap;

/// A case made ready for scoring: done once, used for every trial of every tool.
pub struct PreparedCase<'a> {
    /// The case itself.
    pub case: &'a Case,
    goldens: Vec<PreparedGolden<'a>>,
    keywords: Option<AhoCorasick>,
    keyword_count: usize,
    compares_prose: bool,
    paths: Vec<&'a FilePattern>,
}

struct PreparedGolden<'a> {
    golden: &'a Golden,
    path: Option<u32>,
    keywords: Vec<u32>,
    terms: Vec<Term>,
    has_text: bool,
    category: Option<String>,
    rules: Vec<String>,
}

impl<'a> PreparedCase<'a> {
    /// Looks once at everything that does not depend on findings.
    pub fn new(case: &'a Case, vocabulary: &Vocabulary, profile: &Profile) -> Self {
        let mut keyword_ids: HashMap<String, u32> = HashMap::new();
        let mut patterns: Vec<String> = Vec::new();
        let mut paths: Vec<&FilePattern> = Vec::new();
        let mut path_ids: HashMap<&FilePattern, u32> = HashMap::new();
        let mut compares_prose = false;
        let mut goldens = Vec::with_capacity(case.goldens.len());
        for golden in &case.goldens {
            let mut keywords = Vec::new();
            for keyword in golden.keywords.iter().map(|k| k.trim().to_lowercase()).filter(|k| !k.is_empty()) {
                let id = *keyword_ids.entry(keyword).or_insert_with_key(|keyword| {
                    patterns.push(keyword.clone());
                    patterns.len() as u32 - 1
                });
                if !keywords.contains(&id) {
                    keywords.push(id);
                }
            }
            let wordy = profile.text_instead_of_keywords && keywords.is_empty();
            let terms = if wordy { vocabulary.terms(&prose(golden)) } else { Vec::new() };
            // Prose of stop words alone is prose the golden does not state.
            let by_prose = !terms.is_empty();
            compares_prose |= by_prose;
            let path = golden.file.as_ref().map(|file| {
                *path_ids.entry(file).or_insert_with(|| {
                    paths.push(file);
                    paths.len() as u32 - 1
                })
            });
            goldens.push(PreparedGolden {
                golden,
                path,
                keywords,
                terms,
                has_text: by_prose,
                category: golden.category.as_deref().map(normal_category),
                rules: golden.rules().filter_map(normal_rule).collect(),
            });
        }
        // Keywords are few and cases many, so an automaton that is quick to build beats one that is quick to run.
        let keywords = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(&patterns)
            .ok()
            .filter(|_| !patterns.is_empty());
        Self { case, goldens, keywords, keyword_count: patterns.len(), compares_prose, paths }
    }

    /// Looks once at the findings of a trial.
    pub fn prepare<'f>(
        &self,
        findings: &'f [Finding],
        vocabulary: &Vocabulary,
        steps: &FileSteps,
    ) -> PreparedFindings<'f> {
        let mut path_ids: HashMap<&RepoPath, u32> = HashMap::new();
        let mut file_parts: Vec<f64> = Vec::new();
        let mut prepared = Vec::with_capacity(findings.len());
        for finding in findings {
            let path = finding.file.as_ref().map(|path| {
                let next = path_ids.len() as u32;
                *path_ids.entry(path).or_insert_with(|| {
                    file_parts.extend(self.paths.iter().map(|own| file_part(own, path, steps)));
                    next
                })
            });
            prepared.push(self.prepare_one(finding, path, vocabulary));
        }
        PreparedFindings { findings: prepared, file_parts, golden_paths: self.paths.len() }
    }

    fn prepare_one<'f>(&self, finding: &'f Finding, path: Option<u32>, vocabulary: &Vocabulary) -> PreparedFinding<'f> {
        let said = [&finding.title, &finding.message, &finding.category, &finding.rule_id];
        let text: Vec<&str> = said.into_iter().filter_map(|part| part.as_deref()).collect();
        let text = text.join("\n").to_lowercase();
        let mut hits = vec![0_u64; self.keyword_count.div_ceil(64)];
        if let Some(automaton) = &self.keywords {
            for hit in automaton.find_overlapping_iter(&text) {
                let id = hit.pattern().as_usize();
                hits[id / 64] |= 1 << (id % 64);
            }
        }
        PreparedFinding {
            finding,
            path,
            lines: finding.lines(),
            hits,
            terms: if self.compares_prose { vocabulary.terms(&text) } else { Vec::new() },
            category: finding.category.as_deref().map(normal_category),
            rules: finding.rules().filter_map(normal_rule).collect(),
        }
    }

    /// The score of one pair and its parts; `None` where the profile's requirements forbid the pair.
    pub fn score(
        &self,
        golden: usize,
        findings: &PreparedFindings<'_>,
        finding: usize,
        vocabulary: &Vocabulary,
        profile: &Profile,
    ) -> Option<(f64, Parts)> {
        let g = &self.goldens[golden];
        let f = &findings.findings[finding];
        if !allowed(g, f, profile) {
            return None;
        }
        let states = |stated: bool| stated || profile.unstated == Unstated::Zero;
        let file = states(g.path.is_some()).then(|| match (g.path, f.path) {
            (Some(own), Some(theirs)) => findings.file_parts[theirs as usize * findings.golden_paths + own as usize],
            _ => 0.0,
        });
        let line = states(g.golden.lines.is_some()).then(|| match (g.golden.lines, f.lines) {
            (Some(own), Some(theirs)) => line_part(own, theirs, profile),
            _ => 0.0,
        });
        let keyword = (!g.has_text && states(!g.keywords.is_empty())).then(|| {
            let found = g.keywords.iter().filter(|&&id| f.hits[id as usize / 64] >> (id % 64) & 1 == 1).count();
            if g.keywords.is_empty() { 0.0 } else { found as f64 / g.keywords.len() as f64 }
        });
        let text = g.has_text.then(|| vocabulary.coverage(&g.terms, &f.terms));
        let parts = Parts { file, line, keyword, text, judge: None };
        Some((weigh(&parts, profile), parts))
    }
}

/// The findings of a trial made ready for scoring.
pub struct PreparedFindings<'f> {
    findings: Vec<PreparedFinding<'f>>,
    /// The file part of every distinct path of the findings with every distinct path of the goldens.
    file_parts: Vec<f64>,
    golden_paths: usize,
}

struct PreparedFinding<'f> {
    finding: &'f Finding,
    path: Option<u32>,
    lines: Option<Lines>,
    hits: Vec<u64>,
    terms: Vec<Term>,
    category: Option<String>,
    rules: Vec<String>,
}

/// Title and description of a golden: what prose comparison rests on.
pub fn prose(golden: &Golden) -> String {
    let said = [&golden.title, &golden.description];
    said.into_iter().filter_map(|part| part.as_deref()).collect::<Vec<_>>().join("\n")
}

fn weigh(parts: &Parts, profile: &Profile) -> f64 {
    let weights = &profile.weights;
    let weighted = [
        (parts.file, weights.file),
        (parts.line, weights.line),
        (parts.keyword, weights.keyword),
        (parts.text, weights.text),
    ];
    let sum: f64 = weighted.iter().filter_map(|(part, weight)| part.map(|p| p * weight)).sum();
    match profile.unstated {
        Unstated::Zero => sum,
        Unstated::LeaveOut => {
            let total: f64 = weighted.iter().filter(|(part, _)| part.is_some()).map(|(_, weight)| weight).sum();
            if total > 0.0 { sum / total } else { 0.0 }
        }
    }
}

/// The same path, the same file name, or a directory name in common.
pub fn file_part(golden: &FilePattern, finding: &RepoPath, steps: &FileSteps) -> f64 {
    if golden.matches(finding) {
        return steps.same_path;
    }
    let own = golden.path();
    let same_name = match golden {
        FilePattern::Exact(path) => path.file_name() == finding.file_name(),
        FilePattern::Glob(glob) => {
            let name = glob.file_name();
            !name.contains("**") && crate::path::glob_matches(name, finding.file_name())
        }
    };
    if same_name {
        return steps.same_name;
    }
    let shared = own.directories().filter(|d| !d.contains('*')).any(|d| finding.directories().any(|other| other == d));
    if shared { steps.shared_directory } else { 0.0 }
}

fn line_part(golden: Lines, finding: Lines, profile: &Profile) -> f64 {
    let gap = golden.gap(finding);
    if gap > profile.line.reach { 0.0 } else { (1.0 - profile.line.step * f64::from(gap)).max(0.0) }
}

fn allowed(g: &PreparedGolden<'_>, f: &PreparedFinding<'_>, profile: &Profile) -> bool {
    let met = |requirement: &Requirement| match requirement {
        Requirement::Category => g.category.is_some() && g.category == f.category,
        Requirement::Cwe => g.golden.cwe.iter().any(|n| f.finding.cwe.contains(n)),
        Requirement::Rule => g.rules.iter().any(|rule| f.rules.contains(rule)),
        Requirement::File => match (&g.golden.file, &f.finding.file) {
            (Some(own), Some(theirs)) => own.matches(theirs),
            _ => false,
        },
    };
    if !profile.require.iter().all(met) {
        return false;
    }
    match (profile.line_tolerance, g.golden.lines, f.lines) {
        (None, ..) => true,
        (Some(tolerance), Some(own), Some(theirs)) => own.gap(theirs) <= tolerance,
        (Some(_), ..) => false,
    }
}

fn normal_category(category: &str) -> String {
    let fold = |c: char| if c == '-' || c == ' ' { '_' } else { c };
    category.trim().to_lowercase().chars().map(fold).collect()
}
