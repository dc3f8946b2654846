//! Working memory of a scan over the pairs of one golden or finding, reused from one scan to the next.

use super::lists::Lists;

/// Receives the pairs of one golden, or of one finding. `index` is always the other side of the pair.
pub(super) trait PairVisitor {
    /// Whether a pair that scores at most `bound` billionths is visited. If not, no later index of that bound is.
    fn wants(&self, bound: i64, index: u32) -> bool;

    /// Returns the score of the pair by file, lines and words; `None` where the profile forbids the pair.
    fn visit(&mut self, index: u32) -> Option<i64>;
}

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

/// What more goldens or findings use is looked up last: it must be worth more than what paths and rarer words found.
pub(super) const COMMON: usize = if cfg!(test) { 2 } else { 256 };

pub(super) struct WordUsers {
    pub(super) by_keyword: Lists,
    pub(super) by_term: Lists,
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

    /// Touches all users of keywords and terms that have at most `most` of them, and returns the others.
    pub(super) fn touch_users(
        &mut self,
        users: &WordUsers,
        keywords: &[u32],
        terms: impl Iterator<Item = (u32, f64)>,
        most: usize,
    ) -> CommonWords {
        let mut common = CommonWords::default();
        for &keyword in keywords {
            let using = users.by_keyword.get(keyword);
            if using.len() > most {
                common.keywords.push(keyword);
                continue;
            }
            for &index in using {
                self.touch(index).keywords += 1;
            }
        }
        for (term, weight) in terms {
            let using = users.by_term.get(term);
            if using.len() > most {
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
        users: &WordUsers,
        common: &CommonWords,
        most: i64,
        visitor: &mut impl PairVisitor,
        bound: impl Fn(u32, &Overlap) -> i64,
    ) -> bool {
        if !visitor.wants(most, 0) {
            return false;
        }
        self.touched.clear();
        self.touch_users(users, &common.keywords, common.terms.iter().copied(), usize::MAX);
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

    fn start_index(&self) -> usize {
        (self.touched.len() * self.start / FULL).min(self.touched.len())
    }

    /// Visits the untouched of a list, which all score the same, at most `most`. False when no pair of that score is wanted.
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
