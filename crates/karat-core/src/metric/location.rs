//! Location accuracy of found goldens.

use super::{Value, ratio};
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

const NONE: &str = "no match has lines on both sides";

impl LocationSums {
    /// Looks at one match; another file is no place in common, whatever the lines.
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

    /// The mean of lines in common / lines of either.
    pub fn iou(&self) -> Value {
        ratio(self.iou, self.count, NONE)
    }

    /// The share on the very same lines.
    pub fn exact(&self) -> Value {
        ratio(self.exact, self.count, NONE)
    }

    /// The share at most [`NEAR`] lines apart.
    pub fn within_near(&self) -> Value {
        ratio(self.near, self.count, NONE)
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
    use crate::metric::Undefined;
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
        let got = [places.iou(), places.exact(), places.within_near()];
        match expect {
            Some((iou, exact, near)) => assert_eq!(got, [Ok(iou), Ok(exact), Ok(near)]),
            None => assert_eq!(got, [Err(Undefined("no match has lines on both sides")); 3]),
        }
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
