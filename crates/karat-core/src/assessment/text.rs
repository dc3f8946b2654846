//! Normalizes and tokenizes heading and body of a part.

use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

pub type Term = u32;

/// The words of all texts that are to be compared with each other, numbered as they come.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    terms: HashMap<String, Term>,
}

impl Vocabulary {
    /// Reads a part: its heading and its text.
    pub fn read(&mut self, title: &str, text: &str) -> Tokens {
        let mut order = Vec::new();
        for token in tokens(&combined(title, text)) {
            let next = self.terms.len() as Term;
            order.push(*self.terms.entry(token).or_insert(next));
        }
        let title = tokens(title).len().min(order.len());
        Tokens { title, ..Tokens::new(order) }
    }
}

/// A text as numbered words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    order: Vec<Term>,
    /// How many of the first words are the heading.
    title: usize,
    /// Each of its words once, rising, with how often it stands there.
    counts: Vec<(Term, u32)>,
}

impl Tokens {
    pub fn new(order: Vec<Term>) -> Self {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        let counts = sorted.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u32)).collect();
        Self { order, title: 0, counts }
    }

    pub fn in_order(&self) -> &[Term] {
        &self.order
    }

    /// How many of its words are the heading.
    pub fn title_len(&self) -> usize {
        self.title
    }

    /// The words below the heading.
    pub fn body(&self) -> Self {
        Self::new(self.order[self.title..].to_vec())
    }

    /// Each word once, rising, with how often it stands in the text.
    pub fn counts(&self) -> &[(Term, u32)] {
        &self.counts
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
}

/// Heading and body as one text, so that equal bodies under different headings stay different.
pub fn combined(title: &str, text: &str) -> String {
    if title.trim().is_empty() { text.to_owned() } else { format!("{title}\n\n{text}") }
}

/// The words of a text, after NFKC and case folding, without white space, punctuation and the marks of Markdown.
///
/// Punctuation goes with the marks, because most marks are punctuation in another place, and because formats differ in it. A
/// link keeps its text and loses its target. Scripts that are written without spaces are cut into single characters.
pub fn tokens(text: &str) -> Vec<String> {
    let folded = folded(text);
    let mut found = Vec::new();
    let mut word = String::new();
    for c in visible_chars(&folded).filter(|c| !is_unseen(*c)) {
        if stands_alone(c) {
            end(&mut word, &mut found);
            found.push(c.to_string());
        } else if c.is_alphanumeric() || is_combining_mark(c) && !word.is_empty() {
            word.push(c);
        } else {
            end(&mut word, &mut found);
        }
    }
    end(&mut word, &mut found);
    found
}

fn end(word: &mut String, found: &mut Vec<String>) {
    if !word.is_empty() {
        found.push(std::mem::take(word));
    }
}

/// NFKC, then full case folding as lower, upper and lower case after each other, letter by letter: `ß` is `ss`, and every sigma is `σ`.
/// It differs from Unicode's table only in letters that share an upper case, such as the `ı` without a dot, which here is an `i`.
fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Folding may take letters and marks apart; the second pass puts them together again.
    text.nfkc().flat_map(char::to_lowercase).flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

/// The characters of a Markdown text that a reader sees: emphasis and code marks vanish, and so do the targets of links.
fn visible_chars(mut text: &str) -> impl Iterator<Item = char> {
    let mut before = None;
    let next = move || {
        let c = text.chars().next()?;
        text = &text[c.len_utf8()..];
        if c == '(' && before == Some(']') {
            text = &text[target(text).unwrap_or(0)..];
        }
        before = Some(c);
        Some(c)
    };
    std::iter::from_fn(next).filter(|c| !matches!(c, '*' | '`' | '~' | '\\'))
}

/// How long the target of a link is, with the bracket that ends it; none where no bracket does on the same line.
fn target(text: &str) -> Option<usize> {
    let mut depth = 1;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Characters that are there for layout alone, such as the hyphen that is seen only at the end of a line.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Letters of scripts that are written without spaces between words.
fn stands_alone(c: char) -> bool {
    matches!(c,
        '\u{0e01}'..='\u{0eff}'    // Thai, Lao
        | '\u{1000}'..='\u{109f}'  // Myanmar
        | '\u{1780}'..='\u{17d3}'  // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' // Kana
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' // Han
        | '\u{20000}'..='\u{3ffff}')
        && (c.is_alphanumeric() || is_combining_mark(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: &str) {
        assert_eq!(tokens(text).join(" "), expect, "{text:?}");
    }

    #[test]
    fn formats_are_made_alike() {
        check("## 2.3 Security *Measures*\n", "2 3 security measures");
        check(
            "- **The Processor** shall `implement`\n> them, im**port**antly.",
            "the processor shall implement them importantly",
        );
        check("| a | b |\n|---|:-:|\n| c | ~~d~~ |", "a b c d");
        check("1\\. as [the policy](https://x.y/(z) \"T\") says [1](broken", "1 as the policy says 1 broken");
        check("___\n* * *\n", "");
        check("a\u{a0}b\tc\r\n\r\nd", "a b c d");
        check("organi\u{ad}sation\u{200b}al", "organisational");
    }

    #[test]
    fn letters_are_made_alike() {
        check("ﬁrst ＦＵＬＬ ½ ①", "first full 1 2 1");
        check("Straße STRASSE ẞ", "strasse strasse ss");
        check("ΌΣΟΣ όσος", "όσοσ όσοσ");
        // The same letters, put together and taken apart.
        check("SÄKERHET sa\u{308}kerhet", "säkerhet säkerhet");
        check("ΐ \u{1fd3}", "ΐ ΐ");
        check("हिन्दी", "हिन्दी");
    }

    #[test]
    fn scripts_without_spaces_are_cut_into_characters() {
        check("安全措施 and ひらがな。", "安 全 措 施 and ひ ら が な");
    }

    #[test]
    fn headings_are_part_of_the_text() {
        let mut vocabulary = Vocabulary::default();
        let read = vocabulary.read("2.1 Encryption", "Data is encrypted, data always.");
        assert_eq!(read.in_order(), [0, 1, 2, 3, 4, 5, 3, 6]);
        assert_eq!(read.counts(), [(0, 1), (1, 1), (2, 1), (3, 2), (4, 1), (5, 1), (6, 1)]);
        assert_eq!((read.title_len(), read.body().in_order()), (3, &[3, 4, 5, 3, 6][..]));
        assert_eq!(vocabulary.read("", "ENCRYPTION data").in_order(), [2, 3]);
        assert!(vocabulary.read(" ", "—").is_empty());
        assert_eq!(combined(" ", "b"), "b");
    }
}
