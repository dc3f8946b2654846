//! CWE numbers, in the many ways tools write them.

use super::fields::{cwe, cwe_number, cwe_numbers};
use super::json::Lenient;
use serde::de::SeqAccess;

/// The CWE number in a text that is known to be about one, so a plain `89` counts.
pub(crate) fn parse_cwes(text: &str) -> Vec<u32> {
    let mut found: Vec<u32> = cwe_numbers(text).collect();
    if found.is_empty() {
        found.extend(cwe(text));
    }
    found
}

/// The CWE numbers among tags, most of which are about other things.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct TagCwes(pub(crate) Vec<u32>);

impl Lenient for TagCwes {
    fn from_text(text: String) -> Self {
        Self(cwe_numbers(&text).collect())
    }

    fn from_array<'de, A: SeqAccess<'de>>(array: A) -> Result<Self, A::Error> {
        let tags = Vec::<Option<String>>::from_array(array)?;
        Ok(Self(tags.iter().flatten().flat_map(|tag| cwe_numbers(tag)).collect()))
    }
}

/// A field of CWE numbers: a number, a text, or an array of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FieldCwes(pub(crate) Vec<u32>);

impl Lenient for FieldCwes {
    fn from_number(value: f64) -> Self {
        Self(Option::<u32>::from_number(value).and_then(cwe_number).into_iter().collect())
    }

    fn from_text(text: String) -> Self {
        Self(parse_cwes(&text))
    }

    fn from_array<'de, A: SeqAccess<'de>>(array: A) -> Result<Self, A::Error> {
        let elements = Vec::<SingleCwe>::from_array(array)?;
        Ok(Self(elements.into_iter().flat_map(|element| element.0).collect()))
    }
}

/// An element of such an array.
#[derive(Default)]
struct SingleCwe(Vec<u32>);

impl Lenient for SingleCwe {
    fn from_number(value: f64) -> Self {
        Self(FieldCwes::from_number(value).0)
    }

    fn from_text(text: String) -> Self {
        Self(parse_cwes(&text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Loose;

    #[test]
    fn numbers_are_found_in_every_notation() {
        let check = |text: &str, expect: &[u32]| assert_eq!(cwe_numbers(text).collect::<Vec<_>>(), expect, "{text}");
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
        assert_eq!(parse_cwes(" 89 "), [89]);
        assert_eq!(parse_cwes("0"), [0u32; 0]);
    }

    #[test]
    fn numbers_that_no_weakness_has_are_left_out() {
        let check = |json: &str, expect: &[u32]| {
            let found: Loose<FieldCwes> = serde_json::from_str(json).unwrap();
            assert_eq!(found.0.0, expect, "{json}");
        };
        check("89", &[89]);
        check("99999", &[99_999]);
        check("100000", &[]);
        check("0", &[]);
        check("\"100000\"", &[]);
        check("[89, 100000, \"CWE-100000\", \"99999\", 4294967296, -1, 1.5]", &[89, 99_999]);
    }
}
