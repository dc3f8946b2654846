//! The lines of a region from offsets, since some tools give only the character or byte at which a region starts.

use crate::json::Lenient;
use karat_core::lines::Lines;

/// Where the lines of a text start, in each unit of offsets.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct LineTable {
    bytes: Vec<u32>,
    /// Absent for ASCII text, where all units agree.
    wide: Option<Box<Wide>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
struct Wide {
    points: Vec<u32>,
    utf16: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    Point,
    #[default]
    Utf16,
}

impl LineTable {
    /// `None` for a text that is too long for 32 bits.
    pub(super) fn new(text: &str) -> Option<Self> {
        u32::try_from(text.len()).ok()?;
        let mut table = Self { bytes: vec![0], wide: (!text.is_ascii()).then(|| Box::new(Wide::default())) };
        let starts = memchr::memchr_iter(b'\n', text.as_bytes()).map(|newline| newline + 1);
        table.bytes.extend(starts.map(|start| start as u32));
        if let Some(wide) = &mut table.wide {
            let (mut points, mut utf16) = (0, 0);
            wide.points.push(0);
            wide.utf16.push(0);
            for c in text.chars() {
                points += 1;
                utf16 += c.len_utf16() as u32;
                if c == '\n' {
                    wide.points.push(points);
                    wide.utf16.push(utf16);
                }
            }
        }
        Some(table)
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn lines(&self, unit: Unit, offset: u32, length: Option<u32>) -> Lines {
        let starts = match (unit, &self.wide) {
            (Unit::Byte, _) | (_, None) => &self.bytes,
            (Unit::Point, Some(wide)) => &wide.points,
            (Unit::Utf16, Some(wide)) => &wide.utf16,
        };
        let line = |offset: u32| starts.partition_point(|&start| start <= offset) as u32;
        let last = offset.saturating_add(length.unwrap_or(0).saturating_sub(1));
        Lines { start: line(offset), end: line(last) }
    }
}

/// The text itself is dropped at once.
impl Lenient for Option<LineTable> {
    fn from_text(text: String) -> Self {
        LineTable::new(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_converted_to_lines_in_every_unit() {
        let table = LineTable::new("ab\né😀\ncd\n").unwrap();
        let check = |unit, offset, length, (start, end)| {
            assert_eq!(table.lines(unit, offset, length), Lines { start, end });
        };
        check(Unit::Byte, 0, None, (1, 1));
        check(Unit::Byte, 2, Some(1), (1, 1));
        check(Unit::Byte, 2, Some(2), (1, 2));
        check(Unit::Byte, 9, None, (2, 2));
        check(Unit::Byte, 10, None, (3, 3));
        check(Unit::Point, 5, None, (2, 2));
        check(Unit::Point, 6, None, (3, 3));
        check(Unit::Utf16, 6, None, (2, 2));
        check(Unit::Utf16, 7, Some(u32::MAX), (3, 4));
    }
}
