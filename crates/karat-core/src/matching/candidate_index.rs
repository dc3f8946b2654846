//! Finds the pairs of a case that have something in common, by lookup instead of trying all pairs.
//!
//! A pair is found by one of: a path with a matching file name, a keyword, a word of the golden's prose, lines within reach.
//! All other pairs share at most the name of a directory. For one golden these all score the same, so that the first few of
//! them stand for the rest.

use super::keywords::Keywords;
use super::lists::Lists;
use super::outcome::Parts;
use super::pair::{PreparedCase, PreparedFindings, PreparedGolden, line_part, weigh};
use super::pair_scorer::PairScorer;
use super::scratch::{COMMON, Overlap, PairVisitor, Scratch, WordUsers};
use crate::lines::Lines;
use crate::profile::{Profile, Unstated, Weights};
use std::collections::{BTreeSet, HashMap};

pub(super) struct CandidateIndex {
    /// By golden path: the class of its file name.
    name_class: Vec<u32>,
    paths_of_class: Lists,
    classes_of_path: Lists,
    goldens_of_class: Lists,
    findings_of_path: Lists,
    golden_directories: DirectorySets,
    finding_directories: DirectorySets,
    /// By set of directories and [`shape`].
    goldens_of_group: Lists,
    findings_of_set: Lists,
    goldens_with_word: WordUsers,
    findings_with_word: WordUsers,
    term_weights: Vec<f64>,
    /// The greatest share a keyword or word has of any golden's keywords or prose.
    keyword_shares: Vec<f64>,
    term_shares: Vec<f64>,
    shapes: BTreeSet<u32>,
    weights: Vec<Weights>,
    golden_lines: LineIndex,
    finding_lines: LineIndex,
}

/// How many shapes goldens without a path have, and as many with one.
const SHAPES: u32 = 8;

/// The part of a shape that says whether the golden has a path.
const WITH_PATH: u32 = SHAPES;

impl CandidateIndex {
    pub(super) fn new(case: &PreparedCase<'_>, findings: &PreparedFindings<'_>) -> Self {
        let places = &case.places;
        let (name_class, paths_of_class) = places.name_classes(&findings.paths);
        let goldens = || (0_u32..).zip(&case.goldens);
        let reported = || (0_u32..).zip(&findings.findings);
        let of_patterns = places.patterns.iter().map(|own| own.directories.as_slice());
        let golden_directories = DirectorySets::new(of_patterns, places.segments.len());
        let of_paths = findings.paths.iter().map(|own| own.directories.as_slice());
        let finding_directories = DirectorySets::new(of_paths, places.segments.len());
        let group = |path: u32, own: u32| golden_directories.of_path[path as usize] * SHAPES + own;
        let keywords = case.keywords.as_ref().map_or(0, Keywords::len);
        let mut term_weights = vec![0.0; case.terms.len()];
        let mut term_shares = vec![0.0_f64; case.terms.len()];
        let mut keyword_shares = vec![0.0_f64; keywords];
        for own in &case.goldens {
            for &keyword in &own.keywords {
                let share = &mut keyword_shares[keyword as usize];
                *share = share.max(1.0 / own.keywords.len() as f64);
            }
            let Some(prose) = &own.prose else { continue };
            for &(term, weight) in &prose.terms {
                term_weights[term as usize] = weight;
                let share = &mut term_shares[term as usize];
                *share = share.max(prose.share(weight));
            }
        }
        let prose = |(g, own): (u32, &'_ PreparedGolden<'_>)| {
            let terms: Vec<u32> = own.prose.iter().flat_map(|prose| &prose.terms).map(|(term, _)| *term).collect();
            terms.into_iter().map(move |term| (term, g))
        };
        let by_class = goldens().filter_map(|(g, own)| Some((name_class[own.path? as usize], g)));
        let by_group = goldens().filter_map(|(g, own)| Some((group(own.path?, shape(own) % SHAPES), g)));
        let by_set = reported().filter_map(|(f, own)| Some((finding_directories.of_path[own.path? as usize], f)));
        let by_keyword = goldens().flat_map(|(g, own)| own.keywords.iter().map(move |keyword| (*keyword, g)));
        Self {
            classes_of_path: paths_of_class.inverted(findings.paths.len()),
            goldens_of_class: Lists::new(paths_of_class.len(), by_class),
            findings_of_path: Lists::new(findings.paths.len(), reported().filter_map(|(f, own)| Some((own.path?, f)))),
            goldens_of_group: Lists::new(golden_directories.sets.len() * SHAPES as usize, by_group),
            findings_of_set: Lists::new(finding_directories.sets.len(), by_set),
            goldens_with_word: WordUsers {
                by_keyword: Lists::new(keywords, by_keyword),
                by_term: Lists::new(case.terms.len(), goldens().flat_map(prose)),
            },
            findings_with_word: WordUsers {
                by_keyword: findings.keywords.lists.inverted(keywords),
                by_term: findings.terms.lists.inverted(case.terms.len()),
            },
            golden_lines: LineIndex::new(goldens().filter_map(|(g, own)| Some((own.golden.lines?, g)))),
            finding_lines: LineIndex::new(reported().filter_map(|(f, own)| Some((own.lines?, f)))),
            name_class,
            paths_of_class,
            golden_directories,
            finding_directories,
            term_weights,
            keyword_shares,
            term_shares,
            shapes: case.goldens.iter().map(shape).collect(),
            weights: (0..2 * SHAPES).map(|shape| weights(shape, case.profile)).collect(),
        }
    }

