//! Maps the words that tools use for severity to Karat's scale.

use super::note_counter::NoteCounter;
use karat_core::golden::Severity;

/// The severity of a word, ignoring case; `None` for unknown words.
pub fn from_word(word: &str) -> Option<Severity> {
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

/// Like [`from_word`], but counts unknown words.
pub(super) fn from_word_or_count(word: Option<&str>, counter: &mut NoteCounter) -> Option<Severity> {
    let word = word.map(str::trim).filter(|word| !word.is_empty())?;
    let severity = from_word(word);
    if severity.is_none() {
        counter.count_word("unknown severity ignored", word);
    }
    severity
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_common_tools_are_understood() {
        let check = |word: &str, expect: Option<Severity>| assert_eq!(from_word(word), expect, "{word:?}");
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
        assert_eq!(from_word_or_count(Some("weird"), &mut counter), None);
        assert_eq!(from_word_or_count(Some("weird"), &mut counter), None);
        assert_eq!(from_word_or_count(Some("  "), &mut counter), None);
        assert_eq!(from_word_or_count(None, &mut counter), None);
        assert_eq!(counter.into_lines(), ["unknown severity ignored: \"weird\" (2)"]);
    }
}
