//! Ranges of lines, counted from 1, both ends inside.

/// An inclusive range of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Lines {
    pub start: u32,
    /// The last line, never before the first.
    pub end: u32,
}

impl Lines {
    /// From a start that must be there and an end that may be missing or, as some tools write it, come before the start.
    pub fn from_start(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        let start = start?;
        Some(Self { start, end: end.unwrap_or(start).max(start) })
    }

    /// As [`Lines::from_start`], but a missing start copies the end: what identity keys are made of.
    pub fn from_either(start: Option<u32>, end: Option<u32>) -> Option<Self> {
        Self::from_start(start.or(end), end)
    }

    /// Lines between the two ranges: 0 when they overlap, 1 when they touch.
    pub fn gap(self, other: Self) -> u32 {
        if self.start > other.end { self.start - other.end } else { other.start.saturating_sub(self.end) }
    }

    /// Whether the two share a line.
    pub fn overlaps(self, other: Self) -> bool {
        self.gap(other) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_ends_are_filled() {
        let lines = |start, end| Some(Lines { start, end });
        assert_eq!(Lines::from_start(Some(3), None), lines(3, 3));
        assert_eq!(Lines::from_start(None, Some(3)), None);
        assert_eq!(Lines::from_start(Some(9), Some(3)), lines(9, 9));
        assert_eq!(Lines::from_either(None, Some(3)), lines(3, 3));
    }

    #[test]
    fn gaps_count_lines_apart() {
        let at = |start, end| Lines { start, end };
        assert_eq!(at(12, 15).gap(at(18, 18)), 3);
        assert_eq!(at(18, 18).gap(at(12, 15)), 3);
        assert_eq!(at(12, 15).gap(at(15, 20)), 0);
        assert_eq!(at(12, 15).gap(at(16, 20)), 1);
    }
}
