//! A text as the judge compares it: every part a sorted list of numbers, so that a pair costs a few passes over them.

use super::concepts::{Concepts, Groups};
use super::rarity::Weights;
use super::words::Words;

/// A text, read once and compared often.
#[derive(Default)]
pub(super) struct Reading {
    /// The distinct words, sorted by key.
    pub(super) words: Vec<Word>,
    /// The sum of their weights.
    pub(super) weight: f64,
    /// The sum of their weights among the texts at hand.
    pub(super) weight_here: f64,
    /// Words that follow each other.
    pub(super) phrases: Vec<u64>,
    /// Names of code.
    pub(super) names: Vec<u64>,
    /// Numbers.
    pub(super) numbers: Vec<u64>,
    /// Operators.
    pub(super) operators: Vec<u64>,
    /// Runs of four characters.
    pub(super) grams: Vec<u64>,
    /// What it is about.
    pub(super) concepts: Groups,
    /// Whether it denies something.
    pub(super) denies: bool,
    /// How many words it has, repeated ones too.
    pub(super) length: usize,
}

/// A word of a text.
#[derive(Clone, Copy)]
pub(super) struct Word {
    key: u64,
    /// How much it tells in general.
    pub(super) weight: f64,
    /// How much it tells among the texts at hand.
    pub(super) here: f64,
}

impl Reading {
    /// Reads a text. Weights among the texts at hand are put in by [`weigh_here`].
    pub(super) fn of(text: &str, weights: &Weights, concepts: &Concepts) -> Self {
        let words = Words::of(text);
        let keys: Vec<u64> = words.stems.iter().map(|stem| key(stem)).collect();
        let mut own: Vec<Word> = words
            .stems
            .iter()
            .zip(&keys)
            .map(|(stem, &key)| Word { key, weight: weights.of(stem), here: 0.0 })
            .collect();
        own.sort_unstable_by_key(|word| word.key);
        own.dedup_by_key(|word| word.key);
        Self {
            weight: own.iter().map(|word| word.weight).sum(),
            weight_here: 0.0,
            words: own,
            phrases: sorted(keys.windows(2).map(|pair| mixed(pair[0], pair[1]))),
            names: sorted(words.names.iter().map(|name| key(name))),
            numbers: sorted(words.numbers.iter().map(|number| key(number))),
            operators: sorted(words.operators.iter().map(|operator| key(operator))),
            grams: sorted(words.plain.windows(4).map(gram)),
            concepts: words.stems.iter().fold(0, |all, stem| all | concepts.of(stem)),
            denies: words.denies,
            length: words.stems.len(),
        }
    }

    /// The words that both have.
    pub(super) fn shared<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = Word> + 'a {
        let mut rest = other.words.as_slice();
        self.words.iter().copied().filter(move |word| {
            while let Some((first, tail)) = rest.split_first()
                && first.key < word.key
            {
                rest = tail;
            }
            rest.first().is_some_and(|first| first.key == word.key)
        })
    }
}

/// Weighs words by the texts at hand: what all of them say tells nothing about which belong together.
pub(super) fn weigh_here(texts: &mut [&mut Reading], weight: impl Fn(usize, usize) -> f64) {
    let all = texts.len();
    let mut keys: Vec<u64> = texts.iter().flat_map(|text| text.words.iter().map(|word| word.key)).collect();
    keys.sort_unstable();
    let mut uses: Vec<(u64, usize)> = Vec::new();
    for key in keys {
        match uses.last_mut() {
            Some((last, count)) if *last == key => *count += 1,
            _ => uses.push((key, 1)),
        }
    }
    let weights: Vec<(u64, f64)> = uses.into_iter().map(|(key, count)| (key, weight(count, all))).collect();
    for text in texts {
        for word in &mut text.words {
            let known = weights.binary_search_by_key(&word.key, |(key, _)| *key).ok();
            word.here = word.weight * known.and_then(|at| weights.get(at)).map_or(0.0, |(_, weight)| *weight);
        }
        text.weight_here = text.words.iter().map(|word| word.here).sum();
    }
}

/// How many numbers two sorted lists share.
pub(super) fn common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut k, mut count) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(k)) {
        count += usize::from(x == y);
        (i, k) = (i + usize::from(x <= y), k + usize::from(y <= x));
    }
    count
}

fn sorted(keys: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// A number for a text, the same everywhere.
fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn mixed(a: u64, b: u64) -> u64 {
    (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn gram(chars: &[char]) -> u64 {
    chars.iter().fold(0, |gram, &c| (gram << 16) ^ u64::from(u32::from(c)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_judge::rarity::Rarity;

    fn read(text: &str) -> Reading {
        Reading::of(text, &Rarity::default().weights(), &Concepts::new())
    }

    #[test]
    fn texts_share_what_both_have() {
        let check = |a: &str, b: &str, words: usize, names: usize, phrases: usize| {
            let (a, b) = (read(a), read(b));
            let found = (a.shared(&b).count(), common(&a.names, &b.names), common(&a.phrases, &b.phrases));
            assert_eq!(found, (words, names, phrases));
            assert_eq!(b.shared(&a).count(), words);
        };
        check("token cache grows", "the token_cache leaks", 2, 0, 1);
        check("call resetTokens() twice", "resetTokens is called", 3, 1, 1);
        check("", "anything", 0, 0, 0);
    }

    #[test]
    fn what_all_texts_say_weighs_less_here() {
        let (mut a, mut b) = (read("device limit race"), read("device limit typo"));
        a.words.iter_mut().chain(&mut b.words).for_each(|word| word.weight = 1.0);
        weigh_here(&mut [&mut a, &mut b], |count, all| (all + 1 - count) as f64);
        let mut here: Vec<f64> = a.words.iter().map(|word| word.here).collect();
        here.sort_by(f64::total_cmp);
        assert_eq!((here, a.weight_here), (vec![1.0, 1.0, 2.0], 4.0));
    }
}
