//! Labels of all kinds: storage, correction, withdrawal.

use super::*;
use crate::label::{Annotator, Answer, Label, LabelAnswer, LabelKind, NewLabel, Source, Subject};
use crate::{AddedLabels, OnExisting, StoreError};
use karat_core::golden::Golden;
use karat_core::judgement::Classification::{self, BonusValid, Hallucinated, TargetMatch};
use karat_core::suite::Case;

on_each_engine!(
    labels_round_trip,
    json_of_labels_has_the_keys_of_their_kind,
    labels_are_never_overwritten,
    all_labels_are_added_or_none,
    invalid_labels_are_refused,
    gc_keeps_labels,
    withdrawn_label_can_be_replaced_and_stays_in_the_history,
    undo_withdraws_all_labels_of_the_last_answer,
    withdrawing_a_correction_leaves_no_label,
    concurrent_labels_are_all_stored,
    verify_finds_damaged_labels,
);

fn annotator(name: &str) -> Annotator {
    Annotator::new(name).unwrap()
}

fn label(subject: Subject, name: &str, answer: LabelAnswer) -> NewLabel {
    NewLabel {
        subject,
        annotator: annotator(name),
        answer,
        note: Some("why not".to_owned()),
        picked_with_probability: Some(0.25),
        source: Source::Asked,
    }
}

fn finding(title: &str) -> Finding {
    Finding { title: Some(title.to_owned()), ..Finding::new("f1") }
}

fn case() -> Case {
    Case { goldens: vec![Golden::new("g1")], ..Case::new("a") }
}

pub(super) fn pair(title: &str, name: &str, answer: Answer) -> NewLabel {
    let subject = Subject::pair(&case(), &Golden::new("g1"), &finding(title));
    label(subject, name, LabelAnswer::Pair { answer, confidence: Some(0.1 + 0.2) })
}

pub(super) fn extra(title: &str, name: &str, valid: bool) -> NewLabel {
    label(Subject::extra(&"a".into(), &finding(title)), name, LabelAnswer::Extra { valid })
}

pub(super) fn audit(title: &str, name: &str, classification: Classification) -> NewLabel {
    label(Subject::audit(&case(), &finding(title)), name, LabelAnswer::class(classification))
}

fn label_lines(labels: &[Label]) -> Vec<String> {
    let line = |l: &Label| {
        let state = match (l.counts, l.withdrawn_ms) {
            (true, _) => "",
            (false, None) => " (corrected)",
            (false, Some(_)) => " (withdrawn)",
        };
        format!("{} {} {}{state}", l.sequence, l.annotator, l.answer.word())
    };
    labels.iter().map(line).collect()
}

fn label_counts(store: &mut Store) -> Vec<(String, usize)> {
    let mut names: Vec<String> = store.labels().unwrap().iter().map(|label| label.annotator.to_string()).collect();
    names.sort();
    names.chunk_by(|a, b| a == b).map(|same| (same[0].clone(), same.len())).collect()
}

fn labels_round_trip() {
    for label in [pair("t", "anna", Answer::PARTIAL), extra("t", "anna", true), audit("t", "anna", TargetMatch)] {
        let dir = StoreDir::new();
        let added = dir.store().add_labels(std::slice::from_ref(&label), OnExisting::Refuse).unwrap();
        assert_eq!(added, AddedLabels { added: 1, corrected: 0, were_here: 0 });
        let mut store = Store::open(dir.location()).unwrap();
        let stored = store.labels().unwrap().remove(0);
        assert_eq!((stored.key, stored.case), (label.subject.key(), "a".into()));
        assert_eq!(stored.golden.is_some(), label.subject.kind == LabelKind::Pair);
        assert_eq!((stored.annotator, stored.answer, stored.source), (label.annotator, label.answer, label.source));
        assert_eq!((stored.note, stored.picked_with_probability), (label.note, Some(0.25)));
        assert!(stored.counts && stored.made_ms > 0 && stored.withdrawn_ms.is_none());
        let key = label.subject.key();
        assert_eq!(store.labelled_subjects(&key.short()[..6]).unwrap(), [label.subject]);
        assert_eq!(store.labelled_subjects("zz").unwrap(), []);
        assert_eq!(store.verify().unwrap(), []);
    }
}

