//! How targets were found (tier 2) and understood (tier 4).

use super::{Undefined, Value, ratio};
use crate::golden::Severity;
use crate::profile::{Method, SeverityWeights};
use crate::stats::summary::{mean, sample_std, squares_about_mean};
use crate::suite::Case;

/// How bad the target is: the marked golden, or, where none is marked, the worst of the required ones.
pub(crate) fn target_severity(case: &Case) -> Option<Severity> {
    // Severities stand in order from worst to mildest.
    case.goldens.iter().filter(|golden| case.is_target(golden)).filter_map(|golden| golden.severity).min()
}

/// Σ weight of the goldens found / Σ weight of the required ones that state a severity.
pub(crate) fn weighted_recall(
    case: &Case,
    method: Method,
    found: impl Fn(usize) -> bool,
    weights: &SeverityWeights,
) -> Value {
    let (mut part, mut whole) = (0.0, 0.0);
    for index in case.compared_goldens(method) {
        let Some(weight) = case.goldens[index].severity.map(|severity| weights.weight(severity)) else { continue };
        part += weight * f64::from(u8::from(found(index)));
        whole += weight;
    }
    ratio(part, whole, "no required golden states a severity")
}

/// The mean of those of the three scores that are there.
pub(crate) fn reasoning(scores: [Value; 3]) -> Value {
    mean(&scores.into_iter().filter_map(Result::ok).collect::<Vec<_>>())
        .ok_or(Undefined("no target was found and rated"))
}

const FEW: Undefined = Undefined("fewer than two targets were found and rated");

/// The standard deviation of so many values, from their sum and the sum of their squares.
pub fn spread_of_moments(count: f64, sum: f64, squares: f64, population: bool) -> Value {
    let divisor = if population { count } else { count - 1.0 };
    if divisor <= 0.0 {
        return Err(FEW);
    }
    let distances = squares - sum * sum / count;
    // Of equal values rounding leaves next to nothing, whose root would be something.
    Ok(if distances < 1e-12 * count { 0.0 } else { (distances / divisor).sqrt() })
}

pub(crate) fn spread(values: &[f64], population: bool) -> Value {
    if !population {
        return sample_std(values).ok_or(FEW);
    }
    squares_about_mean(values).map(|squares| (squares / values.len() as f64).sqrt()).ok_or(FEW)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden::Golden;

    const WEIGHTS: SeverityWeights = SeverityWeights { critical: 3.0, high: 2.0, medium: 1.0, low: 0.5, info: 0.25 };

    fn case(severities: &[Option<Severity>]) -> Case {
        let golden = |severity: &Option<Severity>| Golden { severity: *severity, ..Golden::new("g") };
        Case { goldens: severities.iter().map(golden).collect(), ..Case::new("c") }
    }

    #[test]
    fn a_critical_miss_costs_more_than_a_low_one() {
        let case = case(&[Some(Severity::Critical), Some(Severity::Low), None]);
        assert_eq!(weighted_recall(&case, Method::Score, |g| g == 0, &WEIGHTS), Ok(3.0 / 3.5));
        assert_eq!(weighted_recall(&case, Method::Score, |g| g == 1, &WEIGHTS), Ok(0.5 / 3.5));
        // A golden without a severity weighs nothing.
        assert_eq!(weighted_recall(&case, Method::Score, |g| g == 2, &WEIGHTS), Ok(0.0));
        let silent = self::case(&[None]);
        assert_eq!(
            weighted_recall(&silent, Method::Score, |_| true, &WEIGHTS),
            Err(Undefined("no required golden states a severity"))
        );
    }

    #[test]
    fn the_target_is_the_marked_golden_or_the_worst() {
        let mut case = case(&[Some(Severity::Low), Some(Severity::High)]);
        assert_eq!(target_severity(&case), Some(Severity::High));
        case.goldens[0].target = true;
        assert_eq!(target_severity(&case), Some(Severity::Low));
        assert_eq!(target_severity(&Case::new("c")), None);
    }

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
