//! Fast hashing for the local judge's tables.
//!
//! Tables are never iterated, so the hash order cannot change any result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

pub(super) type FastHash = BuildHasherDefault<FoldHasher>;

/// Multiplies, and folds the upper half of the product onto the lower.
#[derive(Default)]
pub(super) struct FoldHasher(u64);

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (eights, rest) = bytes.as_chunks::<8>();
        eights.iter().for_each(|eight| self.write_u64(u64::from_le_bytes(*eight)));
        let last = rest.iter().fold(bytes.len() as u64, |last, byte| last << 8 | u64::from(*byte));
        self.write_u64(last);
    }

    fn write_u8(&mut self, byte: u8) {
        // What ends a text; lengths are in already.
        self.0 ^= u64::from(byte);
    }

    fn write_u64(&mut self, key: u64) {
        let wide = u128::from(self.0 ^ key ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (wide >> 64) as u64 ^ wide as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Numbers for keys, counted from 0 in the order in which keys are first met, and which text had each of them last.
#[derive(Default)]
pub(super) struct KeyNumbers(HashMap<u64, (u32, u32), FastHash>);

impl KeyNumbers {
    pub(super) fn with_room(keys: usize) -> Self {
        Self(HashMap::with_capacity_and_hasher(keys, FastHash::default()))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of a key that text `text`, counted from 1, has, and whether it is met in this text for the first time.
    pub(super) fn number(&mut self, key: u64, text: u32) -> (u32, bool) {
        let new = self.0.len() as u32;
        let (number, last) = self.0.entry(key).or_insert((new, 0));
        (*number, std::mem::replace(last, text) != text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_numbers_while_the_table_grows() {
        for room in [0, 1, 100] {
            let (mut found, mut plain) = (KeyNumbers::with_room(room), HashMap::new());
            for text in 1..=3 {
                for n in 0..3000_u64 {
                    // Every other key is of the kind that differs in its upper half alone, and every third comes again.
                    let key = if n % 2 == 0 { n << 40 } else { n % 999 };
                    let new = plain.len() as u32;
                    let (number, last) = plain.entry(key).or_insert((new, 0));
                    let is_first = std::mem::replace(last, text) != text;
                    assert_eq!(found.number(key, text), (*number, is_first));
                }
            }
            assert_eq!(found.len(), plain.len());
        }
    }
}
