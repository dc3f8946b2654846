//! Progress of a judge: a bar on a terminal, periodic lines elsewhere.

use super::{BETWEEN_LINES, at_terminal, span};
use crate::exit::Failure;
use crate::signals::cancel_on_signals;
use crate::terminal::tell;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use karat::judge::run::JudgeObserver;
use karat::judge::session::JudgeEvent;
use karat_core::ids::JudgeName;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_io::cancel::Cancel;
use std::time::{Duration, Instant};

/// Maximum number of failed requests printed one by one.
const MOST_RETRIES: usize = 5;

/// Shows the progress of a judge on standard error.
pub(crate) struct Judging {
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
    pub(crate) fn new(judge: &JudgeName, quiet: bool) -> Self {
        let judge = harmless(judge.as_str()).into_owned();
        Self { judge, bar: None, quiet, told: Instant::now(), asked: 0, answered: 0, failed: 0, retries: 0 }
    }

    pub(crate) fn on_event(&mut self, event: &JudgeEvent<'_>) {
        if self.quiet {
            return;
        }
        match event {
            JudgeEvent::Round(questions) => {
                self.asked += questions;
                let bar = self.bar.take().or_else(|| at_terminal().then(|| self.new_bar()));
                self.bar = bar.inspect(|bar| {
                    bar.set_length(self.asked as u64);
                    bar.set_message(self.counts());
                });
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
                        tell(&format!("  {}: {}", self.judge, self.counts()));
                    }
                    None => {}
                }
            }
            JudgeEvent::Retrying { wait, why } => {
                self.retries += 1;
                if self.retries <= MOST_RETRIES {
                    self.say(&harmless(&format!("  {}: {why}; retrying in {}", self.judge, span(*wait))));
                }
                if self.retries == MOST_RETRIES {
                    self.say("  further retries are not printed");
                }
            }
        }
    }

    pub(crate) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Answered and failed questions so far.
    fn counts(&self) -> String {
        let failed = if self.failed > 0 { format!(", failed {}", self.failed) } else { String::new() };
        format!("answered {}{failed} of {}", self.answered, count(self.asked, "question"))
    }

    fn new_bar(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
        let look = "  {wide_bar:.cyan/dim} {prefix}: {msg} · {elapsed}";
        bar.set_style(ProgressStyle::with_template(look).unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar.set_prefix(self.judge.clone());
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }

    fn say(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| tell(text)),
            None => tell(text),
        }
    }
}

/// Shows a judge's progress on standard error, and cancels it on a signal.
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
    fn start(&mut self, judge: &JudgeName) -> Result<Cancel, Failure> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answered_and_failed_questions_are_counted_apart() {
        let mut judging = Judging { asked: 355, ..Judging::new(&JudgeName::new("it"), false) };
        assert_eq!(judging.counts(), "answered 0 of 355 questions");
        (judging.answered, judging.failed) = (12, 3);
        assert_eq!(judging.counts(), "answered 12, failed 3 of 355 questions");
    }
}
