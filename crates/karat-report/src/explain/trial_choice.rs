//! Chooses the trial of a case that shows best what went wrong.

use karat_core::profile::Method;
use karat_core::scorecard::TrialScore;
use karat_core::suite::Case;
use karat_core::trial::Outcome;
use std::cmp::Reverse;

/// Why a trial is the one that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrialChoice {
    /// Somebody asked for it.
    Named,
    /// There is no other.
    Only,
    /// No trial has a problem, so it is the first.
    NoProblem,
    /// No other has more false alarms.
    MostFalse,
    /// It did not report, and those that did, if any, missed nothing.
    Failed,
    /// It missed nothing, and its verdict is wrong.
    WrongVerdict,
    /// No other missed more.
    MissedMost,
}

impl TrialChoice {
    /// The word in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Only => "only",
            Self::NoProblem => "no_problem",
            Self::MostFalse => "most_false",
            Self::Failed => "failed",
            Self::WrongVerdict => "wrong_verdict",
            Self::MissedMost => "missed_most",
        }
    }

    /// What is said of the trial where it was chosen from several.
    pub(super) fn words(self, trials: &[TrialScore]) -> Option<&'static str> {
        match self {
            Self::Named | Self::Only => None,
            Self::NoProblem => Some("no trial missed anything or raised a false alarm"),
            Self::MostFalse => Some("none missed anything, and this one has the most false alarms"),
            Self::Failed if trials.iter().all(|trial| trial.outcome != Outcome::Reported) => Some("no trial reported"),
            Self::Failed => Some("it did not report, and those that did missed nothing"),
            Self::WrongVerdict => Some("its verdict is wrong"),
            Self::MissedMost => Some("no other that reported missed more"),
        }
    }
}

/// The trial that shows the problem of a case, by index: one that reported and missed most, then one that did not report, then
/// one with false alarms, else the first. What an outage kept from running says nothing about the tool.
pub fn choose_trial(trials: &[TrialScore], case: &Case, method: Method) -> Option<(usize, TrialChoice)> {
    if let [_] = trials {
        return Some((0, TrialChoice::Only));
    }
    let rank = |(index, trial): &(usize, &TrialScore)| {
        let counts = trial.counts;
        let available = trial.outcome != Outcome::Unavailable;
        let target_missed = trial.target_found == Some(false);
        (available, problem(trial, case, method), target_missed, counts.fn_, counts.fp, Reverse(*index))
    };
    let (index, trial) = trials.iter().enumerate().max_by_key(rank)?;
    Some((index, problem(trial, case, method)))
}

fn problem(trial: &TrialScore, case: &Case, method: Method) -> TrialChoice {
    let counts = trial.counts;
    let has_verdict = matches!(method, Method::Verdict | Method::Audit);
    match trial.outcome {
        Outcome::Reported if counts.fn_ > 0 || trial.target_found == Some(false) => TrialChoice::MissedMost,
        Outcome::Reported if has_verdict && trial.verdict_correct == Some(false) => TrialChoice::WrongVerdict,
        Outcome::Reported if counts.fp > 0 && !case.allow_unexpected => TrialChoice::MostFalse,
        Outcome::Reported => TrialChoice::NoProblem,
        _ => TrialChoice::Failed,
    }
}
