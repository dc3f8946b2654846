//! Tools in order, and which neighbours the data cannot tell apart.

use super::{Request, compare};
use crate::comparison::{Refusal, Side, measure};
use crate::format::comparison::{ComparisonV1, ConclusionV1, DifferenceV1, RankedV1, RanksV1};
use crate::format::report::{ReportV1, ToolV1};
use crate::report::number::{goodness, headline};
use karat_core::comparison::undecided;

/// Orders tools of a report by a metric, and tests every tool against the next.
pub fn ranks(report: &ReportV1, tools: &[&ToolV1], id: &str, request: &Request<'_>) -> Result<ComparisonV1, Refusal> {
    let mut tools: Vec<&ToolV1> = tools.to_vec();
    let estimate = |tool: &ToolV1| headline(report, tool).get(id).cloned();
    tools.sort_by(|a, b| {
        let (x, y) = (estimate(a).as_ref().and_then(goodness), estimate(b).as_ref().and_then(goodness));
        let by_value = match (x, y) {
            (Some(x), Some(y)) => y.total_cmp(&x),
            (x, y) => y.is_some().cmp(&x.is_some()),
        };
        by_value.then_with(|| a.tool.cmp(&b.tool))
    });
    let sides: Vec<Side> = tools.iter().map(|tool| Side::of_report(report, tool, &tool.tool)).collect();
    let neighbours: Vec<(&Side, &Side)> = sides.iter().zip(sides.iter().skip(1)).collect();
    let metrics = [id.to_owned()];
    let mut compared = compare(&neighbours, &Request { metrics: &metrics, ..*request })?;
    let pairs = std::mem::take(&mut compared.comparisons);
    let next: Vec<DifferenceV1> = pairs.into_iter().filter_map(|pair| pair.metrics.into_iter().next()).collect();
    let apart = |d: &DifferenceV1| matches!(d.verdict, ConclusionV1::Better | ConclusionV1::Worse);
    let undecided = undecided(&next.iter().map(apart).collect::<Vec<_>>());
    let mut next = next.into_iter();
    let ranked = |(at, tool): (usize, &&ToolV1)| {
        let estimate = estimate(tool);
        RankedV1 {
            rank: at + 1,
            tool: tool.tool.clone(),
            value: estimate.as_ref().and_then(|e| e.value),
            ci: estimate.as_ref().and_then(|e| e.ci),
            n: estimate.map_or(0, |e| e.n),
            next: next.next(),
        }
    };
    let ranked = tools.iter().enumerate().map(ranked).collect();
    compared.ranks = Some(RanksV1 {
        metric: id.to_owned(),
        direction: measure::direction(id),
        tools: ranked,
        statement: statement(&undecided),
        undecided: undecided.into_iter().map(|(first, last)| [first, last]).collect(),
    });
    Ok(compared)
}

/// What the ranks come to, in a sentence.
fn statement(undecided: &[(usize, usize)]) -> String {
    let stretches: Vec<String> = undecided.iter().map(|(first, last)| format!("{first}–{last}")).collect();
    let list = match stretches.as_slice() {
        [] => return "Every tool is told apart from the next.".to_owned(),
        [one] => one.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    };
    // In a long stretch every step is too small to be seen, but the way from its first tool to its last may not be.
    if undecided.iter().any(|(first, last)| last - first > 1) {
        return format!(
            "Ranks {list} cannot be told apart from one to the next; tools further apart may be (karat compare --all-pairs)."
        );
    }
    format!("Ranks {list} cannot be told apart.")
}
