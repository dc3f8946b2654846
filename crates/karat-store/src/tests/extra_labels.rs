//! What people said of extras stays what they said.

use super::*;
use crate::label::{Annotator, ExtraLabel, ExtraSubject, NewExtraLabel, Source};
use crate::{AddedLabels, OnExisting, StoreError};

pub(super) fn new_label(title: &str, name: &str, valid: bool) -> NewExtraLabel {
    let finding = Finding { title: Some(title.to_owned()), ..Finding::new("f1") };
    NewExtraLabel {
        shown: ExtraSubject::new(&"a".into(), &finding),
        annotator: Annotator::new(name).unwrap(),
        valid,
        note: Some("why not".to_owned()),
        picked_with_probability: Some(0.25),
        source: Source::Asked,
    }
}

fn trial_lines(labels: &[ExtraLabel]) -> Vec<String> {
    let line = |l: &ExtraLabel| {
        format!("{} {} {}{}", l.sequence, l.annotator, l.word(), if l.counts { "" } else { " (before)" })
    };
    labels.iter().map(line).collect()
}

#[test]
fn labels_of_extras_come_out_as_they_went_in() {
    let place = Place::new();
    let label = new_label("t", "anna", true);
    let taken = place.store().add_extra_labels(std::slice::from_ref(&label), OnExisting::Refuse).unwrap();
    assert_eq!(taken, AddedLabels { added: 1, corrected: 0, were_here: 0 });
    let mut store = Store::open(&place.folder()).unwrap();
    let kept = store.extra_labels().unwrap().remove(0);
    assert_eq!((kept.extra, kept.case, kept.valid), (label.shown.key(), "a".into(), true));
    assert_eq!((kept.annotator, kept.source, kept.note), (label.annotator, label.source, label.note));
    assert_eq!(kept.picked_with_probability, Some(0.25));
    assert!(kept.counts && kept.made_ms > 0);
    assert_eq!(store.labelled_extras(&label.shown.key().short()[..6]).unwrap(), [label.shown]);
    assert_eq!(store.labelled_extras("zz").unwrap(), []);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn nothing_that_was_said_of_extras_is_overwritten() {
    let place = Place::new();
    let mut store = place.store();
    let mut take = |labels: &[NewExtraLabel], on_existing| store.add_extra_labels(labels, on_existing);
    take(&[new_label("t", "anna", true), new_label("t", "ben", false)], OnExisting::Refuse).unwrap();
    // One that is refused takes the others with it.
    let error = take(&[new_label("u", "anna", true), new_label("t", "anna", false)], OnExisting::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Labelled { kind: "extra", said: "yes", .. }), "{error}");
    assert_eq!(take(&[new_label("t", "anna", true)], OnExisting::Refuse).unwrap().were_here, 1);
    assert_eq!(take(&[new_label("t", "anna", false)], OnExisting::Correct).unwrap().corrected, 1);
    let unsure = NewExtraLabel { picked_with_probability: Some(1.5), ..new_label("v", "anna", true) };
    let error = take(&[unsure], OnExisting::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::BadLabel { .. }), "{error}");
    assert_eq!(trial_lines(&store.extra_label_history().unwrap()), ["1 anna yes (before)", "2 ben no", "3 anna no"]);
    assert_eq!(trial_lines(&store.extra_labels().unwrap()), ["2 ben no", "3 anna no"]);
    for sql in ["UPDATE extra_labels SET decision = 'no'", "DELETE FROM extra_labels"] {
        let error = store.database.execute(sql, Vec::new()).unwrap_err().to_string();
        assert!(error.contains("labels are never"), "{error}");
    }
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn damaged_labels_of_extras_are_found() {
    let check = |sql: &'static str, expect: &str| {
        let place = Place::new();
        let mut store = place.store();
        store.add_extra_labels(&[new_label("t", "anna", true)], OnExisting::Refuse).unwrap();
        store.add_extra_labels(&[new_label("t", "anna", false)], OnExisting::Correct).unwrap();
        store.database.script("PRAGMA foreign_keys = OFF; DROP TRIGGER extra_labels_are_never_overwritten").unwrap();
        store.database.script("DROP TRIGGER extra_labels_are_never_removed").unwrap();
        store.database.script(sql).unwrap();
        store.database.rehash();
        let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
        assert!(found.iter().any(|message| message.contains(expect)), "{sql}: {found:?}");
    };
    check("UPDATE extra_texts SET shown = replace(shown, 't', 'u')", "is not what it was");
    check("UPDATE extra_labels SET decision = 'maybe' WHERE sequence = 1", "`maybe`");
    check("UPDATE extra_labels SET annotator = 'a:b' WHERE sequence = 1", "the annotator `a:b`");
    check("UPDATE extra_labels SET extra = 'x' WHERE sequence = 1", "the key `x`");
    check("UPDATE extra_labels SET source = 'rumour'", "the source `rumour`");
    check("UPDATE extra_labels SET picked_with_probability = 7", "the probability `7`");
    check("UPDATE extra_labels SET case_id = 'b' WHERE sequence = 1", "names another case");
    check("DELETE FROM extra_labels WHERE sequence = 1", "what was said before label 2 of an extra is missing");
}
