//! What it all cost.

use super::inconclusive;
use karat_format::gate::{DemandOutcomeV1, DemandV1};
use karat_format::report::{ReportV1, ToolV1};

/// What tools and judges cost together. What is not known is not 0.
pub(super) fn cost(report: &ReportV1, tools: &[&ToolV1], most: f64) -> DemandV1 {
    let (mut known, mut unknown) = (0.0, Vec::new());
    for tool in tools {
        match report.measured.cost.get(&tool.tool) {
            // Tokens without a price leave 0, which is no price either.
            Some(cost)
                if cost.n >= tool.trials && (cost.usd > 0.0 || cost.tokens_in.saturating_add(cost.tokens_out) == 0) =>
            {
                known += cost.usd;
            }
            Some(cost) => {
                known += cost.usd;
                unknown.push(tool.tool.as_str());
            }
            None => unknown.push(&tool.tool),
        }
    }
    for (judge, spent) in &report.measured.judges {
        match spent.usd {
            Some(usd) => known += usd,
            None if spent.requests > 0 => unknown.push(judge),
            None => {}
        }
    }
    let none = DemandV1 { value: Some(known), ..inconclusive(None, format!("cost ≤ {most} USD"), None) };
    let (outcome, why) = if known > most {
        (DemandOutcomeV1::Fails, format!("at least {known:.2} USD were spent"))
    } else if unknown.is_empty() {
        (DemandOutcomeV1::Holds, format!("{known:.2} USD"))
    } else {
        let who = unknown.join(", ");
        (DemandOutcomeV1::Inconclusive, format!("{known:.2} USD are known; not all trials of {who} report their cost"))
    };
    DemandV1 { outcome, why, ..none }
}
