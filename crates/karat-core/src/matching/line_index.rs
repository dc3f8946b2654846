//! Finds ranges of lines near a given range.

use crate::lines::Lines;

#[derive(Default)]
pub(super) struct LineIndex {
    /// By the bit width of their length: the greatest length, and the ranges by rising start.
    classes: Vec<(u32, Vec<(Lines, u32)>)>,
}

impl LineIndex {
    pub(super) fn new(ranges: impl Iterator<Item = (Lines, u32)>) -> Self {
        let mut classes: Vec<(u32, Vec<(Lines, u32)>)> = Vec::new();
        for (lines, index) in ranges {
            let length = lines.end - lines.start;
            let class = (u32::BITS - length.leading_zeros()) as usize;
            if classes.len() <= class {
                classes.resize_with(class + 1, Default::default);
            }
            classes[class].0 = classes[class].0.max(length);
            classes[class].1.push((lines, index));
        }
        for (_, ranges) in &mut classes {
            ranges.sort_unstable();
        }
        Self { classes }
    }

    /// Calls `found` with the index of every range at most `reach` lines from `lines`.
    pub(super) fn near(&self, lines: Lines, reach: u32, mut found: impl FnMut(u32)) {
        for (longest, ranges) in &self.classes {
            let first = lines.start.saturating_sub(reach).saturating_sub(*longest);
            let last = lines.end.saturating_add(reach);
            let from = ranges.partition_point(|(own, _)| own.start < first);
            for (own, index) in ranges[from..].iter().take_while(|(own, _)| own.start <= last) {
                if own.gap(lines) <= reach {
                    found(*index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lines_near_others_are_all_found(
            ranges in proptest::collection::vec((0_u32..120, 0_u32..40), 0..40),
            start in 0_u32..130,
            length in 0_u32..20,
            reach in 0_u32..8,
        ) {
            let ranges: Vec<Lines> = ranges.into_iter().map(|(start, length)| Lines { start, end: start + length }).collect();
            let index = LineIndex::new(ranges.iter().copied().zip(0_u32..));
            let wanted = Lines { start, end: start + length };
            let mut found = Vec::new();
            index.near(wanted, reach, |range| found.push(range));
            found.sort_unstable();
            let expect: Vec<u32> = (0_u32..).zip(&ranges).filter(|(_, own)| own.gap(wanted) <= reach).map(|(i, _)| i).collect();
            prop_assert_eq!(found, expect);
        }
    }
}