    /// Visits every finding that may matter to a golden, except those already skipped in the scratch.
    pub(super) fn scan_golden(
        &self,
        scorer: &PairScorer<'_>,
        golden: u32,
        scratch: &mut Scratch,
        visitor: &mut impl PairVisitor,
    ) {
        let PairScorer { case, findings, .. } = scorer;
        let profile = case.profile;
        let own = &case.goldens[golden as usize];
        for &path in own.path.iter().flat_map(|path| self.paths_of_class.get(self.name_class[*path as usize])) {
            for &f in self.findings_of_path.get(path) {
                scratch.touch(f).same_name = true;
            }
        }
        let users = &self.findings_with_word;
        let terms = own.prose.iter().flat_map(|prose| &prose.terms);
        let common = scratch.touch_users(users, &own.keywords, terms.copied(), COMMON);
        // Where lines count in the same file alone, its path has led to the finding already.
        if let Some(lines) = own.golden.lines.filter(|_| !profile.lines_need_same_file) {
            self.finding_lines.near(lines, profile.line.reach, |f| _ = scratch.touch(f));
        }
        scratch.visit_touched(visitor, |f, overlap| {
            let uses_keyword = |keyword: &&u32| findings.keywords.has(f as usize, **keyword);
            let uses_term = |(term, _): &&(u32, f64)| findings.terms.has(f as usize, *term);
            let mut overlap = *overlap;
            overlap.keywords += common.keywords.iter().filter(uses_keyword).count() as u32;
            overlap.term_weight += common.terms.iter().filter(uses_term).map(|(_, weight)| weight).sum::<f64>();
            self.bound(scorer, golden, f, &overlap)
        });
        let most_by_directory = |overlap: &Overlap| {
            let file = if own.path.is_some() { profile.file.shared_directory } else { 0.0 };
            self.most_of_golden(case, golden, file, 0.0, overlap)
        };
        if !common.is_empty() {
            let term_weight = common.terms.iter().map(|(_, weight)| weight).sum();
            let all = Overlap { same_name: false, keywords: common.keywords.len() as u32, term_weight };
            let bound = |f, overlap: &Overlap| self.bound(scorer, golden, f, overlap);
            if !scratch.visit_common(users, &common, most_by_directory(&all), visitor, bound) {
                return;
            }
        }
        let Some(path) = own.path else { return };
        let mut most = most_by_directory(&Overlap::default());
        for &directory in self.golden_directories.directories(path) {
            for &set in self.finding_directories.by_directory.get(directory) {
                if !scratch.visit_equal(self.findings_of_set.get(set), &mut most, visitor) {
                    return;
                }
            }
        }
    }

