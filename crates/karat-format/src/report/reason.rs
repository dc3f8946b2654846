//! Why goldens were missed and findings matched nothing, as data.

use karat_core::judgement::Classification;
use karat_core::trial::Outcome;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a golden was missed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MissReasonV1 {
    /// The trial did not end in a report.
    TrialFailed {
        /// How it ended.
        outcome: Outcome,
    },
    /// The trial reported nothing at all.
    NothingReported,
    /// No finding has anything in common with it.
    NoCandidate,
    /// No finding that the profile's requirements (`require`, `line_tolerance`) allow has anything in common with it.
    NoneAllowed,
    /// The best candidate scores too low, and no judge is asked.
    BelowThreshold {
        /// The best candidate.
        finding: String,
        /// What file, lines and words make of it.
        score: f64,
        /// The score that it takes.
        threshold: f64,
    },
    /// The best candidate scores enough, and shows none of the profile's `evidence` that it is about the golden.
    PathAlone {
        /// The best candidate.
        finding: String,
    },
    /// The best candidate scores too low to ask a judge about it.
    NotWorthAsking {
        /// The best candidate.
        finding: String,
        /// What file, lines and words make of it.
        score: f64,
        /// The score from which a judge is asked.
        threshold: f64,
    },
    /// The best candidate counts, and it is matched to another golden.
    Taken {
        /// The best candidate.
        finding: String,
        /// The golden that it is matched to.
        matched_to: String,
    },
    /// A judge said that a candidate does not report it.
    Refused {
        /// Of the candidates that judges refused, the nearest by place.
        finding: String,
        /// Who said so.
        judge: String,
    },
    /// A judge was asked in vain.
    Unjudged {
        /// The candidate it was asked about; absent if it was the whole trial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        finding: Option<String>,
    },
    /// No judge was asked about the best candidate, though it scores enough.
    NotAsked {
        /// The best candidate.
        finding: String,
        /// The golden that it is matched to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matched_to: Option<String>,
    },
    /// No finding has what it is looked for by.
    KeyAbsent {
        /// `key`, `glob_key` or `file_and_rule`.
        by: String,
        /// The keys that it was looked for by; none where no key can be built.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keys: Vec<String>,
    },
    /// A finding has what it is looked for by, and is matched to another golden.
    KeyUsed {
        /// `key`, `glob_key` or `file_and_rule`.
        by: String,
        /// The keys that it was looked for by; none where no key can be built.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        keys: Vec<String>,
        /// The first such finding.
        finding: String,
        /// The golden that it is matched to.
        matched_to: String,
    },
    /// The profile does not accept its kind of key.
    KeyRefused {
        /// The value under `identity` that refuses it: `chunk_anchors`, `require_anchor` or `include_source`.
        setting: String,
        /// Its keys.
        keys: Vec<String>,
    },
    /// No key can be built for it, and nothing else may match it.
    NoKey {
        /// What it does not state: `file`, `rule_id` or `line_start`.
        missing: Vec<String>,
    },
    /// An audit says that it was not found.
    AuditedMissing,
    /// An audit says that it was found, and names no finding of the trial that reports it.
    AuditedUnnamed,
    /// The recorded judgements match no finding to it.
    NotRecorded,
    /// The profile does not compare it.
    NotCompared,
}

