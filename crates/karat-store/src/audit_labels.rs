//! Labels that classify findings of audited cases.

use super::Store;
use super::database::{Row, Value};
use super::error::StoreError;
use super::label_log::{self, AddedLabels, LabelColumns, LabelRow, LabelTable, OnExisting};
use super::tables::{self, Table};
use crate::label::{AuditKey, AuditLabel, AuditSubject, NewAuditLabel, class_named};

pub(super) struct AuditLabelTable;

impl LabelTable for AuditLabelTable {
    type New = NewAuditLabel;
    type Stored = AuditLabel;
    type Subject = AuditSubject;
    const NOUN: &'static str = "audited finding";
    const SUFFIX: &'static str = " of an audited finding";
    const LABELS: &'static Table = &tables::AUDIT_LABELS;
    const SUBJECTS: &'static Table = &tables::AUDIT_TEXTS;

    fn columns(new: &NewAuditLabel) -> LabelColumns<'_> {
        LabelColumns {
            key: new.shown.key().to_string(),
            case: &new.shown.case,
            annotator: &new.annotator,
            decision: new.classification.as_str(),
            note: new.note.as_deref(),
            picked_with_probability: None,
            source: new.source,
        }
    }

    fn subject_columns(new: &NewAuditLabel) -> Vec<Value> {
        vec![new.shown.text().into()]
    }

    fn own_columns(_: &NewAuditLabel) -> Vec<Value> {
        Vec::new()
    }

    fn withdrawal_columns(_: &AuditLabel) -> Vec<Value> {
        Vec::new()
    }

    fn invalid_reason(_: &NewAuditLabel) -> Option<&'static str> {
        None
    }

    fn from_row(entry: LabelRow, decision: &str, _: &Row) -> Result<Result<AuditLabel, String>, StoreError> {
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

    fn subject_from_row(key: &str, row: &Row) -> Result<Option<serde_json::Result<AuditSubject>>, StoreError> {
        let text = row.text(1)?;
        Ok((AuditKey::from_text(&text).as_str() == key).then(|| serde_json::from_str(&text)))
    }

    fn mismatch(stored: &AuditLabel, shown: &AuditSubject) -> Option<&'static str> {
        (shown.case != stored.case).then_some("case")
    }

    fn same_answer(stored: &AuditLabel, new: &NewAuditLabel) -> bool {
        stored.classification == new.classification
    }

    fn answer_word(stored: &AuditLabel) -> &'static str {
        stored.classification.as_str()
    }

    fn set_state(stored: &mut AuditLabel, counts: bool, withdrawn_ms: Option<i64>) {
        (stored.counts, stored.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

impl Store {
    /// Adds labels of audited findings atomically; durable on return. Identical labels are counted as already present;
    /// different ones are refused or stored as corrections.
    pub fn add_audit_labels(
        &mut self,
        audits: &[NewAuditLabel],
        on_existing: OnExisting,
    ) -> Result<AddedLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = AddedLabels::default();
            label_log::insert_all::<AuditLabelTable>(database, audits, on_existing, &mut taken)?;
            Ok(taken)
        })
    }

    /// The current labels of audited findings, oldest first.
    pub fn audit_labels(&mut self) -> Result<Vec<AuditLabel>, StoreError> {
        let mut labels = self.audit_label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Every label of an audited finding ever made, oldest first.
    pub fn audit_label_history(&mut self) -> Result<Vec<AuditLabel>, StoreError> {
        label_log::history::<AuditLabelTable>(&mut self.database)
    }

    /// The labelled audited findings whose key starts with a prefix.
    pub fn labelled_audits(&mut self, beginning: &str) -> Result<Vec<AuditSubject>, StoreError> {
        label_log::subjects_with_prefix::<AuditLabelTable>(&mut self.database, beginning)
    }
}
