//! BM25 search in memory.

use super::words::{Analysis, Reader};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

const K1: f32 = 1.2;
const B: f32 = 0.75;

/// Passages by their words, in the order given. Queries have no syntax.
pub(super) struct Bm25 {
    pub(super) analysis: Analysis,
    postings: HashMap<String, Vec<Posting>>,
    /// For each passage, K1 · (1 − B + B · length / mean length).
    norms: Vec<f32>,
}

struct Posting {
    passage: u32,
    count: u32,
}

impl Bm25 {
    pub(super) fn new(texts: &[String], analysis: &Analysis) -> Self {
        let mut reader = Reader::new(analysis);
        let mut postings: HashMap<String, Vec<Posting>> = HashMap::new();
        let mut lengths = Vec::with_capacity(texts.len());
        for (passage, text) in (0_u32..).zip(texts) {
            let mut length = 0_u32;
            reader.read(text, |word| {
                length += 1;
                if !postings.contains_key(word) {
                    postings.insert(word.to_owned(), Vec::new());
                }
                let Some(list) = postings.get_mut(word) else { return };
                match list.last_mut() {
                    Some(last) if last.passage == passage => last.count += 1,
                    _ => list.push(Posting { passage, count: 1 }),
                }
            });
            lengths.push(length);
        }
        let total: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
        let mean = total as f32 / texts.len() as f32;
        let norms = lengths.iter().map(|length| K1 * (1.0 - B + B * rounded_length(*length) as f32 / mean)).collect();
        Self { analysis: analysis.clone(), postings, norms }
    }

    /// Inverse document frequency; highest for unknown words.
    pub(super) fn rarity(&self, word: &str) -> f64 {
        if self.postings.is_empty() {
            return 0.0;
        }
        let with = self.postings.get(word).map_or(0, Vec::len) as f64;
        (1.0 + (self.norms.len() as f64 - with + 0.5) / (with + 0.5)).ln()
    }

    /// The best passages per text, with scores; ties by index. Passages without a common word are not found.
    pub(super) fn search(
        &self,
        texts: &[String],
        most: usize,
        candidate: &(dyn Fn(usize) -> bool + Sync),
    ) -> Vec<Vec<(usize, f64)>> {
        let start = || (Reader::new(&self.analysis), vec![0.0_f32; self.norms.len()]);
        let search_one = |(reader, scores): &mut (Reader, Vec<f32>), text: &String| {
            self.score(reader, text, scores);
            let found = scores.iter().enumerate().filter(|(part, score)| **score > 0.0 && candidate(*part));
            best(found.map(|(part, score)| (part, f64::from(*score))).collect(), most)
        };
        texts.par_iter().map_init(start, search_one).collect()
    }

    /// Adds the scores of each word. Words are processed in a fixed order, so that equal passages have exactly equal scores.
    fn score(&self, reader: &mut Reader, text: &str, scores: &mut [f32]) {
        scores.fill(0.0);
        let mut asked: BTreeMap<String, u32> = BTreeMap::new();
        reader.read(text, |word| *asked.entry(word.to_owned()).or_default() += 1);
        for (word, times) in asked {
            let Some(list) = self.postings.get(&word) else { continue };
            let with = list.len();
            // As `rarity`, in the single precision of Lucene and tantivy, so that scores equal theirs.
            let odds = ((self.norms.len() - with) as f32 + 0.5) / (with as f32 + 0.5);
            let weight = (1.0 + odds).ln() * (1.0 + K1) * times as f32;
            for posting in list {
                let passage = posting.passage as usize;
                let count = posting.count as f32;
                scores[passage] += weight * (count / (count + self.norms[passage]));
            }
        }
    }
}

/// Rounds a length down to what Lucene and tantivy store in one byte, so that scores equal theirs.
fn rounded_length(length: u32) -> u32 {
    const EXACT: u32 = 24;
    let Some(beyond) = length.checked_sub(EXACT) else { return length };
    let dropped = (u32::BITS - beyond.leading_zeros()).saturating_sub(4);
    EXACT + (beyond >> dropped << dropped)
}

/// The best by score; ties by index.
pub(super) fn best(mut found: Vec<(usize, f64)>, most: usize) -> Vec<(usize, f64)> {
    let order = |a: &(usize, f64), b: &(usize, f64)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if found.len() > most {
        if most > 0 {
            found.select_nth_unstable_by(most - 1, order);
        }
        found.truncate(most);
    }
    found.sort_unstable_by(order);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_rounded_to_one_byte() {
        let cases = [(0, 0), (23, 23), (39, 39), (40, 40), (41, 40), (42, 42), (55, 54), (56, 56), (59, 56), (60, 60)];
        for (length, expect) in cases {
            assert_eq!(rounded_length(length), expect, "{length}");
        }
        assert_eq!([88, 95, 96, 2_013_265_944].map(rounded_length), [88, 88, 96, 2_013_265_944]);
    }
}
