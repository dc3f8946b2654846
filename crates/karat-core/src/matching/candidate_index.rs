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
use super::scratch::{Overlap, PairVisitor, Scratch, WordUsers};
use crate::lines::Lines;
use crate::profile::{Profile, Unstated};
use std::collections::{BTreeSet, HashMap};

/// Goldens and findings by what they can be looked up by.
pub(super) struct CandidateIndex {
    /// By golden path: the class of its file name.
    name_class: Vec<u32>,
    paths_of_class: Lists,
    classes_of_path: Lists,
    goldens_of_class: Lists,
    findings_of_path: Lists,
    /// By golden path and by finding path: the number of its set of directories.
    directories_of_golden_path: Vec<u32>,
    directories_of_path: Vec<u32>,
    golden_directories: DirectorySets,
    finding_directories: DirectorySets,
    /// By set of directories and [`shape`].
    goldens_of_group: Lists,
    findings_of_set: Lists,
    goldens_with_keyword: Lists,
    findings_with_keyword: Lists,
    goldens_with_term: Lists,
    findings_with_term: Lists,
    term_weights: Vec<f64>,
    /// The greatest share a keyword or word has of any golden's keywords or prose.
    keyword_shares: Vec<f64>,
    term_shares: Vec<f64>,
    /// By golden, and the distinct ones.
    golden_shapes: Vec<u32>,
    shapes: Vec<u32>,
    /// By shape.
    weights: Vec<Shares>,
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
        let classes = paths_of_class.len();
        let goldens = || (0_u32..).zip(&case.goldens);
        let reported = || (0_u32..).zip(&findings.findings);
        let mut golden_sets = Interner::default();
        let mut finding_sets = Interner::default();
        let directories_of_golden_path: Vec<u32> =
            places.patterns.iter().map(|own| golden_sets.number(&own.directories)).collect();
        let directories_of_path: Vec<u32> =
            findings.paths.iter().map(|own| finding_sets.number(&own.directories)).collect();
        let golden_directories = DirectorySets::new(golden_sets, places.segments());
        let finding_directories = DirectorySets::new(finding_sets, places.segments());
        let group = |path: u32, own: u32| directories_of_golden_path[path as usize] * SHAPES + own;
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
        let golden_shapes: Vec<u32> = case.goldens.iter().map(shape).collect();
        let shapes: BTreeSet<u32> = golden_shapes.iter().copied().collect();
        let prose = |(g, own): (u32, &'_ PreparedGolden<'_>)| {
            let terms: Vec<u32> = own.prose.iter().flat_map(|prose| &prose.terms).map(|(term, _)| *term).collect();
            terms.into_iter().map(move |term| (term, g))
        };
        Self {
            classes_of_path: paths_of_class.inverted(findings.paths.len()),
            goldens_of_class: Lists::new(
                classes,
                goldens().filter_map(|(g, own)| Some((name_class[own.path? as usize], g))),
            ),
            findings_of_path: Lists::new(findings.paths.len(), reported().filter_map(|(f, own)| Some((own.path?, f)))),
            goldens_of_group: Lists::new(
                golden_directories.len() * SHAPES as usize,
                goldens().filter_map(|(g, own)| Some((group(own.path?, shape(own) % SHAPES), g))),
            ),
            findings_of_set: Lists::new(
                finding_directories.len(),
                reported().filter_map(|(f, own)| Some((directories_of_path[own.path? as usize], f))),
            ),
            goldens_with_keyword: Lists::new(
                keywords,
                goldens().flat_map(|(g, own)| own.keywords.iter().map(move |keyword| (*keyword, g))),
            ),
            findings_with_keyword: findings.keywords.lists.inverted(keywords),
            goldens_with_term: Lists::new(case.terms.len(), goldens().flat_map(prose)),
            findings_with_term: findings.terms.lists.inverted(case.terms.len()),
            golden_lines: LineIndex::new(goldens().filter_map(|(g, own)| Some((own.golden.lines?, g)))),
            finding_lines: LineIndex::new(reported().filter_map(|(f, own)| Some((own.lines?, f)))),
            name_class,
            paths_of_class,
            directories_of_golden_path,
            directories_of_path,
            golden_directories,
            finding_directories,
            term_weights,
            keyword_shares,
            term_shares,
            golden_shapes,
            shapes: shapes.into_iter().collect(),
            weights: (0..2 * SHAPES).map(|shape| Shares::weights(shape, case.profile)).collect(),
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
        let users = WordUsers { by_keyword: &self.findings_with_keyword, by_term: &self.findings_with_term };
        let terms = own.prose.iter().flat_map(|prose| &prose.terms);
        let common = scratch.touch_rare(users, &own.keywords, terms.copied());
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
            let keyword = f64::from(overlap.keywords) / own.keywords.len().max(1) as f64;
            let text = own.prose.as_ref().map_or(0.0, |prose| prose.share(overlap.term_weight));
            self.most_of_shape(self.golden_shapes[golden as usize], &Shares { file, line: 0.0, keyword, text })
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
        for &directory in self.golden_directories.members(self.directories_of_golden_path[path as usize]) {
            for &set in self.finding_directories.containing(directory) {
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
        let users = WordUsers { by_keyword: &self.goldens_with_keyword, by_term: &self.goldens_with_term };
        let terms = findings.terms.lists.get(finding).iter().map(|&term| (term, self.term_weights[term as usize]));
        let common = scratch.touch_rare(users, findings.keywords.lists.get(finding), terms);
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
            let shares = Shares {
                file: if own.path.is_some() { profile.file.shared_directory } else { 0.0 },
                line: 0.0,
                keyword: common.keywords.iter().map(|keyword| self.keyword_shares[*keyword as usize]).sum(),
                text: common.terms.iter().map(|(term, _)| self.term_shares[*term as usize]).sum(),
            };
            let most = self.shapes.iter().map(|shape| self.most_of_shape(*shape, &shares)).max().unwrap_or(0);
            let bound = |g, overlap: &Overlap| self.bound(scorer, g, finding, overlap);
            if !scratch.visit_common(users, &common, most, visitor, bound) {
                return;
            }
        }
        let Some(path) = own.path else { return };
        // Goldens that state the same kinds of things score the same by a directory alone.
        for shape in 0..SHAPES {
            let shares = Shares { file: profile.file.shared_directory, line: 0.0, keyword: 0.0, text: 0.0 };
            let mut most = self.most_of_shape(WITH_PATH + shape, &shares);
            'shape: for &directory in self.finding_directories.members(self.directories_of_path[path as usize]) {
                for &set in self.golden_directories.containing(directory) {
                    let goldens = self.goldens_of_group.get(set * SHAPES + shape);
                    if !scratch.visit_equal(goldens, &mut most, visitor) {
                        break 'shape;
                    }
                }
            }
        }
    }

