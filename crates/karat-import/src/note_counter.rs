//! Counts what an importer left out or corrected, for one note for each reason.

use std::collections::BTreeMap;

/// Further reasons are counted together, so that a hostile file cannot fill the notes.
const MAX_REASONS: usize = 40;
/// Longer words are truncated in notes.
const MAX_WORD_CHARS: usize = 60;

#[derive(Debug, Default)]
pub(super) struct NoteCounter {
    counts: BTreeMap<String, usize>,
    further: usize,
}

impl NoteCounter {
    pub(super) fn count(&mut self, reason: &str) {
        if let Some(count) = self.counts.get_mut(reason) {
            *count += 1;
        } else if self.counts.len() < MAX_REASONS {
            self.counts.insert(reason.to_owned(), 1);
        } else {
            self.further += 1;
        }
    }

    /// Counts a reason with a word of the input, which is quoted and truncated.
    pub(super) fn count_word(&mut self, reason: &str, word: &str) {
        self.count(&format!("{reason}: {}", quoted(word)));
    }

    pub(super) fn into_lines(self) -> Vec<String> {
        let mut lines: Vec<String> = self.counts.into_iter().map(|(reason, n)| format!("{reason} ({n})")).collect();
        if self.further > 0 {
            lines.push(format!("other items skipped ({})", self.further));
        }
        lines
    }
}

/// A word of the input for display: quoted, control characters escaped, truncated.
pub(super) fn quoted(word: &str) -> String {
    match word.char_indices().nth(MAX_WORD_CHARS) {
        Some((cut, _)) => format!("{:?}…", &word[..cut]),
        None => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_bounded() {
        let mut counter = NoteCounter::default();
        counter.count("b");
        counter.count("a");
        counter.count("b");
        counter.count_word("c", &"é".repeat(100));
        let expect = format!("c: \"{}\"… (1)", "é".repeat(MAX_WORD_CHARS));
        assert_eq!(counter.into_lines(), ["a (1)".to_owned(), "b (2)".to_owned(), expect]);

        let mut counter = NoteCounter::default();
        for n in 0..100 {
            counter.count(&format!("{n:03}"));
        }
        assert_eq!(counter.into_lines().last().map(String::as_str), Some("other items skipped (60)"));
    }

    #[test]
    fn notes_are_sanitized_for_the_terminal() {
        assert_eq!(quoted("\u{1b}[31m"), r#""\u{1b}[31m""#);
    }
}
