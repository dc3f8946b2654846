//! The append-only log of labels.
//!
//! One table has what was shown, another the labels of all kinds. Corrections and withdrawals are rows with the next
//! revision; an annotator's last row about a subject is the current one.

use super::tables::{LABEL_SUBJECTS, LABELS};
use super::timestamp::format_utc;
use super::verify::Problems;
use super::{Database, OnConflict, Result, Row, Store, StoreError, Value};
use crate::label::{
    Annotator, Answer, AuditLabel, Label, LabelAnswer, LabelKey, LabelKind, LabelQuestion, NewLabel, Source, Subject,
};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

const WITHDRAWN: &str = "withdrawn";

/// Labels are numbered one after another.
const LABELLING: &str = "karat labels";

/// What to do if the annotator has already labelled the subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum OnExisting {
    Refuse,
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

/// Labels that were withdrawn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct UndoneLabels {
    pub kind: LabelKind,
    /// What was answered.
    #[serde(skip)]
    pub question: LabelQuestion,
    /// The keys of all labels made together.
    pub keys: Vec<String>,
    pub said: String,
    pub made_ms: i64,
}

impl Store {
    /// Adds a label, even if its answer is the annotator's current one; durable on return.
    pub fn add_label(&mut self, label: &NewLabel, on_existing: OnExisting) -> Result<()> {
        self.database.write(|database| {
            database.exclude_others(LABELLING)?;
            let (current, revision) = last(database, label)?;
            if let Some(current) = current.filter(|_| on_existing == OnExisting::Refuse) {
                return Err(refusal(&current));
            }
            let made_ms = next_timestamp(database, &label.annotator)?;
            insert(database, label, revision + 1, made_ms)
        })
    }

    /// Adds labels atomically; durable on return. Identical ones are only counted, different ones refused or corrected.
    pub fn add_labels(&mut self, labels: &[NewLabel], on_existing: OnExisting) -> Result<AddedLabels> {
        let Some(first) = labels.first() else { return Ok(AddedLabels::default()) };
        self.database.write(|database| {
            database.exclude_others(LABELLING)?;
            let mut added = AddedLabels::default();
            let made_ms = next_timestamp(database, &first.annotator)?;
            for label in labels {
                let (current, revision) = last(database, label)?;
                match current {
                    None => added.added += 1,
                    Some(current) if is_same(current.answer, label.answer) => {
                        added.were_here += 1;
                        continue;
                    }
                    Some(current) if on_existing == OnExisting::Refuse => return Err(refusal(&current)),
                    Some(_) => added.corrected += 1,
                }
                insert(database, label, revision + 1, made_ms)?;
            }
            Ok(added)
        })
    }

