//! Scores a golden against a finding.

use super::assign::quantum;
use super::keywords::{KeywordIndex, Keywords, fold};
use super::lists::{Lists, Sets};
use super::outcome::Parts;
use super::place::{FindingPath, Places};
use super::text::{Term, Vocabulary};
use crate::finding::Finding;
use crate::golden::Golden;
use crate::identity::key::normalize_rule;
use crate::lines::Lines;
use crate::path::RepoPath;
use crate::profile::{Evidence, Method, Profile, Requirement, Unstated, Weights};
use crate::suite::Case;
use std::collections::HashMap;

/// The cases that were prepared, so that tests can count how often.
#[cfg(test)]
pub(crate) static PREPARED: std::sync::Mutex<Vec<crate::ids::CaseId>> = std::sync::Mutex::new(Vec::new());

/// A case prepared for scoring, once for all trials of all tools.
pub struct PreparedCase<'a> {
    pub case: &'a Case,
    pub(super) vocabulary: &'a Vocabulary,
    pub(crate) profile: &'a Profile,
    pub(super) goldens: Vec<PreparedGolden<'a>>,
    pub(super) keywords: Option<Keywords>,
    /// The words of all goldens that are compared by their prose, sorted; a word's number is its place here.
    pub(super) terms: Vec<Term>,
    pub(super) places: Places<'a>,
}

pub(super) struct PreparedGolden<'a> {
    pub(super) golden: &'a Golden,
    pub(super) path: Option<u32>,
    pub(super) keywords: Vec<u32>,
    pub(super) prose: Option<Prose>,
    category: Option<String>,
    rules: Vec<String>,
}

pub(super) struct Prose {
    /// By rising number.
    pub(super) terms: Vec<(u32, f64)>,
    pub(super) total: f64,
}

impl Prose {
    pub(super) fn share(&self, weight: f64) -> f64 {
        if self.total > 0.0 { weight / self.total } else { 0.0 }
    }
}

impl<'a> PreparedCase<'a> {
    /// Prepares everything that does not depend on findings.
    pub fn new(case: &'a Case, vocabulary: &'a Vocabulary, profile: &'a Profile) -> Self {
        #[cfg(test)]
        PREPARED.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(case.id.clone());
        let mut index = KeywordIndex::default();
        let mut places = Places::default();
        // Other methods compare neither words nor paths, and preparing them takes longer than matching by keys.
        let scores = profile.method == Method::Score;
        let of_prose =
            |golden| (scores && compares_prose_of(golden, profile)).then(|| vocabulary.terms(&prose(golden)));
        let prose_terms: Vec<Option<Vec<Term>>> = case.goldens.iter().map(of_prose).collect();
        let mut terms: Vec<Term> = prose_terms.iter().flatten().flatten().copied().collect();
        terms.sort_unstable();
        terms.dedup();
        let weighed = |own: Vec<Term>| {
            let number = |term: &Term| terms.binary_search(term).unwrap_or_default() as u32;
            let terms: Vec<(u32, f64)> = own.iter().map(|term| (number(term), vocabulary.weight(*term))).collect();
            Prose { total: terms.iter().map(|(_, weight)| weight).sum(), terms }
        };
        let mut goldens = Vec::with_capacity(case.goldens.len());
        for (golden, prose_terms) in case.goldens.iter().zip(prose_terms) {
            let mut keywords = Vec::with_capacity(golden.keywords.len());
            let compared = golden.keywords.iter().filter(|_| scores);
            for id in compared.filter_map(|keyword| index.number(keyword)) {
                if !keywords.contains(&id) {
                    keywords.push(id);
                }
            }
            goldens.push(PreparedGolden {
                golden,
                path: golden.file.as_ref().filter(|_| scores).map(|file| places.number(file)),
                keywords,
                // Prose of stop words alone is prose the golden does not state.
                prose: prose_terms.filter(|terms| !terms.is_empty()).map(weighed),
                category: compared_category(golden.category.as_deref(), profile),
                rules: compared_rules(golden.rules(), profile),
            });
        }
        Self { case, vocabulary, profile, goldens, keywords: Keywords::new(index), terms, places }
    }

