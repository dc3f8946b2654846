//! Computes what two texts share: the golden's parts are marked in tables in which a finding's parts are looked up.

use super::text_index::{IndexedText, Parts, Sizes};

/// What a pair of texts has in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SharedText {
    pub(super) word_weight: f64,
    pub(super) local_word_weight: f64,
    pub(super) rarest: f64,
    pub(super) phrases: u32,
    pub(super) names: u32,
    pub(super) numbers: u32,
    pub(super) grams: u32,
}

/// The parts of one golden, by their numbers.
pub(super) struct GoldenLookup {
    /// The weights of a word, in general and among the texts of this case; 0 for words that the golden does not have.
    words: Vec<(f64, f64)>,
    phrases: Vec<u8>,
    names: Vec<u8>,
    numbers: Vec<u8>,
    grams: Vec<u8>,
}

impl GoldenLookup {
    /// Empty tables for goldens with `sizes` distinct parts.
    pub(super) fn new(sizes: Sizes) -> Self {
        Self {
            words: vec![(0.0, 0.0); sizes.words],
            phrases: vec![0; sizes.phrases],
            names: vec![0; sizes.names],
            numbers: vec![0; sizes.numbers],
            grams: vec![0; sizes.grams],
        }
    }

    /// Marks a golden's parts; those of another golden must have been cleared.
    pub(super) fn load(&mut self, golden: &IndexedText) {
        golden.words.iter().for_each(|word| self.words[word.id as usize] = (word.weight, word.local_weight));
        self.set(golden, 1);
    }

    pub(super) fn clear(&mut self, golden: &IndexedText) {
        golden.words.iter().for_each(|word| self.words[word.id as usize] = (0.0, 0.0));
        self.set(golden, 0);
    }

    /// What a finding shares with the golden that is marked.
    pub(super) fn shared(&self, finding: &IndexedText) -> SharedText {
        let (mut word_weight, mut local_word_weight, mut rarest) = (0.0, 0.0, 0.0_f64);
        // Words come in the order of their keys, the same for both texts, and those not shared add nothing.
        for word in &finding.words {
            let (weight, here) = self.words[word.id as usize];
            word_weight += weight;
            local_word_weight += here;
            rarest = rarest.max(weight);
        }
        SharedText {
            word_weight,
            local_word_weight,
            rarest,
            phrases: count_marked(&self.phrases, &finding.phrases),
            names: count_marked(&self.names, &finding.names),
            numbers: count_marked(&self.numbers, &finding.numbers),
            grams: count_marked(&self.grams, &finding.grams),
        }
    }

    fn set(&mut self, golden: &IndexedText, mark: u8) {
        let kinds = [
            (&mut self.phrases, &golden.phrases),
            (&mut self.names, &golden.names),
            (&mut self.numbers, &golden.numbers),
            (&mut self.grams, &golden.grams),
        ];
        for (marks, parts) in kinds {
            parts.ids.iter().for_each(|&id| marks[id as usize] = mark);
        }
    }
}

fn count_marked(marks: &[u8], parts: &Parts) -> u32 {
    parts.ids.iter().map(|&id| u32::from(marks[id as usize])).sum()
}

#[cfg(test)]
mod tests;
