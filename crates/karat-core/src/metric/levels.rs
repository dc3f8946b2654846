//! What cases add to the metrics that lay thresholds on confidence or severity: how many verdicts or findings there are at each
//! level, right and wrong. Like [`Sums`](super::sums::Sums), those of two lots of cases add up to those of both.

use super::Value;
use super::calibration::{Point, equal_mass, expected_error};
use super::sweep::{Level, Scale, Sweep, sweep};
use std::collections::BTreeMap;

/// One number that adds up over cases: how many are right, or wrong, at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub scale: Scale,
    pub level: f64,
    pub right: bool,
}

impl Cell {
    /// The name that it goes by among sums, such as `confidence@0.9.right`.
    pub fn name(&self) -> String {
        let side = if self.right { "right" } else { "wrong" };
        format!("{}@{}.{side}", self.scale.as_str(), self.level)
    }

    /// The cell of that name; none where it is the name of something else.
    pub fn parse(name: &str) -> Option<Self> {
        let (scale, rest) = name.split_once('@')?;
        let (level, side) = rest.rsplit_once('.')?;
        let right = side == "right";
        if !right && side != "wrong" {
            return None;
        }
        let scale = Scale::parse(scale)?;
        Some(Self { scale, level: level.parse().ok().filter(|level: &f64| level.is_finite())?, right })
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Levels {
    /// By scale, by the bits of the level, which lie in the order of levels as none is negative, and by whether it is right.
    cells: BTreeMap<(Scale, u64, bool), f64>,
}

impl Levels {
    pub fn add(&mut self, scale: Scale, level: f64, right: bool, weight: f64) {
        // Of 0 there are two, which are one level.
        *self.cells.entry((scale, (level + 0.0).to_bits(), right)).or_insert(0.0) += weight;
    }

    pub fn by_name(&self) -> impl Iterator<Item = (String, f64)> + '_ {
        Scale::ALL.into_iter().flat_map(|scale| self.at_scale(scale)).map(|(cell, sum)| (cell.name(), sum))
    }

    pub(crate) fn at_scale(&self, scale: Scale) -> impl Iterator<Item = (Cell, f64)> + '_ {
        let cell = |(&(scale, bits, right), &sum): (&(Scale, u64, bool), &f64)| {
            (Cell { scale, level: f64::from_bits(bits), right }, sum)
        };
        self.cells.range((scale, 0, false)..=(scale, u64::MAX, true)).map(cell)
    }
}

/// Thresholds on findings from the counts at every level, and from all counts, by which what states no level is known.
pub fn swept(by: Scale, cells: impl Iterator<Item = (Cell, f64)>, [tp, fp, fn_]: [f64; 3]) -> Sweep {
    let level = |(cell, sum): (Cell, f64)| {
        let (right, wrong) = if cell.right { (sum, 0.0) } else { (0.0, sum) };
        Level { score: Some(cell.level), right, wrong }
    };
    let mut levels: Vec<Level> = cells.map(level).collect();
    let [right, wrong] = levels.iter().fold([0.0, 0.0], |[right, wrong], own| [right + own.right, wrong + own.wrong]);
    let rest = |all: f64, stated: f64| if all - stated > 1e-9 { all - stated } else { 0.0 };
    levels.push(Level { score: None, right: rest(tp, right), wrong: rest(fp, wrong) });
    sweep(by, &levels, tp + fn_)
}

/// The calibration error of verdicts over bins of equal mass.
pub fn adaptive_error(cells: impl Iterator<Item = (Cell, f64)>, bins: u32) -> Value {
    let point = |(cell, weight): (Cell, f64)| Point { confidence: cell.level, right: cell.right, weight };
    let points: Vec<Point> = cells.map(point).collect();
    let total = points.iter().map(|point| point.weight).sum();
    expected_error(&equal_mass(&points, bins), total, "no verdict states a confidence")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        for scale in Scale::ALL {
            for level in [0.0, 0.1, 1.0 / 3.0, 1e-9, 5.0] {
                for right in [true, false] {
                    let cell = Cell { scale, level, right };
                    assert_eq!(Cell::parse(&cell.name()), Some(cell));
                }
            }
        }
        for other in ["verdict.tp", "confidence@x.right", "confidence@0.5.neither", "confidence@NaN.right", "x@1.right"]
        {
            assert_eq!(Cell::parse(other), None, "{other}");
        }
    }

    #[test]
    fn findings_without_a_level_come_last() {
        let mut levels = Levels::default();
        levels.add(Scale::Confidence, 0.9, true, 1.0);
        levels.add(Scale::Confidence, 0.5, false, 1.0);
        levels.add(Scale::Verdict, 0.9, false, 1.0);
        // Two right and two wrong in all, of which one each state a confidence; a fourth golden is missed.
        let sweep = swept(Scale::Confidence, levels.at_scale(Scale::Confidence), [2.0, 2.0, 1.0]);
        assert_eq!(sweep.average_precision, Ok(1.0 / 3.0 + 1.0 / 3.0 * 0.5));
        assert_eq!(sweep.points.last().and_then(|point| point.threshold), None);
    }
}
