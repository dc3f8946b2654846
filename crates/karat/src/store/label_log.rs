//! What people said, of anything: rows that are added, and never changed or removed.
//!
//! Each kind of label has a table of what was seen and a table of what was said. A correction is one more row with the next
//! revision, and so is a withdrawal; the last row of an annotator about the same thing is what counts. A kind states its columns
//! and how a row becomes a label; everything else is done once, here.

use super::database::{Database, Row, Taken, Value};
use super::error::StoreError;
use super::moment::{now_ms, shown};
use super::tables::Table;
use crate::judge::labels::{Annotator, Source};
use karat_core::ids::CaseId;
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// What is stored in place of an answer by somebody who takes theirs back.
const WITHDRAWN: &str = "withdrawn";

/// What becomes of a label where the annotator has said something of the same thing before.
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

/// What every row of labels has.
pub(super) struct Entry {
    pub(super) sequence: i64,
    pub(super) key: String,
    pub(super) case: CaseId,
    pub(super) annotator: Annotator,
    /// The answer; none where it takes back what was said before.
    pub(super) decision: Option<String>,
    pub(super) note: Option<String>,
    pub(super) picked_with_probability: Option<f64>,
    pub(super) made_ms: i64,
    pub(super) source: Source,
    pub(super) revision: i64,
}

/// A label about to be kept, as far as all kinds are alike.
pub(super) struct Said<'n> {
    pub(super) key: String,
    pub(super) case: &'n CaseId,
    pub(super) annotator: &'n Annotator,
    pub(super) decision: &'static str,
    pub(super) note: Option<&'n str>,
    pub(super) picked_with_probability: Option<f64>,
    pub(super) source: Source,
}

/// A kind of label.
pub(super) trait Kind {
    /// A label to be kept.
    type New;
    /// A label as it is kept.
    type Kept;
    /// What a person saw.
    type Shown;
    /// What it is about: `pair`.
    const ABOUT: &'static str;
    /// How messages name a label of this kind after its number, such as ` of an extra`.
    const OF: &'static str;
    /// Where labels are kept. All such tables begin with the same columns; those of the kind come last.
    const LABELS: &'static Table;
    /// Where what was seen is kept, under its key.
    const TEXTS: &'static Table;

    fn said(new: &Self::New) -> Said<'_>;
    /// What was seen, as the columns of its table after the key.
    fn seen(new: &Self::New) -> Vec<Value>;
    /// The columns that only this kind has.
    fn own(new: &Self::New) -> Vec<Value>;
    /// The same for a row that takes a label back.
    fn own_of_withdrawal(kept: &Self::Kept) -> Vec<Value>;
    /// Why no judgement could hold it.
    fn fault(new: &Self::New) -> Option<&'static str>;
    /// The label of a row, or what is wrong with it; its own columns begin at 10.
    fn kept(entry: Entry, decision: &str, row: &Row) -> Result<Result<Self::Kept, String>, StoreError>;
    /// What was seen, from a row; `None` where it does not fit its key.
    fn shown(key: &str, row: &Row) -> Result<Option<serde_json::Result<Self::Shown>>, StoreError>;
    /// What a label names that was not seen; `None` where all is well.
    fn misnamed(kept: &Self::Kept, shown: &Self::Shown) -> Option<&'static str>;
    /// Whether both say the same.
    fn agree(kept: &Self::Kept, new: &Self::New) -> bool;
    /// What a label says, in words.
    fn word(kept: &Self::Kept) -> &'static str;
    /// Says whether a label counts, and when it was withdrawn.
    fn set_state(kept: &mut Self::Kept, counts: bool, withdrawn_ms: Option<i64>);
}

/// Keeps a label that the annotator has said nothing of before, or corrects it.
pub(super) fn add<K: Kind>(database: &mut Database, new: &K::New, again: Again) -> Result<(), StoreError> {
    let (before, revision) = last::<K>(database, new)?;
    match before {
        Some((entry, kept)) if again == Again::Refuse => Err(refusal::<K>(&entry, &kept)),
        _ => {
            let moment = moment::<K>(database, new)?;
            insert::<K>(database, new, revision + 1, moment)
        }
    }
}

/// Now, or just after what the annotator said last: what is said at once has one moment, and nothing else has it.
fn moment<K: Kind>(database: &mut Database, new: &K::New) -> Result<i64, StoreError> {
    let newest = "WHERE annotator = $1 ORDER BY made_ms DESC LIMIT 1";
    let row = database.select_one(K::LABELS, newest, vec![K::said(new).annotator.as_str().into()])?;
    let last = row.map(|row| row.int(7)).transpose()?;
    Ok(last.map_or_else(now_ms, |last| now_ms().max(last.saturating_add(1))))
}

