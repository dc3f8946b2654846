//! Which findings have something in common with a golden, and the other way round, found by lookup and not by trying all pairs.
//!
//! A pair is found by one of: a path with a fitting file name, a keyword, a word of the golden's prose, lines within reach.
//! What is left are pairs that share no more than the name of a directory. For one golden these all score the same, so that
//! the first few of them stand for the rest.

mod line_index;
mod scratch;

pub(super) use scratch::{Scratch, Touched};

use super::keywords::Keywords;
use super::lists::Lists;
use super::outcome::Parts;
use super::pair::{PreparedCase, PreparedFindings, line_part, weigh};
use crate::profile::{Profile, Unstated};
use line_index::LineIndex;
use std::collections::{BTreeSet, HashMap};

/// Sees pairs of one golden, or of one finding.
pub(super) trait Visit {
    /// Whether a pair that scores at most `bound` billionths is to be seen; `index` is its other side. Where this is false, it
    /// is false for every later index with the same bound.
    fn wants(&self, bound: i64, index: u32) -> bool;

    /// Sees a pair, and says what it scores by file, lines and words; nothing where the profile forbids it.
    fn see(&mut self, index: u32) -> Option<i64>;
}

/// Goldens and findings by what they can be looked up by.
pub(super) struct Nearby {
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
    /// The most that a keyword or a word can be of a golden's keywords or prose.
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

/// A keyword or word that more findings or goldens use than this is not looked up at first: what it finds has to be worth more
/// than what was found by path and by rarer words.
const COMMON: usize = if cfg!(test) { 2 } else { 256 };

impl Nearby {
    pub(super) fn new(case: &PreparedCase<'_>, findings: &PreparedFindings<'_>, profile: &Profile) -> Self {
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
        let prose = |(g, own): (u32, &'_ super::pair::PreparedGolden<'_>)| {
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
            weights: (0..2 * SHAPES).map(|shape| Shares::weights(shape, profile)).collect(),
        }
    }

    /// Shows every finding that may matter to a golden. What the scratch was told to skip is left out.
    pub(super) fn scan_golden(&self, pairs: Pairs<'_>, golden: u32, scratch: &mut Scratch, visit: &mut impl Visit) {
        let Pairs { case, findings, profile } = pairs;
        let own = &case.goldens[golden as usize];
        for &path in own.path.iter().flat_map(|path| self.paths_of_class.of(self.name_class[*path as usize])) {
            for &f in self.findings_of_path.of(path) {
                scratch.touch(f).near = true;
            }
        }
        let mut common = Common::default();
        for &keyword in &own.keywords {
            let users = self.findings_with_keyword.of(keyword);
            if users.len() > COMMON {
                common.keywords.push(keyword);
                continue;
            }
            for &f in users {
                scratch.touch(f).keywords += 1;
            }
        }
        for &(term, weight) in own.prose.iter().flat_map(|prose| &prose.terms) {
            let users = self.findings_with_term.of(term);
            if users.len() > COMMON {
                common.terms.push((term, weight));
                continue;
            }
            for &f in users {
                scratch.touch(f).told += weight;
            }
        }
        // Where lines count in the same file alone, its path has led to the finding already.
        if let Some(lines) = own.golden.lines.filter(|_| !profile.lines_need_same_file) {
            self.finding_lines.near(lines, profile.line.reach, |f| _ = scratch.touch(f));
        }
        scratch.see_touched(visit, |f, touched| {
            let uses_keyword = |keyword: &&u32| findings.keywords.has(f as usize, **keyword);
            let uses_term = |(term, _): &&(u32, f64)| findings.terms.has(f as usize, *term);
            let mut touched = *touched;
            touched.keywords += common.keywords.iter().filter(uses_keyword).count() as u32;
            touched.told += common.terms.iter().filter(uses_term).map(|(_, weight)| weight).sum::<f64>();
            self.bound(pairs, golden, f, &touched)
        });
        let most_by_directory = |touched: &Touched| {
            let file = if own.path.is_some() { profile.file.shared_directory } else { 0.0 };
            let keyword = f64::from(touched.keywords) / own.keywords.len().max(1) as f64;
            let text = own.prose.as_ref().map_or(0.0, |prose| prose.share(touched.told));
            self.most_of_shape(self.golden_shapes[golden as usize], &Shares { file, line: 0.0, keyword, text })
        };
        if !common.is_empty() {
            let told = common.terms.iter().map(|(_, weight)| weight).sum();
            let all = Touched { near: false, keywords: common.keywords.len() as u32, told };
            let most = most_by_directory(&all);
            if !visit.wants(most, 0) {
                return;
            }
            scratch.forget_list();
            for &keyword in &common.keywords {
                for &f in self.findings_with_keyword.of(keyword) {
                    scratch.touch(f).keywords += 1;
                }
            }
            for &(term, weight) in &common.terms {
                for &f in self.findings_with_term.of(term) {
                    scratch.touch(f).told += weight;
                }
            }
            scratch.see_up_to(most, visit, |f, touched| self.bound(pairs, golden, f, touched));
        }
        let Some(path) = own.path else { return };
        let mut most = most_by_directory(&Touched::default());
        for &directory in self.golden_directories.of(self.directories_of_golden_path[path as usize]) {
            for &set in self.finding_directories.with(directory) {
                if !scratch.see_equal(self.findings_of_set.of(set), &mut most, visit) {
                    return;
                }
            }
        }
    }

