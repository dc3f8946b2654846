//! Reasons for misses and extras: from indices to names, and to words.

use karat_core::finding::Finding;
use karat_core::identity::key::{self, MatchedVia, MissingKeyFields, RefusedKey};
use karat_core::judgement::Judgement;
use karat_core::matching::outcome::{ExtraReason, MissReason};
use karat_core::profile::IdentityRules;
use karat_core::suite::Case;
use karat_format::report::{ExtraReasonV1, MissReasonV1};

pub(super) struct Names<'a> {
    pub(super) case: &'a Case,
    pub(super) findings: &'a [Finding],
    pub(super) judgements: &'a [Judgement],
    pub(super) rules: &'a IdentityRules,
}

impl Names<'_> {
    fn golden(&self, index: usize) -> String {
        self.case.goldens[index].id.to_string()
    }

    fn finding(&self, index: usize) -> String {
        self.findings[index].id.to_string()
    }

    fn judge(&self, judgement: usize) -> String {
        self.judgements.get(judgement).map_or_else(String::new, |judgement| judgement.judge.to_string())
    }

    fn missing(missing: MissingKeyFields) -> Vec<String> {
        missing.names().map(str::to_owned).collect()
    }

    pub(super) fn miss(&self, golden: usize, why: MissReason) -> MissReasonV1 {
        let keys = || key::golden_keys(&self.case.goldens[golden]);
        match why {
            MissReason::TrialFailed(outcome) => MissReasonV1::TrialFailed { outcome },
            MissReason::NothingReported => MissReasonV1::NothingReported,
            MissReason::NoCandidate => MissReasonV1::NoCandidate,
            MissReason::NoneAllowed => MissReasonV1::NoneAllowed,
            MissReason::BelowThreshold { finding, score, threshold } => {
                MissReasonV1::BelowThreshold { finding: self.finding(finding), score, threshold }
            }
            MissReason::PathAlone { finding } => MissReasonV1::PathAlone { finding: self.finding(finding) },
            MissReason::NotWorthAsking { finding, score, threshold } => {
                MissReasonV1::NotWorthAsking { finding: self.finding(finding), score, threshold }
            }
            MissReason::Taken { finding, by } => {
                MissReasonV1::Taken { finding: self.finding(finding), matched_to: self.golden(by) }
            }
            MissReason::Refused { finding, judgement } => {
                MissReasonV1::Refused { finding: self.finding(finding), judge: self.judge(judgement) }
            }
            MissReason::Unjudged { finding } => MissReasonV1::Unjudged { finding: finding.map(|f| self.finding(f)) },
            MissReason::NotAsked { finding, matched_to } => MissReasonV1::NotAsked {
                finding: self.finding(finding),
                matched_to: matched_to.map(|golden| self.golden(golden)),
            },
            MissReason::KeyAbsent(via) => MissReasonV1::KeyAbsent { by: matched_by(via).to_owned(), keys: keys() },
            MissReason::KeyUsed { via, finding, by } => MissReasonV1::KeyUsed {
                by: matched_by(via).to_owned(),
                keys: keys(),
                finding: self.finding(finding),
                matched_to: self.golden(by),
            },
            MissReason::KeyRefused(why) => MissReasonV1::KeyRefused { setting: why.as_str().to_owned(), keys: keys() },
            MissReason::NoKey(missing) => MissReasonV1::NoKey { missing: Self::missing(missing) },
            MissReason::AuditedMissing => MissReasonV1::AuditedMissing,
            MissReason::AuditedUnnamed => MissReasonV1::AuditedUnnamed,
            MissReason::NotRecorded => MissReasonV1::NotRecorded,
        }
    }

    pub(super) fn extra(&self, finding: usize, why: ExtraReason) -> ExtraReasonV1 {
        let keys = || key::finding_keys(&self.findings[finding], self.rules);
        match why {
            ExtraReason::CleanCase => ExtraReasonV1::CleanCase,
            ExtraReason::NothingNear => ExtraReasonV1::NothingNear,
            ExtraReason::NoneAllowed => ExtraReasonV1::NoneAllowed,
            ExtraReason::BelowThreshold { golden, score, threshold } => {
                ExtraReasonV1::BelowThreshold { golden: self.golden(golden), score, threshold }
            }
            ExtraReason::PathAlone { golden } => ExtraReasonV1::PathAlone { golden: self.golden(golden) },
            ExtraReason::NotWorthAsking { golden, score, threshold } => {
                ExtraReasonV1::NotWorthAsking { golden: self.golden(golden), score, threshold }
            }
            ExtraReason::Refused { golden, judgement } => {
                ExtraReasonV1::Refused { golden: self.golden(golden), judge: self.judge(judgement) }
            }
            ExtraReason::Unjudged { golden } => ExtraReasonV1::Unjudged { golden: golden.map(|g| self.golden(g)) },
            ExtraReason::NotAsked { golden, matched_to } => ExtraReasonV1::NotAsked {
                golden: self.golden(golden),
                matched_to: matched_to.map(|finding| self.finding(finding)),
            },
            ExtraReason::Trap { golden } => ExtraReasonV1::Trap { golden: self.golden(golden) },
            ExtraReason::UnexpectedKey => ExtraReasonV1::UnexpectedKey { keys: keys() },
            ExtraReason::KeyRefused(why) => {
                ExtraReasonV1::KeyRefused { setting: why.as_str().to_owned(), keys: keys() }
            }
            ExtraReason::NoKey(missing) => ExtraReasonV1::NoKey { missing: Self::missing(missing) },
            ExtraReason::Audited(class) => ExtraReasonV1::Audited { class },
            ExtraReason::NotRecorded => ExtraReasonV1::NotRecorded,
            ExtraReason::NotCompared => ExtraReasonV1::NotCompared,
            ExtraReason::Confirmed => ExtraReasonV1::Confirmed,
            ExtraReason::Refuted => ExtraReasonV1::Refuted,
        }
    }
}

