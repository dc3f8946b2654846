use super::*;
use crate::judge::local;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::ToolName;
use karat_core::judgement::Classification;
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::scorecard::score;
use karat_core::suite::Case;

fn suite() -> Suite {
    let golden = |id: &str, title: &str, line: u32| Golden {
        title: Some(title.to_owned()),
        file: FilePattern::new("orders.py"),
        lines: Some(Lines { start: line, end: line + 1 }),
        ..Golden::new(id)
    };
    let case = |id: &str| Case {
        goldens: vec![golden("g1", "SQL injection in order search", 10), golden("g2", "Missing rate limit", 12)],
        ..Case::new(id)
    };
    Suite { name: "tiny".to_owned(), digest: String::new(), cases: vec![case("a"), case("b")] }
}

fn finding(id: &str, title: &str, line: u32) -> Finding {
    let file = RepoPath::new("orders.py");
    Finding { title: Some(title.to_owned()), file, line_start: Some(line), ..Finding::new(id) }
}

fn trials() -> Vec<Trial> {
    let trial = |case: &str, tool: &str, findings: &[Finding]| Trial {
        findings: findings.to_vec(),
        ..Trial::reported(case.into(), ToolName::new(tool), 1)
    };
    let typo = |id: &str, words: &str| Finding { file: RepoPath::new("readme.md"), ..finding(id, words, 1) };
    vec![
        trial("a", "one", &[finding("f1", "query built from text", 11), typo("f2", "a typo in the heading")]),
        trial("a", "two", &[finding("x", "query built from text", 11), typo("y", "typo in the heading")]),
        trial("b", "one", &[finding("f1", "requests are not limited", 12)]),
    ]
}

fn profile() -> Profile {
    crate::profile::resolve("karat", &crate::profile::no_files, &[]).unwrap()
}

fn ann(name: &str) -> Annotator {
    Annotator::new(name).unwrap()
}

fn classes() -> BTreeSet<AuditField> {
    BTreeSet::from([AuditField::Classification])
}

fn audit(classification: Classification) -> LabelAnswer {
    LabelAnswer::class(classification)
}

fn pairs() -> Queue {
    let (suite, trials, profile) = (suite(), trials(), profile());
    Queue::pairs(&suite, &trials, &[], &profile, &local::shipped().unwrap(), Some(0.05), ShownPairs::default())
}

/// Labels as a store would give them back.
fn stored(new: &[NewLabel]) -> Vec<Label> {
    let label = |label: &NewLabel| Label {
        sequence: 1,
        key: label.subject.key(),
        case: label.subject.case.clone(),
        golden: None,
        annotator: label.annotator.clone(),
        answer: label.answer,
        note: None,
        picked_with_probability: None,
        made_ms: 0,
        source: Source::Asked,
        counts: true,
        withdrawn_ms: None,
    };
    new.iter().map(label).collect()
}

#[test]
fn one_after_the_other_with_what_was_put_off_at_the_end() {
    let queue = pairs();
    let mut session = AnnotationSession::new(&queue, &[], ann("anna"));
    let order: Vec<&str> = session.open().iter().map(|item| item.id()).collect();
    assert!(order.len() > 2, "{order:?}");
    session.skip(order[0].to_owned().as_str());
    let key = |at: usize| queue.items[at].key.clone();
    session.skip(&key(0));
    session.skip(&key(1));
    let after: Vec<String> = session.open().iter().map(|item| item.key.clone()).collect();
    assert_eq!(after[after.len() - 2..], [key(0), key(1)]);
    assert_eq!(session.next().map(|item| item.key.clone()), Some(key(2)));
    let first = session.next().unwrap();
    let labels =
        session.labels(first, LabelAnswer::parse(LabelQuestion::Pair, "y").unwrap(), None, Source::Asked).unwrap();
    session.record(&labels);
    assert_eq!((session.progress().done, session.progress().open), (1, order.len() - 1));
    assert_ne!(session.next().unwrap().key, first.key);
    session.undone(std::slice::from_ref(&first.key));
    assert_eq!(session.next().unwrap().key, first.key);
    // Whoever comes back finds the same.
    let again = AnnotationSession::new(&queue, &stored(&labels), ann("anna"));
    assert_eq!(again.progress().done, 1);
    assert_eq!(AnnotationSession::new(&queue, &stored(&labels), ann("ben")).progress().done, 0);
}

