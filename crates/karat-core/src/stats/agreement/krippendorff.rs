//! Krippendorff's alpha.

use super::ratings::Pattern;
use super::{NO_OVERLAP, ONE_CATEGORY, Ratings, Value};

/// What can be said of two different categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// That they differ.
    Nominal,
    /// Which comes first.
    Ordinal,
    /// How far apart they are.
    Interval,
}

/// Krippendorff's alpha (Krippendorff 2011), for any number of raters and with ratings missing.
pub fn krippendorff(ratings: &Ratings, level: Level) -> Value {
    alpha(ratings, &ratings.times(), level)
}

/// 1 − observed over expected disagreement, of a sample in which each pattern occurs so many times.
/// The textbook adds up a matrix of coincidences. Sums of squares say the same, and a thousand categories cost no more than two.
pub(super) fn alpha(ratings: &Ratings, times: &[f64], level: Level) -> Value {
    let mut sizes = vec![0.0; ratings.categories()];
    for (pattern, &times) in pairable(ratings, times) {
        for &(category, n) in &pattern.counts {
            sizes[category] += n * times;
        }
    }
    let total: f64 = sizes.iter().sum();
    if total == 0.0 {
        return Err(NO_OVERLAP);
    }
    if sizes.iter().filter(|size| **size > 0.0).count() < 2 {
        return Err(ONE_CATEGORY);
    }
    let (observed, expected) = match level {
        Level::Nominal => {
            let same: f64 = sizes.iter().map(|size| size * size).sum();
            let within = |pattern: &Pattern| pattern.ratings.len() as f64 * (1.0 - pattern.agreeing);
            (observed(ratings, times, within), total * total - same)
        }
        Level::Ordinal => squares(ratings, times, &sizes, &middle_ranks(&sizes)),
        Level::Interval => squares(ratings, times, &sizes, &ratings.scores),
    };
    Ok(1.0 - (total - 1.0) * observed / expected)
}

fn pairable<'a>(ratings: &'a Ratings, times: &'a [f64]) -> impl Iterator<Item = (&'a Pattern, &'a f64)> {
    ratings.patterns.iter().zip(times).filter(|(pattern, times)| pattern.pairable() && **times > 0.0)
}

fn observed(ratings: &Ratings, times: &[f64], within: impl Fn(&Pattern) -> f64) -> f64 {
    pairable(ratings, times).map(|(pattern, times)| times * within(pattern)).sum()
}

/// Observed and expected disagreement where a disagreement is the square of a distance.
fn squares(ratings: &Ratings, times: &[f64], sizes: &[f64], places: &[f64]) -> (f64, f64) {
    // The squared distances of all ordered pairs of m numbers add up to 2m times their squares about the mean.
    let within = |pattern: &Pattern| {
        let size = pattern.ratings.len() as f64;
        2.0 * size * about_mean(pattern.counts.iter().map(|&(category, n)| (places[category], n)), size) / (size - 1.0)
    };
    let total: f64 = sizes.iter().sum();
    let all = places.iter().copied().zip(sizes.iter().copied());
    (observed(ratings, times, within), 2.0 * total * about_mean(all, total))
}

fn about_mean(numbers: impl Iterator<Item = (f64, f64)> + Clone, total: f64) -> f64 {
    let mean = numbers.clone().map(|(value, n)| value * n).sum::<f64>() / total;
    numbers.map(|(value, n)| n * (value - mean).powi(2)).sum()
}

/// The rank in the middle of each category. The ordinal distance of two categories is the difference of these.
fn middle_ranks(sizes: &[f64]) -> Vec<f64> {
    let mut below = 0.0;
    let rank = |size: &f64| {
        let rank = below + size / 2.0;
        below += size;
        rank
    };
    sizes.iter().map(rank).collect()
}
