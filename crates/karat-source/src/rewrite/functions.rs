//! Functions that may change places with their neighbours.

use super::walk::{Placed, child_of_kind, text_of, visit_placed};
use super::words;
use crate::language::Language;
use crate::symbols::tree;
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A function with the comments and attributes directly above it. It fills whole lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionBlock {
    /// Its name, with the types of its parameters where several functions may have the same.
    pub key: String,
    /// Its lines, counted from 0.
    pub lines: Range<usize>,
    name: String,
    /// Words that must be known before it.
    needed: BTreeSet<String>,
}

/// Functions one after the other, with only blank lines between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionRun {
    /// From top to bottom; at least one.
    pub blocks: Vec<FunctionBlock>,
    /// Whether they could stand in any other order.
    pub is_free: bool,
}

/// The functions of a file, run by run; nothing if the file has errors.
pub fn function_runs(language: Language, text: &str) -> Vec<FunctionRun> {
    let Some(tree) = tree(language, text).filter(|tree| !tree.root_node().has_error()) else { return Vec::new() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut runs = Vec::new();
    visit_placed(&tree, |placed, ancestors| {
        if is_container(language, placed, ancestors) {
            runs.extend(runs_in(language, text, &lines, placed.node));
        }
        true
    });
    runs.sort_by_key(|run: &FunctionRun| run.blocks.first().map(|block| block.lines.start));
    runs
}

/// The names of the definitions outside all others, with the line that each begins in, counted from 0, with the comments above it.
/// In languages where functions are only in classes, those of the functions. Code can be inserted in front of each.
pub fn definition_lines(language: Language, text: &str) -> Vec<(String, usize)> {
    let Some(tree) = tree(language, text).filter(|tree| !tree.root_node().has_error()) else { return Vec::new() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut found = Vec::new();
    let of_classes = matches!(language, Language::Java | Language::Solidity);
    visit_placed(&tree, |placed, ancestors| {
        let is_wanted = match of_classes {
            true => {
                matches!(placed.kind(), "class_body" | "contract_body")
                    && ancestors
                        .last()
                        .is_some_and(|own| matches!(own.kind(), "class_declaration" | "contract_declaration"))
                    && ancestors.len() <= 2
            }
            false => ancestors.is_empty(),
        };
        if is_wanted {
            let mut cursor = placed.node.walk();
            let children: Vec<Node<'_>> = placed.node.named_children(&mut cursor).collect();
            for (at, child) in children.iter().enumerate() {
                let before = &children[..at];
                if let Some(name) = defined_name(language, *child, text)
                    && !follows_signature(before)
                    && !is_marked_above(language, before, text)
                    && let Some(start) = first_line_with_comments(language, *child, before, &lines)
                {
                    found.push((name, start));
                }
            }
        }
        ancestors.len() < 3
    });
    found
}

/// The name of a function or a type that is defined by a node.
fn defined_name(language: Language, node: Node<'_>, text: &str) -> Option<String> {
    if let Some((name, _)) = function_name(language, node, text) {
        return Some(name);
    }
    let named = |node: Node<'_>| node.child_by_field_name("name").map(|name| text_of(name, text).to_owned());
    match (language, node.kind()) {
        (Language::Python, "class_definition") => named(node),
        (Language::Python, "decorated_definition") => named(node.child_by_field_name("definition")?),
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "class_declaration") => named(node),
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "export_statement") => {
            let inner = node.child_by_field_name("declaration")?;
            (inner.kind() == "class_declaration").then(|| named(inner))?
        }
        (Language::Rust, "struct_item" | "enum_item" | "impl_item") => node
            .child_by_field_name("name")
            .or_else(|| node.child_by_field_name("type"))
            .map(|name| format!("{} {}", node.kind(), text_of(name, text))),
        (Language::Ruby, "class" | "module") => named(node),
        _ => None,
    }
}

/// The line that a node begins in, or the comments and attributes directly above it; `None` if it shares its line with another.
/// `before` are the nodes in front of it.
fn first_line_with_comments(language: Language, node: Node<'_>, before: &[Node<'_>], lines: &[&str]) -> Option<usize> {
    let mut first = own_lines(node, lines)?.start;
    for comment in before.iter().rev().take_while(|above| is_attached(language, above.kind())) {
        let Some(range) = own_lines(*comment, lines).filter(|range| range.end == first) else { break };
        first = range.start;
    }
    Some(first)
}

