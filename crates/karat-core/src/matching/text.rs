//! Words of goldens and findings, weighted by rarity.

use super::keywords::lowercase;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// Stop words, left out of prose comparison; sorted.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "because", "been", "but", "by", "can", "could", "do", "does",
    "for", "from", "has", "have", "if", "in", "instead", "into", "is", "it", "its", "may", "might", "not", "of", "on",
    "or", "should", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "to", "use", "used", "using", "was", "when", "where", "which", "will", "with", "would", "you", "your",
];

/// The words of a text: runs of letters and digits, lowercased, two characters at least, no stop words.
pub fn words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().nth(1).is_some())
        .map(lowercase)
        .filter(|word| STOP_WORDS.binary_search(&&**word).is_err())
}

pub type Term = u32;

/// The words of a suite's goldens with their weights; of goldens alone, so that no tool's score depends on other tools.
#[derive(Debug, Default)]
pub struct Vocabulary {
    terms: HashMap<String, Term>,
    weight: Vec<f64>,
}

impl Vocabulary {
    /// Builds the vocabulary from one text per golden; the fewer goldens use a word, the greater its weight.
    /// Parts are put together in their order, so that words get the same numbers whatever the number of threads.
    pub fn learn<T: Sync>(goldens: &[T], text: impl Fn(&T) -> String + Sync) -> Self {
        let parts: Vec<Vec<(String, u32)>> =
            goldens.par_chunks(1024).map(|part| count_uses(part.iter().map(&text))).collect();
        let mut terms: HashMap<String, Term> = HashMap::new();
        let mut uses: Vec<u32> = Vec::new();
        for (word, count) in parts.into_iter().flatten() {
            let next = uses.len() as Term;
            let term = *terms.entry(word).or_insert(next) as usize;
            if term == uses.len() {
                uses.push(0);
            }
            uses[term] += count;
        }
        let total = goldens.len() as f64;
        let weight =
            uses.iter().map(|&n| libm::log(1.0 + (total - f64::from(n) + 0.5) / (f64::from(n) + 0.5))).collect();
        Self { terms, weight }
    }

    /// The known words of a text, sorted, each once.
    pub fn terms(&self, text: &str) -> Vec<Term> {
        let mut found: Vec<Term> = self.known(text).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The known words of a text as they come.
    pub(super) fn known(&self, text: &str) -> impl Iterator<Item = Term> {
        words(text).filter_map(|word| self.terms.get(word.as_ref()).copied())
    }

    pub fn weight(&self, term: Term) -> f64 {
        self.weight.get(term as usize).copied().unwrap_or_default()
    }
}

/// How many texts use each word, in the order in which words first appear.
fn count_uses(texts: impl Iterator<Item = String>) -> Vec<(String, u32)> {
    let mut slots: HashMap<String, usize> = HashMap::new();
    let mut in_order: Vec<(String, u32)> = Vec::new();
    let mut last_text: Vec<usize> = Vec::new();
    for (number, text) in texts.enumerate() {
        for word in words(&text) {
            let slot = match slots.get(word.as_ref()) {
                Some(&slot) => slot,
                None => {
                    in_order.push((word.clone().into_owned(), 0));
                    last_text.push(usize::MAX);
                    slots.insert(word.into_owned(), last_text.len() - 1);
                    last_text.len() - 1
                }
            };
            if last_text[slot] != number {
                last_text[slot] = number;
                in_order[slot].1 += 1;
            }
        }
    }
    in_order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_so_that_they_are_found() {
        assert!(STOP_WORDS.is_sorted());
    }

    #[test]
    fn words_are_lowercased_and_plain() {
        assert_eq!(
            words("The `pickle.loads` call, on User-data").collect::<Vec<_>>(),
            ["pickle", "loads", "call", "user", "data"]
        );
    }

    #[test]
    fn rare_words_tell_more() {
        let vocabulary = Vocabulary::learn(&["cache grows", "cache leaks", "cache stale"], |&text| text.to_owned());
        let terms = vocabulary.terms("cache grows, nobody knows");
        let [common, rare] = terms[..] else { panic!("two known words expected, not {terms:?}") };
        assert!(vocabulary.weight(common) < vocabulary.weight(rare));
    }

    #[test]
    fn words_get_the_same_numbers_however_many_texts_are_read_at_once() {
        let texts: Vec<String> = (0..5000).map(|i| format!("word{} word{}", i % 700, i * 31 % 900)).collect();
        let all = Vocabulary::learn(&texts, String::clone);
        let plain = count_uses(texts.iter().cloned());
        for (number, (word, _)) in plain.iter().enumerate() {
            assert_eq!(all.terms(word), [number as Term], "{word}");
        }
    }

    #[test]
    fn every_stop_word_is_found() {
        let all = STOP_WORDS.join(" ");
        assert_eq!(words(&all).count(), 0);
        assert_eq!(words("zebra Über 42 _x").collect::<Vec<_>>(), ["zebra", "über", "42"]);
    }
}