/// What a pair lacks whose score alone would do.
pub(super) const NO_EVIDENCE: &str = "the pair has none of the evidence that the profile asks for";

pub(super) fn miss_in_words(reason: &MissReasonV1) -> String {
    use MissReasonV1 as Reason;
    match reason {
        Reason::TrialFailed { outcome } => format!("the trial {}", outcome.ended()),
        Reason::NothingReported => "the tool reported nothing".to_owned(),
        Reason::NoCandidate => "no finding is similar to it".to_owned(),
        Reason::NoneAllowed => "no finding that the profile's requirements allow is similar to it".to_owned(),
        Reason::BelowThreshold { finding, score, threshold } => {
            format!("the best candidate, {finding}, scores {score:.3}; a match needs {threshold}")
        }
        Reason::PathAlone { finding } => {
            format!("the best candidate, {finding}, scores enough, but {NO_EVIDENCE}")
        }
        Reason::NotWorthAsking { finding, score, threshold } => {
            format!("the best candidate, {finding}, scores {score:.3}; judges are asked from {threshold} on")
        }
        Reason::Taken { finding, matched_to } => format!("the best candidate, {finding}, is matched to {matched_to}"),
        Reason::Refused { finding, judge } => format!("{finding} was rejected by {judge}"),
        Reason::Unjudged { finding: Some(finding) } => format!("no judge answered about {finding}"),
        Reason::Unjudged { finding: None } => "no judge answered".to_owned(),
        Reason::NotAsked { finding, matched_to: Some(golden) } => {
            format!("the best candidate, {finding}, is matched to {golden}, and no judge was asked about it here")
        }
        Reason::NotAsked { finding, matched_to: None } => {
            format!("no judge was asked about the best candidate, {finding}")
        }
        Reason::KeyAbsent { by, .. } => format!("no finding has its {}", shared_key_words(by)),
        Reason::KeyUsed { by, finding, matched_to, .. } => {
            format!("{finding}, which has its {}, is matched to {matched_to}", shared_key_words(by))
        }
        Reason::KeyRefused { setting, .. } => setting_reason(setting),
        Reason::NoKey { missing } => format!("no key can be built for it: it has no {}", list(missing)),
        Reason::AuditedMissing => "the audit reports it as not found".to_owned(),
        Reason::AuditedUnnamed => "the audit reports it as found, but in none of the findings".to_owned(),
        Reason::NotRecorded => "the recorded judgements match no finding to it".to_owned(),
        Reason::NotCompared => "the profile does not compare it".to_owned(),
    }
}

