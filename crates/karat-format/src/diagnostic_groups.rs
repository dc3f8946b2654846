//! Groups diagnostics of one kind: a few examples, and a count of the rest.

use crate::diagnostic::{Diagnostic, Fault, Level};
use std::collections::BTreeMap;

/// How many diagnostics of one kind are kept as examples.
const EXAMPLES: usize = 5;
/// After so many errors a reader stops reading.
pub const ERROR_LIMIT: usize = 1_000;
/// The code of the note that reading stopped.
pub const STOPPED: &str = "stopped";

/// Diagnostics by kind, which is their code. Of each kind the first examples are kept, different messages before equal ones.
#[derive(Default)]
pub struct DiagnosticGroups {
    groups: BTreeMap<(Level, &'static str), Group>,
    added: usize,
    errors: usize,
}

#[derive(Default)]
struct Group {
    /// In the order in which they were added, with that order.
    examples: Vec<(usize, Diagnostic)>,
    more: usize,
}

impl DiagnosticGroups {
    /// Adds a diagnostic, which may already stand for others.
    pub fn push(&mut self, mut diagnostic: Diagnostic) {
        let others = std::mem::take(&mut diagnostic.more);
        let key = (diagnostic.level, diagnostic.code);
        self.groups.entry(key).or_default().more += others;
        if diagnostic.level == Level::Error {
            self.errors += others;
        }
        if self.counts_as_example(key, &diagnostic.message) {
            self.groups.entry(key).or_default().examples.push((self.added, diagnostic));
        }
    }

    /// Adds a fault, which becomes a diagnostic only if it is kept as an example.
    pub(crate) fn push_fault(&mut self, fault: Fault, draw: impl FnOnce(Fault) -> Diagnostic) {
        let key = (Level::Error, fault.code);
        if self.counts_as_example(key, &fault.message) {
            self.groups.entry(key).or_default().examples.push((self.added, draw(fault)));
        }
    }

    /// Counts one diagnostic and makes room for it, if it is to be kept.
    fn counts_as_example(&mut self, key: (Level, &'static str), message: &str) -> bool {
        self.added += 1;
        self.errors += usize::from(key.0 == Level::Error);
        let group = self.groups.entry(key).or_default();
        if group.examples.len() < EXAMPLES {
            return true;
        }
        group.more += 1;
        let is_new = group.examples.iter().all(|(_, example)| example.message != message);
        let Some(repeated) = group.repeated().filter(|_| is_new) else { return false };
        group.examples.remove(repeated);
        true
    }

    /// Whether a reader should stop, since further errors would say little.
    pub fn is_full(&self) -> bool {
        self.errors >= ERROR_LIMIT
    }

    /// Notes that the file was read only up to this line.
    pub(crate) fn stop_at(&mut self, file: &str, line: usize) {
        self.push(stopped(file, &format!("line {line}")));
    }

    /// The examples in the order in which they were added; the last of each kind says how many more there are.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        let mut all: Vec<(usize, Diagnostic)> = Vec::new();
        for mut group in self.groups.into_values() {
            if let Some((_, last)) = group.examples.last_mut() {
                last.more = group.more;
            }
            all.append(&mut group.examples);
        }
        all.sort_by_key(|(added, _)| *added);
        all.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

impl Group {
    /// The last example whose message an earlier one has.
    fn repeated(&self) -> Option<usize> {
        let has_earlier = |at: &usize| {
            let (before, rest) = self.examples.split_at(*at);
            rest.first().is_some_and(|(_, one)| before.iter().any(|(_, other)| other.message == one.message))
        };
        (0..self.examples.len()).rev().find(has_earlier)
    }
}

impl Extend<Diagnostic> for DiagnosticGroups {
    fn extend<I: IntoIterator<Item = Diagnostic>>(&mut self, diagnostics: I) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }
}

/// The note of a reader that stopped at a place.
pub fn stopped(file: &str, place: &str) -> Diagnostic {
    let message = format!("reading stopped at {place}, after {ERROR_LIMIT} faults; the rest was not checked");
    Diagnostic::of_file(file, STOPPED, message).with_level(Level::Note)
}

/// The diagnostics with those of one kind grouped.
pub fn grouped(diagnostics: impl IntoIterator<Item = Diagnostic>) -> Vec<Diagnostic> {
    let mut groups = DiagnosticGroups::default();
    groups.extend(diagnostics);
    groups.into_diagnostics()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(code: &'static str, message: &str) -> Diagnostic {
        Diagnostic::of_file("f", code, message)
    }

    fn shown(diagnostics: Vec<Diagnostic>) -> String {
        let line = |d: Diagnostic| format!("{} {} {}", d.code, d.message, d.more);
        diagnostics.into_iter().map(line).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn five_examples_of_a_kind_and_a_count() {
        let many = || (0..7).flat_map(|n| [fault("a", "same"), fault("b", &n.to_string())]);
        let expected = "a same 0; b 0 0; a same 0; b 1 0; a same 0; b 2 0; a same 0; b 3 0; a same 2; b 4 2";
        assert_eq!(shown(grouped(many())), expected);
        // Grouping again changes nothing, and groups of several files add up.
        assert_eq!(shown(grouped(grouped(many()))), expected);
        let twice = grouped([grouped(many()), grouped(many())].concat());
        assert_eq!(twice.iter().map(|d| 1 + d.more).sum::<usize>(), 28);
    }

    #[test]
    fn different_messages_come_before_equal_ones() {
        let found = grouped(["x"; 6].into_iter().chain(["y", "y", "z"]).map(|message| fault("a", message)));
        assert_eq!(shown(found), "a x 0; a x 0; a x 0; a y 0; a z 4");
    }

    #[test]
    fn levels_are_kept_apart_and_only_errors_fill() {
        let mut groups = DiagnosticGroups::default();
        groups.extend((0..ERROR_LIMIT).map(|_| fault("a", "m").with_level(Level::Warning)));
        assert!(!groups.is_full());
        groups.extend((0..ERROR_LIMIT).map(|_| fault("a", "m")));
        assert!(groups.is_full());
        assert_eq!(groups.into_diagnostics().len(), 2 * EXAMPLES);
    }
}
