//! Line-based diffs: which lines a change touched, and where the others moved.

use imara_diff::{Algorithm, Diff, Hunk, InternedInput};
use karat_core::lines::Lines;
use std::collections::HashMap;
use std::ops::Range;
use std::thread;

/// The lines that were added or changed, sorted and merged. A pure deletion touches the lines around the gap.
pub fn touched_lines(before: &str, after: &str) -> Vec<Lines> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let count = index(after.len());
    let mut touched: Vec<Lines> = Vec::new();
    for hunk in hunks(&before, &after) {
        let (start, end) = if hunk.after.is_empty() {
            (hunk.after.start.max(1), (hunk.after.start + 1).min(count))
        } else {
            (hunk.after.start + 1, hunk.after.end)
        };
        if start > end {
            continue;
        }
        match touched.last_mut() {
            Some(last) if start <= last.end + 1 => last.end = last.end.max(end),
            _ => touched.push(Lines { start, end }),
        }
    }
    touched
}

/// Lines that a change replaced by others. Both ranges count from 0, and one of them may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ReplacedRange {
    pub before: Range<u32>,
    pub after: Range<u32>,
}

/// Everything that a change replaced, from top to bottom.
pub fn replaced_ranges(before: &str, after: &str) -> Vec<ReplacedRange> {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    hunks(&before, &after).into_iter().map(|Hunk { before, after }| ReplacedRange { before, after }).collect()
}

/// How much of two texts is the same, as the share of the longer one's lines that both have, in any order.
pub fn line_similarity(before: &str, after: &str) -> f64 {
    let mut left: HashMap<&str, usize> = HashMap::new();
    before.lines().for_each(|line| *left.entry(line).or_default() += 1);
    let (mut shared, mut lines) = (0_usize, 0_usize);
    for line in after.lines() {
        lines += 1;
        if let Some(count) = left.get_mut(line).filter(|count| **count > 0) {
            *count -= 1;
            shared += 1;
        }
    }
    let longer = lines.max(before.lines().count());
    if longer == 0 { 1.0 } else { shared as f64 / longer as f64 }
}

pub(crate) fn line_map(before: &str, after: &str) -> LineMap {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut outcomes: Vec<LineOutcome> = Vec::with_capacity(before.len());
    let mut next_after = 0;
    for hunk in hunks(&before, &after) {
        keep(&mut outcomes, &mut next_after, hunk.before.start, LineOutcome::Kept);
        // Lines whose indentation alone changed, as when code is wrapped in a block, count as the same lines.
        let (old, new) = (bare(&before, &hunk.before), bare(&after, &hunk.after));
        for inner in hunks(&old, &new) {
            keep(&mut outcomes, &mut next_after, hunk.before.start + inner.before.start, LineOutcome::Edited);
            let shift = |range: Range<u32>, by: u32| range.start + by..range.end + by;
            let block =
                Hunk { before: shift(inner.before, hunk.before.start), after: shift(inner.after, hunk.after.start) };
            for offset in 0..index(block.before.len()) {
                outcomes.push(if block.after.is_empty() {
                    LineOutcome::Gone
                } else if block.before.len() == block.after.len() {
                    LineOutcome::Edited(block.after.start + offset)
                } else {
                    LineOutcome::Rewritten(block.clone())
                });
            }
            next_after = block.after.end;
        }
        keep(&mut outcomes, &mut next_after, hunk.before.end, LineOutcome::Edited);
        next_after = hunk.after.end;
    }
    keep(&mut outcomes, &mut next_after, index(before.len()), LineOutcome::Kept);
    LineMap { outcomes }
}

#[derive(Debug)]
pub(crate) struct LineMap {
    /// One entry for each line of the before side.
    outcomes: Vec<LineOutcome>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarriedLines {
    /// As they were, perhaps at another place.
    Kept(Lines),
    /// Some lines changed or were inserted between; this is the best range for what is left.
    Edited(Lines),
    /// Deleted, or rewritten together with so much around them that no range corresponds to them.
    Lost,
}

impl LineMap {
    pub(crate) fn line_count(&self) -> u32 {
        index(self.outcomes.len())
    }

