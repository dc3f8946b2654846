//! Splits a text into words, code names, numbers and operators, and detects negation.

use crate::matching::keywords::lowercase;
use std::borrow::Cow;

/// Stop words, without negations; sorted.
const STOP_WORDS: &[&str] = &[
    "about", "after", "again", "all", "also", "an", "and", "any", "are", "as", "at", "be", "because", "been", "before",
    "being", "between", "both", "but", "by", "can", "could", "did", "do", "does", "don", "down", "each", "eg", "etc",
    "for", "from", "further", "had", "has", "have", "having", "he", "her", "here", "his", "how", "ie", "if", "in",
    "instead", "into", "is", "it", "its", "just", "may", "might", "more", "most", "now", "of", "off", "on", "once",
    "only", "or", "other", "our", "out", "over", "own", "per", "same", "she", "should", "so", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "to", "too", "under", "up", "use",
    "used", "using", "very", "via", "was", "we", "were", "what", "when", "where", "which", "while", "who", "why",
    "will", "with", "would", "you", "your",
];

const NEGATIONS: &[&str] =
    &["cannot", "fail", "fails", "lack", "lacks", "missing", "never", "no", "none", "not", "unable", "without"];

/// Operators; longer ones come before their prefixes.
const OPERATORS: &[&str] = &["===", "!==", "==", "!=", "&&", "||", "<=", ">=", "=>", "->", "??", "?."];

const MOST_CHARACTERS: usize = 4000;

#[derive(Clone, Copy)]
pub(super) enum Piece<'t> {
    Number(&'t str),
    /// An operator of programming languages, by its place in the list.
    Operator(usize),
    Word {
        /// As it is written, without an `n't`.
        word: &'t str,
        denied: bool,
        /// Whether what stands around it makes it a name of code.
        named: bool,
    },
}

pub(super) fn pieces<'t>(text: &'t str, mut emit: impl FnMut(Piece<'t>)) {
    let text = bounded(text);
    let quoted = quoted(text);
    let mut quoted = quoted.as_slice();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_ascii_digit() {
            let end = at + number(rest);
            emit(Piece::Number(&text[at..end]));
            at = end;
        } else if first.is_alphanumeric() || first == '_' {
            let length = word_length(rest);
            let end = at + length;
            while let Some((_, later)) = quoted.split_first().filter(|((_, to), _)| *to < end) {
                quoted = later;
            }
            let within = quoted.first().is_some_and(|(from, _)| *from <= at);
            at += word(&text[..at], &rest[..length], &text[end..], within, &mut emit);
        } else if let Some(operator) = operator(first, rest) {
            emit(Piece::Operator(operator));
            at += OPERATORS[operator].len();
        } else {
            at += first.len_utf8();
        }
    }
}

/// Emits a word with its context, and returns its length in bytes.
fn word<'t>(before: &str, word: &'t str, after: &str, within: bool, emit: &mut impl FnMut(Piece<'t>)) -> usize {
    let tail = ["'t", "\u{2019}t"].iter().find(|tail| after.starts_with(**tail));
    let denied = tail.and_then(|tail| Some((word.strip_suffix('n')?, tail.len())));
    let (own, beyond) = denied.unwrap_or((word, 0));
    let named = (within && own.len() > 2) || is_used(before, after);
    emit(Piece::Word { word: own, denied: denied.is_some(), named });
    word.len() + beyond
}

pub(super) struct Spelling<'w> {
    pub(super) lower: Cow<'w, str>,
    pub(super) is_name: bool,
    pub(super) is_stop_word: bool,
    pub(super) denies: bool,
}

impl<'w> Spelling<'w> {
    pub(super) fn new(word: &'w str, mut emit: impl FnMut(&str)) -> Self {
        parts(word, |part| {
            let part = lowercase(part);
            if part.chars().nth(1).is_some() && !is_stop_word(&part) {
                emit(&stem(&part));
            }
        });
        let lower = lowercase(word);
        let mut last = ' ';
        let camel = word.chars().any(|c| std::mem::replace(&mut last, c).is_lowercase() && c.is_uppercase());
        Self {
            is_name: camel || word.trim_matches('_').contains('_'),
            is_stop_word: is_stop_word(&lower),
            denies: NEGATIONS.contains(&&*lower),
            lower,
        }
    }
}

/// The stem of a denial that is a mere `n't`.
pub(super) const NOT: &str = "not";

/// The stems of a text's words, names split into theirs, in the order of the text.
pub(crate) fn stems(text: &str) -> Vec<String> {
    let mut stems = Vec::new();
    pieces(text, |piece| match piece {
        Piece::Number(number) => stems.push(number.to_owned()),
        Piece::Operator(_) => {}
        Piece::Word { word, denied, .. } => {
            stems.extend(denied.then(|| NOT.to_owned()));
            Spelling::new(word, |stem| stems.push(stem.to_owned()));
        }
    });
    stems
}

/// The stems of all words of a text in their order, stop words included, names split into theirs.
pub(super) fn sequence(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in bounded(text).split(|c: char| !c.is_alphanumeric() && c != '_') {
        parts(run, |part| words.push(stem(&lowercase(part)).into_owned()));
    }
    words
}

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Runs of four characters, each as a number, of letters and digits in lowercase with one blank for everything between them.
pub(super) fn grams(text: &str, mut emit: impl FnMut(u64)) {
    // Four characters fill the number, so that a fifth pushes the first one out.
    let (mut run, mut length, mut blank) = (u64::from(b' '), 1, true);
    let mut push = |c: u32| {
        run = (run << 16) ^ u64::from(c);
        length += 1;
        if length >= 4 {
            emit(run);
        }
    };
    for c in bounded(text).chars() {
        if c.is_ascii_alphanumeric() {
            push(u32::from(c.to_ascii_lowercase()));
            blank = false;
        } else if !c.is_ascii() && c.is_alphanumeric() {
            c.to_lowercase().for_each(|c| push(u32::from(c)));
            blank = false;
        } else if !blank {
            push(u32::from(' '));
            blank = true;
        }
    }
    if !blank {
        push(u32::from(' '));
    }
}

