//! Runs the proofs of goldens: each must fail on the change and pass on its fix.
//!
//! A proof is run twice on either, each time in a fresh copy and in the sandbox, so that one that ends by chance is seen. What was
//! shown is kept in the suite with hashes of everything that it depends on, and a proof that did not change is not run again.

pub(crate) mod execute;
mod toolchain;

use super::kept_proofs::{PROOFS, find_kept, read_kept, subject};
use super::write::{refuse_links, write_below};
use super::{LoadedSuite, load_suite};
use crate::failure::{Failure, Result};
use crate::run::parallel::run_parallel;
use crate::run::selection::Selection;
use crate::scratch::make_scratch;
use crate::tool::run_context::RunContext;
use execute::{ProofRunner, ProofSide, RunOutcome};
use karat_core::golden::{Golden, Proof};
use karat_core::ids::{CaseId, GoldenId};
use karat_core::suite::Case;
use karat_format::diagnostic::Faults;
use karat_format::proofs::{KeptProofV1, ProofSubjectV1, ProofVerdictV1, ProofsV1};
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_sandbox::{Availability, Isolation, Supervisor, available};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;

/// How often a proof is run on the same code.
const RUNS: usize = 2;

/// Which proofs to run, and how.
#[expect(missing_docs, reason = "field names say it")]
pub struct ProveRequest {
    pub suite: String,
    pub selection: Selection,
    /// Run proofs again that did not change.
    pub force: bool,
    /// Isolate proofs by exactly this; by default by the strongest sandbox.
    pub isolation: Option<Isolation>,
    /// Proofs at once; by default the number of processors.
    pub jobs: Option<usize>,
    /// The user's environment, of which proofs see only what tools see.
    pub environment: BTreeMap<String, OsString>,
    pub supervisor: Supervisor,
    pub cancel: Cancel,
}

/// What the proofs of a suite have shown.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ProveReport {
    /// The name of the suite.
    pub suite: String,
    /// How proofs were kept from the rest of the machine.
    pub isolation: &'static str,
    pub proofs: Vec<ProofResult>,
    /// Whether the results were kept; those of a built-in suite cannot be.
    pub is_kept: bool,
}

impl ProveReport {
    /// Whether every proof whose toolchain is here holds.
    pub fn holds(&self) -> bool {
        self.proofs.iter().all(ProofResult::holds)
    }
}

/// What one proof has shown.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ProofResult {
    pub case: CaseId,
    pub golden: GoldenId,
    pub language: Option<String>,
    pub verdict: ProofVerdictV1,
    /// Why it is not proven, if this run has shown it.
    pub reason: Option<String>,
    pub toolchain: Option<String>,
    /// Whether this was shown earlier, and the proof did not change since.
    pub is_unchanged: bool,
}

impl ProofResult {
    /// Whether it is proven, or cannot be run here.
    pub fn holds(&self) -> bool {
        matches!(self.verdict, ProofVerdictV1::Proven | ProofVerdictV1::NoToolchain)
    }
}

/// A proof to run.
pub(crate) struct ProofTask<'s> {
    pub(crate) case: &'s Case,
    pub(crate) golden: &'s Golden,
    pub(crate) proof: &'s Proof,
    /// What it is about, or why that cannot be read.
    pub(crate) subject: Result<ProofSubjectV1, String>,
}

/// Runs the proofs of a suite, and keeps what they have shown. `begin` is called with the number of proofs that have to be run,
/// and `done` with each result.
pub fn prove_suite(
    request: &ProveRequest,
    begin: &dyn Fn(usize),
    done: &(dyn Fn(&ProofResult) + Sync),
) -> Result<ProveReport> {
    let isolation = proof_isolation(request.isolation)?;
    let loaded = load_suite(&request.suite)?;
    if let Files::Disk(root) = &loaded.files {
        // Known before proofs are run for an hour.
        refuse_links(root, PROOFS).map_err(|error| Failure::unwritten(root.join(PROOFS).display(), error))?;
    }
    let kept = read_kept(&loaded.files).map_err(Faults)?;
    let tasks = tasks(&loaded, &request.selection)?;
    let mut results: BTreeMap<usize, ProofResult> = BTreeMap::new();
    for (index, task) in tasks.iter().enumerate() {
        results.extend(task.unchanged(&kept).filter(|_| !request.force).map(|result| (index, result)));
    }
    let open: Vec<usize> = (0..tasks.len()).filter(|index| !results.contains_key(index)).collect();
    begin(open.len());
    let ran = run_tasks(request, &loaded, isolation, &tasks, &open, done);
    let (ran, failure) = match ran {
        Ok(ran) => (ran, None),
        Err((ran, failure)) => (ran, Some(failure)),
    };
    results.extend(ran);
    let is_kept = keep(&loaded, &kept, &tasks, &results)?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let proofs = results.into_values().collect();
    Ok(ProveReport { suite: loaded.suite.name.clone(), isolation: isolation.as_str(), proofs, is_kept })
}

