//! Progress of a run, updated attempt by attempt.

use karat::tool::failed;
use karat_core::trial::{Outcome, Trial};
use karat_core::wording;
use karat_format::run::{PlanV1, PlannedToolV1};
use karat_store::record::TrialKey;
use karat_store::{RunId, Store, StoreError, StoredTrial};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};

/// Number of attempts read at a time.
const AT_A_TIME: u32 = 2_000;

/// Number of attempts listed one by one, and of attempts the pace is based on.
const LAST: usize = 12;
const PACE: usize = 40;

/// A pause of this many milliseconds means that the run was interrupted, and the earlier pace is dropped.
const PAUSE_MS: i64 = 60_000;

const REASONS: usize = 20;

/// Number of a tool's first trials that must all fail for a warning, if it has as many.
const FIRST_TRIALS: u64 = 3;

const LONGEST_REASON: usize = 400;

const UNKNOWN: &str = "unknown reason";

/// Counts of a run's trials. Each attempt is read once.
#[derive(Debug, Default)]
pub(super) struct RunProgress {
    place: i64,
    tools: Vec<ToolProgress>,
    latest: BTreeMap<TrialKey, Outcome>,
    /// By tool, outcome and reason: the count and the last occurrence.
    reasons: BTreeMap<(String, &'static str, String), (u64, String)>,
    last: VecDeque<Value>,
    /// Start and end times of the latest attempts.
    pace: VecDeque<(i64, i64)>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct ToolProgress {
    tool: String,
    planned: u64,
    done: u64,
    failed: u64,
    unavailable: u64,
    #[serde(flatten)]
    spent: Spending,
    /// The first attempt without a report.
    #[serde(skip)]
    first_failure: Option<FirstFailure>,
    #[serde(skip)]
    has_reported: bool,
}

#[derive(Clone, Debug)]
struct FirstFailure {
    case: String,
    outcome: &'static str,
    reason: String,
}

impl ToolProgress {
    /// The warning that none of the tool's first trials came to a report, with the first error.
    fn all_failed(&self) -> Option<Value> {
        let first = self.first_failure.as_ref().filter(|_| !self.has_reported)?;
        let FirstFailure { case, outcome, reason } = first;
        (self.done >= FIRST_TRIALS.min(self.planned)).then(
            || json!({ "tool": self.tool, "trials": self.done, "case": case, "outcome": outcome, "reason": reason }),
        )
    }
}

/// The cost of attempts. Attempts without a stated cost are not free.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Spending {
    attempts: u64,
    priced: u64,
    usd: f64,
    metered: u64,
    tokens_in: u64,
    tokens_out: u64,
}

impl RunProgress {
    pub(super) fn new(plan: &PlanV1) -> Self {
        let cases = plan.cases.len() as u64;
        let progress = |tool: &PlannedToolV1| ToolProgress {
            tool: tool.name.clone(),
            planned: u64::from(tool.trials).saturating_mul(cases),
            ..ToolProgress::default()
        };
        Self { tools: plan.tools.iter().map(progress).collect(), ..Self::default() }
    }

    /// Reads attempts that finished since the last time.
    pub(super) fn update(&mut self, store: &mut Store, run: &RunId) -> Result<(), StoreError> {
        loop {
            let new = store.attempts_after(run, self.place, AT_A_TIME)?;
            let whole = new.len() == AT_A_TIME as usize;
            for (place, stored) in new {
                self.place = place;
                self.add(&stored);
            }
            if !whole {
                return Ok(());
            }
        }
    }

