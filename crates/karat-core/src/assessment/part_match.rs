//! How alike parts of documents and golden parts are.

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
    /// They have something in common.
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

    /// By how much of each side is covered.
    fn of(golden: f64, part: f64, thresholds: &Thresholds) -> Self {
        let [holds, is_held] = [golden >= thresholds.whole, part >= thresholds.whole];
        match (holds, is_held) {
            (true, true) => Self::Exact,
            (true, false) => Self::Broad,
            (false, true) => Self::Narrow,
            (false, false) if golden.max(part) >= thresholds.weak => Self::Weak,
            (false, false) => Self::Miss,
        }
    }
}

/// A golden part and a part of a document, held against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PartMatch {
    /// How they stand to each other.
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
        let category = Category::of(golden_coverage, part_coverage, thresholds);
        Self { category, golden_coverage, part_coverage }
    }
}

/// Holds one part against one golden part.
pub fn compare(golden: &Tokens, part: &Tokens, thresholds: &Thresholds) -> PartMatch {
    let words = part.in_order().iter().filter_map(|&term| number(golden, term));
    PartMatch::new(Pattern::new(golden).common(words), golden.len(), part.len(), thresholds)
}

/// The parts of documents, ready to be held against golden parts of the same vocabulary.
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

    /// The parts.
    pub fn parts(&self) -> &[Tokens] {
        &self.parts
    }

    /// Holds all parts against each of these golden parts.
    ///
    /// Two texts have no longer a subsequence in common than they have words in common, whatever their order. Where even that would
    /// be a miss nothing more is computed; all else is exact.
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

/// A part that is no miss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// The part, by its place in the index.
    pub part: usize,
    /// How it stands to the golden part.
    pub found: PartMatch,
}

/// How parts of documents stand to the golden parts of a requirement; pairs that miss are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    by_golden: Vec<Vec<Near>>,
}

impl Matches {
    /// How many golden parts there are.
    pub fn goldens(&self) -> usize {
        self.by_golden.len()
    }

    /// The parts that do not miss a golden part, in the order of the index.
    pub fn of(&self, golden: usize) -> &[Near] {
        self.by_golden.get(golden).map_or(&[], Vec::as_slice)
    }

    /// How a part stands to a golden part.
    pub fn category(&self, golden: usize, part: usize) -> Category {
        let near = self.of(golden);
        let found = near.binary_search_by_key(&part, |near| near.part).ok();
        found.map_or(Category::Miss, |at| near[at].found.category)
    }

    /// Whether some part of the documents holds a golden part.
    pub fn is_anywhere(&self, golden: usize) -> bool {
        self.of(golden).iter().any(|near| near.found.category.is_hit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tokens(count: usize, from: u32) -> Tokens {
        Tokens::new((from..from + count as u32).collect())
    }

    /// A golden part of ten words and a part with so many of them, in order, and so many others.
    #[track_caller]
    fn check(common: usize, others: usize, expect: Category) {
        let mut order: Vec<Term> = (0..common as u32).collect();
        order.extend(1000..1000 + others as u32);
        let found = compare(&tokens(10, 0), &Tokens::new(order), &Thresholds::default());
        assert_eq!(found.category, expect, "{found:?}");
    }

    #[test]
    fn the_five_categories_at_their_borders() {
        check(10, 0, Category::Exact);
        check(9, 1, Category::Exact);
        check(9, 2, Category::Broad);
        check(10, 90, Category::Broad);
        check(8, 0, Category::Narrow);
        check(1, 0, Category::Narrow);
        check(8, 1, Category::Weak);
        check(5, 90, Category::Weak);
        check(4, 4, Category::Weak);
        check(4, 5, Category::Miss);
        check(0, 3, Category::Miss);
        check(0, 0, Category::Miss);
    }

    #[test]
    fn the_order_of_words_counts() {
        let backwards = Tokens::new((0..10).rev().collect());
        let found = compare(&tokens(10, 0), &backwards, &Thresholds::default());
        assert_eq!((found.category, found.golden_coverage), (Category::Miss, 0.1));
    }

    #[test]
    fn thresholds_are_the_callers() {
        let loose = Thresholds { whole: 0.6, weak: 0.2 };
        let found = compare(&tokens(10, 0), &tokens(10, 4), &loose);
        assert_eq!((found.category, found.golden_coverage, found.part_coverage), (Category::Exact, 0.6, 0.6));
        assert_eq!(compare(&tokens(10, 0), &tokens(10, 8), &loose).category, Category::Weak);
    }

    #[test]
    fn an_empty_golden_is_never_found() {
        let index = PartIndex::new(vec![tokens(0, 0), tokens(3, 0)]);
        let matches =
            index.matches(&[tokens(0, 0), tokens(3, 0), tokens(2, 900)], &Thresholds { whole: 0.9, weak: 0.0 });
        assert_eq!((matches.of(0), matches.goldens()), (&[][..], 3));
        assert_eq!((matches.category(1, 1), matches.category(1, 0)), (Category::Exact, Category::Miss));
        // With a threshold of nothing, nothing in common is enough.
        assert_eq!((matches.category(2, 1), matches.is_anywhere(2)), (Category::Weak, false));
        assert_eq!(matches.of(9), []);
    }

    fn texts(count: usize) -> impl Strategy<Value = Vec<Tokens>> {
        let text = prop::collection::vec(0..12_u32, 0..90).prop_map(Tokens::new);
        prop::collection::vec(text, 0..count)
    }

    proptest! {
        /// What is skipped are misses, and nothing else is.
        #[test]
        fn the_bound_loses_nothing(goldens in texts(6), parts in texts(12), weak in 0.0..0.9_f64) {
            let thresholds = Thresholds { whole: 0.9, weak };
            let index = PartIndex::new(parts.clone());
            let matches = index.matches(&goldens, &thresholds);
            for (g, golden) in goldens.iter().enumerate() {
                let near = parts.iter().enumerate().map(|(part, text)| (part, compare(golden, text, &thresholds)));
                let near = near.filter(|(_, found)| found.category != Category::Miss);
                let near: Vec<Near> = near.map(|(part, found)| Near { part, found }).collect();
                prop_assert_eq!(matches.of(g), &near[..]);
            }
        }

        #[test]
        fn swapped_sides_swap_broad_and_narrow(texts in prop::collection::vec(texts(2), 2)) {
            let text = |at: usize| texts[at].first().cloned().unwrap_or_default();
            let [there, back] = [(0, 1), (1, 0)].map(|(a, b)| compare(&text(a), &text(b), &Thresholds::default()));
            let swapped = match there.category {
                Category::Broad => Category::Narrow,
                Category::Narrow => Category::Broad,
                same => same,
            };
            prop_assert_eq!(back.category, swapped);
            prop_assert_eq!((back.golden_coverage, back.part_coverage), (there.part_coverage, there.golden_coverage));
        }
    }
}
