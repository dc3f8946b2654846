//! Number formatting and ranking for reports. Reports keep numbers unrounded.

use karat_core::metric::estimate::RELIABLE_N;
use karat_core::metric::table::{self, Direction};
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::comparison::{DifferenceV1, RankedV1};
use karat_format::report::{EstimateV1, MetricsV1, ReportV1, ToolV1};
use std::cmp::Ordering;

/// Formats with `count` decimals: no sign if it rounds to zero, and equal text whatever the order of summation.
pub fn decimals(value: f64, count: usize) -> String {
    let value = if value.abs() < 1e6 { (value * 1e9).round() / 1e9 } else { value };
    let text = format!("{value:.count$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|byte| matches!(byte, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

pub(crate) fn at_most(value: f64, count: usize) -> String {
    let text = format!("{value:.count$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The text, or a dash if undefined.
pub fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// Three decimals, or a dash if undefined.
pub fn three(value: Option<f64>) -> String {
    or_dash(value.map(|v| decimals(v, 3)))
}

/// Three decimals with a sign, or a dash; no sign if it rounds to zero.
pub fn signed(value: Option<f64>) -> String {
    match value {
        None => or_dash(None),
        Some(v) if v.abs() < 0.0005 => "0.000".to_owned(),
        Some(v) => format!("{v:+.3}").replacen('-', "−", 1),
    }
}

/// A difference of shares in percentage points, with its sign and one decimal.
pub fn signed_points(value: f64) -> String {
    match 100.0 * value {
        points if points.abs() < 0.05 => "0.0".to_owned(),
        points => format!("{points:+.1}").replacen('-', "−", 1),
    }
}

/// A p-value with three decimals, never 0.
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => or_dash(None),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// What cannot be excluded of a metric that is the same in every case. `unit` is what its units are called.
pub fn unseen(one: &DifferenceV1, unit: &str) -> Option<String> {
    let percent = 100.0 * one.unseen?;
    Some(format!("n = {}: up to {percent:.1} % of {unit}s could differ", one.units))
}

/// An interval in two decimals, as short as possible: `.65–.88`; a dash if undefined.
pub fn span(ci: Option<[f64; 2]>) -> String {
    let end = |v: f64| {
        let text = decimals(v, 2);
        match text.as_str() {
            "1.00" => "1".to_owned(),
            "0.00" => "0".to_owned(),
            _ => text.replacen("0.", ".", usize::from(v.abs() < 1.0)),
        }
    };
    or_dash(ci.map(|[low, high]| format!("{}–{}", end(low), end(high))))
}

pub(crate) fn interval(ci: Option<[f64; 2]>, show: fn(Option<f64>) -> String) -> String {
    or_dash(ci.map(|[low, high]| format!("{} … {}", show(Some(low)), show(Some(high)))))
}

/// A threshold on the confidence or severity of findings; severities are numbered from 1.
pub(crate) fn threshold(by: &str, value: f64) -> String {
    match by {
        "severity" => SEVERITIES[(value as usize).clamp(1, 5) - 1].to_owned(),
        _ => value.to_string(),
    }
}

pub(crate) const SEVERITIES: [&str; 5] = ["info", "low", "medium", "high", "critical"];

/// A metric's title, or its id if unknown.
pub fn title(id: &str) -> &str {
    table::find(id).map_or(id, |metric| metric.title)
}

/// The headline metrics: of the whole suite, or the mean over a slice's values.
pub fn headline<'r>(report: &ReportV1, tool: &'r ToolV1) -> &'r MetricsV1 {
    let by = report.profile.headline_macro_by.as_ref().and_then(|dimension| tool.macro_by.get(dimension));
    by.unwrap_or(&tool.metrics)
}

/// The estimate of a metric: from the headline if it is there, else of the whole suite.
pub fn stated<'r>(report: &ReportV1, tool: &'r ToolV1, id: &str) -> Option<&'r EstimateV1> {
    headline(report, tool).get(id).or_else(|| tool.metrics.get(id))
}

/// The metric that ranks tools: F1 if the profile shows it, else the first it shows.
pub fn rank_metric(report: &ReportV1) -> &str {
    let shown = &report.profile.headline;
    shown.iter().find(|id| *id == "f1").or(shown.first()).map_or("f1", String::as_str)
}

/// Tools from best to worst by the ranking metric; undefined last, ties by name.
pub fn ranked(report: &ReportV1) -> Vec<&ToolV1> {
    let id = rank_metric(report);
    let mut tools: Vec<&ToolV1> = report.tools.iter().collect();
    let key = |tool: &ToolV1| headline(report, tool).get(id).and_then(goodness);
    tools.sort_by(|a, b| best_first(key(a), key(b)).then_with(|| a.tool.cmp(&b.tool)));
    tools
}

