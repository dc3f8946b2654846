//! What people call the findings of audited cases.

use super::Store;
use super::database::{Row, Value};
use super::error::StoreError;
use super::label_log::{self, Again, Entry, Kind, Said, TakenLabels};
use super::tables::{self, Table};
use crate::judge::labels::{AuditKey, AuditLabel, NewAuditLabel, ShownAudit, class_named};

/// Labels of audited findings.
pub(super) struct OfAudits;

impl Kind for OfAudits {
    type New = NewAuditLabel;
    type Kept = AuditLabel;
    type Shown = ShownAudit;
    const ABOUT: &'static str = "audited finding";
    const OF: &'static str = " of an audited finding";
    const LABELS: &'static Table = &tables::AUDIT_LABELS;
    const TEXTS: &'static Table = &tables::AUDIT_TEXTS;

    fn said(new: &NewAuditLabel) -> Said<'_> {
        Said {
            key: new.shown.key().to_string(),
            case: &new.shown.case,
            annotator: &new.annotator,
            decision: new.classification.as_str(),
            note: new.note.as_deref(),
            picked_with_probability: None,
            source: new.source,
        }
    }

    fn seen(new: &NewAuditLabel) -> Vec<Value> {
        vec![new.shown.text().into()]
    }

    fn own(_: &NewAuditLabel) -> Vec<Value> {
        Vec::new()
    }

    fn own_of_withdrawal(_: &AuditLabel) -> Vec<Value> {
        Vec::new()
    }

    fn fault(_: &NewAuditLabel) -> Option<&'static str> {
        None
    }

    fn kept(entry: Entry, decision: &str, _: &Row) -> Result<Result<AuditLabel, String>, StoreError> {
        let Some(finding) = AuditKey::parse(&entry.key) else { return Ok(Err(format!("key `{}`", entry.key))) };
        let Some(classification) = class_named(decision) else {
            return Ok(Err(format!("class `{decision}`, which is none")));
        };
        Ok(Ok(AuditLabel {
            sequence: entry.sequence,
            finding,
            case: entry.case,
            annotator: entry.annotator,
            classification,
            note: entry.note,
            made_ms: entry.made_ms,
            source: entry.source,
            counts: false,
            withdrawn_ms: None,
        }))
    }

    fn shown(key: &str, row: &Row) -> Result<Option<serde_json::Result<ShownAudit>>, StoreError> {
        let text = row.text(1)?;
        Ok((AuditKey::of(&text).as_str() == key).then(|| serde_json::from_str(&text)))
    }

    fn misnamed(kept: &AuditLabel, shown: &ShownAudit) -> Option<&'static str> {
        (shown.case != kept.case).then_some("case")
    }

    fn agree(kept: &AuditLabel, new: &NewAuditLabel) -> bool {
        kept.classification == new.classification
    }

    fn word(kept: &AuditLabel) -> &'static str {
        kept.classification.as_str()
    }

    fn set_state(kept: &mut AuditLabel, counts: bool, withdrawn_ms: Option<i64>) {
        (kept.counts, kept.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

impl Store {
    /// Keeps labels of audited findings, all or none of them; on return they are durable. What an annotator has said before is
    /// counted; saying something else is refused, unless it is a correction.
    pub fn take_audit_labels(&mut self, audits: &[NewAuditLabel], again: Again) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = TakenLabels::default();
            label_log::take::<OfAudits>(database, audits, again, &mut taken)?;
            Ok(taken)
        })
    }

    /// The labels of audited findings that count, in the order in which they came in.
    pub fn audit_labels(&mut self) -> Result<Vec<AuditLabel>, StoreError> {
        let mut labels = self.audit_label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Everything anybody ever called an audited finding, in the order in which it came in.
    pub fn audit_label_history(&mut self) -> Result<Vec<AuditLabel>, StoreError> {
        label_log::history::<OfAudits>(&mut self.database)
    }

    /// The audited findings that anybody has labelled and whose key begins like this.
    pub fn labelled_audits(&mut self, beginning: &str) -> Result<Vec<ShownAudit>, StoreError> {
        label_log::seen_like::<OfAudits>(&mut self.database, beginning)
    }
}
