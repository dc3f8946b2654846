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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_judge::concepts::Concepts;
    use crate::local_judge::rarity::Rarity;
    use crate::local_judge::reading::{Reader, Wanted};
    use crate::local_judge::words::{Piece, Spelling, grams, pieces, stems};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Everything of one kind that a text has, in plain sets.
    struct Plain {
        stems: BTreeSet<String>,
        phrases: BTreeSet<[String; 2]>,
        names: BTreeSet<String>,
        numbers: BTreeSet<String>,
        grams: BTreeSet<u64>,
    }

    impl Plain {
        fn of(text: &str) -> Self {
            let (mut names, mut numbers, mut runs) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
            pieces(text, |piece| match piece {
                Piece::Number(number) => numbers.extend([number.to_owned()]),
                Piece::Operator(_) => {}
                Piece::Word { word, named, .. } => {
                    let own = Spelling::of(word, |_| {});
                    names.extend(((named || own.is_name) && !own.is_stop_word).then(|| own.lower.into_owned()));
                }
            });
            grams(text, |gram| runs.extend([gram]));
            let said = stems(text);
            let phrases = said.windows(2).map(|pair| [pair[0].clone(), pair[1].clone()]).collect();
            Self { stems: said.into_iter().collect(), phrases, names, numbers, grams: runs }
        }
    }

    fn common<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> u32 {
        a.intersection(b).count() as u32
    }

    proptest! {
        /// Tables of numbers find what plain sets find, whatever else was read, and keep nothing of goldens gone by.
        #[test]
        fn tables_find_what_sets_find(texts in proptest::collection::vec(
            "\\PC{0,30}|([a-c]{1,3}|[a-d]{4,7}ing|`[a-b]{3}`|[A-B]a_b|don't|x\\.y|[0-3]|===|İé| ){0,9}( [a-c]{2,4}){0,5}",
            2..9,
        )) {
            let weights = Rarity::learn(texts.iter().take(2).map(String::as_str)).weights();
            let concepts = Concepts::new();
            let mut reader = Reader::new(&weights, &concepts, Wanted { phrases: true, grams: true }, 0);
            let (known, said) = texts.split_at(texts.len() / 2);
            let mut goldens: Vec<Reading> = known.iter().map(|text| reader.read(text)).collect();
            let sizes = reader.end_goldens();
            let mut findings: Vec<Reading> = said.iter().map(|text| reader.read(text)).collect();
            reader.weigh(goldens.iter_mut().chain(&mut findings), |uses, all| (all + 1 - uses) as f64);
            let mut marks = Marks::new(sizes);
            for (golden, text) in goldens.iter().zip(known) {
                marks.put(golden);
                let own = Plain::of(text);
                for (finding, text) in findings.iter().zip(said) {
                    let (shared, other) = (marks.shared(finding), Plain::of(text));
                    let all: Vec<f64> = own.stems.intersection(&other.stems).map(|stem| weights.of(stem)).collect();
                    prop_assert!((shared.told - all.iter().sum::<f64>()).abs() < 1e-9);
                    prop_assert_eq!(shared.rarest, all.iter().copied().fold(0.0, f64::max));
                    let counts = (shared.phrases, shared.names, shared.numbers, shared.grams);
                    let plain = (
                        common(&own.phrases, &other.phrases),
                        common(&own.names, &other.names),
                        common(&own.numbers, &other.numbers),
                        common(&own.grams, &other.grams),
                    );
                    prop_assert_eq!(counts, plain);
                    let sizes = (finding.phrases.count, finding.names.count, finding.grams.count);
                    prop_assert_eq!(sizes, (other.phrases.len(), other.names.len(), other.grams.len()));
                }
                marks.wipe(golden);
            }
        }
    }
}