pub(crate) fn best_first(a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}

/// The smallest number of cases behind a value of the ranking metric, if it is too small to rely on.
pub(crate) fn too_few_cases(report: &ReportV1) -> Option<usize> {
    let estimates = report.tools.iter().filter_map(|tool| headline(report, tool).get(rank_metric(report)));
    let with_value = estimates.filter(|estimate| estimate.value.is_some());
    with_value.map(|estimate| estimate.n).min().filter(|n| *n < RELIABLE_N)
}

/// The value with its sign flipped if lower is better.
pub fn goodness(estimate: &EstimateV1) -> Option<f64> {
    estimate.value.map(|v| if estimate.direction == Direction::Down { -v } else { v })
}

/// Whether no other tool is better; `false` for a single tool.
pub fn is_best(report: &ReportV1, tool: &ToolV1, id: &str) -> bool {
    let value = |tool: &ToolV1| headline(report, tool).get(id).and_then(goodness);
    let Some(own) = value(tool) else { return false };
    let all = || report.tools.iter().filter_map(value);
    // If all are equal, none is best.
    all().all(|v| v <= own) && all().any(|v| v < own)
}

/// One sentence about the best tools; `None` with one tool or without rank sets.
pub fn statement(report: &ReportV1) -> Option<&str> {
    let ranking = report.ranking.as_ref()?;
    let is_stated = ranking.tools.iter().any(|tool| tool.rank_low.is_some()) && !report.is_failed();
    is_stated.then_some(ranking.statement.as_str())
}

/// The result in words, such as `careful leads, F1 0.82; noisy and patterns are tied`; `None` without any value.
pub fn headline_sentence(report: &ReportV1) -> Option<String> {
    if report.is_failed() {
        return None;
    }
    let metric = title(rank_metric(report));
    let shown = |value: f64| decimals(value, 2);
    let own = |tool: &ToolV1| headline(report, tool).get(rank_metric(report)).and_then(|estimate| estimate.value);
    let tools = ranked(report);
    let (best, value) = tools.iter().find_map(|tool| Some((&tool.tool, own(tool)?)))?;
    let Some(ranking) = report.ranking.as_ref().filter(|ranking| ranking.pairs.iter().any(|pair| pair.p.is_some()))
    else {
        return Some(match tools.len() {
            1 => format!("{best}: {metric} {}", shown(value)),
            _ => format!("{best} has the best {metric}, {}; no two tools could be tested", shown(value)),
        });
    };
    let placed: Vec<(&str, usize, f64)> =
        ranking.tools.iter().filter_map(|tool| Some((tool.tool.as_str(), tool.rank_low?, tool.value?))).collect();
    // As many tools are significantly better than each of these, so none of them is better than another.
    let group = |low: usize| placed.iter().filter(move |(_, own, _)| *own == low).collect::<Vec<_>>();
    let names = |group: &[&(&str, usize, f64)]| listed(&group.iter().map(|(name, ..)| *name).collect::<Vec<_>>());
    let leaders = group(1);
    let first = match leaders.as_slice() {
        [] => return Some(format!("{best} has the best {metric}, {}, but no tool leads", shown(value))),
        [(name, _, value)] => format!("{name} leads, {metric} {}", shown(*value)),
        all => {
            let values = || all.iter().map(|(.., value)| *value);
            let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
            let range = match (shown(low), shown(high)) {
                (low, high) if low == high => low,
                (low, high) => format!("{low} to {high}"),
            };
            let who = match all.len() {
                n if n == placed.len() && n > 3 => format!("All {} are tied", count(n, "tool")),
                n if n == placed.len() => format!("{} are tied", names(all)),
                _ => format!("{} are tied for the lead", names(all)),
            };
            format!("{who}, {metric} {range}")
        }
    };
    let next = placed.iter().map(|(_, low, _)| *low).filter(|low| *low > 1).min().map(group).unwrap_or_default();
    Some(match next.as_slice() {
        [] => first,
        [(name, _, value)] => format!("{first}; {name} follows with {}", shown(*value)),
        all => format!("{first}; {} are tied", names(all)),
    })
}

/// `a`, `a and b`, `a, b and c`, `a, b, c and 2 more`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [some @ .., last] if some.len() < 3 => format!("{} and {last}", some.join(", ")),
        [a, b, c, rest @ ..] => format!("{a}, {b}, {c} and {} more", rest.len()),
        _ => names.join(", "),
    }
}

