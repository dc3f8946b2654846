//! Trials made to fit: the database takes 10^9 bytes in a row and no more, and one trial too large must not cost the others
//! that are saved with it.

use crate::format::run::TrialDetailV1;
use crate::run::record::Artifact;
use karat_core::trial::{Outcome, Trial};

/// So many bytes of an artifact are kept, and so many a trial may take up without its artifacts.
pub(super) const MOST: usize = 256 << 20;

/// The part of an artifact that is kept, and a remark where that is not all of it.
pub(super) fn artifact(artifact: &Artifact, most: usize) -> (&[u8], Option<String>) {
    let Some(kept) = artifact.bytes.get(..most).filter(|kept| kept.len() < artifact.bytes.len()) else {
        return (&artifact.bytes, None);
    };
    let (name, all) = (&artifact.name, artifact.bytes.len());
    (kept, Some(format!("`{name}` was cut: the first {most} of its {all} bytes are kept")))
}

/// What is kept of a trial that takes up too many bytes: a report that cannot be kept counts as one that cannot be read.
pub(super) fn trial(trial: &Trial) -> Trial {
    Trial {
        outcome: if trial.outcome == Outcome::Reported { Outcome::Unparsable } else { trial.outcome },
        latency_ms: trial.latency_ms,
        tokens_in: trial.tokens_in,
        tokens_out: trial.tokens_out,
        cost_usd: trial.cost_usd,
        ..Trial::reported(trial.case.clone(), trial.tool.clone(), trial.number)
    }
}

/// What is kept of a detail that takes up too many bytes: the figures, and a word on what is missing.
pub(super) fn detail(detail: &TrialDetailV1, size: usize) -> TrialDetailV1 {
    let remark = format!("its reason and remarks were dropped: they take up {size} bytes");
    let TrialDetailV1 { exit, signal, started_ms, .. } = *detail;
    TrialDetailV1 { exit, signal, started_ms, remarks: vec![remark], ..TrialDetailV1::default() }
}
