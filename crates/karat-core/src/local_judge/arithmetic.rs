//! Exponentials and logarithms that are the same bits on every machine.
//!
//! Those of the standard library come from the system, and systems differ in the last bit. These are made of additions,
//! multiplications and divisions alone, which are the same everywhere.

use std::f64::consts::{LN_2, SQRT_2};

/// e to the power of `x`; what is out of range comes back as the nearest value within it.
pub(super) fn exp(x: f64) -> f64 {
    let [y] = exp_each([x]);
    y
}

/// The same for several numbers side by side, as each one is a chain of divisions that a processor must wait for.
fn exp_each<const N: usize>(xs: [f64; N]) -> [f64; N] {
    let xs = xs.map(|x| if x.is_nan() { 0.0 } else { x.clamp(-700.0, 700.0) });
    let wholes = xs.map(|x| (x / LN_2).round());
    let mut rests = xs;
    rests.iter_mut().zip(&wholes).for_each(|(x, whole)| *x -= whole * LN_2);
    let mut series = [1.0; N];
    for n in (1..=18).rev() {
        let n = f64::from(n);
        series.iter_mut().zip(&rests).for_each(|(sum, rest)| *sum = 1.0 + *sum * rest / n);
    }
    series.iter_mut().zip(&wholes).for_each(|(sum, whole)| {
        *sum *= f64::from_bits(((1023 + *whole as i64) as u64) << 52);
    });
    series
}

/// The natural logarithm of a normal positive number; of anything else, 0.
pub(super) fn ln(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return 0.0;
    }
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) as i64 - 1023) as f64;
    let mut fraction = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    if fraction > SQRT_2 {
        fraction /= 2.0;
        exponent += 1.0;
    }
    let ratio = (fraction - 1.0) / (fraction + 1.0);
    let square = ratio * ratio;
    let series = INVERSES.iter().rev().fold(0.0, |sum, inverse| sum * square + inverse);
    exponent * LN_2 + 2.0 * ratio * series
}

/// One over each odd number.
const INVERSES: [f64; 15] = {
    let (mut inverses, mut n) = ([0.0; 15], 0);
    while n < inverses.len() {
        inverses[n] = 1.0 / (2 * n + 1) as f64;
        n += 1;
    }
    inverses
};

/// A probability from log-odds.
pub(crate) fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + exp(-log_odds))
}

/// How bad it is that something with these log-odds happened after all: the negative logarithm of its probability.
pub(crate) fn log_loss(log_odds: f64) -> f64 {
    let beyond = ln(1.0 + exp(-log_odds.abs()));
    if log_odds < 0.0 { beyond - log_odds } else { beyond }
}

/// Puts the probability in the place of each of some log-odds.
pub(super) fn into_probabilities(log_odds: &mut [f64]) {
    let (eights, rest) = log_odds.as_chunks_mut::<8>();
    for eight in eights {
        *eight = exp_each(eight.map(|x| -x)).map(|e| 1.0 / (1.0 + e));
    }
    rest.iter_mut().for_each(|x| *x = probability(*x));
}

/// Six decimals, so that parameters can be read and written without loss.
pub(super) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_ln_agree_with_the_standard_library() {
        for i in -6000..6000 {
            let x = f64::from(i) / 100.0 + 0.0037;
            let off = (exp(x) / x.exp() - 1.0).abs();
            assert!(off < 1e-14, "exp({x}) is off by {off}");
            let y = x.exp();
            assert!((ln(y) - y.ln()).abs() < 1e-13, "ln({y})");
        }
    }

    #[test]
    fn exp_of_one_equals_exp_of_several() {
        let all: Vec<f64> = (-1000..1003).map(|i| f64::from(i) / 1.37).chain([f64::NAN, f64::INFINITY]).collect();
        let mut found = all.clone();
        into_probabilities(&mut found);
        for (x, found) in all.into_iter().zip(found) {
            assert_eq!(found.to_bits(), probability(x).to_bits(), "{x}");
        }
    }

    #[test]
    fn log_loss_is_low_for_likely_and_high_for_unlikely_events() {
        for (log_odds, expect) in [(0.0, LN_2), (800.0, 0.0), (-800.0, 800.0), (2.0, 0.126_928_011_042_972_52)] {
            assert!((log_loss(log_odds) - expect).abs() < 1e-12, "{log_odds}: {}", log_loss(log_odds));
        }
    }

    #[test]
    fn nothing_leaves_the_range() {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e308, -1e308, 5e-324] {
            assert!(exp(x).is_finite() && ln(x).is_finite());
            assert!((0.0..=1.0).contains(&probability(x)), "{x}");
        }
        assert_eq!((exp(0.0), ln(1.0), probability(0.0)), (1.0, 0.0, 0.5));
    }
}
