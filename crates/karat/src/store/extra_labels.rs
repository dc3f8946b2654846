//! What people said of extras: rows that are added, and never changed or removed.

use super::Store;
use super::database::{Database, Row, Value};
use super::error::StoreError;
use super::labels::{self, Again, TakenLabels};
use super::moment::{now_ms, shown};
use crate::judge::labels::{Annotator, ExtraKey, ExtraLabel, NewExtraLabel, NewLabel, ShownExtra, Source, said};
use std::collections::HashMap;

const LABELS: &str = "SELECT sequence, extra, case_id, annotator, decision, note, picked_with_probability, made_ms, source, \
     revision FROM extra_labels ORDER BY sequence";

const LAST: &str = "SELECT decision, made_ms, revision FROM extra_labels WHERE extra = $1 AND annotator = $2 \
     ORDER BY revision DESC LIMIT 1";

const ADD: &str = "INSERT INTO extra_labels (sequence, extra, case_id, annotator, decision, note, picked_with_probability, \
     made_ms, source, revision) SELECT COALESCE(MAX(sequence), 0) + 1, $1, $2, $3, $4, $5, $6, $7, $8, $9 FROM extra_labels";

impl Store {
    /// Keeps labels of extras, all or none of them; on return they are durable. What an annotator has said before is counted;
    /// saying something else is refused, unless it is a correction.
    pub fn take_extra_labels(&mut self, extras: &[NewExtraLabel], again: Again) -> Result<TakenLabels, StoreError> {
        self.take_all_labels(&[], extras, again)
    }

    /// Keeps labels of pairs and of extras, all or none of them.
    pub fn take_all_labels(
        &mut self,
        pairs: &[NewLabel],
        extras: &[NewExtraLabel],
        again: Again,
    ) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| {
            let mut taken = labels::take(database, pairs, again)?;
            for label in extras {
                match last(database, label)? {
                    None => {
                        insert(database, label, 1)?;
                        taken.added += 1;
                    }
                    Some(before) if before.valid == label.valid => taken.were_here += 1,
                    Some(before) if again == Again::Refuse => return Err(before.refusal(label)),
                    Some(before) => {
                        insert(database, label, before.revision + 1)?;
                        taken.corrected += 1;
                    }
                }
            }
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
        let rows = self.database.query(LABELS, Vec::new())?;
        let mut labels = rows.iter().map(|row| label(&self.database, row)).collect::<Result<Vec<_>, _>>()?;
        let mut latest: HashMap<(ExtraKey, Annotator), usize> = HashMap::new();
        for index in 0..labels.len() {
            labels[index].counts = true;
            let about = (labels[index].extra.clone(), labels[index].annotator.clone());
            if let Some(before) = latest.insert(about, index) {
                labels[before].counts = false;
            }
        }
        Ok(labels)
    }

    /// The extras that anybody has labelled and whose key begins like this.
    pub fn labelled_extras(&mut self, beginning: &str) -> Result<Vec<ShownExtra>, StoreError> {
        // Keys are lowercase hex, so `g` comes after everything that begins so.
        let values = vec![beginning.into(), format!("{beginning}g").into()];
        let sql = "SELECT key, shown FROM extra_texts WHERE key >= $1 AND key < $2 ORDER BY key";
        let rows = self.database.query(sql, values)?;
        rows.iter().map(|row| extra(&self.database, row)).collect()
    }

    /// Every labelled extra and every label of one read; what is wrong with them comes as damage.
    pub(super) fn check_extra_labels(&mut self, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
        let mut cases: HashMap<String, ShownExtra> = HashMap::new();
        for row in self.database.query("SELECT key, shown FROM extra_texts ORDER BY key", Vec::new())? {
            match extra(&self.database, &row) {
                Ok(extra) => drop(cases.insert(row.text(0)?, extra)),
                Err(error) => found(error),
            }
        }
        let mut revisions: HashMap<(ExtraKey, Annotator), i64> = HashMap::new();
        for row in self.database.query(LABELS, Vec::new())? {
            let label = match label(&self.database, &row) {
                Ok(label) => label,
                Err(error) => {
                    found(error);
                    continue;
                }
            };
            let number = label.sequence;
            if cases.get(label.extra.as_str()).is_some_and(|shown| shown.case != label.case) {
                found(damaged(&self.database, format!("label {number} of an extra names another case than was seen")));
            }
            let before = revisions.entry((label.extra, label.annotator)).or_default();
            *before += 1;
            if *before != row.int(9)? {
                found(damaged(&self.database, format!("what was said before label {number} of an extra is missing")));
            }
        }
        Ok(())
    }
}