    pub(crate) fn carry(&self, lines: Lines) -> CarriedLines {
        let own = lines.start.saturating_sub(1)..lines.end.min(self.line_count());
        let mut reached: Option<Range<u32>> = None;
        let mut intact = lines.start > 0 && lines.end <= self.line_count();
        for outcome in self.outcomes.get(own.start as usize..own.end as usize).unwrap_or_default() {
            intact &= matches!(outcome, LineOutcome::Kept(_));
            let place = match outcome {
                LineOutcome::Kept(line) | LineOutcome::Edited(line) => *line..line + 1,
                // A replaced block corresponds to the lines only if its neighbours do too.
                LineOutcome::Rewritten(block) if own.start <= block.before.start && block.before.end <= own.end => {
                    block.after.clone()
                }
                LineOutcome::Rewritten(_) | LineOutcome::Gone => continue,
            };
            reached = Some(reached.map_or(place.clone(), |all| all.start.min(place.start)..all.end.max(place.end)));
        }
        let Some(reached) = reached else { return CarriedLines::Lost };
        let carried = Lines { start: reached.start + 1, end: reached.end };
        let is_kept = intact && reached.len() == own.len();
        if is_kept { CarriedLines::Kept(carried) } else { CarriedLines::Edited(carried) }
    }
}

/// Where one line went; indices count from 0.
#[derive(Clone, Debug)]
enum LineOutcome {
    Kept(u32),
    Edited(u32),
    Rewritten(Hunk),
    Gone,
}

/// Maps the lines up to `until` to the next lines of the after side, one by one.
fn keep(outcomes: &mut Vec<LineOutcome>, next_after: &mut u32, until: u32, outcome: fn(u32) -> LineOutcome) {
    while index(outcomes.len()) < until {
        outcomes.push(outcome(*next_after));
        *next_after += 1;
    }
}

fn bare<'text>(lines: &[&'text str], range: &Range<u32>) -> Vec<&'text str> {
    let lines = lines.get(range.start as usize..range.end as usize).unwrap_or_default();
    lines.iter().map(|line| line.trim()).collect()
}

