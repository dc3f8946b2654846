//! Macros of C and C++ that make text of the names they are given.

use super::walk::{Placed, text_of};
use super::words;
use crate::language::Language;
use std::collections::BTreeSet;

/// A macro that a file defines.
pub(super) struct Macro<'a> {
    name: &'a str,
    body: &'a str,
}

/// The macro that a node defines.
pub(super) fn find_macro<'a>(language: Language, placed: Placed<'_>, text: &'a str) -> Option<Macro<'a>> {
    if !matches!(language, Language::C | Language::Cpp)
        || !matches!(placed.kind(), "preproc_def" | "preproc_function_def")
    {
        return None;
    }
    let name = text_of(placed.node.child_by_field_name("name")?, text);
    Some(Macro { name, body: text_of(placed.node.child_by_field_name("value")?, text) })
}

/// The names of macros that use `#`, or another macro that does.
pub(super) fn macros_with_text<'m, 'a: 'm>(macros: impl Iterator<Item = &'m Macro<'a>>) -> BTreeSet<&'a str> {
    let macros: Vec<&Macro<'a>> = macros.collect();
    let mut found: BTreeSet<&str> = macros.iter().filter(|own| own.body.contains('#')).map(|own| own.name).collect();
    loop {
        let uses_one =
            |own: &&&Macro<'a>| !found.contains(own.name) && words(own.body).any(|(_, word)| found.contains(word));
        let more: Vec<&str> = macros.iter().filter(uses_one).map(|own| own.name).collect();
        if more.is_empty() {
            return found;
        }
        found.extend(more);
    }
}

/// The words among the arguments of these macros. What they are called in may be no expression, so the text is searched.
pub(super) fn arguments_of<'a>(text: &'a str, macros: &BTreeSet<&str>) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (start, name) in words(text).filter(|(_, word)| macros.contains(word)) {
        let behind = text[start + name.len()..].trim_start();
        if !behind.starts_with('(') {
            continue;
        }
        let mut depth = 0_usize;
        let end = behind.find(|c: char| {
            match c {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0
        });
        found.extend(words(&behind[..end.unwrap_or(behind.len())]).map(|(_, word)| word));
    }
    found
}
