//! Which files of a program are named by others, so that they can be moved.

use super::walk::{Placed, child_of_kind, text_of, visit_placed};
use crate::language::Language;
use crate::symbols::tree;
use std::ops::Range;

/// A place that names another file: by a path, or in Python by a module with the dots in front of it.
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
            (Language::Python, "dotted_name" | "relative_import") => {
                parent.is_some_and(|own| own.kind() == "import_from_statement") && placed.field == Some("module_name")
            }
            _ => false,
        };
        if !is_path {
            return true;
        }
        let range = placed.node.byte_range();
        let quotes = usize::from(!names_modules(language));
        let inner = range.start + quotes..range.end.saturating_sub(quotes);
        if let Some(path) = text.get(inner.clone()) {
            found.push(ImportedFile { path: path.to_owned(), range: inner });
        }
        false
    });
    found
}

/// Whether a file may load others by names that are computed while it runs. A file with errors may.
pub fn computes_imports(language: Language, text: &str) -> bool {
    let Some(tree) = tree(language, text).filter(|tree| !tree.root_node().has_error()) else { return true };
    let mut found = false;
    visit_placed(&tree, |placed, ancestors| {
        let kind = placed.kind();
        found |= match language {
            Language::C | Language::Cpp => {
                kind == "preproc_include"
                    && !placed
                        .node
                        .child_by_field_name("path")
                        .is_some_and(|path| matches!(path.kind(), "string_literal" | "system_lib_string"))
            }
            _ if placed.node.is_named() && matches!(kind, "identifier" | "import" | "property_identifier") => {
                match text_of(placed.node, text) {
                    word if loads_named_file(language, word, kind) => !is_called_with_text(placed, ancestors, text),
                    word => loads_any_file(language, word),
                }
            }
            _ => false,
        };
        !found
    });
    found
}

/// Functions that load the file that their first argument names.
fn loads_named_file(language: Language, word: &str, kind: &str) -> bool {
    match language {
        Language::JavaScript | Language::TypeScript | Language::Tsx => word == "require" || kind == "import",
        Language::Python => matches!(word, "import_module" | "__import__"),
        Language::Ruby => matches!(word, "require" | "require_relative" | "load" | "autoload"),
        _ => false,
    }
}

/// Functions that load files in other ways.
fn loads_any_file(language: Language, word: &str) -> bool {
    match language {
        Language::Python => matches!(
            word,
            "spec_from_file_location"
                | "SourceFileLoader"
                | "run_path"
                | "run_module"
                | "iter_modules"
                | "walk_packages"
        ),
        Language::Ruby => word == "require_all",
        _ => false,
    }
}

/// Whether a function is called with a plain text, or is only imported under its own name.
fn is_called_with_text(name: Placed<'_>, ancestors: &[Placed<'_>], text: &str) -> bool {
    let ends_with_name = |own: &&Placed<'_>| {
        matches!(own.kind(), "attribute" | "member_expression") && own.node.end_byte() == name.node.end_byte()
    };
    let Some(around) = ancestors.iter().rev().find(|own| !ends_with_name(own)) else { return false };
    match around.kind() {
        // `require.main` is the file that was started.
        "member_expression" => text_of(around.node, text) == "require.main",
        "dotted_name" => !ancestors.iter().any(|own| own.kind() == "aliased_import"),
        "call" | "call_expression" => {
            let first = around.node.child_by_field_name("arguments").and_then(|own| own.named_child(0));
            let is_plain = first.is_some_and(|first| {
                matches!(first.kind(), "string" | "simple_symbol") && child_of_kind(first, "interpolation").is_none()
            });
            is_plain || around.node.child_by_field_name("receiver").is_some()
        }
        _ => false,
    }
}
