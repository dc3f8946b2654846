//! Progress of runs, judges and assessments: a bar on a terminal, periodic lines elsewhere. Replay uses the same reporter.

use crate::commands::models::note_old_table;
use crate::exit::Result;
use crate::signals::cancel_on_signals;
use crate::terminal::{draw_diagnostics, most_shown, note_problem, notes, print_always, print_stderr, verbosity};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::assess::{AssessObserver, AssessmentWork, DocumentsLoaded};
use karat::judge::run::JudgeObserver;
use karat::judge::session::JudgeEvent;
use karat::tool::failed;
use karat_core::ids::JudgeName;
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_documents::assess::AssessEvent;
use karat_format::diagnostic::harmless;
use karat_format::run::{PlanV1, PlannedToolV1};
use karat_io::cancel::Cancel;
use karat_llm::engine::Retry;
use karat_store::CopyProgress;
use karat_store::event::{Ending, RunEvent};
use karat_store::record::{TrialKey, TrialRecord};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const BETWEEN_LINES: Duration = Duration::from_secs(10);
const MOST_FAILURES: usize = 12;
const MOST_RETRIES: usize = 5;
/// Lines of a failed tool's standard error that are printed.
const SHOWN_LINES: usize = 5;

/// A bar, or a line from time to time.
struct Meter {
    bar: Option<ProgressBar>,
    quiet: bool,
    last_line: Instant,
}

impl Meter {
    fn new(quiet: bool) -> Self {
        Self { bar: None, quiet: quiet || verbosity().quiet, last_line: Instant::now() }
    }

    /// On a terminal, shows the bar or changes its length.
    fn show_bar(&mut self, length: usize, look: &str) {
        if self.quiet || !at_terminal() {
            return;
        }
        let new_bar = || {
            let bar = ProgressBar::with_draw_target(Some(length as u64), ProgressDrawTarget::stderr_with_hz(10));
            bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_bar()));
            // Trials may take minutes, and a bar that does not move looks hung.
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        };
        self.bar.get_or_insert_with(new_bar).set_length(length as u64);
    }

    fn update(&mut self, position: usize, message: String, line: &str) {
        match &self.bar {
            Some(bar) => {
                bar.set_position(position as u64);
                bar.set_message(message);
            }
            None if self.last_line.elapsed() >= BETWEEN_LINES => {
                self.last_line = Instant::now();
                self.say(line);
            }
            None => {}
        }
    }

    fn say(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| print_stderr(text)),
            None => print_stderr(text),
        }
    }

    /// Says at once why something is tried again, the first few times.
    fn say_retry(&self, what: &str, retry: &Retry, before: &mut usize) {
        *before += 1;
        let Retry { why, wait, next, most } = retry;
        if *before <= most_shown(MOST_RETRIES) {
            self.say(&harmless(&format!("  {what}: {why}, try {next} of {most} in {}", span(*wait))));
        }
        if *before == most_shown(MOST_RETRIES) {
            self.say("  further retries are printed only with -v");
        }
    }

    fn clear(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

pub(crate) fn at_terminal() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("CI").is_none()
}

pub(crate) struct Progress {
    meter: Meter,
    began: Instant,
    before: usize,
    done: usize,
    left: usize,
    failures: usize,
    retries: usize,
    outcomes: BTreeMap<Outcome, usize>,
}

impl Progress {
    pub(crate) fn new() -> Self {
        let outcomes = BTreeMap::new();
        let (meter, began) = (Meter::new(false), Instant::now());
        Self { meter, began, before: 0, done: 0, left: 0, failures: 0, retries: 0, outcomes }
    }

    fn trials_done(&mut self, records: &[TrialRecord]) {
        for record in records {
            let outcome = record.trial.outcome;
            *self.outcomes.entry(outcome).or_default() += 1;
            if failed(outcome) || outcome == Outcome::Unavailable {
                self.failures += 1;
                self.print_failure(record);
            }
        }
        self.done += records.len();
        let (state, position) = (self.state(), self.before + self.done);
        let line = format!("  {position}/{} trials{state}", self.before + self.left);
        self.meter.update(position, state, &line);
    }

