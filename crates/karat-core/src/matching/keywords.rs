//! Finds the keywords of a case in a text.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use std::borrow::Cow;
use std::collections::HashMap;

/// The distinct keywords of a case, each with a number.
pub(crate) enum Keywords {
    Few(Buckets),
    Many(AhoCorasick),
}

/// Up to this size, buckets by the first two bytes are quicker than building an automaton.
const FEW: usize = 256;
const FEW_BYTES: usize = 8 * 1024;

impl Keywords {
    /// `None` where there are no keywords.
    pub(crate) fn new(index: KeywordIndex<'_>) -> Option<Self> {
        let patterns = index.patterns;
        let bytes: usize = patterns.iter().map(|p| p.len()).sum();
        if patterns.len() <= FEW && bytes <= FEW_BYTES {
            return (!patterns.is_empty()).then(|| Self::Few(Buckets::new(&patterns)));
        }
        // Keywords are used for few texts, so an automaton that is quick to build beats one that is quick to run.
        let automaton = AhoCorasick::builder()
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .match_kind(MatchKind::Standard)
            .build(patterns.iter().map(|p| p.as_bytes()));
        automaton.ok().map(Self::Many)
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Few(buckets) => buckets.entries.len() + buckets.single.len(),
            Self::Many(automaton) => automaton.patterns_len(),
        }
    }

    /// The numbers of all keywords that the text, which must be [folded](fold), contains, in rising order.
    pub(crate) fn find(&self, text: &str, found: &mut Vec<u32>) {
        found.clear();
        match self {
            Self::Few(buckets) => buckets.find(text.as_bytes(), found),
            Self::Many(automaton) => {
                found.extend(automaton.find_overlapping_iter(text).map(|hit| hit.pattern().as_u32()));
            }
        }
        found.sort_unstable();
        found.dedup();
    }
}

#[derive(Default)]
pub(crate) struct KeywordIndex<'a> {
    ids: HashMap<Cow<'a, str>, u32>,
    patterns: Vec<Cow<'a, str>>,
}

impl<'a> KeywordIndex<'a> {
    /// The number of a keyword, ignoring letter case and white space around it; a blank one has none.
    pub(crate) fn number(&mut self, keyword: &'a str) -> Option<u32> {
        let keyword = fold(keyword.trim());
        if keyword.is_empty() {
            return None;
        }
        Some(*self.ids.entry(keyword).or_insert_with_key(|keyword| {
            self.patterns.push(keyword.clone());
            self.patterns.len() as u32 - 1
        }))
    }
}

