//! Weakness numbers, in the many ways tools write them.

use crate::import::cwe::{from_text, numbers};
use crate::import::json::{Lenient, Loose};
use serde::de::SeqAccess;

/// The number a text stands for where it is known to be about a weakness: also plain `89`.
pub(super) fn stated(text: &str) -> Vec<u32> {
    let mut found: Vec<u32> = numbers(text).collect();
    if found.is_empty() {
        found.extend(from_text(text));
    }
    found
}

/// The numbers among tags, most of which are about other things.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Tagged(pub(super) Vec<u32>);

impl Lenient for Tagged {
    fn from_text(text: String) -> Self {
        Self(numbers(&text).collect())
    }

    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut all = Vec::new();
        while let Some(Loose(tag)) = array.next_element::<Loose<Option<String>>>()? {
            all.extend(tag.iter().flat_map(|tag| numbers(tag)));
        }
        Ok(Self(all))
    }
}

/// The numbers of a field that is about nothing else: a number, a text, or an array of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Stated(pub(super) Vec<u32>);

impl Lenient for Stated {
    fn from_number(value: f64) -> Self {
        Self(Option::<u32>::from_number(value).filter(|&number| number > 0).into_iter().collect())
    }

    fn from_text(text: String) -> Self {
        Self(stated(&text))
    }

    fn from_array<'de, A: SeqAccess<'de>>(mut array: A) -> Result<Self, A::Error> {
        let mut all = Vec::new();
        while let Some(Loose(One(numbers))) = array.next_element()? {
            all.extend(numbers);
        }
        Ok(Self(all))
    }
}

/// An element of such an array, which is not itself an array.
#[derive(Default)]
struct One(Vec<u32>);

impl Lenient for One {
    fn from_number(value: f64) -> Self {
        Self(Stated::from_number(value).0)
    }

    fn from_text(text: String) -> Self {
        Self(stated(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_however_they_are_written() {
        let check = |text: &str, expect: &[u32]| assert_eq!(numbers(text).collect::<Vec<_>>(), expect, "{text}");
        check("external/cwe/cwe-089", &[89]);
        check("CWE-89", &[89]);
        check("CWE-89: Improper Neutralization", &[89]);
        check("cwe:89", &[89]);
        check("CWE_89, CWE 20", &[89, 20]);
        check("cwe89", &[89]);
        check("security", &[]);
        check("external/cwe", &[]);
        check("xcwe-1", &[]);
        check("cwe-0", &[]);
        check("cwe-12x", &[]);
        check("cwe-99999999999999999999", &[]);
        check("é-cwe-7-é", &[7]);
        assert_eq!(stated(" 89 "), [89]);
        assert_eq!(stated("0"), [0u32; 0]);
    }
}
