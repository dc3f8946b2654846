//! Reads Markdown, including clauses that only look like headings.

mod inline;

use super::clause::joined;
use super::outline::{Kind, Outline};
use super::{DocumentFormat, Result, Source};
use comrak::nodes::{AstNode, ListDelimType, ListType, NodeList, NodeValue};
use comrak::{Arena, Options, parse_document};
use karat_format::session::UnitV1;
use std::collections::BTreeMap;

pub(super) const FORMAT: DocumentFormat =
    DocumentFormat { name: "markdown", extensions: &["md", "markdown"], unit: UnitV1::Line, read };

fn read(source: &Source<'_>, outline: &mut Outline<'_>) -> Result<()> {
    source.refuse_other_kinds("markdown")?;
    let (text, notes) = decode(source)?;
    notes.into_iter().for_each(|note| outline.note(note));
    let depth = source.limits.depth;
    let nested = |line: usize| source.too_much(format!("the nesting of line {line}"), format!("{depth} levels"));
    if let Some(line) = too_deep(&text, depth) {
        return Err(nested(line));
    }
    if markup(&text) > source.limits.markup {
        return Err(source.too_much("the number of its lines and signs of markup", source.limits.markup));
    }
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.tasklist = true;
    options.extension.footnotes = true;
    options.extension.front_matter_delimiter = Some("---".to_owned());
    let arena = Arena::new();
    let root = parse_document(&arena, &text, &options);
    Reader { outline, footnotes: footnotes(root), depth }.blocks(root, &List::default()).map_err(nested)
}

/// The text, and notes on how it was decoded.
fn decode(source: &Source<'_>) -> Result<(String, Vec<String>)> {
    let mut notes = Vec::new();
    let (text, encoding, damaged) = encoding_rs::UTF_8.decode(source.bytes);
    if encoding != encoding_rs::UTF_8 {
        notes.push(format!("read as {}", encoding.name()));
    }
    if damaged {
        let n = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
        notes.push(format!("bytes that are no {} were replaced ({n})", encoding.name()));
    }
    let zeros = text.bytes().filter(|byte| *byte == 0).count();
    if zeros * 20 > text.len() {
        return Err(source.unreadable("this is not text: there are many zero bytes in it; is it the right file?"));
    }
    if zeros == 0 {
        return Ok((text.into_owned(), notes));
    }
    notes.push(format!("zero bytes were left out ({zeros})"));
    Ok((text.replace('\0', ""), notes))
}

/// The parser builds its whole tree before anything can be checked; every node needs a line or a markup character.
fn markup(text: &str) -> usize {
    let inline = |line: &str| line.bytes().filter(|byte| b"\r*_~`[]!<&\\|".contains(byte)).count();
    text.lines().map(|line| 1 + opens(line) + inline(line)).sum()
}

/// The number of characters that may open quotes and lists at the start of a line.
fn opens(line: &str) -> usize {
    let marks = line.bytes().take_while(|b| b" \t>*+-".contains(b) || b.is_ascii_digit() || *b == b'.' || *b == b')');
    marks.filter(|b| b">*+-.)".contains(b)).count()
}

/// The first line nested too deeply. The parser takes quadratic time in the nesting, and the tree is walked recursively.
fn too_deep(text: &str, most: usize) -> Option<usize> {
    // Rules and table delimiters consist of such characters and open nothing.
    let bare = |line: &str| line.bytes().all(|b| b" \t*+-".contains(&b));
    text.lines().position(|line| opens(line) > most && !bare(line)).map(|line| line + 1)
}

fn footnotes<'a>(root: &'a AstNode<'a>) -> BTreeMap<String, String> {
    let note = |node: &'a AstNode<'a>| match &node.data.borrow().value {
        NodeValue::FootnoteDefinition(note) => Some((note.name.clone(), inline::all_text(node))),
        _ => None,
    };
    root.descendants().filter_map(note).collect()
}

#[derive(Clone, Default)]
struct List {
    indent: usize,
    /// The marker of the next block.
    label: String,
    /// Whether the next block is the first of an item.
    item: bool,
}

struct Reader<'o, 's> {
    outline: &'o mut Outline<'s>,
    footnotes: BTreeMap<String, String>,
    depth: usize,
}

