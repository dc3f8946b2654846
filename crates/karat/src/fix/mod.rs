//! Fix-through: whether what tools report is enough to repair it.
//!
//! A fixer gets the code of a case and one finding that reports a golden, and nothing else. When it has ended, the golden's proof is laid
//! over what it left and decides. A golden counts only if its proof holds on this machine. Results are kept by a hash of
//! everything that they depend on, so that a stopped run goes on where it was and nothing is paid for twice.

mod controls;
mod kept;
mod repair;
mod tally;

use crate::evaluate::prepare::load_fixer;
use crate::evaluate::{EvaluateObserver, EvaluateRequest};
use crate::failure::{Failure, Result};
use crate::run::parallel::run_parallel;
use crate::score::{ScoreRequest, Scored, score};
use crate::scratch::make_scratch;
use crate::suite::LoadedSuite;
use crate::suite::prove::execute::ProofRunner;
use crate::suite::prove::{ProofTask, proof_isolation, tasks};
use crate::tool::run_context::RunContext;
use controls::{Controls, run_controls};
use karat_core::finding::Finding;
use karat_core::ids::{CaseId, GoldenId};
use karat_core::scorecard::Scorecard;
use karat_core::trial::Trial;
use karat_format::fix::{FixReportV1, FixV1, FixVerdictV1, FixerV1, SCHEMA, UnprovenGoldenV1};
use karat_io::cancel::Cancel;
use kept::{KeptResults, hash_fixer};
use repair::{FixResult, RepairTask, Repairs};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use tally::tally;

/// Whose findings are repaired, by which fixer, and how it is run.
pub struct FixRequest {
    /// The trials, and the rules by which their findings are matched to goldens.
    pub score: ScoreRequest,
    /// How the fixer is run. Its only tool is the fixer.
    pub run: EvaluateRequest,
    /// Run the fixer again where a result is kept.
    pub force: bool,
    /// Run the fixer again where it failed.
    pub retry_failed: bool,
}

/// What is shown while fixers work.
pub trait FixProgress: Sync {
    /// So many proofs have to be run on the code as it is, and on its fix.
    fn controls(&self, _open: usize) {}

    /// The fixer has to be run so often.
    fn fixes(&self, _open: usize) {}

    /// One more of them is done.
    fn done(&self, _what: &str) {}
}

/// What a fixer made of the findings, and the scoring that they come from.
#[expect(missing_docs, reason = "field names say it")]
pub struct Fixed {
    pub report: FixReportV1,
    /// Its report has the figures of fix-through.
    pub scored: Scored,
}

/// A finding that reports a golden whose proof holds here.
struct Reported<'s> {
    tool: usize,
    /// Index of the golden's proof.
    proof: usize,
    trial: u32,
    finding: &'s Finding,
}

/// Hands every finding that reports a golden with a proof to a fixer, and has the proof decide.
pub fn fix(request: &FixRequest, observer: &mut dyn EvaluateObserver, progress: &dyn FixProgress) -> Result<Fixed> {
    // Known before a judge is asked.
    proof_isolation(request.run.isolation)?;
    let mut scored = score(&request.score, observer.judge())?;
    let report = measure(request, &scored, observer, progress)?;
    for tool in &mut scored.scoring.report.tools {
        let Some(fixed) = report.tools.iter().find(|fixed| fixed.tool == tool.tool) else { continue };
        tool.metrics.insert("fix_through".to_owned(), fixed.fix_through.clone());
        tool.metrics.insert("fix_through_found".to_owned(), fixed.fix_through_found.clone());
    }
    Ok(Fixed { report, scored })
}

