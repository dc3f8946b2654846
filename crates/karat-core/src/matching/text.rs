//! Words of goldens and findings, and how much each word tells.

use super::keywords::lowercase;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// Words too common to tell anything, left out of prose comparison.
const STOP_WORDS: &[&str] = &[
    "a", "an", "and", "any", "are", "as", "at", "be", "because", "been", "but", "by", "can", "could", "do", "does",
    "for", "from", "has", "have", "if", "in", "instead", "into", "is", "it", "its", "may", "might", "not", "of", "on",
    "or", "should", "so", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they", "this",
    "to", "use", "used", "using", "was", "when", "where", "which", "will", "with", "would", "you", "your",
];

/// Longer words need not be looked up.
const LONGEST_STOP_WORD: usize = 7;

/// The words of a text: runs of letters and digits, lowercased, two characters at least, no stop words.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    plain_words(text).map(Cow::into_owned)
}

/// As [`words`], without a copy of words that are in lowercase already.
fn plain_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .map(lowercase)
        .filter(|word| word.len() > LONGEST_STOP_WORD || STOP_WORDS.binary_search(&word.as_ref()).is_err())
}

/// A word of a vocabulary.
pub type Term = u32;

/// The words of a suite's goldens with their weights. It rests on goldens alone, so that a tool's score never depends on
/// which other tools were scored beside it.
#[derive(Debug, Default)]
pub struct Vocabulary {
    terms: HashMap<String, Term>,
    weight: Vec<f64>,
}

impl Vocabulary {
    /// Learns from one text for each golden: a word is worth the more the fewer goldens use it.
    ///
    /// Parts of the goldens are read at the same time and put together in their order, so that words get the same numbers
    /// whatever the number of threads.
    pub fn learn<T: Sync>(goldens: &[T], text: impl Fn(&T) -> String + Sync) -> Self {
        let parts: Vec<Uses> = goldens.par_chunks(1024).map(|part| Uses::count(part.iter().map(&text))).collect();
        let mut terms: HashMap<String, Term> = HashMap::new();
        let mut uses: Vec<u32> = Vec::new();
        for (word, count) in parts.into_iter().flat_map(|part| part.in_order) {
            let next = uses.len() as Term;
            let term = *terms.entry(word).or_insert(next) as usize;
            if term == uses.len() {
                uses.push(0);
            }
            uses[term] += count;
        }
        let total = goldens.len() as f64;
        let weight = uses.iter().map(|&n| (1.0 + (total - f64::from(n) + 0.5) / (f64::from(n) + 0.5)).ln()).collect();
        Self { terms, weight }
    }

    /// The known words of a text, sorted, each once.
    pub fn terms(&self, text: &str) -> Vec<Term> {
        let mut found: Vec<Term> =
            plain_words(text).filter_map(|word| self.terms.get(word.as_ref()).copied()).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The share of the golden's weight that the finding's words cover. Both lists are sorted.
    pub fn coverage(&self, golden: &[Term], finding: &[Term]) -> f64 {
        let (mut covered, mut total) = (0.0, 0.0);
        let mut rest = finding;
        for term in golden {
            let weight = self.weight.get(*term as usize).copied().unwrap_or_default();
            total += weight;
            rest = &rest[rest.partition_point(|other| other < term)..];
            if rest.first() == Some(term) {
                covered += weight;
            }
        }
        if total > 0.0 { covered / total } else { 0.0 }
    }
}

/// How many texts use each word, in the order in which words first appear.
struct Uses {
    in_order: Vec<(String, u32)>,
}

impl Uses {
    fn count(texts: impl Iterator<Item = String>) -> Self {
        let mut slots: HashMap<String, usize> = HashMap::new();
        let mut in_order: Vec<(String, u32)> = Vec::new();
        let mut last_text: Vec<usize> = Vec::new();
        for (number, text) in texts.enumerate() {
            for word in plain_words(&text) {
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
        Self { in_order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_so_that_they_are_found() {
        assert!(STOP_WORDS.is_sorted());
        assert!(STOP_WORDS.iter().all(|word| word.len() <= LONGEST_STOP_WORD));
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
        let golden = vocabulary.terms("cache grows");
        let common = vocabulary.coverage(&golden, &vocabulary.terms("cache"));
        let rare = vocabulary.coverage(&golden, &vocabulary.terms("grows"));
        assert!(rare > 0.5 && common < 0.5, "{rare} {common}");
        assert!((common + rare - 1.0).abs() < 1e-12);
    }
}
