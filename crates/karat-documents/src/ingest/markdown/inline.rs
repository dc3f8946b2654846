//! The text of a block with its emphasis.

use super::html;
use crate::ingest::clause::Span;
use comrak::nodes::{AstNode, NodeValue};

/// Line breaks are those of the source.
pub(super) fn spans<'a>(block: &'a AstNode<'a>) -> Vec<Span> {
    let mut found = Vec::new();
    // Iterative: emphasis may be nested as deep as the text is long.
    let mut open: Vec<(&'a AstNode<'a>, bool)> = block.reverse_children().map(|node| (node, false)).collect();
    while let Some((node, marked)) = open.pop() {
        let data = node.data.borrow();
        match &data.value {
            NodeValue::Text(text) => add(&mut found, text, marked),
            NodeValue::Code(code) => add(&mut found, &code.literal, marked),
            NodeValue::Math(math) => add(&mut found, &math.literal, marked),
            NodeValue::SoftBreak | NodeValue::LineBreak => add(&mut found, "\n", marked),
            NodeValue::HtmlInline(tag) => add(&mut found, &html::text(tag).text, marked),
            NodeValue::FootnoteReference(note) => add(&mut found, &format!("[{}]", note.name), marked),
            NodeValue::Strong | NodeValue::Underline => open.extend(node.reverse_children().map(|node| (node, true))),
            _ => open.extend(node.reverse_children().map(|node| (node, marked))),
        }
    }
    found
}

pub(super) fn text(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

pub(super) fn all_text<'a>(node: &'a AstNode<'a>) -> String {
    let found: Vec<String> = node.descendants().filter(|node| is_leaf(node)).map(|leaf| text(&spans(leaf))).collect();
    found.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_leaf(node: &AstNode<'_>) -> bool {
    matches!(node.data.borrow().value, NodeValue::Paragraph | NodeValue::Heading(_) | NodeValue::TableCell)
}

fn add(found: &mut Vec<Span>, text: &str, marked: bool) {
    match found.last_mut() {
        Some(last) if last.marked == marked => last.text.push_str(text),
        _ => found.push(Span { text: text.to_owned(), marked }),
    }
}
