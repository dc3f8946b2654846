//! Working memory of a scan over the pairs of one golden or finding, reused from one scan to the next.

use super::lists::Lists;

/// Receives the pairs of one golden, or of one finding. `index` is always the other side of the pair.
pub(super) trait PairVisitor {
    /// Whether a pair that scores at most `bound` billionths is to be visited. Where this is false, it is false for every later
    /// index with the same bound.
    fn wants(&self, bound: i64, index: u32) -> bool;

    /// Returns the score of the pair by file, lines and words; `None` where the profile forbids the pair.
    fn visit(&mut self, index: u32) -> Option<i64>;
}

/// What a pair has in common.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overlap {
    /// The paths have a matching file name.
    pub(super) same_name: bool,
    pub(super) keywords: u32,
    /// Total weight of the shared words of the golden's prose.
    pub(super) term_weight: f64,
}

/// Keywords and terms that more than [`COMMON`] goldens or findings use.
#[derive(Default)]
pub(super) struct CommonWords {
    pub(super) keywords: Vec<u32>,
    pub(super) terms: Vec<(u32, f64)>,
}

impl CommonWords {
    pub(super) fn is_empty(&self) -> bool {
        self.keywords.is_empty() && self.terms.is_empty()
    }
}

/// A keyword or word that more findings or goldens use than this is not looked up at first: what it finds has to be worth more
/// than what was found by path and by rarer words.
const COMMON: usize = if cfg!(test) { 2 } else { 256 };

/// Goldens or findings by the keywords and terms they use.
#[derive(Clone, Copy)]
pub(super) struct WordUsers<'a> {
    pub(super) by_keyword: &'a Lists,
    pub(super) by_term: &'a Lists,
}

pub(super) struct Scratch {
    /// Number of the current scan; entries with another number are stale.
    round: u32,
    touched_in: Vec<u32>,
    visited_in: Vec<u32>,
    overlaps: Vec<Overlap>,
    touched: Vec<u32>,
    /// Where in `touched` visiting starts, as a fraction of [`FULL`].
    start: usize,
}

const FULL: usize = 1 << 20;

impl Scratch {
    /// `others` is the number of goldens or findings on the other side.
    pub(super) fn new(others: usize) -> Self {
        Self {
            round: 0,
            touched_in: vec![0; others],
            visited_in: vec![0; others],
            overlaps: vec![Overlap::default(); others],
            touched: Vec::new(),
            start: 0,
        }
    }

    /// Visits from another position on: as far into the list as `part` is into `whole`.
    pub(super) fn start_at(&mut self, part: usize, whole: usize) {
        self.start = part * FULL / whole.max(1);
    }

    /// Starts the scan of another golden or finding.
    pub(super) fn begin(&mut self) {
        self.round += 1;
        self.touched.clear();
        self.start = 0;
    }

    pub(super) fn skip(&mut self, index: u32) {
        self.visited_in[index as usize] = self.round;
    }

    pub(super) fn touch(&mut self, index: u32) -> &mut Overlap {
        let at = index as usize;
        if self.touched_in[at] != self.round {
            self.touched_in[at] = self.round;
            self.overlaps[at] = Overlap::default();
            self.touched.push(index);
        }
        &mut self.overlaps[at]
    }

    /// Touches all users of rare keywords and terms, and returns the common ones.
    pub(super) fn touch_rare(
        &mut self,
        users: WordUsers<'_>,
        keywords: &[u32],
        terms: impl Iterator<Item = (u32, f64)>,
    ) -> CommonWords {
        let mut common = CommonWords::default();
        for &keyword in keywords {
            let using = users.by_keyword.get(keyword);
            if using.len() > COMMON {
                common.keywords.push(keyword);
                continue;
            }
            for &index in using {
                self.touch(index).keywords += 1;
            }
        }
        for (term, weight) in terms {
            let using = users.by_term.get(term);
            if using.len() > COMMON {
                common.terms.push((term, weight));
                continue;
            }
            for &index in using {
                self.touch(index).term_weight += weight;
            }
        }
        common
    }

    /// Visits all users of common keywords and terms, none of whom scores more than `most`. What was touched before is not
    /// visited again. False when no pair of that score is wanted.
    pub(super) fn visit_common(
        &mut self,
        users: WordUsers<'_>,
        common: &CommonWords,
        most: i64,
        visitor: &mut impl PairVisitor,
        bound: impl Fn(u32, &Overlap) -> i64,
    ) -> bool {
        if !visitor.wants(most, 0) {
            return false;
        }
        self.touched.clear();
        for &keyword in &common.keywords {
            for &index in users.by_keyword.get(keyword) {
                self.touch(index).keywords += 1;
            }
        }
        for &(term, weight) in &common.terms {
            for &index in users.by_term.get(term) {
                self.touch(index).term_weight += weight;
            }
        }
        self.visit_up_to(most, visitor, bound);
        true
    }

    /// Visits what was touched, matching file names first, so that bounds rule out most of the others.
    pub(super) fn visit_touched(&self, visitor: &mut impl PairVisitor, bound: impl Fn(u32, &Overlap) -> i64) {
        let (before, after) = self.touched.split_at(self.start_index());
        for same_name in [true, false] {
            for &index in after.iter().chain(before) {
                let overlap = &self.overlaps[index as usize];
                let due = overlap.same_name == same_name && self.visited_in[index as usize] != self.round;
                if due && visitor.wants(bound(index, overlap), index) {
                    visitor.visit(index);
                }
            }
        }
    }

    fn visit_up_to(&mut self, most: i64, visitor: &mut impl PairVisitor, bound: impl Fn(u32, &Overlap) -> i64) {
        if !self.touched.is_sorted() {
            self.touched.sort_unstable();
        }
        let (before, after) = self.touched.split_at(self.start_index());
        for part in [after, before] {
            for &index in part {
                if !visitor.wants(most, index) {
                    break;
                }
                let overlap = &self.overlaps[index as usize];
                if self.visited_in[index as usize] != self.round && visitor.wants(bound(index, overlap), index) {
                    visitor.visit(index);
                }
            }
        }
    }

    fn start_index(&self) -> usize {
        (self.touched.len() * self.start / FULL).min(self.touched.len())
    }

    /// Visits those of a list that were not touched, which all score the same, at most `most`, until no more are wanted. False
    /// when no pair of that score is worth visiting at all.
    pub(super) fn visit_equal(&mut self, list: &[u32], most: &mut i64, visitor: &mut impl PairVisitor) -> bool {
        if !visitor.wants(*most, 0) {
            return false;
        }
        for &index in list {
            let at = index as usize;
            if self.touched_in[at] == self.round || self.visited_in[at] == self.round {
                continue;
            }
            if !visitor.wants(*most, index) {
                break;
            }
            self.visited_in[at] = self.round;
            *most = visitor.visit(index).unwrap_or(*most);
            if *most == 0 {
                return false;
            }
        }
        true
    }
}
