//! What two texts have in common: the golden's parts are marked in tables, and a finding's parts are looked up there.

use super::reading::{Parts, Reading, Sizes};

/// What a pair of texts has in common.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Shared {
    /// The weights of shared words.
    pub(super) told: f64,
    /// The same among the texts at hand.
    pub(super) told_here: f64,
    /// The largest weight of a shared word.
    pub(super) rarest: f64,
    /// How many phrases.
    pub(super) phrases: u32,
    /// How many names of code.
    pub(super) names: u32,
    /// How many numbers.
    pub(super) numbers: u32,
    /// How many runs of four characters.
    pub(super) grams: u32,
}

/// The parts of one golden, by their numbers.
pub(super) struct Marks {
    /// The weights of a word, in general and among the texts at hand; 0 for words that the golden does not have.
    words: Vec<(f64, f64)>,
    phrases: Vec<u8>,
    names: Vec<u8>,
    numbers: Vec<u8>,
    grams: Vec<u8>,
}

impl Marks {
    /// No marks yet; goldens have so many different things.
    pub(super) fn new(sizes: Sizes) -> Self {
        Self {
            words: vec![(0.0, 0.0); sizes.words],
            phrases: vec![0; sizes.phrases],
            names: vec![0; sizes.names],
            numbers: vec![0; sizes.numbers],
            grams: vec![0; sizes.grams],
        }
    }

    /// Marks a golden's parts; those of another one must have been wiped.
    pub(super) fn put(&mut self, golden: &Reading) {
        golden.words.iter().for_each(|word| self.words[word.id as usize] = (word.weight, word.here));
        self.set(golden, 1);
    }

    /// Takes the marks of a golden away.
    pub(super) fn wipe(&mut self, golden: &Reading) {
        golden.words.iter().for_each(|word| self.words[word.id as usize] = (0.0, 0.0));
        self.set(golden, 0);
    }

    /// What a finding shares with the golden that is marked.
    pub(super) fn shared(&self, finding: &Reading) -> Shared {
        let (mut told, mut told_here, mut rarest) = (0.0, 0.0, 0.0_f64);
        // Words come in the order of their keys, the same for both texts, and those not shared add nothing.
        for word in &finding.words {
            let (weight, here) = self.words[word.id as usize];
            told += weight;
            told_here += here;
            rarest = rarest.max(weight);
        }
        Shared {
            told,
            told_here,
            rarest,
            phrases: marked(&self.phrases, &finding.phrases),
            names: marked(&self.names, &finding.names),
            numbers: marked(&self.numbers, &finding.numbers),
            grams: marked(&self.grams, &finding.grams),
        }
    }

    fn set(&mut self, golden: &Reading, mark: u8) {
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

fn marked(marks: &[u8], parts: &Parts) -> u32 {
    parts.ids.iter().map(|&id| u32::from(marks[id as usize])).sum()
}
