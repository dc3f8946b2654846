//! `karat fix`.

use super::run::ask_consent;
use super::tools::supervisor;
use crate::args::{FixArgs, OutputArgs};
use crate::exit::{Exit, Result};
use crate::outputs::{self, PLAIN, ReportOutput, check_extensions, json, save_drawn};
use crate::progress::{CountProgress, JudgeProgress};
use crate::signals::cancel_on_signals;
use crate::terminal::{note, note_problem, print_stderr, show};
use karat::evaluate::{EvaluateObserver, EvaluateRequest};
use karat::fix::{FixProgress, FixRequest, fix};
use karat::judge::run::JudgeObserver;
use karat::run::selection::{CasePattern, Selection};
use karat::score::{ScoreRequest, ScoreSource};
use karat::tool::grants::Request;
use karat_core::wording::count;
use karat_io::cancel::Cancel;
use karat_report::fix as draw_fix;
use karat_sandbox::Isolation;
use std::sync::{Mutex, PoisonError};

pub(crate) fn run(args: &FixArgs, jobs: Option<usize>) -> Result<Exit> {
    check_extensions(&args.outputs, &["json", "md", "txt"])?;
    let files = OutputArgs { outputs: args.reports.clone(), format: None, json: false };
    outputs::check(&files)?;
    let store = args.store.location()?;
    let source = ScoreSource::resolve(&args.suite, &store);
    let score = ScoreRequest {
        tools: args.tools.clone(),
        ..args.trials.request(source, &args.ask, &args.rules, store.clone())
    };
    let only = args.only.iter().map(|pattern| CasePattern::parse(pattern)).collect::<Result<_>>()?;
    let run = EvaluateRequest {
        selection: Selection { only, ..Selection::default() },
        model: args.sandbox.tool_model(),
        isolation: args.sandbox.isolation,
        allow: args.sandbox.allow.clone(),
        jobs,
        ..EvaluateRequest::new("", &[args.fixer.as_str()], store, supervisor()?)
    };
    let request = FixRequest { score, run, force: args.force, retry_failed: args.retry_failed };
    if args.sandbox.isolation == Some(Isolation::Process) {
        note_problem(
            "no sandbox is used: proofs and the fixer can read and write whatever you can, so it could read the proofs",
        );
    }
    let mut observer = FixObserver { judge: JudgeProgress::new(false) };
    let progress = Progress::default();
    let fixed = fix(&request, &mut observer, &progress);
    progress.clear();
    let fixed = fixed?;
    let report = &fixed.report;
    show(args.json, report, |style| draw_fix::draw(report, style))?;
    save_drawn(&args.outputs, |extension| match extension {
        "json" => json(report),
        "md" => draw_fix::markdown(report),
        _ => draw_fix::draw(report, &PLAIN),
    })?;
    let whole = ReportOutput::of_scoring(&fixed.scored.scoring, &fixed.scored.loaded, fixed.scored.run.as_ref());
    outputs::save_report(whole, &files)?;
    if report.tools.iter().any(|tool| tool.unavailable > 0) {
        note("the fixer met outages; the same command tries these findings again");
    }
    Ok(Exit::Ok)
}

struct FixObserver {
    judge: JudgeProgress,
}

impl EvaluateObserver for FixObserver {
    fn note(&mut self, text: &str) {
        note_problem(text);
    }

    fn setting_up(&mut self, tool: &str) {
        print_stderr(&format!("setting up {tool} …"));
    }

    fn consent(&mut self, request: &Request) -> Result<Option<bool>> {
        ask_consent(request)
    }

    fn cancel(&mut self) -> Result<Cancel> {
        cancel_on_signals()
    }

    fn judge(&mut self) -> &mut dyn JudgeObserver {
        &mut self.judge
    }
}

/// Shows proofs first, then the fixer.
#[derive(Default)]
struct Progress(Mutex<Option<CountProgress>>);

impl Progress {
    fn begin(&self, what: &str, open: usize) {
        self.clear();
        if open > 0 {
            let shown = CountProgress::new(&format!("{what} …"), open);
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(shown);
        }
    }

    fn clear(&self) {
        if let Some(shown) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() {
            shown.clear();
        }
    }
}

impl FixProgress for Progress {
    fn controls(&self, open: usize) {
        self.begin(&format!("running {} on the change and on its fix", count(open, "proof")), open);
    }

    fn fixes(&self, open: usize) {
        self.begin(&format!("repairing {}", count(open, "finding")), open);
    }

    fn done(&self, what: &str) {
        if let Some(shown) = self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            shown.advance(what);
        }
    }
}
