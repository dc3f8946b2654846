//! Tokenizes and interns texts, so that comparing a pair costs only a few table lookups.

use super::concepts::{Concepts, Groups};
use super::hashing::{FastHash, KeyNumbers};
use super::rarity::Weights;
use super::words::{NOT, Piece, Spelling, bounded, grams, pieces};
use std::collections::HashMap;
use std::ops::Range;

#[derive(Default)]
pub(super) struct IndexedText {
    /// The distinct words, sorted by key, so that sums over them are the same whatever was read before.
    pub(super) words: Vec<Word>,
    pub(super) weight: f64,
    /// The sum of their weights among the texts of this case.
    pub(super) local_weight: f64,
    /// By [`PartKind`].
    pub(super) parts: [Parts; 4],
    /// Operators, one bit each.
    pub(super) operators: u16,
    pub(super) concepts: Groups,
    pub(super) denies: bool,
    pub(super) length: usize,
}

impl IndexedText {
    pub(super) fn count(&self, kind: PartKind) -> usize {
        self.parts[kind as usize].count
    }
}

/// What texts may share beside words.
#[derive(Clone, Copy)]
pub(super) enum PartKind {
    Phrase,
    Name,
    Number,
    Gram,
}

#[derive(Clone, Copy)]
pub(super) struct Word {
    key: u64,
    pub(super) id: u32,
    pub(super) weight: f64,
    /// How well it discriminates among the texts of this case.
    pub(super) local_weight: f64,
}

#[derive(Default)]
pub(super) struct Parts {
    /// Their numbers. Of what no golden has, findings keep none.
    pub(super) ids: Vec<u32>,
    pub(super) count: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TextParts {
    pub(super) phrases: bool,
    pub(super) grams: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) words: usize,
    pub(super) parts: [usize; 4],
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
    parts: [KeyNumbers; 4],
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
        let mut parts = <[KeyNumbers; 4]>::default();
        parts[PartKind::Gram as usize] = KeyNumbers::with_room(room);
        Self {
            weights,
            concepts,
            wanted,
            known_words: HashMap::with_capacity_and_hasher(room / 8, FastHash::default()),
            stems: Vec::with_capacity(room / 8),
            words: KeyNumbers::with_room(room / 8),
            uses: Vec::new(),
            parts,
            known: None,
            texts: 0,
        }
    }

    /// Reads a text. Local weights are set by [`TextIndexer::weigh`].
    pub(super) fn read(&mut self, text: &'t str) -> IndexedText {
        self.texts += 1;
        let mut reading = IndexedText::default();
        reading.words.reserve(bounded(text).len() / 8);
        reading.parts[PartKind::Gram as usize].ids.reserve(bounded(text).len());
        let mut last = None;
        pieces(text, |piece| match piece {
            Piece::Operator(at) => reading.operators |= 1 << at,
            Piece::Number(number) => {
                let met = self.info(number, true);
                self.add_part(PartKind::Number, met.key, &mut reading);
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
                    self.add_part(PartKind::Name, met.key, &mut reading);
                }
                self.add_stems(met.stems, &mut last, &mut reading);
            }
        });
        if self.wanted.grams {
            grams(text, |gram| self.add_part(PartKind::Gram, gram, &mut reading));
        }
        reading.words.sort_unstable_by_key(|word| word.key);
        reading.weight = reading.words.iter().map(|word| word.weight).sum();
        reading
    }

    /// Ends the goldens: from here on texts keep only what some golden has as well, as nothing else can be shared.
    pub(super) fn end_goldens(&mut self) -> Sizes {
        let sizes = Sizes { words: self.words.len(), parts: self.parts.each_ref().map(KeyNumbers::len) };
        self.known = Some(sizes);
        sizes
    }

    /// `weight` is of the number of texts of this case that use a word, and of all of them.
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

    /// Counts a part where the text has it for the first time; what no golden has keeps no number.
    fn add_part(&mut self, kind: PartKind, key: u64, reading: &mut IndexedText) {
        let (id, is_first) = self.parts[kind as usize].number(key, self.texts);
        if is_first {
            let parts = &mut reading.parts[kind as usize];
            parts.count += 1;
            if self.known.is_none_or(|known| (id as usize) < known.parts[kind as usize]) {
                parts.ids.push(id);
            }
        }
    }

    /// Adds stems to a text, of which `last` is the last one's key.
    fn add_stems(&mut self, stems: Range<usize>, last: &mut Option<u64>, reading: &mut IndexedText) {
        for at in stems {
            let stem = self.stems[at];
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
                let key = (before.rotate_left(23) ^ stem.key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                self.add_part(PartKind::Phrase, key, reading);
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

fn key(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |key, byte| (key ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
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
        let parts = |text: &IndexedText, kind: PartKind| (text.count(kind), text.parts[kind as usize].ids.len());
        assert_eq!((golden.count(PartKind::Name), parts(&finding, PartKind::Name)), (1, (2, 1)));
        assert_eq!((parts(&golden, PartKind::Number).1, parts(&finding, PartKind::Number)), (2, (2, 1)));
        let grams = &finding.parts[PartKind::Gram as usize];
        assert!(grams.ids.len() < grams.count);
        assert!(grams.ids.iter().all(|&id| (id as usize) < sizes.parts[PartKind::Gram as usize]));
    }

    #[test]
    fn disabled_text_parts_are_not_indexed() {
        let (weights, concepts) = (Rarity::default().weights(), Concepts::new());
        let read = |wanted| TextIndexer::new(&weights, &concepts, wanted, 99).read("the token cache grows");
        let (all, none) = (read(ALL), read(TextParts { phrases: false, grams: false }));
        let phrases = [&all, &none].map(|text| text.count(PartKind::Phrase));
        assert_eq!((phrases, none.count(PartKind::Gram)), ([2, 0], 0));
        assert_eq!((all.length, all.words.len()), (none.length, none.words.len()));
    }
}
