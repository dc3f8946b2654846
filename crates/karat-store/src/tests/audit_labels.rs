//! What people call audited findings stays what they said, and whatever anybody takes back is open again.

use super::*;
use crate::label::{
    Annotator, Answer, AuditLabel, AuditSubject, ExtraSubject, LabelKind, NewAuditLabel, NewExtraLabel, NewLabel,
    NewLabels, PairSubject, Source,
};
use crate::{AddedLabels, OnExisting, StoreError};
use karat_core::golden::Golden;
use karat_core::judgement::Classification::{self, BonusValid, Hallucinated, TargetMatch};
use karat_core::suite::Case;

fn ann(name: &str) -> Annotator {
    Annotator::new(name).unwrap()
}

fn finding(title: &str) -> Finding {
    Finding { title: Some(title.to_owned()), ..Finding::new("f1") }
}

pub(super) fn new_label(title: &str, name: &str, classification: Classification) -> NewAuditLabel {
    let case = Case { goldens: vec![Golden::new("g1")], ..Case::new("a") };
    NewAuditLabel {
        shown: AuditSubject::new(&case, &finding(title)),
        annotator: ann(name),
        classification,
        note: Some("why not".to_owned()),
        source: Source::Asked,
    }
}

fn new_extra(title: &str, name: &str, valid: bool) -> NewExtraLabel {
    let shown = ExtraSubject::new(&"a".into(), &finding(title));
    let (note, picked_with_probability) = (None, None);
    NewExtraLabel { shown, annotator: ann(name), valid, note, picked_with_probability, source: Source::Asked }
}

fn new_pair(title: &str, name: &str, answer: Answer) -> NewLabel {
    NewLabel {
        pair: PairSubject::new(&Case::new("a"), &Golden::new("g1"), &finding(title)),
        annotator: ann(name),
        answer,
        confidence: None,
        note: None,
        picked_with_probability: None,
        source: Source::Asked,
    }
}

fn trial_lines(labels: &[AuditLabel]) -> Vec<String> {
    let line = |l: &AuditLabel| {
        let state = if l.counts { "" } else { " (before)" };
        let withdrawn = if l.withdrawn_ms.is_some() { " (withdrawn)" } else { "" };
        format!("{} {} {}{state}{withdrawn}", l.sequence, l.annotator, l.classification.as_str())
    };
    labels.iter().map(line).collect()
}

