//! What a tool finds on the original and not on a variant that means the same.

use super::RECALL;
use super::pairing::Paired;
use super::side::CaseSide;
use karat_core::comparison::FoundCount;
use karat_core::lines::Lines;
use karat_core::metric::counts::NEAR;
use karat_core::path::{FilePattern, RepoPath};
use karat_core::stats::interval::wilson;
use karat_core::wording::{count, plural};
use karat_format::comparison::{PairV1, TwistedV1};
use karat_format::report::{FindingInfoV1, IssueInfoV1};
use karat_report::number::{p_value, signed_points};

/// Where a golden is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Place {
    pub file: Option<FilePattern>,
    pub lines: Option<Lines>,
}

impl Place {
    /// The place that a report states of a golden.
    pub fn of_issue(issue: &IssueInfoV1) -> Self {
        let file = issue.file.as_deref().and_then(FilePattern::new);
        Self { file, lines: Lines::from_start(issue.line_start, issue.line_end) }
    }

    /// Whether a finding is there: in the file and near the lines, as far as both state them. A finding without a file is nowhere.
    pub fn is_of(&self, finding: &FindingInfoV1) -> bool {
        let Some(file) = &self.file else { return true };
        let is_same_file = finding.file.as_deref().and_then(RepoPath::new).is_some_and(|own| file.matches(&own));
        is_same_file && self.is_near(Lines::from_start(finding.line_start, finding.line_end))
    }

    fn is_near(&self, lines: Option<Lines>) -> bool {
        self.lines.zip(lines).is_none_or(|(own, theirs)| own.gap(theirs) <= NEAR)
    }
}

/// What was lost and gained, from the goldens and metrics of a pair.
pub(super) fn summary(pair: &PairV1, paired: &Paired<'_>, level: f64) -> TwistedV1 {
    let goldens = &pair.goldens;
    let (lost, gained) = (goldens.lost.len(), goldens.gained.len());
    let found = goldens.both + lost;
    let lost_ci = wilson(lost, found, level).ok().map(|interval| [interval.low, interval.high]);
    let recall = pair.metrics.iter().find(|metric| metric.metric == RECALL);
    let side = |case: &str| paired.cases.iter().find(|(id, ..)| *id == case).map(|(_, _, b)| *b);
    let is_elsewhere = |case: &str, golden: &str| side(case).is_some_and(|side| is_reported_elsewhere(side, golden));
    let lost_elsewhere = goldens.lost.iter().filter(|own| is_elsewhere(&own.case, &own.golden)).count();
    let elsewhere = |side: &CaseSide| side.places.keys().filter(|golden| is_reported_elsewhere(side, golden)).count();
    let unmoved = |(_, a, b): &(&str, &CaseSide, &CaseSide)| {
        let stays = |golden: &&String| a.places.get(*golden).zip(b.places.get(*golden)).is_some_and(stays_near);
        a.places.keys().filter(|golden| is_most(a.found_in_place.get(*golden))).filter(stays).count()
    };
    let summary = TwistedV1 {
        found,
        still_found: goldens.both,
        lost,
        gained,
        lost_elsewhere,
        elsewhere: [
            paired.cases.iter().map(|(_, a, _)| elsewhere(a)).sum(),
            paired.cases.iter().map(|(_, _, b)| elsewhere(b)).sum(),
        ],
        unmoved: paired.cases.iter().map(unmoved).sum(),
        dead_code_alone: paired.cases.iter().filter(|(_, _, b)| b.operations == ["dead-code"]).count(),
        neither: goldens.neither,
        lost_share: (found > 0).then(|| lost as f64 / found as f64),
        lost_ci,
        recall_difference: recall.and_then(|metric| metric.difference),
        recall_ci: recall.and_then(|metric| metric.ci),
        p: goldens.p,
        statement: String::new(),
    };
    TwistedV1 { statement: statement(&summary, pair.cases, level), ..summary }
}

fn is_most(tally: Option<&FoundCount>) -> bool {
    tally.is_some_and(|tally| 2 * tally.found > tally.trials)
}

/// Whether a golden was found by what a finding says, and not by where it is.
fn is_reported_elsewhere(side: &CaseSide, golden: &str) -> bool {
    is_most(side.found.get(golden)) && !is_most(side.found_in_place.get(golden))
}

