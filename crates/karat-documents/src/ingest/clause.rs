//! Detects headings that have no markup: numbered clauses and emphasised lines.

use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) text: String,
    /// Bold or underlined.
    pub(super) marked: bool,
}

pub(super) fn joined(spans: &[Span]) -> String {
    spans.iter().map(|span| span.text.as_str()).collect()
}

/// The size of most of the text, and whether most of it is bold, by size, weight and length of each run.
pub(super) fn prevailing<S: Ord + Copy>(runs: impl Iterator<Item = (S, bool, usize)>) -> (Option<S>, bool) {
    let mut sizes: BTreeMap<S, usize> = BTreeMap::new();
    let (mut bold, mut all) = (0, 0);
    for (size, is_bold, length) in runs {
        *sizes.entry(size).or_default() += length;
        all += length;
        bold += if is_bold { length } else { 0 };
    }
    let size = sizes.into_iter().max_by_key(|(size, length)| (*length, *size)).map(|(size, _)| size);
    (size, bold * 3 > all * 2)
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Lead {
    pub(super) heading: String,
    pub(super) number: Option<Number>,
    pub(super) rest: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Number {
    /// Such as `2.3`, without a final dot.
    Decimal(String),
    /// Such as `A` or `IV`.
    Letter(String),
    /// Such as `Annex II` or `§ 4`.
    Word(String),
}

impl Number {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Decimal(text) | Self::Letter(text) | Self::Word(text) => text,
        }
    }

    pub(super) fn depth(&self) -> usize {
        match self {
            Self::Decimal(text) => text.split('.').count(),
            Self::Letter(_) | Self::Word(_) => 1,
        }
    }
}

/// Words before the number of a part.
const PARTS: &[&str] = &["article", "artikel", "avsnitt", "chapter", "clause", "kapitel", "part", "section", "§"];
/// Words before the number of an attachment.
const ATTACHED: &[&str] = &["anhang", "anlage", "annex", "appendix", "attachment", "bilaga", "exhibit", "schedule"];
const LONGEST_TITLE: usize = 120;
const MOST_WORDS: usize = 16;

/// Splits off the number that a heading starts with.
pub(super) fn number(text: &str) -> Option<(Number, &str)> {
    let text = text.trim_start();
    decimal(text).or_else(|| worded(text)).or_else(|| lettered(text))
}

/// The heading that a paragraph is or starts with, by its number and emphasis.
///
/// `label` is a list marker or automatic number shown before the text. `parents` are the numbers of clauses that have
/// subclauses: `2 Security` is a heading if there is a `2.1`, else it is ambiguous.
pub(super) fn lead(label: &str, spans: &[Span], parents: &BTreeSet<String>) -> Option<Lead> {
    let text = joined(spans);
    let shown = if label.is_empty() { String::new() } else { format!("{label} ") };
    let labelled = format!("{shown}{}", text.trim());
    let (number, start) = match number(if label.is_empty() { &text } else { &labelled }) {
        // A marker that is not a clause number, such as `(a)` or a bullet.
        None if !label.is_empty() => return None,
        None => (None, 0),
        Some((number, title)) if label.is_empty() => (Some(number), text.len() - title.len()),
        Some((number, _)) => (Some(number), 0),
    };
    let title = text[start..].trim_start();
    let from = text.len() - title.len();
    let marked = marked_until(spans, from).saturating_sub(from);
    let (before, after) = title.split_at(title.floor_char_boundary(marked));
    let whole = || Lead { heading: one_line(&labelled), number: number.clone(), rest: String::new() };
    if before.chars().any(char::is_alphanumeric) && !after.chars().any(char::is_alphanumeric) {
        let fits = if number.is_some() { is_title(title.trim_end_matches([' ', '.', ':'])) } else { is_title(title) };
        return fits.then(whole);
    }
    let upto = if label.is_empty() { &text[..from] } else { shown.as_str() };
    match &number {
        Some(Number::Decimal(_) | Number::Word(_)) if before.chars().any(char::is_alphanumeric) => {
            // In `2. Term. This agreement …` only a stop distinguishes a title from an emphasised word.
            let stops = ['.', ':', '–', '—'];
            let stopped = before.trim_end().ends_with(stops) || after.trim_start().starts_with(stops);
            let title = before.trim().trim_end_matches(stops).trim_end();
            if !stopped || !is_title(title) {
                return None;
            }
            let rest = after.trim_start().trim_start_matches(stops).trim().to_owned();
            Some(Lead { heading: one_line(&format!("{upto}{title}")), number, rest })
        }
        Some(found @ Number::Decimal(digits)) => {
            let stated = found.depth() > 1 || parents.contains(digits);
            if stated && is_title(title) {
                return Some(whole());
            }
            let (first, rest) = title_sentence(title)?;
            Some(Lead { heading: one_line(&format!("{upto}{first}")), number, rest: rest.to_owned() })
        }
        Some(Number::Word(_)) if label.is_empty() => (title.is_empty() || is_title(title)).then(whole),
        _ => None,
    }
}

