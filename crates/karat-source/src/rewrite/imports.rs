//! Which files of a program are named by others, so that they can be moved.

use super::walk::{text_of, visit_placed};
use crate::language::Language;
use crate::symbols::tree;
use std::ops::Range;

/// A place that names another file by a path relative to the file it is in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedFile {
    /// The path as written, without quotes.
    pub path: String,
    /// Where it is.
    pub range: Range<usize>,
}

/// Whether code of this language names other files by words of its own, such as `import folder.file`.
pub fn names_modules(language: Language) -> bool {
    language == Language::Python
}

/// The places of a file that name other files by a path, or in Python by a module; nothing if it has errors.
pub fn imported_files(language: Language, text: &str) -> Vec<ImportedFile> {
    let Some(tree) = tree(language, text).filter(|tree| !tree.root_node().has_error()) else { return Vec::new() };
    let mut found = Vec::new();
    visit_placed(&tree, |placed, ancestors| {
        let parent = ancestors.last();
        let is_path = match (language, placed.kind()) {
            (Language::JavaScript | Language::TypeScript | Language::Tsx, "string") => {
                let of_call = |up: usize| ancestors.iter().rev().nth(up).map(|own| text_of(own.node, text));
                placed.field == Some("source")
                    || (parent.is_some_and(|own| own.kind() == "arguments")
                        && of_call(1).is_some_and(|call| call.starts_with("require(") || call.starts_with("import(")))
            }
            (Language::C | Language::Cpp, "string_literal") => {
                parent.is_some_and(|own| own.kind() == "preproc_include")
            }
            (Language::Solidity, "string") => parent.is_some_and(|own| own.kind() == "import_directive"),
            (Language::Ruby, "string") => {
                let call = ancestors.iter().rev().nth(1).map(|own| text_of(own.node, text));
                call.is_some_and(|call| call.starts_with("require_relative"))
            }
            (Language::Python, "dotted_name") => {
                let module =
                    parent.is_some_and(|own| own.kind() == "import_from_statement" || own.kind() == "relative_import");
                module
                    && (placed.field == Some("module_name")
                        || parent.is_some_and(|own| own.kind() == "relative_import"))
            }
            _ => false,
        };
        if !is_path {
            return true;
        }
        let range = placed.node.byte_range();
        let quotes = usize::from(placed.kind() != "dotted_name");
        let inner = range.start + quotes..range.end.saturating_sub(quotes);
        if let Some(path) = text.get(inner.clone()) {
            found.push(ImportedFile { path: path.to_owned(), range: inner });
        }
        false
    });
    found
}
