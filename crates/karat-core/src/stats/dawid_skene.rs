//! Estimates the truth from raters with individual error rates (Dawid and Skene 1979).

use super::agreement::{Rating, Ratings};

/// Maximum number of EM rounds.
pub const MOST_ROUNDS: usize = 1000;
/// A round that makes the data this little more likely, for each item, is the last.
const ENOUGH: f64 = 1e-10;

/// What was learnt of items and raters.
#[derive(Clone, Debug, PartialEq)]
pub struct DawidSkene {
    /// For each item, how likely each class is to be the true one.
    pub posterior: Vec<Vec<f64>>,
    /// For each item the likeliest class, the first of equals; `None` if unrated.
    pub class: Vec<Option<usize>>,
    /// For each rater and true class, how often they say each category; `None` where no item they rated is of that class.
    pub confusion: Vec<Vec<Option<Vec<f64>>>>,
    /// How large each class is.
    pub prevalence: Vec<f64>,
    /// The logarithm of how likely the data are, after each round; but for rounding it never falls.
    pub log_likelihood: Vec<f64>,
    /// Whether it came to rest within [`MOST_ROUNDS`].
    pub converged: bool,
}

/// Fits by expectation and maximisation, from the shares of votes; the same ratings give the same result.
///
/// The posterior of an unrated item is the prevalence.
pub fn dawid_skene(ratings: &Ratings) -> DawidSkene {
    let rows: Vec<Row<'_>> = ratings.rows().map(|(ratings, times)| (ratings, times as f64)).collect();
    let mut posterior: Vec<Vec<f64>> = rows.iter().map(|row| votes(row.0, ratings.categories())).collect();
    let items: f64 = rows.iter().filter(|row| !row.0.is_empty()).map(|row| row.1).sum();
    let mut log_likelihood: Vec<f64> = Vec::new();
    let mut converged = false;
    let mut model = Model::fitted(&rows, &posterior, ratings);
    for _ in 0..MOST_ROUNDS {
        let mut total = 0.0;
        for ((row, times), posterior) in rows.iter().zip(&mut posterior) {
            total += times * model.explain(row, posterior);
        }
        let gained = log_likelihood.last().map(|last| total - last);
        log_likelihood.push(total);
        if gained.is_some_and(|gained| gained <= ENOUGH * items) || items == 0.0 {
            converged = true;
            break;
        }
        model = Model::fitted(&rows, &posterior, ratings);
    }
    let class = |at: &usize| {
        let better =
            |best: usize, class: usize| if posterior[*at][class] > posterior[*at][best] { class } else { best };
        (!rows[*at].0.is_empty()).then(|| (0..posterior[*at].len()).fold(0, better))
    };
    DawidSkene {
        class: ratings.items.iter().map(class).collect(),
        posterior: ratings.items.iter().map(|at| posterior[*at].clone()).collect(),
        confusion: model.confusion,
        prevalence: model.prevalence,
        log_likelihood,
        converged,
    }
}

/// Ratings, and how many items have them.
type Row<'a> = (&'a [Rating], f64);

struct Model {
    prevalence: Vec<f64>,
    confusion: Vec<Vec<Option<Vec<f64>>>>,
}

impl Model {
    /// The model under which these classes are likeliest.
    fn fitted(rows: &[Row<'_>], posterior: &[Vec<f64>], ratings: &Ratings) -> Self {
        let classes = ratings.categories();
        let mut prevalence = vec![0.0; classes];
        let mut counts = vec![vec![vec![0.0; classes]; classes]; ratings.raters];
        for ((row, times), posterior) in rows.iter().zip(posterior).filter(|(row, _)| !row.0.is_empty()) {
            for (class, likely) in posterior.iter().enumerate() {
                let mass = likely * times;
                prevalence[class] += mass;
                for rating in *row {
                    counts[rating.rater][class][rating.category] += mass;
                }
            }
        }
        let confusion = counts.into_iter().map(|rater| rater.into_iter().map(shares).collect()).collect();
        Self { prevalence: shares(prevalence).unwrap_or_default(), confusion }
    }

    /// Writes how likely each class is, given the ratings, and returns the log-likelihood of the ratings.
    fn explain(&self, ratings: &[Rating], posterior: &mut Vec<f64>) -> f64 {
        if ratings.is_empty() {
            posterior.clone_from(&self.prevalence);
            return 0.0;
        }
        for (class, (slot, prevalence)) in posterior.iter_mut().zip(&self.prevalence).enumerate() {
            let likelihood =
                |rating: &Rating| self.confusion[rating.rater][class].as_ref().map_or(0.0, |s| s[rating.category]);
            // Logarithms, because a product over many raters is too small for a number.
            *slot = libm::log(*prevalence) + ratings.iter().map(|rating| libm::log(likelihood(rating))).sum::<f64>();
        }
        let best = posterior.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if best == f64::NEG_INFINITY {
            return best;
        }
        posterior.iter_mut().for_each(|slot| *slot = libm::exp(*slot - best));
        let sum: f64 = posterior.iter().sum();
        posterior.iter_mut().for_each(|slot| *slot /= sum);
        best + libm::log(sum)
    }
}

fn votes(ratings: &[Rating], classes: usize) -> Vec<f64> {
    let mut votes = vec![0.0; classes];
    for rating in ratings {
        votes[rating.category] += 1.0;
    }
    shares(votes).unwrap_or_else(|| vec![0.0; classes])
}

/// Counts as shares of their sum; none where the sum is 0.
fn shares(counts: Vec<f64>) -> Option<Vec<f64>> {
    let sum: f64 = counts.iter().sum();
    (sum > 0.0).then(|| counts.iter().map(|count| count / sum).collect())
}
