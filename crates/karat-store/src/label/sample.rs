//! Reproducible random samples of pairs.

use super::pair::PairKey;

/// A sample that includes each pair independently with the same probability.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    probability: f64,
    seed: u64,
}

/// A sampling probability outside (0, 1].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("a sample is drawn with a probability above 0 and up to 1, such as 0.2, and not with {0}")]
pub struct BadProbability(f64);

impl Sample {
    /// The sample of a seed.
    pub fn new(probability: f64, seed: u64) -> Result<Self, BadProbability> {
        if probability > 0.0 && probability <= 1.0 {
            Ok(Self { probability, seed })
        } else {
            Err(BadProbability(probability))
        }
    }

    /// The inclusion probability.
    pub fn probability(self) -> f64 {
        self.probability
    }

    /// A pair's position in the sample, from 0 to 1; `None` if it is not included. A larger sample of the same seed contains
    /// a smaller one at the same positions.
    pub fn place(self, key: &PairKey) -> Option<f64> {
        let hash = blake3::hash(format!("{}\n{key}", self.seed).as_bytes());
        let drawn = hash.as_bytes().iter().take(8).fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
        // 53 bits fit a double exactly.
        let place = (drawn >> 11) as f64 / (1_u64 << 53) as f64;
        (place < self.probability).then_some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Vec<PairKey> {
        (0..4000).map(|n| PairKey::from_texts("known", &n.to_string())).collect()
    }

    #[test]
    fn so_many_are_drawn_as_the_probability_says() {
        for (probability, seed) in [(0.1, 0), (0.1, 7), (0.5, 0), (0.9, 3)] {
            let sample = Sample::new(probability, seed).unwrap();
            let drawn = keys().iter().filter(|key| sample.place(key).is_some()).count() as f64;
            // Four standard deviations of a binomial count.
            let (mean, spread) = (4000.0 * probability, (4000.0 * probability * (1.0 - probability)).sqrt());
            assert!((drawn - mean).abs() < 4.0 * spread, "{drawn} of {mean}");
        }
        let all = Sample::new(1.0, 5).unwrap();
        assert!(keys().iter().all(|key| all.place(key).is_some()));
    }

    #[test]
    fn seeds_draw_apart_and_larger_samples_hold_smaller_ones() {
        let drawn = |probability: f64, seed: u64| -> Vec<PairKey> {
            let sample = Sample::new(probability, seed).unwrap();
            keys().into_iter().filter(|key| sample.place(key).is_some()).collect()
        };
        assert_eq!(drawn(0.2, 1), drawn(0.2, 1));
        assert_ne!(drawn(0.2, 1), drawn(0.2, 2));
        let larger = drawn(0.4, 1);
        assert!(drawn(0.2, 1).iter().all(|key| larger.contains(key)));
        // Samples of two seeds have no more in common than chance would have it.
        let (one, two) = (drawn(0.5, 1), drawn(0.5, 2));
        let both = one.iter().filter(|key| two.contains(key)).count() as f64;
        assert!((both - 1000.0).abs() < 4.0 * (4000.0_f64 * 0.25 * 0.75).sqrt(), "{both}");
    }

    #[test]
    fn no_sample_has_a_probability_that_is_none() {
        for wrong in [0.0, -0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Sample::new(wrong, 0).is_err(), "{wrong}");
        }
    }
}
