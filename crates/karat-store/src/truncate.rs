//! Truncates what exceeds SQLite's limit of 10^9 bytes per row, so that one oversized trial does not lose the others saved
//! with it.

use crate::record::Artifact;
use karat_core::trial::{Outcome, Trial};
use karat_format::run::TrialDetailV1;

/// Limit for an artifact, and for a trial without its artifacts.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// The part that is kept, with a remark if it was cut.
pub(super) fn truncate_artifact(artifact: &Artifact, most: usize) -> (&[u8], Option<String>) {
    let Some(kept) = artifact.bytes.get(..most).filter(|kept| kept.len() < artifact.bytes.len()) else {
        return (&artifact.bytes, None);
    };
    let (name, all) = (&artifact.name, artifact.bytes.len());
    (kept, Some(format!("`{name}` was cut: the first {most} of its {all} bytes are kept")))
}

/// An oversized trial without its findings; it counts as unreadable.
pub(super) fn drop_findings(trial: &Trial) -> Trial {
    Trial {
        outcome: if trial.outcome == Outcome::Reported { Outcome::Unparsable } else { trial.outcome },
        latency_ms: trial.latency_ms,
        tokens_in: trial.tokens_in,
        tokens_out: trial.tokens_out,
        cost_usd: trial.cost_usd,
        ..Trial::reported(trial.case.clone(), trial.tool.clone(), trial.number)
    }
}

/// An oversized detail reduced to its figures and a remark.
pub(super) fn shorten_detail(detail: &TrialDetailV1, size: usize) -> TrialDetailV1 {
    let remark = format!("its reason and remarks were dropped: they take up {size} bytes");
    let TrialDetailV1 { exit, signal, started_ms, .. } = *detail;
    TrialDetailV1 { exit, signal, started_ms, remarks: vec![remark], ..TrialDetailV1::default() }
}
