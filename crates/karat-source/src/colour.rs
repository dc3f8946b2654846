//! Syntax highlighting: classifies each part of a line.

use super::language::Language;
use super::symbols::{tree, walk};
use tree_sitter::Node;

/// The class of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
#[repr(u8)]
pub enum Colour {
    /// Everything without a class of its own.
    Plain = b'.',
    Keyword = b'k',
    /// A string or a character.
    Text = b's',
    Number = b'n',
    Comment = b'c',
    /// The name of a type.
    Type = b't',
}

impl Colour {
    /// The letter for it in packed form.
    pub fn letter(self) -> char {
        char::from(self as u8)
    }
}

/// The parts of every line with lengths in bytes; `None` where the code is too long or too complex to be parsed.
pub fn colours(language: Language, source: &str) -> Option<Vec<Vec<(usize, Colour)>>> {
    let tree = tree(language, source)?;
    // Everything with a colour, in source order.
    let mut tokens: Vec<(usize, usize, Colour)> = Vec::new();
    walk(&tree, |node, _| {
        let colour = colour(&node, source);
        tokens.extend(colour.map(|colour| (node.start_byte(), node.end_byte(), colour)));
        colour.is_none()
    });
    let mut tokens = tokens.into_iter().peekable();
    let mut lines = Vec::new();
    let mut start = 0;
    for line in source.split_inclusive('\n') {
        let text = line.strip_suffix('\n').map_or(line, |line| line.strip_suffix('\r').unwrap_or(line));
        let end = start + text.len();
        let mut stretches: Vec<(usize, Colour)> = Vec::new();
        let mut at = start;
        while at < end {
            while tokens.next_if(|token| token.1 <= at).is_some() {}
            let (until, colour) = match tokens.peek() {
                Some((from, to, colour)) if *from <= at => ((*to).min(end), *colour),
                Some((from, ..)) => ((*from).min(end), Colour::Plain),
                None => (end, Colour::Plain),
            };
            match stretches.last_mut() {
                Some((length, last)) if *last == colour => *length += until - at,
                _ => stretches.push((until - at, colour)),
            }
            at = until;
        }
        lines.push(stretches);
        start += line.len();
    }
    Some(lines)
}

/// The colour of a node and everything in it; `None` where its children have their own.
fn colour(node: &Node<'_>, source: &str) -> Option<Colour> {
    let kind = node.kind();
    if !node.is_named() {
        let word = source.get(node.byte_range())?;
        let is_word = word.len() > 1 && word.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
        return is_word.then_some(Colour::Keyword);
    }
    if kind.contains("comment") {
        return Some(Colour::Comment);
    }
    let is_text = ["string", "char_literal", "character", "rune_literal", "heredoc_body", "regex"];
    if is_text.iter().any(|text| kind.starts_with(text))
        || kind.ends_with("string_literal")
        || kind == "template_string"
    {
        return Some(Colour::Text);
    }
    let is_number = ["number", "integer", "float", "int_literal", "decimal_", "hex_", "number_literal"];
    if is_number.iter().any(|number| kind.starts_with(number)) && node.child_count() == 0 {
        return Some(Colour::Number);
    }
    match kind {
        "type_identifier" | "primitive_type" | "predefined_type" | "integral_type" => Some(Colour::Type),
        "floating_point_type" | "boolean_type" | "void_type" => Some(Colour::Type),
        "true" | "false" | "null" | "none" | "nil" | "self" | "this" | "super" => Some(Colour::Keyword),
        "visibility" | "state_mutability" => Some(Colour::Keyword),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines with each coloured span as `letter[text]`.
    fn render(language: Language, source: &str) -> String {
        let lines = colours(language, source).unwrap();
        let mut out = Vec::new();
        for (line, stretches) in source.lines().zip(lines) {
            let mut at = 0;
            let mut text = String::new();
            for (length, colour) in stretches {
                let part = &line[at..at + length];
                at += length;
                if colour == Colour::Plain {
                    text.push_str(part)
                } else {
                    text.push_str(&format!("{}[{part}]", colour.letter()))
                }
            }
            assert_eq!(at, line.len(), "spans do not cover the line");
            out.push(text);
        }
        out.join("\n")
    }

    #[test]
    fn token_classes_are_distinguished() {
        let check = |language: Language, source: &str, expect: &str| assert_eq!(render(language, source), expect);
        check(
            Language::Python,
            "def f(x):\r\n    return 'é' + 12 # why",
            "k[def] f(x):\n    k[return] s['é'] + n[12] c[# why]",
        );
        check(
            Language::Rust,
            "let a: u32 = 0x1f; /* a\nb */ true",
            "k[let] a: t[u32] = n[0x1f]; c[/* a]\nc[b */] k[true]",
        );
        check(Language::Go, "func f() string { return \"a\" }", "k[func] f() t[string] { k[return] s[\"a\"] }");
        check(Language::Python, "", "");
    }

    #[test]
    fn broken_code_is_covered_completely() {
        for source in ["def (((", "\"\"\"never closed\n\n  x", "\u{0}\u{202e}<script>", "a\n\n\nb", "\r\n\r"] {
            for language in [Language::Python, Language::Tsx, Language::C, Language::Solidity, Language::Ruby] {
                render(language, source);
            }
        }
    }
}
