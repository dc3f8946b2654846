//! The whole verdict on simulated pairs of tools, fewer of them than `cargo bench --bench comparison` simulates.

#[path = "../benches/comparison/verdicts.rs"]
mod verdicts;

use verdicts::{Expectation, SCENARIOS};

#[test]
fn verdicts_are_seldom_wrong_and_see_what_is_there() {
    for scenario in SCENARIOS {
        let (suites, resamples) = (200, 400);
        let share = scenario.rate(suites, resamples);
        // Three standard errors of a share of so few suites.
        let slack = |p: f64| 3.0 * (p * (1.0 - p) / suites as f64).sqrt();
        match scenario.expectation {
            Expectation::AtLeast(least) => assert!(share >= least - slack(least), "{}: {share}", scenario.name),
            Expectation::AtMost(most) => assert!(share <= most + slack(most), "{}: {share}", scenario.name),
        }
    }
}