    pub fn prepare<'f>(&self, findings: &'f [Finding]) -> PreparedFindings<'f> {
        let profile = self.profile;
        let mut path_ids: HashMap<&RepoPath, u32> = HashMap::new();
        let mut paths: Vec<FindingPath<'f>> = Vec::new();
        let (mut keywords, mut terms) = (Lists::default(), Lists::default());
        let (mut found, mut used): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        let reads_text = self.keywords.is_some() || !self.terms.is_empty();
        let mut prepared = Vec::with_capacity(findings.len());
        for finding in findings {
            let path = finding.file.as_ref().map(|path| {
                *path_ids.entry(path).or_insert_with(|| {
                    paths.push(self.places.read(path));
                    paths.len() as u32 - 1
                })
            });
            let text = if reads_text { folded_text(finding) } else { String::new() };
            if let Some(known) = &self.keywords {
                known.find(&text, &mut found);
            }
            keywords.push(&found);
            if !self.terms.is_empty() {
                let known = self.vocabulary.known(&text).filter_map(|term| self.terms.binary_search(&term).ok());
                used.clear();
                used.extend(known.map(|id| id as u32));
                used.sort_unstable();
                used.dedup();
            }
            terms.push(&used);
            prepared.push(PreparedFinding {
                finding,
                path,
                lines: finding.lines(),
                category: compared_category(finding.category.as_deref(), profile),
                rules: compared_rules(finding.rules(), profile),
            });
        }
        let mut file_parts = Vec::new();
        let golden_paths = self.places.patterns.len();
        if paths.len() * golden_paths <= MOST_FILE_PARTS {
            for path in &paths {
                let part = |own| self.places.file_part(own, path, &profile.file, profile.partial_path);
                file_parts.extend((0..golden_paths as u32).map(part));
            }
        }
        PreparedFindings {
            findings: prepared,
            paths,
            file_parts,
            keywords: Sets::new(keywords, self.keywords.as_ref().map_or(0, Keywords::len)),
            terms: Sets::new(terms, self.terms.len()),
        }
    }

    /// The score of one pair and its parts; `None` where the profile's requirements forbid the pair.
    pub fn score(&self, golden: usize, findings: &PreparedFindings<'_>, finding: usize) -> Option<(f64, Parts)> {
        let (profile, g, f) = (self.profile, &self.goldens[golden], &findings.findings[finding]);
        if !allowed(g, f, profile) {
            return None;
        }
        let states = |stated: bool| stated || profile.unstated == Unstated::Zero;
        let file = states(g.path.is_some()).then(|| match (g.path, f.path) {
            (Some(own), Some(theirs)) if findings.file_parts.is_empty() => {
                self.places.file_part(own, &findings.paths[theirs as usize], &profile.file, profile.partial_path)
            }
            (Some(own), Some(theirs)) => {
                findings.file_parts[theirs as usize * self.places.patterns.len() + own as usize]
            }
            _ => 0.0,
        });
        // Without a file, lines are not a location.
        let has_lines = g.golden.lines.is_some() && !(profile.lines_need_same_file && g.path.is_none());
        let line = states(has_lines).then(|| match (g.golden.lines, f.lines) {
            (Some(own), Some(theirs)) => {
                let near = line_part(own, theirs, profile);
                if near > 0.0 && lines_compare(g, f, profile) { near } else { 0.0 }
            }
            _ => 0.0,
        });
        let keyword = (g.prose.is_none() && states(!g.keywords.is_empty())).then(|| {
            let found = g.keywords.iter().filter(|&&id| findings.keywords.has(finding, id)).count();
            if g.keywords.is_empty() { 0.0 } else { found as f64 / g.keywords.len() as f64 }
        });
        let used = |&(id, weight): &(u32, f64)| if findings.terms.has(finding, id) { weight } else { 0.0 };
        let text = g.prose.as_ref().map(|prose| prose.share(prose.terms.iter().map(used).sum()));
        let parts = Parts { file, line, keyword, text, judge: None };
        Some((weigh(&parts, &profile.weights, profile.unstated), parts))
    }

    /// Whether the profile's rules alone match a pair, whatever judges say.
    pub fn matches_by_score(&self, golden: usize, findings: &PreparedFindings<'_>, finding: usize) -> bool {
        self.score(golden, findings, finding).is_some_and(|(score, parts)| {
            quantum(score) >= quantum(self.profile.threshold) && self.has_evidence(golden, findings, finding, &parts)
        })
    }

    /// Whether there is evidence beyond the path that the finding is about the golden, if the profile requires it.
    pub fn has_evidence(&self, golden: usize, findings: &PreparedFindings<'_>, finding: usize, parts: &Parts) -> bool {
        let (profile, g, f) = (self.profile, &self.goldens[golden], &findings.findings[finding]);
        let shows = |evidence: &Evidence| match evidence {
            Evidence::Line => parts.line > Some(0.0),
            Evidence::Keyword => parts.keyword > Some(0.0),
            Evidence::Text => parts.text.is_some_and(|text| text > 0.0 && text >= profile.evidence_text_floor),
            Evidence::Rule => agree(g, f, Requirement::Rule),
            Evidence::Cwe => agree(g, f, Requirement::Cwe),
            Evidence::Category => agree(g, f, Requirement::Category),
        };
        profile.evidence.is_empty() || profile.evidence.iter().any(shows)
    }
}