#[test]
fn labels_of_audited_findings_come_out_as_they_went_in() {
    let place = Place::new();
    let label = new_label("t", "anna", TargetMatch);
    let taken = place.store().add_audit_labels(std::slice::from_ref(&label), OnExisting::Refuse).unwrap();
    assert_eq!(taken, AddedLabels { added: 1, corrected: 0, were_here: 0 });
    let mut store = Store::open(&place.folder()).unwrap();
    let kept = store.audit_labels().unwrap().remove(0);
    assert_eq!((kept.finding, kept.case, kept.classification), (label.shown.key(), "a".into(), TargetMatch));
    assert_eq!((kept.annotator, kept.source, kept.note), (label.annotator, label.source, label.note));
    assert!(kept.counts && kept.made_ms > 0 && kept.withdrawn_ms.is_none());
    assert_eq!(store.labelled_audits(&label.shown.key().short()[..6]).unwrap(), [label.shown]);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn nothing_that_was_said_of_audited_findings_is_overwritten() {
    let place = Place::new();
    let mut store = place.store();
    let mut take = |labels: &[NewAuditLabel], on_existing| store.add_audit_labels(labels, on_existing);
    take(&[new_label("t", "anna", TargetMatch), new_label("t", "ben", BonusValid)], OnExisting::Refuse).unwrap();
    let error = take(&[new_label("t", "anna", BonusValid)], OnExisting::Refuse).unwrap_err();
    assert!(matches!(error, StoreError::Labelled { said: "TARGET_MATCH", .. }), "{error}");
    assert_eq!(take(&[new_label("t", "anna", TargetMatch)], OnExisting::Refuse).unwrap().were_here, 1);
    assert_eq!(take(&[new_label("t", "anna", Hallucinated)], OnExisting::Correct).unwrap().corrected, 1);
    let history = ["1 anna TARGET_MATCH (before)", "2 ben BONUS_VALID", "3 anna HALLUCINATED"];
    assert_eq!(trial_lines(&store.audit_label_history().unwrap()), history);
    for sql in ["UPDATE audit_labels SET decision = 'no'", "DELETE FROM audit_labels"] {
        let error = store.database.execute(sql, Vec::new()).unwrap_err().to_string();
        assert!(error.contains("labels are never"), "{error}");
    }
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn what_is_taken_back_is_open_again_and_stays_in_the_history() {
    let place = Place::new();
    let mut store = place.store();
    let anna = ann("anna");
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap(), None);
    store.add_audit_labels(&[new_label("t", "anna", TargetMatch)], OnExisting::Refuse).unwrap();
    store.add_audit_labels(&[new_label("t", "ben", BonusValid)], OnExisting::Refuse).unwrap();
    let undone = store.undo_label(&anna, None, &|_| true).unwrap().unwrap();
    assert_eq!((undone.kind, undone.said, undone.keys.len()), (LabelKind::Audit, "TARGET_MATCH", 1));
    assert_eq!(trial_lines(&store.audit_labels().unwrap()), ["2 ben BONUS_VALID"]);
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap(), None, "nothing is taken back twice");
    store.add_audit_labels(&[new_label("t", "anna", Hallucinated)], OnExisting::Refuse).unwrap();
    let history = ["1 anna TARGET_MATCH (before) (withdrawn)", "2 ben BONUS_VALID", "4 anna HALLUCINATED"];
    assert_eq!(trial_lines(&store.audit_label_history().unwrap()), history);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn the_last_answer_of_any_kind_is_taken_back_whole() {
    let place = Place::new();
    let mut store = place.store();
    let anna = ann("anna");
    let wait = || std::thread::sleep(std::time::Duration::from_millis(3));
    store.add_label(&new_pair("p", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    wait();
    // One answer to three texts that report the same.
    let pool = [new_extra("x", "anna", true), new_extra("y", "anna", true), new_extra("z", "anna", true)];
    store.add_extra_labels(&pool, OnExisting::Refuse).unwrap();
    wait();
    store.add_label(&new_pair("q", "ben", Answer::NO), OnExisting::Refuse).unwrap();
    let undone = store.undo_label(&anna, None, &|_| true).unwrap().unwrap();
    assert_eq!((undone.kind, undone.keys.len()), (LabelKind::Extra, 3));
    assert_eq!(store.extra_labels().unwrap(), []);
    assert_eq!(store.undo_label(&anna, Some(LabelKind::Extra), &|_| true).unwrap(), None);
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap().unwrap().kind, LabelKind::Pair);
    assert_eq!(store.labels().unwrap().len(), 1, "what others said stays");
    store.add_label(&new_pair("elsewhere", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    assert_eq!(
        store.undo_label(&anna, None, &|_| false).unwrap(),
        None,
        "what is not here is not taken back from here"
    );
    assert!(store.undo_label(&anna, None, &|_| true).unwrap().is_some());
    let changed = store.labels_changed_ms().unwrap();
    assert!(changed.is_some_and(|changed| store.labels().unwrap().iter().all(|label| label.made_ms <= changed)));
    // Lines of a file have nothing to do with each other.
    let imported = |title: &str| NewLabel { source: Source::Imported, ..new_pair(title, "anna", Answer::NO) };
    let labels = NewLabels { pairs: vec![imported("r"), imported("s")], ..NewLabels::default() };
    store.add_all_labels(&labels, OnExisting::Refuse).unwrap();
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap().unwrap().keys.len(), 1);
    assert_eq!(store.labels().unwrap().len(), 2);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn a_correction_that_is_taken_back_leaves_nothing() {
    let place = Place::new();
    let mut store = place.store();
    store.add_label(&new_pair("p", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    store.add_label(&new_pair("p", "anna", Answer::NO), OnExisting::Correct).unwrap();
    assert_eq!(store.undo_label(&ann("anna"), None, &|_| true).unwrap().unwrap().said, "no");
    assert_eq!(store.labels().unwrap(), []);
    store.add_label(&new_pair("p", "anna", Answer::PARTIAL), OnExisting::Refuse).unwrap();
    let kept: Vec<&str> = store.labels().unwrap().iter().map(|label| label.answer.word()).collect();
    assert_eq!(kept, ["partial"]);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn many_people_at_once_lose_nothing() {
    let place = Place::new();
    drop(place.store());
    let folder = place.folder();
    let label_many = |name: &str| {
        let mut store = Store::open(&folder).unwrap();
        for number in 0..20 {
            store.add_label(&new_pair(&format!("p{number}"), name, Answer::YES), OnExisting::Refuse).unwrap();
            if number % 5 == 4 {
                assert!(store.undo_label(&ann(name), None, &|_| true).unwrap().is_some());
            }
        }
    };
    std::thread::scope(|scope| {
        for name in ["anna", "ben", "carl", "dora"] {
            scope.spawn(move || label_many(name));
        }
    });
    let mut store = place.store();
    let counted: Vec<usize> = store.annotators().unwrap().into_values().collect();
    assert_eq!(counted, [16; 4]);
    assert_eq!(store.label_history().unwrap().len(), 80);
    assert_eq!(store.verify().unwrap(), []);
}

#[test]
fn damaged_labels_of_audited_findings_are_found() {
    let check = |sql: &'static str, expect: &str| {
        let place = Place::new();
        let mut store = place.store();
        store.add_audit_labels(&[new_label("t", "anna", TargetMatch)], OnExisting::Refuse).unwrap();
        store.add_audit_labels(&[new_label("t", "anna", BonusValid)], OnExisting::Correct).unwrap();
        store.database.script("PRAGMA foreign_keys = OFF; DROP TRIGGER audit_labels_are_never_overwritten").unwrap();
        store.database.script("DROP TRIGGER audit_labels_are_never_removed").unwrap();
        store.database.script(sql).unwrap();
        store.database.rehash();
        let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
        assert!(found.iter().any(|message| message.contains(expect)), "{sql}: {found:?}");
    };
    check("UPDATE audit_texts SET shown = replace(shown, 't', 'u')", "is not what it was");
    check("UPDATE audit_labels SET decision = 'maybe' WHERE sequence = 1", "the class `maybe`");
    check("UPDATE audit_labels SET decision = 'withdrawn' WHERE sequence = 1", "takes back what nobody said");
    check("UPDATE audit_labels SET finding = 'x' WHERE sequence = 1", "the key `x`");
    check("UPDATE audit_labels SET case_id = 'b' WHERE sequence = 1", "names another case");
    check(
        "DELETE FROM audit_labels WHERE sequence = 1",
        "what was said before label 2 of an audited finding is missing",
    );
}
