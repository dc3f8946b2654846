//! Line numbers as tools write them.

use super::note_counter::NoteCounter;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

/// A line number in JSON: `null` is none, and anything but an integer is a fault of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line(Option<i64>);

impl Line {
    /// The line, from 1. Tools write 0 and −1 for an unknown line, which is counted as left out.
    pub(super) fn number(self, counter: &mut NoteCounter) -> Option<u32> {
        let number = u32::try_from(self.0?).ok().filter(|&number| number > 0);
        if number.is_none() {
            counter.count("line number ignored: line numbers start at 1");
        }
        number
    }
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LineVisitor)
    }
}

struct LineVisitor;

impl Visitor<'_> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line number")
    }

    fn visit_unit<E>(self) -> Result<Line, E> {
        Ok(Line(None))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Line, E> {
        Ok(Line(Some(number)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Line, E> {
        Ok(Line(Some(i64::try_from(number).unwrap_or(i64::MAX))))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Line, E> {
        // Some JSON writers print integers as 12.0; what is out of range saturates and is then counted as left out.
        if number.fract() == 0.0 {
            Ok(Line(Some(number as i64)))
        } else {
            Err(E::invalid_value(Unexpected::Float(number), &self))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole_numbers_from_one() {
        let check = |json: &str, expect: Result<Option<u32>, &str>| {
            let read = serde_json::from_str::<Line>(json).map(|line| line.number(&mut NoteCounter::default()));
            match (read, expect) {
                (Ok(line), Ok(expect)) => assert_eq!(line, expect, "{json}"),
                (Err(error), Err(expect)) => assert!(error.to_string().starts_with(expect), "{json}: {error}"),
                (read, _) => panic!("{json}: {read:?}"),
            }
        };
        check("12", Ok(Some(12)));
        check("12.0", Ok(Some(12)));
        check("null", Ok(None));
        check("0", Ok(None));
        check("-1", Ok(None));
        check("1e300", Ok(None));
        check("18446744073709551615", Ok(None));
        check("1.5", Err("invalid value: floating point `1.5`, expected a line number"));
        check("\"12\"", Err("invalid type: string \"12\", expected a line number"));
        check("[1]", Err("invalid type: sequence, expected a line number"));
    }
}
