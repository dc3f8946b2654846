//! Compares which goldens two sides find.

use crate::stats::paired::{McNemar, mcnemar};

/// In how many of its trials a side found a golden.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "field names say it")]
pub struct FoundCount {
    pub found: usize,
    pub trials: usize,
}

impl FoundCount {
    /// Found in more than half of the trials.
    pub fn mostly(self) -> bool {
        2 * self.found > self.trials
    }

    /// Found in some trials and not in others.
    pub fn flaky(self) -> bool {
        self.found > 0 && self.found < self.trials
    }
}

/// What became of goldens from one side to the other. Every golden counts once, however many trials there are.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct GoldenChanges {
    /// Those that only the second side mostly finds, by their places.
    pub gained: Vec<usize>,
    pub lost: Vec<usize>,
    pub both: usize,
    pub neither: usize,
    /// How many of those that moved waver on either side, so that they may move back by chance.
    pub flaky: usize,
    /// The exact test of gained against lost.
    pub test: McNemar,
}

/// Compares goldens by how often either side found them.
pub fn golden_changes(goldens: &[[FoundCount; 2]], level: f64) -> GoldenChanges {
    let of = |wanted: [bool; 2]| {
        let fits =
            move |(at, tallies): (usize, &[FoundCount; 2])| (tallies.map(FoundCount::mostly) == wanted).then_some(at);
        goldens.iter().enumerate().filter_map(fits).collect::<Vec<usize>>()
    };
    let (gained, lost) = (of([false, true]), of([true, false]));
    let flaky = gained.iter().chain(&lost).filter(|at| goldens[**at].iter().any(|tally| tally.flaky())).count();
    let (both, neither) = (of([true, true]).len(), of([false, false]).len());
    let test = mcnemar(gained.len(), lost.len(), level);
    GoldenChanges { gained, lost, both, neither, flaky, test }
}
