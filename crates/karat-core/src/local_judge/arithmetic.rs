//! Probabilities, log-odds and rounding of the local judge.

/// The natural logarithm of a normal positive number; of anything else, 0.
pub(super) fn ln(x: f64) -> f64 {
    if x.is_normal() && x > 0.0 { libm::log(x) } else { 0.0 }
}

/// A probability from log-odds.
pub(crate) fn probability(log_odds: f64) -> f64 {
    1.0 / (1.0 + libm::exp(-log_odds))
}

/// How bad it is that something with these log-odds happened after all: the negative logarithm of its probability.
pub(crate) fn log_loss(log_odds: f64) -> f64 {
    let beyond = libm::log1p(libm::exp(-log_odds.abs()));
    if log_odds < 0.0 { beyond - log_odds } else { beyond }
}

/// Replaces each of some log-odds by its probability.
pub(super) fn into_probabilities(log_odds: &mut [f64]) {
    log_odds.iter_mut().for_each(|x| *x = probability(*x));
}

/// Six decimals, so that parameters can be read and written without loss.
pub(super) fn rounded(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_loss_is_low_for_likely_and_high_for_unlikely_events() {
        for (log_odds, expect) in
            [(0.0, std::f64::consts::LN_2), (800.0, 0.0), (-800.0, 800.0), (2.0, 0.126_928_011_042_972_52)]
        {
            assert!((log_loss(log_odds) - expect).abs() < 1e-12, "{log_odds}: {}", log_loss(log_odds));
        }
    }

    #[test]
    fn nothing_leaves_the_range() {
        for x in [f64::INFINITY, f64::NEG_INFINITY, 0.0, 1e308, -1e308, 5e-324] {
            assert!(ln(x).is_finite());
            assert!((0.0..=1.0).contains(&probability(x)), "{x}");
        }
        assert_eq!((ln(1.0), probability(0.0)), (0.0, 0.5));
    }
}
