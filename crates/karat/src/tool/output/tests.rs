use super::*;
use karat_core::ids::{CaseId, ToolName};
use karat_format::submission::TrialV1;

fn read_with_rules(format: &str, bytes: Option<&[u8]>, rules: Option<&RuleMap>) -> Read {
    let trial = Trial::reported(CaseId::new("src"), ToolName::new("mine"), 2);
    let roots = &["/run/co".to_owned()];
    read(&Output { trial: &trial, format, bytes, caps: Caps::default(), roots, rules, sources: &|_| None })
}

fn read_text(format: &str, bytes: Option<&[u8]>) -> Read {
    read_with_rules(format, bytes, None)
}

/// What a text is read as: the outcome, then the problem or the findings and notes.
#[track_caller]
fn check(format: &str, text: &str, expect: &str) {
    let read = read_text(format, Some(text.as_bytes()));
    assert_eq!((read.trial.tool.as_str(), read.trial.case.as_str(), read.trial.number), ("mine", "src", 2));
    let mut told = vec![read.trial.outcome.as_str().to_owned()];
    told.extend(read.problem.clone());
    for finding in &read.trial.findings {
        let file = finding.file.as_ref().map_or("-", |file| file.as_str());
        let line = finding.line_start.map_or(String::new(), |line| format!(":{line}"));
        told.push(format!("{} {file}{line} {}", finding.id, finding.headline()));
    }
    told.extend(read.trial.notes.iter().map(|note| format!("note {note}")));
    let expect: Vec<&str> = expect.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    assert_eq!(told.join("\n"), expect.join("\n"), "{text}");
    // What is read can be stored and read again.
    let (_, faults) = TrialV1::from(&read.trial).into_trial();
    assert_eq!(faults, []);
}

#[test]
fn nothing_written_is_not_nothing_found() {
    for format in formats() {
        let absent = read_text(format, None);
        assert_eq!(absent.trial.outcome, Outcome::Unparsable, "{format}");
        assert_eq!(absent.problem.as_deref(), Some("the tool succeeded but wrote no result file"));
        let expect = if format == "rdjsonl" { Outcome::Reported } else { Outcome::Unparsable };
        assert_eq!(read_text(format, Some(b" \n")).trial.outcome, expect, "{format}");
    }
    check("sarif", "\n", "unparsable\nthe tool succeeded but its result is empty, which is not a sarif document");
}

#[test]
fn foreign_results_are_renamed_and_made_relative() {
    check(
        "bandit",
        r#"{"errors":[],"results":[
            {"filename":"/run/co/src/app.py","test_id":"B1","test_name":"one","line_number":3,"issue_text":"in /run/co/src/app.py"},
            {"filename":"./src/b.py","test_id":"B2","test_name":"two"}]}"#,
        "reported\nf1 src/app.py:3 in src/app.py\nf2 src/b.py two",
    );
    check(
        "sarif",
        r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"other"}},"results":[
            {"ruleId":"R","message":{"text":"see /run/co/x"},"locations":[{"physicalLocation":{
             "artifactLocation":{"uri":"file:///run/co/a%20b.py"},"region":{"startLine":4}}}]}]}]}"#,
        "reported\nf1 a b.py:4 see x",
    );
}

