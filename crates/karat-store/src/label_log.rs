//! The append-only log of labels that all kinds share.
//!
//! Each kind has a table of subjects (what was shown) and a table of labels. Corrections and withdrawals are rows with the
//! next revision; an annotator's last row about a subject is the current one. A kind implements [`LabelTable`]; everything
//! else is here.

use super::database::{Database, OnConflict, Row, Value};
use super::error::StoreError;
use super::tables::Table;
use super::timestamp::{format_utc, now_ms};
use crate::label::{Annotator, Source};
use karat_core::ids::CaseId;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// The stored decision of a withdrawal.
const WITHDRAWN: &str = "withdrawn";

/// What to do if the annotator has already labelled the item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnExisting {
    /// Refuse the label.
    Refuse,
    /// Store it as a correction.
    Correct,
}

/// The result of adding labels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct AddedLabels {
    pub added: usize,
    pub corrected: usize,
    /// Identical labels that were already stored.
    pub were_here: usize,
}

pub(super) struct LabelRow {
    pub(super) sequence: i64,
    pub(super) key: String,
    pub(super) case: CaseId,
    pub(super) annotator: Annotator,
    /// `None` for a withdrawal.
    pub(super) decision: Option<String>,
    pub(super) note: Option<String>,
    pub(super) picked_with_probability: Option<f64>,
    pub(super) made_ms: i64,
    pub(super) source: Source,
    pub(super) revision: i64,
}

/// The columns that all kinds of labels share.
pub(super) struct LabelColumns<'n> {
    pub(super) key: String,
    pub(super) case: &'n CaseId,
    pub(super) annotator: &'n Annotator,
    pub(super) decision: &'static str,
    pub(super) note: Option<&'n str>,
    pub(super) picked_with_probability: Option<f64>,
    pub(super) source: Source,
}

pub(super) trait LabelTable {
    type New;
    type Stored;
    type Subject;
    const NOUN: &'static str;
    /// Follows a label's number in messages, such as ` of an extra`.
    const SUFFIX: &'static str;
    /// All label tables start with the same columns; those of the kind come last.
    const LABELS: &'static Table;
    const SUBJECTS: &'static Table;

    fn columns(new: &Self::New) -> LabelColumns<'_>;
    /// The columns of the subject table after the key.
    fn subject_columns(new: &Self::New) -> Vec<Value>;
    fn own_columns(new: &Self::New) -> Vec<Value>;
    fn withdrawal_columns(stored: &Self::Stored) -> Vec<Value>;
    fn invalid_reason(new: &Self::New) -> Option<&'static str>;
    /// Parses a row; the columns of the kind start at 10.
    fn from_row(entry: LabelRow, decision: &str, row: &Row) -> Result<Result<Self::Stored, String>, StoreError>;
    /// Parses a subject; `None` if it does not match its key.
    fn subject_from_row(key: &str, row: &Row) -> Result<Option<serde_json::Result<Self::Subject>>, StoreError>;
    /// Names what a label and its subject disagree on.
    fn mismatch(stored: &Self::Stored, shown: &Self::Subject) -> Option<&'static str>;
    fn same_answer(stored: &Self::Stored, new: &Self::New) -> bool;
    fn answer_word(stored: &Self::Stored) -> &'static str;
    fn set_state(stored: &mut Self::Stored, counts: bool, withdrawn_ms: Option<i64>);
}

/// Adds a label, or refuses it if there is one already.
pub(super) fn add<K: LabelTable>(
    database: &mut Database,
    new: &K::New,
    on_existing: OnExisting,
) -> Result<(), StoreError> {
    let (before, revision) = last::<K>(database, new)?;
    match before {
        Some((entry, stored)) if on_existing == OnExisting::Refuse => Err(refusal::<K>(&entry, &stored)),
        _ => {
            let made_ms = next_timestamp::<K>(database, new)?;
            insert::<K>(database, new, revision + 1, made_ms)
        }
    }
}