#[test]
fn labels_narrow_what_is_shown_down_to_what_the_cases_owe_to_chance() {
    let queue = pairs();
    let mut session = AnnotationSession::new(&queue, &[], ann("anna"));
    let before = session.progress().bounds.unwrap();
    assert!(before.before > 0.05 && before.now == before.before, "{before:?}");
    let begins = format!("F1 ± {:.3}; labels can bring it down to ± 0.050", before.before);
    assert_eq!(session.progress().headline(), begins, "nothing has changed yet, so no change is told");
    let mut widths = vec![before.now];
    while let Some(item) = session.next() {
        let labels =
            session.labels(item, LabelAnswer::parse(LabelQuestion::Pair, "no").unwrap(), None, Source::Asked).unwrap();
        session.record(&labels);
        widths.push(session.progress().bounds.unwrap().now);
    }
    assert!(widths.windows(2).all(|pair| pair[1] <= pair[0]), "{widths:?}");
    assert!((widths.last().unwrap() - 0.05).abs() < 1e-12, "{widths:?}");
    let done = session.progress();
    assert_eq!(done.headline(), format!("{} labels, F1 ± {:.3} → ± 0.050", done.done, before.before));
    assert_eq!(done.contradicted, None, "of so few it would tell what the judge thinks of single pairs");
}

/// Findings of twelve cases, to be classified.
fn twelve() -> Queue {
    let ids: Vec<String> = (1..=12).map(|number| format!("c{number}")).collect();
    let cases = ids.iter().map(Case::new).collect();
    let suite = Suite { name: "twelve".to_owned(), digest: String::new(), cases };
    let trial = |id: &String| Trial {
        findings: vec![finding("f", "a typo in the heading", 1)],
        ..Trial::reported(id.as_str().into(), ToolName::new("one"), 1)
    };
    Queue::audits(&suite, &ids.iter().map(trial).collect::<Vec<_>>(), &classes())
}

#[test]
fn agreement_is_told_of_what_somebody_has_labelled_themselves_and_of_no_few() {
    let queue = twelve();
    let (remark, target) = (audit(Classification::Informational), audit(Classification::TargetMatch));
    let mut theirs = Vec::new();
    // Ben has labelled everything, and Carl one thing.
    for (name, items) in [("ben", &queue.items[..]), ("carl", &queue.items[..1])] {
        let session = AnnotationSession::new(&queue, &[], ann(name));
        for item in items {
            theirs.extend(session.labels(item, remark, None, Source::Asked).unwrap());
        }
    }
    let mut anna = AnnotationSession::new(&queue, &stored(&theirs), ann("anna"));
    for (done, item) in queue.items.iter().enumerate() {
        let told = anna.progress();
        assert_eq!(told.agreement.is_some(), done >= 10, "after {done}: {told:?}");
        assert_eq!(told.remarks().is_empty(), done < 10, "after {done}: {:?}", told.remarks());
        let labels = anna.labels(item, if done == 11 { target } else { remark }, None, Source::Asked).unwrap();
        anna.record(&labels);
    }
    let told = anna.progress();
    let agreement = told.agreement.clone().unwrap();
    assert_eq!((agreement.others, agreement.items), (2, 12));
    let kappas: Vec<&str> = agreement.cohen.iter().map(|with| with.annotator.as_str()).collect();
    assert_eq!(kappas, ["ben"], "with Carl she shares one thing alone");
    assert!(told.remarks()[0].starts_with("you agree in 92 % of 12 labelled by both"), "{:?}", told.remarks());
}

#[test]
fn extras_that_report_the_same_are_answered_at_once() {
    let (suite, trials, profile) = (suite(), trials(), Profile { judge: "none".to_owned(), ..profile() });
    let card = score(&suite, &trials, &[], &profile);
    let queue = Queue::extras(&suite, &trials, &profile, &card, 2);
    let item = &queue.items[0];
    assert_eq!((item.tools, item.shown.kind), (2, LabelKind::Extra));
    let mut session = AnnotationSession::new(&queue, &[], ann("anna"));
    assert_eq!(LabelAnswer::parse(LabelQuestion::Extra, "partial"), None);
    let labels = session.labels(item, LabelAnswer::Extra { valid: true }, None, Source::Asked).unwrap();
    assert_eq!(labels.len(), 2, "two texts say the same");
    let before = session.progress().bounds.unwrap();
    let begins = format!("precision known within {:.3}; labels can bring it down to 0.000", before.before);
    assert_eq!(session.progress().headline(), begins);
    session.record(&labels);
    let after = session.progress();
    assert!(after.bounds.clone().unwrap().now < before.now, "{before:?} {after:?}");
    assert!(after.headline().starts_with("1 label, precision known within"), "{}", after.headline());
    assert_eq!(session.labels(item, audit(Classification::BonusValid), None, Source::Asked), None);
}

