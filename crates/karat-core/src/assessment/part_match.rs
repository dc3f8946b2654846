//! Compares parts of documents with golden parts.

use super::lcs::{Pattern, number};
use super::rules::Thresholds;
use super::text::{Term, Tokens};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a part of a document stands to a golden part, from the worst to the best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// They have little in common.
    Miss,
    /// They have something in common, or the same text under another heading.
    Weak,
    /// The part is a piece of the golden one.
    Narrow,
    /// The part holds the golden one, and more.
    Broad,
    /// Both say the same.
    Exact,
}

impl Category {
    /// Whether the golden part counts as found.
    pub fn is_hit(self) -> bool {
        matches!(self, Self::Exact | Self::Broad)
    }
}

/// A golden part and a part of a document, compared with each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartMatch {
    pub category: Category,
    /// The share of the golden part's words that lie in the longest common subsequence.
    pub golden_coverage: f64,
    /// The share of the other part's words that lie in it.
    pub part_coverage: f64,
}

impl PartMatch {
    fn new(common: usize, golden: usize, part: usize, thresholds: &Thresholds) -> Self {
        // A text without words covers nothing and is covered by nothing.
        if golden == 0 || part == 0 {
            return Self { category: Category::Miss, golden_coverage: 0.0, part_coverage: 0.0 };
        }
        let [golden_coverage, part_coverage] = [golden, part].map(|length| common as f64 / length as f64);
        let category = match (golden_coverage >= thresholds.whole, part_coverage >= thresholds.whole) {
            (true, true) => Category::Exact,
            (true, false) => Category::Broad,
            (false, true) => Category::Narrow,
            (false, false) if golden_coverage.max(part_coverage) >= thresholds.weak => Category::Weak,
            (false, false) => Category::Miss,
        };
        Self { category, golden_coverage, part_coverage }
    }
}

/// Compares two texts word by word; headings count like any other words.
pub fn compare(golden: &Tokens, part: &Tokens, thresholds: &Thresholds) -> PartMatch {
    PartMatch::new(common(golden, part), golden.len(), part.len(), thresholds)
}

/// The length of the longest common subsequence.
fn common(golden: &Tokens, part: &Tokens) -> usize {
    let words = part.in_order().iter().filter_map(|&term| number(golden, term));
    Pattern::new(golden).common(words)
}

/// How the heading of a part that covers a golden part stands to the golden's title.
#[derive(Clone, Copy)]
struct Heading {
    /// Words that both have in common, title and text.
    common: usize,
    /// Words of the title that the part has beyond those of the text: in its heading, or in a line of its body.
    title: usize,
    /// Words of the part's heading that the golden part does not have; those of a part that holds more do not count.
    extra: usize,
}

impl Heading {
    fn new(golden: &Tokens, part: &Tokens, category: Category) -> Self {
        let common_all = common(golden, part);
        let title = common_all.saturating_sub(common(&golden.body(), part));
        let own = common_all.saturating_sub(common(golden, &part.body()));
        let extra = if category == Category::Exact { part.title_len().saturating_sub(own) } else { 0 };
        Self { common: common_all, title, extra }
    }

    /// Whether another part fits the golden no worse as a whole, and its heading fits better.
    fn is_worse_than(&self, other: &Self) -> bool {
        let better = other.title > self.title || other.title == self.title && other.extra < self.extra;
        other.common >= self.common && better
    }
}

/// Takes back hits whose heading shows that they are other sections, however equal their bodies are: the heading has little in
/// common with the golden's title, or another section fits no worse as a whole and its heading fits better.
fn decide_by_heading(golden: &Tokens, parts: &[Tokens], near: &mut [Near], thresholds: &Thresholds) {
    if golden.title_len() == 0 {
        return;
    }
    let is_hit = |near: &&mut Near| near.found.category.is_hit();
    let mut hits: Vec<(&mut Near, Heading)> = Vec::new();
    for near in near.iter_mut().filter(is_hit) {
        let heading = Heading::new(golden, &parts[near.part], near.found.category);
        hits.push((near, heading));
    }
    let headings: Vec<Heading> = hits.iter().map(|(_, heading)| *heading).collect();
    for (near, heading) in hits {
        let own = parts[near.part].title_len();
        let little = |of: usize| (heading.title as f64) < thresholds.weak * of as f64;
        let contradicts = own > 0 && little(golden.title_len()) && little(own);
        if contradicts || headings.iter().any(|other| heading.is_worse_than(other)) {
            near.found.category = Category::Weak;
        }
    }
}