#[test]
fn failures_of_the_tool_are_kept() {
    check(
        "bandit",
        r#"{"errors":[{"filename":"/run/co/bad.py","reason":"syntax error"},{"reason":"odd /run/co/x"}],"results":[]}"#,
        "reported\nnote incomplete: bad.py: syntax error\nnote incomplete: odd x",
    );
    let many: Vec<String> = (0..25).map(|n| format!(r#"{{"filename":"{n}.py","reason":"bad"}}"#)).collect();
    let read = read_text("bandit", Some(format!(r#"{{"errors":[{}],"results":[]}}"#, many.join(",")).as_bytes()));
    assert_eq!(read.trial.notes.len(), 21);
    assert_eq!(read.trial.notes[20], "incomplete: and 5 more failures");
    check(
        "sarif",
        r#"{"version":"2.1.0","runs":[{"tool":{"driver":{"name":"t"}},"invocations":[{"executionSuccessful":false}],
            "results":[{"message":{"text":"one"}}]}]}"#,
        "unparsable\nthe tool reported that it failed: the tool reported that its execution failed",
    );
}

#[test]
fn what_cannot_be_read_is_unparsable() {
    check(
        "bandit",
        "{\"results\":[",
        "unparsable\noutput:1:12: the file ends in the middle of its JSON (EOF while parsing a list); copy the whole file, or run the tool to its end",
    );
    check("sarif", "Traceback:", "unparsable\noutput:1:1: expected JSON, which starts with `{` or `[`, found `T`");
}

#[test]
fn our_own_format() {
    check("karat", "{}", "reported");
    check("karat", "{\"findings\": []}", "reported");
    check("karat", "[]", "reported");
    check(
        "karat",
        r#"{"findings":[{"title":"one","file":"/run/co/a.py","line_start":3},{"id":"f1","message":"two","file":null},{"rule_id":"three"}]}"#,
        "reported\nf2 a.py:3 one\nf1 - two\nf3 - three",
    );
    check("karat", "\u{feff}[{\"title\":\"one\"}]", "reported\nf1 - one");
    let read = read_text(
        "karat",
        Some(br#"{"verdict":"vulnerable","confidence":0.5,"response":"text","tokens_in":3,"tokens_out":4,"cost_usd":0.1,"notes":["n"]}"#),
    );
    assert_eq!((read.trial.confidence, read.trial.tokens_out, read.trial.cost_usd), (Some(0.5), Some(4), Some(0.1)));
    assert_eq!((read.trial.response.as_deref(), read.trial.notes.as_slice()), (Some("text"), &["n".to_owned()][..]));
    // A tool cannot say whose trial it is.
    check("karat", r#"{"case":"other","tool":"other","trial":9,"outcome":"reported"}"#, "reported");
    check(
        "karat",
        r#"{"outcome":"crashed","notes":["no key"]}"#,
        "unparsable\nthe tool reported its own outcome as crashed: no key",
    );
}

#[test]
fn our_own_format_in_a_fence() {
    check("karat", "I found this.\n\n```json\n[{\"title\":\"one\"}]\n```\nBye.", "reported\nf1 - one");
    check("karat", "Here:\n~~~\n{\"findings\":[{\"title\":\"one\"}]}\n~~~\n", "reported\nf1 - one");
    check("karat", "```python\nx = 1\n```\n```JSON\n[]\n```", "reported");
    let none = "unparsable\nthe result is neither JSON nor has JSON in a Markdown fence";
    check("karat", "Nothing is wrong with it.", none);
    check("karat", "So: {\"findings\": []}", none);
    check("karat", "```json\n[]\n", none);
    let several = "unparsable\nthe result has 2 fences of JSON, and it is unknown which is the answer";
    check("karat", "```json\n[]\n```\n```json\n[{\"title\":\"a\"}]\n```", several);
}

#[test]
fn faults_of_our_own_format_have_places() {
    check(
        "karat",
        "{\n  \"findings\": [{\"titel\": \"x\"}]}",
        "unparsable\noutput:2:17: unknown key `titel`; did you mean `title`?",
    );
    check(
        "karat",
        "[\n {\"file\": \"a.py\"}]",
        "unparsable\noutput:2:2: the finding `f1` needs a title, a message or a rule_id",
    );
    check(
        "karat",
        "Look:\n\n```json\n[{\"title\": 3}]\n```",
        "unparsable\noutput:4:12: expected text for `title`, found the number 3; quote it: \"3\"",
    );
    check(
        "karat",
        "{\"confidence\": 7}",
        "unparsable\noutput:1:16: expected a number of at most 1.0 for `confidence`, found the number 7",
    );
    check("karat", "7", "unparsable\nthe result is neither JSON nor has JSON in a Markdown fence");
    let bytes = read_text("karat", Some(b"{\"a\": \"\xff\"}"));
    assert_eq!(bytes.problem.as_deref(), Some("the result is not UTF-8 text from byte 7 on"));
}

#[test]
fn the_rule_map_is_applied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("map.csv");
    std::fs::write(&path, "rule_id,category,cwe\nB1,injection,89\n").unwrap();
    let rules = RuleMap::read(&path).unwrap();
    let read = read_with_rules(KARAT, Some(br#"[{"rule_id":"B1"}]"#), Some(&rules));
    assert_eq!(
        (read.trial.findings[0].category.as_deref(), &read.trial.findings[0].cwe[..]),
        (Some("injection"), &[89][..])
    );
}

#[test]
fn prose_is_kept_as_the_response() {
    let read = read_text("review-text", Some(b"- `a.py:3`: the index is off by one"));
    assert_eq!(read.trial.response.as_deref(), Some("- `a.py:3`: the index is off by one"));
    assert_eq!(read.trial.findings.len(), 1);
}
