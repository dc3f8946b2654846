use super::page;
use crate::judge::local;
use karat_core::finding::Finding;
use karat_core::golden::Golden;
use karat_core::ids::ToolName;
use karat_core::judgement::Judgement;
use karat_core::lines::Lines;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::profile::Profile;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::diagnostic::Diagnostic;
use karat_format::recorded::{NamedLines, write_judgements};
use karat_report::TerminalStyle;
use karat_store::label::*;

fn suite() -> Suite {
    let golden = |id: &str, title: &str, line: u32| Golden {
        title: Some(title.to_owned()),
        file: FilePattern::new("orders.py"),
        lines: Some(Lines { start: line, end: line + 1 }),
        ..Golden::new(id)
    };
    let goldens = vec![golden("g1", "SQL injection in order search", 10), golden("g2", "Missing rate limit", 40)];
    Suite {
        name: "tiny".to_owned(),
        digest: String::new(),
        cases: vec![Case { goldens, ..Case::new("a") }, Case::new("clean")],
    }
}

fn finding(id: &str, title: &str, line: u32) -> Finding {
    let file = RepoPath::new("orders.py");
    Finding { title: Some(title.to_owned()), file, line_start: Some(line), ..Finding::new(id) }
}

fn trial(tool: &str, number: u32, findings: &[Finding]) -> Trial {
    Trial { findings: findings.to_vec(), ..Trial::reported("a".into(), ToolName::new(tool), number) }
}

fn profile() -> Profile {
    crate::profile::resolve("karat", &crate::profile::no_files, &[]).unwrap()
}

fn ann(name: &str) -> Annotator {
    Annotator::new(name).unwrap()
}

fn label(suite: &Suite, finding: &Finding, name: &str, answer: Answer) -> Label {
    let pair = Subject::pair(&suite.cases[0], &suite.cases[0].goldens[0], finding);
    Label {
        sequence: 1,
        key: pair.key(),
        case: pair.case,
        golden: pair.golden.map(|golden| golden.golden),
        annotator: ann(name),
        answer: LabelAnswer::Pair { answer, confidence: None },
        note: Some("as seen".to_owned()),
        picked_with_probability: None,
        made_ms: 0,
        source: Source::Added,
        counts: true,
        withdrawn_ms: None,
    }
}