/// The format of `karat label list --json`.
fn json_of_labels_has_the_keys_of_their_kind() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let labels = [pair("t", "anna", Answer::PARTIAL), extra("t", "anna", true), audit("t", "anna", TargetMatch)];
    store.add_labels(&labels, OnExisting::Refuse).unwrap();
    let keys = |label: &Label| {
        let value = serde_json::to_value(label).unwrap();
        value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
    };
    let written: Vec<String> = store.labels().unwrap().iter().map(keys).collect();
    let rest = "note picked_with_probability made_ms source counts";
    assert_eq!(
        written,
        [
            format!("sequence pair case golden annotator match partial confidence {rest}"),
            format!("sequence extra case annotator valid {rest}"),
            format!("sequence finding case annotator classification {rest}"),
        ]
    );
}

fn labels_are_never_overwritten() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    store.add_label(&pair("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    store.add_label(&pair("t", "ben", Answer::NO), OnExisting::Refuse).unwrap();
    for answer in [Answer::YES, Answer::NO] {
        let error = store.add_label(&pair("t", "anna", answer), OnExisting::Refuse).unwrap_err();
        assert!(matches!(error, StoreError::Labelled { kind: "pair", ref answer, .. } if answer == "yes"), "{error}");
    }
    assert_eq!(label_lines(&store.label_history().unwrap()), ["1 anna yes", "2 ben no"]);
    store.add_label(&pair("t", "anna", Answer::PARTIAL), OnExisting::Correct).unwrap();
    let history = ["1 anna yes (corrected)", "2 ben no", "3 anna partial"];
    assert_eq!(label_lines(&store.label_history().unwrap()), history);
    assert_eq!(label_lines(&store.labels().unwrap()), ["2 ben no", "3 anna partial"]);
    assert_eq!(label_counts(&mut store), [("anna".to_owned(), 1), ("ben".to_owned(), 1)]);
    for sql in ["UPDATE labels SET decision = 'no'", "DELETE FROM labels"] {
        let error = store.database.execute(sql, Vec::new()).unwrap_err().to_string();
        assert!(error.contains("labels are never"), "{error}");
    }
    assert_eq!(store.verify().unwrap(), []);
}

fn all_labels_are_added_or_none() {
    let check = |first: NewLabel, other: NewLabel, unrelated: NewLabel, existing: &'static str| {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.add_labels(std::slice::from_ref(&first), OnExisting::Refuse).unwrap();
        let labels = [unrelated, other];
        let error = store.add_labels(&labels, OnExisting::Refuse).unwrap_err();
        assert!(matches!(error, StoreError::Labelled { answer: ref found, .. } if found == existing), "{error}");
        assert_eq!(store.label_history().unwrap().len(), 1);
        assert_eq!(store.add_labels(&[first], OnExisting::Refuse).unwrap().were_here, 1);
        let added = store.add_labels(&labels, OnExisting::Correct).unwrap();
        assert_eq!(added, AddedLabels { added: 1, corrected: 1, were_here: 0 });
        let added = store.add_labels(&labels, OnExisting::Refuse).unwrap();
        assert_eq!(added, AddedLabels { added: 0, corrected: 0, were_here: 2 });
        let sequences: Vec<i64> = store.labels().unwrap().iter().map(|label| label.sequence).collect();
        assert_eq!(sequences, [2, 3]);
        assert_eq!(store.verify().unwrap(), []);
    };
    let anna = "anna";
    check(pair("t", anna, Answer::YES), pair("t", anna, Answer::NO), pair("u", anna, Answer::NO), "yes");
    check(extra("t", anna, true), extra("t", anna, false), extra("u", anna, true), "yes");
    check(audit("t", anna, TargetMatch), audit("t", anna, Hallucinated), audit("u", anna, BonusValid), "TARGET_MATCH");
}

fn invalid_labels_are_refused() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let too_confident = LabelAnswer::Pair { answer: Answer::NO, confidence: Some(1.5) };
    let other_kind = LabelAnswer::Extra { valid: true };
    for label in [
        NewLabel { answer: too_confident, ..pair("v", "anna", Answer::NO) },
        NewLabel { picked_with_probability: Some(1.5), ..extra("v", "anna", true) },
        NewLabel { answer: other_kind, ..pair("v", "anna", Answer::NO) },
    ] {
        let error = store.add_label(&label, OnExisting::Refuse).unwrap_err();
        assert!(matches!(error, StoreError::BadLabel { .. }), "{error}");
    }
    assert_eq!(store.label_history().unwrap(), []);
}