/// The isolation of proofs: the one asked for, else the strongest sandbox. A suite may come from a stranger, so its programs run
/// without a sandbox only if that was asked for.
pub fn proof_isolation(asked: Option<Isolation>) -> Result<Isolation> {
    choose_isolation(asked, available())
}

fn choose_isolation(asked: Option<Isolation>, found: &Availability) -> Result<Isolation> {
    let reason = |isolation| found.unavailable_reason(isolation).unwrap_or_default();
    match asked {
        Some(asked) if found.unavailable_reason(asked).is_some() => {
            let (name, why) = (asked.as_str(), reason(asked));
            Err(Failure::failed(format!("the isolation {name} is not available: {why}")))
        }
        Some(asked) => Ok(asked),
        None if found.strongest() == Isolation::Process => {
            let why = reason(Isolation::Landlock);
            let message = format!("no sandbox works here, and proofs are programs of the suite: {why}");
            let help = "--isolation process runs them all the same; they can then read and write whatever you can";
            Err(Failure::failed(format!("{message}\nhelp: {help}")))
        }
        None => Ok(found.strongest()),
    }
}

/// The proofs of the selected cases.
pub(crate) fn tasks<'s>(loaded: &'s LoadedSuite, selection: &Selection) -> Result<Vec<ProofTask<'s>>> {
    let mut tasks = Vec::new();
    for case in selection.select(&loaded.suite)? {
        for golden in &case.goldens {
            let Some(proof) = &golden.proof else { continue };
            let subject = subject(loaded, &case.id, proof).map_err(|error| error.to_string());
            tasks.push(ProofTask { case, golden, proof, subject });
        }
    }
    Ok(tasks)
}

impl ProofTask<'_> {
    fn result(&self, verdict: ProofVerdictV1, reason: Option<String>, toolchain: Option<String>) -> ProofResult {
        ProofResult {
            case: self.case.id.clone(),
            golden: self.golden.id.clone(),
            language: self.case.language.clone(),
            verdict,
            reason,
            toolchain,
            is_unchanged: false,
        }
    }

    /// What was kept of this very proof. What may be due to the machine is tried again.
    pub(crate) fn unchanged(&self, kept: &ProofsV1) -> Option<ProofResult> {
        let kept = find_kept(kept, &self.case.id, self.golden.id.as_str())?;
        let is_same = self.subject.as_ref().is_ok_and(|now| kept.subject.is_about(now));
        if !kept.verdict.is_final() || !is_same {
            return None;
        }
        Some(ProofResult { is_unchanged: true, ..self.result(kept.verdict, None, kept.toolchain.clone()) })
    }

    /// Runs the proof on the change and on the fix; `None` if it was cancelled.
    pub(crate) fn run(&self, runner: &ProofRunner<'_>) -> Result<Option<ProofResult>> {
        if let Err(why) = &self.subject {
            return Ok(Some(self.result(ProofVerdictV1::Broken, Some(why.clone()), None)));
        }
        let mut outcomes = [Vec::new(), Vec::new()];
        'sides: for (side, outcomes) in [ProofSide::Change, ProofSide::Fix].into_iter().zip(&mut outcomes) {
            for number in 1..=RUNS {
                let Some(outcome) = runner.run_proof(self.case, self.proof, side, number)? else { return Ok(None) };
                let is_run = matches!(outcome, RunOutcome::Passed | RunOutcome::Failed(_));
                outcomes.push(outcome);
                if !is_run {
                    break 'sides;
                }
            }
        }
        let [change, fix] = &outcomes;
        let (verdict, reason) = decide(change, fix);
        let toolchain = if verdict == ProofVerdictV1::NoToolchain { None } else { runner.toolchain(self.case)? };
        Ok(Some(self.result(verdict, reason, toolchain)))
    }
}