pub(super) fn extra_in_words(reason: &ExtraReasonV1) -> String {
    use ExtraReasonV1 as Reason;
    match reason {
        Reason::CleanCase => "the case has no goldens".to_owned(),
        Reason::NothingNear => "no golden is similar to it".to_owned(),
        Reason::NoneAllowed => "no golden that the profile's requirements allow is similar to it".to_owned(),
        Reason::BelowThreshold { golden, score, threshold } => {
            format!("its best golden, {golden}, scores {score:.3}; a match needs {threshold}")
        }
        Reason::PathAlone { golden } => format!("its best golden, {golden}, scores enough, but {NO_EVIDENCE}"),
        Reason::NotWorthAsking { golden, score, threshold } => {
            format!("its best golden, {golden}, scores {score:.3}; judges are asked from {threshold} on")
        }
        Reason::Refused { golden, judge } => format!("as a report of {golden} it was rejected by {judge}"),
        Reason::Unjudged { golden: Some(golden) } => format!("no judge answered about {golden}"),
        Reason::Unjudged { golden: None } => "no judge answered".to_owned(),
        Reason::NotAsked { golden, matched_to: Some(finding) } => {
            format!("its best golden, {golden}, is matched to {finding}, and no judge was asked about it here")
        }
        Reason::NotAsked { golden, matched_to: None } => format!("no judge was asked about its best golden, {golden}"),
        Reason::Trap { golden } => format!("it reports a known false alarm, {golden}"),
        Reason::UnexpectedKey { .. } => "its key is not one of the expected keys".to_owned(),
        Reason::KeyRefused { setting, .. } => setting_reason(setting),
        Reason::NoKey { missing } => format!("it has no key: it has no {}", list(missing)),
        Reason::Audited { class } => class.meaning().to_owned(),
        Reason::NotRecorded => "the recorded judgements match it to no golden".to_owned(),
        Reason::NotCompared => "the profile does not compare it".to_owned(),
        Reason::Confirmed => "a real problem that no golden describes".to_owned(),
        Reason::Refuted => "reviewed: not a problem".to_owned(),
    }
}

fn shared_key_words(by: &str) -> &'static str {
    if by == matched_by(MatchedVia::FileAndRule) {
        "file and rule"
    } else if by == matched_by(MatchedVia::GlobKey) {
        "rule and anchor in a path that fits"
    } else {
        "key"
    }
}

fn setting_reason(setting: &str) -> String {
    let why = [
        (RefusedKey::Chunk, "its key names a chunk, but identity.chunk_anchors is off"),
        (RefusedKey::NoAnchor, "its key is not an `anchor:` key, but identity.require_anchor is on"),
        (RefusedKey::NoSource, "its key names no source, but identity.include_source is on"),
    ];
    let why = why.iter().find(|(refused, _)| refused.as_str() == setting);
    why.map_or_else(|| format!("identity.{setting} does not accept its key"), |(_, words)| (*words).to_owned())
}

/// Such as `file, rule_id or line_start`.
fn list(names: &[String]) -> String {
    match names {
        [] => "such thing".to_owned(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

pub(super) fn matched_by(via: MatchedVia) -> &'static str {
    match via {
        MatchedVia::Key => "key",
        MatchedVia::GlobKey => "glob_key",
        MatchedVia::FileAndRule => "file_and_rule",
    }
}