/// The parts of documents, ready to be compared with golden parts of the same vocabulary.
#[derive(Clone, Debug, Default)]
pub struct PartIndex {
    parts: Vec<Tokens>,
    /// For each word the parts that have it, and how often.
    uses: Vec<Vec<(u32, u32)>>,
}

impl PartIndex {
    /// Of parts, which from now on go by their place in this list.
    pub fn new(parts: Vec<Tokens>) -> Self {
        let mut uses: Vec<Vec<(u32, u32)>> = Vec::new();
        for (at, part) in parts.iter().enumerate() {
            for &(term, count) in part.counts() {
                if uses.len() <= term as usize {
                    uses.resize(term as usize + 1, Vec::new());
                }
                uses[term as usize].push((at as u32, count));
            }
        }
        Self { parts, uses }
    }

    /// Compares all parts with each golden part, except where the words in common, in any order, would already be a miss.
    pub fn matches(&self, goldens: &[Tokens], thresholds: &Thresholds) -> Matches {
        let own = |scratch: &mut Scratch, golden: &Tokens| self.of_one(scratch, golden, thresholds);
        Matches { by_golden: goldens.par_iter().map_init(Scratch::default, own).collect() }
    }

    fn of_one(&self, scratch: &mut Scratch, golden: &Tokens, thresholds: &Thresholds) -> Vec<Near> {
        let Scratch { shared, numbers } = scratch;
        shared.clear();
        shared.resize(self.parts.len(), 0);
        numbers.resize(self.uses.len().max(numbers.len()), UNKNOWN);
        for (word, &(term, count)) in golden.counts().iter().enumerate() {
            for &(part, uses) in self.uses.get(term as usize).map_or(&[][..], Vec::as_slice) {
                shared[part as usize] += count.min(uses);
            }
            if let Some(number) = numbers.get_mut(term as usize) {
                *number = word as u32;
            }
        }
        let mut pattern = Pattern::new(golden);
        let mut near = Vec::new();
        for (at, (part, &shared)) in self.parts.iter().zip(&*shared).enumerate() {
            let most = PartMatch::new(shared as usize, golden.len(), part.len(), thresholds);
            if most.category == Category::Miss {
                continue;
            }
            let word = |term: &Term| numbers.get(*term as usize).copied().filter(|number| *number != UNKNOWN);
            let common = pattern.common(part.in_order().iter().filter_map(word));
            let found = PartMatch::new(common, golden.len(), part.len(), thresholds);
            if found.category != Category::Miss {
                near.push(Near { part: at, found });
            }
        }
        decide_by_heading(golden, &self.parts, &mut near, thresholds);
        for (term, _) in golden.counts() {
            if let Some(number) = numbers.get_mut(*term as usize) {
                *number = UNKNOWN;
            }
        }
        near
    }
}

/// Memory that is used again for one golden part after the other.
#[derive(Default)]
struct Scratch {
    /// For each part how many words it shares with the golden one.
    shared: Vec<u32>,
    /// For each word its number in the golden part.
    numbers: Vec<u32>,
}

const UNKNOWN: u32 = u32::MAX;

/// A part that has something in common with a golden part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The part, by its place in the index.
    pub part: usize,
    pub found: PartMatch,
}

/// How parts of documents stand to the golden parts of a requirement; pairs that miss are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    by_golden: Vec<Vec<Near>>,
}

impl Matches {
    pub fn goldens(&self) -> usize {
        self.by_golden.len()
    }

    /// The parts that do not miss a golden part, in the order of the index.
    pub fn near_parts(&self, golden: usize) -> &[Near] {
        self.by_golden.get(golden).map_or(&[], Vec::as_slice)
    }

    pub fn category(&self, golden: usize, part: usize) -> Category {
        let near = self.near_parts(golden);
        let found = near.binary_search_by_key(&part, |near| near.part).ok();
        found.map_or(Category::Miss, |at| near[at].found.category)
    }

    pub(super) fn is_anywhere(&self, golden: usize) -> bool {
        self.near_parts(golden).iter().any(|near| near.found.category.is_hit())
    }
}

#[cfg(test)]
mod tests;
