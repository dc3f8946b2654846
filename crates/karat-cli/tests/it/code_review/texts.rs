//! No case can be solved without reading its code: reviewers who are given only the pull request's text and the names and comments of
//! the files that it changes find nothing. The same holds for contracts, which have no pull request.

use super::{SUITE, cases_of, counts, root, score_submission};
use crate::project::trial;
use karat_format::snapshot::SnapshotCaseV1;
use regex::Regex;
use serde_json::{Value, json};
use std::path::Path;

/// Weaknesses that a subject is notorious for: words of the texts, and what somebody would say who has seen nothing else.
const NOTORIOUS: &[(&str, &str)] = &[
    ("xml", "XXE: the XML parser reads external entities. Disallow DOCTYPE."),
    (
        "archive|unpack|zip|tar|extract",
        "Path traversal (zip slip): the name of an entry with ../ is joined to the folder, so that files outside of it are written.",
    ),
    ("sql|query|search|filter", "SQL injection: a value is concatenated into a query. Use a parameter."),
    ("html|render|markup|template|highlight", "XSS: a value is put into HTML without being escaped."),
    ("token|sign|secret|verif|hmac", "Timing attack: a secret is not compared in constant time."),
    ("command|shell", "Command injection: a value is interpolated into a shell command."),
    ("upload|download|file name", "Path traversal: a filename with ../ leaves the folder."),
    (
        "thread|worker|parallel|concurren",
        "Race condition: shared state is changed without a lock; check and act are not atomic.",
    ),
    ("cache", "The cache returns stale values, and grows without bound."),
    ("merge|combine|preferences", "Prototype pollution through __proto__."),
    ("permission|role|scope|access|auth", "Authorization bypass: a check is missing."),
];

/// A comment that sounds as if something were wrong near it.
const ALARM: &str = r"(?i)\b(bug|fixme|todo|hack|wrong|broken|unsafe|careful|race|leak|overflow|inject|escape|must|never|only|unless|otherwise)";

/// What a file says beside its code.
struct Texts {
    file: String,
    names: Vec<String>,
    /// With their lines.
    comments: Vec<(usize, String)>,
}

/// The files that a case's change touches, or all where there is none; relative to its code.
fn files(suite: &str, case: &SnapshotCaseV1) -> Vec<String> {
    if let Some(touched) = &case.touched {
        return touched.keys().cloned().collect();
    }
    let after = root().join("suites").join(suite).join("cases").join(&case.case.id).join("after");
    let mut found = files_below(&after, "");
    found.sort();
    found
}

fn files_below(folder: &Path, prefix: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            found.extend(files_below(&entry.path(), &format!("{name}/")));
        } else {
            found.push(name);
        }
    }
    found
}

fn changed_files(suite: &str, case: &SnapshotCaseV1) -> Vec<Texts> {
    let comment = Regex::new(r"(?:^|\s)(?:///?!?|#!?|--|/\*+|\*)\s+(.*?)(?:\*/)?\s*$").unwrap();
    let declared = Regex::new(
        r"\b(?:class|contract|library|event|modifier|struct|enum|interface|trait|fn|func|def|function|module|type|const|let|var|local|TABLE|VIEW|INDEX)\s+(?:mut\s+)?(?:\([^)]*\)\s*)?([A-Za-z_]\w*)",
    )
    .unwrap();
    let read = |file: &String| {
        let path = root().join("suites").join(suite).join("cases").join(&case.case.id).join("after").join(file);
        let text = std::fs::read_to_string(path).ok()?;
        let mut texts = Texts { file: file.clone(), names: Vec::new(), comments: Vec::new() };
        for (i, line) in text.lines().enumerate() {
            if let Some(found) = comment.captures(line) {
                texts.comments.push((i + 1, found[1].to_owned()));
            } else {
                texts.names.extend(declared.captures_iter(line).map(|found| found[1].to_owned()));
            }
        }
        Some(texts)
    };
    files(suite, case).iter().filter_map(read).collect()
}

fn pull_request(case: &SnapshotCaseV1) -> String {
    let pr = serde_json::to_value(&case.case.pr).unwrap();
    let text = |key: &str| pr[key].as_str().unwrap_or_default();
    format!("{}. {}", text("title"), text("description"))
}

fn all_texts(case: &SnapshotCaseV1, texts: &Texts) -> String {
    let comments: Vec<&str> = texts.comments.iter().map(|(_, text)| text.as_str()).collect();
    [pull_request(case), texts.file.clone(), texts.names.join(" "), comments.join(" ")].join(" ")
}

/// Repeats what is written, about the file as a whole, and where a comment is alarming about its line.
fn repeat_texts(suite: &str, case: &SnapshotCaseV1) -> Vec<Value> {
    let alarm = Regex::new(ALARM).unwrap();
    let mut findings = Vec::new();
    for texts in changed_files(suite, case) {
        let message = all_texts(case, &texts);
        let title = case.case.pr.as_ref().map_or_else(|| texts.names.join(" "), |pr| pr.title.clone());
        findings.push(json!({ "title": title, "message": message, "file": texts.file }));
        for (line, text) in texts.comments.iter().filter(|(_, text)| alarm.is_match(text)) {
            findings.push(json!({ "title": text, "file": texts.file, "line_start": line, "line_end": line }));
        }
    }
    findings
}

/// Reports what the subject is notorious for.
fn guess_by_subject(suite: &str, case: &SnapshotCaseV1) -> Vec<Value> {
    let mut findings = Vec::new();
    for texts in changed_files(suite, case) {
        let words = all_texts(case, &texts);
        for (subject, message) in NOTORIOUS {
            if Regex::new(&format!("(?i){subject}")).unwrap().is_match(&words) {
                findings.push(json!({ "title": message, "file": texts.file }));
            }
        }
    }
    findings
}

type Review = fn(&str, &SnapshotCaseV1) -> Vec<Value>;

fn check_that_nothing_is_found(suite: &str, reviewer: &str, review: Review, at_least: usize) {
    let mut total = 0;
    let answer = |case: &SnapshotCaseV1| {
        let mut findings = review(suite, case);
        for (i, finding) in findings.iter_mut().enumerate() {
            finding["id"] = json!(format!("f{i}"));
        }
        total += findings.len();
        trial(&case.case.id, reviewer, 1, json!(findings))
    };
    let submission: Vec<Value> = cases_of(suite).iter().map(answer).collect();
    assert!(total >= at_least, "the baseline proposes only {total} findings");
    let tool = score_submission(suite, &submission);
    let solved = |case: &&Value| case["trials"][0]["tp"] != 0;
    let solved: Vec<&Value> =
        tool["cases"].as_array().unwrap().iter().filter(solved).map(|case| &case["case"]).collect();
    assert!(solved.is_empty(), "{reviewer} solves {solved:?} without reading the code");
    assert_eq!(counts(&tool)[0], 0);
}

#[test]
fn repeated_texts_find_nothing() {
    check_that_nothing_is_found(SUITE, "texts", repeat_texts, 150);
    check_that_nothing_is_found("contracts", "texts", repeat_texts, 100);
}

#[test]
fn guesses_by_subject_find_nothing() {
    check_that_nothing_is_found(SUITE, "subjects", guess_by_subject, 150);
}
