//! Progress of runs, judges and assessments: a bar on a terminal, periodic lines elsewhere. Replay uses the same reporter.

use crate::exit::Result;
use crate::signals::cancel_on_signals;
use crate::terminal::{note, notes, print_stderr};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::assess::{AssessObserver, DocumentsLoaded};
use karat::judge::run::JudgeObserver;
use karat::judge::session::JudgeEvent;
use karat::tool::failed;
use karat_core::ids::JudgeName;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_documents::assess::AssessEvent;
use karat_format::diagnostic::harmless;
use karat_format::run::PlanV1;
use karat_io::cancel::Cancel;
use karat_store::event::{Consumer, ConsumerError, Ending, RunEvent};
use karat_store::record::TrialRecord;
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const BETWEEN_LINES: Duration = Duration::from_secs(10);
const MOST_FAILURES: usize = 12;
const MOST_RETRIES: usize = 5;

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

    fn show_bar(&mut self) {
        if self.quiet || !at_terminal() {
            return;
        }
        let bar = new_bar(self.before + self.left, "  {wide_bar:.cyan/dim} {pos}/{len} trials · {elapsed}{msg}");
        bar.set_position(self.before as u64);
        self.bar = Some(bar);
    }

    fn say(&self, text: &str) {
        if !self.quiet {
            print_above(self.bar.as_ref(), text);
        }
    }

    fn trials_done(&mut self, records: &[TrialRecord]) {
        for record in records {
            let outcome = record.trial.outcome;
            *self.outcomes.entry(outcome).or_default() += 1;
            if failed(outcome) {
                self.failures += 1;
                self.print_failure(record);
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

    fn print_failure(&self, record: &TrialRecord) {
        if self.failures > MOST_FAILURES {
            return;
        }
        let trial = &record.trial;
        let why = record.detail.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let word = trial.outcome.words();
        self.say(&harmless(&format!("  ✗ {} on {}, trial {}: {word}{why}", trial.tool, trial.case, trial.number)));
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

pub(crate) fn at_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

fn new_bar(length: usize, look: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr_with_hz(10));
    bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_bar()));
    // Trials may take minutes, and a bar that does not move looks hung.
    bar.enable_steady_tick(Duration::from_millis(500));
    bar
}

fn print_above(bar: Option<&ProgressBar>, text: &str) {
    match bar {
        Some(bar) => bar.suspend(|| print_stderr(text)),
        None => print_stderr(text),
    }
}

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

fn span(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

struct Judging {
    judge: String,
    bar: Option<ProgressBar>,
    quiet: bool,
    told: Instant,
    asked: usize,
    answered: usize,
    failed: usize,
    retries: usize,
}

impl Judging {
    fn new(judge: &JudgeName, quiet: bool) -> Self {
        let judge = harmless(judge.as_str()).into_owned();
        Self { judge, bar: None, quiet, told: Instant::now(), asked: 0, answered: 0, failed: 0, retries: 0 }
    }

    fn on_event(&mut self, event: &JudgeEvent<'_>) {
        if self.quiet {
            return;
        }
        match event {
            JudgeEvent::Round(questions) => {
                self.asked += questions;
                if self.bar.is_none() && at_terminal() {
                    let bar = new_bar(0, "  {wide_bar:.cyan/dim} {prefix}: {msg} · {elapsed}");
                    self.bar = Some(bar.with_prefix(self.judge.clone()));
                }
                if let Some(bar) = &self.bar {
                    bar.set_length(self.asked as u64);
                    bar.set_message(self.counts());
                }
            }
            JudgeEvent::Settled { answered } => {
                self.answered += usize::from(*answered);
                self.failed += usize::from(!answered);
                match &self.bar {
                    Some(bar) => {
                        bar.set_position((self.answered + self.failed) as u64);
                        bar.set_message(self.counts());
                    }
                    None if self.told.elapsed() >= BETWEEN_LINES => {
                        self.told = Instant::now();
                        print_stderr(&format!("  {}: {}", self.judge, self.counts()));
                    }
                    None => {}
                }
            }
            JudgeEvent::Retrying { wait, why } => {
                self.retries += 1;
                if self.retries <= MOST_RETRIES {
                    let text = format!("  {}: {why}; retrying in {}", self.judge, span(*wait));
                    print_above(self.bar.as_ref(), &harmless(&text));
                }
                if self.retries == MOST_RETRIES {
                    print_above(self.bar.as_ref(), "  further retries are not printed");
                }
            }
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn counts(&self) -> String {
        let failed = if self.failed > 0 { format!(", failed {}", self.failed) } else { String::new() };
        format!("answered {}{failed} of {}", self.answered, count(self.asked, "question"))
    }
}

pub(crate) struct JudgeProgress {
    quiet: bool,
    shown: Option<Judging>,
}

impl JudgeProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, shown: None }
    }
}

impl JudgeObserver for JudgeProgress {
    fn start(&mut self, judge: &JudgeName) -> Result<Cancel> {
        self.shown = Some(Judging::new(judge, self.quiet));
        cancel_on_signals()
    }

    fn observe(&mut self, event: &JudgeEvent<'_>) {
        if let Some(shown) = &mut self.shown {
            shown.on_event(event);
        }
    }

    fn end(&mut self) {
        if let Some(shown) = self.shown.take() {
            shown.end();
        }
    }
}

pub(crate) struct AssessProgress {
    quiet: bool,
    asking: Option<(String, Judging)>,
}

impl AssessObserver for AssessProgress {
    fn note(&mut self, text: &str) {
        note(text);
    }

    fn documents_loaded(&mut self, loaded: &DocumentsLoaded) {
        if self.quiet {
            return;
        }
        if let Some(session) = &loaded.session {
            let (old, new) = (loaded.reused, count(loaded.cached, "document"));
            print_stderr(&format!("session {session}: {old} from the cache, {new} read and cached"));
        }
        notes(&loaded.notes);
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn event(&mut self, event: &AssessEvent<'_>) {
        match event {
            AssessEvent::Round { model, questions } => {
                self.progress_for(model).on_event(&JudgeEvent::Round(*questions))
            }
            AssessEvent::Settled { model, call } => {
                self.progress_for(model).on_event(&JudgeEvent::Settled { answered: call.failure.is_none() });
            }
            AssessEvent::Retrying { model, wait, why } => {
                self.progress_for(model).on_event(&JudgeEvent::Retrying { wait: *wait, why });
            }
            AssessEvent::ModelFailed { model, why } => {
                self.end();
                print_stderr(&harmless(&format!("  {model} is unavailable: {why}")));
            }
            AssessEvent::Read { .. } | AssessEvent::Searched { .. } | AssessEvent::Assessed { .. } => {}
        }
    }
}

impl AssessProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, asking: None }
    }

    pub(crate) fn end(&mut self) {
        if let Some((_, judging)) = self.asking.take() {
            judging.end();
        }
    }

    /// The bar of a model; replaces the bar of the previous model.
    fn progress_for(&mut self, model: &str) -> &mut Judging {
        if self.asking.as_ref().is_some_and(|(name, _)| name != model) {
            self.end();
        }
        let quiet = self.quiet;
        &mut self.asking.get_or_insert_with(|| (model.to_owned(), Judging::new(&JudgeName::new(model), quiet))).1
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

    #[test]
    fn answered_and_failed_questions_are_counted_apart() {
        let mut judging = Judging { asked: 355, ..Judging::new(&JudgeName::new("it"), false) };
        assert_eq!(judging.counts(), "answered 0 of 355 questions");
        (judging.answered, judging.failed) = (12, 3);
        assert_eq!(judging.counts(), "answered 12, failed 3 of 355 questions");
    }
}
