//! The text of a block with its emphasis, and of HTML within it.

use crate::ingest::clause::{Span, joined};
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
            NodeValue::HtmlInline(tag) => add(&mut found, &strip_tags(tag).0, marked),
            NodeValue::FootnoteReference(note) => add(&mut found, &format!("[{}]", note.name), marked),
            NodeValue::Strong | NodeValue::Underline => open.extend(node.reverse_children().map(|node| (node, true))),
            _ => open.extend(node.reverse_children().map(|node| (node, marked))),
        }
    }
    found
}

pub(super) fn all_text<'a>(node: &'a AstNode<'a>) -> String {
    let found: Vec<String> = node.descendants().filter(|node| is_leaf(node)).map(|leaf| joined(&spans(leaf))).collect();
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

const LINES: &[&str] =
    &["br", "p", "div", "li", "tr", "h1", "h2", "h3", "h4", "h5", "h6", "label", "table", "ul", "ol"];
const HIDDEN: &[&str] = &["script", "style", "template"];

/// The text between tags, and whether invisible text was left out.
pub(super) fn strip_tags(html: &str) -> (String, bool) {
    let (mut text, mut hidden) = (String::with_capacity(html.len()), false);
    // Computed once: hostile text has very many tags or partial tags.
    let (lower, last) = (html.to_ascii_lowercase(), html.rfind('>').unwrap_or_default());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            hidden = true;
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let starts = rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
        let closed = starts && html.len() - rest.len() < last;
        let Some(end) = closed.then(|| rest.find('>')).flatten() else {
            text.push('<');
            rest = &rest[1..];
            continue;
        };
        let name = rest[1..end].trim_start_matches('/').chars().take_while(char::is_ascii_alphanumeric);
        let name = name.collect::<String>().to_ascii_lowercase();
        let closing = rest[1..].starts_with('/');
        rest = &rest[end + 1..];
        if name == "td" || name == "th" {
            if closing {
                text.push_str(" | ");
            }
        } else if LINES.contains(&name.as_str()) && (closing || name == "br") {
            text.push('\n');
        } else if HIDDEN.contains(&name.as_str()) && !closing {
            hidden = true;
            let end = lower[html.len() - rest.len()..].find(&format!("</{name}"));
            rest = end.map_or("", |end| &rest[end..]);
        }
    }
    text.push_str(rest);
    for (entity, character) in [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ] {
        if text.contains(entity) {
            text = text.replace(entity, character);
        }
    }
    let lines: Vec<&str> = text.split('\n').map(|line| line.trim_end_matches([' ', '|', '\t'])).collect();
    (lines.join("\n"), hidden)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_visible_text_is_kept() {
        let check = |html: &str, expect: &str| assert_eq!(strip_tags(html).0.trim(), expect, "{html}");
        check("<label>How it is used</label>", "How it is used");
        check("a<br/>b", "a\nb");
        check("<p>one</p><p>two &amp; three</p>", "one\ntwo & three");
        check("<table>\n<tr><td>a</td><td>b</td></tr>\n</table>", "a | b");
        check("x <!-- secret --> y", "x  y");
        check("x<SCRIPT>alert('<b>')</SCRIPT>y", "xy");
        check("<style>unclosed", "");
        check("1 < 2 and a<b", "1 < 2 and a<b");
        check("&amp;lt;", "&lt;");
        assert!(strip_tags("<!-- x -->").1 && !strip_tags("<b>x</b>").1);
    }
}
