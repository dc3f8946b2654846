//! How long the longest common subsequence of two texts is, 64 words of the one at a time.
//!
//! The row of the dynamic program over one text is kept as its differences, one bit a word, and a word of the other text turns one
//! row into the next by an addition (Crochemore et al. 2001, Hyyrö 2004). A word that the first text does not have changes nothing
//! and costs nothing, and of one that it has only the machine words around its places are touched.

use super::text::{Term, Tokens};

const BITS: usize = u64::BITS as usize;

pub(super) struct Pattern {
    length: usize,
    /// Where in `places` those of each distinct word begin; one entry more than there are words.
    starts: Vec<u32>,
    /// The places of the words: a machine word and its bits.
    places: Vec<(u32, u64)>,
    /// The row, kept between texts for its memory alone.
    row: Vec<u64>,
}

impl Pattern {
    pub(super) fn new(text: &Tokens) -> Self {
        let mut places: Vec<(u32, u32)> = Vec::with_capacity(text.len());
        for (at, &term) in text.in_order().iter().enumerate() {
            places.push((number(text, term).unwrap_or_default(), at as u32));
        }
        places.sort_unstable();
        let mut pattern = Self {
            length: text.len(),
            starts: Vec::with_capacity(text.counts().len() + 1),
            places: Vec::with_capacity(text.len()),
            row: vec![0; text.len().div_ceil(BITS)],
        };
        for word in places.chunk_by(|a, b| a.0 == b.0) {
            pattern.starts.push(pattern.places.len() as u32);
            for same in word.chunk_by(|a, b| a.1 as usize / BITS == b.1 as usize / BITS) {
                let bits = same.iter().fold(0, |bits, (_, at)| bits | 1 << (*at as usize % BITS));
                pattern.places.push((same[0].1 / u64::BITS, bits));
            }
        }
        pattern.starts.push(pattern.places.len() as u32);
        pattern
    }

    /// The length of the longest common subsequence with a text, whose words are given by the numbers that they have here.
    pub(super) fn common(&mut self, text: impl Iterator<Item = u32>) -> usize {
        self.row.fill(u64::MAX);
        for word in text {
            let [from, to] = [self.starts[word as usize], self.starts[word as usize + 1]];
            let (mut next, mut carry) = (0, false);
            for &(at, bits) in &self.places[from as usize..to as usize] {
                // What is carried goes on through the machine words between two places, until one takes it up.
                while carry && next < at as usize {
                    carry = step(&mut self.row[next], 0, true);
                    next += 1;
                }
                carry = step(&mut self.row[at as usize], bits, carry);
                next = at as usize + 1;
            }
            while carry && next < self.row.len() {
                carry = step(&mut self.row[next], 0, true);
                next += 1;
            }
        }
        // Bits behind the end of the text are never cleared.
        let rises: u32 = self.row.iter().map(|word| word.count_zeros()).sum();
        debug_assert!(rises as usize <= self.length);
        rises as usize
    }
}

/// The number of a word of a text: its place among the distinct ones.
pub(super) fn number(text: &Tokens, term: Term) -> Option<u32> {
    text.counts().binary_search_by_key(&term, |(term, _)| *term).ok().map(|at| at as u32)
}

/// One machine word of a row made into that of the next row; returns what is carried.
fn step(row: &mut u64, bits: u64, carry: bool) -> bool {
    let matches = *row & bits;
    let (sum, over) = row.overflowing_add(matches);
    let (sum, over_again) = sum.overflowing_add(u64::from(carry));
    *row = sum | (*row & !matches);
    over || over_again
}

#[cfg(test)]
mod tests;
