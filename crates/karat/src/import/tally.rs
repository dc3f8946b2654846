//! Counts of what an importer left out or put right, said in one note for each reason.

use super::Harvest;
use super::input::shown;
use std::collections::BTreeMap;
use std::path::Path;

/// More reasons than this are counted together, so that a hostile file cannot fill the notes.
const MOST_REASONS: usize = 40;
/// Words longer than this are cut in notes.
const LONGEST_WORD: usize = 60;

/// What happened how often.
#[derive(Debug, Default)]
pub(super) struct Tally {
    counts: BTreeMap<String, usize>,
    further: usize,
}

impl Tally {
    /// Counts one thing under its reason.
    pub(super) fn count(&mut self, reason: &str) {
        if let Some(count) = self.counts.get_mut(reason) {
            *count += 1;
        } else if self.counts.len() < MOST_REASONS {
            self.counts.insert(reason.to_owned(), 1);
        } else {
            self.further += 1;
        }
    }

    /// Counts one thing under its reason and a word of the input, which is quoted and cut.
    pub(super) fn count_word(&mut self, reason: &str, word: &str) {
        self.count(&format!("{reason}: {}", quoted(word)));
    }

    /// One line for each reason, in the order of their texts.
    pub(super) fn into_lines(self) -> Vec<String> {
        let mut lines: Vec<String> = self.counts.into_iter().map(|(reason, n)| format!("{reason} ({n})")).collect();
        if self.further > 0 {
            lines.push(format!("further things left out ({})", self.further));
        }
        lines
    }

    /// Adds its lines to the notes of the harvest, each with the file it is about.
    pub(super) fn note(self, path: &Path, harvest: &mut Harvest) {
        for line in self.into_lines() {
            harvest.notes.push(format!("{}: {line}", shown(path)));
        }
    }
}

/// A word of the input as it may be shown: quoted, control characters escaped, cut when long.
pub(super) fn quoted(word: &str) -> String {
    match word.char_indices().nth(LONGEST_WORD) {
        Some((cut, _)) => format!("{:?}…", &word[..cut]),
        None => format!("{word:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_counted_and_bounded() {
        let mut tally = Tally::default();
        tally.count("b");
        tally.count("a");
        tally.count("b");
        tally.count_word("c", &"é".repeat(100));
        let expect = format!("c: \"{}\"… (1)", "é".repeat(LONGEST_WORD));
        assert_eq!(tally.into_lines(), ["a (1)".to_owned(), "b (2)".to_owned(), expect]);

        let mut tally = Tally::default();
        for n in 0..100 {
            tally.count(&format!("{n:03}"));
        }
        assert_eq!(tally.into_lines().last().map(String::as_str), Some("further things left out (60)"));
    }

    #[test]
    fn words_cannot_reach_the_terminal() {
        assert_eq!(quoted("\u{1b}[31m"), r#""\u{1b}[31m""#);
    }
}
