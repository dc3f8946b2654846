//! Figures made of two things: how often raters agree, and how large each category is.

use super::{NO_OVERLAP, ONE_CATEGORY, Ratings, Value};

/// The share of agreeing pairs of ratings of an item, averaged over the items with two ratings or more.
pub fn percent(ratings: &Ratings) -> Value {
    Shares::new(ratings, &ratings.times()).percent
}

/// Fleiss' kappa (Fleiss 1971), for any number of ratings an item.
///
/// Where items have unequal numbers of ratings, agreement is averaged over the items with two or more, and a category's size
/// over all rated items, each item weighing the same (Gwet 2014). With equal numbers this is Fleiss' own formula.
pub fn fleiss(ratings: &Ratings) -> Value {
    Shares::new(ratings, &ratings.times()).fleiss()
}

/// Gwet's AC1 (Gwet 2008), for two raters or many, with missing ratings treated as in [`fleiss`].
///
/// The categories are those that occur; unused categories do not lower chance agreement.
pub fn ac1(ratings: &Ratings) -> Value {
    Shares::new(ratings, &ratings.times()).ac1()
}

pub(super) struct Shares {
    /// How often raters agree.
    pub(super) percent: Value,
    /// The size of each category; they add up to 1.
    sizes: Vec<f64>,
    /// How many categories occur among all items, drawn or not.
    categories: usize,
}

impl Shares {
    pub(super) fn new(ratings: &Ratings, times: &[f64]) -> Self {
        let (mut agreeing, mut pairable, mut rated) = (0.0, 0.0, 0.0);
        let mut sizes = vec![0.0; ratings.categories()];
        for (pattern, &times) in ratings.patterns.iter().zip(times) {
            if pattern.ratings.is_empty() || times == 0.0 {
                continue;
            }
            rated += times;
            if pattern.pairable() {
                pairable += times;
                agreeing += times * pattern.agreeing;
            }
            let one = times / pattern.ratings.len() as f64;
            for &(category, n) in &pattern.counts {
                sizes[category] += n * one;
            }
        }
        sizes.iter_mut().for_each(|size| *size /= f64::max(rated, 1.0));
        let percent = if pairable > 0.0 { Ok(agreeing / pairable) } else { Err(NO_OVERLAP) };
        Self { percent, sizes, categories: ratings.used }
    }

    pub(super) fn fleiss(&self) -> Value {
        let agreeing = self.percent?;
        if self.sizes.iter().filter(|size| **size > 0.0).count() < 2 {
            return Err(ONE_CATEGORY);
        }
        let chance: f64 = self.sizes.iter().map(|size| size * size).sum();
        Ok((agreeing - chance) / (1.0 - chance))
    }

    pub(super) fn ac1(&self) -> Value {
        let agreeing = self.percent?;
        if self.categories < 2 {
            return Err(ONE_CATEGORY);
        }
        let chance = self.sizes.iter().map(|size| size * (1.0 - size)).sum::<f64>() / (self.categories - 1) as f64;
        Ok((agreeing - chance) / (1.0 - chance))
    }
}