/// Joins a number on a line of its own with its title.
fn one_line(heading: &str) -> String {
    heading.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

pub(super) fn is_attached(word: &str) -> bool {
    ATTACHED.contains(&word.split(' ').next().unwrap_or_default().to_lowercase().as_str())
}

/// The ancestors of a number: `2` and `2.3` for `2.3.1`.
pub(super) fn above(number: &str) -> impl Iterator<Item = &str> {
    number.match_indices('.').map(|(at, _)| &number[..at])
}

/// A first sentence that is a title by its capitals, as in `Access and Use. During the term …`, and the rest.
pub(super) fn title_sentence(text: &str) -> Option<(&str, &str)> {
    let (title, rest) = text.trim().split_once(". ")?;
    let words = || title.split_whitespace();
    let long = |word: &&str| word.chars().filter(|c| c.is_alphabetic()).count() >= 4;
    let capital = |word: &str| word.chars().find(|c| c.is_alphanumeric()).is_some_and(|c| !c.is_lowercase());
    let fits =
        words().count() <= 8 && words().any(|word| long(&word)) && words().filter(long).all(capital) && is_title(title);
    (fits && capital(rest)).then(|| (title.trim(), rest.trim()))
}

/// Words that could be a heading: few, starting with a capital, not a sentence.
pub(super) fn is_title(text: &str) -> bool {
    let first = text.trim().trim_start_matches(['“', '"', '\'', '‘', '(', '[', '{']).chars().next();
    first.is_some_and(|c| c.is_alphanumeric() && !c.is_lowercase()) && is_brief(text)
}

/// Words that could be a heading if something else says so.
pub(super) fn is_brief(text: &str) -> bool {
    let text = text.trim();
    text.chars().any(char::is_alphabetic)
        && text.chars().count() <= LONGEST_TITLE
        && text.split_whitespace().count() <= MOST_WORDS
        && !text.ends_with(['.', ';', ',', ':'])
        && !text.contains([';', '\n'])
        && !text.contains(". ")
}

/// The end of the emphasised run from a position; white space is neutral.
fn marked_until(spans: &[Span], from: usize) -> usize {
    let (mut at, mut end) = (0, from);
    for span in spans {
        let next = at + span.text.len();
        if next > from {
            let rest = &span.text[span.text.floor_char_boundary(from.saturating_sub(at))..];
            if !rest.trim().is_empty() {
                if !span.marked {
                    break;
                }
                end = at + span.text.trim_end().len();
            }
        }
        at = next;
    }
    end
}

fn decimal(text: &str) -> Option<(Number, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, rest) = (text[..end].trim_end_matches('.'), &text[end..]);
    let parts = digits.split('.').all(|part| (1..=3).contains(&part.len()));
    // A separator must follow, or `3.5mm` would be a clause.
    let apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    let once = text[..end].len() - digits.len() <= 1;
    (parts && apart && once && digits.split('.').count() <= 9)
        .then(|| (Number::Decimal(digits.to_owned()), rest.trim_start()))
}

fn lettered(text: &str) -> Option<(Number, &str)> {
    let (letters, rest) = text.split_once('.')?;
    let apart = rest.is_empty() || rest.starts_with(char::is_whitespace);
    (is_letter_or_roman(letters) && apart).then(|| (Number::Letter(letters.to_owned()), rest.trim_start()))
}

fn is_letter_or_roman(text: &str) -> bool {
    let roman = (1..=6).contains(&text.len()) && text.chars().all(|c| "IVXLC".contains(c));
    roman || text.len() == 1 && text.chars().all(|c| c.is_ascii_uppercase())
}

