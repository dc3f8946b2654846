//! Tokenizes and interns texts, so that comparing a pair costs only a few table lookups.

use super::concepts::{Concepts, Groups};
use super::hashing::{FastHash, KeyNumbers};
use super::rarity::Weights;
use super::words::{NOT, Piece, Spelling, bounded, grams, pieces};
use std::collections::HashMap;
use std::ops::Range;

/// A text, read once and compared often.
#[derive(Default)]
pub(super) struct IndexedText {
    /// The distinct words, sorted by key, so that sums over them are the same whatever was read before.
    pub(super) words: Vec<Word>,
    pub(super) weight: f64,
    /// The sum of their weights among the texts of this case.
    pub(super) local_weight: f64,
    pub(super) phrases: Parts,
    pub(super) names: Parts,
    pub(super) numbers: Parts,
    /// Operators, one bit each.
    pub(super) operators: u16,
    pub(super) grams: Parts,
    pub(super) concepts: Groups,
    pub(super) denies: bool,
    pub(super) length: usize,
}

#[derive(Clone, Copy)]
pub(super) struct Word {
    key: u64,
    pub(super) id: u32,
    pub(super) weight: f64,
    /// How well it discriminates among the texts of this case.
    pub(super) local_weight: f64,
}

/// Distinct things of one kind that a text has.
#[derive(Default)]
pub(super) struct Parts {
    /// Their numbers. Of what no golden has, findings keep none.
    pub(super) ids: Vec<u32>,
    pub(super) count: usize,
}

impl Parts {
    /// Adds a thing that is met for the first time in this text; `known` things are those that goldens have.
    fn add(&mut self, (id, is_first): (u32, bool), known: Option<usize>) {
        if is_first {
            self.count += 1;
            if known.is_none_or(|known| (id as usize) < known) {
                self.ids.push(id);
            }
        }
    }
}

/// Which costly parts of texts are wanted at all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TextParts {
    pub(super) phrases: bool,
    pub(super) grams: bool,
}

/// How many different things of each kind goldens have.
#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) words: usize,
    pub(super) phrases: usize,
    pub(super) names: usize,
    pub(super) numbers: usize,
    pub(super) grams: usize,
}

/// Tables start with room for texts of so many bytes; larger ones would be slow to fill and seldom be full.
const ROOM: usize = 8192;

/// Reads texts that are compared with each other: all goldens first, then all findings.
pub(super) struct TextIndexer<'t> {
    weights: &'t Weights,
    concepts: &'t Concepts,
    wanted: TextParts,
    /// What is known of each spelling of a word; most words of a text were read before.
    known_words: HashMap<&'t str, WordInfo, FastHash>,
    stems: Vec<Stem>,
    words: KeyNumbers,
    /// How many texts use each word, and the last one that did.
    uses: Vec<(u32, u32)>,
    phrases: KeyNumbers,
    names: KeyNumbers,
    numbers: KeyNumbers,
    grams: KeyNumbers,
    /// How many things of each kind goldens have, once all goldens are read.
    known: Option<Sizes>,
    texts: u32,
}

#[derive(Clone)]
struct WordInfo {
    key: u64,
    stems: Range<usize>,
    is_name: bool,
    is_stop_word: bool,
    denies: bool,
}

/// A stem with all that is known of it.
#[derive(Clone, Copy)]
struct Stem {
    key: u64,
    id: u32,
    weight: f64,
    concepts: Groups,
}

impl<'t> TextIndexer<'t> {
    /// A reader that has read nothing; texts of so many bytes are to come.
    pub(super) fn new(weights: &'t Weights, concepts: &'t Concepts, wanted: TextParts, bytes: usize) -> Self {
        let room = bytes.min(ROOM);
        Self {
            weights,
            concepts,
            wanted,
            known_words: HashMap::with_capacity_and_hasher(room / 8, FastHash::default()),
            stems: Vec::with_capacity(room / 8),
            words: KeyNumbers::with_room(room / 8),
            uses: Vec::new(),
            phrases: KeyNumbers::default(),
            names: KeyNumbers::default(),
            numbers: KeyNumbers::default(),
            grams: KeyNumbers::with_room(room),
            known: None,
            texts: 0,
        }
    }

    /// Reads a text. Local weights are set by [`TextIndexer::weigh`].
    pub(super) fn read(&mut self, text: &'t str) -> IndexedText {
        self.texts += 1;
        let mut reading = IndexedText::default();
        reading.words.reserve(bounded(text).len() / 8);
        reading.grams.ids.reserve(bounded(text).len());
        let mut last = None;
        pieces(text, |piece| match piece {
            Piece::Operator(at) => reading.operators |= 1 << at,
            Piece::Number(number) => {
                let met = self.info(number, true);
                reading.numbers.add(self.numbers.number(met.key, self.texts), self.known.map(|known| known.numbers));
                self.add_stems(met.stems, &mut last, &mut reading);
            }
            Piece::Word { word, denied, named } => {
                if denied {
                    let not = self.info(NOT, false).stems;
                    self.add_stems(not, &mut last, &mut reading);
                }
                let met = self.info(word, false);
                reading.denies |= denied || met.denies;
                if (named || met.is_name) && !met.is_stop_word {
                    reading.names.add(self.names.number(met.key, self.texts), self.known.map(|known| known.names));
                }
                self.add_stems(met.stems, &mut last, &mut reading);
            }
        });
        if self.wanted.grams {
            let known = self.known.map(|known| known.grams);
            grams(text, |gram| reading.grams.add(self.grams.number(gram, self.texts), known));
        }
        reading.words.sort_unstable_by_key(|word| word.key);
        reading.weight = reading.words.iter().map(|word| word.weight).sum();
        reading
    }

