//! Two tools, or two runs of one, side by side: metrics, and which goldens moved.

use super::Look;
use super::grid::{self, Cell};
use super::number::{count, headline, three, title};
use crate::diagnostic::harmless;
use crate::format::report::{ReportV1, ToolV1};
use anstyle::Style;
use karat_core::golden::Acceptance;
use karat_core::metric::table::Direction;
use serde::Serialize;
use std::collections::BTreeSet;

/// One side of a comparison.
#[derive(Clone, Copy)]
pub struct Side<'a> {
    /// What it is called.
    pub label: &'a str,
    /// Its report.
    pub report: &'a ReportV1,
    /// Its tool.
    pub tool: &'a ToolV1,
}

/// What differs between two sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The first side.
    pub a: String,
    /// The second side.
    pub b: String,
    /// The metrics asked for.
    pub metrics: Vec<Difference>,
    /// Goldens that only the second side finds in more than half of its trials.
    pub gained: Vec<Moved>,
    /// Goldens that only the first side finds so.
    pub lost: Vec<Moved>,
    /// Cases both were run on.
    pub cases: usize,
}

/// A metric on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The metric.
    pub metric: String,
    /// Its value on the first side.
    pub a: Option<f64>,
    /// Its value on the second side.
    pub b: Option<f64>,
    /// Second minus first; absent where either is undefined.
    pub difference: Option<f64>,
    /// Which way is better.
    pub direction: Direction,
}

/// A golden that one side finds and the other does not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Moved {
    /// Its case.
    pub case: String,
    /// Its id.
    pub golden: String,
    /// Its title.
    pub title: String,
}

/// Why two sides cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// They are about different cases or goldens.
    #[error(
        "{a} and {b} are about different suites or versions of one ({a_digest} and {b_digest}); score both against the same suite first"
    )]
    Suites {
        /// The first side.
        a: String,
        /// The second side.
        b: String,
        /// The suite of the first.
        a_digest: String,
        /// The suite of the second.
        b_digest: String,
    },
    /// They were run on different parts of the suite.
    #[error("{a} and {b} were run on different cases of the suite; run both on the same ones")]
    Cases {
        /// The first side.
        a: String,
        /// The second side.
        b: String,
    },
    /// They were scored by different rules.
    #[error(
        "{a} was scored by the profile {a_profile} and {b} by {b_profile}, or values of it differ; score both by the same"
    )]
    Profiles {
        /// The first side.
        a: String,
        /// The second side.
        b: String,
        /// The rules of the first.
        a_profile: String,
        /// The rules of the second.
        b_profile: String,
    },
}

/// Holds two sides against each other; `metrics` that neither has are left out.
pub fn compare(a: Side<'_>, b: Side<'_>, metrics: &[String]) -> Result<Comparison, CompareError> {
    let names = || (a.label.to_owned(), b.label.to_owned());
    if a.report.suite.digest != b.report.suite.digest {
        let short = |digest: &str| digest.chars().take(19).collect::<String>();
        let digests = (short(&a.report.suite.digest), short(&b.report.suite.digest));
        let (a, b) = names();
        return Err(CompareError::Suites { a, b, a_digest: digests.0, b_digest: digests.1 });
    }
    if a.report.cases != b.report.cases {
        let (a, b) = names();
        return Err(CompareError::Cases { a, b });
    }
    if a.report.profile != b.report.profile {
        let profiles = (a.report.profile.name.clone(), b.report.profile.name.clone());
        let (a, b) = names();
        return Err(CompareError::Profiles { a, b, a_profile: profiles.0, b_profile: profiles.1 });
    }
    let ids = if metrics.is_empty() { &a.report.profile.headline } else { metrics };
    let metric = |id: &String| {
        let (left, right) = (headline(a.report, a.tool).get(id)?, headline(b.report, b.tool).get(id)?);
        let difference = left.value.zip(right.value).map(|(left, right)| right - left);
        let (a, b) = (left.value, right.value);
        Some(Difference { metric: id.clone(), a, b, difference, direction: left.direction })
    };
    let (old, new) = (found(a), found(b));
    let moved = |(case, golden): &(usize, usize)| {
        let info = &a.report.cases[*case];
        let issue = &info.issues[*golden];
        Moved { case: info.case.clone(), golden: issue.id.clone(), title: issue.title.clone() }
    };
    let (label_a, label_b) = names();
    Ok(Comparison {
        a: label_a,
        b: label_b,
        metrics: ids.iter().filter_map(metric).collect(),
        gained: new.difference(&old).map(moved).collect(),
        lost: old.difference(&new).map(moved).collect(),
        cases: a.report.cases.len(),
    })
}

/// The required goldens a side finds in more than half of its trials, by the places of case and golden.
fn found(side: Side<'_>) -> BTreeSet<(usize, usize)> {
    let mut found = BTreeSet::new();
    for (case, (info, result)) in side.report.cases.iter().zip(&side.tool.cases).enumerate() {
        for (golden, issue) in info.issues.iter().enumerate() {
            let hits = result.trials.iter().filter(|trial| trial.matches.iter().any(|m| m.golden == issue.id)).count();
            if issue.acceptance == Acceptance::Required && 2 * hits > result.trials.len() {
                found.insert((case, golden));
            }
        }
    }
    found
}

/// So many moved goldens are listed.
const MOST_MOVED: usize = 12;

/// A comparison for people at a terminal.
pub fn draw(comparison: &Comparison, look: &Look) -> String {
    let dim = Style::new().dimmed();
    let Comparison { a, b, metrics, gained, lost, cases } = comparison;
    let mut out = format!("{} → {}  {}\n\n", harmless(a), harmless(b), count(*cases, "case"));
    let heads = [a.as_str(), b, "difference"].map(|head| Cell::right(grid::fit(head, 28)).styled(dim));
    let mut rows = vec![[Cell::left("metric").styled(dim)].into_iter().chain(heads).collect::<Vec<_>>()];
    for row in metrics {
        // Less than half a thousandth either way is shown as nothing.
        let shown = |d: f64| if d.abs() < 0.0005 { "0.000".to_owned() } else { format!("{d:+.3}") };
        let difference = row.difference.map_or_else(|| "–".to_owned(), shown);
        rows.push(vec![
            Cell::left(title(&row.metric)),
            Cell::right(three(row.a)),
            Cell::right(three(row.b)),
            Cell::right(difference),
        ]);
    }
    out.push_str(&grid::draw(&rows, look.width, look.colour));
    for (side, moved) in [(b, gained), (a, lost)] {
        if moved.is_empty() {
            continue;
        }
        out.push_str(&format!("\nOnly {} finds ({})\n", harmless(side), moved.len()));
        for one in moved.iter().take(MOST_MOVED) {
            let line = format!("  {}: {}", harmless(&one.case), harmless(&one.title));
            out.push_str(&grid::fit(&line, look.width));
            out.push('\n');
        }
        if moved.len() > MOST_MOVED {
            out.push_str(&format!("  and {} more\n", moved.len() - MOST_MOVED));
        }
    }
    if gained.is_empty() && lost.is_empty() {
        out.push_str("\nBoth find the same goldens in most of their trials.\n");
    }
    out
}
