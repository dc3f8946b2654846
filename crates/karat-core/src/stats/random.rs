//! Portable random numbers, and seeds derived from data.

/// SplitMix64 (Steele, Lea and Flood 2014), whose few lines give the same numbers on every machine.
///
/// Every sample draws from a stream of its own, so that samples may be drawn in any order and by any number of threads.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The stream of that number under a seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mixed(mixed(seed).wrapping_add(stream)))
    }

    /// The next sixty-four bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        mixed(self.0)
    }

    /// A whole number from 0 up to, and without, `bound`.
    #[inline]
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A number from 0 up to, and without, 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts values into an order drawn from all that there are, each as likely as any other (Fisher and Yates 1938).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
    }
}

/// A seed that follows from the numbers and their order alone. Zero with and without a sign is the same number.
pub fn seed_of(values: impl IntoIterator<Item = f64>) -> u64 {
    values.into_iter().fold(0x6B61_7261_7400_0001, |seed, value| {
        mixed(seed.wrapping_add(0x9E37_79B9_7F4A_7C15) ^ (value + 0.0).to_bits())
    })
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_evenly() {
        let mut random = Random::new(7, 0);
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[random.below(7)] += 1;
        }
        // Five standard deviations of a count of 10,000.
        assert!(counts.iter().all(|n| n.abs_diff(10_000) < 463), "{counts:?}");
        let mean = (0..10_000).map(|_| random.unit()).sum::<f64>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.0145, "{mean}");
    }

    #[test]
    fn all_orders_are_drawn_alike() {
        let mut random = Random::new(3, 0);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..24_000 {
            let mut values = [0, 1, 2, 3];
            random.shuffle(&mut values);
            *counts.entry(values).or_insert(0_u32) += 1;
        }
        // Five standard deviations of a count of 1,000.
        assert!(counts.len() == 24 && counts.values().all(|n| n.abs_diff(1_000) < 155), "{counts:?}");
    }

    #[test]
    fn seeds_follow_from_the_numbers_and_their_order() {
        assert_eq!(seed_of([0.0, 1.0]), seed_of([-0.0, 1.0]));
        assert_ne!(seed_of([0.0, 1.0]), seed_of([1.0, 0.0]));
        assert_ne!(seed_of([0.0]), seed_of([0.0, 0.0]));
        assert_ne!(Random::new(1, 0).bits(), Random::new(1, 1).bits());
    }
}
