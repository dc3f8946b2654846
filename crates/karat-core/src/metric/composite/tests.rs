use super::*;

use crate::profile::SuiWeights;

const NONE: Value = Err(Undefined("x"));

fn profile(fill: bool) -> Profile {
    let mut profile: Profile = toml::from_str(include_str!("../../../../karat/profiles/karat.toml")).unwrap();
    profile.audit_conventions.sui_fills_missing = fill;
    profile
}

fn parts(verdict_f2: f64, target: f64, precision: f64, reasoning: Value, ece: Value) -> SuiParts {
    SuiParts([Ok(verdict_f2), Ok(target), Ok(precision), reasoning, ece])
}

fn close(got: Value, expect: f64) {
    assert!(got.is_ok_and(|value| (value - expect).abs() < 1e-12), "{got:?}, expected {expect}");
}

#[test]
fn sui_by_hand() {
    let whole = parts(0.8, 0.6, 0.5, Ok(0.75), Ok(0.2));
    close(whole.sui(&profile(false)), 0.2 + 0.15 + 0.075 + 0.1875 + 0.08);
    let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
    assert_eq!(bare.sui(&profile(false)), NONE);
    close(bare.sui(&profile(true)), 0.2 + 0.15 + 0.075 + 0.0 + 0.05);
    assert_eq!(bare.known(&profile(false)), Err("reasoning"));
    assert_eq!(bare.known(&profile(true)), Ok([0.8, 0.6, 0.5, 0.0, 0.5]));
    // Other weights are scaled to 1, and a part of no weight need not be there.
    let two = SuiWeights {
        verdict_f2: 3.0,
        target_detection_rate: 1.0,
        finding_precision: 0.0,
        reasoning: 0.0,
        calibration: 0.0,
    };
    close(bare.sui(&Profile { sui: two.clone(), ..profile(false) }), 0.75);
    let none = SuiWeights { verdict_f2: 0.0, target_detection_rate: 0.0, ..two };
    assert_eq!(whole.sui(&Profile { sui: none, ..profile(false) }), Err(Undefined("all weights are 0")));
}

#[test]
fn ranks_that_rest_on_the_weights_are_not_stable() {
    let better = parts(0.9, 0.9, 0.9, Ok(0.9), Ok(0.1));
    let worse = parts(0.1, 0.1, 0.1, Ok(0.1), Ok(0.9));
    assert_eq!(rank_stability(&[worse, better], &profile(false)), [Ok(1.0), Ok(1.0)]);
    // One leads by its verdicts, the other by as much through its targets: the weights decide.
    let (a, b) = (parts(0.81, 0.6, 0.5, Ok(0.5), Ok(0.5)), parts(0.6, 0.8, 0.5, Ok(0.5), Ok(0.5)));
    let both = rank_stability(&[a, b], &profile(false));
    // Of nine ratios of the two weights three are below 1, and six are not.
    assert_eq!(both, [Ok(6.0 / 9.0), Ok(6.0 / 9.0)]);
    assert!(rank_stability(&[a], &profile(false))[0].is_err());
    let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
    assert!(rank_stability(&[a, b, bare], &profile(false))[2].is_err());
    assert!(rank_stability(&[a, b, bare], &profile(true))[2].is_ok());
}

/// In a weighted sum, strong parts make up for a missing one; in a geometric mean nothing does.
#[test]
fn a_geometric_index_by_hand() {
    let mut rules = profile(false);
    rules.composites.mean = CompositeMean::Geometric;
    let whole = parts(0.8, 0.6, 0.5, Ok(0.75), Ok(0.2));
    let powers = [(0.8, 0.25), (0.6, 0.25), (0.5, 0.15), (0.75, 0.25), (0.8, 0.1)];
    close(whole.sui(&rules), powers.iter().map(|(part, weight): &(f64, f64)| part.powf(*weight)).product());
    close(parts(0.8, 0.6, 0.0, Ok(0.75), Ok(0.2)).sui(&rules), 0.0);
    // A calibration error of 1 and a bit is one of 1.
    close(parts(0.8, 0.6, 0.5, Ok(0.75), Ok(1.0 + f64::EPSILON)).sui(&rules), 0.0);
    // A part of no weight takes no part, and weights are scaled.
    rules.sui = SuiWeights { finding_precision: 0.0, calibration: 0.0, ..rules.sui };
    close(parts(0.8, 0.6, 0.0, Ok(0.75), NONE).sui(&rules), (0.8_f64 * 0.6 * 0.75).cbrt());
    let equal = parts(0.7, 0.7, 0.7, Ok(0.7), Ok(0.3));
    close(equal.sui(&rules), 0.7);
}
