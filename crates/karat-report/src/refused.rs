//! Refused candidates: who refused them, how likely a match is, and what spoke for and against it.

use super::number::three;
use super::reason::NO_EVIDENCE;
use karat_core::judgement::{Decision, Judgement};
use karat_core::matching::outcome::{Candidate, RefusedBy};
use karat_core::matching::refusal::score_reasons;
use karat_core::profile::Profile;
use karat_format::report::RefusedV1;

/// The name of the profile's rules where judges are named.
const SCORE: &str = "score";

/// What is known of a refused candidate; the caller fills in the id of its other side. `None` if it was not refused.
pub(super) fn refused(candidate: &Candidate, judgements: &[Judgement], profile: &Profile) -> Option<RefusedV1> {
    let by_score = |threshold: f64| RefusedV1 {
        golden: None,
        finding: None,
        judge: SCORE.to_owned(),
        probability: Some(candidate.heuristic),
        threshold: Some(threshold),
        reasons: score_reasons(&candidate.parts, profile, threshold),
        explanation: None,
    };
    match candidate.refused_by? {
        RefusedBy::Score { threshold } => Some(by_score(threshold)),
        RefusedBy::NoEvidence => {
            Some(RefusedV1 { explanation: Some(NO_EVIDENCE.to_owned()), ..by_score(profile.threshold) })
        }
        RefusedBy::Judge(index) => {
            let judgement = judgements.get(index)?;
            let Decision::Pair(pair) = &judgement.decision else { return None };
            let reasons = pair.grounds.as_ref().map_or_else(Vec::new, |grounds| grounds.reasons.clone());
            let probability = pair.match_probability();
            Some(RefusedV1 {
                golden: None,
                finding: None,
                judge: judgement.judge.to_string(),
                probability,
                threshold: probability.map(|_| pair.threshold()),
                // Of a judge that calculates, the explanation lists the reasons.
                explanation: pair.explanation.clone().filter(|_| reasons.is_empty()),
                reasons,
            })
        }
    }
}

/// Such as `0.120 < 0.410`.
pub(super) fn odds(refused: &RefusedV1) -> String {
    let Some((probability, threshold)) = refused.probability.zip(refused.threshold) else { return three(None) };
    let sign = if probability < threshold { '<' } else { '≥' };
    format!("{} {sign} {}", three(Some(probability)), three(Some(threshold)))
}

/// What spoke for a match, and what spoke against it, each such as `same_lines +2.0, keywords +0.4`.
pub(super) fn sides(refused: &RefusedV1) -> [String; 2] {
    [true, false].map(|speaks_for| {
        let own = refused.reasons.iter().filter(|reason| (reason.log_odds > 0.0) == speaks_for);
        own.map(|reason| format!("{} {:+.1}", reason.name, reason.log_odds)).collect::<Vec<_>>().join(", ")
    })
}
