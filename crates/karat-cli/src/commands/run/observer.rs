//! A run on the terminal: progress, prompts and signals.

use crate::exit::Failure;
use crate::progress::{JudgeProgress, Progress, at_terminal};
use crate::signals::{cancel_on_signals, end_at_once};
use crate::terminal::{note, tell};
use karat::evaluate::{EvaluateObserver, Phase};
use karat::judge::run::JudgeObserver;
use karat::tool::grants::Request;
use karat_format::diagnostic::harmless;
use karat_io::cancel::Cancel;
use karat_store::event::{Consumer, ConsumerError, RunEvent};
use std::io::{BufRead, IsTerminal, Write};

/// Shows a run on standard error.
pub(super) struct RunObserver {
    quiet: bool,
    progress: Progress,
    judge: JudgeProgress,
}

impl RunObserver {
    pub(super) fn new(quiet: bool) -> Self {
        Self { quiet, progress: Progress::new(quiet), judge: JudgeProgress::new(quiet) }
    }
}

impl EvaluateObserver for RunObserver {
    fn note(&mut self, text: &str) {
        note(text);
    }

    fn setting_up(&mut self, tool: &str) {
        if !self.quiet {
            tell(&format!("setting up {tool} …"));
        }
    }

    fn consent(&mut self, request: &Request) -> Result<Option<bool>, Failure> {
        if !(std::io::stdin().is_terminal() && at_terminal()) {
            return Ok(None);
        }
        ask(request).map(Some)
    }

    fn cancel(&mut self) -> Result<Cancel, Failure> {
        cancel_on_signals()
    }

    fn run_event(&mut self, event: &RunEvent<'_>) -> Result<(), ConsumerError> {
        self.progress.consume(event)
    }

    fn phase(&mut self, phase: Phase) {
        end_at_once(phase == Phase::Scoring);
    }

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.judge
    }
}

fn ask(request: &Request) -> Result<bool, Failure> {
    tell(&format!("The suite's tool `{}` requests more than the closed sandbox allows:", harmless(&request.tool)));
    for line in request.describe() {
        tell(&format!("  - {}", harmless(&line)));
    }
    let mut answer = String::new();
    let mut screen = anstream::stderr();
    let read = write!(screen, "Allow this for this manifest from now on? [y/N] ")
        .and_then(|()| screen.flush())
        .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
    read.map_err(|error| Failure::io("terminal", error))?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
