//! Placeholders of commands and variables, such as `{checkout}`: which there are, and putting values in their place.
//!
//! None of them says which case it is or where the suite lies: a tool must not be able to look the answer up.

use karat_format::document::suggest::nearest;
use std::collections::BTreeMap;

/// A placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placeholder {
    /// Its name, without braces.
    pub name: &'static str,
    /// What is put in its place.
    pub stands_for: &'static str,
}

/// All placeholders, in the order in which they are listed.
pub static PLACEHOLDERS: &[Placeholder] = &[
    Placeholder {
        name: "checkout",
        stands_for: "the folder of the code, a git repository with the change checked out",
    },
    Placeholder {
        name: "output",
        stands_for: "the file to write the result to; without it the result is standard output",
    },
    Placeholder { name: "model", stands_for: "the model given to every tool, with --model NAME or KARAT_TOOL_MODEL" },
    Placeholder { name: "base", stands_for: "the branch before the change: main" },
    Placeholder { name: "head", stands_for: "the branch with the change: change" },
    Placeholder { name: "base_commit", stands_for: "the commit before the change" },
    Placeholder { name: "head_commit", stands_for: "the commit with the change" },
    Placeholder { name: "title_file", stands_for: "a file with the pull request's title" },
    Placeholder { name: "description_file", stands_for: "a file with the pull request's description" },
    Placeholder { name: "diff_file", stands_for: "a file with the change as a unified diff" },
    Placeholder { name: "tool_dir", stands_for: "the folder that the set-up command prepared" },
    Placeholder { name: "home", stands_for: "the tool's home folder, empty at the start of every trial" },
    Placeholder { name: "tmp", stands_for: "the tool's folder for temporary files, empty at the start of every trial" },
    Placeholder { name: "seed", stands_for: "a number that differs between trials and is the same in every run" },
    Placeholder { name: "trial", stands_for: "which of the repetitions it is, counted from 1" },
];

/// Why a text with placeholders cannot be filled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlaceholderError {
    /// There is no such placeholder.
    #[error("unknown placeholder `{{{name}}}`{}; available: {}", hint(.suggestion.as_deref()), listed())]
    Unknown {
        /// What stands between the braces.
        name: String,
        /// The placeholder of the most similar name.
        suggestion: Option<String>,
    },
    /// A brace that belongs to no placeholder.
    #[error("the `{brace}` at character {at} belongs to no placeholder; write `{brace}{brace}` for a brace itself")]
    Stray {
        /// The brace.
        brace: char,
        /// Where it stands, counted from 1.
        at: usize,
    },
    /// A placeholder that has no value here.
    #[error("`{{{name}}}` has no value here; it stands for {}", meaning(.name))]
    NoValue {
        /// The placeholder.
        name: String,
    },
}

/// The text with values in the place of placeholders; `{{` and `}}` are braces.
pub fn fill(text: &str, values: &BTreeMap<&str, String>) -> Result<String, PlaceholderError> {
    let mut filled = String::with_capacity(text.len());
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(name) => match values.get(name) {
                Some(value) => filled.push_str(value),
                None => return Err(PlaceholderError::NoValue { name: name.to_owned() }),
            },
        }
    }
    Ok(filled)
}

/// The placeholders that a text uses, in the order of their places.
pub fn used(text: &str) -> Result<Vec<&str>, PlaceholderError> {
    let name = |piece| if let Piece::Placeholder(name) = piece { Some(name) } else { None };
    Ok(pieces(text)?.into_iter().filter_map(name).collect())
}

/// A part of a text.
enum Piece<'t> {
    Text(&'t str),
    Placeholder(&'t str),
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, PlaceholderError> {
    let mut found = Vec::new();
    let mut rest = text;
    let stray = |brace: char, rest: &str| {
        let before = &text[..text.len() - rest.len()];
        PlaceholderError::Stray { brace, at: before.chars().count() + 1 }
    };
    while let Some(at) = rest.find(['{', '}']) {
        let (before, after) = rest.split_at(at);
        found.push(Piece::Text(before));
        rest = after;
        if let Some(doubled) = ["{{", "}}"].iter().find(|doubled| rest.starts_with(**doubled)) {
            found.push(Piece::Text(&doubled[..1]));
            rest = &rest[2..];
            continue;
        }
        let inner = rest.strip_prefix('{').ok_or_else(|| stray('}', rest))?;
        let (name, after) = inner.split_once('}').ok_or_else(|| stray('{', rest))?;
        // What is not written like a name is not meant as one: JSON in an argument must double its braces.
        if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') {
            return Err(stray('{', rest));
        }
        let known = PLACEHOLDERS.iter().find(|known| known.name == name);
        let Some(known) = known else {
            let near = nearest(name, PLACEHOLDERS.iter().map(|known| known.name)).map(str::to_owned);
            return Err(PlaceholderError::Unknown { name: name.to_owned(), suggestion: near });
        };
        found.push(Piece::Placeholder(known.name));
        rest = after;
    }
    found.push(Piece::Text(rest));
    Ok(found)
}

fn hint(near: Option<&str>) -> String {
    near.map(|near| format!(", did you mean `{{{near}}}`?")).unwrap_or_default()
}

fn listed() -> String {
    PLACEHOLDERS.iter().map(|known| format!("{{{}}}", known.name)).collect::<Vec<_>>().join(" ")
}

fn meaning(name: &str) -> &'static str {
    PLACEHOLDERS.iter().find(|known| known.name == name).map_or("nothing", |known| known.stands_for)
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
            "unknown placeholder `{chekout}`, did you mean `{checkout}`?; available: {checkout} {output}",
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
        for known in PLACEHOLDERS {
            assert!(!known.stands_for.is_empty(), "{}", known.name);
            assert_eq!(used(&format!("{{{}}}", known.name)), Ok(vec![known.name]));
            for word in ["case", "suite", "golden", "store"] {
                assert!(!known.name.contains(word), "{} tells a tool about the {word}", known.name);
            }
        }
    }
}
