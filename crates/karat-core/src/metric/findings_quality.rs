//! What the reported findings are worth, by an audit: tier 3.

use super::{Value, ratio};
use crate::judgement::Classification;
use crate::profile::HarmWeights;
use std::ops::AddAssign;

/// How many findings are of each class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Classes {
    counts: [f64; Classification::ALL.len()],
    /// Findings called another true problem by a model, which no person confirmed.
    pub unconfirmed_bonus: f64,
}

const NONE: &str = "no audited finding";

impl Classes {
    /// Counts one finding; `confirmed` where a person says so.
    pub fn add(&mut self, class: Classification, confirmed: bool) {
        self.counts[class as usize] += 1.0;
        self.unconfirmed_bonus += f64::from(u8::from(class == Classification::BonusValid && !confirmed));
    }

    /// How many are of that class.
    pub fn of(&self, class: Classification) -> f64 {
        self.counts[class as usize]
    }

    /// Says how many are of that class.
    pub fn set(&mut self, class: Classification, count: f64) {
        self.counts[class as usize] = count;
    }

    /// How many there are.
    pub fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    /// How many were worth reporting.
    pub fn valid(&self) -> f64 {
        Classification::ALL.into_iter().filter(|class| class.is_valid()).map(|class| self.of(class)).sum()
    }

    /// How many were not.
    pub fn invalid(&self) -> f64 {
        self.total() - self.valid()
    }

    /// Valid / all.
    pub fn precision(&self) -> Value {
        self.share(self.valid())
    }

    /// The same, a bonus that no person confirmed counting `credit`.
    pub fn precision_confirmed(&self, credit: f64) -> Value {
        let sure = self.valid() - self.unconfirmed_bonus;
        self.share(sure + credit * self.unconfirmed_bonus)
    }

    /// Invalid / all.
    pub fn invalid_rate(&self) -> Value {
        self.share(self.invalid())
    }

    /// Those of a class / all.
    pub fn rate(&self, class: Classification) -> Value {
        self.share(self.of(class))
    }

    /// Σ harm of invalid findings / all.
    pub fn harm_rate(&self, weights: &HarmWeights) -> Value {
        self.share(Classification::ALL.into_iter().map(|class| weights.of(class) * self.of(class)).sum())
    }

    fn share(&self, part: f64) -> Value {
        ratio(part, self.total(), NONE)
    }
}

impl AddAssign for Classes {
    fn add_assign(&mut self, other: Self) {
        for (own, more) in self.counts.iter_mut().zip(other.counts) {
            *own += more;
        }
        self.unconfirmed_bonus += other.unconfirmed_bonus;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Undefined;
    use proptest::prelude::*;

    const HARM: HarmWeights = HarmWeights {
        hallucinated: 1.0,
        mischaracterized: 1.0,
        security_theater: 0.75,
        out_of_scope: 0.5,
        design_choice: 0.5,
        informational: 0.25,
    };

    fn classes(indices: &[usize], confirmed: bool) -> Classes {
        let mut classes = Classes::default();
        indices.iter().for_each(|index| classes.add(Classification::ALL[*index], confirmed));
        classes
    }

    #[test]
    fn one_of_each() {
        let all = classes(&[0, 1, 2, 3, 4, 5, 6, 7, 8], false);
        assert_eq!(all.precision(), Ok(3.0 / 9.0));
        assert_eq!(all.invalid_rate(), Ok(6.0 / 9.0));
        assert_eq!(all.harm_rate(&HARM), Ok(4.0 / 9.0));
        assert_eq!(all.precision_confirmed(0.0), Ok(2.0 / 9.0));
        assert_eq!(all.precision_confirmed(0.5), Ok(2.5 / 9.0));
        assert_eq!(classes(&[0, 1, 2, 3], true).precision_confirmed(0.0), Ok(0.75));
        for class in Classification::ALL {
            assert_eq!(all.rate(class), Ok(1.0 / 9.0), "{}", class.as_str());
        }
    }

    #[test]
    fn no_finding_has_no_rate() {
        let none = Classes::default();
        let undefined = Err(Undefined("no audited finding"));
        let rates = [none.precision(), none.precision_confirmed(1.0), none.invalid_rate(), none.harm_rate(&HARM)];
        assert_eq!(rates, [undefined; 4]);
        assert_eq!(none.rate(Classification::Hallucinated), undefined);
    }

    proptest! {
        #[test]
        fn parts_make_the_whole(indices in proptest::collection::vec(0..9_usize, 1..30)) {
            let some = classes(&indices, false);
            let rates: f64 = Classification::ALL.into_iter().map(|class| some.rate(class).unwrap()).sum();
            prop_assert!((rates - 1.0).abs() < 1e-12);
            prop_assert!((some.precision().unwrap() + some.invalid_rate().unwrap() - 1.0).abs() < 1e-12);
            prop_assert!(some.harm_rate(&HARM).unwrap() <= some.invalid_rate().unwrap() + 1e-12);
            prop_assert!(some.precision_confirmed(0.0).unwrap() <= some.precision().unwrap());
            let mut turned = indices.clone();
            turned.reverse();
            prop_assert_eq!(classes(&turned, false), some);
            let mut twice = some;
            twice += some;
            prop_assert_eq!(twice.precision(), some.precision());
            let mut worse = some;
            worse.add(Classification::Hallucinated, false);
            prop_assert!(worse.precision().unwrap() <= some.precision().unwrap());
        }
    }
}