/// The stem of a lowercase word: the commonest endings cut off, lightly.
pub(super) fn stem(word: &str) -> Cow<'_, str> {
    const ENDINGS: &[(&str, &str)] = &[
        ("ization", "iz"),
        ("isation", "iz"),
        ("ational", "at"),
        ("ations", "at"),
        ("ation", "at"),
        ("ements", "ement"),
        ("ingly", ""),
        ("edly", ""),
        ("ness", ""),
        ("ively", "iv"),
        ("ities", "ity"),
        ("ies", "y"),
        ("ing", ""),
        ("ied", "y"),
        ("ers", "er"),
        ("ed", ""),
        ("ly", ""),
        ("es", "e"),
        ("s", ""),
    ];
    if !word.is_ascii() || word.len() <= 3 {
        return Cow::Borrowed(word);
    }
    let mut stem = Cow::Borrowed(word);
    let plural = |ending: &str| ending == "s" && ["ss", "us", "is"].iter().any(|kept| word.ends_with(kept));
    let is_there = |ending: &str| ending.as_bytes().last() == word.as_bytes().last() && word.ends_with(ending);
    for (ending, instead) in ENDINGS {
        if is_there(ending) && word.len() - ending.len() >= 3 && !plural(ending) {
            let rest = &word[..word.len() - ending.len()];
            stem = match ending.starts_with(instead) {
                true => Cow::Borrowed(&word[..rest.len() + instead.len()]),
                false => Cow::Owned([rest, instead].concat()),
            };
            break;
        }
    }
    if let [.., a, b] = stem.as_bytes()
        && stem.len() > 4
        && a == b
        && !b"lsz".contains(b)
    {
        shorten(&mut stem);
    }
    if stem.len() > 4 && stem.ends_with('e') {
        shorten(&mut stem);
    }
    stem
}

/// Takes the last letter away, which must be of ASCII.
fn shorten(word: &mut Cow<'_, str>) {
    match word {
        Cow::Borrowed(word) => *word = &word[..word.len() - 1],
        Cow::Owned(word) => drop(word.pop()),
    }
}

pub(super) fn bounded(text: &str) -> &str {
    if text.len() <= MOST_CHARACTERS {
        return text;
    }
    text.char_indices().nth(MOST_CHARACTERS).map_or(text, |(end, _)| &text[..end])
}

/// What stands between backticks on one line, from and to.
fn quoted(text: &str) -> Vec<(usize, usize)> {
    let (mut ranges, mut open) = (Vec::new(), None);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'\n' => open = None,
            b'`' => match open.take() {
                Some(from) => ranges.push((from, at)),
                None => open = Some(at),
            },
            _ => {}
        }
    }
    ranges
}

/// The operator a text starts with, by its place in the list; `first` is the text's first character.
fn operator(first: char, text: &str) -> Option<usize> {
    let may_start_one = matches!(first, '=' | '!' | '&' | '|' | '<' | '>' | '-' | '?');
    may_start_one.then(|| OPERATORS.iter().position(|operator| text.starts_with(operator)))?
}

fn word_length(text: &str) -> usize {
    let plain = text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count();
    if text.as_bytes().get(plain).is_none_or(u8::is_ascii) {
        return plain;
    }
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

/// The length of the number a text starts with, a fraction included.
fn number(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let whole = digits(text);
    match text[whole..].strip_prefix('.').map(digits) {
        Some(fraction) if fraction > 0 => whole + 1 + fraction,
        _ => whole,
    }
}

/// Whether what stands around a word makes it a name of code: it is called, or it is or has a member.
fn is_used(before: &str, after: &str) -> bool {
    let member = || before.strip_suffix('.').is_some_and(|owner| owner.ends_with(char::is_alphanumeric));
    let owner = || after.strip_prefix('.').is_some_and(|member| member.starts_with(char::is_alphabetic));
    after.starts_with('(') || member() || owner()
}

/// Emits the words of a name: `getUserID_v2` is get, User, ID, v and 2.
fn parts<'w>(name: &'w str, mut emit: impl FnMut(&'w str)) {
    let kind = |c: char| match c {
        'a'..='z' => 2,
        '_' => 0,
        c if c.is_uppercase() => 1,
        c if c.is_numeric() => 3,
        _ => 2,
    };
    let mut part = |part: &'w str| {
        if !part.is_empty() && !part.starts_with('_') {
            emit(part);
        }
    };
    let (mut start, mut before) = (0, None);
    let mut chars = name.char_indices().map(|(at, c)| (at, kind(c))).peekable();
    while let Some((at, kind)) = chars.next() {
        if let Some(before) = before {
            let capital = before == 1 && kind == 1 && chars.peek().is_some_and(|next| next.1 == 2);
            if (before != kind && !(before == 1 && kind == 2)) || capital {
                part(&name[start..at]);
                start = at;
            }
        }
        before = Some(kind);
    }
    part(&name[start..]);
}

#[cfg(test)]
mod tests;