    /// Visits every golden that may matter to a finding.
    pub(super) fn scan_finding(
        &self,
        scorer: &PairScorer<'_>,
        finding: u32,
        scratch: &mut Scratch,
        visitor: &mut impl PairVisitor,
    ) {
        let PairScorer { case, findings, .. } = scorer;
        let profile = case.profile;
        let own = &findings.findings[finding as usize];
        for &class in own.path.iter().flat_map(|path| self.classes_of_path.get(*path)) {
            for &g in self.goldens_of_class.get(class) {
                scratch.touch(g).same_name = true;
            }
        }
        let users = &self.goldens_with_word;
        let terms = findings.terms.lists.get(finding).iter().map(|&term| (term, self.term_weights[term as usize]));
        let common = scratch.touch_users(users, findings.keywords.lists.get(finding), terms, COMMON);
        if let Some(lines) = own.lines.filter(|_| !profile.lines_need_same_file) {
            self.golden_lines.near(lines, profile.line.reach, |g| _ = scratch.touch(g));
        }
        scratch.visit_touched(visitor, |g, overlap| {
            let golden = &case.goldens[g as usize];
            let terms = golden.prose.as_ref().map_or(&[][..], |prose| &prose.terms);
            let states_keyword = |keyword: &&u32| golden.keywords.contains(keyword);
            let states_term = |(term, _): &&(u32, f64)| terms.binary_search_by_key(term, |(own, _)| *own).is_ok();
            let mut overlap = *overlap;
            overlap.keywords += common.keywords.iter().filter(states_keyword).count() as u32;
            overlap.term_weight += common.terms.iter().filter(states_term).map(|(_, weight)| weight).sum::<f64>();
            self.bound(scorer, g, finding, &overlap)
        });
        if !common.is_empty() {
            let file = if own.path.is_some() { profile.file.shared_directory } else { 0.0 };
            let keyword = common.keywords.iter().map(|keyword| self.keyword_shares[*keyword as usize]).sum();
            let text = common.terms.iter().map(|(term, _)| self.term_shares[*term as usize]).sum();
            let of_shape = |shape: &u32| self.most_of_shape(*shape, [file, 0.0, keyword, text]);
            let most = self.shapes.iter().map(of_shape).max().unwrap_or(0);
            let bound = |g, overlap: &Overlap| self.bound(scorer, g, finding, overlap);
            if !scratch.visit_common(users, &common, most, visitor, bound) {
                return;
            }
        }
        let Some(path) = own.path else { return };
        // Goldens that state the same kinds of things score the same by a directory alone.
        for shape in 0..SHAPES {
            let mut most = self.most_of_shape(WITH_PATH + shape, [profile.file.shared_directory, 0.0, 0.0, 0.0]);
            'shape: for &directory in self.finding_directories.directories(path) {
                for &set in self.golden_directories.by_directory.get(directory) {
                    let goldens = self.goldens_of_group.get(set * SHAPES + shape);
                    if !scratch.visit_equal(goldens, &mut most, visitor) {
                        break 'shape;
                    }
                }
            }
        }
    }

    /// The most that a pair can score whose golden has this shape, and which has these parts at most.
    fn most_of_shape(&self, shape: u32, [file, line, keyword, text]: [f64; 4]) -> i64 {
        let weights = &self.weights[shape as usize];
        let score = weights.file * file
            + weights.line * line
            + weights.keyword * keyword.min(1.0)
            + weights.text * text.min(1.0);
        // Rounded as scores are, up a little, since sums of the same numbers may differ in their last bits.
        (score * 1e9 + 0.501) as i64
    }

    /// The most that a pair can score, given what it has in common.
    fn bound(&self, scorer: &PairScorer<'_>, golden: u32, finding: u32, overlap: &Overlap) -> i64 {
        let PairScorer { case, findings, .. } = scorer;
        let profile = case.profile;
        let own = &case.goldens[golden as usize];
        let other = &findings.findings[finding as usize];
        let steps = &profile.file;
        let both_paths = own.path.is_some() && other.path.is_some();
        let file = match overlap.same_name {
            true if both_paths => steps.same_path.max(steps.same_name).max(steps.shared_directory),
            false if both_paths => steps.shared_directory,
            _ => 0.0,
        };
        let line = match (own.golden.lines, other.lines) {
            (Some(own), Some(theirs)) if overlap.same_name || !profile.lines_need_same_file => {
                line_part(own, theirs, profile)
            }
            _ => 0.0,
        };
        self.most_of_golden(case, golden, file, line, overlap)
    }

    fn most_of_golden(&self, case: &PreparedCase<'_>, golden: u32, file: f64, line: f64, overlap: &Overlap) -> i64 {
        let own = &case.goldens[golden as usize];
        let keyword = f64::from(overlap.keywords) / own.keywords.len().max(1) as f64;
        let text = own.prose.as_ref().map_or(0.0, |prose| prose.share(overlap.term_weight));
        self.most_of_shape(shape(own), [file, line, keyword, text])
    }
}

