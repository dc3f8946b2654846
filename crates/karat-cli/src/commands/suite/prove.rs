//! `karat suite prove`.

use crate::args::SuiteProveArgs;
use crate::commands::tools::supervisor;
use crate::exit::{Exit, Result};
use crate::progress::CountProgress;
use crate::signals::cancel_on_signals;
use crate::terminal::{note, note_problem, show};
use karat::evaluate::EvaluateRequest;
use karat::run::selection::{CasePattern, Selection};
use karat::suite::prove::{ProofResult, ProveReport, ProveRequest, proof_isolation, prove_suite};
use karat_core::wording::count;
use karat_format::proofs::ProofVerdictV1;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw, header};
use karat_sandbox::Isolation;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

pub(super) fn run(args: SuiteProveArgs, jobs: Option<usize>) -> Result<Exit> {
    let SuiteProveArgs { suite, only, force, isolation, json } = args;
    check_isolation(isolation)?;
    let report = prove(suite, &only, force, isolation, jobs)?;
    show(json, &report, |style| table(&report, style))?;
    Ok(finish(&report))
}

/// Refuses to run proofs without a sandbox unless that was asked for, and says what it means if it was.
pub(super) fn check_isolation(isolation: Option<Isolation>) -> Result<()> {
    if proof_isolation(isolation)? == Isolation::Process {
        note_problem("no sandbox is used: proofs can read and write whatever you can");
    }
    Ok(())
}

/// Runs the proofs of a suite, and shows how far it is.
pub(super) fn prove(
    suite: String,
    only: &[String],
    force: bool,
    isolation: Option<Isolation>,
    jobs: Option<usize>,
) -> Result<ProveReport> {
    let EvaluateRequest { environment, supervisor, .. } = EvaluateRequest::new("", &[], Path::new(""), supervisor()?);
    let only = only.iter().map(|pattern| CasePattern::parse(pattern)).collect::<Result<_>>()?;
    let selection = Selection { only, ..Selection::default() };
    let cancel = cancel_on_signals()?;
    let request = ProveRequest { suite, selection, force, isolation, jobs, environment, supervisor, cancel };
    let progress = OnceLock::new();
    let begin = |open: usize| {
        progress.get_or_init(|| CountProgress::new(&format!("running {} …", count(open, "proof")), open));
    };
    let done = |result: &ProofResult| {
        if let Some(progress) = progress.get() {
            let ProofResult { case, golden, verdict, .. } = result;
            progress.advance(&format!("{case} {golden}: {}", verdict.describe()));
        }
    };
    let report = prove_suite(&request, &begin, &done);
    if let Some(progress) = progress.get() {
        progress.clear();
    }
    report
}

pub(super) fn finish(report: &ProveReport) -> Exit {
    if !report.is_kept && !report.proofs.is_empty() {
        note("a built-in suite is read-only, so the results are not kept");
    }
    if report.holds() { Exit::Ok } else { Exit::NotMet }
}

/// What is not proven with its reason, and the verdicts by language.
pub(super) fn table(report: &ProveReport, style: &TerminalStyle) -> String {
    if report.proofs.is_empty() {
        return "no golden of these cases has a proof\n".to_owned();
    }
    let rows: Vec<Vec<Cell>> =
        report.proofs.iter().filter(|result| result.verdict != ProofVerdictV1::Proven).map(row).collect();
    let mut text = draw(&rows, style.width, style.colour);
    if !rows.is_empty() {
        text.push('\n');
    }
    let mut by_language: BTreeMap<&str, Vec<&ProofResult>> = BTreeMap::new();
    for result in &report.proofs {
        by_language.entry(result.language.as_deref().unwrap_or("no language")).or_default().push(result);
    }
    let number = |results: &[&ProofResult], verdict: ProofVerdictV1| {
        results.iter().filter(|result| result.verdict == verdict).count()
    };
    let all: Vec<&ProofResult> = report.proofs.iter().collect();
    let seen: Vec<ProofVerdictV1> = ProofVerdictV1::ALL
        .into_iter()
        .filter(|verdict| *verdict == ProofVerdictV1::Proven || number(&all, *verdict) > 0)
        .collect();
    let mut rows =
        vec![header("language", ["proofs"].into_iter().chain(seen.iter().map(|verdict| verdict.describe())))];
    for (language, results) in by_language.iter().map(|(language, results)| (*language, results)).chain([("all", &all)])
    {
        let mut cells = vec![Cell::left(language), Cell::right(results.len().to_string())];
        cells.extend(seen.iter().map(|verdict| Cell::right(number(results, *verdict).to_string())));
        rows.push(cells);
    }
    text.push_str(&draw(&rows, style.width, style.colour));
    let unchanged = report.proofs.iter().filter(|result| result.is_unchanged).count();
    match unchanged {
        0 => text,
        1 => text + "1 proof did not change and was not run again\n",
        more => text + &format!("{more} proofs did not change and were not run again\n"),
    }
}

fn row(result: &ProofResult) -> Vec<Cell> {
    let ProofResult { case, golden, verdict, reason, .. } = result;
    let reason = reason.as_deref().unwrap_or("seen earlier; --force runs it again");
    vec![Cell::left(format!("{case} {golden}")), Cell::left(verdict.describe()), Cell::folded(reason)]
}
