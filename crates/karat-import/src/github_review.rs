//! Review comments of a GitHub pull request.

pub(super) mod markdown;

use super::fields::{Line, filled};
use super::json::{self, Loose};
use super::{ImportError, ImportedData, Input, tool_name};
use karat_core::finding::Finding;
use karat_core::ids::ToolName;
use karat_core::path::RepoPath;
use serde::de::{Deserialize, Deserializer};
use std::collections::BTreeSet;

#[derive(serde::Deserialize)]
struct Comment {
    id: Loose<Option<f64>>,
    path: Option<String>,
    line: Line,
    start_line: Line,
    original_line: Line,
    original_start_line: Line,
    side: Loose<Option<String>>,
    // A page without it is not a comment, but perhaps an API error.
    #[serde(deserialize_with = "Option::deserialize")]
    body: Option<String>,
    user: Option<User>,
    in_reply_to_id: Loose<Option<f64>>,
    subject_type: Loose<Option<String>>,
}

#[derive(serde::Deserialize)]
struct User {
    login: String,
}

/// One page: a comment, an array of comments, or an array of pages.
struct Page(Vec<Comment>);

impl<'de> Deserialize<'de> for Page {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let array = |pages: Vec<Self>| Self(pages.into_iter().flat_map(|Self(comments)| comments).collect());
        let expected = "a review comment or an array of them";
        json::array_or_object(deserializer, expected, array, |comment| Self(vec![comment]))
    }
}

/// The output of `gh api repos/OWNER/REPO/pulls/N/comments`, also with `--paginate` or `--slurp`, or one comment a line.
pub(super) fn import(input: Input<'_>, data: &mut ImportedData) -> Result<(), ImportError> {
    let first = data.findings.len();
    let mut known = BTreeSet::new();
    json::for_each_document(input, |Page(comments)| {
        for comment in comments {
            // Ids are integers well within the range of a double. Pages fetched while comments were added overlap.
            let id = comment.id.0.map(|id| id as u64);
            if id.is_some_and(|id| !known.insert(id)) {
                data.counter.count("comment skipped: duplicate id");
            } else if comment.in_reply_to_id.0.is_some() {
                data.counter.count("comment skipped: it is a reply");
            } else {
                add_comment(comment, id, data);
            }
        }
        Ok(())
    })?;
    data.add_tools_of_findings(first);
    Ok(())
}

fn add_comment(comment: Comment, id: Option<u64>, data: &mut ImportedData) {
    let counter = &mut data.counter;
    let Some(body) = filled(comment.body) else { return counter.count("comment skipped: it is empty") };
    let mut finding = Finding::new("");
    finding.title = markdown::title(&body);
    finding.message = Some(body);
    finding.file = comment.path.as_deref().and_then(RepoPath::new);
    if finding.file.is_none() {
        counter.count("comment without a path");
    }
    if let Some(id) = id {
        finding.fingerprints.insert("github".to_owned(), id.to_string());
    }
    if comment.subject_type.0.as_deref() != Some("file") {
        let mut last = comment.line.number(counter);
        let mut first = comment.start_line.number(counter);
        if last.is_none() {
            last = comment.original_line.number(counter);
            first = comment.original_start_line.number(counter);
            if last.is_some() {
                counter.count("comment on lines that changed since; its original lines are used");
            }
        }
        finding.line_start = first.or(last);
        finding.line_end = last;
        if comment.side.0.as_deref() == Some("LEFT") {
            counter.count("comment on the old side; its line refers to the file before the change");
        }
    }
    let tool = comment.user.and_then(|user| tool_name(&user.login)).unwrap_or_else(|| {
        counter.count("comment of a deleted account, which GitHub calls ghost");
        ToolName::new("ghost")
    });
    data.add_finding(Some(&tool), finding);
}

#[cfg(test)]
mod tests {
    use super::super::testing::{check, check_fault, check_text, import_fixture};

    #[test]
    fn comments_become_findings() {
        check(
            &import_fixture("github-review", "github-review/paginated.json"),
            r#"
            ran robot[bot]
            ran person
            ran ghost
            finding robot[bot]: title="Query is built by hand" message="![high](https://example.test/h.svg)\n\n### **Query is built by hand**\n\nUse parameters." file="src/db.py" start="10" end="12" fingerprints={"github": "1"}
            finding robot[bot]: title="Outdated" message="Outdated" file="src/db.py" start="7" end="8" fingerprints={"github": "3"}
            finding person: title="Left" message="Left" file="src/old.py" start="5" end="5" fingerprints={"github": "4"}
            finding person: title="Whole file" message="Whole file" file="src/new.py" fingerprints={"github": "5"}
            finding ghost: title="Ghost" message="Ghost"
            note github-review/paginated.json: comment of a deleted account, which GitHub calls ghost (1)
            note github-review/paginated.json: comment on lines that changed since; its original lines are used (1)
            note github-review/paginated.json: comment on the old side; its line refers to the file before the change (1)
            note github-review/paginated.json: comment skipped: duplicate id (1)
            note github-review/paginated.json: comment skipped: it is a reply (1)
            note github-review/paginated.json: comment skipped: it is empty (2)
            note github-review/paginated.json: comment without a path (1)
            note github-review/paginated.json: line number ignored: line numbers start at 1 (1)
            "#,
        );
    }

    #[test]
    fn json_lines_and_slurped_pages_are_read() {
        let one = r#"{"path":"a","line":1,"body":"x","user":{"login":"u"}}"#;
        let expect = r#"ran u
            finding u: title="x" message="x" file="a" start="1" end="1"
            finding u: title="x" message="x" file="a" start="1" end="1""#;
        check_text("github-review", &format!("{one}\n{one}\n"), expect);
        check_text("github-review", &format!("[[{one}],[],[{one}]]"), expect);
        check_text("github-review", &format!("[{one}][{one}]"), expect);
        check_text("github-review", "[]", "");
    }

    #[test]
    fn faults_have_positions() {
        let check = |text: &str, expect: &str| check_fault("github-review", text, expect);
        check("{\"message\":\"Not Found\"}", "missing field `body`");
        check("[{\"body\":\"x\",\n\"path\":1}]", "in:2:9: invalid type: integer `1`, expected a string");
        check("[1]", "in:1:3: invalid type: integer `1`, expected a review comment or an array of them");
        check("[{\"body\":\"x\"}", "the file ends in the middle");
        check(&"[".repeat(5000), "nested too deep");
    }
}
