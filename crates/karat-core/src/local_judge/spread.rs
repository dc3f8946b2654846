//! How keys are spread over the judge's tables: quickly, as every word and every run of letters is looked up.
//!
//! Nothing is ever listed in the order of such a table, so that the way keys are spread can change no opinion.

use std::hash::{BuildHasherDefault, Hasher};

/// For tables that are looked up often.
pub(super) type Spread = BuildHasherDefault<Folded>;

/// Multiplies, and folds the upper half of the product onto the lower.
#[derive(Default)]
pub(super) struct Folded(u64);

impl Hasher for Folded {
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
