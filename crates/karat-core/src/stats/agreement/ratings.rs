//! Ratings of items by raters.

use std::collections::BTreeMap;

/// One rater's answer to one item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rating {
    /// The rater, counted from 0.
    pub rater: usize,
    /// The category, counted from 0 in rising order where the categories have one.
    pub category: usize,
}

/// Ratings of items, any of which may be missing.
///
/// Items that were rated alike are kept once, with their number: a thousand items and three yes-or-no judges make 27 patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratings {
    pub(crate) raters: usize,
    /// The place of each category on the scale, from 0 to 1.
    pub(super) scores: Vec<f64>,
    /// How many categories were given at least once.
    pub(super) used: usize,
    pub(super) patterns: Vec<Pattern>,
    /// The pattern of each item, in the order given.
    pub(in crate::stats) items: Vec<usize>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Pattern {
    /// The ratings, in the order of raters.
    pub(super) ratings: Vec<Rating>,
    pub(super) counts: Vec<(usize, f64)>,
    /// The share of agreeing pairs of ratings; 0 where there are no pairs.
    pub(super) agreeing: f64,
    pub(super) times: usize,
}

impl Ratings {
    /// Items with their ratings by category. A rater's first answer to an item counts.
    ///
    /// Figures that need distances take the number of a category as its place on the scale.
    pub fn new(items: impl IntoIterator<Item = Vec<Rating>>) -> Self {
        let mut numbers: BTreeMap<Vec<Rating>, Vec<usize>> = BTreeMap::new();
        let mut count = 0;
        for mut ratings in items {
            ratings.sort_by_key(|rating| rating.rater);
            ratings.dedup_by_key(|rating| rating.rater);
            numbers.entry(ratings).or_default().push(count);
            count += 1;
        }
        let (mut items, mut patterns) = (vec![0; count], Vec::with_capacity(numbers.len()));
        let (mut raters, mut used) = (0, Vec::new());
        for (ratings, members) in numbers {
            for &item in &members {
                items[item] = patterns.len();
            }
            for rating in &ratings {
                raters = raters.max(rating.rater + 1);
                used.resize(used.len().max(rating.category + 1), false);
                used[rating.category] = true;
            }
            patterns.push(Pattern::new(ratings, members.len()));
        }
        let scores = (0..used.len()).map(|category| category as f64).collect();
        Self { raters, scores: scaled(scores), used: used.iter().filter(|used| **used).count(), patterns, items }
    }

    /// The same with the places of the categories on a scale, which must rise; without a place for each, nothing changes.
    pub fn with_scores(self, scores: Vec<f64>) -> Self {
        let rising = scores.windows(2).all(|pair| pair[0] < pair[1]) && scores.iter().all(|s| s.is_finite());
        if rising && scores.len() >= self.scores.len() { Self { scores: scaled(scores), ..self } } else { self }
    }

    /// How many categories there are, used or not.
    pub(in crate::stats) fn categories(&self) -> usize {
        self.scores.len()
    }

    /// How many items have two ratings or more.
    pub fn pairable(&self) -> usize {
        self.patterns.iter().filter(|pattern| pattern.pairable()).map(|pattern| pattern.times).sum()
    }

    pub(super) fn times(&self) -> Vec<f64> {
        self.patterns.iter().map(|pattern| pattern.times as f64).collect()
    }

    /// The distinct rows of ratings, and how many items have each; `items` holds the places of rows.
    pub(in crate::stats) fn rows(&self) -> impl Iterator<Item = (&[Rating], usize)> {
        self.patterns.iter().map(|pattern| (pattern.ratings.as_slice(), pattern.times))
    }
}

impl Pattern {
    fn new(ratings: Vec<Rating>, times: usize) -> Self {
        let mut counts: BTreeMap<usize, f64> = BTreeMap::new();
        for rating in &ratings {
            *counts.entry(rating.category).or_default() += 1.0;
        }
        let size = ratings.len() as f64;
        let agreeing: f64 = counts.values().map(|n| n * (n - 1.0)).sum();
        let agreeing = if ratings.len() < 2 { 0.0 } else { agreeing / (size * (size - 1.0)) };
        Self { ratings, counts: counts.into_iter().collect(), agreeing, times }
    }

    pub(super) fn pairable(&self) -> bool {
        self.ratings.len() >= 2
    }

    pub(super) fn category_of(&self, rater: usize) -> Option<usize> {
        let at = self.ratings.binary_search_by_key(&rater, |rating| rating.rater).ok()?;
        self.ratings.get(at).map(|rating| rating.category)
    }
}

/// Scores stretched to run from 0 to 1. No figure changes by it, and huge numbers cannot overflow their squares.
fn scaled(scores: Vec<f64>) -> Vec<f64> {
    let (Some(&low), Some(&high)) = (scores.first(), scores.last()) else { return scores };
    // Halves, because the span of all numbers is more than the greatest number.
    let span = high / 2.0 - low / 2.0;
    if span > 0.0 { scores.iter().map(|score| (score / 2.0 - low / 2.0) / span).collect() } else { scores }
}
