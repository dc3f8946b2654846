//! How people name a run: by its id or the beginning of it, by its name, or as the latest.

use super::Store;
use super::error::StoreError;
use super::moment::shown;
use super::runs::{RunId, RunInfo, infos};
use crate::document::suggest;

/// Stands for the run that was begun last.
const LATEST: &str = "latest";

/// Ids are shown with so many characters at least.
const SHORTEST: usize = 8;

impl Store {
    /// The run that a person means.
    pub fn find(&mut self, reference: &str) -> Result<RunInfo, StoreError> {
        choose(self.runs()?, reference)
    }

    /// The id of the run that a person means. No trial is looked at, so it is found where trials are damaged.
    pub fn identify(&mut self, reference: &str) -> Result<RunId, StoreError> {
        choose(infos(&mut self.database)?, reference).map(|run| run.id)
    }
}

/// A name must not be what a reference could be beside a name.
pub(super) fn check_name(name: &str) -> Result<(), StoreError> {
    let reason = if name.trim().is_empty() || name.trim() != name {
        "a name is not blank, and has no blanks at its ends"
    } else if name.chars().any(char::is_control) {
        "a name has no control characters"
    } else if name.chars().count() > 100 {
        "a name has 100 characters at most"
    } else if name == LATEST {
        "`latest` stands for the newest run"
    } else if name.starts_with('-') {
        "it reads as a flag"
    } else if name.chars().all(is_of_ids) {
        "it reads as the beginning of an id; add a letter beyond f"
    } else {
        return Ok(());
    };
    Err(StoreError::BadName { name: name.to_owned(), reason })
}

/// For each id as much of it as tells it from all others. The order stays.
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

fn choose(runs: Vec<RunInfo>, reference: &str) -> Result<RunInfo, StoreError> {
    let plain = reference.trim().to_lowercase();
    let by_name = runs.iter().position(|run| run.name.as_deref() == Some(reference));
    let found: Vec<usize> = match by_name {
        Some(index) => vec![index],
        // They come newest first.
        None if plain == LATEST => (0..runs.len().min(1)).collect(),
        None if plain.is_empty() => Vec::new(),
        None => (0..runs.len()).filter(|&i| runs[i].id.as_str().starts_with(&plain)).collect(),
    };
    match found.as_slice() {
        [one] => runs.into_iter().nth(*one).ok_or_else(|| unknown(&[], reference)),
        [] => Err(unknown(&runs, reference)),
        several => {
            let shown: Vec<String> = several.iter().take(10).map(|&i| described(&runs[i])).collect();
            let more = several.len().saturating_sub(10);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let candidates = format!("{}{more}", shown.join(", "));
            Err(StoreError::Ambiguous { reference: reference.to_owned(), candidates })
        }
    }
}

fn unknown(runs: &[RunInfo], reference: &str) -> StoreError {
    let words = runs.iter().flat_map(|run| run.name.as_deref().into_iter().chain([run.short_id.as_str()]));
    let near = suggest::nearest(reference, words.chain([LATEST]));
    let hint = match near {
        Some(_) if runs.is_empty() => ", since none is stored yet".to_owned(),
        Some(near) => format!(" (did you mean `{near}`?)"),
        None => String::new(),
    };
    StoreError::NoRun { reference: reference.to_owned(), hint }
}

fn described(run: &RunInfo) -> String {
    match &run.name {
        Some(name) => format!("{} ({name})", run.short_id),
        None => format!("{} (begun {})", run.short_id, shown(run.created_ms)),
    }
}

fn is_of_ids(c: char) -> bool {
    matches!(c, '0'..='9' | 'a'..='f' | 'A'..='F' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_tell_runs_apart() {
        let check = |ids: &[&str], expect: &[&str]| assert_eq!(short_ids(ids.iter().copied()), expect, "{ids:?}");
        check(&[], &[]);
        check(&["0192f3a1-b2c3-7000"], &["0192f3a1"]);
        check(&["0192f3a1-b2c3-7000", "0292f3a1-b2c3-7000"], &["0192f3a1", "0292f3a1"]);
        check(&["0192f3a1-b2c4-7000", "0192f3a1-b2c3-7000"], &["0192f3a1-b2c4", "0192f3a1-b2c3"]);
    }

    #[test]
    fn names_are_never_taken_for_something_else() {
        let check = |name: &str, taken: bool| assert_eq!(check_name(name).is_ok(), taken, "{name:?}");
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
