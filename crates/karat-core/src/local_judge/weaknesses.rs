//! Kinds of weaknesses, recognised by the words of a text or by CWE numbers: a message says "MD5" where a golden says "collisions".

use super::rarity::Weights;
use super::words::sequence;
use std::collections::HashMap;

/// Which of the kinds a text speaks of: the kind's number with how telling the words for it are, in the order of the numbers.
pub(super) type Strengths = Vec<(u16, f64)>;

/// The kinds in `weaknesses.txt`.
pub(super) struct Weaknesses {
    /// By their first word: the words of a phrase, and the kind it speaks of.
    phrases: HashMap<String, Vec<(Vec<String>, u16)>>,
    by_cwe: HashMap<u32, Vec<u16>>,
}

impl Weaknesses {
    pub(super) fn new() -> Self {
        let (mut phrases, mut by_cwe) = (HashMap::<_, Vec<_>>::new(), HashMap::<_, Vec<_>>::new());
        for (kind, (numbers, words)) in (0..).zip(rows()) {
            for number in numbers.split_whitespace().filter_map(|number| number.parse().ok()) {
                by_cwe.entry(number).or_default().push(kind);
            }
            for phrase in words.split(';').map(sequence) {
                if let Some(first) = phrase.first() {
                    phrases.entry(first.clone()).or_default().push((phrase, kind));
                }
            }
        }
        Self { phrases, by_cwe }
    }

    /// What a text, given as the sequence of its words, and CWE numbers speak of.
    pub(super) fn strengths(&self, words: &[String], cwe: &[u32], rarity: &Weights) -> Strengths {
        let mut found = Strengths::new();
        for (at, word) in words.iter().enumerate() {
            for (phrase, kind) in self.phrases.get(word).into_iter().flatten() {
                if words[at..].starts_with(phrase) {
                    let weight = phrase.iter().map(|word| rarity.get(word)).sum::<f64>();
                    found.push((*kind, weight.min(rarity.unseen())));
                }
            }
        }
        for kinds in cwe.iter().filter_map(|number| self.by_cwe.get(number)) {
            // A number that states several kinds says less about each.
            let weight = rarity.unseen() - super::rarity::ln(kinds.len() as f64);
            found.extend(kinds.iter().map(|kind| (*kind, weight.max(0.0))));
        }
        found.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        found.dedup_by_key(|(kind, _)| *kind);
        found
    }
}

/// Numbers and words of each kind.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = include_str!("weaknesses.txt").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once('|')?.1.split_once('|'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_judge::Rarity;

    #[test]
    fn words_and_numbers_state_kinds() {
        let weaknesses = Weaknesses::new();
        let rarity = Rarity::default().weights();
        let names: Vec<&str> = include_str!("weaknesses.txt")
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| Some(line.split_once('|')?.0.trim()))
            .collect();
        let kinds = |text: &str, cwe: &[u32]| -> Vec<&str> {
            let found = weaknesses.strengths(&sequence(text), cwe, &rarity);
            found.iter().map(|(kind, _)| names[*kind as usize]).collect()
        };
        assert!(kinds("Use of insecure MD5 hash function", &[]).contains(&"weak-hash"));
        assert!(kinds("a pointer is used after free", &[]).contains(&"use-after-free"));
        assert!(kinds("`innerHTML` is set", &[]).contains(&"cross-site-scripting"));
        assert!(kinds("", &[502]).contains(&"deserialization"));
        assert_eq!(kinds("the weather is fine", &[]), [""; 0]);
    }

    #[test]
    fn every_row_has_numbers_and_words() {
        let all = include_str!("weaknesses.txt").lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(rows().count(), all);
        for (numbers, words) in rows() {
            assert!(numbers.split_whitespace().all(|number| number.parse::<u32>().is_ok()), "{numbers}");
            assert!(words.split(';').all(|phrase| !sequence(phrase).is_empty()), "{words}");
        }
    }
}