#[test]
fn audited_findings_have_nine_answers_and_their_numbers() {
    let question = LabelQuestion::Audit(AuditField::Classification);
    let typed = |word: &str| shown_question(question).parse(question, word);
    for (at, class) in Classification::ALL.into_iter().enumerate() {
        assert_eq!(typed(&(at + 1).to_string()), Some(audit(class)));
        assert_eq!(typed(&class.as_str().to_lowercase()), Some(audit(class)));
    }
    assert_eq!([typed("0"), typed("10")], [None, None]);
    let queue = Queue::audits(&suite(), &trials(), &classes());
    let mut session = AnnotationSession::new(&queue, &[], ann("anna"));
    let item = session.next().unwrap();
    let labels = session.labels(item, audit(Classification::TargetMatch), None, Source::Asked).unwrap();
    session.record(&labels);
    assert_eq!((session.progress().done, session.progress().headline().as_str()), (1, "1 label"));
}

/// What was not found is not rated, and a question is answered once for all trials that say the same.
#[test]
fn ratings_are_asked_where_the_target_was_found() {
    let fields = BTreeSet::from([AuditField::TargetFound, AuditField::Rcir]);
    let queue = Queue::audits(&suite(), &trials(), &fields);
    assert_eq!(queue.items.len(), 6);
    let mut session = AnnotationSession::new(&queue, &[], ann("anna"));
    let mut asked = Vec::new();
    while let Some(item) = session.next() {
        let LabelQuestion::Audit(field) = item.shown.question() else { panic!() };
        let word = if field == AuditField::Rcir {
            "0.5"
        } else if asked.is_empty() {
            "no"
        } else {
            "yes"
        };
        asked.push(field.as_str());
        let answer = LabelAnswer::parse(item.shown.question(), word).unwrap();
        let labels = session.labels(item, answer, None, Source::Asked).unwrap();
        // An answer to another question is refused.
        assert_eq!(session.labels(item, audit(Classification::TargetMatch), None, Source::Asked), None);
        session.record(&labels);
    }
    assert_eq!(asked, ["target.found", "target.found", "rcir", "target.found", "rcir"]);
    assert_eq!(session.progress().open, 0);
}

#[test]
fn what_is_shown_tells_neither_tools_nor_judges() {
    let queue = pairs();
    let shown: String = queue.items.iter().map(|item| item.as_json(&|_, _| None).to_string()).collect();
    for word in ["one", "two", "probab", "doubt", "swing", "tool", "trial", "\"f1\""] {
        assert!(!shown.contains(word), "{word} is told: {shown}");
    }
    assert!(shown.contains("query built from text"));
    assert!(queue.find("").is_none() && queue.find(queue.items[0].id()).is_some());
}

#[test]
fn first_items_make_up_most_of_what_labels_can_narrow() {
    let suite = suite();
    let case = &suite.cases[0];
    let queue = |variances: &[f64]| {
        let item = |(at, variance): (usize, &f64)| {
            let finding = finding("f", &format!("report {at}"), 10);
            let doubt = Uncertainty { probability: 0.5, swing: 2.0 * variance.sqrt() };
            Item { doubt, ..Item::new(Subject::pair(case, &case.goldens[0], &finding), Vec::new(), 1, 1) }
        };
        Queue::plain(LabelKind::Pair, variances.iter().enumerate().map(item).collect(), "f1")
    };
    let steep = queue(&[6.0, 3.0, 0.5, 0.3, 0.1, 0.1]);
    let mut session = AnnotationSession::new(&steep, &[], ann("anna"));
    let advice = |session: &AnnotationSession<'_>| session.progress().advice().unwrap_or_default();
    assert_eq!(advice(&session), "the first 2 matter most: they make up 90 % of what labels can narrow; 0 done");
    for (item, shown) in steep.items.iter().zip(["; 1 done", "the 2 that matter most are done"]) {
        let answer = LabelAnswer::parse(LabelQuestion::Pair, "yes").unwrap();
        let labels = session.labels(item, answer, None, Source::Asked).unwrap();
        session.record(&labels);
        assert!(advice(&session).contains(shown), "{}", advice(&session));
    }
    // Labels of others must not show.
    let labels = stored(
        &session
            .labels(&steep.items[0], LabelAnswer::parse(LabelQuestion::Pair, "no").unwrap(), None, Source::Asked)
            .unwrap(),
    );
    let other = AnnotationSession::new(&steep, &labels, ann("ben"));
    assert!(advice(&other).ends_with("; 0 done"), "{}", advice(&other));
    // Of equal items no few matter most, nor of items without doubt.
    for flat in [queue(&[1.0; 10]), queue(&[0.0; 10]), queue(&[])] {
        assert_eq!(AnnotationSession::new(&flat, &[], ann("anna")).progress().first, None);
    }
}