fn written(judgements: &[Judgement]) -> String {
    let mut out = Vec::new();
    write_judgements(&mut out, judgements).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn names_are_those_that_judgements_can_carry() {
    let check = |name: &str, taken: bool| assert_eq!(Annotator::new(name).is_ok(), taken, "{name:?}");
    check("anna", true);
    check("Ünal O'Brien", true);
    check("", false);
    check(" ", false);
    check(" anna", false);
    check("human:anna", false);
    check("an\u{1b}[1mna", false);
    check("an\u{202e}na", false);
    check("--json", false);
    check(&"x".repeat(101), false);
}

#[test]
fn answers_have_words() {
    for (word, answer) in Answer::WORDS {
        assert_eq!((Answer::parse(word), Answer::parse(&word[..1]), answer.word()), (Some(answer), Some(answer), word));
    }
    assert_eq!([Answer::parse("maybe"), Answer::parse(""), Answer::parse("YES")], [None, None, Some(Answer::YES)]);
    assert!(Answer::NO.agrees(Answer { matched: false, partial: Some(false) }));
    assert!(!Answer::NO.agrees(Answer::PARTIAL) && !Answer::NO.agrees(Answer::YES));
}

#[test]
fn a_label_holds_for_every_trial_that_says_the_same() {
    let suite = suite();
    let same = finding("f1", "injection", 10);
    let trials = [
        trial("one", 1, &[same.clone(), finding("f2", "style", 3)]),
        trial("two", 7, &[finding("other-id", "injection", 10)]),
        trial("two", 8, &[finding("f1", "injection", 11)]),
        Trial { case: "clean".into(), ..trial("one", 1, std::slice::from_ref(&same)) },
    ];
    let labels = [label(&suite, &same, "anna", Answer::YES), label(&suite, &same, "ben", Answer::PARTIAL)];
    let said = written(&labels_as_judgements(&labels, &suite, &trials));
    let expect = [("one", 1, "f1"), ("two", 7, "other-id")].map(|(tool, number, id)| {
        format!(
            "{{\"kind\":\"pair\",\"case\":\"a\",\"tool\":\"{tool}\",\"trial\":{number},\"judge\":\"human:anna\",\"golden\":\"g1\",\
             \"finding\":\"{id}\",\"match\":true,\"explanation\":\"as seen\"}}\n\
             {{\"kind\":\"pair\",\"case\":\"a\",\"tool\":\"{tool}\",\"trial\":{number},\"judge\":\"human:ben\",\"golden\":\"g1\",\
             \"finding\":\"{id}\",\"match\":false,\"partial\":true,\"explanation\":\"as seen\"}}\n"
        )
    });
    assert_eq!(said, expect.concat());
    let corrected = Label { counts: false, ..labels[0].clone() };
    assert_eq!(labels_as_judgements(&[corrected], &suite, &trials), []);
    assert_eq!(labels_as_judgements(&[], &suite, &trials), []);
}

#[test]
fn the_worklist_has_each_near_pair_once_and_the_most_informative_first() {
    let suite = suite();
    let plain = finding("f1", "SQL injection in order search", 10);
    let doubtful = finding("f2", "query built from text", 12);
    let far = Finding { file: RepoPath::new("elsewhere/x.go"), ..finding("f3", "typo in a comment", 900) };
    let trials = [
        trial("one", 1, &[plain.clone(), doubtful.clone(), far.clone()]),
        trial("two", 1, &[far.clone(), doubtful.clone(), plain.clone()]),
        // Without rivals the judge makes something else of it.
        trial("two", 2, std::slice::from_ref(&doubtful)),
        trial("two", 3, std::slice::from_ref(&plain)),
        Trial { outcome: karat_core::trial::Outcome::Crashed, ..trial("three", 1, &[]) },
    ];
    let judge = local::shipped().unwrap();
    let told = |trials: &[Trial], profile: &Profile| -> Vec<String> {
        let open = pair_queue(&suite, trials, &[], profile, &judge, None);
        assert!(open.is_sorted_by(|a, b| a.doubt.variance() >= b.doubt.variance()));
        open.iter().map(|open| format!("{} {}", open.golden.id, open.finding.id)).collect()
    };
    let order = told(&trials, &profile());
    let mut sorted = order.clone();
    sorted.sort();
    assert_eq!(sorted, ["g1 f1", "g1 f2", "g2 f1", "g2 f2"], "the far one is nobody's candidate");
    let reversed: Vec<Trial> = trials.iter().rev().cloned().collect();
    assert_eq!(told(&reversed, &profile()), order, "the order of the trials tells nothing");
    // Where the best report of a golden is none, more hangs on the second best.
    let said = labels_as_judgements(&[label(&suite, &plain, "anna", Answer::NO)], &suite, &trials);
    let swing = |judgements: &[Judgement]| {
        let open = pair_queue(&suite, &trials, judgements, &profile(), &judge, None);
        open.into_iter().find(|open| open.golden.id.as_str() == "g1" && open.finding.id.as_str() == "f2").unwrap().doubt
    };
    assert!(swing(&said).swing > swing(&[]).swing, "{:?} {:?}", swing(&said), swing(&[]));
    let strict = Profile { judge_threshold: 0.8, ..profile() };
    assert_eq!(told(&trials, &strict), ["g1 f1"]);
    let recorded = Profile { method: karat_core::profile::Method::Recorded, ..profile() };
    assert_eq!(told(&trials, &recorded).len(), 6);
}

/// Reads lines, and tells labels or faults in few words.
fn read_text(text: &str, kept: &[Label], change: bool) -> Vec<String> {
    let suite = suite();
    let trials = [trial("one", 1, &[finding("f1", "injection", 10), finding("f2", "style", 3)]), {
        trial("two", 2, &[finding("x", "injection", 10)])
    }];
    let lines = NamedLines { file: "in.jsonl".to_owned(), reader: Box::new(text.as_bytes()) };
    match read(vec![lines], &ImportContext { suite: &suite, trials: &trials, stored: kept, change }) {
        Ok(labels) => {
            let told = |l: &NewLabel| format!("{} {} {:?}", l.annotator, l.answer.word(), l.note);
            labels.iter().map(told).collect()
        }
        Err(faults) => {
            let told = |d: &Diagnostic| format!("{}:{} {}: {}", d.line, d.column, d.code, d.message);
            faults.0.iter().map(told).collect()
        }
    }
}

fn line(judge: &str, tool: &str, trial: u32, finding: &str, matched: bool) -> String {
    format!(
        "{{\"kind\":\"pair\",\"case\":\"a\",\"tool\":\"{tool}\",\"trial\":{trial},\"judge\":\"{judge}\",\"golden\":\"g1\",\
         \"finding\":\"{finding}\",\"match\":{matched}}}\n"
    )
}

#[test]
fn labels_are_read_whole_or_refused_with_all_faults() {
    let check = |text: &str, expect: &[&str]| assert_eq!(read_text(text, &[], false), expect, "{text}");
    let good = line("human:anna", "one", 1, "f1", true);
    check(&good, &["anna yes None"]);
    check(&format!("{good}{}", line("human:anna", "two", 2, "x", true)), &["anna yes None"]);
    check(&format!("{good}{}", line("human:ben", "one", 1, "f1", false)), &["anna yes None", "ben no None"]);
    let bad = [
        good,
        line("human:anna", "two", 2, "x", false),
        line("local", "one", 1, "f1", true),
        line("human:an:na", "one", 1, "f3", true),
        line("human:anna", "one", 9, "f1", true),
        line("human:anna", "one", 1, "f2", true).replace("\"g1\"", "\"g9\""),
        line("human:anna", "one", 1, "f2", true).replace("\"g1\"", "null"),
        r#"{"kind":"unjudged","case":"a","tool":"one","trial":1,"judge":"human:anna","golden":"g1","finding":"f1","why":"w"}"#
            .to_owned(),
    ];
    check(
        &bad.concat(),
        &[
            "2:107 contradiction: anna says yes about the same golden and finding at in.jsonl:1",
            "3:58 no-person: `local` is not a person; labels are decisions of people",
            "4:58 bad-name: invalid annotator name \"an:na\": a name has no colon, since judgements are signed human:NAME",
            "4:96 unknown-finding: trial 1 of one on a has no finding `f3`",
            "5:48 unknown-trial: there is no trial 9 of one on a",
            "6:80 unknown-golden: the case `a` has no golden `g9`",
            "7:80 no-golden: a label is about one golden, and this line names none",
            "8:9 no-label: a label is about a finding and a golden, an extra, or an audited finding, and this line is about something else",
        ],
    );
    assert!(!read_text("{\"kind\":\"pair\"\n", &[], false).is_empty());
}

#[test]
fn what_was_said_before_is_not_unsaid_by_a_file() {
    let kept = [label(&suite(), &finding("f1", "injection", 10), "anna", Answer::NO)];
    let text = line("human:anna", "one", 1, "f1", true);
    let refused = read_text(&text, &kept, false);
    assert!(
        refused[0].starts_with("1:108 contradiction: anna has said no of this golden and finding before"),
        "{refused:?}"
    );
    assert_eq!(read_text(&text, &kept, true), ["anna yes None"]);
    assert_eq!(read_text(&text.replace("anna", "ben"), &kept, false), ["ben yes None"]);
}

#[test]
fn a_page_shows_the_pair_and_the_code_within_the_width() {
    let mut suite = suite();
    suite.cases[0].goldens[0].description = Some("The query is built from text.\n\n\tsecond paragraph".to_owned());
    let wide = "an unbroken-".to_owned() + &"x".repeat(120);
    let hostile =
        Finding { message: Some(format!("{wide}\u{1b}[31m red\u{202e}")), ..finding("f1", "Injection \u{7}", 13) };
    let pair = Subject::pair(&suite.cases[0], &suite.cases[0].goldens[0], &hostile);
    let text: String = (1..=60).map(|n| format!("line {n}\t= {}\n", "é".repeat(n))).collect();
    let code = page::excerpts(&pair, &|_, path| (path.as_str() == "orders.py").then(|| text.clone()));
    let numbers: Vec<String> = code[0]
        .lines
        .iter()
        .map(|line| {
            format!("{}{}{}", line.number, if line.golden { "g" } else { "" }, if line.finding { "r" } else { "" })
        })
        .collect();
    assert_eq!(numbers.join(" "), "5 6 7 8 9 10g 11g 12 13r 14 15 16 17 18");
    let drawn = page::draw(&pair, &code, &TerminalStyle::complete(60));
    for line in drawn.lines() {
        assert!(unicode_width::UnicodeWidthStr::width(line) <= 60, "{line}");
    }
    for part in [
        "Known problem",
        "SQL injection in order search",
        "      second paragraph",
        "orders.py:10-11",
        "g  10  line 10",
        " r 13  ",
    ] {
        assert!(drawn.contains(part), "no {part:?}:\n{drawn}");
    }
    assert!(!drawn.contains(['\u{1b}', '\u{7}', '\u{202e}', '\t']), "{drawn}");
    let gone = page::excerpts(&pair, &|_, _| None);
    assert!(page::draw(&pair, &gone, &TerminalStyle::complete(60)).contains("not at hand"));
}

#[test]
fn places_far_apart_and_endless_ones_are_shown_in_part() {
    let mut suite = suite();
    suite.cases[0].goldens[0].lines = Some(Lines { start: 1, end: u32::MAX });
    let pair = Subject::pair(&suite.cases[0], &suite.cases[0].goldens[0], &finding("f1", "t", u32::MAX));
    let text = "x\n".repeat(1000);
    let code = page::excerpts(&pair, &|_, _| Some(text.clone()));
    assert_eq!(code[0].lines.len(), 36);
    let elsewhere = Finding { file: RepoPath::new("b.py"), ..finding("f1", "t", 500) };
    let pair = Subject::pair(&suite.cases[0], &suite.cases[0].goldens[0], &elsewhere);
    let code = page::excerpts(&pair, &|_, _| Some(text.clone()));
    assert_eq!(code.iter().map(|e| e.file.as_str()).collect::<Vec<_>>(), ["orders.py", "b.py"]);
    let near = Finding { line_start: Some(500), ..finding("f1", "t", 0) };
    let pair = Subject::pair(&suite.cases[0], &suite.cases[0].goldens[0], &near);
    let code = page::excerpts(&pair, &|_, _| Some(text.clone()));
    assert!(page::draw(&pair, &code, &TerminalStyle { colour: true, ..TerminalStyle::complete(80) }).contains("⋮"));
}
