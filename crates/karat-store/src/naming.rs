//! Run ids and names.

use super::{Result, StoreError, Value};
use serde::Serialize;
use std::fmt;

/// The name of the newest run.
pub const LATEST: &str = "latest";

/// Ids start with a timestamp; this prefix has millisecond resolution, so short ids stay unique as runs are added.
const SHORTEST: usize = 13;

/// A globally unique run id; ids sort by time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RunId(String);

impl RunId {
    /// An id that no other run has.
    pub fn random() -> Self {
        Self(uuid::Uuid::now_v7().to_string())
    }

    /// Reads an id; `None` if it is not one.
    pub fn parse(text: &str) -> Option<Self> {
        let id = uuid::Uuid::try_parse(text).ok()?.to_string();
        (id == text).then_some(Self(id))
    }

    /// The text of the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&RunId> for Value {
    fn from(run: &RunId) -> Self {
        Self::Text(run.0.clone())
    }
}

pub(super) fn short_ids<'i>(ids: impl Iterator<Item = &'i str>) -> Vec<String> {
    let ids: Vec<&str> = ids.collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let short = |id: &&str| {
        let at = sorted.partition_point(|other| other < id);
        let before = at.checked_sub(1).and_then(|i| sorted.get(i)).map_or(0, |other| shared(id, other));
        let after = sorted.get(at + 1).map_or(0, |other| shared(id, other));
        id.get(..(before.max(after) + 1).max(SHORTEST)).unwrap_or(id).trim_end_matches('-').to_owned()
    };
    ids.iter().map(short).collect()
}

/// Rejects names that could be read as another kind of reference.
pub(super) fn check_name(name: &str) -> Result<()> {
    let reason = if name.trim().is_empty() || name.trim() != name {
        "expected a name that is not blank and has no spaces at its ends"
    } else if name.chars().any(char::is_control) {
        "expected a name without control characters"
    } else if name.chars().count() > 100 {
        "expected at most 100 characters"
    } else if name == LATEST {
        "`latest` stands for the newest run"
    } else if name.starts_with('-') {
        "it looks like a flag"
    } else if name.chars().all(|c| c.is_ascii_hexdigit() || c == '-') {
        "it looks like the beginning of an id; add a letter after f"
    } else {
        return Ok(());
    };
    Err(StoreError::BadName { name: name.to_owned(), reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_are_unique() {
        let check = |ids: &[&str], expect: &[&str]| assert_eq!(short_ids(ids.iter().copied()), expect, "{ids:?}");
        check(&[], &[]);
        check(&["0192f3a1-b2c3-7000"], &["0192f3a1-b2c3"]);
        check(&["0192f3a1-b2c3-7000", "0292f3a1-b2c3-7000"], &["0192f3a1-b2c3", "0292f3a1-b2c3"]);
        check(&["0192f3a1-b2c3-7000", "0192f3a1-b2c3-7100"], &["0192f3a1-b2c3-70", "0192f3a1-b2c3-71"]);
    }

    #[test]
    fn names_cannot_be_confused_with_ids_or_flags() {
        let check = |name: &str, valid: bool| assert_eq!(check_name(name).is_ok(), valid, "{name:?}");
        check("nightly", true);
        check("before the change", true);
        check("v1.0", true);
        check("latest", false);
        check("0192f3a1", false);
        check("cafe", false);
        check("--json", false);
        check("", false);
        check(" padded", false);
        check("two\nlines", false);
        check(&"x".repeat(101), false);
    }
}
