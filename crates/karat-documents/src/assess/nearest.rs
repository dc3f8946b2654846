//! Suggestions for golden parts that were not found: the heading or passage the author probably meant, and where it differs.

use crate::ingest::Section;
use karat_core::assessment::part_match::PartIndex;
use karat_core::assessment::rules::Thresholds;
use karat_core::assessment::text::{Tokens, tokens};
use karat_format::document::suggest;
use std::borrow::Cow;

/// Comparing takes time proportional to the product of both lengths, and a longer text is recognised by its beginning.
const MOST_WORDS: usize = 4_000;

pub(super) fn short(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(80) {
        None => Cow::Borrowed(text.trim()),
        Some((at, _)) => Cow::Owned(format!("{}…", text[..at].trim())),
    }
}

/// The section whose heading is most similar, by letters or by words without numbers.
pub(super) fn heading<'d>(title: &str, sections: &'d [Section]) -> Option<&'d Section> {
    let words = |text: &str| tokens(text).into_iter().filter(|word| word.parse::<u64>().is_err()).collect::<Vec<_>>();
    let own = words(title);
    let same = sections.iter().find(|section| !own.is_empty() && words(&section.heading) == own);
    same.or_else(|| {
        let near = suggest::nearest(title, sections.iter().map(|section| section.heading.as_str()))?;
        sections.iter().find(|section| section.heading == near)
    })
}

pub(super) fn bounded(text: &Tokens) -> Tokens {
    if text.len() <= MOST_WORDS {
        return text.clone();
    }
    Tokens::new(text.in_order()[..MOST_WORDS].to_vec())
}

/// The section with the largest share of a text's words in order; ties go to `preferred`.
pub(super) fn passage(index: &PartIndex, text: &Tokens, preferred: &[usize]) -> Option<(usize, f64)> {
    let matches = index.matches(&[bounded(text)], &Thresholds { whole: 0.9, weak: 0.25 });
    let best = matches.near_parts(0).iter().max_by(|a, b| {
        let preferred = |part: usize| preferred.contains(&part);
        let shares = a.found.golden_coverage.total_cmp(&b.found.golden_coverage);
        shares.then(preferred(a.part).cmp(&preferred(b.part))).then(b.part.cmp(&a.part))
    })?;
    Some((best.part, best.found.golden_coverage))
}

/// The words at which a text and the most similar passage differ.
pub(super) fn parting(written: &str, passage: &str) -> String {
    let [text, body] = [written, passage].map(|text| {
        let mut words = tokens(text);
        words.truncate(MOST_WORDS);
        words
    });
    let few = |words: &[String]| words.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(" ");
    // The first words may already differ, so up to eight are skipped.
    for skipped in 0..text.len().min(8) {
        let rest = &text[skipped..];
        let (at, length) = longest_beginning(rest, &body);
        if length < rest.len().min(3) {
            continue;
        }
        if skipped > 0 {
            let before = &body[at.saturating_sub(skipped)..at];
            let there = if before.is_empty() { "nothing".to_owned() } else { format!("“{}”", few(before)) };
            return format!(
                "before “{}” the record has “{}” and the document {there}",
                few(rest),
                few(&text[..skipped])
            );
        }
        let behind = &body[at + length..];
        let there = if behind.is_empty() { "ends".to_owned() } else { format!("has “{}”", few(behind)) };
        let last = &rest[length.saturating_sub(4)..length];
        if length == rest.len() {
            return "the rest of the text stands there".to_owned();
        }
        return format!("after “{}” the record has “{}” and the document {there}", few(last), few(&rest[length..]));
    }
    format!("the record begins with “{}” and the document with “{}”", few(&text), few(&body))
}

/// The longest prefix of a text found in a body: position and number of words.
fn longest_beginning(text: &[String], body: &[String]) -> (usize, usize) {
    let mut best = (0, 0);
    for at in 0..body.len() {
        let common = text.iter().zip(&body[at..]).take_while(|(a, b)| a == b).count();
        if common > best.1 {
            best = (at, common);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, body: &str, expect: &str) {
        assert_eq!(parting(text, body), expect);
    }

    #[test]
    fn first_difference_is_shown() {
        let body = "The Processor shall implement technical and organisational measures to protect the data.";
        check(
            "The processor shall implement technical and organizational measures",
            body,
            "after “shall implement technical and” the record has “organizational measures” and the document has “organisational measures to protect the”",
        );
        check(
            "A Controller shall implement technical measures",
            body,
            "before “shall implement technical measures” the record has “a controller” and the document “the processor”",
        );
        check(
            "to protect the data, and more",
            body,
            "after “to protect the data” the record has “and more” and the document ends",
        );
        check(
            "Nothing of this",
            body,
            "the record begins with “nothing of this” and the document with “the processor shall implement technical”",
        );
        check("", "", "the record begins with “” and the document with “”");
    }
}
