//! Classes and contracts, and what they inherit from.

use super::walk::{Placed, text_of};
use super::words;
use crate::language::Language;
use std::collections::BTreeSet;
use std::ops::Range;
use tree_sitter::Node;

/// A part of a program in which names may be inherited.
#[derive(Clone, Debug)]
pub(super) struct Class<'a> {
    /// `None` for one without a name, and for a function of a class that is defined outside of it.
    name: Option<&'a str>,
    pub(super) range: Range<usize>,
    /// Every word of what it inherits from.
    bases: Vec<&'a str>,
}

/// The class that a node is, in languages where a function of another class can be called by its mere name.
pub(super) fn find_class<'a>(language: Language, placed: Placed<'_>, text: &'a str) -> Option<Class<'a>> {
    let node = placed.node;
    let name = node.child_by_field_name("name").map(|name| text_of(name, text));
    let class = |name: Option<&'a str>, bases: Vec<&'a str>| Some(Class { name, range: node.byte_range(), bases });
    match (language, placed.kind()) {
        (Language::Java, "class_declaration" | "interface_declaration" | "enum_declaration" | "record_declaration") => {
            class(name, words_of(node, &["superclass", "super_interfaces", "extends_interfaces"], text))
        }
        (Language::Java, "object_creation_expression") if has_child(node, &["class_body"]) => {
            let base = node.child_by_field_name("type").map_or("", |own| text_of(own, text));
            class(None, words(base).map(|(_, word)| word).collect())
        }
        (Language::Solidity, "contract_declaration" | "interface_declaration" | "library_declaration") => {
            class(name, words_of(node, &["inheritance_specifier"], text))
        }
        (Language::Cpp, "class_specifier" | "struct_specifier") if has_child(node, &["field_declaration_list"]) => {
            let bases = words_of(node, &["base_class_clause"], text);
            let is_base = |word: &&str| !matches!(*word, "public" | "protected" | "private" | "virtual");
            class(name, bases.into_iter().filter(is_base).collect())
        }
        (Language::Cpp, "namespace_definition") => class(name, Vec::new()),
        (Language::Cpp, "function_definition") => {
            let mut declarator = node.child_by_field_name("declarator")?;
            while let Some(inner) = declarator.child_by_field_name("declarator") {
                declarator = inner;
            }
            let scope = declarator.child_by_field_name("scope")?;
            class(None, words(text_of(scope, text)).map(|(_, word)| word).collect())
        }
        _ => None,
    }
}

fn has_child(node: Node<'_>, kinds: &[&str]) -> bool {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).any(|child| kinds.contains(&child.kind()))
}

fn words_of<'a>(node: Node<'_>, kinds: &[&str], text: &'a str) -> Vec<&'a str> {
    let mut cursor = node.walk();
    let parts = node.named_children(&mut cursor).filter(|child| kinds.contains(&child.kind()));
    parts.flat_map(|part| words(text_of(part, text)).map(|(_, word)| word)).filter(|word| !is_keyword(word)).collect()
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "extends" | "implements" | "is")
}

/// Whether a class inherits, by any number of steps, from something that is none of these classes.
pub(super) fn inherits_from_others<'c, 'a: 'c, I>(class: &'c Class<'a>, classes: &impl Fn() -> I) -> bool
where
    I: Iterator<Item = &'c Class<'a>>,
{
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let mut open: Vec<&str> = class.bases.clone();
    while let Some(base) = open.pop() {
        if !seen.insert(base) {
            continue;
        }
        let mut is_own = false;
        for own in classes().filter(|own| own.name == Some(base)) {
            is_own = true;
            open.extend(&own.bases);
        }
        if !is_own {
            return true;
        }
    }
    false
}
