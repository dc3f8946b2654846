//! One repair: the fixer on a fresh copy of the code with one finding, then the proof on what it left.

use super::kept::KeptResults;
use crate::failure::{Failure, Result};
use crate::suite::LoadedSuite;
use crate::suite::prove::ProofTask;
use crate::suite::prove::execute::{ProofRunner, ProofSide, RunOutcome, write_code};
use crate::tool::fixer::{FixerOutcome, FixerRunner};
use karat_core::finding::Finding;
use karat_format::fix::FixVerdictV1;
use karat_format::submission::FindingV1;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// How often the proof must pass, so that one that passes by chance is seen.
const RUNS: usize = 2;
/// A finding is named after its place in a trial, which says nothing about it.
const FINDING_ID: &str = "finding";

/// What repairs share.
pub(super) struct Repairs<'a> {
    pub(super) loaded: &'a LoadedSuite,
    pub(super) fixer: &'a FixerRunner<'a>,
    pub(super) fixer_hash: String,
    pub(super) runner: &'a ProofRunner<'a>,
    pub(super) kept: &'a KeptResults,
}

/// A finding to repair.
pub(super) struct RepairTask<'a> {
    pub(super) proof: &'a ProofTask<'a>,
    finding: FindingV1,
    pub(super) key: String,
}

/// What became of a finding.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct FixResult {
    pub(super) verdict: FixVerdictV1,
    pub(super) reason: Option<String>,
    #[serde(skip)]
    pub(super) is_kept: bool,
}

impl FixResult {
    fn new(verdict: FixVerdictV1, reason: Option<String>) -> Self {
        Self { verdict, reason, is_kept: false }
    }
}

impl Repairs<'_> {
    pub(super) fn task<'t>(&self, proof: &'t ProofTask<'t>, finding: &Finding) -> Result<RepairTask<'t>> {
        let finding = FindingV1 { id: FINDING_ID.to_owned(), ..FindingV1::from(finding) };
        let subject = proof.subject.as_ref().ok();
        let programs = self.runner.programs(proof.case, proof.proof)?;
        let key = KeptResults::key(&("fix", &self.fixer_hash, &finding, subject, programs));
        Ok(RepairTask { proof, finding, key })
    }

    /// What is kept of a finding.
    pub(super) fn kept(&self, task: &RepairTask<'_>) -> Option<FixResult> {
        let kept: FixResult = self.kept.read(&task.key)?;
        Some(FixResult { is_kept: true, ..kept })
    }

    /// Repairs a finding and keeps the result; `None` if it was cancelled.
    pub(super) fn run(&self, task: &RepairTask<'_>) -> Result<Option<FixResult>> {
        let Some(result) = self.repair(task)? else { return Ok(None) };
        // An outage passes, and a proof may be stopped by what this machine is short of.
        if !matches!(result.verdict, FixVerdictV1::Unavailable | FixVerdictV1::Broken) {
            self.kept.write(&task.key, &result)?;
        }
        Ok(Some(result))
    }

    fn repair(&self, task: &RepairTask<'_>) -> Result<Option<FixResult>> {
        let case = task.proof.case;
        let failed = |error| Failure::io(format!("the fixer on `{}`", case.id), error);
        let write = |folder: &Path| write_code(self.loaded, case, folder);
        let Some(left) = self.fixer.repair(&task.finding, &write).map_err(failed)? else { return Ok(None) };
        match &left.outcome {
            FixerOutcome::Done => {}
            FixerOutcome::Failed(why) => return Ok(Some(FixResult::new(FixVerdictV1::Failed, Some(why.clone())))),
            FixerOutcome::Unavailable(why) => {
                return Ok(Some(FixResult::new(FixVerdictV1::Unavailable, Some(why.clone()))));
            }
        }
        for number in 1..=RUNS {
            let side = ProofSide::Folder(&left.code);
            let Some(outcome) = self.runner.run_proof(case, task.proof.proof, side, number)? else { return Ok(None) };
            let (verdict, why) = match outcome {
                RunOutcome::Passed => continue,
                RunOutcome::Failed(why) => (FixVerdictV1::NotRepaired, why),
                // The toolchain is here, as the control has shown: the fixer removed what the proof needs.
                RunOutcome::NoToolchain(why) | RunOutcome::Broken(why) => (FixVerdictV1::Broken, why),
            };
            let again = if number > 1 { " when it was run again" } else { "" };
            return Ok(Some(FixResult::new(verdict, Some(format!("the proof: {why}{again}")))));
        }
        Ok(Some(FixResult::new(FixVerdictV1::Repaired, None)))
    }
}