/// Which parts of a score a golden has, as a number below twice [`SHAPES`].
fn shape(golden: &PreparedGolden<'_>) -> u32 {
    u32::from(golden.golden.lines.is_some())
        + 2 * u32::from(!golden.keywords.is_empty())
        + 4 * u32::from(golden.prose.is_some())
        + WITH_PATH * u32::from(golden.path.is_some())
}

/// How much each part adds to the score of a golden of this shape; scores are linear in their parts.
fn weights(shape: u32, profile: &Profile) -> Weights {
    let states = |stated: bool| stated || profile.unstated == Unstated::Zero;
    let (lines, keywords, prose, path) = (shape & 1 != 0, shape & 2 != 0, shape & 4 != 0, shape & WITH_PATH != 0);
    let weight = |part: usize| {
        let share = |own: usize| if own == part { 1.0 } else { 0.0 };
        let parts = Parts {
            file: states(path).then_some(share(0)),
            line: states(lines && (path || !profile.lines_need_same_file)).then_some(share(1)),
            keyword: (!prose && states(keywords)).then_some(share(2)),
            text: prose.then_some(share(3)),
            judge: None,
        };
        weigh(&parts, &profile.weights, profile.unstated)
    };
    Weights::from(std::array::from_fn(weight))
}

/// Distinct sets of directories: the one of each path, and those that have a directory.
struct DirectorySets {
    of_path: Vec<u32>,
    sets: Lists,
    by_directory: Lists,
}

impl DirectorySets {
    fn new<'p>(paths: impl Iterator<Item = &'p [u32]>, directories: usize) -> Self {
        let mut numbers: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut sets = Lists::default();
        let number = |directories: &[u32]| {
            let mut set = directories.to_vec();
            set.sort_unstable();
            set.dedup();
            *numbers.entry(set).or_insert_with_key(|set| {
                sets.push(set);
                sets.len() as u32 - 1
            })
        };
        let of_path = paths.map(number).collect();
        Self { of_path, by_directory: sets.inverted(directories), sets }
    }

    fn directories(&self, path: u32) -> &[u32] {
        self.sets.get(self.of_path[path as usize])
    }
}

#[derive(Default)]
struct LineIndex {
    /// By the bit width of their length: the greatest length, and the ranges by rising start.
    classes: Vec<(u32, Vec<(Lines, u32)>)>,
}

impl LineIndex {
    fn new(ranges: impl Iterator<Item = (Lines, u32)>) -> Self {
        let mut classes: Vec<(u32, Vec<(Lines, u32)>)> = Vec::new();
        for (lines, index) in ranges {
            let length = lines.end - lines.start;
            let class = (u32::BITS - length.leading_zeros()) as usize;
            if classes.len() <= class {
                classes.resize_with(class + 1, Default::default);
            }
            classes[class].0 = classes[class].0.max(length);
            classes[class].1.push((lines, index));
        }
        for (_, ranges) in &mut classes {
            ranges.sort_unstable();
        }
        Self { classes }
    }

    /// Calls `found` with the index of every range at most `reach` lines from `lines`.
    fn near(&self, lines: Lines, reach: u32, mut found: impl FnMut(u32)) {
        for (longest, ranges) in &self.classes {
            let first = lines.start.saturating_sub(reach).saturating_sub(*longest);
            let last = lines.end.saturating_add(reach);
            let from = ranges.partition_point(|(own, _)| own.start < first);
            for (own, index) in ranges[from..].iter().take_while(|(own, _)| own.start <= last) {
                if own.gap(lines) <= reach {
                    found(*index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_near_others_are_all_found(
            ranges in proptest::collection::vec((0_u32..120, 0_u32..40), 0..40),
            start in 0_u32..130,
            length in 0_u32..20,
            reach in 0_u32..8,
        ) {
            let ranges: Vec<Lines> = ranges.into_iter().map(|(start, length)| Lines { start, end: start + length }).collect();
            let index = LineIndex::new(ranges.iter().copied().zip(0_u32..));
            let wanted = Lines { start, end: start + length };
            let mut found = Vec::new();
            index.near(wanted, reach, |range| found.push(range));
            found.sort_unstable();
            let expect: Vec<u32> = (0_u32..).zip(&ranges).filter(|(_, own)| own.gap(wanted) <= reach).map(|(i, _)| i).collect();
            prop_assert_eq!(found, expect);
        }
    }
}
