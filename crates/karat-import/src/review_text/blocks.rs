//! Splits Markdown into headings, list items, paragraphs and code, in one pass.

use std::borrow::Cow;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block<'t> {
    pub(super) kind: BlockKind,
    pub(super) indent: usize,
    /// Its lines, without markers of headings and items.
    pub(super) text: Cow<'t, str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Heading(usize),
    /// A list item, with its continuation lines.
    Item,
    Paragraph,
    /// A fenced block, fences included.
    Code,
}

pub(super) fn split(text: &str) -> Vec<Block<'_>> {
    let mut blocks: Vec<Block<'_>> = Vec::new();
    let mut fence: Option<&str> = None;
    let mut ended = true;
    for line in text.lines() {
        let (indent, trimmed) = indented(line);
        if let Some(mark) = fence {
            push_line(&mut blocks, line);
            if trimmed.starts_with(mark) && trimmed.trim_end().trim_matches(['`', '~']).is_empty() {
                (fence, ended) = (None, true);
            }
            continue;
        }
        let marks = trimmed.len() - trimmed.trim_start_matches(['`', '~']).len();
        if marks >= 3 {
            fence = Some(&trimmed[..3]);
            blocks.push(Block { kind: BlockKind::Code, indent, text: line.into() });
        } else if trimmed.is_empty() || is_rule(trimmed) {
            ended = true;
        } else if let Some((level, rest)) = heading(trimmed) {
            blocks.push(Block { kind: BlockKind::Heading(level), indent: 0, text: rest.into() });
            ended = true;
        } else if let Some(rest) = item(trimmed) {
            blocks.push(Block { kind: BlockKind::Item, indent, text: rest.into() });
            ended = false;
        } else if ended {
            blocks.push(Block { kind: BlockKind::Paragraph, indent, text: trimmed.into() });
            ended = false;
        } else {
            push_line(&mut blocks, trimmed);
        }
    }
    blocks
}

fn push_line(blocks: &mut [Block<'_>], line: &str) {
    if let Some(last) = blocks.last_mut() {
        let text = last.text.to_mut();
        text.push('\n');
        text.push_str(line);
    }
}

/// The indentation without quotation marks of quoted lines, and the rest.
fn indented(line: &str) -> (usize, &str) {
    let unquoted = line.trim_start_matches(['>', ' ', '\t']);
    let quoted = line[..line.len() - unquoted.len()].contains('>');
    let blank = |c: char| c == ' ' || c == '\t';
    let line = if quoted { line.trim_start_matches(blank).trim_start_matches('>') } else { line };
    let line = if quoted { line.strip_prefix(' ').unwrap_or(line) } else { line };
    let trimmed = line.trim_start_matches(blank).trim_end();
    let columns = line.chars().take_while(|c| blank(*c)).map(|c| if c == '\t' { 4 } else { 1 }).sum();
    (columns, trimmed)
}

/// A line of dashes, stars or equal signs, or the rule of a table.
fn is_rule(line: &str) -> bool {
    line.chars().all(|c| "-*_=|: ".contains(c)) && line.len() >= 3
}

fn heading(line: &str) -> Option<(usize, &str)> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    ((1..=6).contains(&level) && rest.starts_with([' ', '\t']))
        .then(|| (level, rest.trim().trim_end_matches('#').trim_end()))
}

fn item(line: &str) -> Option<&str> {
    let bullet = line.strip_prefix(['-', '*', '+', '•']);
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = line.len() - rest.len();
        rest.strip_prefix(['.', ')']).filter(|_| (1..=9).contains(&digits))
    };
    let rest = bullet.or_else(numbered)?;
    let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
    // The checkbox of a task list.
    Some(["[ ] ", "[x] ", "[X] "].iter().find_map(|tick| rest.strip_prefix(tick)).unwrap_or(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_split_into_blocks() {
        let check = |text: &str, expect: &[(BlockKind, usize, &str)]| {
            let found = split(text);
            let found: Vec<(BlockKind, usize, &str)> =
                found.iter().map(|b| (b.kind, b.indent, b.text.as_ref())).collect();
            assert_eq!(found, expect, "{text:?}");
        };
        use BlockKind::{Code, Heading, Item, Paragraph};
        check("", &[]);
        check("a\nb\n\nc", &[(Paragraph, 0, "a\nb"), (Paragraph, 0, "c")]);
        check("## A ##\ntext", &[(Heading(2), 0, "A"), (Paragraph, 0, "text")]);
        check("#hash", &[(Paragraph, 0, "#hash")]);
        check(
            "- a\n  b\n  - c\n\n  d\n1. e",
            &[(Item, 0, "a\nb"), (Item, 2, "c"), (Paragraph, 2, "d"), (Item, 0, "e")],
        );
        check("* [ ] a\n-b", &[(Item, 0, "a\n-b")]);
        check("a\n---\nb\n***", &[(Paragraph, 0, "a"), (Paragraph, 0, "b")]);
        check("```py\n# no heading\n```\na", &[(Code, 0, "```py\n# no heading\n```"), (Paragraph, 0, "a")]);
        check("~~~\nnever closed\n- a", &[(Code, 0, "~~~\nnever closed\n- a")]);
        check("> quoted\n> - item", &[(Paragraph, 0, "quoted"), (Item, 0, "item")]);
        check("1999 was a year", &[(Paragraph, 0, "1999 was a year")]);
    }
}