    fn add(&mut self, stored: &StoredTrial) {
        let (trial, detail) = (&stored.trial, &stored.detail);
        let before = self.latest.insert(TrialKey::from_trial(trial), trial.outcome);
        let bad = failed(trial.outcome);
        let is_outage = |outcome: Outcome| outcome == Outcome::Unavailable;
        let reason = detail.reason.as_deref().map(|text| wording::truncate(text, LONGEST_REASON));
        if let Some(tool) = self.tools.iter_mut().find(|tool| tool.tool == trial.tool.as_str()) {
            // A new attempt replaces the earlier one, but the earlier cost still counts.
            match before {
                Some(outcome) => {
                    tool.failed -= u64::from(failed(outcome));
                    tool.unavailable -= u64::from(is_outage(outcome));
                }
                None => tool.done += 1,
            }
            tool.failed += u64::from(bad);
            tool.unavailable += u64::from(is_outage(trial.outcome));
            tool.spent.join(&Spending::of_trial(trial));
            tool.has_reported |= trial.outcome == Outcome::Reported;
            if tool.first_failure.is_none() && trial.outcome != Outcome::Reported {
                tool.first_failure = Some(FirstFailure {
                    case: trial.case.to_string(),
                    outcome: trial.outcome.as_str(),
                    reason: reason.clone().unwrap_or_else(|| UNKNOWN.to_owned()),
                });
            }
        }
        if bad || is_outage(trial.outcome) {
            let why = reason.clone().unwrap_or_else(|| UNKNOWN.to_owned());
            let key = (trial.tool.to_string(), trial.outcome.as_str(), why);
            let entry = self.reasons.entry(key).or_default();
            *entry = (entry.0 + 1, trial.case.to_string());
        }
        let stages = (!detail.stages_ms.is_empty()).then(|| detail.stages_ms.values().sum());
        let took_ms: Option<f64> = stages.or(trial.latency_ms);
        let ended_ms = detail.started_ms.saturating_add(took_ms.unwrap_or_default() as i64);
        let idle_since = self.pace.iter().map(|(_, ended)| *ended).max();
        if idle_since.is_some_and(|ended| detail.started_ms.saturating_sub(ended) > PAUSE_MS) {
            self.pace.clear();
        }
        push(&mut self.pace, (detail.started_ms, ended_ms), PACE);
        let attempt = json!({
            "tool": trial.tool.as_str(),
            "case": trial.case.as_str(),
            "number": trial.number,
            "attempt": stored.attempt,
            "outcome": trial.outcome.as_str(),
            "failed": bad,
            // None if the tool failed before reporting any.
            "findings": (trial.outcome == Outcome::Reported).then_some(trial.findings.len()),
            "ended_ms": ended_ms,
            "took_ms": took_ms,
            "reason": reason,
        });
        push(&mut self.last, attempt, LAST);
    }

    /// The current progress as the live page shows it; only a running run has a pace.
    pub(super) fn snapshot(&self, planned: u64, going: bool, now_ms: i64) -> Value {
        let mut spent = Spending::default();
        self.tools.iter().for_each(|tool| spent.join(&tool.spent));
        let done = self.latest.len() as u64;
        let per_ms = self.per_ms(now_ms).filter(|_| going);
        let mut reasons: Vec<_> = self.reasons.iter().collect();
        reasons.sort_by_key(|(_, (times, _))| std::cmp::Reverse(*times));
        let failures = reasons.iter().take(REASONS).map(|((tool, outcome, reason), (times, case))| {
            json!({ "tool": tool, "outcome": outcome, "reason": reason, "times": times, "case": case })
        });
        json!({
            "done": done,
            "failed": self.tools.iter().map(|tool| tool.failed).sum::<u64>(),
            "unavailable": self.tools.iter().map(|tool| tool.unavailable).sum::<u64>(),
            "tools": self.tools,
            "spent": spent,
            "per_minute": per_ms.map(|pace| pace * 60_000.0),
            "left_ms": per_ms.map(|pace| planned.saturating_sub(done) as f64 / pace),
            "failures": failures.collect::<Vec<Value>>(),
            "all_failed": self.tools.iter().filter_map(ToolProgress::all_failed).collect::<Vec<Value>>(),
            "more_failures": reasons.len().saturating_sub(REASONS),
            "last": self.last.iter().rev().collect::<Vec<&Value>>(),
        })
    }

    /// Trials per millisecond, from the start of the latest attempts until now: it falls if no trial ends.
    fn per_ms(&self, now_ms: i64) -> Option<f64> {
        let began = self.pace.iter().map(|(began, _)| *began).min()?;
        let time = now_ms.saturating_sub(began);
        (time > 0).then(|| self.pace.len() as f64 / time as f64)
    }
}

impl Spending {
    fn of_trial(trial: &Trial) -> Self {
        Self {
            attempts: 1,
            priced: trial.cost_usd.is_some().into(),
            usd: trial.cost_usd.unwrap_or_default(),
            metered: (trial.tokens_in.is_some() || trial.tokens_out.is_some()).into(),
            tokens_in: trial.tokens_in.unwrap_or_default(),
            tokens_out: trial.tokens_out.unwrap_or_default(),
        }
    }

