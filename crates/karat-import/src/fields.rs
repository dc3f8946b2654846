//! Values of fields as tools write them: line numbers, severities, CWE numbers, confidence.

use super::note_counter::NoteCounter;
use karat_core::golden::Severity;
use serde::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};
use std::fmt;

pub(super) fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}

/// A confidence from 0 to 1; some tools write words or percentages, which are ignored.
pub(super) fn confidence(number: Option<f64>) -> Option<f64> {
    number.filter(|number| (0.0..=1.0).contains(number))
}

/// A line number in JSON: `null` or an absent field is none, and anything but an integer is a fault of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Line(Option<i64>);

impl Line {
    pub(super) fn number(self, counter: &mut NoteCounter) -> Option<u32> {
        line_number(self.0?, counter)
    }
}

/// The line, from 1. Tools write 0 and −1 for an unknown line, which is counted as left out.
pub(super) fn line_number(number: i64, counter: &mut NoteCounter) -> Option<u32> {
    let line = u32::try_from(number).ok().filter(|&number| number > 0);
    if line.is_none() {
        counter.count("line number ignored: line numbers start at 1");
    }
    line
}

impl<'de> Deserialize<'de> for Line {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(LineVisitor)
    }
}

struct LineVisitor;

impl<'de> Visitor<'de> for LineVisitor {
    type Value = Line;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a line number")
    }

    fn visit_none<E>(self) -> Result<Line, E> {
        Ok(Line(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Line, D::Error> {
        deserializer.deserialize_any(self)
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

/// The severity of a word, ignoring case; `None` for unknown words.
pub(super) fn severity_of_word(word: &str) -> Option<Severity> {
    let word = word.trim().to_ascii_lowercase();
    Some(match word.as_str() {
        "critical" | "blocker" | "fatal" | "severe" | "crit" => Severity::Critical,
        "high" | "error" | "major" | "important" | "err" => Severity::High,
        "medium" | "moderate" | "warning" | "warn" | "med" => Severity::Medium,
        // SARIF calls a note "a minor problem or an opportunity to improve the code".
        "low" | "minor" | "note" => Severity::Low,
        "info" | "informational" | "information" | "style" | "optimization" | "optimisation" | "hint" | "trivial"
        | "nit" | "nitpick" | "suggestion" | "convention" | "refactor" | "recommendation" | "gas" => Severity::Info,
        _ => return None,
    })
}

/// Like [`severity_of_word`], but counts unknown words.
pub(super) fn severity(word: Option<&str>, counter: &mut NoteCounter) -> Option<Severity> {
    let word = word.map(str::trim).filter(|word| !word.is_empty())?;
    let severity = severity_of_word(word);
    if severity.is_none() {
        counter.count_word("unknown severity ignored", word);
    }
    severity
}

/// The first CWE number in a text such as `CWE-89: SQL injection`, `cwe-089`, the URL of its page, or a bare number.
pub(super) fn cwe(text: &str) -> Option<u32> {
    let page = || text.find("definitions/").and_then(|at| leading_number(&text.as_bytes()[at + 12..]));
    let bare = text.trim();
    let bare = || leading_number(bare.as_bytes()).filter(|_| bare.bytes().all(|byte| byte.is_ascii_digit()));
    cwe_numbers(text).next().or_else(page).or_else(bare)
}

/// All CWE numbers in texts such as `CWE-89`, `external/cwe/cwe-089`, `cwe:89` and `CWE-89: SQL injection`.
pub(super) fn cwe_numbers(text: &str) -> impl Iterator<Item = u32> + '_ {
    let bytes = text.as_bytes();
    let starts = (0..bytes.len()).filter(move |&at| {
        let boundary = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        boundary && bytes[at..].get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"cwe"))
    });
    starts.filter_map(move |at| {
        let rest = &bytes[at + 3..];
        let skipped = rest.iter().take_while(|byte| matches!(byte, b'-' | b'_' | b':' | b'#' | b'=' | b' ')).count();
        leading_number(&rest[skipped..])
    })
}

/// A number as a CWE: the catalogue has no CWE 0 and none of more than five digits.
pub(super) fn cwe_number(number: u32) -> Option<u32> {
    (1..100_000).contains(&number).then_some(number)
}

/// The CWE number at the start.
fn leading_number(bytes: &[u8]) -> Option<u32> {
    let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if bytes.get(digits).is_some_and(u8::is_ascii_alphabetic) {
        return None;
    }
    cwe_number(std::str::from_utf8(&bytes[..digits]).ok()?.parse().ok()?)
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

    #[test]
    fn severity_words_of_common_tools_are_mapped() {
        let check = |word: &str, expect: Option<Severity>| assert_eq!(severity_of_word(word), expect, "{word:?}");
        check("CRITICAL", Some(Severity::Critical));
        check("Blocker", Some(Severity::Critical));
        check(" high ", Some(Severity::High));
        check("ERROR", Some(Severity::High));
        check("major", Some(Severity::High));
        check("Moderate", Some(Severity::Medium));
        check("WARNING", Some(Severity::Medium));
        check("minor", Some(Severity::Low));
        check("note", Some(Severity::Low));
        check("Informational", Some(Severity::Info));
        check("Optimization", Some(Severity::Info));
        check("", None);
        check("UNDEFINED", None);
        check("high!", None);
    }

    #[test]
    fn unknown_words_are_counted() {
        let mut counter = NoteCounter::default();
        assert_eq!(severity(Some("weird"), &mut counter), None);
        assert_eq!(severity(Some("weird"), &mut counter), None);
        assert_eq!(severity(Some("  "), &mut counter), None);
        assert_eq!(severity(None, &mut counter), None);
        assert_eq!(counter.into_lines(), ["unknown severity ignored: \"weird\" (2)"]);
    }

    #[test]
    fn cwe_numbers_are_found_in_every_notation() {
        let check = |text: &str, expect: Option<u32>| assert_eq!(cwe(text), expect, "{text:?}");
        check("CWE-89: Improper Neutralization", Some(89));
        check("cwe-079", Some(79));
        check("external/cwe/cwe-089", Some(89));
        check("CWE:22", Some(22));
        check("CWE 22", Some(22));
        check("https://cwe.mitre.org/data/definitions/605.html", Some(605));
        check(" 327 ", Some(327));
        check("cwe: see CWE-12", Some(12));
        check("CWE-", None);
        check("CWE-0", None);
        check("CWE-99999999999", None);
        check("89 bottles", None);
        check("naïve cwé", None);
        check("", None);
    }
}