impl Reader<'_, '_> {
    /// Pushes the blocks of a node; the error is the line that is nested too deeply.
    fn blocks<'a>(&mut self, parent: &'a AstNode<'a>, list: &List) -> Result<(), usize> {
        let mut list = list.clone();
        for node in parent.children() {
            let data = node.data.borrow();
            let (first, last) = (data.sourcepos.start.line, data.sourcepos.end.line.max(data.sourcepos.start.line));
            if self.depth == 0 {
                return Err(first);
            }
            match &data.value {
                NodeValue::Heading(heading) => {
                    let text = joined(&inline::spans(node)).replace('\n', " ").trim().to_owned();
                    self.outline.push(Kind::Heading { level: heading.level, text }, first, last);
                    self.hang_footnotes(node);
                }
                NodeValue::Paragraph => {
                    let label = std::mem::take(&mut list.label);
                    let (indent, spans) = (list.indent, inline::spans(node));
                    self.outline.push(Kind::Text { style: None, label, indent, spans, rank: None }, first, last);
                    self.hang_footnotes(node);
                }
                NodeValue::CodeBlock(code) => self.plain(&code.literal, &mut list, first, last),
                NodeValue::HtmlBlock(html) => {
                    let (text, hidden) = inline::strip_tags(&html.literal);
                    if hidden {
                        self.outline.count("comments, scripts and styles of HTML left out");
                    }
                    self.plain(&text, &mut list, first, last);
                }
                NodeValue::FrontMatter(text) => {
                    let lines = text.trim_end().lines().count();
                    self.outline.note(format!("front matter left out (lines {first}–{})", first + lines - 1));
                }
                NodeValue::Table(_) => {
                    let row =
                        |row: &'a AstNode<'a>| row.children().map(inline::all_text).collect::<Vec<_>>().join(" | ");
                    let rows: Vec<String> = node.children().map(row).collect();
                    self.plain(&rows.join("\n"), &mut list, first, last);
                    self.hang_footnotes(node);
                }
                NodeValue::List(NodeList { list_type, start, delimiter, .. }) => {
                    let mut number = *start;
                    for item in node.children() {
                        let marker = match (list_type, delimiter) {
                            (ListType::Bullet, _) => "-".to_owned(),
                            (_, ListDelimType::Paren) => format!("{number})"),
                            (_, ListDelimType::Period) => format!("{number}."),
                        };
                        number = number.saturating_add(1);
                        let box_of = |symbol: Option<char>| format!("{marker} [{}]", symbol.unwrap_or(' '));
                        let label = match &item.data.borrow().value {
                            NodeValue::TaskItem(task) => box_of(task.symbol),
                            _ => marker.clone(),
                        };
                        self.within(item, &List { indent: list.indent, label, item: true }, first)?;
                    }
                }
                // Definitions are attached where they are referenced.
                NodeValue::FootnoteDefinition(_) | NodeValue::ThematicBreak => {}
                _ => self.within(node, &List { label: std::mem::take(&mut list.label), ..list.clone() }, first)?,
            }
            if list.item {
                // Further blocks of an item are indented below its text.
                list = List { indent: list.indent + 1, ..List::default() };
            }
        }
        Ok(())
    }

    fn within<'a>(&mut self, node: &'a AstNode<'a>, list: &List, line: usize) -> Result<(), usize> {
        self.depth = self.depth.checked_sub(1).ok_or(line)?;
        let result = self.blocks(node, list);
        self.depth += 1;
        result
    }

    fn plain(&mut self, text: &str, list: &mut List, first: usize, last: usize) {
        let label = std::mem::take(&mut list.label);
        let gap = if label.is_empty() { "" } else { " " };
        self.outline.push(Kind::Plain(format!("{label}{gap}{}", text.trim_end())), first, last);
    }

    /// Attaches footnotes to the block that references them first.
    fn hang_footnotes<'a>(&mut self, node: &'a AstNode<'a>) {
        for node in node.descendants() {
            if let NodeValue::FootnoteReference(reference) = &node.data.borrow().value
                && let Some(text) = self.footnotes.remove(&reference.name)
            {
                self.outline.footnote(&reference.name, text);
            }
        }
    }
}

#[cfg(test)]
mod tests;
