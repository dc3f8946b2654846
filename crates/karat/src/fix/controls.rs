//! The control: on this machine, a golden's proof must fail on the change and pass on its own fix. Else it can decide nothing.

use super::FixProgress;
use super::kept::KeptResults;
use crate::failure::{Failure, Result};
use crate::run::parallel::run_parallel;
use crate::suite::LoadedSuite;
use crate::suite::kept_proofs::read_kept;
use crate::suite::prove::ProofTask;
use crate::suite::prove::execute::ProofRunner;
use karat_core::ids::{CaseId, GoldenId};
use karat_format::diagnostic::Faults;
use karat_format::proofs::{ProofVerdictV1, ProofsV1};
use karat_io::cancel::Cancel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What is controlled, and how.
pub(super) struct Controls<'a> {
    pub(super) loaded: &'a LoadedSuite,
    pub(super) proofs: &'a [ProofTask<'a>],
    pub(super) runner: &'a ProofRunner<'a>,
    pub(super) kept: &'a KeptResults,
    pub(super) jobs: Option<usize>,
    pub(super) cancel: &'a Cancel,
}

/// What the proof of a golden has shown here.
pub(super) struct Control {
    pub(super) case: CaseId,
    pub(super) golden: GoldenId,
    pub(super) verdict: ProofVerdictV1,
    pub(super) reason: Option<String>,
}

impl Control {
    pub(super) fn holds(&self) -> bool {
        self.verdict == ProofVerdictV1::Proven
    }
}

/// The results of all controls.
pub(super) struct ControlResults {
    pub(super) results: Vec<Control>,
    /// Indices of the proofs that hold.
    pub(super) holds: BTreeSet<usize>,
}

#[derive(Serialize, Deserialize)]
struct KeptControl {
    verdict: ProofVerdictV1,
    reason: Option<String>,
}

/// Runs the proofs that were not run with the same toolchain before.
pub(super) fn run_controls(controls: &Controls<'_>, progress: &dyn FixProgress) -> Result<ControlResults> {
    let Controls { proofs, jobs, cancel, .. } = controls;
    let of_suite = read_kept(&controls.loaded.files).map_err(Faults)?;
    let mut known = Vec::new();
    for proof in *proofs {
        known.push(controls.known(proof, &of_suite)?);
    }
    let open: Vec<usize> = (0..proofs.len()).filter(|index| known[*index].is_none()).collect();
    progress.controls(open.len());
    let work = |index: usize| -> Result<Option<KeptControl>> {
        let result = controls.run(&proofs[index])?;
        if let Some(result) = &result {
            let ProofTask { case, golden, .. } = &proofs[index];
            progress.done(&format!("{} {}: {}", case.id, golden.id, result.verdict.describe()));
        }
        Ok(result)
    };
    let (mut ran, failure) = run_parallel(&open, *jobs, cancel, &work);
    if let Some(failure) = failure {
        return Err(failure);
    }
    let mut results = Vec::new();
    for (index, (known, proof)) in known.into_iter().zip(*proofs).enumerate() {
        let Some(KeptControl { verdict, reason }) = known.or_else(|| ran.remove(&index)) else {
            let message = "stopped before all proofs were run; the same command goes on with the others";
            return Err(Failure::failed(message));
        };
        results.push(Control { case: proof.case.id.clone(), golden: proof.golden.id.clone(), verdict, reason });
    }
    let holds = (0..results.len()).filter(|index| results[*index].holds()).collect();
    Ok(ControlResults { results, holds })
}

impl Controls<'_> {
    /// What is known of a proof: from the suite's `proofs.json` if the toolchain is the same here, else from an earlier control.
    fn known(&self, proof: &ProofTask<'_>, of_suite: &ProofsV1) -> Result<Option<KeptControl>> {
        let toolchain = self.runner.toolchain(proof.case)?;
        let shown = proof.unchanged(of_suite).filter(|shown| shown.toolchain.is_some() && shown.toolchain == toolchain);
        if let Some(shown) = shown {
            return Ok(Some(KeptControl { verdict: shown.verdict, reason: shown.reason }));
        }
        Ok(self.key(proof)?.and_then(|key| self.kept.read(&key)))
    }

    fn run(&self, proof: &ProofTask<'_>) -> Result<Option<KeptControl>> {
        let Some(shown) = proof.run(self.runner)? else { return Ok(None) };
        let control = KeptControl { verdict: shown.verdict, reason: shown.reason };
        if shown.verdict.is_final()
            && let Some(key) = self.key(proof)?
        {
            self.kept.write(&key, &control)?;
        }
        Ok(Some(control))
    }

    /// A control depends on the proof, on its isolation and on the programs of this machine that it uses. `None` if these are unknown.
    fn key(&self, proof: &ProofTask<'_>) -> Result<Option<String>> {
        let programs = self.runner.programs(proof.case, proof.proof)?;
        let subject = proof.subject.as_ref().ok();
        let isolation = self.runner.isolation().as_str();
        Ok(subject.zip(programs).map(|parts| KeptResults::key(&("control", isolation, parts))))
    }
}