/// The current time, but later than the annotator's last label: labels made together share a timestamp that no others have.
fn next_timestamp<K: LabelTable>(database: &mut Database, new: &K::New) -> Result<i64, StoreError> {
    let newest = "WHERE annotator = $1 ORDER BY made_ms DESC LIMIT 1";
    let row = database.select_one(K::LABELS, newest, vec![K::columns(new).annotator.as_str().into()])?;
    let last = row.map(|row| row.int(7)).transpose()?;
    Ok(last.map_or_else(now_ms, |last| now_ms().max(last.saturating_add(1))))
}

pub(super) fn insert_all<K: LabelTable>(
    database: &mut Database,
    labels: &[K::New],
    on_existing: OnExisting,
    added: &mut AddedLabels,
) -> Result<(), StoreError> {
    let Some(first) = labels.first() else { return Ok(()) };
    let made_ms = next_timestamp::<K>(database, first)?;
    for new in labels {
        let (before, revision) = last::<K>(database, new)?;
        match before {
            None => {
                insert::<K>(database, new, revision + 1, made_ms)?;
                added.added += 1;
            }
            Some((_, stored)) if K::same_answer(&stored, new) => added.were_here += 1,
            Some((entry, stored)) if on_existing == OnExisting::Refuse => return Err(refusal::<K>(&entry, &stored)),
            Some(_) => {
                insert::<K>(database, new, revision + 1, made_ms)?;
                added.corrected += 1;
            }
        }
    }
    Ok(())
}

/// All labels ever made, oldest first. Withdrawals are not listed; the withdrawn label has the time.
pub(super) fn history<K: LabelTable>(database: &mut Database) -> Result<Vec<K::Stored>, StoreError> {
    let mut labels: Vec<K::Stored> = Vec::new();
    let mut latest: HashMap<(String, Annotator), usize> = HashMap::new();
    for row in database.select(K::LABELS, "ORDER BY sequence", Vec::new())? {
        let entry = label_row::<K>(database, &row)?;
        let (about, made_ms) = ((entry.key.clone(), entry.annotator.clone()), entry.made_ms);
        let before = match stored_label::<K>(database, entry, &row)? {
            None => latest.remove(&about).map(|before| (before, Some(made_ms))),
            Some(mut label) => {
                K::set_state(&mut label, true, None);
                labels.push(label);
                latest.insert(about, labels.len() - 1).map(|before| (before, None))
            }
        };
        if let Some((before, withdrawn)) = before {
            K::set_state(&mut labels[before], false, withdrawn);
        }
    }
    Ok(labels)
}

pub(super) fn subjects_with_prefix<K: LabelTable>(
    database: &mut Database,
    beginning: &str,
) -> Result<Vec<K::Subject>, StoreError> {
    let values = vec![beginning.into(), format!("{beginning}g").into()];
    // Keys are lowercase hex, so `g` sorts after every key with the prefix.
    let rows = database.select(K::SUBJECTS, "WHERE key >= $1 AND key < $2 ORDER BY key", values)?;
    rows.iter().map(|row| subject::<K>(database, row)).collect()
}

pub(super) struct LatestLabels {
    pub(super) keys: Vec<String>,
    pub(super) word: &'static str,
    pub(super) made_ms: i64,
}

