//! What cases add to the metrics that lay thresholds on confidence or severity: how many verdicts or findings there are at each
//! level, right and wrong. Like [`Sums`](super::sums::Sums), those of two lots of cases add up to those of both.

use super::Value;
use super::calibration::{Point, equal_mass, expected_error};
use super::sweep::{Level, Scale, Sweep, sweep};
use crate::trial::Trial;
use std::collections::HashSet;

/// One number that adds up over cases: how many are right, or wrong, at a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    pub scale: Scale,
    pub level: f64,
    pub right: bool,
}

impl Cell {
    /// In the order of levels, as none is negative.
    fn key(&self) -> (Scale, u64, bool) {
        (self.scale, self.level.to_bits(), self.right)
    }

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
    /// By scale, then by level, then wrong before right; each cell once.
    cells: Box<[(Cell, f64)]>,
}

impl Levels {
    /// The sum of the weights in every cell.
    pub(crate) fn new(weights: impl IntoIterator<Item = (Cell, f64)>) -> Self {
        // Of 0 there are two, which are one level.
        let one_zero = |(cell, weight): (Cell, f64)| (Cell { level: cell.level + 0.0, ..cell }, weight);
        let mut cells: Vec<(Cell, f64)> = weights.into_iter().map(one_zero).collect();
        // The sort is stable, so that weights of a cell are added in the order in which they are given.
        cells.sort_by_key(|(cell, _)| cell.key());
        cells.dedup_by(|(next, weight), (cell, sum)| {
            let is_same = next.key() == cell.key();
            *sum += if is_same { *weight } else { 0.0 };
            is_same
        });
        Self { cells: cells.into() }
    }

    /// The cells of all scales with their sums.
    pub fn cells(&self) -> impl Iterator<Item = (Cell, f64)> + '_ {
        self.cells.iter().copied()
    }

    pub(crate) fn at_scale(&self, scale: Scale) -> impl Iterator<Item = (Cell, f64)> + '_ {
        self.cells().filter(move |(cell, _)| cell.scale == scale)
    }
}

/// Up to so many different confidences that findings state, each is a level of its own.
pub const MOST_CONFIDENCES: usize = 1000;

/// The different confidences that the findings of all trials state.
#[derive(Clone, Debug, Default)]
pub struct Confidences {
    /// One more than are kept apart, at most.
    different: HashSet<u64>,
}

impl Confidences {
    pub fn add(&mut self, trial: &Trial) {
        for confidence in trial.findings.iter().filter_map(|finding| finding.confidence) {
            if !self.are_rounded() {
                self.different.insert((confidence + 0.0).to_bits());
            }
        }
    }

    /// Whether there are so many that every case would have levels of its own: they are then rounded to thousandths.
    pub(crate) fn are_rounded(&self) -> bool {
        self.different.len() > MOST_CONFIDENCES
    }

    pub(crate) fn level(&self, confidence: f64) -> f64 {
        let steps = MOST_CONFIDENCES as f64;
        if self.are_rounded() { (confidence * steps).round() / steps } else { confidence }
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
    use crate::finding::Finding;

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
    fn weights_of_a_cell_add_up_and_both_zeros_are_one_level() {
        let cell = |level, right, weight| (Cell { scale: Scale::Confidence, level, right }, weight);
        let levels =
            Levels::new([cell(0.5, true, 1.0), cell(-0.0, true, 1.0), cell(0.5, false, 2.0), cell(0.0, true, 3.0)]);
        let expected = [cell(0.0, true, 4.0), cell(0.5, false, 2.0), cell(0.5, true, 1.0)];
        assert_eq!(levels.cells().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn very_many_different_confidences_are_rounded() {
        let stated = |count: usize| {
            let mut confidences = Confidences::default();
            let findings =
                (0..count).map(|at| Finding { confidence: Some(at as f64 / count as f64), ..Finding::default() });
            confidences.add(&Trial { findings: findings.collect(), ..Trial::default() });
            confidences
        };
        assert_eq!(stated(MOST_CONFIDENCES).level(0.123_456), 0.123_456);
        assert_eq!(stated(MOST_CONFIDENCES + 1).level(0.123_456), 0.123);
    }

    #[test]
    fn findings_without_a_level_come_last() {
        let cell = |scale, level, right| (Cell { scale, level, right }, 1.0);
        let levels = Levels::new([
            cell(Scale::Confidence, 0.9, true),
            cell(Scale::Confidence, 0.5, false),
            cell(Scale::Verdict, 0.9, false),
        ]);
        // Two right and two wrong in all, of which one each state a confidence; a fourth golden is missed.
        let sweep = swept(Scale::Confidence, levels.at_scale(Scale::Confidence), [2.0, 2.0, 1.0]);
        assert_eq!(sweep.average_precision, Ok(1.0 / 3.0 + 1.0 / 3.0 * 0.5));
        assert_eq!(sweep.points.last().and_then(|point| point.threshold), None);
    }
}