/// Whether what is near one place is near the other, too.
fn stays_near((a, b): (&Place, &Place)) -> bool {
    a.file == b.file && a.is_near(b.lines)
}

fn statement(summary: &TwistedV1, cases: usize, level: f64) -> String {
    let TwistedV1 { found, still_found, lost, gained, lost_elsewhere, elsewhere, unmoved, dead_code_alone, .. } =
        summary;
    let percent = 100.0 * level;
    let mut text = match (summary.lost_share, summary.lost_ci) {
        (Some(share), Some([low, high])) => format!(
            "of {} found on the original, {still_found} {} found on the twisted cases; {lost} {} lost ({:.1} %, {percent:.0} % \
             interval {:.1} to {:.1} %)",
            count(*found, "golden"),
            if *still_found == 1 { "is" } else { "are" },
            if *lost == 1 { "was" } else { "were" },
            100.0 * share,
            100.0 * low,
            100.0 * high,
        ),
        _ => "no golden was found at its place on the original, so nothing could be lost".to_owned(),
    };
    if *lost_elsewhere > 0 {
        let were = if *lost_elsewhere == 1 { "was" } else { "were" };
        text.push_str(&format!(
            "; {lost_elsewhere} of them {were} reported at another place, such as that of the original"
        ));
    }
    if *gained > 0 {
        text.push_str(&format!("; {gained} {} gained", if *gained == 1 { "was" } else { "were" }));
    }
    if elsewhere[0] > 0 {
        text.push_str(&format!(
            "; on the original, {} reported at another place and {} not as found",
            plural(elsewhere[0], "golden was", "goldens were"),
            if elsewhere[0] == 1 { "counts" } else { "count" },
        ));
    }
    if *unmoved > 0 {
        let are = if *unmoved == 1 { "is" } else { "are" };
        text.push_str(&format!(
            "; {unmoved} of those found {are} at nearly the same place on both, where reciting is not seen"
        ));
    }
    if *dead_code_alone > 0 {
        text.push_str(&format!("; of {}, {dead_code_alone} differ by added functions alone", count(cases, "case")));
    }
    if let Some(difference) = summary.recall_difference {
        let interval = summary.recall_ci.map_or_else(String::new, |[low, high]| {
            format!(" ({percent:.0} % interval {} to {})", signed_points(low), signed_points(high))
        });
        // Metrics follow the profile, which may match by words alone.
        let by = if elsewhere.iter().any(|own| *own > 0) { ", wherever goldens are reported," } else { "" };
        text.push_str(&format!("; recall{by} changes by {} points{interval}", signed_points(difference)));
    }
    let p = match p_value(Some(summary.p)) {
        p if p.starts_with('<') => p.replacen('<', "< ", 1),
        p => format!("= {p}"),
    };
    if lost + gained > 0 {
        text.push_str(&format!("; McNemar p {p}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_at_a_place() {
        let check = |golden: (Option<&str>, Option<u32>), finding: (Option<&str>, Option<u32>), expect: bool| {
            let place = Place {
                file: golden.0.and_then(FilePattern::new),
                lines: Lines::from_start(golden.1, golden.1.map(|line| line + 2)),
            };
            let finding = FindingInfoV1 {
                id: "f".to_owned(),
                title: String::new(),
                rule_id: None,
                severity: None,
                file: finding.0.map(str::to_owned),
                line_start: finding.1,
                line_end: None,
            };
            assert_eq!(place.is_of(&finding), expect, "{golden:?} {finding:?}");
        };
        check((Some("src/a.py"), Some(10)), (Some("./src/a.py"), Some(12)), true);
        // As far as the metric `location_within_5` reaches.
        check((Some("src/a.py"), Some(10)), (Some("src/a.py"), Some(17)), true);
        check((Some("src/a.py"), Some(10)), (Some("src/a.py"), Some(18)), false);
        check((Some("src/a.py"), Some(10)), (Some("src/b.py"), Some(10)), false);
        check((Some("src/*.py"), Some(10)), (Some("src/b.py"), Some(10)), true);
        check((Some("src/a.py"), Some(10)), (Some("src/a.py"), None), true);
        check((Some("src/a.py"), None), (Some("src/a.py"), Some(90)), true);
        check((Some("src/a.py"), None), (None, Some(90)), false);
        check((None, None), (Some("src/b.py"), Some(90)), true);
    }
}