    fn state(&self) -> String {
        let seconds = self.began.elapsed().as_secs_f64();
        let unavailable = self.outcomes.get(&Outcome::Unavailable).copied().unwrap_or_default();
        let counts = [(self.failures - unavailable, "failed"), (unavailable, "unavailable")];
        let failures: String =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!(" · {n} {word}")).collect();
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
        if self.failures > most_shown(MOST_FAILURES) {
            return;
        }
        let trial = &record.trial;
        let why = record.detail.reason.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
        let (tool, case, number, word) = (&trial.tool, &trial.case, trial.number, trial.outcome.words());
        self.meter.say(&harmless(&format!("  ✗ {tool} on {case}, trial {number}: {word}{why}")));
        let lines = record.last_stderr_lines(SHOWN_LINES);
        // The reason repeats the last line already.
        for line in lines.iter().filter(|_| lines.len() > 1) {
            self.meter.say(&harmless(&format!("    │ {line}")));
        }
        if self.failures == most_shown(MOST_FAILURES) {
            self.meter.say("  ✗ further failures are stored, but printed only with -v");
        }
    }

    fn ended(&mut self, ending: &Ending) {
        self.meter.clear();
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
        self.meter.say(&format!("  {trials} in {}{outcomes}{earlier}", span(self.began.elapsed())));
    }

    pub(crate) fn show(&mut self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Began { plan, done, left } => {
                (self.before, self.left) = (*done, *left);
                self.began = Instant::now();
                self.meter.last_line = self.began;
                self.meter.say(&headline(plan, *done));
                recordings_line(plan).iter().for_each(|line| self.meter.say(line));
                self.meter.show_bar(done + left, "  {wide_bar:.cyan/dim} {pos}/{len} trials · {elapsed}{msg}");
                if let Some(bar) = &self.meter.bar {
                    bar.set_position(*done as u64);
                }
            }
            // Recorded trials and built-in rules run nothing, which needs no line.
            RunEvent::ToolReady { facts, .. } if facts.isolation_kind.is_none() && !verbosity().verbose => {}
            RunEvent::ToolReady { tool, facts } => {
                let version = facts.version.as_deref().map(|version| format!(" {version} ·")).unwrap_or_default();
                let word = if facts.isolation_kind.is_none() { "" } else { "isolation " };
                self.meter.say(&harmless(&format!("  {tool} ·{version} {word}{}", facts.isolation)));
            }
            RunEvent::Retrying { trial: TrialKey { tool, case, number }, retry } => {
                self.meter.say_retry(&format!("{tool} on {case}, trial {number}"), retry, &mut self.retries);
            }
            RunEvent::TrialsDone(records) => self.trials_done(records),
            RunEvent::Ended(ending) => self.ended(ending),
        }
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

/// The tools that are not run, but repeated from a recording.
fn recordings_line(plan: &PlanV1) -> Option<String> {
    let recorded = |tool: &PlannedToolV1| Some(format!("{} · {}", tool.name, tool.recording()?.words()));
    let all: Vec<String> = plan.tools.iter().filter_map(recorded).collect();
    (!all.is_empty()).then(|| harmless(&format!("  not run: {}", all.join(", "))).into_owned())
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

/// Progress of something that is done for each of several things, by several threads.
pub(crate) struct CountProgress {
    meter: Mutex<(Meter, usize)>,
    all: usize,
}

impl CountProgress {
    /// Shows a bar, or says what begins.
    pub(crate) fn new(what: &str, all: usize) -> Self {
        let mut meter = Meter::new(false);
        meter.show_bar(all, "  {wide_bar:.cyan/dim} {pos}/{len} · {elapsed}{msg}");
        if meter.bar.is_none() && all > 0 {
            meter.say(what);
        }
        Self { meter: Mutex::new((meter, 0)), all }
    }

    /// One more is done, and what it is called.
    pub(crate) fn advance(&self, name: &str) {
        let mut guard = self.meter.lock().unwrap_or_else(PoisonError::into_inner);
        let (meter, done) = &mut *guard;
        *done += 1;
        let name = harmless(name);
        meter.update(*done, format!(" · {name}"), &format!("  {done}/{}: {name}", self.all));
    }

    pub(crate) fn clear(&self) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).0.clear();
    }
}

/// Progress of copying a store, of which only what is done is known.
pub(crate) struct CopyingProgress(Meter);

impl CopyingProgress {
    pub(crate) fn new() -> Self {
        let mut meter = Meter::new(false);
        meter.show_bar(0, "  {spinner} {elapsed}{msg}");
        Self(meter)
    }