fn measure(
    request: &FixRequest,
    scored: &Scored,
    observer: &mut dyn EvaluateObserver,
    progress: &dyn FixProgress,
) -> Result<FixReportV1> {
    let (loaded, scorecard) = (&scored.loaded, &scored.scoring.scorecard);
    let selected = request.run.selection.select(&loaded.suite)?;
    let required = selected.iter().flat_map(|case| &case.goldens).filter(|golden| golden.is_required());
    let (with_proof, without): (Vec<_>, Vec<_>) = required.partition(|golden| golden.proof.is_some());
    if with_proof.is_empty() {
        return Err(no_proof(loaded));
    }
    if scorecard.tools.is_empty() {
        return Err(Failure::bad_input(
            "there are no trials, so there is no finding to repair; name some with --submission",
        ));
    }
    let proofs: Vec<ProofTask<'_>> =
        tasks(loaded, &request.run.selection)?.into_iter().filter(|proof| proof.golden.is_required()).collect();
    let fixer = load_fixer(loaded, &request.run, observer)?;
    let (name, model, isolation) = (fixer.name.clone(), fixer.model.clone(), fixer.isolation);
    let (kept, cancel) = (KeptResults::open(&request.run.store)?, observer.cancel()?);
    let scratch = make_scratch()?;
    let EvaluateRequest { supervisor, environment, jobs, .. } = &request.run;
    let mut context = RunContext::new(loaded, scratch.path.clone(), supervisor, cancel.clone(), environment, 0);
    // Neither the results of others nor what else tools reported may be seen.
    let files = request.score.submissions.files.iter().chain(&request.score.judgements);
    let store = request.run.store.local_folder();
    context.secret.extend(files.chain([&store]).filter_map(|path| path.canonicalize().ok()));

    let runner = ProofRunner::new(&context, isolation);
    let controls = run_controls(
        &Controls { loaded, proofs: &proofs, runner: &runner, kept: &kept, jobs: *jobs, cancel: &cancel },
        progress,
    )?;
    let reported = find_reported(scorecard, &scored.scoring.trials, loaded, &proofs, &controls.holds);
    if !fixer.manifest.setup.is_empty() && !reported.is_empty() {
        observer.setting_up(&name);
    }
    let manifest = fixer.manifest.clone();
    let prepared = fixer.fixer.prepare(isolation, &context);
    let (fixer, facts) =
        prepared.map_err(|error| Failure::failed(format!("the fixer `{name}` cannot be run: {error}")))?;
    let repairs = Repairs {
        loaded,
        fixer: &fixer,
        fixer_hash: hash_fixer(&manifest, model.as_deref(), &facts),
        runner: &runner,
        kept: &kept,
    };
    let results = run_repairs(request, &repairs, &proofs, &reported, &cancel, progress)?;

    let tools = &scorecard.tools;
    let fixes: Vec<FixV1> = reported
        .iter()
        .zip(results)
        .map(|(reported, result)| FixV1 {
            tool: tools[reported.tool].tool.to_string(),
            case: proofs[reported.proof].case.id.to_string(),
            trial: reported.trial,
            golden: proofs[reported.proof].golden.id.to_string(),
            finding: reported.finding.id.to_string(),
            verdict: result.verdict,
            reason: result.reason,
            is_kept: result.is_kept,
        })
        .collect();
    let left_out = controls.results.iter().filter(|control| !control.holds()).map(|control| UnprovenGoldenV1 {
        case: control.case.to_string(),
        golden: control.golden.to_string(),
        verdict: control.verdict,
        reason: control.reason.clone(),
    });
    let holding: BTreeSet<(&CaseId, &GoldenId)> =
        controls.holds.iter().map(|proof| (&proofs[*proof].case.id, &proofs[*proof].golden.id)).collect();
    Ok(FixReportV1 {
        schema: SCHEMA.to_owned(),
        suite: loaded.suite.name.clone(),
        digest: loaded.suite.digest.clone(),
        fixer: FixerV1 { name, version: facts.version, model, isolation: facts.isolation },
        tools: tally(scorecard, &loaded.suite, &holding, &fixes),
        left_out: left_out.collect(),
        without_proof: without.len(),
        fixes,
    })
}

fn no_proof(loaded: &LoadedSuite) -> Failure {
    let name = &loaded.suite.name;
    let message = format!(
        "no required golden of the selected cases of {name} has a proof, so nothing can decide what is repaired"
    );
    Failure::bad_input(format!("{message}\nhelp: give goldens a `proof`, as docs/writing-cases.md shows"))
}