fn worded(text: &str) -> Option<(Number, &str)> {
    let word_end = text.find(char::is_whitespace)?;
    let word = &text[..word_end];
    let known = |words: &[&str]| words.contains(&word.to_lowercase().as_str());
    if !(known(PARTS) || known(ATTACHED)) || !word.starts_with(|c: char| c.is_uppercase() || c == '§') {
        return None;
    }
    let rest = text[word_end..].trim_start();
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '.').unwrap_or(rest.len());
    let count = rest[..end].trim_end_matches('.');
    let digits = count.split('.').all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit()));
    let title = rest[end..].trim_start_matches([' ', '\t', '\u{a0}', ':', '–', '—', '-']);
    (digits || is_letter_or_roman(count)).then(|| (Number::Word(format!("{word} {count}")), title))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stars mark emphasized text; the result is `heading / number / rest`.
    #[track_caller]
    fn check(label: &str, text: &str, expect: &str) {
        let spans: Vec<Span> = text
            .split('*')
            .enumerate()
            .map(|(n, part)| Span { text: part.to_owned(), marked: n % 2 == 1 })
            .filter(|span| !span.text.is_empty())
            .collect();
        let parents = BTreeSet::from(["2".to_owned()]);
        let found = lead(label, &spans, &parents);
        let shown = found.map_or_else(String::new, |lead| {
            let number = lead.number.map_or_else(String::new, |n| n.as_str().to_owned());
            format!("{} / {number} / {}", lead.heading, lead.rest)
        });
        assert_eq!(shown, expect, "{label:?} {text:?}");
    }

    #[test]
    fn emphasized_paragraph_is_a_heading() {
        check("", "*2.3 Security Measures*", "2.3 Security Measures / 2.3 / ");
        check("", "2.3 \r\nSecurity Measures", "2.3 Security Measures / 2.3 / ");
        check("", "2.3 *Security Measures*", "2.3 Security Measures / 2.3 / ");
        check("2.3", "*Security Measures:*", "2.3 Security Measures: / 2.3 / ");
        check("", "*Key Terms*", "Key Terms /  / ");
        check("", "*IV. Scope of Work*", "IV. Scope of Work / IV / ");
        check("", "*This is a whole sentence, and it says a lot.*", "");
        check("", "*Party Name:*", "");
        check("-", "*Key Terms*", "");
        check("(a)", "*Key Terms*", "");
        check("", "*see below*", "");
    }

    #[test]
    fn title_may_be_followed_by_text() {
        check("1.", "*Introduction*. This agreement …", "1. Introduction / 1 / This agreement …");
        check("", "4.1 *Term.* It starts today.", "4.1 Term / 4.1 / It starts today.");
        check("", "*4.1 Term.* It starts today.", "4.1 Term / 4.1 / It starts today.");
        check("1.", "*Customer* shall pay.", "");
        check("", "*What is this?* This is a text.", "");
        check("1.", "“*Term*”: a word.", "");
    }

    #[test]
    fn numbers_without_emphasis_need_further_signs() {
        check("", "2.3 Security Measures", "2.3 Security Measures / 2.3 / ");
        check("", "2 Security", "2 Security / 2 / ");
        check("", "3 Security", "");
        check("2.", "Security", "2. Security / 2 / ");
        check("3.", "Apples", "");
        check("", "2.3 the processor shall", "");
        check("", "2.3 The processor shall act.", "");
        check(
            "2.3",
            "Access and Use. During the term, all may use it.",
            "2.3 Access and Use / 2.3 / During the term, all may use it.",
        );
        check("2.3", "The processor shall act. It shall act soon.", "");
        check("", "3.5mm Screws", "");
        check("", "2024 Report", "");
        check("", "Annex II", "Annex II / Annex II / ");
        check("", "Article 5 – Audit Rights", "Article 5 – Audit Rights / Article 5 / ");
        check("", "Section 5 applies to all", "");
        check("", "§ 4 Haftung", "§ 4 Haftung / § 4 / ");
        check("", "(a) Something", "");
        check("", "I. Scope", "");
    }

    #[test]
    fn numbers_have_parent_numbers() {
        assert_eq!(above("2.3.1").collect::<Vec<_>>(), ["2", "2.3"]);
        assert_eq!(above("2").count(), 0);
    }
}
