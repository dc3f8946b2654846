use super::*;

const WEIGHTS: SuiWeights = SuiWeights {
    verdict_f2: 0.25,
    target_detection_rate: 0.25,
    finding_precision: 0.15,
    reasoning: 0.25,
    calibration: 0.10,
};
const NONE: Value = Err(Undefined("x"));

fn parts(verdict_f2: f64, target: f64, precision: f64, reasoning: Value, ece: Value) -> SuiParts {
    SuiParts([Ok(verdict_f2), Ok(target), Ok(precision), reasoning, ece])
}

fn close(got: Value, expect: f64) {
    assert!(got.is_ok_and(|value| (value - expect).abs() < 1e-12), "{got:?}, expected {expect}");
}

#[test]
fn sui_by_hand() {
    let whole = parts(0.8, 0.6, 0.5, Ok(0.75), Ok(0.2));
    close(whole.sui(&WEIGHTS, false), 0.2 + 0.15 + 0.075 + 0.1875 + 0.08);
    let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
    assert_eq!(bare.sui(&WEIGHTS, false), NONE);
    close(bare.sui(&WEIGHTS, true), 0.2 + 0.15 + 0.075 + 0.0 + 0.05);
    assert_eq!(bare.known(false), Err("reasoning"));
    assert_eq!(bare.known(true), Ok([0.8, 0.6, 0.5, 0.0, 0.5]));
    // Other weights are scaled to 1, and a part of no weight need not be there.
    let two = SuiWeights {
        verdict_f2: 3.0,
        target_detection_rate: 1.0,
        finding_precision: 0.0,
        reasoning: 0.0,
        calibration: 0.0,
    };
    close(bare.sui(&two, false), 0.75);
    let none = SuiWeights { verdict_f2: 0.0, target_detection_rate: 0.0, ..two };
    assert_eq!(whole.sui(&none, false), Err(Undefined("all weights are 0")));
}

#[test]
fn ranks_that_rest_on_the_weights_are_not_stable() {
    let better = parts(0.9, 0.9, 0.9, Ok(0.9), Ok(0.1));
    let worse = parts(0.1, 0.1, 0.1, Ok(0.1), Ok(0.9));
    assert_eq!(rank_stability(&[worse, better], &WEIGHTS, false), [Ok(1.0), Ok(1.0)]);
    // One leads by its verdicts, the other by as much through its targets: the weights decide.
    let (a, b) = (parts(0.81, 0.6, 0.5, Ok(0.5), Ok(0.5)), parts(0.6, 0.8, 0.5, Ok(0.5), Ok(0.5)));
    let both = rank_stability(&[a, b], &WEIGHTS, false);
    // Of nine ratios of the two weights three are below 1, and six are not.
    assert_eq!(both, [Ok(6.0 / 9.0), Ok(6.0 / 9.0)]);
    assert!(rank_stability(&[a], &WEIGHTS, false)[0].is_err());
    let bare = parts(0.8, 0.6, 0.5, NONE, NONE);
    assert!(rank_stability(&[a, b, bare], &WEIGHTS, false)[2].is_err());
    assert!(rank_stability(&[a, b, bare], &WEIGHTS, true)[2].is_ok());
}
