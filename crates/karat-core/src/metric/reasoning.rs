//! Reasoning scores of found targets (tier 4).

use super::{Undefined, Value};
use crate::stats::summary::{mean, sample_std};

/// The mean of those of the three scores that are there.
pub fn reasoning(scores: [Value; 3]) -> Value {
    let present: Vec<f64> = scores.into_iter().filter_map(Result::ok).collect();
    mean(&present).ok_or(Undefined("no target was found and rated"))
}

const FEW: Undefined = Undefined("fewer than two targets were found and rated");

/// The same as [`spread`] of so many values, from their sum and the sum of their squares.
pub fn spread_of_moments(count: f64, sum: f64, squares: f64, population: bool) -> Value {
    let divisor = if population { count } else { count - 1.0 };
    if divisor <= 0.0 {
        return Err(FEW);
    }
    let distances = squares - sum * sum / count;
    // Of equal values rounding leaves next to nothing, whose root would be something.
    Ok(if distances < 1e-12 * count { 0.0 } else { (distances / divisor).sqrt() })
}

/// The standard deviation of a sample, or of the values as a whole population.
pub fn spread(values: &[f64], population: bool) -> Value {
    if !population {
        return sample_std(values).ok_or(FEW);
    }
    let mean = mean(values).ok_or(FEW)?;
    Ok((values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_values_are_left_out() {
        let none = Err(Undefined("x"));
        assert_eq!(reasoning([Ok(0.5), Ok(1.0), Ok(0.75)]), Ok(0.75));
        assert_eq!(reasoning([Ok(0.5), none, Ok(1.0)]), Ok(0.75));
        assert_eq!(reasoning([none; 3]), Err(Undefined("no target was found and rated")));
    }

    #[test]
    fn a_population_divides_by_all_of_it() {
        assert_eq!(spread(&[0.0, 1.0], true), Ok(0.5));
        assert_eq!(spread(&[0.0, 1.0], false), Ok(0.5_f64.sqrt()));
        assert_eq!(spread(&[0.3], true), Ok(0.0));
        assert_eq!(spread(&[0.3], false), Err(Undefined("fewer than two targets were found and rated")));
        assert!(spread(&[], true).is_err());
    }

    #[test]
    fn moments_say_the_same() {
        for values in [&[][..], &[0.3], &[0.3; 7], &[0.0, 1.0], &[0.25, 0.5, 1.0, 0.7]] {
            for population in [true, false] {
                let (sum, squares) = values.iter().fold((0.0, 0.0), |(sum, squares), v| (sum + v, squares + v * v));
                let got = spread_of_moments(values.len() as f64, sum, squares, population);
                match (got, spread(values, population)) {
                    (Ok(got), Ok(expect)) => assert!((got - expect).abs() < 1e-9, "{values:?}: {got}, {expect}"),
                    (got, expect) => assert_eq!(got, expect, "{values:?}"),
                }
            }
        }
    }
}
