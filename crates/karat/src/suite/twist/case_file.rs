//! The text of a case with the places of its goldens in the variant.

use super::program::Mark;
use crate::suite::LoadedSuite;
use crate::suite::edit::{decoded, edit_cases, parse, splice};
use karat_core::ids::CaseId;
use karat_core::suite::TwistedFrom;
use karat_format::case::IssueV1;
use karat_format::document::{Segment, Syntax};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// What changes in the text of a case.
pub(super) struct CaseEdit {
    pub(super) case: CaseId,
    /// The new place of each golden.
    pub(super) marks: Vec<Mark>,
    pub(super) from: TwistedFrom,
}

/// The new content of each file of cases, by its path in the suite, or why it cannot be written.
pub(super) fn edited_cases(loaded: &LoadedSuite, edits: &[CaseEdit]) -> Result<BTreeMap<String, String>, String> {
    let advice = ["; try again. Nothing was written", "; write its keys one below the other. Nothing was written"];
    edit_cases(loaded, edits, |edit| &edit.case, edited, advice)
}

/// Whether the file of a case is laid out so that it can be edited.
pub(super) fn can_be_edited(loaded: &LoadedSuite, edit: CaseEdit) -> bool {
    edited_cases(loaded, &[edit]).is_ok()
}

fn edited(text: &str, edits: &[&CaseEdit], syntax: Syntax) -> Option<String> {
    let [CaseEdit { marks, from, .. }] = edits else { return None };
    let mut expect = decoded(text, syntax)?;
    let node = parse(text, syntax)?;
    let mut splices: Vec<(Range<usize>, String)> = Vec::new();
    for (index, (issue, mark)) in expect.issues.iter_mut().zip(marks).enumerate() {
        for (key, value) in changed_values(issue, mark) {
            let there = node.get(&[Segment::Key("issues"), Segment::Index(index), Segment::Key(key)])?;
            splices.push((there.span.clone(), value.to_string()));
        }
        moved(issue, mark);
    }
    let mut out = splice(text, splices);
    let operations = from.operations.join(", ");
    match syntax {
        Syntax::Yaml => {
            let line_break = if out.ends_with('\n') { "" } else { "\n" };
            let (suite, seed) = (json!(from.suite), from.seed);
            let added =
                format!("{line_break}twisted_from:\n  suite: {suite}\n  seed: {seed}\n  operations: [{operations}]\n");
            let has_both = text.contains("\r\n");
            out.push_str(&if has_both { added.replace('\n', "\r\n") } else { added });
        }
        _ => {
            let end = out.rfind('}')?;
            out.insert_str(end, &format!(", \"twisted_from\": {}", serde_json::to_string(from).ok()?));
        }
    }
    expect.twisted_from = Some(from.clone());
    // An unusual layout must not damage the case: the result must read as the old one with the new places.
    (decoded(&out, syntax)? == expect).then_some(out)
}

fn changed_values(issue: &IssueV1, mark: &Mark) -> Vec<(&'static str, Value)> {
    let mut new = issue.clone();
    moved(&mut new, mark);
    let mut changed = Vec::new();
    let mut compare = |key, old: Value, new: Value| {
        if old != new {
            changed.push((key, new));
        }
    };
    compare("file", json!(issue.file), json!(new.file));
    compare("line_start", json!(issue.line_start), json!(new.line_start));
    compare("line_end", json!(issue.line_end), json!(new.line_end));
    compare("quote", json!(issue.quote), json!(new.quote));
    changed
}

/// Puts a golden at its new place. What was not stated stays so.
fn moved(issue: &mut IssueV1, mark: &Mark) {
    issue.file = issue.file.take().map(|old| mark.file.clone().unwrap_or(old));
    issue.line_start = issue.line_start.map(|old| mark.lines.map_or(old, |lines| lines.start));
    issue.line_end = issue.line_end.map(|old| mark.lines.map_or(old, |lines| lines.end));
    issue.quote = issue.quote.take().map(|old| mark.quote.clone().unwrap_or(old));
}