fn is_container(language: Language, placed: Placed<'_>, ancestors: &[Placed<'_>]) -> bool {
    let parent = ancestors.last().map(Placed::kind);
    match (language, placed.kind()) {
        (Language::Python, "module") => true,
        (Language::Python, "block") => parent == Some("class_definition"),
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "program" | "class_body") => true,
        (Language::Java, "class_body" | "interface_body") => true,
        (Language::Go, "source_file") => true,
        (Language::Rust, "source_file") => true,
        (Language::Rust, "declaration_list") => parent == Some("impl_item"),
        (Language::C | Language::Cpp, "translation_unit") => true,
        (Language::Cpp, "declaration_list") => parent == Some("namespace_definition"),
        (Language::Ruby, "program") => true,
        (Language::Ruby, "body_statement") => matches!(parent, Some("class" | "module")),
        (Language::Solidity, "contract_body") => true,
        _ => false,
    }
}

/// The name of a function, and what tells it from others of the same name.
fn function_name(language: Language, node: Node<'_>, text: &str) -> Option<(String, String)> {
    let field = |node: Node<'_>, field: &str| node.child_by_field_name(field).map(|own| text_of(own, text).to_owned());
    let plain = |node: Node<'_>| field(node, "name").map(|name| (name.clone(), name));
    let with_parameters = |node: Node<'_>, parameters: String| {
        let name = field(node, "name")?;
        Some((name.clone(), format!("{name}{parameters}")))
    };
    match (language, node.kind()) {
        (Language::Python, "function_definition") | (Language::Rust, "function_item") => plain(node),
        (Language::Ruby, "method") => plain(node),
        (
            Language::JavaScript | Language::TypeScript | Language::Tsx,
            "function_declaration" | "generator_function_declaration",
        ) => plain(node),
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "export_statement") => {
            let inner = node.child_by_field_name("declaration")?;
            matches!(inner.kind(), "function_declaration" | "generator_function_declaration").then(|| plain(inner))?
        }
        (Language::JavaScript | Language::TypeScript | Language::Tsx, "method_definition") => {
            let name = node.child_by_field_name("name")?;
            let is_plain = matches!(name.kind(), "property_identifier" | "private_property_identifier");
            (is_plain && child_of_kind(node, "decorator").is_none()).then(|| plain(node))?
        }
        (Language::Go, "function_declaration") => plain(node).filter(|(name, _)| name != "init"),
        (Language::Go, "method_declaration") => with_parameters(node, field(node, "receiver")?),
        (Language::Java, "method_declaration") => with_parameters(node, field(node, "parameters")?),
        (Language::Solidity, "function_definition") => {
            let mut cursor = node.walk();
            let own = node.named_children(&mut cursor).filter(|child| child.kind() == "parameter");
            let parameters: String = own.map(|child| format!(" {}", text_of(child, text))).collect();
            with_parameters(node, parameters)
        }
        (Language::C | Language::Cpp, "function_definition") => {
            let mut declarator = node.child_by_field_name("declarator")?;
            while let Some(inner) = declarator.child_by_field_name("declarator") {
                declarator = inner;
            }
            let name = text_of(declarator, text).to_owned();
            Some((name.clone(), name))
        }
        _ => None,
    }
}

