//! What people said of pairs stays what they said.

use super::*;
use crate::label::{Annotator, Answer, Label, NewLabel, PairSubject, Source};
use crate::{AddedLabels, OnExisting, StoreError};
use karat_core::golden::Golden;
use karat_core::suite::Case;

pub(super) fn new_label(title: &str, name: &str, answer: Answer) -> NewLabel {
    let finding = Finding { title: Some(title.to_owned()), ..Finding::new("f1") };
    NewLabel {
        pair: PairSubject::new(&Case::new("a"), &Golden::new("g1"), &finding),
        annotator: Annotator::new(name).unwrap(),
        answer,
        confidence: Some(0.1 + 0.2),
        note: Some("why not".to_owned()),
        picked_with_probability: Some(0.25),
        source: Source::Added,
    }
}

fn trial_lines(labels: &[Label]) -> Vec<String> {
    let line = |l: &Label| {
        format!("{} {} {}{}", l.sequence, l.annotator, l.answer.word(), if l.counts { "" } else { " (before)" })
    };
    labels.iter().map(line).collect()
}

#[test]
fn labels_come_out_as_they_went_in() {
    let place = Place::new();
    let label = new_label("t", "anna", Answer::PARTIAL);
    place.store().add_label(&label, OnExisting::Refuse).unwrap();
    let mut store = Store::open(&place.folder()).unwrap();
    let kept = store.labels().unwrap().remove(0);
    assert_eq!((kept.pair, kept.case, kept.golden), (label.pair.key(), "a".into(), "g1".into()));
    assert_eq!((kept.annotator, kept.answer, kept.source), (label.annotator, label.answer, label.source));
    assert_eq!((kept.confidence, kept.note, kept.picked_with_probability), (Some(0.1 + 0.2), label.note, Some(0.25)));
    assert!(kept.counts && kept.made_ms > 0);
    assert_eq!(store.labelled_pairs(&label.pair.key().short()[..6]).unwrap(), [label.pair]);
    assert_eq!(store.labelled_pairs("zz").unwrap(), []);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn nothing_that_was_said_is_overwritten() {
    let place = Place::new();
    let mut store = place.store();
    store.add_label(&new_label("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    store.add_label(&new_label("t", "ben", Answer::NO), OnExisting::Refuse).unwrap();
    for answer in [Answer::YES, Answer::NO] {
        let error = store.add_label(&new_label("t", "anna", answer), OnExisting::Refuse).unwrap_err();
        assert!(matches!(error, StoreError::Labelled { kind: "pair", said: "yes", .. }), "{error}");
    }
    assert_eq!(trial_lines(&store.label_history().unwrap()), ["1 anna yes", "2 ben no"]);
    store.add_label(&new_label("t", "anna", Answer::PARTIAL), OnExisting::Correct).unwrap();
    assert_eq!(trial_lines(&store.label_history().unwrap()), ["1 anna yes (before)", "2 ben no", "3 anna partial"]);
    assert_eq!(trial_lines(&store.labels().unwrap()), ["2 ben no", "3 anna partial"]);
    let counted: Vec<String> = store.annotators().unwrap().iter().map(|(name, n)| format!("{name} {n}")).collect();
    assert_eq!(counted, ["anna 1", "ben 1"]);
    for sql in ["UPDATE labels SET decision = 'no'", "DELETE FROM labels"] {
        let error = store.database.execute(sql, Vec::new()).unwrap_err().to_string();
        assert!(error.contains("labels are never"), "{error}");
    }
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn many_labels_are_taken_or_none() {
    let place = Place::new();
    let mut store = place.store();
    store.add_label(&new_label("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    let labels = [new_label("u", "anna", Answer::NO), new_label("t", "anna", Answer::NO)];
    let error = store.add_labels(&labels, OnExisting::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Labelled { .. }), "{error}");
    assert_eq!(trial_lines(&store.label_history().unwrap()), ["1 anna yes"]);
    let taken = store.add_labels(&labels, OnExisting::Correct).unwrap();
    assert_eq!(taken, AddedLabels { added: 1, corrected: 1, were_here: 0 });
    let on_existing = store.add_labels(&labels, OnExisting::Refuse).unwrap();
    assert_eq!(on_existing, AddedLabels { added: 0, corrected: 0, were_here: 2 });
    assert_eq!(trial_lines(&store.labels().unwrap()), ["2 anna no", "3 anna no"]);

    let sure = NewLabel { confidence: Some(1.5), ..new_label("v", "anna", Answer::NO) };
    let error = store.add_label(&sure, OnExisting::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::BadLabel { .. }), "{error}");
}

#[test]
fn runs_go_and_labels_stay() {
    let place = Place::new();
    let mut store = place.store();
    begin(&mut store);
    store.add_label(&new_label("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    let gc = crate::GcOptions { keep: Some(0), exchanges_older_than: Some(Default::default()), ..Default::default() };
    assert_eq!(store.gc(&gc).unwrap().runs.len(), 1);
    assert_eq!(trial_lines(&store.labels().unwrap()), ["1 anna yes"]);
}

#[test]
fn damaged_labels_are_found() {
    let check = |sql: &'static str, expect: &str| {
        let place = Place::new();
        let mut store = place.store();
        store.add_label(&new_label("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
        store.add_label(&new_label("t", "anna", Answer::NO), OnExisting::Correct).unwrap();
        store.database.script("PRAGMA foreign_keys = OFF; DROP TRIGGER labels_are_never_overwritten").unwrap();
        store.database.script("DROP TRIGGER labels_are_never_removed").unwrap();
        store.database.script(sql).unwrap();
        store.database.rehash();
        let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
        assert!(found.iter().any(|message| message.contains(expect)), "{sql}: {found:?}");
    };
    check("UPDATE label_pairs SET reported = replace(reported, 't', 'u')", "is not what it was");
    check("UPDATE labels SET decision = 'maybe' WHERE sequence = 1", "`maybe`");
    check("UPDATE labels SET annotator = 'a:b' WHERE sequence = 1", "the annotator `a:b`");
    check("UPDATE labels SET pair = 'x' WHERE sequence = 1", "the pair `x`");
    check("UPDATE labels SET source = 'rumour'", "the source `rumour`");
    check("UPDATE labels SET confidence = 7", "the confidence `7`");
    check("UPDATE labels SET golden = 'g2' WHERE sequence = 1", "label 1 names another golden");
    check("DELETE FROM labels WHERE sequence = 1", "what was said before label 2 is missing");
    check("DELETE FROM label_pairs", "a row of `labels`");
}
