//! Texts that a program only writes to its log.

use super::walk::{text_of, visit_placed};
use crate::language::Language;
use crate::symbols::tree;
use std::ops::Range;

/// A text that goes to a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogText {
    /// What is between the quotes.
    pub text: String,
    /// Where that is.
    pub range: Range<usize>,
}

/// The plain texts of a file that only a log gets; nothing if the file has errors.
pub fn log_texts(language: Language, text: &str) -> Vec<LogText> {
    let Some(tree) = tree(language, text).filter(|tree| !tree.root_node().has_error()) else { return Vec::new() };
    let mut found = Vec::new();
    visit_placed(&tree, |placed, ancestors| {
        let is_string = matches!(placed.kind(), "string" | "string_literal" | "interpreted_string_literal");
        if !is_string {
            return true;
        }
        // The first argument of a call whose function writes to a log.
        let arguments = ancestors.last().filter(|own| matches!(own.kind(), "argument_list" | "arguments"));
        let is_first =
            arguments.is_some_and(|own| own.node.named_child(0).is_some_and(|first| first.id() == placed.node.id()));
        let call = ancestors.iter().rev().nth(1).filter(|_| is_first);
        let callee = call.and_then(|call| {
            let head = text.get(call.node.start_byte()..arguments?.node.start_byte())?;
            Some(head.trim())
        });
        if callee.is_some_and(|callee| writes_log(language, callee)) {
            let raw = text_of(placed.node, text);
            let is_plain = raw.len() > 2 && raw.starts_with('"') && raw.ends_with('"') && !raw.starts_with("\"\"\"");
            if is_plain && !raw.contains("#{") {
                let range = placed.node.start_byte() + 1..placed.node.end_byte() - 1;
                found.push(LogText { text: text[range.clone()].to_owned(), range });
            }
        }
        false
    });
    found
}

fn writes_log(language: Language, callee: &str) -> bool {
    let Some((object, method)) = callee.rsplit_once('.') else { return false };
    let object = object.rsplit(['.', ':']).next().unwrap_or(object).trim_start_matches(['_', '@']).to_ascii_lowercase();
    let is_logger = matches!(object.as_str(), "log" | "logger" | "logging" | "slog");
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => {
            // The other functions of the console write to standard output, which somebody may read.
            is_logger && matches!(method, "log" | "info" | "warn" | "error" | "debug")
                || object == "console" && matches!(method, "warn" | "error")
        }
        Language::Go => {
            is_logger && matches!(method, "Print" | "Printf" | "Println" | "Info" | "Warn" | "Error" | "Debug")
        }
        Language::Python | Language::Java | Language::Ruby => {
            is_logger && matches!(method, "info" | "warn" | "warning" | "error" | "debug" | "exception")
        }
        Language::Rust | Language::C | Language::Cpp | Language::Solidity => false,
    }
}