/// Whether what comes next stands behind the signatures of its overloads, which must stay in front of it.
fn follows_signature(before: &[Node<'_>]) -> bool {
    let above = before.iter().rev().find(|own| !own.kind().ends_with("comment"));
    let inner = above.map(|own| own.child_by_field_name("declaration").unwrap_or(*own));
    inner.is_some_and(|own| matches!(own.kind(), "function_signature" | "method_signature"))
}

/// Whether what comes next belongs to a decorator or a call above it, such as `desc "lists"` or `sig { void }`.
fn is_marked_above(language: Language, before: &[Node<'_>], text: &str) -> bool {
    let Some(above) = before.iter().rev().find(|own| !own.kind().ends_with("comment")) else { return false };
    match (language, above.kind()) {
        (_, "decorator") => true,
        (Language::Ruby, "identifier" | "call") => {
            let is_plain = above.child_by_field_name("receiver").is_none();
            let called = above.child_by_field_name("method").unwrap_or(*above);
            !(is_plain && is_meant_for_all(text_of(called, text)))
        }
        _ => false,
    }
}

/// Whether a call in a class of Ruby, or in a file, has nothing to do with the one method below it.
fn is_meant_for_all(called: &str) -> bool {
    matches!(
        called,
        "private" | "protected" | "public" | "module_function" | "attr_reader" | "attr_writer" | "attr_accessor"
    ) || matches!(called, "include" | "extend" | "prepend" | "require" | "require_relative")
}

fn is_attached(language: Language, kind: &str) -> bool {
    kind.ends_with("comment") || (language == Language::Rust && kind == "attribute_item")
}

fn runs_in(language: Language, text: &str, lines: &[&str], container: Node<'_>) -> Vec<FunctionRun> {
    let mut runs: Vec<Vec<FunctionBlock>> = vec![Vec::new()];
    // The first line of comments and attributes that may belong to the next function, and the line behind them.
    let mut above: Option<Range<usize>> = None;
    let mut cursor = container.walk();
    let children: Vec<Node<'_>> = container.named_children(&mut cursor).collect();
    for (at, child) in children.iter().copied().enumerate() {
        let own = own_lines(child, lines);
        if is_attached(language, child.kind()) {
            match (own, &mut above) {
                (Some(range), Some(above)) if above.end == range.start => above.end = range.end,
                (Some(range), slot) => {
                    // What stands apart from the next function stays where it is.
                    if slot.is_some() {
                        runs.push(Vec::new());
                    }
                    *slot = Some(range);
                }
                (None, _) => {
                    runs.push(Vec::new());
                    above = None;
                }
            }
            continue;
        }
        let comments = above.take();
        let (Some(range), Some((name, key))) = (own, function_name(language, child, text)) else {
            runs.push(Vec::new());
            continue;
        };
        let start = match comments {
            Some(comments) if comments.end == range.start => comments.start,
            Some(_) => {
                runs.push(Vec::new());
                range.start
            }
            None => range.start,
        };
        let needed = needed_words(language, child, text);
        if let Some(run) = runs.last_mut() {
            run.push(FunctionBlock { key, lines: start..range.end, name, needed });
        }
        let before = &children[..at];
        if follows_signature(before) || is_marked_above(language, before, text) {
            runs.push(Vec::new());
        }
    }
    let runs = runs.into_iter().filter(|blocks| !blocks.is_empty());
    runs.map(|blocks| FunctionRun { is_free: are_free(&blocks), blocks }).collect()
}

/// The lines of a node that shares them with nothing else; `None` if it does, or if its last line is not ended.
fn own_lines(node: Node<'_>, lines: &[&str]) -> Option<Range<usize>> {
    let (start, end) = (node.start_position(), node.end_position());
    // Comments of some languages include the line break.
    let last = if end.column == 0 { end.row.checked_sub(1)? } else { end.row };
    let before = lines.get(start.row)?.get(..start.column)?;
    let line = lines.get(last)?;
    let behind = if end.column == 0 { "" } else { line.get(end.column..)? };
    // `;` may end a definition.
    let is_alone = before.trim().is_empty() && behind.trim().trim_matches(';').is_empty();
    (is_alone && line.ends_with('\n')).then_some(start.row..last + 1)
}

/// Whether functions could stand in any order. A comment in the first line may be one that must be there.
fn are_free(blocks: &[FunctionBlock]) -> bool {
    let keys: BTreeSet<&String> = blocks.iter().map(|block| &block.key).collect();
    let names: BTreeSet<&String> = blocks.iter().map(|block| &block.name).collect();
    let needs_other =
        |block: &FunctionBlock| block.needed.iter().any(|word| *word != block.name && names.contains(word));
    let is_first = blocks.first().is_some_and(|block| block.lines.start == 0);
    keys.len() == blocks.len() && !is_first && !blocks.iter().any(needs_other)
}

/// The words of a function that must be known where it is defined.
fn needed_words(language: Language, node: Node<'_>, text: &str) -> BTreeSet<String> {
    let part = match language {
        // A function is declared before it is used.
        Language::C | Language::Cpp => Some(node),
        // Default values are computed when a function is defined.
        Language::Python => node.child_by_field_name("parameters"),
        _ => None,
    };
    part.into_iter().flat_map(|part| words(text_of(part, text))).map(|(_, word)| word.to_owned()).collect()
}
