//! Computes what two texts share: the golden's parts are marked in tables in which a finding's parts are looked up.

use super::text_index::{IndexedText, Sizes};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SharedText {
    pub(super) word_weight: f64,
    pub(super) local_word_weight: f64,
    pub(super) rarest: f64,
    /// By [`PartKind`](super::text_index::PartKind).
    pub(super) parts: [u32; 4],
}

pub(super) struct GoldenLookup {
    /// The weights of a word, in general and among the texts of this case; 0 for words that the golden does not have.
    words: Vec<(f64, f64)>,
    marks: [Vec<u8>; 4],
}

impl GoldenLookup {
    pub(super) fn new(sizes: Sizes) -> Self {
        Self { words: vec![(0.0, 0.0); sizes.words], marks: sizes.parts.map(|size| vec![0; size]) }
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

    pub(super) fn shared(&self, finding: &IndexedText) -> SharedText {
        let (mut word_weight, mut local_word_weight, mut rarest) = (0.0, 0.0, 0.0_f64);
        // Words come in the order of their keys, the same for both texts, and those not shared add nothing.
        for word in &finding.words {
            let (weight, here) = self.words[word.id as usize];
            word_weight += weight;
            local_word_weight += here;
            rarest = rarest.max(weight);
        }
        let marked = |kind: usize| {
            let marks = &self.marks[kind];
            finding.parts[kind].ids.iter().map(|&id| u32::from(marks[id as usize])).sum()
        };
        SharedText { word_weight, local_word_weight, rarest, parts: std::array::from_fn(marked) }
    }

    fn set(&mut self, golden: &IndexedText, mark: u8) {
        for (marks, parts) in self.marks.iter_mut().zip(&golden.parts) {
            parts.ids.iter().for_each(|&id| marks[id as usize] = mark);
        }
    }
}

#[cfg(test)]
mod tests;
