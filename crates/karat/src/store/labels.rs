//! What people said of pairs: rows that are added, and never changed or removed.

use super::Store;
use super::database::{Database, Row, Value};
use super::error::StoreError;
use super::moment::{now_ms, shown};
use crate::judge::labels::{Annotator, Answer, Label, NewLabel, Pair, PairKey, Source};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// What becomes of a label where the annotator has said something of the pair before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Again {
    /// It is refused.
    Refuse,
    /// It is added as a correction, and counts from now on.
    Correct,
}

/// What came of taking many labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TakenLabels {
    /// How many are new.
    pub added: usize,
    /// How many correct what the annotator said before.
    pub corrected: usize,
    /// How many the annotator had said before; nothing was changed.
    pub were_here: usize,
}

const LABELS: &str = "SELECT sequence, pair, case_id, golden, annotator, decision, partial, confidence, note, \
     picked_with_probability, made_ms, source, revision FROM labels ORDER BY sequence";

const LAST: &str = "SELECT decision, partial, made_ms, revision FROM labels WHERE pair = $1 AND annotator = $2 \
     ORDER BY revision DESC LIMIT 1";

const ADD: &str = "INSERT INTO labels (sequence, pair, case_id, golden, annotator, decision, partial, confidence, note, \
     picked_with_probability, made_ms, source, revision) SELECT COALESCE(MAX(sequence), 0) + 1, \
     $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 FROM labels";

impl Store {
    /// Keeps a label; on return it is durable. Whoever has said anything of the pair before is refused, unless it is a
    /// correction.
    pub fn add_label(&mut self, label: &NewLabel, again: Again) -> Result<(), StoreError> {
        self.database.write(|database| {
            let before = last(database, label)?;
            match before {
                Some(before) if again == Again::Refuse => Err(before.refusal(label)),
                before => insert(database, label, before.map_or(0, |before| before.revision) + 1),
            }
        })
    }

    /// Keeps labels, all or none of them; on return they are durable. What an annotator has said before is counted; saying
    /// something else is refused, unless it is a correction.
    pub fn take_labels(&mut self, labels: &[NewLabel], again: Again) -> Result<TakenLabels, StoreError> {
        self.database.write(|database| take(database, labels, again))
    }