/// The findings that report goldens whose proofs hold, in the order of tools, cases and trials. Of several findings that report
/// a golden, the one that was matched is taken.
fn find_reported<'s>(
    scorecard: &Scorecard,
    trials: &'s [Trial],
    loaded: &LoadedSuite,
    proofs: &[ProofTask<'_>],
    holds: &BTreeSet<usize>,
) -> Vec<Reported<'s>> {
    let by_golden: HashMap<(&CaseId, &GoldenId), usize> =
        holds.iter().map(|proof| ((&proofs[*proof].case.id, &proofs[*proof].golden.id), *proof)).collect();
    let mut reported = Vec::new();
    for (tool, score) in scorecard.tools.iter().enumerate() {
        for case_score in &score.cases {
            let case = &loaded.suite.cases[case_score.case];
            for trial in case_score.counted() {
                let Some(findings) = trial.line.and_then(|line| trials.get(line)).map(|trial| &trial.findings) else {
                    continue;
                };
                let mut taken = BTreeSet::new();
                for found in &trial.result.matches {
                    let Some(golden) = case.goldens.get(found.golden) else { continue };
                    let Some(proof) = by_golden.get(&(&case.id, &golden.id)) else { continue };
                    let Some(finding) = findings.get(found.finding).filter(|_| taken.insert(found.golden)) else {
                        continue;
                    };
                    reported.push(Reported { tool, proof: *proof, trial: trial.number, finding });
                }
            }
        }
    }
    reported
}

/// The result of every reported finding. The same finding about the same golden is repaired once.
fn run_repairs(
    request: &FixRequest,
    repairs: &Repairs<'_>,
    proofs: &[ProofTask<'_>],
    reported: &[Reported<'_>],
    cancel: &Cancel,
    progress: &dyn FixProgress,
) -> Result<Vec<FixResult>> {
    let tasks: Vec<RepairTask<'_>> = reported
        .iter()
        .map(|reported| repairs.task(&proofs[reported.proof], reported.finding))
        .collect::<Result<_>>()?;
    let mut by_key: BTreeMap<&str, FixResult> = BTreeMap::new();
    let mut open: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        let is_wanted =
            |kept: &FixResult| !(request.force || request.retry_failed && kept.verdict == FixVerdictV1::Failed);
        match repairs.kept(task).filter(is_wanted) {
            Some(kept) => {
                by_key.insert(&task.key, kept);
            }
            None => {
                open.entry(&task.key).or_insert(index);
            }
        }
    }
    progress.fixes(open.len());
    let work = |index: usize| -> Result<Option<FixResult>> {
        let result = repairs.run(&tasks[index])?;
        if let Some(result) = &result {
            let ProofTask { case, golden, .. } = tasks[index].proof;
            progress.done(&format!("{} {}: {}", case.id, golden.id, result.verdict.describe()));
        }
        Ok(result)
    };
    let indices: Vec<usize> = open.values().copied().collect();
    let (done, failure) = run_parallel(&indices, request.run.jobs, cancel, &work);
    if let Some(failure) = failure {
        return Err(failure);
    }
    if done.len() < indices.len() {
        let (done, all) = (done.len(), indices.len());
        let message = format!("stopped: {done} of {all} findings were tried; the same command goes on with the others");
        return Err(Failure::failed(message));
    }
    let mut fresh: BTreeMap<&str, FixResult> =
        done.into_iter().map(|(index, result)| (tasks[index].key.as_str(), result)).collect();
    let mut results = Vec::new();
    for task in &tasks {
        let key = task.key.as_str();
        let result = match (by_key.get(key), fresh.remove(key)) {
            (_, Some(result)) => {
                // Whoever reports the same again gets this result.
                by_key.insert(key, FixResult { is_kept: true, ..result.clone() });
                result
            }
            (Some(kept), None) => kept.clone(),
            (None, None) => return Err(Failure::failed("a finding has no result")),
        };
        results.push(result);
    }
    Ok(results)
}
