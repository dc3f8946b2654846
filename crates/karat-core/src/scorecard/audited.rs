//! The parts of an audit that metrics use.

use crate::ids::FindingId;
use crate::judgement::{AuditDecision, Classification, TypeMatch};
use crate::matching::decisions::Decisions;
use crate::metric::findings_quality::Classes;
use crate::profile::Profile;

/// The parts of an audit that metrics and reports use.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AuditSummary {
    /// Index of the judgement that holds the explanation.
    pub judgement: Option<usize>,
    pub findings: Vec<(FindingId, Classification)>,
    pub classes: Classes,
    pub target_found: bool,
    pub type_match: Option<TypeMatch>,
    /// Root cause identification.
    pub rcir: Option<f64>,
    /// Attack vector validity.
    pub ava: Option<f64>,
    /// Fix suggestion validity.
    pub fsv: Option<f64>,
}

impl AuditSummary {
    pub(super) fn new(audit: &AuditDecision, decisions: &Decisions<'_>) -> Self {
        let mut classes = Classes::default();
        for (place, found) in audit.findings.iter().enumerate() {
            classes.add(found.classification, place < decisions.classified_by_people);
        }
        // Scores are about a target that was found; without one they mean nothing.
        let target = audit.target.as_ref().filter(|target| target.found);
        Self {
            judgement: decisions.audited_by.map(|(_, index)| index),
            findings: audit.findings.iter().map(|found| (found.finding.clone(), found.classification)).collect(),
            classes,
            target_found: target.is_some(),
            type_match: target.and_then(|target| target.type_match),
            rcir: target.and_then(|target| target.rcir),
            ava: target.and_then(|target| target.ava),
            fsv: target.and_then(|target| target.fsv),
        }
    }

    /// Whether something comes near the target, and nothing is the target itself.
    pub(super) fn target_in_part(&self) -> bool {
        self.classes.count(Classification::PartialMatch) > 0.0 && self.classes.count(Classification::TargetMatch) == 0.0
    }

    /// Whether it found a valid issue beyond the target.
    pub(super) fn has_bonus(&self, profile: &Profile) -> bool {
        if profile.audit_conventions.bonus_is_any_valid_beyond_target {
            self.classes.valid() > f64::from(u8::from(self.target_found))
        } else {
            self.classes.count(Classification::BonusValid) > 0.0
        }
    }
}
