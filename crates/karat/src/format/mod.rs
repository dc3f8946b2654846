//! Formats at the door: what files hold, as versioned mirrors of the domain. Renaming a domain field breaks a conversion here,
//! not somebody's suite or last year's results.

pub mod case;
pub mod config;
pub mod judgement;
pub mod report;
pub mod schemas;
pub mod submission;

/// What is wrong with a value that fits the schema: the path to it, a code, and words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueFault {
    /// Keys and indices from the root, such as `issues`, `2`, `line_end`.
    pub path: Vec<String>,
    /// A short name of the kind of fault.
    pub code: &'static str,
    /// What was seen and what was expected.
    pub message: String,
}

impl ValueFault {
    fn new(path: &[&str], code: &'static str, message: impl Into<String>) -> Self {
        Self { path: path.iter().map(|s| (*s).to_owned()).collect(), code, message: message.into() }
    }
}

/// Ids are names people type and tools print: not blank, no control characters, not endless.
fn id_fault(path: &[&str], id: &str) -> Option<ValueFault> {
    let message = if id.trim().is_empty() {
        "an id must not be blank".to_owned()
    } else if id.trim() != id || id.chars().any(char::is_control) {
        format!("the id {id:?} has blanks at its ends or control characters")
    } else if id.chars().count() > 200 {
        "an id must not be longer than 200 characters".to_owned()
    } else {
        return None;
    };
    Some(ValueFault::new(path, "bad-id", message))
}
