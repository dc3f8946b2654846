//! Numbers drawn from a seed.

/// SplitMix64: a few lines in any language, so that other programs can draw the same numbers.
pub(crate) struct Random(u64);

impl Random {
    /// Two seeds that differ anywhere draw different numbers.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number below `bound`.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % bound
    }
}
