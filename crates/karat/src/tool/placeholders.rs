//! Placeholders of commands and variables, such as `{checkout}`.
//!
//! None of them tells which case it is or where the suite is: a tool must not be able to look the answer up.

use karat_format::document::suggest::nearest;
use std::collections::BTreeMap;

/// What only fixers are given.
pub(super) const FINDING_FILE: &str = "finding_file";

/// All placeholders and what they stand for, in the order in which they are listed.
pub static PLACEHOLDERS: &[(&str, &str)] = &[
    ("checkout", "the folder of the code, a git repository with the change checked out"),
    ("output", "the file to write the result to; without it the result is standard output"),
    ("model", "the model given to every tool, with --model NAME or KARAT_TOOL_MODEL"),
    ("base", "the branch before the change: main"),
    ("head", "the branch with the change: change"),
    ("base_commit", "the commit before the change"),
    ("head_commit", "the commit with the change"),
    ("title_file", "a file with the pull request's title"),
    ("description_file", "a file with the pull request's description"),
    ("diff_file", "a file with the change as a unified diff"),
    (FINDING_FILE, "of a fixer, a file with the finding to repair"),
    ("tool_dir", "the folder that the set-up command prepared"),
    ("manifest_dir", "the folder of the manifest, if it is in its own file"),
    ("home", "the tool's home folder, empty at the start of every trial"),
    ("tmp", "the tool's folder for temporary files, empty at the start of every trial"),
    ("seed", "a number that differs between trials and is the same in every run"),
    ("trial", "which of the repetitions it is, counted from 1"),
];

/// Why a text with placeholders cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct PlaceholderError {
    pub(super) code: &'static str,
    message: String,
}

const BAD: &str = "bad-placeholder";

/// The text with values in the place of placeholders; `{{` and `}}` are braces.
pub fn fill(text: &str, values: &BTreeMap<&str, String>) -> Result<String, PlaceholderError> {
    let mut filled = String::with_capacity(text.len());
    for (text, name) in pieces(text)? {
        filled.push_str(text);
        let Some(name) = name else { continue };
        let Some(value) = values.get(name) else {
            let known = PLACEHOLDERS.iter().find(|(known, _)| *known == name);
            let meaning = known.map_or("nothing", |(_, meaning)| meaning);
            let message = format!("`{{{name}}}` has no value here; it stands for {meaning}");
            return Err(PlaceholderError { code: BAD, message });
        };
        filled.push_str(value);
    }
    Ok(filled)
}

/// The text such that [`fill`] yields it again.
pub(crate) fn escape(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

/// The placeholders that a text uses, in their order.
pub fn used(text: &str) -> Result<Vec<&str>, PlaceholderError> {
    Ok(pieces(text)?.into_iter().filter_map(|(_, name)| name).collect())
}

/// Plain texts, each with the placeholder that follows it, if any.
fn pieces(text: &str) -> Result<Vec<(&str, Option<&str>)>, PlaceholderError> {
    let mut found = Vec::new();
    let mut rest = text;
    let stray = |brace: char, rest: &str| {
        let at = text[..text.len() - rest.len()].chars().count() + 1;
        let message = format!(
            "the `{brace}` at character {at} belongs to no placeholder; write `{brace}{brace}` for a brace itself"
        );
        PlaceholderError { code: BAD, message }
    };
    while let Some(at) = rest.find(['{', '}']) {
        let before = &rest[..at];
        rest = &rest[at..];
        if rest.starts_with("{{") || rest.starts_with("}}") {
            found.extend([(before, None), (&rest[..1], None)]);
            rest = &rest[2..];
            continue;
        }
        let inner = rest.strip_prefix('{').ok_or_else(|| stray('}', rest))?;
        let (name, after) = inner.split_once('}').ok_or_else(|| stray('{', rest))?;
        // Anything else between braces is not a placeholder: JSON in an argument must double its braces.
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(stray('{', rest));
        }
        if !PLACEHOLDERS.iter().any(|(known, _)| *known == name) {
            let near = nearest(name, PLACEHOLDERS.iter().map(|(known, _)| *known));
            let hint = near.map(|near| format!(", did you mean `{{{near}}}`?")).unwrap_or_else(|| ";".to_owned());
            let all: Vec<String> = PLACEHOLDERS.iter().map(|(name, _)| format!("{{{name}}}")).collect();
            let message = format!("unknown placeholder `{{{name}}}`{hint} available: {}", all.join(" "));
            return Err(PlaceholderError { code: "unknown-placeholder", message });
        }
        found.push((before, Some(name)));
        rest = after;
    }
    found.push((rest, None));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_take_the_place_of_placeholders() {
        let values = BTreeMap::from([("checkout", "/c".to_owned()), ("trial", "{2}".to_owned())]);
        let check = |text: &str, expect: &str| {
            assert_eq!(fill(text, &values).as_deref(), Ok(expect), "{text:?}");
        };
        check("", "");
        check("-r={checkout}/src", "-r=/c/src");
        check("{checkout}{trial}", "/c{2}");
        check("{{checkout}} {{}}", "{checkout} {}");
        check("é{{é", "é{é");
    }

    #[test]
    fn faults_say_what_to_do() {
        let check = |text: &str, expect: &str| {
            let error = fill(text, &BTreeMap::new()).unwrap_err().to_string();
            assert!(error.contains(expect), "{text:?}: {error}");
        };
        check(
            "{chekout}",
            "unknown placeholder `{chekout}`, did you mean `{checkout}`? available: {checkout} {output}",
        );
        check("{suite}", "unknown placeholder `{suite}`; available:");
        check("é}", "the `}` at character 2 belongs to no placeholder; write `}}`");
        check("a{", "the `{` at character 2");
        check("{\"a\": 1}", "the `{` at character 1");
        check("{}", "the `{` at character 1");
        check("{seed}", "`{seed}` has no value here; it stands for a number that");
    }

    #[test]
    fn the_table_gives_nothing_away() {
        for (name, meaning) in PLACEHOLDERS {
            assert!(!meaning.is_empty(), "{name}");
            assert_eq!(used(&format!("{{{name}}}")), Ok(vec![*name]));
            for word in ["case", "suite", "golden", "store"] {
                assert!(!name.contains(word), "{name} tells a tool about the {word}");
            }
        }
    }
}