    /// Withdraws an annotator's last label whose key is `wanted`; `None` if there is none. It stays in the history.
    pub fn undo_label(
        &mut self,
        annotator: &Annotator,
        kind: Option<LabelKind>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Option<UndoneLabels>> {
        self.database.write(|database| {
            database.exclude_others(LABELLING)?;
            let last = made_together(database, annotator, &|label| {
                kind.is_none_or(|kind| kind == label.kind()) && wanted(label.key.as_str())
            })?;
            let Some((first, _)) = last.first() else { return Ok(None) };
            let undone = UndoneLabels {
                kind: first.kind(),
                question: first.answer.question(),
                keys: last.iter().map(|(label, _)| label.key.to_string()).collect(),
                said: first.answer.word(),
                made_ms: first.made_ms,
            };
            let made_ms = database.now_ms()?;
            for (label, revision) in last {
                let label =
                    Label { note: None, picked_with_probability: None, source: Source::Added, made_ms, ..label };
                insert_row(database, &label, revision + 1, None)?;
            }
            Ok(Some(undone))
        })
    }

    /// The current labels, oldest first.
    pub fn labels(&mut self) -> Result<Vec<Label>> {
        let mut labels = self.label_history()?;
        labels.retain(|label| label.counts);
        Ok(labels)
    }

    /// All labels ever made, oldest first. Withdrawals are not listed; the withdrawn label has the time.
    pub fn label_history(&mut self) -> Result<Vec<Label>> {
        let mut labels: Vec<Label> = Vec::new();
        let mut latest: HashMap<(LabelKey, Annotator), usize> = HashMap::new();
        for row in self.database.select(&LABELS, "ORDER BY sequence", Vec::new())? {
            let LogRow { key, annotator, made_ms, label, .. } = log_row(&self.database, &row)?;
            let about = (key, annotator);
            let Some(label) = label else {
                if let Some(withdrawn) = latest.remove(&about) {
                    (labels[withdrawn].counts, labels[withdrawn].withdrawn_ms) = (false, Some(made_ms));
                }
                continue;
            };
            if let Some(corrected) = latest.insert(about, labels.len()) {
                labels[corrected].counts = false;
            }
            labels.push(label);
        }
        Ok(labels)
    }

    /// The time of the last label or withdrawal, in milliseconds since 1970.
    pub fn labels_changed_ms(&mut self) -> Result<Option<i64>> {
        self.database.query_number("SELECT MAX(made_ms) FROM labels", Vec::new())
    }

    /// The labelled subjects whose key starts with a prefix.
    pub fn labelled_subjects(&mut self, prefix: &str) -> Result<Vec<Subject>> {
        // Keys are lowercase hex, so `g` sorts after every key with the prefix.
        let values = vec![prefix.into(), format!("{prefix}g").into()];
        let rows = self.database.select(&LABEL_SUBJECTS, "WHERE key >= $1 AND key < $2 ORDER BY key", values)?;
        rows.iter().map(|row| subject(&self.database, row)).collect()
    }

    pub(super) fn check_labels(&mut self, found: &mut Problems) -> Result<()> {
        let mut subjects: HashMap<String, Subject> = HashMap::new();
        for row in self.database.select_each(&LABEL_SUBJECTS, "ORDER BY key", Vec::new())? {
            subjects
                .extend(found.record(row.and_then(|row| Ok((row.get::<String>(0)?, subject(&self.database, &row)?))))?);
        }
        let mut latest: HashMap<(LabelKey, Annotator), (i64, bool)> = HashMap::new();
        for row in self.database.select_each(&LABELS, "ORDER BY sequence", Vec::new())? {
            let Some(entry) = found.record(row.and_then(|row| log_row(&self.database, &row)))? else { continue };
            let mut report = |detail: &str| found.add("damaged", format!("label {} {detail}", entry.sequence));
            let (revision, counts) = latest.entry((entry.key.clone(), entry.annotator)).or_default();
            *revision += 1;
            if *revision != entry.revision {
                report("is a correction of a label that is missing");
            }
            if entry.label.is_none() && !*counts {
                report("withdraws a label that does not exist");
            }
            *counts = entry.label.is_some();
            let (Some(label), Some(subject)) = (entry.label, subjects.get(entry.key.as_str())) else { continue };
            if label.answer.question() != subject.question() {
                report("names another kind than was shown");
            } else if label.case != subject.case {
                report("names another case than was shown");
            } else if label.golden.as_ref() != subject.labelled_golden() {
                report("names another golden than was shown");
            }
        }
        Ok(())
    }
}

/// Whether both answers are the same; confidence does not matter.
fn is_same(one: LabelAnswer, other: LabelAnswer) -> bool {
    match (one, other) {
        (LabelAnswer::Pair { answer, .. }, LabelAnswer::Pair { answer: other, .. }) => answer.agrees(other),
        (one, other) => one == other,
    }
}

/// The current time, but later than the annotator's last label: labels made together share a timestamp that no others have.
fn next_timestamp(database: &mut Database, annotator: &Annotator) -> Result<i64> {
    let sql = "SELECT MAX(made_ms) FROM labels WHERE annotator = $1";
    let last = database.query_number(sql, vec![annotator.as_str().into()])?;
    let now = database.now_ms()?;
    Ok(last.map_or(now, |last| now.max(last.saturating_add(1))))
}

/// An annotator's last label that is `wanted` and not withdrawn, with all labels made together with it, and their revisions.
/// Labels imported from a file are unrelated, so only the last of them is returned.
fn made_together(
    database: &mut Database,
    annotator: &Annotator,
    wanted: &dyn Fn(&Label) -> bool,
) -> Result<Vec<(Label, i64)>> {
    let mut last: Vec<(Label, i64)> = Vec::new();
    let mut visited: HashSet<LabelKey> = HashSet::new();
    let newest = "WHERE annotator = $1 ORDER BY sequence DESC";
    for row in database.select(&LABELS, newest, vec![annotator.as_str().into()])? {
        let entry = log_row(database, &row)?;
        // Only the last row about a subject is current.
        if !visited.insert(entry.key) {
            continue;
        }
        let Some(label) = entry.label.filter(wanted) else { continue };
        let is_related = |(first, _): &(Label, i64)| first.made_ms == label.made_ms && first.source != Source::Imported;
        if last.first().is_some_and(|first| !is_related(first)) {
            break;
        }
        last.push((label, entry.revision));
    }
    Ok(last)
}

fn last(database: &mut Database, new: &NewLabel) -> Result<(Option<Label>, i64)> {
    let newest = "WHERE subject = $1 AND annotator = $2 ORDER BY revision DESC LIMIT 1";
    let values = vec![new.subject.key().as_str().into(), new.annotator.as_str().into()];
    let Some(row) = database.select_one(&LABELS, newest, values)? else { return Ok((None, 0)) };
    let entry = log_row(database, &row)?;
    Ok((entry.label, entry.revision))
}

fn refusal(current: &Label) -> StoreError {
    StoreError::Labelled {
        annotator: current.annotator.to_string(),
        kind: current.answer.question().noun(),
        id: current.key.short().to_owned(),
        answer: current.answer.word(),
        when: format_utc(current.made_ms),
    }
}

fn insert(database: &mut Database, new: &NewLabel, revision: i64, made_ms: i64) -> Result<()> {
    let NewLabel { subject, annotator, answer, note, picked_with_probability, source } = new;
    let key = subject.key();
    let refused = |reason| Err(StoreError::BadLabel { about: key.short().to_owned(), reason });
    if answer.question() != subject.question() {
        return refused("its answer is for another kind of label");
    }
    let confidence = if let LabelAnswer::Pair { confidence, .. } = answer { *confidence } else { None };
    if [confidence, *picked_with_probability].into_iter().flatten().any(|share| !(0.0..=1.0).contains(&share)) {
        return refused("confidence and probability are numbers from 0 to 1");
    }
    let shown = database.json(subject)?;
    database.insert(&LABEL_SUBJECTS, vec![vec![key.as_str().into(), shown.into()]], OnConflict::Ignore)?;
    let label = Label {
        sequence: 0,
        key,
        case: subject.case.clone(),
        golden: subject.labelled_golden().cloned(),
        annotator: annotator.clone(),
        answer: *answer,
        note: note.clone(),
        picked_with_probability: *picked_with_probability,
        made_ms,
        source: *source,
        counts: true,
        withdrawn_ms: None,
    };
    insert_row(database, &label, revision, Some(*answer))
}

fn insert_row(database: &mut Database, label: &Label, revision: i64, answer: Option<LabelAnswer>) -> Result<()> {
    let (decision, partial, confidence) = match answer {
        None => (WITHDRAWN.to_owned(), None, None),
        Some(LabelAnswer::Pair { answer: Answer { matched, partial }, confidence }) => {
            (if matched { "yes" } else { "no" }.to_owned(), partial, confidence)
        }
        Some(answer) => (answer.word(), None, None),
    };
    let values: Vec<Value> = vec![
        database.next_number(&LABELS)?.into(),
        label.kind().as_str().into(),
        label.key.as_str().into(),
        label.case.as_str().into(),
        label.golden.as_ref().map(|golden| golden.as_str()).into(),
        label.annotator.as_str().into(),
        revision.into(),
        decision.into(),
        partial.map(i64::from).into(),
        confidence.into(),
        label.note.clone().into(),
        label.picked_with_probability.into(),
        label.made_ms.into(),
        label.source.as_str().into(),
    ];
    database.insert(&LABELS, vec![values], OnConflict::Fail)
}

struct LogRow {
    sequence: i64,
    key: LabelKey,
    annotator: Annotator,
    revision: i64,
    made_ms: i64,
    /// `None` for a withdrawal. Whether it counts depends on later rows.
    label: Option<Label>,
}

fn log_row(database: &Database, row: &Row) -> Result<LogRow> {
    let sequence: i64 = row.get(0)?;
    let wrong = |what: &str, value: &str| database.damaged(format!("label {sequence} has the {what} `{value}`"));
    let share = |column: usize, what: &str| {
        let share: Option<f64> = row.get(column)?;
        match share.filter(|share| !(0.0..=1.0).contains(share)) {
            Some(outside) => Err(wrong(what, &outside.to_string())),
            None => Ok(share),
        }
    };
    let (kind, key, annotator, source): (&str, &str, &str, &str) =
        (row.get(1)?, row.get(2)?, row.get(5)?, row.get(13)?);
    let kind = LabelKind::parse(kind).ok_or_else(|| wrong("kind", kind))?;
    let key = LabelKey::parse(kind, key).ok_or_else(|| wrong("key", key))?;
    let annotator = Annotator::new(annotator).map_err(|_| wrong("annotator", annotator))?;
    let source = Source::parse(source).ok_or_else(|| wrong("source", source))?;
    let (decision, confidence, probability) = (row.get::<&str>(7)?, share(9, "confidence")?, share(11, "probability")?);
    let answer = match (kind, decision) {
        (_, WITHDRAWN) => None,
        (LabelKind::Pair, "yes" | "no") => {
            let partial = row.get::<Option<i64>>(8)?.map(|partial| partial != 0);
            Some(LabelAnswer::Pair { answer: Answer { matched: decision == "yes", partial }, confidence })
        }
        (LabelKind::Extra, "yes" | "no") => Some(LabelAnswer::Extra { valid: decision == "yes" }),
        (LabelKind::Pair | LabelKind::Extra, _) => return Err(wrong("answer", decision)),
        (LabelKind::Audit, _) => {
            let label = AuditLabel::parse_stored(decision).ok_or_else(|| wrong("class", decision))?;
            Some(LabelAnswer::Audit(label))
        }
    };
    let made_ms: i64 = row.get(12)?;
    let label = match answer {
        None => None,
        Some(answer) => Some(Label {
            sequence,
            key: key.clone(),
            case: row.get::<&str>(3)?.into(),
            golden: row.get::<Option<&str>>(4)?.map(Into::into),
            annotator: annotator.clone(),
            answer,
            note: row.get(10)?,
            picked_with_probability: probability,
            made_ms,
            source,
            counts: true,
            withdrawn_ms: None,
        }),
    };
    Ok(LogRow { sequence, key, annotator, revision: row.get(6)?, made_ms, label })
}

fn subject(database: &Database, row: &Row) -> Result<Subject> {
    let key: &str = row.get(0)?;
    let subject: Subject = database.parse_json(row.get(1)?, || format!("the subject {key} of a label"))?;
    if subject.key().as_str() != key {
        return Err(database.damaged(format!("the {} {key} is not what was shown", subject.question().noun())));
    }
    Ok(subject)
}