    /// The most that a pair can score whose golden has this shape.
    fn most_of_shape(&self, shape: u32, shares: &Shares) -> i64 {
        let weights = &self.weights[shape as usize];
        let score = weights.file * shares.file
            + weights.line * shares.line
            + weights.keyword * shares.keyword.min(1.0)
            + weights.text * shares.text.min(1.0);
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
        let keyword = f64::from(overlap.keywords) / own.keywords.len().max(1) as f64;
        let text = own.prose.as_ref().map_or(0.0, |prose| prose.share(overlap.term_weight));
        let shape = self.golden_shapes[golden as usize];
        self.most_of_shape(shape, &Shares { file, line, keyword, text })
    }
}

/// Which parts of a score a golden has, as a number below twice [`SHAPES`].
fn shape(golden: &PreparedGolden<'_>) -> u32 {
    u32::from(golden.golden.lines.is_some())
        + 2 * u32::from(!golden.keywords.is_empty())
        + 4 * u32::from(golden.prose.is_some())
        + WITH_PATH * u32::from(golden.path.is_some())
}

/// How much of each part of a score a pair has at most.
struct Shares {
    file: f64,
    line: f64,
    keyword: f64,
    text: f64,
}

impl Shares {
    /// How much each part adds to the score of a golden of this shape; scores are linear in their parts.
    fn weights(shape: u32, profile: &Profile) -> Self {
        let states = |stated: bool| stated || profile.unstated == Unstated::Zero;
        let (lines, keywords, prose, path) = (shape & 1 != 0, shape & 2 != 0, shape & 4 != 0, shape & WITH_PATH != 0);
        let weight = |file: f64, line: f64, keyword: f64, text: f64| {
            let parts = Parts {
                file: states(path).then_some(file),
                line: states(lines && (path || !profile.lines_need_same_file)).then_some(line),
                keyword: (!prose && states(keywords)).then_some(keyword),
                text: prose.then_some(text),
                judge: None,
            };
            weigh(&parts, &profile.weights, profile.unstated)
        };
        Self {
            file: weight(1.0, 0.0, 0.0, 0.0),
            line: weight(0.0, 1.0, 0.0, 0.0),
            keyword: weight(0.0, 0.0, 1.0, 0.0),
            text: weight(0.0, 0.0, 0.0, 1.0),
        }
    }
}

#[derive(Default)]
struct Interner {
    numbers: HashMap<Vec<u32>, u32>,
    sets: Lists,
}

impl Interner {
    fn number(&mut self, directories: &[u32]) -> u32 {
        let mut set = directories.to_vec();
        set.sort_unstable();
        set.dedup();
        let sets = &mut self.sets;
        *self.numbers.entry(set).or_insert_with_key(|set| {
            sets.push(set);
            sets.len() as u32 - 1
        })
    }
}

/// Distinct sets of directories, and which of them have a directory.
struct DirectorySets {
    sets: Lists,
    by_directory: Lists,
}

impl DirectorySets {
    fn new(interned: Interner, directories: usize) -> Self {
        Self { by_directory: interned.sets.inverted(directories), sets: interned.sets }
    }

    fn len(&self) -> usize {
        self.sets.len()
    }

    /// The directories of a set.
    fn members(&self, set: u32) -> &[u32] {
        self.sets.get(set)
    }

    /// The sets that contain a directory.
    fn containing(&self, directory: u32) -> &[u32] {
        self.by_directory.get(directory)
    }
}

/// Finds ranges of lines near a given range.
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
