//! Progress of a run: a bar on a terminal, periodic lines elsewhere. Replay uses the same reporter.

mod assessing;
mod judging;

pub(crate) use assessing::AssessProgress;
pub(crate) use judging::{JudgeProgress, Judging};

use crate::terminal::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::run::drive::failed;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::run::PlanV1;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::TrialRecord;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// Interval of progress lines without a terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);
/// Maximum number of failures printed one by one.
const MOST_FAILURES: usize = 12;

/// Shows the progress of a run on standard error.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    began: Instant,
    told: Instant,
    before: usize,
    done: usize,
    left: usize,
    failures: usize,
    outcomes: BTreeMap<Outcome, usize>,
}

impl Progress {
    pub(crate) fn new(quiet: bool) -> Self {
        let now = Instant::now();
        Self {
            bar: None,
            quiet,
            began: now,
            told: now,
            before: 0,
            done: 0,
            left: 0,
            failures: 0,
            outcomes: BTreeMap::new(),
        }
    }

    /// Shows a bar on a terminal.
    fn show_bar(&mut self) {
        if self.quiet || !at_terminal() {
            return;
        }
        let length = Some((self.before + self.left) as u64);
        let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr_with_hz(10));
        let look = "  {wide_bar:.cyan/dim} {pos}/{len} trials · {elapsed}{msg}";
        bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_position(self.before as u64);
        // Trials may take minutes, and a bar that does not move looks hung.
        bar.enable_steady_tick(Duration::from_millis(500));
        self.bar = Some(bar);
    }

    fn say(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| tell(text)),
            None => tell(text),
        }
    }

    fn trials_done(&mut self, records: &[TrialRecord]) {
        for record in records {
            let outcome = record.trial.outcome;
            *self.outcomes.entry(outcome).or_default() += 1;
            if failed(outcome) {
                self.failures += 1;
                self.tell_failure(record);
            }
        }
        self.done += records.len();
        let state = self.state();
        match &self.bar {
            Some(bar) => {
                bar.set_position((self.before + self.done) as u64);
                bar.set_message(state);
            }
            None if self.told.elapsed() >= BETWEEN_LINES => {
                self.told = Instant::now();
                self.say(&format!("  {}/{} trials{state}", self.before + self.done, self.before + self.left));
            }
            None => {}
        }
    }

    /// Failures, rate and estimated time left.
    fn state(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64();
        let failures = if self.failures > 0 { format!(" · {} failed", self.failures) } else { String::new() };
        if seconds < 0.5 || self.done == 0 {
            return failures;
        }
        let rate = self.done as f64 / seconds;
        let left = Duration::from_secs_f64(self.left.saturating_sub(self.done) as f64 / rate);
        let shown = match rate {
            10.0.. => format!("{rate:.0}/s"),
            1.0.. => format!("{rate:.1}/s"),
            _ => format!("{:.1}/min", rate * 60.0),
        };
        format!("{failures} · {shown} · {} left", span(left))
    }

    fn tell_failure(&self, record: &TrialRecord) {
        if self.failures > MOST_FAILURES {
            return;
        }
        let trial = &record.trial;
        let why = record.detail.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let word = trial.outcome.words();
        let text = format!("  ✗ {} on {}, trial {}: {word}{why}", trial.tool, trial.case, trial.number);
        self.say(&harmless(&text));
        if self.failures == MOST_FAILURES {
            self.say("  ✗ further failures are stored but not printed");
        }
    }

    fn ended(&mut self, ending: &Ending) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let outcomes: Vec<String> = Outcome::ALL
            .iter()
            .filter_map(|outcome| Some(format!("{} {}", self.outcomes.get(outcome)?, outcome.words())))
            .collect();
        let all = self.before + self.left;
        let trials = match ending {
            Ending::Complete => count(self.done, "trial"),
            _ => format!("{} of {}", self.before + self.done, count(all, "trial")),
        };
        let earlier = if self.before > 0 { format!(", {} were already done", self.before) } else { String::new() };
        let outcomes = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
        self.say(&format!("  {trials} in {}{outcomes}{earlier}", span(self.began.elapsed())));
    }
}

impl Consumer for Progress {
    fn consume(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError> {
        match event {
            RunEvent::Began { plan, done, left } => {
                (self.before, self.left) = (*done, *left);
                self.began = Instant::now();
                self.told = self.began;
                self.say(&headline(plan, *done));
                self.show_bar();
            }
            RunEvent::ToolReady { tool, facts } => {
                let version = facts.version.as_deref().map(|version| format!(" {version} ·")).unwrap_or_default();
                let word = if facts.isolation_kind.is_none() { "" } else { "isolation " };
                self.say(&harmless(&format!("  {tool} ·{version} {word}{}", facts.isolation)));
            }
            RunEvent::TrialBegan(_) => {}
            RunEvent::TrialsDone(records) => self.trials_done(records),
            RunEvent::Ended(ending) => self.ended(ending),
        }
        Ok(())
    }
}

/// Whether standard error is an interactive terminal and not CI.
pub(crate) fn at_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

/// The size of a run: cases, tools and trials.
fn headline(plan: &PlanV1, done: usize) -> String {
    let all: usize = plan.tools.iter().map(|tool| tool.trials as usize * plan.cases.len()).sum();
    let part = if plan.selected_by.is_empty() { String::new() } else { format!(" ({})", plan.selected_by.join(", ")) };
    let again = if done > 0 { format!(", {done} done") } else { String::new() };
    let text = format!(
        "{}  {}{part} · {} · {}{again}",
        plan.suite.name,
        count(plan.cases.len(), "case"),
        count(plan.tools.len(), "tool"),
        count(all, "trial"),
    );
    harmless(&text).into_owned()
}

/// Formats a duration for people.
pub(crate) fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_say_them() {
        let check = |seconds: f64, expect: &str| assert_eq!(span(Duration::from_secs_f64(seconds)), expect);
        check(0.04, "0.0 s");
        check(9.99, "10.0 s");
        check(42.0, "42 s");
        check(61.5, "1 min 1 s");
        check(7_380.0, "2 h 3 min");
    }
}