/// Why a finding matched nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ExtraReasonV1 {
    /// The case has no goldens.
    CleanCase,
    /// It has nothing in common with any golden.
    NothingNear,
    /// It has nothing in common with any golden that the profile's requirements (`require`, `line_tolerance`) allow.
    NoneAllowed,
    /// Its best golden scores too low, and no judge is asked.
    BelowThreshold {
        /// The best golden.
        golden: String,
        /// What file, lines and words make of the pair.
        score: f64,
        /// The score that it takes.
        threshold: f64,
    },
    /// It scores enough, and shows none of the profile's `evidence` that it is about its best golden.
    PathAlone {
        /// The best golden.
        golden: String,
    },
    /// Its best golden scores too low to ask a judge about it.
    NotWorthAsking {
        /// The best golden.
        golden: String,
        /// What file, lines and words make of the pair.
        score: f64,
        /// The score from which a judge is asked.
        threshold: f64,
    },
    /// A judge said that it does not report a golden.
    Refused {
        /// Of the goldens that judges refused, the nearest by place.
        golden: String,
        /// Who said so.
        judge: String,
    },
    /// A judge was asked in vain.
    Unjudged {
        /// The golden it was asked about; absent if it was the whole trial.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        golden: Option<String>,
    },
    /// No judge was asked about its best golden, though the pair scores enough.
    NotAsked {
        /// The best golden.
        golden: String,
        /// The finding that the golden is matched to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matched_to: Option<String>,
    },
    /// It reports a known false alarm.
    Trap {
        /// The trap.
        golden: String,
    },
    /// Its key is none of the expected ones.
    UnexpectedKey {
        /// Its keys.
        keys: Vec<String>,
    },
    /// The profile does not accept its kind of key.
    KeyRefused {
        /// The value under `identity` that refuses it: `chunk_anchors` or `require_anchor`.
        setting: String,
        /// Its keys.
        keys: Vec<String>,
    },
    /// No key can be built for it.
    NoKey {
        /// What it does not state: `file`, `rule_id` or `line_start`.
        missing: Vec<String>,
    },
    /// An audit puts it into this class.
    Audited {
        /// The class.
        class: Classification,
    },
    /// The recorded judgements match it to no golden.
    NotRecorded,
    /// The profile does not compare it.
    NotCompared,
    /// Somebody says that it is a real problem, which no golden names.
    Confirmed,
    /// Somebody says that it is no problem.
    Refuted,
}

impl MissReasonV1 {
    /// Its `kind` in the report.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TrialFailed { .. } => "trial_failed",
            Self::NothingReported => "nothing_reported",
            Self::NoCandidate => "no_candidate",
            Self::NoneAllowed => "none_allowed",
            Self::BelowThreshold { .. } => "below_threshold",
            Self::PathAlone { .. } => "path_alone",
            Self::NotWorthAsking { .. } => "not_worth_asking",
            Self::Taken { .. } => "taken",
            Self::Refused { .. } => "refused",
            Self::Unjudged { .. } => "unjudged",
            Self::NotAsked { .. } => "not_asked",
            Self::KeyAbsent { .. } => "key_absent",
            Self::KeyUsed { .. } => "key_used",
            Self::KeyRefused { .. } => "key_refused",
            Self::NoKey { .. } => "no_key",
            Self::AuditedMissing => "audited_missing",
            Self::AuditedUnnamed => "audited_unnamed",
            Self::NotRecorded => "not_recorded",
            Self::NotCompared => "not_compared",
        }
    }
}

impl ExtraReasonV1 {
    /// Its `kind` in the report.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::CleanCase => "clean_case",
            Self::NothingNear => "nothing_near",
            Self::NoneAllowed => "none_allowed",
            Self::BelowThreshold { .. } => "below_threshold",
            Self::PathAlone { .. } => "path_alone",
            Self::NotWorthAsking { .. } => "not_worth_asking",
            Self::Refused { .. } => "refused",
            Self::Unjudged { .. } => "unjudged",
            Self::NotAsked { .. } => "not_asked",
            Self::Trap { .. } => "trap",
            Self::UnexpectedKey { .. } => "unexpected_key",
            Self::KeyRefused { .. } => "key_refused",
            Self::NoKey { .. } => "no_key",
            Self::Audited { .. } => "audited",
            Self::NotRecorded => "not_recorded",
            Self::NotCompared => "not_compared",
            Self::Confirmed => "confirmed",
            Self::Refuted => "refuted",
        }
    }

    /// The golden that it names.
    pub fn golden(&self) -> Option<&str> {
        match self {
            Self::BelowThreshold { golden, .. }
            | Self::PathAlone { golden }
            | Self::NotWorthAsking { golden, .. }
            | Self::Refused { golden, .. }
            | Self::NotAsked { golden, .. }
            | Self::Trap { golden } => Some(golden),
            Self::Unjudged { golden } => golden.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_those_of_the_report() {
        let misses = [
            MissReasonV1::NothingReported,
            MissReasonV1::TrialFailed { outcome: Outcome::Crashed },
            MissReasonV1::KeyAbsent { by: "key".to_owned(), keys: Vec::new() },
        ];
        for miss in misses {
            assert_eq!(serde_json::to_value(&miss).unwrap()["kind"], miss.kind());
        }
        let golden = "g".to_owned();
        let extras = [
            ExtraReasonV1::CleanCase,
            ExtraReasonV1::Trap { golden: golden.clone() },
            ExtraReasonV1::NotWorthAsking { golden, score: 0.1, threshold: 0.2 },
        ];
        for extra in extras {
            assert_eq!(serde_json::to_value(&extra).unwrap()["kind"], extra.kind());
        }
    }
}
