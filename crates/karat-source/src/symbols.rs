//! Finds the symbol around a line with tree-sitter, and names it so that the name survives moved lines.

use super::definition::{definition, is_wrapper};
use super::language::Language;
use karat_core::lines::Lines;
use karat_core::path::RepoPath;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tree_sitter::{Node, ParseOptions, Parser, Tree};

/// Longer source has no symbols.
pub const MAX_SOURCE: usize = 4 << 20;

/// Definitions nested deeper belong to the one around them, so that hostile source cannot make huge names.
const MAX_DEPTH: usize = 64;

/// The named definitions of one file.
#[derive(Debug)]
pub struct Symbols {
    /// In source order, each before its children.
    scopes: Vec<Scope>,
    names: Names,
    lines: u32,
}

#[derive(Debug)]
struct Scope {
    lines: Lines,
    parent: Option<usize>,
    name: usize,
    /// Counted from 1 among definitions of the same qualified name; `None` where the scope only contributes its name.
    ordinal: Option<u32>,
}

impl Symbols {
    /// Parses the definitions of a file; `None` when it is too long or too complex.
    pub fn parse(language: Language, source: &str) -> Option<Self> {
        let tree = tree(language, source)?;
        let lines = u32::try_from(source.lines().count()).ok()?;
        let mut symbols = Self { scopes: Vec::new(), names: Names::default(), lines };
        symbols.collect(language, &tree, source);
        Some(symbols)
    }

    /// The number of lines of the file.
    pub fn line_count(&self) -> u32 {
        self.lines
    }

    /// The innermost definition that contains all of the lines, as `<qualified.name>#<n>`; `(file)#1` outside all definitions.
    pub fn around(&self, lines: Lines) -> String {
        // Scopes before the last one that starts in time are its ancestors, or ended before it began.
        let started = self.scopes.partition_point(|scope| scope.lines.start <= lines.start);
        let mut candidate = started.checked_sub(1);
        while let Some(scope) = candidate.and_then(|index| self.scopes.get(index)) {
            if let Some(ordinal) = scope.ordinal
                && scope.lines.end >= lines.end
            {
                return format!("{}#{ordinal}", self.names.qualified(scope.name));
            }
            candidate = scope.parent;
        }
        "(file)#1".to_owned()
    }

    fn collect(&mut self, language: Language, tree: &Tree, source: &str) {
        // The open scopes, each with the depth in the tree at which it closes.
        let mut open: Vec<(u32, usize)> = Vec::new();
        let mut dress: Option<(u32, u32)> = None;
        let mut same: Option<usize> = None;
        let mut ordinals: BTreeMap<usize, u32> = BTreeMap::new();
        walk(tree, |node, depth| {
            open.truncate(open.partition_point(|(at, _)| *at < depth));
            dress = dress.filter(|(at, _)| *at < depth);
            let inherited = dress.filter(|(at, _)| at + 1 == depth).map(|(_, start)| start);
            if is_wrapper(language, node.kind()) {
                dress = Some((depth, inherited.unwrap_or_else(|| first_line(node))));
            } else if same != Some(node.id())
                && open.len() < MAX_DEPTH
                && let Some(found) = definition(language, node, source)
            {
                let parent = open.last().map(|(_, scope)| *scope);
                let parent_name = parent.and_then(|index| self.scopes.get(index)).map(|scope| scope.name);
                let name = found.segments.into_iter().fold(parent_name, |name, s| Some(self.names.intern(name, s)));
                if let Some(name) = name {
                    let ordinal = (!found.lends_name_only).then(|| {
                        let count = ordinals.entry(name).or_default();
                        *count += 1;
                        *count
                    });
                    // Scopes stay sorted by their first line even if a decorator contains a definition.
                    let floor = self.scopes.last().map_or(0, |scope| scope.lines.start);
                    let start = inherited.unwrap_or_else(|| first_line(node)).max(floor);
                    let lines = Lines { start, end: last_line(node).max(start) };
                    open.push((depth, self.scopes.len()));
                    self.scopes.push(Scope { lines, parent, name, ordinal });
                    same = found.same.map(|node| node.id());
                }
            }
            true
        });
    }
}

/// Visits nodes with their depths, in source order, and what is in a node where `visit` says so.
/// By a cursor, since hostile source nests deeper than the call stack.
pub(super) fn walk<'tree>(tree: &'tree Tree, mut visit: impl FnMut(Node<'tree>, u32) -> bool) {
    let mut cursor = tree.walk();
    // Counted here, since the cursor finds its depth by walking up.
    let mut depth = 0;
    loop {
        if visit(cursor.node(), depth) && cursor.goto_first_child() {
            depth += 1;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return;
            }
            depth -= 1;
        }
    }
}

/// Parses within a budget of parser steps instead of time, so that the result is reproducible.
pub(super) fn tree(language: Language, source: &str) -> Option<Tree> {
    if source.len() > MAX_SOURCE {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let mut budget = 10_000 + source.len() / 10;
    let mut progress = |_: &_| match budget.checked_sub(1) {
        Some(left) => {
            budget = left;
            ControlFlow::Continue(())
        }
        None => ControlFlow::Break(()),
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let mut read = |offset: usize, _| source.as_bytes().get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, None, Some(options))
}

fn first_line(node: Node<'_>) -> u32 {
    line(node.start_position().row)
}

/// A node that includes the line break ends before the next line.
fn last_line(node: Node<'_>) -> u32 {
    let end = node.end_position();
    line(if end.column == 0 { end.row.saturating_sub(1) } else { end.row })
}

fn line(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX).saturating_add(1)
}

/// Qualified names as a trie, since the names of nested definitions repeat those around them.
#[derive(Debug, Default)]
struct Names {
    segments: Vec<(Option<usize>, String)>,
    index: BTreeMap<(Option<usize>, String), usize>,
}

impl Names {
    fn intern(&mut self, parent: Option<usize>, segment: String) -> usize {
        let next = self.segments.len();
        let key = (parent, segment);
        let id = *self.index.entry(key.clone()).or_insert(next);
        if id == next {
            self.segments.push(key);
        }
        id
    }

    fn qualified(&self, name: usize) -> String {
        let mut parts = Vec::new();
        let mut next = Some(name);
        while let Some((parent, segment)) = next.and_then(|id| self.segments.get(id)) {
            parts.push(segment.as_str());
            next = *parent;
        }
        parts.reverse();
        parts.join(".")
    }
}

/// The symbols of files, each parsed once.
#[derive(Debug, Default)]
pub struct SymbolCache {
    parsed: BTreeMap<RepoPath, Option<Symbols>>,
}

impl SymbolCache {
    /// The symbol around lines; `None` when the file cannot be read or parsed, or is shorter.
    pub fn symbol_of(
        &mut self,
        files: &mut dyn FnMut(&RepoPath) -> Option<String>,
        path: &RepoPath,
        lines: Lines,
    ) -> Option<String> {
        let parse = || Language::from_path(path).and_then(|language| Symbols::parse(language, &files(path)?));
        let symbols = self.parsed.entry(path.clone()).or_insert_with(parse).as_ref()?;
        (lines.start > 0 && lines.end <= symbols.line_count()).then(|| symbols.around(lines))
    }
}

#[cfg(test)]
mod tests;
