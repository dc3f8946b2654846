//! Numbers as people read them. Reports keep them unrounded.

use crate::format::comparison::RankedV1;
use crate::format::report::{EstimateV1, MetricsV1, ReportV1, ToolV1};
use karat_core::metric::table::{self, Direction};

/// So many decimals; what rounds to nothing has no sign, and figures that differ in the order of their sum look alike.
pub fn decimals(value: f64, count: usize) -> String {
    let value = if value.abs() < 1e6 { (value * 1e9).round() / 1e9 } else { value };
    let text = format!("{value:.count$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// Three decimals, or a dash for what has no value.
pub fn three(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |v| decimals(v, 3))
}

/// Three decimals with a sign, or a dash; less than half a thousandth either way is shown as nothing.
pub fn signed(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(v) if v.abs() < 0.0005 => "0.000".to_owned(),
        Some(v) => format!("{v:+.3}").replacen('-', "−", 1),
    }
}

/// A p value with three decimals, never 0.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => "–".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Both ends of an interval in two decimals, as short as they can be: `.65–.88`; a dash where there is none.
pub fn span(ci: Option<[f64; 2]>) -> String {
    let end = |v: f64| {
        let text = decimals(v, 2);
        match text.as_str() {
            "1.00" => "1".to_owned(),
            "0.00" => "0".to_owned(),
            _ => text.replacen("0.", ".", usize::from(v.abs() < 1.0)),
        }
    };
    ci.map_or_else(|| "–".to_owned(), |[low, high]| format!("{}–{}", end(low), end(high)))
}

/// A metric's title, or its id where it is not in the table.
pub fn title(id: &str) -> &str {
    table::find(id).map_or(id, |metric| metric.title)
}

/// The metrics the profile puts first: of the whole suite, or the mean over a slice's values.
pub fn headline<'r>(report: &ReportV1, tool: &'r ToolV1) -> &'r MetricsV1 {
    let by = report.profile.headline_macro_by.as_ref().and_then(|dimension| tool.macro_by.get(dimension));
    by.unwrap_or(&tool.metrics)
}

/// What a report states of a metric, wherever it is shown: what comes first where it is shown there, else that of the whole suite.
pub fn stated<'r>(report: &ReportV1, tool: &'r ToolV1, id: &str) -> Option<&'r EstimateV1> {
    headline(report, tool).get(id).or_else(|| tool.metrics.get(id))
}

/// The metric tools are ranked by: F1 where the profile shows it, else the first it shows.
pub fn rank_metric(report: &ReportV1) -> &str {
    let shown = &report.profile.headline;
    shown.iter().find(|id| *id == "f1").or(shown.first()).map_or("f1", String::as_str)
}

/// Tools from best to worst by the ranking metric; undefined ones last, equal ones by name.
pub fn ranked(report: &ReportV1) -> Vec<&ToolV1> {
    let id = rank_metric(report);
    let mut tools: Vec<&ToolV1> = report.tools.iter().collect();
    tools.sort_by(|a, b| {
        let key = |tool: &ToolV1| headline(report, tool).get(id).and_then(goodness);
        let (a_key, b_key) = (key(a), key(b));
        let by_value = match (a_key, b_key) {
            (Some(x), Some(y)) => y.total_cmp(&x),
            (x, y) => y.is_some().cmp(&x.is_some()),
        };
        by_value.then_with(|| a.tool.cmp(&b.tool))
    });
    tools
}

/// The value turned so that more is better.
pub fn goodness(estimate: &EstimateV1) -> Option<f64> {
    estimate.value.map(|v| if estimate.direction == Direction::Down { -v } else { v })
}

/// Whether no other tool has a better value; with one tool nothing is best.
pub fn is_best(report: &ReportV1, tool: &ToolV1, id: &str) -> bool {
    let value = |tool: &ToolV1| headline(report, tool).get(id).and_then(goodness);
    let Some(own) = value(tool) else { return false };
    let all = || report.tools.iter().filter_map(value);
    // Where all are equal, none is better than another.
    all().all(|v| v <= own) && all().any(|v| v < own)
}

/// What is known of the best tools, in a sentence; nothing with one tool, or where a report states no sets of ranks.
pub fn statement(report: &ReportV1) -> Option<&str> {
    let ranking = report.ranking.as_ref()?;
    let is_stated = ranking.tools.iter().any(|tool| tool.rank_low.is_some());
    is_stated.then_some(ranking.statement.as_str())
}

/// The ranks that a tool may have: `2`, or `1–3`; nothing where it is the only one or has no value.
pub fn rank_of(report: &ReportV1, tool: &str) -> Option<String> {
    report.ranking.as_ref()?.tools.iter().find(|ranked| ranked.tool == tool).and_then(rank_set)
}

/// The ranks that a ranked tool may have.
pub fn rank_set(ranked: &RankedV1) -> Option<String> {
    let (low, high) = ranked.rank_low.zip(ranked.rank_high)?;
    Some(if low == high { low.to_string() } else { format!("{low}–{high}") })
}

pub use karat_core::wording::count;

/// Trials that did not end in a report.
pub fn failed_trials(tool: &ToolV1) -> usize {
    tool.outcomes.iter().filter(|(outcome, _)| **outcome != karat_core::trial::Outcome::Reported).map(|(_, n)| n).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_has_no_sign() {
        for (value, shown) in
            [(-0.0, "0.000"), (-0.0004, "0.000"), (-0.0006, "-0.001"), (0.0, "0.000"), (-1.5, "-1.500")]
        {
            assert_eq!(three(Some(value)), shown, "{value}");
        }
        assert_eq!(span(Some([-0.0, -0.001])), "0–0");
        assert_eq!(signed(Some(-0.0)), "0.000");
    }
}