type Ran = BTreeMap<usize, ProofResult>;

/// Runs proofs, several at once. With the first failure of Karat itself, or when it is cancelled, what was shown so far is returned.
fn run_tasks(
    request: &ProveRequest,
    loaded: &LoadedSuite,
    isolation: Isolation,
    tasks: &[ProofTask<'_>],
    open: &[usize],
    done: &(dyn Fn(&ProofResult) + Sync),
) -> Result<Ran, (Ran, Failure)> {
    let scratch = make_scratch().map_err(|failure| (Ran::new(), failure))?;
    let (supervisor, cancel) = (&request.supervisor, request.cancel.clone());
    let context = RunContext::new(loaded, scratch.path.clone(), supervisor, cancel, &request.environment, 0);
    let runner = ProofRunner::new(&context, isolation);
    let work = |index: usize| -> Result<Option<ProofResult>> {
        let Some(task) = tasks.get(index) else { return Ok(None) };
        let result = task.run(&runner)?;
        result.iter().for_each(done);
        Ok(result)
    };
    let (ran, failure) = run_parallel(open, request.jobs, &request.cancel, &work);
    match failure {
        Some(failure) => Err((ran, failure)),
        None if request.cancel.is_cancelled() => {
            Err((ran, Failure::failed("stopped before all proofs were run; what was shown so far is kept")))
        }
        None => Ok(ran),
    }
}

/// The verdict about a proof that ended in these ways, and why it is not proven.
fn decide(change: &[RunOutcome], fix: &[RunOutcome]) -> (ProofVerdictV1, Option<String>) {
    let has_run = change.iter().any(|outcome| matches!(outcome, RunOutcome::Passed | RunOutcome::Failed(_)));
    for (side, outcome) in change.iter().map(|own| ("change", own)).chain(fix.iter().map(|own| ("fix", own))) {
        match outcome {
            // The toolchain is here, since the proof has been run: the code or the fix names a program that is not.
            RunOutcome::NoToolchain(why) if has_run => {
                return (ProofVerdictV1::Broken, Some(format!("on the {side} {why}")));
            }
            RunOutcome::NoToolchain(why) => return (ProofVerdictV1::NoToolchain, Some(why.clone())),
            RunOutcome::Broken(why) => return (ProofVerdictV1::Broken, Some(format!("on the {side} {why}"))),
            RunOutcome::Passed | RunOutcome::Failed(_) => {}
        }
    }
    let passed = |runs: &[RunOutcome]| runs.iter().filter(|run| **run == RunOutcome::Passed).count();
    for (side, runs) in [("change", change), ("fix", fix)] {
        if passed(runs) > 0 && passed(runs) < runs.len() {
            let reason = format!("on the {side} it passed {} of {} times", passed(runs), runs.len());
            return (ProofVerdictV1::Flaky, Some(reason));
        }
    }
    let why = |runs: &[RunOutcome]| match runs.first() {
        Some(RunOutcome::Failed(why)) => why.clone(),
        _ => String::new(),
    };
    match (passed(change) > 0, passed(fix) > 0) {
        (false, true) => (ProofVerdictV1::Proven, None),
        (true, true) => (ProofVerdictV1::PassesOnBoth, Some("it passes on the change, too".to_owned())),
        (false, false) => (ProofVerdictV1::FailsOnBoth, Some(format!("on the fix {}", why(fix)))),
        (true, false) => {
            let reason = format!("it passes on the change, and on the fix {}", why(fix));
            (ProofVerdictV1::Broken, Some(reason))
        }
    }
}

/// Writes what was shown into the suite, if it can be written to. Goldens that were not selected, and proofs whose toolchain is
/// missing here, stay as they were kept; those that are gone are removed.
fn keep(loaded: &LoadedSuite, kept: &ProofsV1, tasks: &[ProofTask<'_>], results: &Ran) -> Result<bool> {
    let Files::Disk(root) = &loaded.files else { return Ok(false) };
    let mut shown: BTreeMap<(&CaseId, &GoldenId), KeptProofV1> = BTreeMap::new();
    for (index, result) in results {
        let Some(ProofTask { subject: Ok(subject), case, golden, .. }) = tasks.get(*index) else { continue };
        let earlier = find_kept(kept, &case.id, golden.id.as_str()).filter(|own| own.subject.is_about(subject));
        let proof = match earlier {
            Some(earlier) if result.is_unchanged || result.verdict == ProofVerdictV1::NoToolchain => {
                KeptProofV1 { subject: subject.clone(), ..earlier.clone() }
            }
            _ => KeptProofV1 {
                case: case.id.to_string(),
                golden: golden.id.to_string(),
                verdict: result.verdict,
                toolchain: result.toolchain.clone(),
                subject: subject.clone(),
            },
        };
        shown.insert((&case.id, &golden.id), proof);
    }
    let mut proofs = Vec::new();
    for case in &loaded.suite.cases {
        for golden in case.goldens.iter().filter(|golden| golden.proof.is_some()) {
            let earlier = || find_kept(kept, &case.id, golden.id.as_str()).cloned();
            proofs.extend(shown.remove(&(&case.id, &golden.id)).or_else(earlier));
        }
    }
    let now = ProofsV1 { proofs, ..ProofsV1::default() };
    if now == *kept {
        return Ok(true);
    }
    let mut text = serde_json::to_string_pretty(&now).unwrap_or_default();
    text.push('\n');
    write_below(root, PROOFS, text.as_bytes())
        .map_err(|error| Failure::unwritten(root.join(PROOFS).display(), error))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ProofVerdictV1 as V;

    #[test]
    fn proofs_run_without_a_sandbox_only_if_asked() {
        fn none<T>() -> Result<T, String> {
            Err("it is missing".to_owned())
        }
        let nothing = Availability { bubblewrap: none(), landlock: none() };
        let refused = format!("{:?}", choose_isolation(None, &nothing).unwrap_err());
        assert!(refused.contains("it is missing") && refused.contains("--isolation process"), "{refused}");
        assert!(choose_isolation(Some(Isolation::Landlock), &nothing).is_err());
        assert_eq!(choose_isolation(Some(Isolation::Process), &nothing).unwrap(), Isolation::Process);
        let landlock = Availability { bubblewrap: none(), landlock: Ok(()) };
        assert_eq!(choose_isolation(None, &landlock).unwrap(), Isolation::Landlock);
        assert!(choose_isolation(Some(Isolation::Bubblewrap), &landlock).is_err());
    }

    #[test]
    fn verdicts_are_told_apart() {
        let passed = || RunOutcome::Passed;
        let failed = || RunOutcome::Failed("it ended".to_owned());
        let missing = || RunOutcome::NoToolchain("no cc".to_owned());
        let broken = || RunOutcome::Broken("does not apply".to_owned());
        let check = |change: &[RunOutcome], fix: &[RunOutcome], expect: V, reason: Option<&str>| {
            assert_eq!(decide(change, fix), (expect, reason.map(str::to_owned)));
        };
        check(&[failed(), failed()], &[passed(), passed()], V::Proven, None);
        check(&[passed(), passed()], &[passed(), passed()], V::PassesOnBoth, Some("it passes on the change, too"));
        check(&[failed(), failed()], &[failed(), failed()], V::FailsOnBoth, Some("on the fix it ended"));
        check(
            &[passed(), passed()],
            &[failed(), failed()],
            V::Broken,
            Some("it passes on the change, and on the fix it ended"),
        );
        check(&[failed(), passed()], &[passed(), passed()], V::Flaky, Some("on the change it passed 1 of 2 times"));
        check(&[failed(), failed()], &[passed(), failed()], V::Flaky, Some("on the fix it passed 1 of 2 times"));
        check(&[missing()], &[], V::NoToolchain, Some("no cc"));
        check(&[failed(), failed()], &[broken()], V::Broken, Some("on the fix does not apply"));
    }
}
