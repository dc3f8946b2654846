//! What a change repairs: the lines before it whose meaning it changed, weighed by nodes of the syntax tree. Layout, comments,
//! imports and version numbers mean nothing here.

use super::change::{hunks, replaced_ranges};
use super::definition::{definition, is_wrapper};
use super::language::Language;
use super::symbols::{tree, walk};
use imara_diff::Hunk;
use karat_core::path::RepoPath;
use std::collections::BTreeMap;
use std::ops::Range;
use tree_sitter::Node;

/// What a change did to the lines of a file before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Lines that mean something else now, and lines around what was added to a definition, each with its weight.
    pub lines: BTreeMap<u32, u32>,
    /// Lines around other additions, such as new functions and constants.
    pub around: BTreeMap<u32, u32>,
    /// Whether all of `lines` are around additions.
    pub only_adds: bool,
}

/// Compares both versions of a file. Without a grammar, lines are compared, and each weighs the same.
pub fn repair(language: Option<Language>, before: &str, after: &str) -> Repair {
    let (old_lines, new_lines): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let parsed = language.and_then(|language| Some((Nodes::parse(language, before)?, Nodes::parse(language, after)?)));
    let mut found = Repair { only_adds: true, ..Repair::default() };
    for hunk in replaced_ranges(before, after) {
        let (old, new) = (rows(&hunk.before), rows(&hunk.after));
        let (old_bumps, new_bumps) = version_bumps(&old_lines[old.clone()], &new_lines[new.clone()]);
        let kept = |range: &Range<usize>, bumps: &[bool]| -> Vec<usize> {
            range.clone().zip(bumps).filter(|(_, bump)| !**bump).map(|(row, _)| row).collect()
        };
        let (old_rows, new_rows) = (kept(&old, &old_bumps), kept(&new, &new_bumps));
        let place = Place { at: old.start, old: &old_lines, new: &new_lines, inserted: new.clone() };
        match &parsed {
            Some((old_nodes, new_nodes)) if old_nodes.in_rows(&old_rows).next().is_some() => {
                compare_nodes(old_nodes, new_nodes, &old_rows, &new_rows, &mut found);
            }
            Some((_, new_nodes)) => add_nodes(new_nodes, &new_rows, &place, &mut found),
            None => compare_text(&old_rows, &new_rows, &place, &mut found),
        }
    }
    found
}

/// Whether a file only records which versions of other software are used.
pub fn is_lock_file(path: &RepoPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    name.ends_with(".lock") || LOCK_FILES.contains(&name.as_str())
}

const LOCK_FILES: [&str; 10] = [
    "package-lock.json",
    "npm-shrinkwrap.json",
    "pnpm-lock.yaml",
    "bun.lockb",
    "go.sum",
    "go.work.sum",
    "gradle.lockfile",
    "packages.lock.json",
    ".terraform.lock.hcl",
    "package.resolved",
];

fn rows(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// Where lines were added.
struct Place<'a> {
    /// The row of the old version before which they were added.
    at: usize,
    old: &'a [&'a str],
    new: &'a [&'a str],
    /// The rows of the new version.
    inserted: Range<usize>,
}

impl Place<'_> {
    /// The nearest lines with text before and after the addition, within rows of the new version, counted from 1 in the old one.
    fn neighbours(&self, within: &Range<usize>) -> Vec<u32> {
        let is_filled = |row: &usize| self.old.get(*row).is_some_and(|line| !line.trim().is_empty());
        let above = (0..self.at.min(self.old.len())).rev().find(is_filled);
        let below = (self.at..self.old.len()).find(is_filled);
        // Between an addition and its neighbours nothing else changed.
        let above = above.filter(|row| within.contains(&self.inserted.start.saturating_sub(self.at - row)));
        let below = below.filter(|row| within.contains(&(self.inserted.end + row - self.at)));
        [above, below].into_iter().flatten().map(line).collect()
    }

    fn anywhere(&self) -> Range<usize> {
        0..self.new.len()
    }
}

fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// Adds the weight of what was changed to lines, in equal parts.
fn share(lines: &[u32], weight: u32, to: &mut BTreeMap<u32, u32>) {
    let Ok(count @ 1..) = u32::try_from(lines.len()) else { return };
    for line in lines {
        let entry = to.entry(*line).or_default();
        *entry = entry.saturating_add(weight.div_ceil(count));
    }
}

fn compare_nodes(old: &Nodes, new: &Nodes, old_rows: &[usize], new_rows: &[usize], found: &mut Repair) {
    let (old_items, new_items): (Vec<&Item>, Vec<&Item>) =
        (old.in_rows(old_rows).collect(), new.in_rows(new_rows).collect());
    let old_texts: Vec<&str> = old_items.iter().map(|item| item.text.as_str()).collect();
    let new_texts: Vec<&str> = new_items.iter().map(|item| item.text.as_str()).collect();
    for Hunk { before, after } in hunks(&old_texts, &new_texts) {
        let (before, after) = (rows(&before), rows(&after));
        let weigh = |items: &[&Item]| items.iter().map(|item| item.weight).sum::<u32>();
        let weight = weigh(&old_items[before.clone()]) + weigh(&new_items[after]);
        if weight == 0 {
            continue;
        }
        // What was added within the lines is placed at what follows it.
        let gone = &old_items[before.clone()];
        let next = before.start.min(old_items.len().saturating_sub(1));
        let changed = if gone.iter().any(|item| item.weight > 0) { gone } else { &old_items[next..=next] };
        let own = changed.iter().flat_map(|item| item.rows.clone());
        let mut lines: Vec<u32> = own.filter(|row| old_rows.binary_search(row).is_ok()).map(line).collect();
        lines.dedup();
        share(&lines, weight, &mut found.lines);
        found.only_adds = false;
    }
}

/// Whole lines with code were added.
fn add_nodes(new: &Nodes, new_rows: &[usize], place: &Place<'_>, found: &mut Repair) {
    let items: Vec<&Item> = new.in_rows(new_rows).collect();
    let weight: u32 = items.iter().map(|item| item.weight).sum();
    let (Some(first), Some(last)) = (new_rows.first(), new_rows.last()) else { return };
    if weight == 0 {
        return;
    }
    let defines = items.iter().any(|item| item.is_definition && item.rows.start >= *first && item.rows.end <= last + 1);
    let around = new.enclosing(*first..last + 1);
    let marks = items.iter().any(|item| item.is_mark);
    match around {
        Some(within) if !defines => share(&place.neighbours(&within), weight, &mut found.lines),
        // It is about what follows it.
        None if !defines && marks => share(&place.neighbours(&(*first..place.new.len())), weight, &mut found.lines),
        _ => share(&place.neighbours(&place.anywhere()), weight, &mut found.around),
    }
}

fn compare_text(old_rows: &[usize], new_rows: &[usize], place: &Place<'_>, found: &mut Repair) {
    let squeezed = |rows: &[usize], lines: &[&str]| -> String {
        rows.iter().flat_map(|row| lines[*row].split_whitespace()).collect()
    };
    // A line that was wrapped differently is still the same.
    if squeezed(old_rows, place.old) == squeezed(new_rows, place.new) {
        return;
    }
    let filled: Vec<u32> =
        old_rows.iter().filter(|row| !place.old[**row].trim().is_empty()).map(|row| line(*row)).collect();
    if filled.is_empty() {
        return share(&place.neighbours(&place.anywhere()), 1, &mut found.around);
    }
    filled.iter().for_each(|line| share(&[*line], 1, &mut found.lines));
    found.only_adds = false;
}

/// The nodes of a syntax tree in source order, without what has no meaning.
struct Nodes {
    /// Sorted by their first row.
    items: Vec<Item>,
}

struct Item {
    /// The kind of node, and what a leaf says.
    text: String,
    rows: Range<usize>,
    /// 0 for punctuation and braces.
    weight: u32,
    is_leaf: bool,
    is_definition: bool,
    /// Whether a line within it is a line of a function or of an expression, and not one of a list of definitions.
    holds_code: bool,
    /// A decorator, annotation or attribute.
    is_mark: bool,
}

