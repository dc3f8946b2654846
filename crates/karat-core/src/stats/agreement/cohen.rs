//! Cohen's kappa of two raters.

use super::{NO_OVERLAP, ONE_CATEGORY, Ratings, Value};

/// How much a disagreement weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// All the same (Cohen 1960).
    Equal,
    /// By the distance of the categories (Cohen 1968).
    Linear,
    /// By the square of that distance (Cohen 1968).
    Quadratic,
}

/// Cohen's kappa of two raters over the items both rated.
pub fn cohen(ratings: &Ratings, a: usize, b: usize, weights: Weights) -> Value {
    Pair::new(ratings, a, b).sums(ratings, &ratings.times()).kappa(weights)
}

/// Cohen's kappa of two raters who say yes or no; none where both always say one and the same.
pub(crate) fn binary_kappa(answers: impl Iterator<Item = (bool, bool)>) -> Option<f64> {
    let mut table = [[0.0; 2]; 2];
    answers.for_each(|(a, b)| table[usize::from(a)][usize::from(b)] += 1.0);
    kappa_of_table(&table)
}

/// The same of how often the first said no or yes, and of these how often the second did.
pub(crate) fn kappa_of_table(&[[neither, second_alone], [first_alone, both]]: &[[f64; 2]; 2]) -> Option<f64> {
    let first = [neither + second_alone, first_alone + both];
    let second = [neither + first_alone, second_alone + both];
    let (total, differing) = (first[0] + first[1], first_alone + second_alone);
    let expected = expected(&first, &second, &[0.0, 1.0], total);
    Sums { total, observed: [differing; 3], expected }.kappa(Weights::Equal).ok()
}

pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) n: usize,
    /// A pattern, and the categories of the first and the second rater.
    cells: Vec<(usize, usize, usize)>,
}

impl Pair {
    pub(super) fn new(ratings: &Ratings, a: usize, b: usize) -> Self {
        let mut n = 0;
        let mut cells = Vec::new();
        for (at, pattern) in ratings.patterns.iter().enumerate() {
            if let (Some(first), Some(second)) = (pattern.category_of(a), pattern.category_of(b)) {
                n += pattern.times;
                cells.push((at, first, second));
            }
        }
        Self { a, b, n, cells }
    }

    pub(super) fn sums(&self, ratings: &Ratings, times: &[f64]) -> Sums {
        let scores = &ratings.scores;
        let mut first = vec![0.0; scores.len()];
        let mut second = vec![0.0; scores.len()];
        let mut observed = [0.0; 3];
        for &(at, a, b) in &self.cells {
            let times = times[at];
            first[a] += times;
            second[b] += times;
            if a != b {
                let distance = (scores[a] - scores[b]).abs();
                observed[0] += times;
                observed[1] += times * distance;
                observed[2] += times * distance * distance;
            }
        }
        let total: f64 = first.iter().sum();
        Sums { total, observed, expected: expected(&first, &second, scores, total) }
    }
}

/// Observed and expected disagreement by each way of weighing: of counts, distances and squares.
pub(super) struct Sums {
    total: f64,
    observed: [f64; 3],
    expected: [f64; 3],
}

impl Sums {
    pub(super) fn kappa(&self, weights: Weights) -> Value {
        let at = weights as usize;
        if self.total == 0.0 {
            return Err(NO_OVERLAP);
        }
        // Both always said one and the same, which is exact in the first sum.
        if self.expected[0] <= 0.0 {
            return Err(ONE_CATEGORY);
        }
        Ok(1.0 - self.total * self.observed[at] / self.expected[at])
    }
}

/// The disagreement, times the total, of independent raters who decide as often as these, in one walk along the scale.
fn expected(first: &[f64], second: &[f64], scores: &[f64], total: f64) -> [f64; 3] {
    let agreeing: f64 = first.iter().zip(second).map(|(a, b)| a * b).sum();
    let (mut linear, mut squared) = (0.0, 0.0);
    // What lies below: its number, the sum of its scores, and the sum of their squares.
    let (mut a_below, mut b_below) = ([0.0; 3], [0.0; 3]);
    for ((&a, &b), &score) in first.iter().zip(second).zip(scores) {
        for (n, below) in [(a, &b_below), (b, &a_below)] {
            linear += n * (score * below[0] - below[1]);
            squared += n * (score * score * below[0] - 2.0 * score * below[1] + below[2]);
        }
        for (n, below) in [(a, &mut a_below), (b, &mut b_below)] {
            below[0] += n;
            below[1] += n * score;
            below[2] += n * score * score;
        }
    }
    [total * total - agreeing, linear, squared]
}
