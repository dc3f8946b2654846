//! Target detection (tier 2).

use super::{Value, ratio};
use crate::golden::{Golden, Severity};
use crate::profile::SeverityWeights;
use crate::suite::Case;

/// A mean of values that weigh differently.
pub fn weighted_mean(values: impl Iterator<Item = (f64, f64)>, reason: &'static str) -> Value {
    let (part, whole) =
        values.fold((0.0, 0.0), |(part, whole), (weight, value)| (part + weight * value, whole + weight));
    ratio(part, whole, reason)
}

/// How bad the target is: the marked golden, or, where none is marked, the worst of the required ones.
pub fn target_severity(case: &Case) -> Option<Severity> {
    let marked = case.goldens.iter().any(|golden| golden.target);
    let target = |golden: &&Golden| if marked { golden.target } else { golden.is_required() };
    // Severities stand in order from worst to mildest.
    case.goldens.iter().filter(target).filter_map(|golden| golden.severity).min()
}

/// Σ weight of the goldens found / Σ weight of the required ones that state a severity.
pub fn weighted_recall(case: &Case, found: impl Fn(usize) -> bool, weights: &SeverityWeights) -> Value {
    let required = case.goldens.iter().enumerate().filter(|(_, golden)| golden.is_required());
    let weighed = required.filter_map(|(index, golden)| Some((weights.weight(golden.severity?), index)));
    weighted_mean(
        weighed.map(|(weight, index)| (weight, f64::from(u8::from(found(index))))),
        "no required golden states a severity",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Undefined;
    use crate::suite::Case;

    const WEIGHTS: SeverityWeights = SeverityWeights { critical: 3.0, high: 2.0, medium: 1.0, low: 0.5, info: 0.25 };

    fn case(severities: &[Option<Severity>]) -> Case {
        let golden = |severity: &Option<Severity>| Golden { severity: *severity, ..Golden::new("g") };
        Case { goldens: severities.iter().map(golden).collect(), ..Case::new("c") }
    }

    #[test]
    fn a_critical_miss_costs_more_than_a_low_one() {
        let case = case(&[Some(Severity::Critical), Some(Severity::Low), None]);
        assert_eq!(weighted_recall(&case, |g| g == 0, &WEIGHTS), Ok(3.0 / 3.5));
        assert_eq!(weighted_recall(&case, |g| g == 1, &WEIGHTS), Ok(0.5 / 3.5));
        // A golden without a severity weighs nothing.
        assert_eq!(weighted_recall(&case, |g| g == 2, &WEIGHTS), Ok(0.0));
        let silent = self::case(&[None]);
        assert_eq!(
            weighted_recall(&silent, |_| true, &WEIGHTS),
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
}