/// What an annotator said last.
struct Last {
    valid: bool,
    made_ms: i64,
    revision: i64,
}

impl Last {
    fn refusal(&self, label: &NewExtraLabel) -> StoreError {
        StoreError::LabelledExtra {
            annotator: label.annotator.to_string(),
            extra: label.shown.key().short().to_owned(),
            said: said(self.valid),
            when: shown(self.made_ms),
        }
    }
}

fn last(database: &mut Database, label: &NewExtraLabel) -> Result<Option<Last>, StoreError> {
    let values = vec![label.shown.key().as_str().into(), label.annotator.as_str().into()];
    let Some(row) = database.query_one(LAST, values)? else { return Ok(None) };
    let valid = answer(database, &row.text(0)?)?;
    Ok(Some(Last { valid, made_ms: row.int(1)?, revision: row.int(2)? }))
}

fn insert(database: &mut Database, label: &NewExtraLabel, revision: i64) -> Result<(), StoreError> {
    let text = label.shown.text();
    let key = ExtraKey::of(&text);
    if label.picked_with_probability.is_some_and(|share| !(0.0..=1.0).contains(&share)) {
        let reason = "a probability is a number from 0 to 1";
        return Err(StoreError::BadLabel { about: key.short().to_owned(), reason });
    }
    let sql = "INSERT INTO extra_texts (key, shown) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
    database.execute(sql, vec![key.as_str().into(), text.into()])?;
    let values: Vec<Value> = vec![
        key.as_str().into(),
        label.shown.case.as_str().into(),
        label.annotator.as_str().into(),
        said(label.valid).into(),
        label.note.clone().into(),
        label.picked_with_probability.into(),
        now_ms().into(),
        label.source.as_str().into(),
        revision.into(),
    ];
    database.execute(ADD, values).map(|_| ())
}

/// A label from its row; whether it counts depends on those that follow.
fn label(database: &Database, row: &Row) -> Result<ExtraLabel, StoreError> {
    let sequence = row.int(0)?;
    let wrong =
        |what: &str, value: &str| damaged(database, format!("label {sequence} of an extra has the {what} `{value}`"));
    let (key, name, source) = (row.text(1)?, row.text(3)?, row.text(8)?);
    let probability = row.real_or_null(6)?;
    if let Some(share) = probability.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(wrong("probability", &share.to_string()));
    }
    Ok(ExtraLabel {
        sequence,
        extra: ExtraKey::parse(&key).ok_or_else(|| wrong("key", &key))?,
        case: row.text(2)?.as_str().into(),
        annotator: Annotator::new(&name).map_err(|_| wrong("annotator", &name))?,
        valid: answer(database, &row.text(4)?)?,
        note: row.text_or_null(5)?,
        picked_with_probability: probability,
        made_ms: row.int(7)?,
        source: Source::parse(&source).ok_or_else(|| wrong("source", &source))?,
        counts: false,
    })
}

fn answer(database: &Database, decision: &str) -> Result<bool, StoreError> {
    match decision {
        "yes" => Ok(true),
        "no" => Ok(false),
        other => Err(damaged(database, format!("a label of an extra says `{other}`, which is neither yes nor no"))),
    }
}

/// An extra from its row; one that does not fit its key is damage.
fn extra(database: &Database, row: &Row) -> Result<ShownExtra, StoreError> {
    let (key, text) = (row.text(0)?, row.text(1)?);
    if ExtraKey::of(&text).as_str() != key {
        return Err(damaged(database, format!("what was seen of the extra {key} is not what it was")));
    }
    let unread = |error: serde_json::Error| damaged(database, format!("the extra {key} cannot be read ({error})"));
    serde_json::from_str(&text).map_err(unread)
}

fn damaged(database: &Database, detail: String) -> StoreError {
    StoreError::Damaged { file: database.file().to_owned(), detail }
}