fn gc_keeps_labels() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    begin(&mut store);
    store.add_label(&pair("t", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    let gc = crate::GcOptions { keep: Some(0), exchanges_older_than: Some(Default::default()), ..Default::default() };
    assert_eq!(store.gc(&gc).unwrap().runs.len(), 1);
    assert_eq!(label_lines(&store.labels().unwrap()), ["1 anna yes"]);
}

fn withdrawn_label_can_be_replaced_and_stays_in_the_history() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let anna = annotator("anna");
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap(), None);
    store.add_labels(&[audit("t", "anna", TargetMatch)], OnExisting::Refuse).unwrap();
    store.add_labels(&[audit("t", "ben", BonusValid)], OnExisting::Refuse).unwrap();
    let undone = store.undo_label(&anna, None, &|_| true).unwrap().unwrap();
    assert_eq!((undone.kind, undone.said.as_str(), undone.keys.len()), (LabelKind::Audit, "TARGET_MATCH", 1));
    assert_eq!(label_lines(&store.labels().unwrap()), ["2 ben BONUS_VALID"]);
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap(), None, "a label was withdrawn twice");
    store.add_labels(&[audit("t", "anna", Hallucinated)], OnExisting::Refuse).unwrap();
    let history = ["1 anna TARGET_MATCH (withdrawn)", "2 ben BONUS_VALID", "4 anna HALLUCINATED"];
    assert_eq!(label_lines(&store.label_history().unwrap()), history);
    assert_eq!(store.verify().unwrap(), []);
}