/// Keeps labels; what an annotator has said before is counted, and something else is refused or a correction.
pub(super) fn take<K: Kind>(
    database: &mut Database,
    labels: &[K::New],
    again: Again,
    taken: &mut TakenLabels,
) -> Result<(), StoreError> {
    let Some(first) = labels.first() else { return Ok(()) };
    let moment = moment::<K>(database, first)?;
    for new in labels {
        let (before, revision) = last::<K>(database, new)?;
        match before {
            None => {
                insert::<K>(database, new, revision + 1, moment)?;
                taken.added += 1;
            }
            Some((_, kept)) if K::agree(&kept, new) => taken.were_here += 1,
            Some((entry, kept)) if again == Again::Refuse => return Err(refusal::<K>(&entry, &kept)),
            Some(_) => {
                insert::<K>(database, new, revision + 1, moment)?;
                taken.corrected += 1;
            }
        }
    }
    Ok(())
}

/// Everything anybody ever said, in the order in which it came in. A withdrawal is no label: what it takes back says when it was.
pub(super) fn history<K: Kind>(database: &mut Database) -> Result<Vec<K::Kept>, StoreError> {
    let mut labels: Vec<K::Kept> = Vec::new();
    let mut latest: HashMap<(String, Annotator), usize> = HashMap::new();
    for row in database.select(K::LABELS, "ORDER BY sequence", Vec::new())? {
        let entry = entry::<K>(database, &row)?;
        let (about, made_ms) = ((entry.key.clone(), entry.annotator.clone()), entry.made_ms);
        let before = match kept::<K>(database, entry, &row)? {
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

/// What anybody has labelled and whose key begins like this.
pub(super) fn seen_like<K: Kind>(database: &mut Database, beginning: &str) -> Result<Vec<K::Shown>, StoreError> {
    let values = vec![beginning.into(), format!("{beginning}g").into()];
    // Keys are lowercase hex, so `g` comes after everything that begins so.
    let rows = database.select(K::TEXTS, "WHERE key >= $1 AND key < $2 ORDER BY key", values)?;
    rows.iter().map(|row| seen::<K>(database, row)).collect()
}

/// What an annotator said last, all that was said at once.
pub(super) struct LastSaid {
    pub(super) keys: Vec<String>,
    pub(super) word: &'static str,
    pub(super) made_ms: i64,
}

/// What an annotator said last and has not taken back, with everything that was said at once with it. Files say much at once
/// that has nothing to do with each other, so of those it is the last line alone.
pub(super) fn last_said<K: Kind>(
    database: &mut Database,
    annotator: &Annotator,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Option<LastSaid>, StoreError> {
    let mut found: Option<LastSaid> = None;
    let mut passed: HashSet<String> = HashSet::new();
    let latest = "WHERE annotator = $1 ORDER BY sequence DESC";
    for row in database.select(K::LABELS, latest, vec![annotator.as_str().into()])? {
        let entry = entry::<K>(database, &row)?;
        let (key, made_ms, source) = (entry.key.clone(), entry.made_ms, entry.source);
        // Only the last row about a thing says how things stand.
        if !wanted(&key) || passed.contains(&key) {
            continue;
        }
        passed.insert(key.clone());
        let Some(label) = kept::<K>(database, entry, &row)? else { continue };
        match &mut found {
            None => found = Some(LastSaid { keys: vec![key], word: K::word(&label), made_ms }),
            Some(last) if last.made_ms == made_ms => last.keys.push(key),
            Some(_) => break,
        }
        if source == Source::Imported {
            break;
        }
    }
    Ok(found)
}

/// Adds a row that takes back what an annotator said of each of these.
pub(super) fn withdraw<K: Kind>(
    database: &mut Database,
    keys: &[String],
    annotator: &Annotator,
) -> Result<(), StoreError> {
    let moment = now_ms();
    for key in keys {
        let Some(row) = last_row::<K>(database, key, annotator)? else { continue };
        let before = entry::<K>(database, &row)?;
        let (case, revision) = (before.case.clone(), before.revision);
        let Some(label) = kept::<K>(database, before, &row)? else { continue };
        let mut values: Vec<Value> = vec![
            database.next_number(K::LABELS)?.into(),
            key.as_str().into(),
            case.as_str().into(),
            annotator.as_str().into(),
            WITHDRAWN.into(),
            Value::Null,
            Value::Null,
            moment.into(),
            Source::Added.as_str().into(),
            (revision + 1).into(),
        ];
        values.extend(K::own_of_withdrawal(&label));
        database.insert(K::LABELS, vec![values], Taken::Refuse)?;
    }
    Ok(())
}

/// Everything that was seen and everything that was said read; what is wrong with it comes as damage.
pub(super) fn check<K: Kind>(database: &mut Database, found: &mut dyn FnMut(StoreError)) -> Result<(), StoreError> {
    let mut all: HashMap<String, K::Shown> = HashMap::new();
    for row in database.select_each(K::TEXTS, "ORDER BY key", Vec::new())? {
        match row.and_then(|row| Ok((row.text(0)?, seen::<K>(database, &row)?))) {
            Ok((key, shown)) => drop(all.insert(key, shown)),
            Err(error) => found(error),
        }
    }
    /// How far the rows about one thing have come.
    #[derive(Default)]
    struct Trail {
        revision: i64,
        stands: bool,
    }
    let mut trails: HashMap<(String, Annotator), Trail> = HashMap::new();
    for row in database.select_each(K::LABELS, "ORDER BY sequence", Vec::new())? {
        let (row, entry) = match row.and_then(|row| entry::<K>(database, &row).map(|entry| (row, entry))) {
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
            found(damaged(database, format!("what was said before label {number}{} is missing", K::OF)));
        }
        let stood = trail.stands;
        let label = match kept::<K>(database, entry, &row) {
            Ok(label) => label,
            Err(error) => {
                found(error);
                continue;
            }
        };
        trail.stands = label.is_some();
        if label.is_none() && !stood {
            found(damaged(database, format!("label {number}{} takes back what nobody said", K::OF)));
        }
        let misnamed = label.as_ref().zip(all.get(&key)).and_then(|(label, shown)| K::misnamed(label, shown));
        if let Some(what) = misnamed {
            found(damaged(database, format!("label {number}{} names another {what} than was seen", K::OF)));
        }
    }
    Ok(())
}

/// What an annotator said last of a thing, unless they took it back; and how many rows about it there are.
type Before<K> = (Option<(Entry, <K as Kind>::Kept)>, i64);

fn last<K: Kind>(database: &mut Database, new: &K::New) -> Result<Before<K>, StoreError> {
    let said = K::said(new);
    let Some(row) = last_row::<K>(database, &said.key, said.annotator)? else { return Ok((None, 0)) };
    let before = entry::<K>(database, &row)?;
    let revision = before.revision;
    let label = kept::<K>(database, entry::<K>(database, &row)?, &row)?;
    Ok((label.map(|label| (before, label)), revision))
}

/// The last row of an annotator about a thing.
fn last_row<K: Kind>(database: &mut Database, key: &str, annotator: &Annotator) -> Result<Option<Row>, StoreError> {
    let last = format!("WHERE {} = $1 AND annotator = $2 ORDER BY revision DESC LIMIT 1", K::LABELS.columns[1]);
    database.select_one(K::LABELS, &last, vec![key.into(), annotator.as_str().into()])
}

fn refusal<K: Kind>(before: &Entry, kept: &K::Kept) -> StoreError {
    StoreError::Labelled {
        annotator: before.annotator.to_string(),
        kind: K::ABOUT,
        id: before.key.chars().take(12).collect(),
        said: K::word(kept),
        when: shown(before.made_ms),
    }
}

fn insert<K: Kind>(database: &mut Database, new: &K::New, revision: i64, moment: i64) -> Result<(), StoreError> {
    let said = K::said(new);
    if let Some(reason) = K::fault(new) {
        return Err(StoreError::BadLabel { about: said.key.chars().take(12).collect(), reason });
    }
    let seen = std::iter::once(said.key.as_str().into()).chain(K::seen(new));
    database.insert(K::TEXTS, vec![seen.collect()], Taken::Keep)?;
    let mut values: Vec<Value> = vec![
        database.next_number(K::LABELS)?.into(),
        said.key.as_str().into(),
        said.case.as_str().into(),
        said.annotator.as_str().into(),
        said.decision.into(),
        said.note.map(ToOwned::to_owned).into(),
        said.picked_with_probability.into(),
        moment.into(),
        said.source.as_str().into(),
        revision.into(),
    ];
    values.extend(K::own(new));
    database.insert(K::LABELS, vec![values], Taken::Refuse)
}

/// What every row has; whether it counts depends on those that follow.
fn entry<K: Kind>(database: &Database, row: &Row) -> Result<Entry, StoreError> {
    let sequence = row.int(0)?;
    let wrong =
        |what: &str, value: &str| damaged(database, format!("label {sequence}{} has the {what} `{value}`", K::OF));
    let (name, decision, source) = (row.text(3)?, row.text(4)?, row.text(8)?);
    let probability = row.real_or_null(6)?;
    if let Some(share) = probability.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(wrong("probability", &share.to_string()));
    }
    Ok(Entry {
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

/// The label of a row; none where it takes another back.
fn kept<K: Kind>(database: &Database, mut entry: Entry, row: &Row) -> Result<Option<K::Kept>, StoreError> {
    let Some(decision) = entry.decision.take() else { return Ok(None) };
    let sequence = entry.sequence;
    let wrong = |what: String| damaged(database, format!("label {sequence}{} has the {what}", K::OF));
    K::kept(entry, &decision, row)?.map(Some).map_err(wrong)
}

/// What was seen, from its row; what does not fit its key is damage.
fn seen<K: Kind>(database: &Database, row: &Row) -> Result<K::Shown, StoreError> {
    let (key, about) = (row.text(0)?, K::ABOUT);
    match K::shown(&key, row)? {
        None => Err(damaged(database, format!("what was seen of the {about} {key} is not what it was"))),
        Some(read) => read.map_err(|error| damaged(database, format!("the {about} {key} cannot be read ({error})"))),
    }
}

fn damaged(database: &Database, detail: String) -> StoreError {
    StoreError::Damaged { file: database.file().to_owned(), detail }
}

/// The answer that a stored word stands for.
pub(super) fn is_yes(decision: &str) -> Option<bool> {
    match decision {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}
