//! The score of a golden and a finding held together.

use super::keywords::{KeywordIndex, Keywords, is_marked};
use super::outcome::Parts;
use super::place::Places;
use super::text::{Term, Vocabulary};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::identity::key::normal_rule;
use crate::lines::Lines;
use crate::path::RepoPath;
use crate::profile::{Profile, Requirement, Unstated};
use crate::suite::Case;
use std::collections::HashMap;

/// A case made ready for scoring: done once, used for every trial of every tool.
pub struct PreparedCase<'a> {
    /// The case itself.
    pub case: &'a Case,
    goldens: Vec<PreparedGolden<'a>>,
    keywords: Option<Keywords>,
    compares_prose: bool,
    places: Places<'a>,
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
        let mut index = KeywordIndex::default();
        let mut places = Places::default();
        let mut compares_prose = false;
        let mut goldens = Vec::with_capacity(case.goldens.len());
        for golden in &case.goldens {
            let mut keywords = Vec::with_capacity(golden.keywords.len());
            for id in golden.keywords.iter().filter_map(|keyword| index.number(keyword)) {
                if !keywords.contains(&id) {
                    keywords.push(id);
                }
            }
            let terms = if compares_prose_of(golden, profile) { vocabulary.terms(&prose(golden)) } else { Vec::new() };
            // Prose of stop words alone is prose the golden does not state.
            let by_prose = !terms.is_empty();
            compares_prose |= by_prose;
            goldens.push(PreparedGolden {
                golden,
                path: golden.file.as_ref().map(|file| places.number(file)),
                keywords,
                terms,
                has_text: by_prose,
                category: required_category(golden.category.as_deref(), profile),
                rules: required_rules(golden.rules(), profile),
            });
        }
        Self { case, goldens, keywords: Keywords::new(index), compares_prose, places }
    }

    /// Looks once at the findings of a trial.
    pub fn prepare<'f>(
        &self,
        findings: &'f [Finding],
        vocabulary: &Vocabulary,
        profile: &Profile,
    ) -> PreparedFindings<'f> {
        let mut path_ids: HashMap<&RepoPath, u32> = HashMap::new();
        let mut file_parts: Vec<f64> = Vec::new();
        let words = self.keywords.as_ref().map_or(0, Keywords::words);
        let mut marks = vec![0_u64; words * findings.len()];
        let mut text = String::new();
        let mut prepared = Vec::with_capacity(findings.len());
        for (i, finding) in findings.iter().enumerate() {
            let path = finding.file.as_ref().map(|path| {
                let next = path_ids.len() as u32;
                *path_ids.entry(path).or_insert_with(|| {
                    self.places.file_parts(path, &profile.file, &mut file_parts);
                    next
                })
            });
            if self.keywords.is_some() || self.compares_prose {
                read(finding, &mut text);
            }
            if let Some(keywords) = &self.keywords {
                keywords.mark(&text, &mut marks[i * words..(i + 1) * words]);
            }
            prepared.push(PreparedFinding {
                finding,
                path,
                lines: finding.lines(),
                terms: if self.compares_prose { vocabulary.terms(&text) } else { Vec::new() },
                category: required_category(finding.category.as_deref(), profile),
                rules: required_rules(finding.rules(), profile),
            });
        }
        PreparedFindings { findings: prepared, file_parts, golden_paths: self.places.len(), marks, words }
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
            let marks = &findings.marks[finding * findings.words..(finding + 1) * findings.words];
            let found = g.keywords.iter().filter(|&&id| is_marked(marks, id)).count();
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
    /// Which keywords each finding uses, `words` numbers for each.
    marks: Vec<u64>,
    words: usize,
}

struct PreparedFinding<'f> {
    finding: &'f Finding,
    path: Option<u32>,
    lines: Option<Lines>,
    terms: Vec<Term>,
    category: Option<String>,
    rules: Vec<String>,
}

/// Title and description of a golden: what prose comparison rests on.
pub fn prose(golden: &Golden) -> String {
    let said = [&golden.title, &golden.description];
    said.into_iter().filter_map(|part| part.as_deref()).collect::<Vec<_>>().join("\n")
}

/// Whether a golden is compared by its prose, having no keywords.
pub(crate) fn compares_prose_of(golden: &Golden, profile: &Profile) -> bool {
    profile.text_instead_of_keywords && golden.keywords.iter().all(|keyword| keyword.trim().is_empty())
}

/// Everything a finding says, in lowercase.
fn read(finding: &Finding, text: &mut String) {
    text.clear();
    let said = [&finding.title, &finding.message, &finding.category, &finding.rule_id];
    for part in said.into_iter().filter_map(|part| part.as_deref()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(part);
    }
    if text.is_ascii() {
        text.make_ascii_lowercase();
    } else {
        *text = text.to_lowercase();
    }
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

/// The category in its normal form, where the profile asks for it.
fn required_category(category: Option<&str>, profile: &Profile) -> Option<String> {
    category.filter(|_| profile.require.contains(&Requirement::Category)).map(normal_category)
}

/// The rules in their normal form, where the profile asks for them.
fn required_rules<'r>(rules: impl Iterator<Item = &'r str>, profile: &Profile) -> Vec<String> {
    if profile.require.contains(&Requirement::Rule) { rules.filter_map(normal_rule).collect() } else { Vec::new() }
}

fn normal_category(category: &str) -> String {
    let fold = |c: char| if c == '-' || c == ' ' { '_' } else { c };
    category.trim().to_lowercase().chars().map(fold).collect()
}
