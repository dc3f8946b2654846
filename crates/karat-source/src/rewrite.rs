//! Rewrites source code without changing what it does: which names may be renamed, and which functions may change places.
//!
//! All decisions are conservative: what is not understood stays as it is.

mod classes;
mod functions;
mod imports;
mod log_texts;
mod macros;
mod names;
mod roles;
mod walk;

pub use functions::{FunctionBlock, FunctionRun, definition_lines, function_runs};
pub use imports::{ImportedFile, computes_imports, imported_files, names_modules};
pub use log_texts::{LogText, log_texts};
pub use names::{CodeText, NameSurvey, NamesRefused, Renaming, survey_names};

use super::language::Language;
use super::symbols::tree;

/// Whether the grammar reads the text without an error.
pub fn parses(language: Language, text: &str) -> bool {
    tree(language, text).is_some_and(|tree| !tree.root_node().has_error())
}

/// The words of a text: runs of letters, digits and underscores that do not begin with a digit, with their places.
pub fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |c: char| c == '_' || c.is_alphanumeric();
    let mut rest = 0;
    std::iter::from_fn(move || {
        loop {
            let start = rest + text.get(rest..)?.find(is_part)?;
            let length = text[start..].find(|c| !is_part(c)).unwrap_or(text.len() - start);
            rest = start + length;
            let word = &text[start..rest];
            if !word.starts_with(|c: char| c.is_numeric()) {
                return Some((start, word));
            }
        }
    })
}

#[cfg(test)]
mod tests;