/// File scores of all path combinations are precomputed up to this many; beyond, each is computed on demand.
const MOST_FILE_PARTS: usize = 64 * 1024;

pub struct PreparedFindings<'f> {
    pub(super) findings: Vec<PreparedFinding<'f>>,
    pub(super) paths: Vec<FindingPath<'f>>,
    /// By distinct path of the findings, then of the goldens; empty where these are too many.
    file_parts: Vec<f64>,
    pub(super) keywords: Sets,
    /// Which words of the goldens' prose each finding uses.
    pub(super) terms: Sets,
}

pub(super) struct PreparedFinding<'f> {
    pub(super) finding: &'f Finding,
    pub(super) path: Option<u32>,
    pub(super) lines: Option<Lines>,
    category: Option<String>,
    rules: Vec<String>,
}

/// Title and description of a golden: the text used in prose comparison.
pub fn prose(golden: &Golden) -> String {
    let parts = [&golden.title, &golden.description];
    parts.into_iter().filter_map(|part| part.as_deref()).collect::<Vec<_>>().join("\n")
}

/// Whether a golden is compared by its prose, having no keywords.
pub(crate) fn compares_prose_of(golden: &Golden, profile: &Profile) -> bool {
    profile.text_instead_of_keywords && golden.keywords.iter().all(|keyword| keyword.trim().is_empty())
}

/// What a finding says, folded part by part: no keyword spans two of them.
fn folded_text(finding: &Finding) -> String {
    let parts = [&finding.title, &finding.message, &finding.category, &finding.rule_id];
    parts.into_iter().filter_map(|part| part.as_deref().map(fold)).collect::<Vec<_>>().join("\n")
}

/// The score that parts add up to, without the judge's.
pub(crate) fn weigh(parts: &Parts, weights: &Weights, unstated: Unstated) -> f64 {
    let weighted = || parts.list().into_iter().zip(weights.list());
    let sum: f64 = weighted().filter_map(|(part, weight)| part.map(|p| p * weight)).sum();
    match unstated {
        Unstated::Zero => sum,
        Unstated::LeaveOut => {
            let total: f64 = weighted().filter(|(part, _)| part.is_some()).map(|(_, weight)| weight).sum();
            if total > 0.0 { sum / total } else { 0.0 }
        }
    }
}

pub(super) fn line_part(golden: Lines, finding: Lines, profile: &Profile) -> f64 {
    let gap = golden.gap(finding);
    if gap > profile.line.reach { 0.0 } else { (1.0 - profile.line.step * f64::from(gap)).max(0.0) }
}

fn allowed(g: &PreparedGolden<'_>, f: &PreparedFinding<'_>, profile: &Profile) -> bool {
    if !profile.require.iter().all(|requirement| agree(g, f, *requirement)) {
        return false;
    }
    match (profile.line_tolerance, g.golden.lines, f.lines) {
        (None, ..) => true,
        (Some(tolerance), Some(own), Some(theirs)) => own.gap(theirs) <= tolerance && lines_compare(g, f, profile),
        (Some(_), ..) => false,
    }
}

fn lines_compare(g: &PreparedGolden<'_>, f: &PreparedFinding<'_>, profile: &Profile) -> bool {
    !profile.lines_need_same_file || agree(g, f, Requirement::File)
}

fn agree(g: &PreparedGolden<'_>, f: &PreparedFinding<'_>, on: Requirement) -> bool {
    match on {
        Requirement::Category => g.category.is_some() && g.category == f.category,
        Requirement::Cwe => g.golden.cwe.iter().any(|number| f.finding.cwe.contains(number)),
        Requirement::Rule => g.rules.iter().any(|rule| f.rules.contains(rule)),
        Requirement::File => match (&g.golden.file, &f.finding.file) {
            (Some(own), Some(theirs)) => own.matches(theirs),
            _ => false,
        },
    }
}

/// The category in its normal form, where the profile looks at it.
fn compared_category(category: Option<&str>, profile: &Profile) -> Option<String> {
    let looks = profile.require.contains(&Requirement::Category) || profile.evidence.contains(&Evidence::Category);
    let fold = |c: char| if c == '-' || c == ' ' { '_' } else { c };
    category.filter(|_| looks).map(|category| category.trim().to_lowercase().chars().map(fold).collect())
}

/// The rules in their normal form, where the profile looks at them.
fn compared_rules<'r>(rules: impl Iterator<Item = &'r str>, profile: &Profile) -> Vec<String> {
    let looks = profile.require.contains(&Requirement::Rule) || profile.evidence.contains(&Evidence::Rule);
    if looks { rules.filter_map(normalize_rule).collect() } else { Vec::new() }
}