/// The possible ranks of a tool: `2` or `1–3`; `None` if it is the only one or undefined.
pub fn rank_of(report: &ReportV1, tool: &str) -> Option<String> {
    report.ranking.as_ref()?.tools.iter().find(|ranked| ranked.tool == tool).and_then(rank_set)
}

/// The possible ranks of a ranked tool.
pub fn rank_set(ranked: &RankedV1) -> Option<String> {
    let (low, high) = ranked.rank_low.zip(ranked.rank_high)?;
    Some(if low == high { low.to_string() } else { format!("{low}–{high}") })
}

/// Which tools were not run, but repeated from a recording, such as `recorded, not run: slither 2026-11-05`; `None` if all were run.
pub fn recorded_sentence(report: &ReportV1) -> Option<String> {
    let recorded = |tool: &ToolV1| {
        let day = tool.recorded.as_ref()?.on.as_ref().map(|day| format!(" {day}")).unwrap_or_default();
        Some(format!("{}{day}", tool.tool))
    };
    let all: Vec<String> = report.tools.iter().filter_map(recorded).collect();
    (!all.is_empty()).then(|| format!("recorded, not run: {}", all.join(", ")))
}

/// The number of trials without a report, outages left out.
pub fn failed_trials(tool: &ToolV1) -> usize {
    let failed = |outcome: Outcome| !matches!(outcome, Outcome::Reported | Outcome::Unavailable);
    tool.outcomes.iter().filter(|(outcome, _)| failed(**outcome)).map(|(_, n)| n).sum()
}

/// The number of trials that could fail: all but outages.
pub fn tried(tool: &ToolV1) -> usize {
    tool.trials.saturating_sub(tool.unavailable())
}

/// A sum of which only a part is known, as the least that it can be.
pub(crate) fn at_least(is_lower_bound: bool, text: &str) -> String {
    if is_lower_bound { format!("≥ {text}") } else { text.to_owned() }
}

/// What a failed report says in place of a result; `None` if any trial came to a report.
pub fn failed_sentence(report: &ReportV1) -> Option<String> {
    report.is_failed().then(|| none_reported(&report.tools))
}

/// How the trials of tools ended of which none came to a report.
pub(crate) fn none_reported(tools: &[ToolV1]) -> String {
    let all: usize = tools.iter().map(|tool| tool.trials).sum();
    let outcome = |outcome: Outcome| {
        let n: usize = tools.iter().filter_map(|tool| tool.outcomes.get(&outcome)).sum();
        (n > 0).then(|| format!("{n} {}", outcome.words()))
    };
    let outcomes: Vec<String> = Outcome::ALL.into_iter().filter_map(outcome).collect();
    format!("None of {} came to a report: {}.", count(all, "trial"), outcomes.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_has_no_sign() {
        for (value, shown) in
            [(-0.0, "0.000"), (-0.0004, "0.000"), (-0.0006, "-0.001"), (0.0, "0.000"), (-1.5, "-1.500")]
        {
            assert_eq!(three(Some(value)), shown, "{value}");
        }
        assert_eq!(span(Some([-0.0, -0.001])), "0–0");
        assert_eq!(signed(Some(-0.0)), "0.000");
    }

    #[test]
    fn numbers_are_formatted_consistently() {
        assert_eq!([0.5, 1.0, 0.1234, 20.0].map(|value| at_most(value, 3)).join(" "), "0.5 1 0.123 20");
        assert_eq!(interval(Some([-0.25, 0.5]), signed), "−0.250 … +0.500");
        assert_eq!([interval(None, three), or_dash(None), three(None), span(None)].concat(), "––––");
        assert_eq!([threshold("severity", 4.0), threshold("severity", 9.0)].join(" "), "high critical");
        assert_eq!(threshold("confidence", 0.85), "0.85");
    }

    #[test]
    fn long_lists_of_names_are_cut() {
        let names = ["a", "b", "c", "d", "e"];
        let lists: Vec<String> = (0..=5).map(|n| listed(&names[..n])).collect();
        assert_eq!(lists, ["", "a", "a and b", "a, b and c", "a, b, c and 1 more", "a, b, c and 2 more"]);
    }

    #[test]
    fn tools_without_a_value_are_sorted_last() {
        let mut values = [None, Some(0.2), Some(0.9)];
        values.sort_by(|a, b| best_first(*a, *b));
        assert_eq!(values, [Some(0.9), Some(0.2), None]);
    }
}