impl Nodes {
    fn parse(language: Language, source: &str) -> Option<Self> {
        let tree = tree(language, source)?;
        let mut items: Vec<Item> = Vec::new();
        let mut open: Vec<(u32, usize)> = Vec::new();
        walk(&tree, |node, depth| {
            close_blocks(language, &mut open, depth, &mut items);
            let kind = node.kind();
            if is_meaningless(node, source) {
                return false;
            }
            let rows = rows_of(node);
            let is_definition = definition(language, node, source).is_some_and(|found| !found.lends_name_only);
            let is_mark = ["decorator", "annotation", "attribute_item"].iter().any(|mark| kind.contains(mark));
            let is_leaf = node.child_count() == 0;
            let text = if is_leaf { &source[node.byte_range()] } else { "" };
            let text = text.trim_matches(['"', '\'', '`']);
            let says_nothing = text.chars().all(|c| "()[]{}:;,.".contains(c));
            if is_leaf && says_nothing && (text.is_empty() || matches!(text, "," | ";")) {
                return true;
            }
            let is_block = is_block(kind);
            if is_block {
                open.push((depth, rows.end));
            }
            let weight = match is_leaf {
                true => u32::from(!says_nothing),
                false => u32::from(node.is_named() && !is_block && kind != "parenthesized_expression"),
            };
            let is_list = is_definition && !is_function(kind) || depth == 0 || is_wrapper(language, kind);
            let holds_code = !is_leaf && !is_list && !is_block && !kind.contains("preproc");
            let text = format!("{kind} {text}");
            items.push(Item { text, rows, weight, is_leaf, is_definition, holds_code, is_mark });
            true
        });
        close_blocks(language, &mut open, 0, &mut items);
        Some(Self { items })
    }

    /// What begins in some sorted rows, and the leaf that reaches into them.
    fn in_rows<'s>(&'s self, rows: &'s [usize]) -> impl Iterator<Item = &'s Item> {
        let (first, last) = (rows.first().copied().unwrap_or(0), rows.last().copied().unwrap_or(0));
        let start = self.items.partition_point(|item| item.rows.start < first);
        let end = self.items.partition_point(|item| item.rows.start <= last).max(start);
        let is_in = move |item: &&Item| match item.is_leaf {
            true => item.rows.clone().any(|row| rows.binary_search(&row).is_ok()),
            false => rows.binary_search(&item.rows.start).is_ok(),
        };
        self.items[start.saturating_sub(1)..end].iter().filter(is_in)
    }

    /// The rows of the innermost function, statement or expression around some rows.
    fn enclosing(&self, rows: Range<usize>) -> Option<Range<usize>> {
        let holds = |item: &&Item| item.holds_code && item.rows.start < rows.start && item.rows.end >= rows.end;
        self.items.iter().rfind(holds).map(|item| item.rows.clone())
    }
}

/// Where a block of Python ends has a meaning: a statement that leaves it is executed more often. Elsewhere, braces that are added
/// change nothing.
fn close_blocks(language: Language, open: &mut Vec<(u32, usize)>, depth: u32, items: &mut Vec<Item>) {
    while let Some((at, end)) = open.pop() {
        if at < depth {
            open.push((at, end));
            return;
        }
        items.push(Item {
            text: "end".to_owned(),
            rows: end.saturating_sub(1)..end,
            weight: u32::from(language == Language::Python),
            is_leaf: true,
            is_definition: false,
            holds_code: false,
            is_mark: false,
        });
    }
}

fn rows_of(node: Node<'_>) -> Range<usize> {
    let (start, end) = (node.start_position().row, node.end_position());
    // A node that includes the line break ends before the next line.
    let last = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
    start..last.max(start) + 1
}

/// Comments, documentation and imports: what they change shows elsewhere.
fn is_meaningless(node: Node<'_>, source: &str) -> bool {
    let kind = node.kind();
    let is_text = kind == "expression_statement"
        && node.named_child_count() == 1
        && node.named_child(0).is_some_and(|only| only.kind() == "string");
    // A string that stands alone in JavaScript switches something on.
    let is_documentation = is_text && !source[node.byte_range()].contains("use ");
    let is_import = IMPORTS.contains(&kind) || is_require(node, source);
    kind.contains("comment") || is_import || is_documentation || node.is_missing()
}

