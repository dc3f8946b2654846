//! What people said of pairs, and all that is done with labels of every kind at once.

use super::Store;
use super::audit_labels::OfAudits;
use super::database::{Row, Value};
use super::error::StoreError;
use super::extra_labels::OfExtras;
use super::label_log::{self, Again, Entry, Kind, LastSaid, Said, TakenLabels, is_yes};
use super::tables::{self, Table};
use crate::judge::labels::{Annotator, Answer, Label, LabelKind, Labels, NewLabel, NewLabels, Pair, PairKey};
use serde::Serialize;
use std::collections::BTreeMap;

/// Labels of pairs.
pub(super) struct OfPairs;

impl Kind for OfPairs {
    type New = NewLabel;
    type Kept = Label;
    type Shown = Pair;
    const ABOUT: &'static str = "pair";
    const OF: &'static str = "";
    const LABELS: &'static Table = &tables::LABELS;
    const TEXTS: &'static Table = &tables::LABEL_PAIRS;

    fn said(new: &NewLabel) -> Said<'_> {
        Said {
            key: new.pair.key().to_string(),
            case: &new.pair.known.case,
            annotator: &new.annotator,
            decision: if new.answer.matched { "yes" } else { "no" },
            note: new.note.as_deref(),
            picked_with_probability: new.picked_with_probability,
            source: new.source,
        }
    }

    fn seen(new: &NewLabel) -> Vec<Value> {
        vec![new.pair.known.text().into(), new.pair.reported.text().into()]
    }

    fn own(new: &NewLabel) -> Vec<Value> {
        let partial: Option<i64> = new.answer.partial.map(i64::from);
        vec![new.pair.known.golden.as_str().into(), partial.into(), new.confidence.into()]
    }

    fn own_of_withdrawal(kept: &Label) -> Vec<Value> {
        vec![kept.golden.as_str().into(), Value::Null, Value::Null]
    }

    fn fault(new: &NewLabel) -> Option<&'static str> {
        let shares = [new.confidence, new.picked_with_probability];
        let outside = shares.into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share));
        outside.then_some("confidence and probability are numbers from 0 to 1")
    }

    fn kept(entry: Entry, decision: &str, row: &Row) -> Result<Result<Label, String>, StoreError> {
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

    fn shown(key: &str, row: &Row) -> Result<Option<serde_json::Result<Pair>>, StoreError> {
        let (known, reported) = (row.text(1)?, row.text(2)?);
        let read = || Ok(Pair { known: serde_json::from_str(&known)?, reported: serde_json::from_str(&reported)? });
        Ok((PairKey::of(&known, &reported).as_str() == key).then(read))
    }

    fn misnamed(kept: &Label, shown: &Pair) -> Option<&'static str> {
        (shown.known.case != kept.case || shown.known.golden != kept.golden).then_some("golden")
    }

    fn agree(kept: &Label, new: &NewLabel) -> bool {
        kept.answer.agrees(new.answer)
    }

    fn word(kept: &Label) -> &'static str {
        kept.answer.word()
    }

    fn set_state(kept: &mut Label, counts: bool, withdrawn_ms: Option<i64>) {
        (kept.counts, kept.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

/// What somebody took back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// What it was about.
    pub kind: LabelKind,
    /// The keys of everything that was said at once.
    pub keys: Vec<String>,
    /// What they had said, in words.
    pub said: &'static str,
    /// When they had said it, in milliseconds since 1970.
    pub made_ms: i64,
}

impl Store {
    /// Keeps a label; on return it is durable. Whoever has said anything of the pair before is refused, unless it is a
    /// correction.
    pub fn add_label(&mut self, label: &NewLabel, again: Again) -> Result<(), StoreError> {
        self.database.write(|database| label_log::add::<OfPairs>(database, label, again))
    }

    /// Keeps labels of pairs, all or none of them.
    pub fn take_labels(&mut self, labels: &[NewLabel], again: Again) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = TakenLabels::default();
            label_log::take::<OfPairs>(database, labels, again, &mut taken)?;
            Ok(taken)
        })
    }

    /// Keeps labels of all kinds, all or none of them; on return they are durable. What an annotator has said before is
    /// counted; saying something else is refused, unless it is a correction.
    pub fn take_all_labels(&mut self, labels: &NewLabels, again: Again) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = TakenLabels::default();
            label_log::take::<OfPairs>(database, &labels.pairs, again, &mut taken)?;
            label_log::take::<OfExtras>(database, &labels.extras, again, &mut taken)?;
            label_log::take::<OfAudits>(database, &labels.audits, again, &mut taken)?;
            Ok(taken)
        })
    }

    /// Takes back what an annotator said last, of this kind or of any, of what has a key that is wanted; nothing where they have
    /// said nothing that still counts. What they said stays in the history, and they may be asked again.
    pub fn undo_label(
        &mut self,
        annotator: &Annotator,
        kind: Option<LabelKind>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Undone>, StoreError> {
        self.database.write(|database| {
            let mut last: Option<(LabelKind, LastSaid)> = None;
            for own in LabelKind::ALL.into_iter().filter(|own| kind.is_none_or(|kind| kind == *own)) {
                let said = match own {
                    LabelKind::Pair => label_log::last_said::<OfPairs>(database, annotator, wanted)?,
                    LabelKind::Extra => label_log::last_said::<OfExtras>(database, annotator, wanted)?,
                    LabelKind::Audit => label_log::last_said::<OfAudits>(database, annotator, wanted)?,
                };
                let later = |said: &LastSaid| last.as_ref().is_none_or(|(_, last)| said.made_ms > last.made_ms);
                last = said.filter(later).map(|said| (own, said)).or(last);
            }
            let Some((kind, LastSaid { keys, word, made_ms })) = last else { return Ok(None) };
            match kind {
                LabelKind::Pair => label_log::withdraw::<OfPairs>(database, &keys, annotator)?,
                LabelKind::Extra => label_log::withdraw::<OfExtras>(database, &keys, annotator)?,
                LabelKind::Audit => label_log::withdraw::<OfAudits>(database, &keys, annotator)?,
            }
            Ok(Some(Undone { kind, keys, said: word, made_ms }))
        })
    }

    /// All labels that count, of every kind, as they are at one moment.
    pub fn all_labels(&mut self) -> Result<Labels, StoreError> {
        self.at_one_moment(|store| {
            Ok(Labels { pairs: store.labels()?, extras: store.extra_labels()?, audits: store.audit_labels()? })
        })
    }

    /// When anybody last said something or took it back, in milliseconds since 1970.
    pub fn labels_changed_ms(&mut self) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT MAX(made_ms) FROM (SELECT made_ms FROM labels UNION ALL SELECT made_ms FROM extra_labels \
                   UNION ALL SELECT made_ms FROM audit_labels) AS all_labels";
        let row = self.database.query_one(sql, Vec::new())?;
        Ok(row.map(|row| row.int_or_null(0)).transpose()?.flatten())
    }

    /// The labels of pairs that count, in the order in which they came in.
    pub fn labels(&mut self) -> Result<Vec<Label>, StoreError> {
        let mut labels = self.label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Everything anybody ever said of a pair, in the order in which it came in.
    pub fn label_history(&mut self) -> Result<Vec<Label>, StoreError> {
        label_log::history::<OfPairs>(&mut self.database)
    }

    /// Everybody who has labelled, with the number of things they have labelled.
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

    /// The pairs that anybody has labelled and whose key begins like this.
    pub fn labelled_pairs(&mut self, beginning: &str) -> Result<Vec<Pair>, StoreError> {
        label_log::seen_like::<OfPairs>(&mut self.database, beginning)
    }

    /// Everything that was labelled and every label read; what is wrong with them comes as damage.
    pub(super) fn check_labels(&mut self, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
        label_log::check::<OfPairs>(&mut self.database, found)?;
        label_log::check::<OfExtras>(&mut self.database, found)?;
        label_log::check::<OfAudits>(&mut self.database, found)
    }
}