fn undo_withdraws_all_labels_of_the_last_answer() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    let anna = annotator("anna");
    store.add_label(&pair("p", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    // One answer for three findings with the same meaning.
    let pool = [extra("x", "anna", true), extra("y", "anna", true), extra("z", "anna", true)];
    store.add_labels(&pool, OnExisting::Refuse).unwrap();
    store.add_label(&pair("q", "ben", Answer::NO), OnExisting::Refuse).unwrap();
    let undone = store.undo_label(&anna, None, &|_| true).unwrap().unwrap();
    assert_eq!((undone.kind, undone.keys.len()), (LabelKind::Extra, 3));
    assert_eq!(label_lines(&store.labels().unwrap()), ["1 anna yes", "5 ben no"]);
    assert_eq!(store.undo_label(&anna, Some(LabelKind::Extra), &|_| true).unwrap(), None);
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap().unwrap().kind, LabelKind::Pair);
    assert_eq!(store.labels().unwrap().len(), 1, "a label of another annotator was withdrawn");
    store.add_label(&pair("elsewhere", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    assert_eq!(store.undo_label(&anna, None, &|_| false).unwrap(), None, "a label outside the filter was withdrawn");
    assert!(store.undo_label(&anna, None, &|_| true).unwrap().is_some());
    let changed = store.labels_changed_ms().unwrap();
    assert!(changed.is_some_and(|changed| store.labels().unwrap().iter().all(|label| label.made_ms <= changed)));
    // Imported labels are separate answers.
    let imported = |title: &str| NewLabel { source: Source::Imported, ..pair(title, "anna", Answer::NO) };
    store.add_labels(&[imported("r"), imported("s")], OnExisting::Refuse).unwrap();
    assert_eq!(store.undo_label(&anna, None, &|_| true).unwrap().unwrap().keys.len(), 1);
    assert_eq!(store.labels().unwrap().len(), 2);
    assert_eq!(store.verify().unwrap(), []);
}

fn withdrawing_a_correction_leaves_no_label() {
    let dir = StoreDir::new();
    let mut store = dir.store();
    store.add_label(&pair("p", "anna", Answer::YES), OnExisting::Refuse).unwrap();
    store.add_label(&pair("p", "anna", Answer::NO), OnExisting::Correct).unwrap();
    assert_eq!(store.undo_label(&annotator("anna"), None, &|_| true).unwrap().unwrap().said, "no");
    assert_eq!(store.labels().unwrap(), []);
    store.add_label(&pair("p", "anna", Answer::PARTIAL), OnExisting::Refuse).unwrap();
    assert_eq!(label_lines(&store.labels().unwrap()), ["4 anna partial"]);
    assert_eq!(store.verify().unwrap(), []);
}

fn concurrent_labels_are_all_stored() {
    let dir = StoreDir::new();
    drop(dir.store());
    let location = dir.location();
    let label_many = |name: &str| {
        let mut store = Store::open(&location).unwrap();
        for number in 0..20 {
            store.add_label(&pair(&format!("p{number}"), name, Answer::YES), OnExisting::Refuse).unwrap();
            if number % 5 == 4 {
                assert!(store.undo_label(&annotator(name), None, &|_| true).unwrap().is_some());
            }
        }
    };
    std::thread::scope(|scope| {
        for name in ["anna", "ben", "carl", "dora"] {
            scope.spawn(move || label_many(name));
        }
    });
    let mut store = dir.store();
    let counted: Vec<usize> = label_counts(&mut store).into_iter().map(|(_, labels)| labels).collect();
    assert_eq!(counted, [16; 4]);
    assert_eq!(store.label_history().unwrap().len(), 80);
    assert_eq!(store.verify().unwrap(), []);
}

fn verify_finds_damaged_labels() {
    let check = |labels: [NewLabel; 2], sql: &'static str, expect: &str| {
        let dir = StoreDir::new();
        let mut store = dir.store();
        store.add_labels(&labels[..1], OnExisting::Refuse).unwrap();
        store.add_labels(&labels[1..], OnExisting::Correct).unwrap();
        store.database.ignore_foreign_keys();
        store.database.drop_trigger("labels", "are_never_overwritten");
        store.database.drop_trigger("labels", "are_never_removed");
        store.database.script(sql).unwrap();
        store.database.rehash();
        let found: Vec<String> = store.verify().unwrap().into_iter().map(|p| p.message).collect();
        assert!(found.iter().any(|message| message.contains(expect)), "{sql}: {found:?}");
    };
    let pairs = || [pair("t", "anna", Answer::YES), pair("t", "anna", Answer::NO)];
    check(pairs(), "UPDATE label_subjects SET shown = replace(shown, '\"t\"', '\"u\"')", "is not what was shown");
    check(pairs(), "UPDATE label_subjects SET shown = '{'", "cannot be read");
    check(pairs(), "UPDATE labels SET decision = 'maybe' WHERE sequence = 1", "the answer `maybe`");
    check(pairs(), "UPDATE labels SET kind = 'pear'", "the kind `pear`");
    check(pairs(), "UPDATE labels SET kind = 'extra'", "label 1 names another kind");
    check(pairs(), "UPDATE labels SET annotator = 'a:b' WHERE sequence = 1", "the annotator `a:b`");
    check(pairs(), "UPDATE labels SET subject = 'x' WHERE sequence = 1", "the key `x`");
    check(pairs(), "UPDATE labels SET source = 'rumour'", "the source `rumour`");
    check(pairs(), "UPDATE labels SET confidence = 7", "the confidence `7`");
    check(pairs(), "UPDATE labels SET golden = 'g2' WHERE sequence = 1", "label 1 names another golden");
    check(
        pairs(),
        "UPDATE labels SET decision = 'withdrawn' WHERE sequence = 1",
        "withdraws a label that does not exist",
    );
    check(pairs(), "DELETE FROM labels WHERE sequence = 1", "label 2 is a correction of a label that is missing");
    check(pairs(), "DELETE FROM label_subjects", "a row of `labels`");
    let extras = || [extra("t", "anna", true), extra("t", "anna", false)];
    check(extras(), "UPDATE label_subjects SET shown = replace(shown, '\"t\"', '\"u\"')", "is not what was shown");
    check(extras(), "UPDATE labels SET decision = 'maybe' WHERE sequence = 1", "the answer `maybe`");
    check(extras(), "UPDATE labels SET picked_with_probability = 7", "the probability `7`");
    check(extras(), "UPDATE labels SET case_id = 'b' WHERE sequence = 1", "names another case");
    let audits = || [audit("t", "anna", TargetMatch), audit("t", "anna", BonusValid)];
    check(audits(), "UPDATE labels SET decision = 'maybe' WHERE sequence = 1", "the class `maybe`");
    check(audits(), "UPDATE labels SET case_id = 'b' WHERE sequence = 1", "names another case");
}