/// Whether a statement does nothing but load another file: `require "x"` in Ruby, `const x = require("x")` in JavaScript.
fn is_require(statement: Node<'_>, source: &str) -> bool {
    let named = |name: Node<'_>, names: &[&str]| names.contains(&&source[name.byte_range()]);
    match statement.kind() {
        "call" if statement.child_by_field_name("receiver").is_none() => statement
            .child_by_field_name("method")
            .is_some_and(|method| named(method, &["require", "require_relative", "autoload"])),
        "expression_statement" | "lexical_declaration" | "variable_declaration" => {
            let loads = |part: Node<'_>| {
                let mut value =
                    part.child_by_field_name("value").or((part.kind() != "variable_declarator").then_some(part));
                // What is taken from the file, as in `require("x").y`.
                while let Some(object) = value.and_then(|value| value.child_by_field_name("object")) {
                    value = Some(object);
                }
                let function = value.and_then(|value| value.child_by_field_name("function"));
                function.is_some_and(|function| named(function, &["require"]))
            };
            let mut cursor = statement.walk();
            let mut parts = statement.named_children(&mut cursor).filter(|part| !part.is_extra()).peekable();
            parts.peek().is_some() && parts.all(loads)
        }
        _ => false,
    }
}

const IMPORTS: [&str; 11] = [
    "import_statement",
    "import_from_statement",
    "future_import_statement",
    "import_declaration",
    "import_directive",
    "package_clause",
    "package_declaration",
    "use_declaration",
    "extern_crate_declaration",
    "preproc_include",
    "pragma_directive",
];

fn is_block(kind: &str) -> bool {
    matches!(kind, "then" | "body_statement" | "function_body" | "compound_statement")
        || kind == "block"
        || kind.ends_with("_block")
        || kind.ends_with("_body")
        || kind.ends_with("declaration_list")
}

/// Whether a definition has statements, and not other definitions.
fn is_function(kind: &str) -> bool {
    ["function", "method", "constructor", "fallback", "modifier_definition", "closure", "lambda"]
        .iter()
        .any(|word| kind.contains(word))
        || matches!(kind, "variable_declarator" | "init_declarator" | "assignment" | "assignment_expression" | "pair")
}

/// Which of the replaced and of the new lines differ in nothing but the version that they state.
fn version_bumps(old: &[&str], new: &[&str]) -> (Vec<bool>, Vec<bool>) {
    let (mut old_bumps, mut new_bumps) = (vec![false; old.len()], vec![false; new.len()]);
    for (old, is_bump) in old.iter().zip(&mut old_bumps) {
        let Some(masked) = masked_version(old) else { continue };
        let same = new.iter().position(|new| masked_version(new).is_some_and(|new| new == masked));
        if let Some(same) = same {
            *is_bump = true;
            new_bumps[same] = true;
        }
    }
    (old_bumps, new_bumps)
}

/// A line that states a version, without the number and without layout; `None` for other lines.
fn masked_version(line: &str) -> Option<String> {
    let lower = line.to_lowercase();
    let (name, _) = lower.split_once(|c: char| c.is_ascii_digit())?;
    // What compares versions or names that of a protocol decides what the program does.
    let decides = [
        "version<", " <", "< ", " >", "> ", "<=", ">=", "!=", "==", "tls", "ssl", "min_", "minimum", "minver", "max_",
        "maximum", "maxver", "protocol", "http", "api", "if ", "return",
    ];
    let states = ["version", "release"].iter().any(|word| name.contains(word));
    if !states || decides.iter().any(|word| name.contains(word)) {
        return None;
    }
    let is_number = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '+');
    let mut masked = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        masked.push_str(rest[..at].trim_end_matches(['v', 'V']));
        masked.push('#');
        rest = rest[at..].trim_start_matches(is_number);
    }
    masked.push_str(rest);
    masked.retain(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | ';' | ','));
    Some(masked)
}

#[cfg(test)]
mod tests;
