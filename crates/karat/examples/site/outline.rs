//! The headings of a page, by which links and the search find their place.

use comrak::nodes::{AstNode, NodeValue};
use comrak::{Anchorizer, Arena, Options, parse_document};

/// The headings of a page.
#[derive(Clone)]
pub(crate) struct Outline {
    pub(crate) headings: Vec<Heading>,
}

/// One of them, and the text down to the next.
#[derive(Clone)]
pub(crate) struct Heading {
    pub(crate) level: u8,
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) below: String,
}

impl Outline {
    pub(crate) fn parse(markdown: &str) -> Self {
        let arena = Arena::new();
        let mut names = Anchorizer::new();
        let mut headings: Vec<Heading> = Vec::new();
        for block in parse_document(&arena, markdown, &options()).children() {
            let said = words(block);
            if let NodeValue::Heading(heading) = &block.data.borrow().value {
                let id = names.anchorize(&block.collect_text());
                headings.push(Heading { level: heading.level, id, title: said, below: String::new() });
            } else if let Some(last) = headings.last_mut() {
                last.below.push_str(&said);
                last.below.push(' ');
            }
        }
        Self { headings }
    }

    pub(crate) fn has(&self, anchor: &str) -> bool {
        self.headings.iter().any(|heading| heading.id == anchor)
    }
}

/// How Markdown is read everywhere.
pub(crate) fn options() -> Options<'static> {
    let mut options = Options::default();
    options.extension.table = true;
    options.extension.strikethrough = true;
    options.extension.footnotes = true;
    options.extension.header_id_prefix = Some(String::new());
    options
}

/// The text of a node and of all below it, with a space between blocks.
pub(crate) fn words<'a>(node: &'a AstNode<'a>) -> String {
    let mut out = String::new();
    for node in node.descendants() {
        match &node.data.borrow().value {
            NodeValue::Text(text) => out.push_str(text),
            NodeValue::Code(code) => out.push_str(&code.literal),
            NodeValue::CodeBlock(code) => out.push_str(&code.literal),
            NodeValue::SoftBreak | NodeValue::LineBreak => out.push(' '),
            NodeValue::TableCell | NodeValue::Item(_) | NodeValue::Paragraph if !out.is_empty() => out.push(' '),
            _ => {}
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outlines_keep_the_text_below_their_headings() {
        let outline = Outline::parse("# A\n\nfirst *text*\n\n## `b` c\n\n| x | y |\n|---|---|\n| one | two |\n");
        let told: Vec<_> = outline.headings.iter().map(|h| (h.id.as_str(), h.title.as_str(), h.below.trim())).collect();
        assert_eq!(told, [("a", "A", "first text"), ("b-c", "b c", "x y one two")]);
    }
}
