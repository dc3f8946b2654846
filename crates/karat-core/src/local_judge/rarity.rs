//! Rarity weights of words: what many reviews use discriminates little.

use super::hashing::FastHash;
use super::words::stems;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// All other words count as equally rare: a word's rarity in one project says nothing about another.
const KEPT: usize = 400;

/// The share of the rarest kept word's uses that any other word is taken to have.
const UNSEEN: f64 = 0.3;

/// In how many texts common words were seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rarity {
    /// How many texts were read.
    pub texts: u32,
    /// The commonest stems, each with the number of texts that use it.
    pub words: BTreeMap<String, u32>,
}

impl Rarity {
    pub(super) fn learn<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let texts: BTreeSet<&str> = texts.collect();
        Self::count(texts.into_iter().map(stems))
    }

    /// How many texts, each given by its words, use each word.
    pub(super) fn count(texts: impl Iterator<Item = Vec<String>>) -> Self {
        let mut uses: BTreeMap<String, u32> = BTreeMap::new();
        let mut all = 0;
        for words in texts {
            all += 1;
            for word in words.into_iter().collect::<BTreeSet<String>>() {
                *uses.entry(word).or_default() += 1;
            }
        }
        let mut commonest: Vec<(String, u32)> = uses.into_iter().collect();
        commonest.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        commonest.truncate(KEPT);
        Self { texts: all, words: commonest.into_iter().collect() }
    }

    pub(super) fn weights(&self) -> Weights {
        let weight = |uses: f64| ln((f64::from(self.texts) + 1.0) / (uses + 0.5)).max(0.0);
        let fewest = self.words.values().min().map_or(0.0, |&uses| f64::from(uses));
        let words = self.words.iter().map(|(word, &uses)| (word.clone(), weight(f64::from(uses)))).collect();
        Weights { words, unseen: weight(fewest * UNSEEN) }
    }
}

/// The natural logarithm of a normal positive number; of anything else, 0.
pub(super) fn ln(x: f64) -> f64 {
    if x.is_normal() && x > 0.0 { libm::log(x) } else { 0.0 }
}

pub(super) struct Weights {
    words: HashMap<String, f64, FastHash>,
    unseen: f64,
}

impl Weights {
    pub(super) fn get(&self, stem: &str) -> f64 {
        self.words.get(stem).copied().unwrap_or(self.unseen)
    }

    /// The weight of a word that is not in the table, which no word exceeds.
    pub(super) fn unseen(&self) -> f64 {
        self.unseen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rare_words_tell_more_and_unseen_ones_most() {
        let texts = ["cache grows", "cache leaks", "cache leaks", "the cache is stale", "locks leak"];
        let rarity = Rarity::learn(texts.into_iter());
        assert_eq!((rarity.texts, rarity.words["cach"], rarity.words["leak"]), (4, 3, 2));
        let weights = rarity.weights();
        let [common, rare, unseen] = ["cach", "stal", "zebra"].map(|word| weights.get(word));
        assert!(0.0 < common && common < rare && rare < unseen, "{common} {rare} {unseen}");
    }
}