    /// The labels that count, in the order in which they came in.
    pub fn labels(&mut self) -> Result<Vec<Label>, StoreError> {
        let mut labels = self.label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// Everything anybody ever said of a pair, in the order in which it came in.
    pub fn label_history(&mut self) -> Result<Vec<Label>, StoreError> {
        let rows = self.database.query(LABELS, Vec::new())?;
        let mut labels = rows.iter().map(|row| label(&self.database, row)).collect::<Result<Vec<_>, _>>()?;
        let mut latest: HashMap<(PairKey, Annotator), usize> = HashMap::new();
        for index in 0..labels.len() {
            labels[index].counts = true;
            let about = (labels[index].pair.clone(), labels[index].annotator.clone());
            if let Some(before) = latest.insert(about, index) {
                labels[before].counts = false;
            }
        }
        Ok(labels)
    }

    /// Everybody who has labelled, with the number of pairs they have labelled.
    pub fn annotators(&mut self) -> Result<BTreeMap<Annotator, usize>, StoreError> {
        let mut pairs = BTreeMap::new();
        for label in self.labels()? {
            *pairs.entry(label.annotator).or_default() += 1;
        }
        Ok(pairs)
    }

    /// The pairs that anybody has labelled and whose key begins like this.
    pub fn labelled_pairs(&mut self, beginning: &str) -> Result<Vec<Pair>, StoreError> {
        // Keys are lowercase hex, so `g` comes after everything that begins so.
        let values = vec![beginning.into(), format!("{beginning}g").into()];
        let sql = "SELECT key, known, reported FROM label_pairs WHERE key >= $1 AND key < $2 ORDER BY key";
        let rows = self.database.query(sql, values)?;
        rows.iter().map(|row| pair(&self.database, row)).collect()
    }

    /// Every labelled pair and every label read; what is wrong with them comes as damage.
    pub(super) fn check_labels(&mut self, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
        let sql = "SELECT key, known, reported FROM label_pairs ORDER BY key";
        let mut shown: HashMap<String, Pair> = HashMap::new();
        for row in self.database.query(sql, Vec::new())? {
            match pair(&self.database, &row) {
                Ok(pair) => drop(shown.insert(row.text(0)?, pair)),
                Err(error) => found(error),
            }
        }
        let mut revisions: HashMap<(PairKey, Annotator), i64> = HashMap::new();
        for row in self.database.query(LABELS, Vec::new())? {
            let label = match label(&self.database, &row) {
                Ok(label) => label,
                Err(error) => {
                    found(error);
                    continue;
                }
            };
            let number = label.sequence;
            let elsewhere = |pair: &Pair| pair.known.case != label.case || pair.known.golden != label.golden;
            if shown.get(label.pair.as_str()).is_some_and(elsewhere) {
                found(damaged(&self.database, format!("label {number} names another golden than was seen")));
            }
            let before = revisions.entry((label.pair, label.annotator)).or_default();
            *before += 1;
            if *before != row.int(12)? {
                found(damaged(&self.database, format!("what was said before label {number} is missing")));
            }
        }
        Ok(())
    }
}

/// Keeps labels within what is being written.
pub(super) fn take(database: &mut Database, labels: &[NewLabel], again: Again) -> Result<TakenLabels, StoreError> {
    let mut taken = TakenLabels::default();
    for label in labels {
        match last(database, label)? {
            None => {
                insert(database, label, 1)?;
                taken.added += 1;
            }
            Some(before) if before.answer.agrees(label.answer) => taken.were_here += 1,
            Some(before) if again == Again::Refuse => return Err(before.refusal(label)),
            Some(before) => {
                insert(database, label, before.revision + 1)?;
                taken.corrected += 1;
            }
        }
    }
    Ok(taken)
}

/// What an annotator said last.
struct Last {
    answer: Answer,
    made_ms: i64,
    revision: i64,
}

impl Last {
    fn refusal(&self, label: &NewLabel) -> StoreError {
        StoreError::Labelled {
            annotator: label.annotator.to_string(),
            pair: label.pair.key().short().to_owned(),
            said: self.answer.word(),
            when: shown(self.made_ms),
        }
    }
}

fn last(database: &mut Database, label: &NewLabel) -> Result<Option<Last>, StoreError> {
    let values = vec![label.pair.key().as_str().into(), label.annotator.as_str().into()];
    let Some(row) = database.query_one(LAST, values)? else { return Ok(None) };
    let answer = answer(database, &row.text(0)?, row.int_or_null(1)?)?;
    Ok(Some(Last { answer, made_ms: row.int(2)?, revision: row.int(3)? }))
}

fn insert(database: &mut Database, label: &NewLabel, revision: i64) -> Result<(), StoreError> {
    let (known, reported) = (label.pair.known.text(), label.pair.reported.text());
    let key = PairKey::of(&known, &reported);
    for share in [label.confidence, label.picked_with_probability].into_iter().flatten() {
        if !(0.0..=1.0).contains(&share) {
            let reason = "confidence and probability are numbers from 0 to 1";
            return Err(StoreError::BadLabel { about: key.short().to_owned(), reason });
        }
    }
    let sql = "INSERT INTO label_pairs (key, known, reported) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING";
    database.execute(sql, vec![key.as_str().into(), known.into(), reported.into()])?;
    let partial: Option<i64> = label.answer.partial.map(i64::from);
    let values: Vec<Value> = vec![
        key.as_str().into(),
        label.pair.known.case.as_str().into(),
        label.pair.known.golden.as_str().into(),
        label.annotator.as_str().into(),
        if label.answer.matched { "yes" } else { "no" }.into(),
        partial.into(),
        label.confidence.into(),
        label.note.clone().into(),
        label.picked_with_probability.into(),
        now_ms().into(),
        label.source.as_str().into(),
        revision.into(),
    ];
    database.execute(ADD, values).map(|_| ())
}

/// A label from its row; whether it counts depends on those that follow.
fn label(database: &Database, row: &Row) -> Result<Label, StoreError> {
    let sequence = row.int(0)?;
    let wrong = |what: &str, value: &str| damaged(database, format!("label {sequence} has the {what} `{value}`"));
    let (key, name, source) = (row.text(1)?, row.text(4)?, row.text(11)?);
    let share = |column: usize, what: &str| match row.real_or_null(column)? {
        Some(share) if !(0.0..=1.0).contains(&share) => Err(wrong(what, &share.to_string())),
        share => Ok(share),
    };
    Ok(Label {
        sequence,
        pair: PairKey::parse(&key).ok_or_else(|| wrong("pair", &key))?,
        case: row.text(2)?.as_str().into(),
        golden: row.text(3)?.as_str().into(),
        annotator: Annotator::new(&name).map_err(|_| wrong("annotator", &name))?,
        answer: answer(database, &row.text(5)?, row.int_or_null(6)?)?,
        confidence: share(7, "confidence")?,
        note: row.text_or_null(8)?,
        picked_with_probability: share(9, "probability")?,
        made_ms: row.int(10)?,
        source: Source::parse(&source).ok_or_else(|| wrong("source", &source))?,
        counts: false,
    })
}

fn answer(database: &Database, decision: &str, partial: Option<i64>) -> Result<Answer, StoreError> {
    let matched = match decision {
        "yes" => true,
        "no" => false,
        other => return Err(damaged(database, format!("a label says `{other}`, which is neither yes nor no"))),
    };
    Ok(Answer { matched, partial: partial.map(|partial| partial != 0) })
}

/// A pair from its row; one that does not fit its key is damage.
fn pair(database: &Database, row: &Row) -> Result<Pair, StoreError> {
    let (key, known, reported) = (row.text(0)?, row.text(1)?, row.text(2)?);
    if PairKey::of(&known, &reported).as_str() != key {
        return Err(damaged(database, format!("what was seen of the pair {key} is not what it was")));
    }
    let unread = |error: serde_json::Error| damaged(database, format!("the pair {key} cannot be read ({error})"));
    let known = serde_json::from_str(&known).map_err(unread)?;
    Ok(Pair { known, reported: serde_json::from_str(&reported).map_err(unread)? })
}

fn damaged(database: &Database, detail: String) -> StoreError {
    StoreError::Damaged { file: database.file().to_owned(), detail }
}