    fn join(&mut self, other: &Self) {
        self.attempts += other.attempts;
        self.priced += other.priced;
        self.usd += other.usd;
        self.metered += other.metered;
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
    }
}

fn push<T>(queue: &mut VecDeque<T>, value: T, most: usize) {
    queue.push_back(value);
    if queue.len() > most {
        queue.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_core::ids::{CaseId, ToolName};
    use karat_core::trial::Trial;
    use karat_format::run::TrialDetailV1;

    fn progress(tool: &str, planned: u64) -> RunProgress {
        let tool = ToolProgress { tool: tool.to_owned(), planned, ..ToolProgress::default() };
        RunProgress { tools: vec![tool], ..RunProgress::default() }
    }

    fn attempt(case: &str, attempt: u32, outcome: Outcome, started_ms: i64) -> StoredTrial {
        let mut trial = Trial::reported(CaseId::new(case), ToolName::new("t"), 1);
        trial.outcome = outcome;
        trial.cost_usd = Some(0.5);
        trial.latency_ms = Some(1_000.0);
        let reason = failed(outcome).then(|| "no such file".to_owned());
        StoredTrial { trial, attempt, detail: TrialDetailV1 { reason, started_ms, ..TrialDetailV1::default() } }
    }

    #[test]
    fn later_attempt_replaces_the_earlier_and_both_costs_count() {
        let mut progress = progress("t", 2);
        progress.add(&attempt("a", 1, Outcome::Crashed, 0));
        let snapshot = progress.snapshot(2, true, 1_000);
        let failures = snapshot["failures"].as_array().unwrap().len();
        assert_eq!([&snapshot["done"], &snapshot["failed"], &json!(failures)], [1, 1, 1]);
        progress.add(&attempt("a", 2, Outcome::Reported, 1_000));
        let snapshot = progress.snapshot(2, true, 2_000);
        assert_eq!([&snapshot["done"], &snapshot["failed"], &snapshot["spent"]["attempts"]], [1, 0, 2]);
        assert!((snapshot["spent"]["usd"].as_f64().unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn outages_are_counted_apart_from_failures() {
        let mut progress = progress("t", 2);
        progress.add(&attempt("a", 1, Outcome::Crashed, 0));
        progress.add(&attempt("a", 2, Outcome::Unavailable, 500));
        let snapshot = progress.snapshot(2, true, 1_000);
        let failures = snapshot["failures"].as_array().unwrap().len();
        assert_eq!([&snapshot["done"], &snapshot["failed"], &snapshot["unavailable"], &json!(failures)], [1, 0, 1, 2]);
        progress.add(&attempt("a", 3, Outcome::Reported, 1_000));
        assert_eq!(progress.snapshot(2, true, 2_000)["unavailable"], 0);
    }

    #[test]
    fn tool_whose_first_trials_all_fail_is_reported_with_the_first_error() {
        let mut progress = progress("t", 9);
        let all_failed = |progress: &RunProgress| progress.snapshot(9, true, 1_000)["all_failed"].clone();
        progress.add(&attempt("a", 1, Outcome::Crashed, 0));
        progress.add(&attempt("b", 1, Outcome::TimedOut, 0));
        assert_eq!(all_failed(&progress), json!([]), "two failures may be chance");
        progress.add(&attempt("c", 1, Outcome::Crashed, 0));
        let first = json!({ "tool": "t", "trials": 3, "case": "a", "outcome": "crashed", "reason": "no such file" });
        assert_eq!(all_failed(&progress), json!([first]));
        progress.add(&attempt("d", 1, Outcome::Reported, 0));
        assert_eq!(all_failed(&progress), json!([]));
        // Of a tool with fewer trials, all of them.
        let mut single = self::progress("t", 1);
        single.add(&attempt("a", 1, Outcome::Crashed, 0));
        assert_eq!(all_failed(&single)[0]["trials"], 1);
    }

    #[test]
    fn pace_falls_without_new_trials_and_is_absent_after_the_end() {
        let mut progress = progress("t", 4);
        progress.add(&attempt("a", 1, Outcome::Reported, 0));
        progress.add(&attempt("b", 1, Outcome::Reported, 1_000));
        let is_near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-9;
        let snapshot = progress.snapshot(4, true, 2_000);
        assert!(is_near(&snapshot["per_minute"], 60.0) && is_near(&snapshot["left_ms"], 2_000.0), "{snapshot}");
        assert!(is_near(&progress.snapshot(4, true, 4_000)["left_ms"], 4_000.0));
        assert!(progress.snapshot(4, false, 4_000)["left_ms"].is_null());
    }
    #[test]
    fn pause_before_resuming_does_not_reduce_the_pace() {
        let mut progress = progress("t", 9);
        let hour = 3_600_000;
        for (number, started_ms) in [0, 1_000, hour, hour + 1_000].into_iter().enumerate() {
            progress.add(&attempt(&format!("c{number}"), 1, Outcome::Reported, started_ms));
        }
        let per_minute =
            |progress: &RunProgress, now_ms| progress.snapshot(9, true, now_ms)["per_minute"].as_f64().unwrap();
        assert!((per_minute(&progress, hour + 2_000) - 60.0).abs() < 1e-9);
        // A long trial is not a pause.
        let mut slow = attempt("slow", 1, Outcome::Reported, hour + 2_000);
        slow.trial.latency_ms = Some(200_000.0);
        progress.add(&slow);
        progress.add(&attempt("next", 1, Outcome::Reported, hour + 202_000));
        assert!((per_minute(&progress, hour + 240_000) - 1.0).abs() < 1e-9);
    }
}