fn index(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Above this many lines the histogram algorithm may take quadratic time.
const MAX_HISTOGRAM_LINES: usize = 20_000;

/// Above this many lines the comparison, which recurses, is given a stack of its own.
const SHALLOW_LINES: usize = 1_000;

/// Changed ranges of lines, in order. Where no comparison is possible, everything counts as changed.
pub(super) fn hunks(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let everything = || vec![Hunk { before: 0..index(before.len()), after: 0..index(after.len()) }];
    if before == after {
        return Vec::new();
    }
    if before.is_empty() || after.is_empty() {
        return everything();
    }
    if before.len() + after.len() <= SHALLOW_LINES {
        return compare(before, after);
    }
    thread::scope(|scope| {
        let worker = thread::Builder::new().stack_size(256 << 20).spawn_scoped(scope, || compare(before, after));
        worker.ok().and_then(|worker| worker.join().ok()).unwrap_or_else(everything)
    })
}

fn compare(before: &[&str], after: &[&str]) -> Vec<Hunk> {
    let mut input = InternedInput::default();
    input.update_before(before.iter().copied());
    input.update_after(after.iter().copied());
    let long = before.len().max(after.len()) > MAX_HISTOGRAM_LINES;
    let mut diff = Diff::compute(if long { Algorithm::Myers } else { Algorithm::Histogram }, &input);
    diff.postprocess_lines(&input);
    diff.hunks().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// A text with one line per letter.
    fn text(letters: &str) -> String {
        letters.chars().fold(String::new(), |mut text, letter| {
            let _ = writeln!(text, "line {letter}");
            text
        })
    }

    #[test]
    fn touched_lines_are_those_of_the_after_side() {
        let check = |before: &str, after: &str, expect: &[(u32, u32)]| {
            let expect: Vec<Lines> = expect.iter().map(|&(start, end)| Lines { start, end }).collect();
            assert_eq!(touched_lines(&text(before), &text(after)), expect, "{before} to {after}");
        };
        check("abc", "abc", &[]);
        check("", "abc", &[(1, 3)]);
        check("abc", "", &[]);
        check("", "", &[]);
        check("abc", "axc", &[(2, 2)]);
        check("abc", "abxyc", &[(3, 4)]);
        check("abcd", "abd", &[(2, 3)]);
        check("abcd", "bcd", &[(1, 1)]);
        check("abcd", "abc", &[(3, 3)]);
        check("abcdefgh", "xbcdefgy", &[(1, 1), (8, 8)]);
        check("abcdef", "xbydef", &[(1, 1), (3, 3)]);
        check("abcdef", "acxdef", &[(1, 3)]);
    }

    #[test]
    fn replaced_ranges_are_those_of_both_sides() {
        let check = |before: &str, after: &str, expect: &[[u32; 4]]| {
            let found = replaced_ranges(&text(before), &text(after));
            let found: Vec<[u32; 4]> =
                found.iter().map(|one| [one.before.start, one.before.end, one.after.start, one.after.end]).collect();
            assert_eq!(found, expect, "{before} to {after}");
        };
        check("abc", "abc", &[]);
        check("", "ab", &[[0, 0, 0, 2]]);
        check("ab", "", &[[0, 2, 0, 0]]);
        check("abcd", "axcdy", &[[1, 2, 1, 2], [4, 4, 4, 5]]);
        check("abcd", "acd", &[[1, 2, 1, 1]]);
    }

    #[test]
    fn similarity_is_the_share_of_equal_lines() {
        let check = |before: &str, after: &str, expect: f64| {
            let found = line_similarity(&text(before), &text(after));
            assert!((found - expect).abs() < 1e-12, "{before} to {after}: {found}");
        };
        check("abcd", "abcd", 1.0);
        check("abcd", "abxy", 0.5);
        check("aaab", "ab", 0.5);
        check("ab", "xy", 0.0);
        check("", "ab", 0.0);
        check("", "", 1.0);
    }

    #[test]
    fn line_ends_do_not_count() {
        assert_eq!(touched_lines("a\nb\n", "a\r\nb\r\n"), []);
        assert_eq!(touched_lines("a\nb", "a\nb\n"), []);
        assert_eq!(touched_lines("a", "a\n\n"), [Lines { start: 2, end: 2 }]);
    }

    #[test]
    fn lines_are_mapped() {
        let check = |before: &str, after: &str, (start, end): (u32, u32), expect: &str| {
            let mapped = match line_map(&text(before), &text(after)).carry(Lines { start, end }) {
                CarriedLines::Kept(to) if to == (Lines { start, end }) => format!("unchanged {}-{}", to.start, to.end),
                CarriedLines::Kept(to) => format!("moved {}-{}", to.start, to.end),
                CarriedLines::Edited(to) => format!("edited {}-{}", to.start, to.end),
                CarriedLines::Lost => "lost".to_owned(),
            };
            assert_eq!(mapped, expect, "{before} to {after}, lines {start}-{end}");
        };
        check("abcdef", "abcdef", (2, 3), "unchanged 2-3");
        check("abcdef", "abcdexyf", (2, 3), "unchanged 2-3");
        check("abcdef", "xyabcdef", (2, 3), "moved 4-5");
        check("abcdef", "bcdef", (2, 3), "moved 1-2");
        check("abcdef", "abxcdef", (2, 3), "edited 2-4");
        check("abcdef", "axbcdef", (2, 3), "moved 3-4");
        check("abcdef", "abcxdef", (2, 3), "unchanged 2-3");
        check("abcdef", "axcdef", (2, 3), "edited 2-3");
        check("abcdef", "axcdef", (2, 2), "edited 2-2");
        check("abcdef", "axyzcdef", (2, 2), "edited 2-4");
        check("abcdef", "acdef", (2, 2), "lost");
        check("abcdef", "acdef", (2, 3), "edited 2-2");
        check("abcdef", "af", (2, 5), "lost");
        check("abcdef", "", (2, 5), "lost");
        check("abcdefgh", "axyzuvwh", (4, 4), "edited 4-4");
        check("abcdefgh", "axyh", (4, 4), "lost");
        check("abcdefgh", "axyh", (2, 7), "edited 2-3");
        check("abc", "abc", (3, 9), "edited 3-3");
        check("abc", "abc", (4, 4), "lost");
        check("abc", "abc", (0, 1), "edited 1-1");
        check("", "abc", (1, 1), "lost");
        check("abc", "abc", (u32::MAX, u32::MAX), "lost");
    }

    #[test]
    fn code_wrapped_in_a_block_is_followed() {
        let before = "start\nfirst(1);\nsecond(2);\nthird(3);\nstop\n";
        let after = "start\nif (ok) {\n  first(1);\n  second(2);\n  third(3);\n}\nstop\n";
        let mapped = line_map(before, after).carry(Lines { start: 3, end: 3 });
        assert_eq!(mapped, CarriedLines::Edited(Lines { start: 4, end: 4 }));
    }

    #[test]
    fn mapped_lines_have_the_same_content() {
        // Random texts over few letters, so that many lines repeat.
        let mut state = 7_u64;
        let mut letters = |count: u64| -> String {
            let mut word = String::new();
            for _ in 0..count {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                word.push(char::from(b'a' + u8::try_from((state >> 33) % 4).expect("below four")));
            }
            word
        };
        for round in 0..300 {
            let (before, after) = (text(&letters(round % 17)), text(&letters(round % 13)));
            let map = line_map(&before, &after);
            assert_eq!(map.line_count() as usize, before.lines().count());
            for (row, line) in before.lines().enumerate() {
                let at = index(row) + 1;
                match map.carry(Lines { start: at, end: at }) {
                    CarriedLines::Kept(to) => assert_eq!(after.lines().nth(to.start as usize - 1), Some(line)),
                    CarriedLines::Edited(lines) => assert!(lines.end as usize <= after.lines().count()),
                    CarriedLines::Lost => (),
                }
            }
        }
    }

    #[test]
    fn large_texts_are_compared() {
        let every_other = |mark: &str| -> String {
            (0..60_000).fold(String::new(), |mut text, row| {
                let _ = writeln!(text, "{row} {}", if row % 2 == 0 { mark } else { "" });
                text
            })
        };
        assert_eq!(touched_lines(&every_other("a"), &every_other("b")).len(), 30_000);
        let runs = |mark: &str| -> String {
            (0..190).fold(String::new(), |mut text, run| {
                for row in 0..run {
                    let _ = writeln!(text, "{run} {row}");
                }
                text + mark + "\n"
            })
        };
        assert_eq!(touched_lines(&runs("a"), &runs("b")).len(), 190);
        assert_eq!(touched_lines(&"x\n".repeat(50_000), &"x\n".repeat(50_001)).len(), 1);
    }
}
