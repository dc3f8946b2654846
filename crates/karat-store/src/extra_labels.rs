//! Labels of extras: findings that match no golden.

use super::Store;
use super::database::{Row, Value};
use super::error::StoreError;
use super::label_log::{self, AddedLabels, LabelColumns, LabelRow, LabelTable, OnExisting, is_yes};
use super::tables::{self, Table};
use crate::label::{ExtraKey, ExtraLabel, ExtraSubject, NewExtraLabel, validity_word};

pub(super) struct ExtraLabelTable;

impl LabelTable for ExtraLabelTable {
    type New = NewExtraLabel;
    type Stored = ExtraLabel;
    type Subject = ExtraSubject;
    const NOUN: &'static str = "extra";
    const SUFFIX: &'static str = " of an extra";
    const LABELS: &'static Table = &tables::EXTRA_LABELS;
    const SUBJECTS: &'static Table = &tables::EXTRA_TEXTS;

    fn columns(new: &NewExtraLabel) -> LabelColumns<'_> {
        LabelColumns {
            key: new.shown.key().to_string(),
            case: &new.shown.case,
            annotator: &new.annotator,
            decision: validity_word(new.valid),
            note: new.note.as_deref(),
            picked_with_probability: new.picked_with_probability,
            source: new.source,
        }
    }

    fn subject_columns(new: &NewExtraLabel) -> Vec<Value> {
        vec![new.shown.text().into()]
    }

    fn own_columns(_: &NewExtraLabel) -> Vec<Value> {
        Vec::new()
    }

    fn withdrawal_columns(_: &ExtraLabel) -> Vec<Value> {
        Vec::new()
    }

    fn invalid_reason(new: &NewExtraLabel) -> Option<&'static str> {
        let outside = new.picked_with_probability.is_some_and(|share| !(0.0..=1.0).contains(&share));
        outside.then_some("a probability is a number from 0 to 1")
    }

    fn from_row(entry: LabelRow, decision: &str, _: &Row) -> Result<Result<ExtraLabel, String>, StoreError> {
        let Some(extra) = ExtraKey::parse(&entry.key) else { return Ok(Err(format!("key `{}`", entry.key))) };
        let Some(valid) = is_yes(decision) else {
            return Ok(Err(format!("answer `{decision}`, which is neither yes nor no")));
        };
        Ok(Ok(ExtraLabel {
            sequence: entry.sequence,
            extra,
            case: entry.case,
            annotator: entry.annotator,
            valid,
            note: entry.note,
            picked_with_probability: entry.picked_with_probability,
            made_ms: entry.made_ms,
            source: entry.source,
            counts: false,
            withdrawn_ms: None,
        }))
    }

    fn subject_from_row(key: &str, row: &Row) -> Result<Option<serde_json::Result<ExtraSubject>>, StoreError> {
        let text = row.text(1)?;
        Ok((ExtraKey::from_text(&text).as_str() == key).then(|| serde_json::from_str(&text)))
    }

    fn mismatch(stored: &ExtraLabel, shown: &ExtraSubject) -> Option<&'static str> {
        (shown.case != stored.case).then_some("case")
    }

    fn same_answer(stored: &ExtraLabel, new: &NewExtraLabel) -> bool {
        stored.valid == new.valid
    }

    fn answer_word(stored: &ExtraLabel) -> &'static str {
        stored.word()
    }

    fn set_state(stored: &mut ExtraLabel, counts: bool, withdrawn_ms: Option<i64>) {
        (stored.counts, stored.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

impl Store {
    /// Adds labels of extras atomically; durable on return. Identical labels are counted as already present; different ones
    /// are refused or stored as corrections.
    pub fn add_extra_labels(
        &mut self,
        extras: &[NewExtraLabel],
        on_existing: OnExisting,
    ) -> Result<AddedLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = AddedLabels::default();
            label_log::insert_all::<ExtraLabelTable>(database, extras, on_existing, &mut taken)?;
            Ok(taken)
        })
    }

    /// The current labels of extras, oldest first.
    pub fn extra_labels(&mut self) -> Result<Vec<ExtraLabel>, StoreError> {
        let mut labels = self.extra_label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Every label of an extra ever made, oldest first.
    pub fn extra_label_history(&mut self) -> Result<Vec<ExtraLabel>, StoreError> {
        label_log::history::<ExtraLabelTable>(&mut self.database)
    }

    /// The labelled extras whose key starts with a prefix.
    pub fn labelled_extras(&mut self, beginning: &str) -> Result<Vec<ExtraSubject>, StoreError> {
        label_log::subjects_with_prefix::<ExtraLabelTable>(&mut self.database, beginning)
    }
}
