//! What people said of extras.

use super::Store;
use super::database::{Row, Value};
use super::error::StoreError;
use super::label_log::{self, Again, Entry, Kind, Said, TakenLabels, is_yes};
use super::tables::{self, Table};
use crate::judge::labels::{ExtraKey, ExtraLabel, NewExtraLabel, ShownExtra, said};

/// Labels of extras.
pub(super) struct OfExtras;

impl Kind for OfExtras {
    type New = NewExtraLabel;
    type Kept = ExtraLabel;
    type Shown = ShownExtra;
    const ABOUT: &'static str = "extra";
    const OF: &'static str = " of an extra";
    const LABELS: &'static Table = &tables::EXTRA_LABELS;
    const TEXTS: &'static Table = &tables::EXTRA_TEXTS;

    fn said(new: &NewExtraLabel) -> Said<'_> {
        Said {
            key: new.shown.key().to_string(),
            case: &new.shown.case,
            annotator: &new.annotator,
            decision: said(new.valid),
            note: new.note.as_deref(),
            picked_with_probability: new.picked_with_probability,
            source: new.source,
        }
    }

    fn seen(new: &NewExtraLabel) -> Vec<Value> {
        vec![new.shown.text().into()]
    }

    fn own(_: &NewExtraLabel) -> Vec<Value> {
        Vec::new()
    }

    fn own_of_withdrawal(_: &ExtraLabel) -> Vec<Value> {
        Vec::new()
    }

    fn fault(new: &NewExtraLabel) -> Option<&'static str> {
        let outside = new.picked_with_probability.is_some_and(|share| !(0.0..=1.0).contains(&share));
        outside.then_some("a probability is a number from 0 to 1")
    }

    fn kept(entry: Entry, decision: &str, _: &Row) -> Result<Result<ExtraLabel, String>, StoreError> {
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

    fn shown(key: &str, row: &Row) -> Result<Option<serde_json::Result<ShownExtra>>, StoreError> {
        let text = row.text(1)?;
        Ok((ExtraKey::of(&text).as_str() == key).then(|| serde_json::from_str(&text)))
    }

    fn misnamed(kept: &ExtraLabel, shown: &ShownExtra) -> Option<&'static str> {
        (shown.case != kept.case).then_some("case")
    }

    fn agree(kept: &ExtraLabel, new: &NewExtraLabel) -> bool {
        kept.valid == new.valid
    }

    fn word(kept: &ExtraLabel) -> &'static str {
        kept.word()
    }

    fn set_state(kept: &mut ExtraLabel, counts: bool, withdrawn_ms: Option<i64>) {
        (kept.counts, kept.withdrawn_ms) = (counts, withdrawn_ms);
    }
}

impl Store {
    /// Keeps labels of extras, all or none of them; on return they are durable. What an annotator has said before is counted;
    /// saying something else is refused, unless it is a correction.
    pub fn take_extra_labels(&mut self, extras: &[NewExtraLabel], again: Again) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = TakenLabels::default();
            label_log::take::<OfExtras>(database, extras, again, &mut taken)?;
            Ok(taken)
        })
    }

    /// The labels of extras that count, in the order in which they came in.
    pub fn extra_labels(&mut self) -> Result<Vec<ExtraLabel>, StoreError> {
        let mut labels = self.extra_label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Everything anybody ever said of an extra, in the order in which it came in.
    pub fn extra_label_history(&mut self) -> Result<Vec<ExtraLabel>, StoreError> {
        label_log::history::<OfExtras>(&mut self.database)
    }

    /// The extras that anybody has labelled and whose key begins like this.
    pub fn labelled_extras(&mut self, beginning: &str) -> Result<Vec<ShownExtra>, StoreError> {
        label_log::seen_like::<OfExtras>(&mut self.database, beginning)
    }
}
