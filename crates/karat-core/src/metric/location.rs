//! Location accuracy of found goldens.

use crate::finding::Finding;
use crate::golden::Golden;
use std::ops::AddAssign;

/// Sums over matches whose two sides both state lines.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct LocationSums {
    pub count: f64,
    /// Σ lines in common / lines of either.
    pub iou: f64,
    pub exact: f64,
    /// How many at most [`NEAR`] lines apart.
    pub near: f64,
}

/// How many lines apart is still near.
pub const NEAR: u32 = 5;

impl LocationSums {
    /// Adds one match; in another file, no lines are in common.
    pub fn add(&mut self, golden: &Golden, finding: &Finding) {
        let (Some(truth), Some(claim)) = (golden.lines, finding.lines()) else { return };
        self.count += 1.0;
        let elsewhere = golden.file.as_ref().zip(finding.file.as_ref()).is_some_and(|(own, path)| !own.matches(path));
        if elsewhere {
            return;
        }
        let length = |start: u32, end: u32| f64::from(end) - f64::from(start) + 1.0;
        let common = length(truth.start.max(claim.start), truth.end.min(claim.end)).max(0.0);
        let either = length(truth.start, truth.end) + length(claim.start, claim.end) - common;
        self.iou += common / either;
        self.exact += f64::from(u8::from(truth == claim));
        self.near += f64::from(u8::from(truth.gap(claim) <= NEAR));
    }
}

impl AddAssign for LocationSums {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.iou += other.iou;
        self.exact += other.exact;
        self.near += other.near;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::Lines;
    use crate::path::{FilePattern, RepoPath};

    #[track_caller]
    fn check(truth: Option<(u32, u32)>, claim: Option<(u32, u32)>, file: &str, expect: Option<(f64, f64, f64)>) {
        let golden = Golden {
            lines: truth.map(|(start, end)| Lines { start, end }),
            file: FilePattern::new("src/*.py"),
            ..Golden::new("g")
        };
        let finding = Finding {
            line_start: claim.map(|(start, _)| start),
            line_end: claim.map(|(_, end)| end),
            file: RepoPath::new(file),
            ..Finding::new("f")
        };
        let mut places = LocationSums::default();
        places.add(&golden, &finding);
        let [count, iou, exact, near] = expect.map_or([0.0; 4], |(iou, exact, near)| [1.0, iou, exact, near]);
        assert_eq!(places, LocationSums { count, iou, exact, near });
    }

    #[test]
    fn by_hand() {
        check(Some((10, 19)), Some((10, 19)), "src/a.py", Some((1.0, 1.0, 1.0)));
        check(Some((10, 19)), Some((15, 24)), "src/a.py", Some((5.0 / 15.0, 0.0, 1.0)));
        check(Some((10, 10)), Some((15, 15)), "src/a.py", Some((0.0, 0.0, 1.0)));
        check(Some((10, 10)), Some((16, 16)), "src/a.py", Some((0.0, 0.0, 0.0)));
        check(Some((10, 19)), Some((10, 19)), "lib/a.py", Some((0.0, 0.0, 0.0)));
        // A finding that names no file is taken to mean the golden's.
        check(Some((1, 2)), Some((2, 2)), "", Some((0.5, 0.0, 1.0)));
        check(None, Some((1, 1)), "src/a.py", None);
        check(Some((1, 1)), None, "src/a.py", None);
        check(Some((1, u32::MAX)), Some((1, u32::MAX)), "src/a.py", Some((1.0, 1.0, 1.0)));
    }
}