/// An annotator's last label that is not withdrawn, with all labels made together with it. Labels imported from a file are
/// unrelated, so only the last of them is returned.
pub(super) fn latest_labels<K: LabelTable>(
    database: &mut Database,
    annotator: &Annotator,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Option<LatestLabels>, StoreError> {
    let mut found: Option<LatestLabels> = None;
    let mut visited: HashSet<String> = HashSet::new();
    let latest = "WHERE annotator = $1 ORDER BY sequence DESC";
    for row in database.select(K::LABELS, latest, vec![annotator.as_str().into()])? {
        let entry = label_row::<K>(database, &row)?;
        let (key, made_ms, source) = (entry.key.clone(), entry.made_ms, entry.source);
        // Only the last row about an item is current.
        if !wanted(&key) || visited.contains(&key) {
            continue;
        }
        visited.insert(key.clone());
        let Some(label) = stored_label::<K>(database, entry, &row)? else { continue };
        match &mut found {
            None => found = Some(LatestLabels { keys: vec![key], word: K::answer_word(&label), made_ms }),
            Some(last) if last.made_ms == made_ms => last.keys.push(key),
            Some(_) => break,
        }
        if source == Source::Imported {
            break;
        }
    }
    Ok(found)
}

pub(super) fn withdraw<K: LabelTable>(
    database: &mut Database,
    keys: &[String],
    annotator: &Annotator,
) -> Result<(), StoreError> {
    let made_ms = now_ms();
    for key in keys {
        let Some(row) = last_row::<K>(database, key, annotator)? else { continue };
        let before = label_row::<K>(database, &row)?;
        let (case, revision) = (before.case.clone(), before.revision);
        let Some(label) = stored_label::<K>(database, before, &row)? else { continue };
        let mut values: Vec<Value> = vec![
            database.next_number(K::LABELS)?.into(),
            key.as_str().into(),
            case.as_str().into(),
            annotator.as_str().into(),
            WITHDRAWN.into(),
            Value::Null,
            Value::Null,
            made_ms.into(),
            Source::Added.as_str().into(),
            (revision + 1).into(),
        ];
        values.extend(K::withdrawal_columns(&label));
        database.insert(K::LABELS, vec![values], OnConflict::Fail)?;
    }
    Ok(())
}

/// Reads all subjects and labels and reports damage.
pub(super) fn check<K: LabelTable>(
    database: &mut Database,
    found: &mut dyn FnMut(StoreError),
) -> Result<(), StoreError> {
    let mut all: HashMap<String, K::Subject> = HashMap::new();
    for row in database.select_each(K::SUBJECTS, "ORDER BY key", Vec::new())? {
        match row.and_then(|row| Ok((row.text(0)?, subject::<K>(database, &row)?))) {
            Ok((key, subject)) => drop(all.insert(key, subject)),
            Err(error) => found(error),
        }
    }
    #[derive(Default)]
    struct Revisions {
        revision: i64,
        stands: bool,
    }
    let mut trails: HashMap<(String, Annotator), Revisions> = HashMap::new();
    for row in database.select_each(K::LABELS, "ORDER BY sequence", Vec::new())? {
        let (row, entry) = match row.and_then(|row| label_row::<K>(database, &row).map(|entry| (row, entry))) {
            Ok(read) => read,
            Err(error) => {
                found(error);
                continue;
            }
        };
        let (number, revision, key) = (entry.sequence, entry.revision, entry.key.clone());
        let trail = trails.entry((key.clone(), entry.annotator.clone())).or_default();
        trail.revision += 1;
        if trail.revision != revision {
            found(damaged(database, format!("what was said before label {number}{} is missing", K::SUFFIX)));
        }
        let stood = trail.stands;
        let label = match stored_label::<K>(database, entry, &row) {
            Ok(label) => label,
            Err(error) => {
                found(error);
                continue;
            }
        };
        trail.stands = label.is_some();
        if label.is_none() && !stood {
            found(damaged(database, format!("label {number}{} takes back what nobody said", K::SUFFIX)));
        }
        let mismatch = label.as_ref().zip(all.get(&key)).and_then(|(label, subject)| K::mismatch(label, subject));
        if let Some(what) = mismatch {
            found(damaged(database, format!("label {number}{} names another {what} than was seen", K::SUFFIX)));
        }
    }
    Ok(())
}

/// The annotator's current label of an item, if any, and the last revision.
type Previous<K> = (Option<(LabelRow, <K as LabelTable>::Stored)>, i64);

fn last<K: LabelTable>(database: &mut Database, new: &K::New) -> Result<Previous<K>, StoreError> {
    let columns = K::columns(new);
    let Some(row) = last_row::<K>(database, &columns.key, columns.annotator)? else { return Ok((None, 0)) };
    let before = label_row::<K>(database, &row)?;
    let revision = before.revision;
    let label = stored_label::<K>(database, label_row::<K>(database, &row)?, &row)?;
    Ok((label.map(|label| (before, label)), revision))
}

fn last_row<K: LabelTable>(
    database: &mut Database,
    key: &str,
    annotator: &Annotator,
) -> Result<Option<Row>, StoreError> {
    let last = format!("WHERE {} = $1 AND annotator = $2 ORDER BY revision DESC LIMIT 1", K::LABELS.columns[1]);
    database.select_one(K::LABELS, &last, vec![key.into(), annotator.as_str().into()])
}

fn refusal<K: LabelTable>(before: &LabelRow, stored: &K::Stored) -> StoreError {
    StoreError::Labelled {
        annotator: before.annotator.to_string(),
        kind: K::NOUN,
        id: before.key.chars().take(12).collect(),
        said: K::answer_word(stored),
        when: format_utc(before.made_ms),
    }
}

fn insert<K: LabelTable>(database: &mut Database, new: &K::New, revision: i64, made_ms: i64) -> Result<(), StoreError> {
    let columns = K::columns(new);
    if let Some(reason) = K::invalid_reason(new) {
        return Err(StoreError::BadLabel { about: columns.key.chars().take(12).collect(), reason });
    }
    let subject_row = std::iter::once(columns.key.as_str().into()).chain(K::subject_columns(new));
    database.insert(K::SUBJECTS, vec![subject_row.collect()], OnConflict::Ignore)?;
    let mut values: Vec<Value> = vec![
        database.next_number(K::LABELS)?.into(),
        columns.key.as_str().into(),
        columns.case.as_str().into(),
        columns.annotator.as_str().into(),
        columns.decision.into(),
        columns.note.map(ToOwned::to_owned).into(),
        columns.picked_with_probability.into(),
        made_ms.into(),
        columns.source.as_str().into(),
        revision.into(),
    ];
    values.extend(K::own_columns(new));
    database.insert(K::LABELS, vec![values], OnConflict::Fail)
}

fn label_row<K: LabelTable>(database: &Database, row: &Row) -> Result<LabelRow, StoreError> {
    let sequence = row.int(0)?;
    let wrong =
        |what: &str, value: &str| damaged(database, format!("label {sequence}{} has the {what} `{value}`", K::SUFFIX));
    let (name, decision, source) = (row.text(3)?, row.text(4)?, row.text(8)?);
    let probability = row.real_or_null(6)?;
    if let Some(share) = probability.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(wrong("probability", &share.to_string()));
    }
    Ok(LabelRow {
        sequence,
        key: row.text(1)?,
        case: row.text(2)?.as_str().into(),
        annotator: Annotator::new(&name).map_err(|_| wrong("annotator", &name))?,
        decision: Some(decision).filter(|decision| decision != WITHDRAWN),
        note: row.text_or_null(5)?,
        picked_with_probability: probability,
        made_ms: row.int(7)?,
        source: Source::parse(&source).ok_or_else(|| wrong("source", &source))?,
        revision: row.int(9)?,
    })
}

/// The label of a row; `None` for a withdrawal.
fn stored_label<K: LabelTable>(
    database: &Database,
    mut entry: LabelRow,
    row: &Row,
) -> Result<Option<K::Stored>, StoreError> {
    let Some(decision) = entry.decision.take() else { return Ok(None) };
    let sequence = entry.sequence;
    let wrong = |what: String| damaged(database, format!("label {sequence}{} has the {what}", K::SUFFIX));
    K::from_row(entry, &decision, row)?.map(Some).map_err(wrong)
}

fn subject<K: LabelTable>(database: &Database, row: &Row) -> Result<K::Subject, StoreError> {
    let (key, about) = (row.text(0)?, K::NOUN);
    match K::subject_from_row(&key, row)? {
        None => Err(damaged(database, format!("what was seen of the {about} {key} is not what it was"))),
        Some(read) => read.map_err(|error| damaged(database, format!("the {about} {key} cannot be read ({error})"))),
    }
}

fn damaged(database: &Database, detail: String) -> StoreError {
    StoreError::Damaged { file: database.file().to_owned(), detail }
}

pub(super) fn is_yes(decision: &str) -> Option<bool> {
    match decision {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