/// The text as keywords are looked for in it: in lowercase, and all white space between two words one blank, as texts are wrapped
/// anywhere. It is itself where it is so already.
pub fn fold(text: &str) -> Cow<'_, str> {
    let is_plain = |pair: &[u8]| pair[0] != b' ' || pair[1] != b' ';
    let is_folded =
        |b: u8| b.is_ascii() && !b.is_ascii_uppercase() && (b == b' ' || !b.is_ascii_whitespace() && b != 0x0b);
    if text.bytes().all(is_folded) && text.as_bytes().windows(2).all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut folded = String::with_capacity(text.len());
    for c in text.chars() {
        if !c.is_whitespace() {
            folded.extend(c.to_lowercase());
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    Cow::Owned(folded)
}

/// The text in lowercase, itself where it is so already.
pub(crate) fn lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// Keywords bucketed by their first two bytes.
pub(crate) struct Buckets {
    /// Bucket `b` holds `entries[starts[b]..starts[b + 1]]`.
    starts: Vec<u16>,
    entries: Vec<(u32, Box<[u8]>)>,
    single: Vec<(u32, u8)>,
}

const BUCKETS: usize = 512;

fn bucket(first: u8, second: u8) -> usize {
    (usize::from(first) * 37 + usize::from(second)) % BUCKETS
}

impl Buckets {
    fn new(patterns: &[Cow<'_, str>]) -> Self {
        let mut starts = vec![0_u16; BUCKETS + 1];
        let mut entries: Vec<(u32, Box<[u8]>)> = Vec::with_capacity(patterns.len());
        let mut single = Vec::new();
        for (id, pattern) in (0_u32..).zip(patterns) {
            match *pattern.as_bytes() {
                [] => {}
                [only] => single.push((id, only)),
                [first, second, ..] => {
                    starts[bucket(first, second) + 1] += 1;
                    entries.push((id, pattern.as_bytes().into()));
                }
            }
        }
        entries.sort_by_key(|(_, pattern)| bucket(pattern[0], pattern[1]));
        for b in 0..BUCKETS {
            starts[b + 1] += starts[b];
        }
        Self { starts, entries, single }
    }

    fn find(&self, text: &[u8], found: &mut Vec<u32>) {
        found.extend(self.single.iter().filter(|(_, only)| text.contains(only)).map(|(id, _)| *id));
        for (at, pair) in text.windows(2).enumerate() {
            let b = bucket(pair[0], pair[1]);
            let (start, end) = (self.starts[b], self.starts[b + 1]);
            if start == end {
                continue;
            }
            for (id, pattern) in &self.entries[usize::from(start)..usize::from(end)] {
                // The last byte rules out most mismatches.
                if text.get(at + pattern.len() - 1) == pattern.last() && text[at..].starts_with(pattern) {
                    found.push(*id);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(keywords: &[String], text: &str) -> Vec<u32> {
        let mut index = KeywordIndex::default();
        let ids: Vec<u32> = keywords.iter().filter_map(|k| index.number(k)).collect();
        let Some(keywords) = Keywords::new(index) else { return Vec::new() };
        let mut found = Vec::new();
        keywords.find(&fold(text), &mut found);
        assert!(found.is_sorted_by(|a, b| a < b));
        ids.into_iter().filter(|id| found.contains(id)).collect()
    }

    #[test]
    fn keywords_are_found_within_words_and_within_each_other() {
        let check = |keywords: &str, text: &str, expect: &[u32]| {
            let keywords: Vec<String> = keywords.split(',').map(str::to_owned).collect();
            assert_eq!(found(&keywords, text), expect, "{keywords:?} in {text:?}");
        };
        check("cache,token_cache,en_ca", "the token_cache grows", &[0, 1, 2]);
        check(" Cache , ,é", "a cache caché", &[0, 1]);
        check("x,xy,y", "axb", &[0]);
        check("aa,aaa,aaaa", "baaab", &[0, 1]);
        check("", "anything", &[]);
        check("end", "at the en", &[]);
        check("end", "at the end", &[0]);
    }

    #[test]
    fn white_space_of_any_kind_is_one_blank() {
        let spaces = [" ", "  ", "\n", "\r\n   ", "\t", "\u{b}", "\u{a0}", "\u{2003}\n"];
        for (own, other) in spaces.iter().flat_map(|own| spaces.iter().map(move |other| (own, other))) {
            let keyword = format!("{own}SQL{own}injection{own}");
            let text = format!("an sql{other}Injection, perhaps");
            assert_eq!(found(std::slice::from_ref(&keyword), &text), [0], "{keyword:?} in {text:?}");
            assert_eq!(found(&[keyword], "an sqlinjection"), [0_u32; 0]);
        }
        for text in ["", "plain", "a b", " a b ", "é b", "A", "a  b", "a\tb", "a\u{b}b"] {
            let folded = fold(text).into_owned();
            assert_eq!(fold(&folded), folded, "{text:?}");
            assert!(!folded.contains("  ") && folded.chars().all(|c| c == ' ' || !c.is_whitespace()), "{text:?}");
        }
    }

    #[test]
    fn few_and_many_keywords_are_found_alike() {
        let keywords: Vec<String> = (0..FEW * 3).map(|i| format!("{:x}", i * 7919 % 4096)).collect();
        let text = "0f3a9 77c 1b2 e4d5 abc 9e 12 fff 800 7bd 3 20c";
        let alone = keywords.iter().map(|k| !found(std::slice::from_ref(k), text).is_empty());
        let mut index = KeywordIndex::default();
        let ids: Vec<u32> = keywords.iter().filter_map(|k| index.number(k)).collect();
        let all = Keywords::new(index).unwrap();
        assert!(matches!(all, Keywords::Many(_)));
        let mut found = Vec::new();
        all.find(text, &mut found);
        let together = ids.iter().map(|id| found.contains(id));
        assert!(alone.eq(together));
    }
}