    pub(crate) fn show(&mut self, progress: CopyProgress) {
        let CopyProgress { table, rows, verifying } = progress;
        let doing = if verifying { "checking" } else { "copying" };
        let rows = usize::try_from(rows).unwrap_or(usize::MAX);
        let shown = format!("{doing} {table}, {}", count(rows, "row"));
        self.0.update(rows, format!(" · {shown}"), &format!("  {shown}"));
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// Progress of the models that judge or assess, one after the other.
pub(crate) struct JudgeProgress {
    model: String,
    meter: Meter,
    asked: usize,
    answered: usize,
    failed: usize,
    retries: usize,
    /// Requirements searched for, and all of them.
    searched: (usize, usize),
}

impl JudgeProgress {
    pub(crate) fn new(quiet: bool) -> Self {
        let meter = Meter::new(quiet);
        Self { model: String::new(), meter, asked: 0, answered: 0, failed: 0, retries: 0, searched: (0, 0) }
    }

    fn search_progress(&mut self, requirements: usize) {
        self.searched.0 += requirements;
        let (done, all) = self.searched;
        let message = format!("searched for {done} of {}", count(all, "requirement"));
        let line = format!("  {message}");
        self.meter.update(done, message, &line);
        if done >= all {
            self.meter.clear();
        }
    }

    fn start_model(&mut self, model: &str) {
        self.end();
        *self = Self { model: harmless(model).into_owned(), ..Self::new(self.meter.quiet) };
    }

    fn counts(&self) -> String {
        let failed = if self.failed > 0 { format!(", failed {}", self.failed) } else { String::new() };
        format!("answered {}{failed} of {}", self.answered, count(self.asked, "question"))
    }
}

impl JudgeObserver for JudgeProgress {
    fn start(&mut self, judge: &JudgeName) -> Result<Cancel> {
        note_old_table();
        self.start_model(judge.as_str());
        cancel_on_signals()
    }

    fn observe(&mut self, event: &JudgeEvent<'_>) {
        match event {
            JudgeEvent::Round(questions) => {
                self.asked += questions;
                self.meter.show_bar(self.asked, "  {wide_bar:.cyan/dim} {msg} · {elapsed}");
                if let Some(bar) = &self.meter.bar {
                    bar.set_message(format!("{}: {}", self.model, self.counts()));
                }
            }
            JudgeEvent::Settled { answered } => {
                self.answered += usize::from(*answered);
                self.failed += usize::from(!answered);
                let message = format!("{}: {}", self.model, self.counts());
                let line = format!("  {message}");
                self.meter.update(self.answered + self.failed, message, &line);
            }
            JudgeEvent::Retrying(retry) => self.meter.say_retry(&self.model, retry, &mut self.retries),
        }
    }

    fn end(&mut self) {
        self.meter.clear();
        self.model.clear();
    }
}

impl AssessObserver for JudgeProgress {
    fn note(&mut self, text: &str) {
        note_problem(text);
    }

    fn documents_loaded(&mut self, loaded: &DocumentsLoaded) {
        if let Some(session) = &loaded.session {
            let (old, new) = (loaded.reused, count(loaded.cached, "document"));
            print_stderr(&format!("session {session}: {old} from the cache, {new} read and cached"));
        }
        notes(&loaded.notes);
        if !loaded.problems.is_empty() {
            print_always(draw_diagnostics(&loaded.problems, &std::io::stderr()).trim_end());
        }
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn began(&mut self, work: &AssessmentWork) {
        let text = format!(
            "{}  {} · {} · {}",
            work.templates,
            count(work.bundles, "bundle"),
            count(work.requirements, "requirement"),
            count(work.assessors, "assessor"),
        );
        self.meter.say(&harmless(&text));
        self.searched = (0, work.requirements);
        self.meter.show_bar(work.requirements, "  {wide_bar:.cyan/dim} {msg} · {elapsed}");
    }

    fn event(&mut self, event: &AssessEvent<'_>) {
        let (model, event) = match event {
            AssessEvent::Round { model, questions } => (model, JudgeEvent::Round(*questions)),
            AssessEvent::Settled { model, failure, .. } => (model, JudgeEvent::Settled { answered: failure.is_none() }),
            AssessEvent::Retrying { model, retry } => (model, JudgeEvent::Retrying(retry)),
            AssessEvent::ModelFailed { model, why } => {
                self.end();
                return print_always(&harmless(&format!("  {model} is unavailable: {why}")));
            }
            AssessEvent::Searched { requirements, .. } => return self.search_progress(*requirements),
            AssessEvent::Read { .. } | AssessEvent::SearchModelUsed { .. } | AssessEvent::Assessed { .. } => return,
        };
        if self.model != harmless(model) {
            self.start_model(model);
        }
        self.observe(&event);
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
        let mut judging = JudgeProgress { asked: 355, ..JudgeProgress::new(false) };
        assert_eq!(judging.counts(), "answered 0 of 355 questions");
        (judging.answered, judging.failed) = (12, 3);
        assert_eq!(judging.counts(), "answered 12, failed 3 of 355 questions");
    }
}
