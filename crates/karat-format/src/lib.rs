//! File formats as versioned mirrors of the domain types. Renaming a domain field breaks a conversion here, not somebody's suite or
//! last year's results. Small values of the domain that are stored as they are bear the name of their stored form in the schemas.

pub mod assessment;
pub mod baseline;
pub mod case;
pub mod comparison;
pub mod config;
pub mod diagnostic;
pub mod diagnostic_groups;
pub mod diagnostic_render;
pub mod document;
pub mod fix;
pub mod gate;
pub mod golden_record;
pub mod judge;
pub mod judgement;
pub mod llm;
pub mod log;
pub mod models;
pub mod ordered_map;
pub mod patterns;
pub mod power;
pub mod probe;
pub mod proofs;
pub mod quantity;
pub mod ranking;
pub mod recorded;
pub mod report;
pub mod retrieval;
pub mod run;
pub mod schemas;
pub mod session;
pub mod shipped_suites;
pub mod snapshot;
pub mod submission;
pub mod template;
pub mod tool;

use crate::diagnostic::Diagnostic;
use crate::document::{Line, Segment};

fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// What is wrong with a value that fits the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFault {
    /// Keys and indices from the root, such as `issues`, `2`, `line_end`.
    pub path: Vec<String>,
    /// A short name of the kind of fault.
    pub code: &'static str,
    /// The value and what was expected.
    pub message: String,
}

impl ValueFault {
    /// The path as segments.
    pub fn steps(&self) -> Vec<Segment<'_>> {
        let step = |part: &'_ str| part.parse().ok().map(Segment::Index);
        self.path.iter().map(|part| step(part).unwrap_or(Segment::Key(part))).collect()
    }

    fn new(path: &[&str], code: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.iter().map(|s| (*s).to_owned()).collect(), code, message: message.into() }
    }
}

const MAX_ID_CHARS: usize = 200;

/// Turns any name into a valid id; `None` when nothing is left of it.
pub fn plain_id(name: &str) -> Option<String> {
    let plain: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let short: String = plain.trim().chars().take(MAX_ID_CHARS).collect();
    // Would be special as a path.
    let parts = short.split('/').filter(|part| !matches!(part.trim(), "." | ".."));
    let parts: Vec<&str> = parts.skip_while(|part| part.trim().is_empty()).collect();
    let id = parts.join("/").trim().to_owned();
    (!id.is_empty()).then_some(id)
}

/// Checks an id: not blank, no control characters, not too long.
pub fn id_fault(path: &[&str], id: &str) -> Option<ValueFault> {
    let message = if id.trim().is_empty() {
        "an id must not be blank".to_owned()
    } else if id.trim() != id || id.chars().any(char::is_control) {
        format!("the id {id:?} has leading or trailing spaces, or control characters")
    } else if id.starts_with('/') || id.split('/').any(|part| matches!(part, "." | "..")) {
        format!("the id {id:?} looks like a path to another folder")
    } else if id.chars().count() > MAX_ID_CHARS {
        format!("an id must not be longer than {MAX_ID_CHARS} characters")
    } else {
        return None;
    };
    Some(ValueFault::new(path, "bad-id", message))
}

/// The most faults reported for one line.
const MAX_VALUE_FAULTS: usize = 200;

/// Diagnostics for value faults, at their positions in the line.
pub fn value_diagnostics(found: &[ValueFault], line: &Line<'_>) -> Vec<Diagnostic> {
    if found.is_empty() {
        return Vec::new();
    }
    let node = line.parse();
    let own = |fault: &&ValueFault| line.has(&fault.steps());
    let reported = found.iter().filter(own).take(MAX_VALUE_FAULTS);
    reported.map(|f| line.within(node.as_ref(), &f.steps(), f.code, f.message.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_name_becomes_a_valid_id() {
        let check = |name: &str, expect: Option<&str>| {
            let id = plain_id(name);
            assert_eq!(id.as_deref(), expect, "{name:?}");
            assert_eq!(id.and_then(|id| id_fault(&[], &id)), None, "{name:?}");
        };
        check("Semgrep OSS", Some("Semgrep OSS"));
        check("/", None);
        check("..", None);
        check("/usr/bin/tool", Some("usr/bin/tool"));
        check("a/../b/.", Some("a/b"));
        check(" ../ /.. / . ", None);
        check(&format!("{}/..b", "a".repeat(197)), Some(&"a".repeat(197)));
        check(" padded\u{7}name\n", Some("padded name"));
        check("\u{0} \u{85}", None);
        check(&"é".repeat(201), Some(&"é".repeat(200)));
        check(&format!("{} x", "a".repeat(199)), Some(&"a".repeat(199)));
    }
}