    /// Ends the goldens: from here on texts keep only what some golden has as well, as nothing else can be shared.
    pub(super) fn end_goldens(&mut self) -> Sizes {
        let sizes = Sizes {
            words: self.words.len(),
            phrases: self.phrases.len(),
            names: self.names.len(),
            numbers: self.numbers.len(),
            grams: self.grams.len(),
        };
        self.known = Some(sizes);
        sizes
    }

    /// Weighs words by the texts of this case: words that all of them use do not discriminate. `weight` is of
    /// the number of texts that use a word and of the number of all texts.
    pub(super) fn weigh<'r>(
        &self,
        texts: impl Iterator<Item = &'r mut IndexedText>,
        weight: impl Fn(usize, usize) -> f64,
    ) {
        let all = self.texts as usize;
        let most = self.uses.iter().map(|&(uses, _)| uses).max().unwrap_or_default() as usize;
        let weights: Vec<f64> = (0..=most).map(|uses| weight(uses, all)).collect();
        for text in texts {
            for word in &mut text.words {
                word.local_weight = word.weight * weights[self.uses[word.id as usize].0 as usize];
            }
            text.local_weight = text.words.iter().map(|word| word.local_weight).sum();
            text.words.retain(|word| self.known.is_none_or(|known| (word.id as usize) < known.words));
        }
    }

    /// Adds stems to a text, of which `last` is the last one's key.
    fn add_stems(&mut self, stems: Range<usize>, last: &mut Option<u64>, reading: &mut IndexedText) {
        for stem in &self.stems[stems] {
            reading.length += 1;
            reading.concepts |= stem.concepts;
            let (uses, last_text) = &mut self.uses[stem.id as usize];
            if std::mem::replace(last_text, self.texts) != self.texts {
                *uses += 1;
                reading.words.push(Word { key: stem.key, id: stem.id, weight: stem.weight, local_weight: 0.0 });
            }
            if self.wanted.phrases
                && let Some(before) = last.replace(stem.key)
            {
                let number = self.phrases.number(mixed(before, stem.key), self.texts);
                reading.phrases.add(number, self.known.map(|known| known.phrases));
            }
        }
    }

    /// Numbers start with a digit and words do not, so that one table serves both.
    fn info(&mut self, word: &'t str, is_number: bool) -> WordInfo {
        if let Some(met) = self.known_words.get(word) {
            return met.clone();
        }
        let start = self.stems.len();
        let mut met = WordInfo { key: key(word), stems: 0..0, is_name: false, is_stop_word: false, denies: false };
        if is_number {
            self.know(word);
        } else {
            let Spelling { lower, is_name, is_stop_word, denies } = Spelling::new(word, |stem| self.know(stem));
            met = WordInfo { key: key(&lower), is_name, is_stop_word, denies, ..met };
        }
        met.stems = start..self.stems.len();
        self.known_words.insert(word, met.clone());
        met
    }

    fn know(&mut self, stem: &str) {
        let (key, weight, concepts) = (key(stem), self.weights.get(stem), self.concepts.get(stem));
        let (id, _) = self.words.number(key, self.texts);
        self.uses.resize(self.words.len(), (0, 0));
        self.stems.push(Stem { key, id, weight, concepts });
    }
}

/// A number for a text, the same everywhere.
fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn mixed(a: u64, b: u64) -> u64 {
    (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local_judge::rarity::Rarity;

    const ALL: TextParts = TextParts { phrases: true, grams: true };

    #[test]
    fn words_in_all_texts_get_a_lower_local_weight() {
        let (weights, concepts) = (Rarity::default().weights(), Concepts::new());
        let mut reader = TextIndexer::new(&weights, &concepts, ALL, 0);
        let mut texts = ["device limit race", "device limit typo device"].map(|text| reader.read(text));
        texts.iter_mut().flat_map(|text| &mut text.words).for_each(|word| word.weight = 1.0);
        reader.weigh(texts.iter_mut(), |uses, all| (all + 1 - uses) as f64);
        for text in &texts {
            let mut local_weights: Vec<f64> = text.words.iter().map(|word| word.local_weight).collect();
            local_weights.sort_by(f64::total_cmp);
            assert_eq!((local_weights, text.local_weight), (vec![1.0, 1.0, 2.0], 4.0));
        }
    }

    #[test]
    fn findings_keep_what_goldens_have_and_count_the_rest() {
        let (weights, concepts) = (Rarity::default().weights(), Concepts::new());
        let mut reader = TextIndexer::new(&weights, &concepts, ALL, 0);
        let golden = reader.read("openFile fails 3 of 10 times");
        let sizes = reader.end_goldens();
        let finding = reader.read("readFile and openFile fail at 10 or 20, openFile twice");
        assert_eq!((golden.names.count, finding.names.count, finding.names.ids.len()), (1, 2, 1));
        assert_eq!((golden.numbers.ids.len(), finding.numbers.count, finding.numbers.ids.len()), (2, 2, 1));
        assert!(finding.grams.ids.len() < finding.grams.count);
        assert!(finding.grams.ids.iter().all(|&id| (id as usize) < sizes.grams));
    }

    #[test]
    fn disabled_text_parts_are_not_indexed() {
        let (weights, concepts) = (Rarity::default().weights(), Concepts::new());
        let read = |wanted| TextIndexer::new(&weights, &concepts, wanted, 99).read("the token cache grows");
        let (all, none) = (read(ALL), read(TextParts { phrases: false, grams: false }));
        assert_eq!((all.phrases.count, none.phrases.count, none.grams.count), (2, 0, 0));
        assert_eq!((all.length, all.words.len()), (none.length, none.words.len()));
    }
}
