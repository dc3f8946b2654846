//! Labels of pairs, and operations on labels of all kinds.

use super::Store;
use super::audit_labels::AuditLabelTable;
use super::database::{Row, Value};
use super::error::StoreError;
use super::extra_labels::ExtraLabelTable;
use super::label_log::{self, AddedLabels, LabelColumns, LabelRow, LabelTable, LatestLabels, OnExisting, is_yes};
use super::tables::{self, Table};
use crate::label::{Annotator, Answer, Label, LabelKind, Labels, NewLabel, NewLabels, PairKey, PairSubject};
use serde::Serialize;
use std::collections::BTreeMap;

pub(super) struct PairLabelTable;

impl LabelTable for PairLabelTable {
    type New = NewLabel;
    type Stored = Label;
    type Subject = PairSubject;
    const NOUN: &'static str = "pair";
    const SUFFIX: &'static str = "";
    const LABELS: &'static Table = &tables::LABELS;
    const SUBJECTS: &'static Table = &tables::LABEL_PAIRS;

    fn columns(new: &NewLabel) -> LabelColumns<'_> {
        LabelColumns {
            key: new.pair.key().to_string(),
            case: &new.pair.known.case,
            annotator: &new.annotator,
            decision: if new.answer.matched { "yes" } else { "no" },
            note: new.note.as_deref(),
            picked_with_probability: new.picked_with_probability,
            source: new.source,
        }
    }

    fn subject_columns(new: &NewLabel) -> Vec<Value> {
        vec![new.pair.known.text().into(), new.pair.reported.text().into()]
    }

    fn own_columns(new: &NewLabel) -> Vec<Value> {
        let partial: Option<i64> = new.answer.partial.map(i64::from);
        vec![new.pair.known.golden.as_str().into(), partial.into(), new.confidence.into()]
    }

    fn withdrawal_columns(stored: &Label) -> Vec<Value> {
        vec![stored.golden.as_str().into(), Value::Null, Value::Null]
    }

    fn invalid_reason(new: &NewLabel) -> Option<&'static str> {
        let shares = [new.confidence, new.picked_with_probability];
        let outside = shares.into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share));
        outside.then_some("confidence and probability are numbers from 0 to 1")
    }

    fn from_row(entry: LabelRow, decision: &str, row: &Row) -> Result<Result<Label, String>, StoreError> {
        let (golden, partial, confidence) = (row.text(10)?, row.int_or_null(11)?, row.real_or_null(12)?);
        let Some(pair) = PairKey::parse(&entry.key) else { return Ok(Err(format!("pair `{}`", entry.key))) };
        let Some(matched) = is_yes(decision) else {
            return Ok(Err(format!("answer `{decision}`, which is neither yes nor no")));
        };
        if let Some(share) = confidence.filter(|share| !(0.0..=1.0).contains(share)) {
            return Ok(Err(format!("confidence `{share}`")));
        }
        Ok(Ok(Label {
            sequence: entry.sequence,
            pair,
            case: entry.case,
            golden: golden.as_str().into(),
            annotator: entry.annotator,
            answer: Answer { matched, partial: partial.map(|partial| partial != 0) },
            confidence,
            note: entry.note,
            picked_with_probability: entry.picked_with_probability,
            made_ms: entry.made_ms,
            source: entry.source,
            counts: false,
            withdrawn_ms: None,
        }))
    }

    fn subject_from_row(key: &str, row: &Row) -> Result<Option<serde_json::Result<PairSubject>>, StoreError> {
        let (known, reported) = (row.text(1)?, row.text(2)?);
        let read =
            || Ok(PairSubject { known: serde_json::from_str(&known)?, reported: serde_json::from_str(&reported)? });
        Ok((PairKey::from_texts(&known, &reported).as_str() == key).then(read))
    }

    fn mismatch(stored: &Label, shown: &PairSubject) -> Option<&'static str> {
        (shown.known.case != stored.case || shown.known.golden != stored.golden).then_some("golden")
    }

    fn same_answer(stored: &Label, new: &NewLabel) -> bool {
        stored.answer.agrees(new.answer)
    }

    fn answer_word(stored: &Label) -> &'static str {
        stored.answer.word()
    }

    fn set_state(stored: &mut Label, counts: bool, withdrawn_ms: Option<i64>) {
        (stored.counts, stored.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

/// Labels that were withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct UndoneLabels {
    pub kind: LabelKind,
    /// The keys of all labels made together.
    pub keys: Vec<String>,
    pub said: &'static str,
    /// Milliseconds since 1970.
    pub made_ms: i64,
}

impl Store {
    /// Adds a label; durable on return.
    pub fn add_label(&mut self, label: &NewLabel, on_existing: OnExisting) -> Result<(), StoreError> {
        self.database.write(|database| label_log::add::<PairLabelTable>(database, label, on_existing))
    }

    /// Adds labels of pairs atomically.
    pub fn add_labels(&mut self, labels: &[NewLabel], on_existing: OnExisting) -> Result<AddedLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = AddedLabels::default();
            label_log::insert_all::<PairLabelTable>(database, labels, on_existing, &mut taken)?;
            Ok(taken)
        })
    }

    /// Adds labels of all kinds atomically; durable on return. Identical labels are counted as already present; different
    /// ones are refused or stored as corrections.
    pub fn add_all_labels(&mut self, labels: &NewLabels, on_existing: OnExisting) -> Result<AddedLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = AddedLabels::default();
            label_log::insert_all::<PairLabelTable>(database, &labels.pairs, on_existing, &mut taken)?;
            label_log::insert_all::<ExtraLabelTable>(database, &labels.extras, on_existing, &mut taken)?;
            label_log::insert_all::<AuditLabelTable>(database, &labels.audits, on_existing, &mut taken)?;
            Ok(taken)
        })
    }

    /// Withdraws an annotator's last label of this kind, or of any, whose key is `wanted`; `None` if there is none. It stays
    /// in the history, and the annotator may be asked again.
    pub fn undo_label(
        &mut self,
        annotator: &Annotator,
        kind: Option<LabelKind>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<UndoneLabels>, StoreError> {
        self.database.write(|database| {
            let mut last: Option<(LabelKind, LatestLabels)> = None;
            for own in LabelKind::ALL.into_iter().filter(|own| kind.is_none_or(|kind| kind == *own)) {
                let said = match own {
                    LabelKind::Pair => label_log::latest_labels::<PairLabelTable>(database, annotator, wanted)?,
                    LabelKind::Extra => label_log::latest_labels::<ExtraLabelTable>(database, annotator, wanted)?,
                    LabelKind::Audit => label_log::latest_labels::<AuditLabelTable>(database, annotator, wanted)?,
                };
                let later = |said: &LatestLabels| last.as_ref().is_none_or(|(_, last)| said.made_ms > last.made_ms);
                last = said.filter(later).map(|said| (own, said)).or(last);
            }
            let Some((kind, LatestLabels { keys, word, made_ms })) = last else { return Ok(None) };
            match kind {
                LabelKind::Pair => label_log::withdraw::<PairLabelTable>(database, &keys, annotator)?,
                LabelKind::Extra => label_log::withdraw::<ExtraLabelTable>(database, &keys, annotator)?,
                LabelKind::Audit => label_log::withdraw::<AuditLabelTable>(database, &keys, annotator)?,
            }
            Ok(Some(UndoneLabels { kind, keys, said: word, made_ms }))
        })
    }

    /// All current labels, from one snapshot.
    pub fn all_labels(&mut self) -> Result<Labels, StoreError> {
        self.in_snapshot(|store| {
            Ok(Labels { pairs: store.labels()?, extras: store.extra_labels()?, audits: store.audit_labels()? })
        })
    }

    /// The time of the last label or withdrawal, in milliseconds since 1970.
    pub fn labels_changed_ms(&mut self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT MAX(made_ms) FROM (SELECT made_ms FROM labels UNION ALL SELECT made_ms FROM extra_labels \
                   UNION ALL SELECT made_ms FROM audit_labels) AS all_labels";
        let row = self.database.query_one(sql, Vec::new())?;
        Ok(row.map(|row| row.int_or_null(0)).transpose()?.flatten())
    }

    /// The current labels of pairs, oldest first.
    pub fn labels(&mut self) -> Result<Vec<Label>, StoreError> {
        let mut labels = self.label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Every label of a pair ever made, oldest first.
    pub fn label_history(&mut self) -> Result<Vec<Label>, StoreError> {
        label_log::history::<PairLabelTable>(&mut self.database)
    }

    /// All annotators, with the number of items they have labelled.
    pub fn annotators(&mut self) -> Result<BTreeMap<Annotator, usize>, StoreError> {
        let pairs = self.labels()?.into_iter().map(|label| label.annotator);
        let extras = self.extra_labels()?.into_iter().map(|label| label.annotator);
        let audits = self.audit_labels()?.into_iter().map(|label| label.annotator);
        let mut counted = BTreeMap::new();
        for annotator in pairs.chain(extras).chain(audits) {
            *counted.entry(annotator).or_default() += 1;
        }
        Ok(counted)
    }

    /// The labelled pairs whose key starts with a prefix.
    pub fn labelled_pairs(&mut self, beginning: &str) -> Result<Vec<PairSubject>, StoreError> {
        label_log::subjects_with_prefix::<PairLabelTable>(&mut self.database, beginning)
    }

    pub(super) fn check_labels(&mut self, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
        label_log::check::<PairLabelTable>(&mut self.database, found)?;
        label_log::check::<ExtraLabelTable>(&mut self.database, found)?;
        label_log::check::<AuditLabelTable>(&mut self.database, found)
    }
}