    /// Shows every golden that may matter to a finding.
    pub(super) fn scan_finding(&self, pairs: Pairs<'_>, finding: u32, scratch: &mut Scratch, visit: &mut impl Visit) {
        let Pairs { case, findings, profile } = pairs;
        let own = &findings.findings[finding as usize];
        for &class in own.path.iter().flat_map(|path| self.classes_of_path.of(*path)) {
            for &g in self.goldens_of_class.of(class) {
                scratch.touch(g).near = true;
            }
        }
        let mut common = Common::default();
        for &keyword in findings.keywords.lists.of(finding) {
            let users = self.goldens_with_keyword.of(keyword);
            if users.len() > COMMON {
                common.keywords.push(keyword);
                continue;
            }
            for &g in users {
                scratch.touch(g).keywords += 1;
            }
        }
        for &term in findings.terms.lists.of(finding) {
            let users = self.goldens_with_term.of(term);
            let weight = self.term_weights[term as usize];
            if users.len() > COMMON {
                common.terms.push((term, weight));
                continue;
            }
            for &g in users {
                scratch.touch(g).told += weight;
            }
        }
        if let Some(lines) = own.lines.filter(|_| !profile.lines_need_same_file) {
            self.golden_lines.near(lines, profile.line.reach, |g| _ = scratch.touch(g));
        }
        scratch.see_touched(visit, |g, touched| {
            let golden = &case.goldens[g as usize];
            let terms = golden.prose.as_ref().map_or(&[][..], |prose| &prose.terms);
            let states_term = |(term, _): &&(u32, f64)| terms.binary_search_by_key(term, |(own, _)| *own).is_ok();
            let mut touched = *touched;
            touched.keywords +=
                common.keywords.iter().filter(|keyword| golden.keywords.contains(keyword)).count() as u32;
            touched.told += common.terms.iter().filter(states_term).map(|(_, weight)| weight).sum::<f64>();
            self.bound(pairs, g, finding, &touched)
        });
        if !common.is_empty() {
            let shares = Shares {
                file: if own.path.is_some() { profile.file.shared_directory } else { 0.0 },
                line: 0.0,
                keyword: common.keywords.iter().map(|keyword| self.keyword_shares[*keyword as usize]).sum(),
                text: common.terms.iter().map(|(term, _)| self.term_shares[*term as usize]).sum(),
            };
            let most = self.shapes.iter().map(|shape| self.most_of_shape(*shape, &shares)).max().unwrap_or(0);
            if !visit.wants(most, 0) {
                return;
            }
            scratch.forget_list();
            for &keyword in &common.keywords {
                for &g in self.goldens_with_keyword.of(keyword) {
                    scratch.touch(g).keywords += 1;
                }
            }
            for &(term, weight) in &common.terms {
                for &g in self.goldens_with_term.of(term) {
                    scratch.touch(g).told += weight;
                }
            }
            scratch.see_up_to(most, visit, |g, touched| self.bound(pairs, g, finding, touched));
        }
        let Some(path) = own.path else { return };
        // Goldens that state the same kinds of things score the same by a directory alone.
        for shape in 0..SHAPES {
            let shares = Shares { file: profile.file.shared_directory, line: 0.0, keyword: 0.0, text: 0.0 };
            let mut most = self.most_of_shape(WITH_PATH + shape, &shares);
            'shape: for &directory in self.finding_directories.of(self.directories_of_path[path as usize]) {
                for &set in self.golden_directories.with(directory) {
                    let goldens = self.goldens_of_group.of(set * SHAPES + shape);
                    if !scratch.see_equal(goldens, &mut most, visit) {
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
    fn bound(&self, pairs: Pairs<'_>, golden: u32, finding: u32, touched: &Touched) -> i64 {
        let Pairs { case, findings, profile } = pairs;
        let own = &case.goldens[golden as usize];
        let other = &findings.findings[finding as usize];
        let steps = &profile.file;
        let both_paths = own.path.is_some() && other.path.is_some();
        let file = match touched.near {
            true if both_paths => steps.same_path.max(steps.same_name).max(steps.shared_directory),
            false if both_paths => steps.shared_directory,
            _ => 0.0,
        };
        let line = match (own.golden.lines, other.lines) {
            (Some(own), Some(theirs)) if touched.near || !profile.lines_need_same_file => {
                line_part(own, theirs, profile)
            }
            _ => 0.0,
        };
        let keyword = f64::from(touched.keywords) / own.keywords.len().max(1) as f64;
        let text = own.prose.as_ref().map_or(0.0, |prose| prose.share(touched.told));
        let shape = self.golden_shapes[golden as usize];
        self.most_of_shape(shape, &Shares { file, line, keyword, text })
    }
}

/// Both sides made ready, and the rules.
#[derive(Clone, Copy)]
pub(super) struct Pairs<'a> {
    pub(super) case: &'a PreparedCase<'a>,
    pub(super) findings: &'a PreparedFindings<'a>,
    pub(super) profile: &'a Profile,
}

/// Which parts of a score a golden has, as a number below twice [`SHAPES`].
fn shape(golden: &super::pair::PreparedGolden<'_>) -> u32 {
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

/// Keywords and words, with their weights, that many use.
#[derive(Default)]
struct Common {
    keywords: Vec<u32>,
    terms: Vec<(u32, f64)>,
}

impl Common {
    fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.terms.is_empty()
    }
}

/// Gives equal sets of directories one number.
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

    fn of(&self, set: u32) -> &[u32] {
        self.sets.of(set)
    }

    fn with(&self, directory: u32) -> &[u32] {
        self.by_directory.of(directory)
    }
}
