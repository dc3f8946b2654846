//! What is known of the other sides while one golden or finding is compared with them.

use super::Visit;

/// What a pair has in common.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::matching) struct Touched {
    /// A path of a fitting name.
    pub(super) near: bool,
    /// How many keywords.
    pub(super) keywords: u32,
    /// How much the shared words of the golden's prose tell.
    pub(super) told: f64,
}

/// What is known of the other sides while one golden or finding is looked at; kept from one to the next.
pub(in crate::matching) struct Scratch {
    round: u32,
    touched_in: Vec<u32>,
    seen_in: Vec<u32>,
    what: Vec<Touched>,
    list: Vec<u32>,
    /// The share of the list, in parts of [`WHOLE`], after which it is begun.
    begin_at: usize,
}

/// All of a list.
const WHOLE: usize = 1 << 20;

impl Scratch {
    /// For so many goldens or findings on the other side.
    pub(in crate::matching) fn new(others: usize) -> Self {
        Self {
            round: 0,
            touched_in: vec![0; others],
            seen_in: vec![0; others],
            what: vec![Touched::default(); others],
            list: Vec::new(),
            begin_at: 0,
        }
    }

    /// Shows what is touched from another place on: as far into the list as `part` is into `whole`.
    pub(in crate::matching) fn start_at(&mut self, part: usize, whole: usize) {
        self.begin_at = part * WHOLE / whole.max(1);
    }

    /// Forgets everything about the one before.
    pub(in crate::matching) fn begin(&mut self) {
        self.round += 1;
        self.list.clear();
        self.begin_at = 0;
    }

    /// Leaves one out of what is shown.
    pub(in crate::matching) fn skip(&mut self, index: u32) {
        self.seen_in[index as usize] = self.round;
    }

    pub(super) fn touch(&mut self, index: u32) -> &mut Touched {
        let at = index as usize;
        if self.touched_in[at] != self.round {
            self.touched_in[at] = self.round;
            self.what[at] = Touched::default();
            self.list.push(index);
        }
        &mut self.what[at]
    }

    /// Shows what was touched, that with the best names first, so that bounds rule out most of the others.
    pub(super) fn see_touched(&mut self, visit: &mut impl Visit, bound: impl Fn(u32, &Touched) -> i64) {
        let (before, after) = self.list.split_at((self.list.len() * self.begin_at / WHOLE).min(self.list.len()));
        for first in [true, false] {
            for &index in after.iter().chain(before) {
                let touched = &self.what[index as usize];
                let due = touched.near == first && self.seen_in[index as usize] != self.round;
                if due && visit.wants(bound(index, touched), index) {
                    visit.see(index);
                }
            }
        }
    }

    /// Begins another list of what is touched from now on. What was touched before is not shown again.
    pub(super) fn forget_list(&mut self) {
        self.list.clear();
    }

    /// Shows what was touched, none of which scores more than `most`, until no more of that are wanted.
    pub(super) fn see_up_to(&mut self, most: i64, visit: &mut impl Visit, bound: impl Fn(u32, &Touched) -> i64) {
        if !self.list.is_sorted() {
            self.list.sort_unstable();
        }
        let (before, after) = self.list.split_at((self.list.len() * self.begin_at / WHOLE).min(self.list.len()));
        for part in [after, before] {
            for &index in part {
                if !visit.wants(most, index) {
                    break;
                }
                let touched = &self.what[index as usize];
                if self.seen_in[index as usize] != self.round && visit.wants(bound(index, touched), index) {
                    visit.see(index);
                }
            }
        }
    }

    /// Shows those of a list that were not touched, which all score the same, at most `most`, until no more are wanted. False
    /// when none of their kind is worth showing at all.
    pub(super) fn see_equal(&mut self, list: &[u32], most: &mut i64, visit: &mut impl Visit) -> bool {
        if !visit.wants(*most, 0) {
            return false;
        }
        for &index in list {
            let at = index as usize;
            if self.touched_in[at] == self.round || self.seen_in[at] == self.round {
                continue;
            }
            if !visit.wants(*most, index) {
                break;
            }
            self.seen_in[at] = self.round;
            *most = visit.see(index).unwrap_or(*most);
            if *most == 0 {
                return false;
            }
        }
        true
    }
}
