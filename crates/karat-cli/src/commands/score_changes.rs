//! What changed in the scores since an earlier report, as text.

use crate::args::OutputArgs;
use crate::exit::Result;
use crate::terminal::{most_shown, print, print_stderr};
use karat::score_changes::{Found, GoldenChange, MetricChange, ScoreChanges, ToolChange};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::number::{decimals, listed, or_dash, title};

/// Changed goldens that are listed.
const MAX_GOLDENS: usize = 12;

/// Changed metrics of a tool that are listed beside the first.
const MAX_METRICS: usize = METRICS_A_LINE;
const METRICS_A_LINE: usize = 3;

/// Prints them below the table, or on standard error beside another format.
pub(super) fn print_changes(changes: &ScoreChanges, output: &OutputArgs) -> Result<()> {
    let text = describe_changes(changes).lines().map(harmless).collect::<Vec<_>>().join("\n");
    if !output.json && output.format.is_none() {
        print(&format!("\n{text}\n"))?;
    } else {
        print_stderr(&text);
    }
    Ok(())
}

fn describe_changes(changes: &ScoreChanges) -> String {
    let since = &changes.since;
    if changes.is_empty() {
        return format!("No score changed since {since}.");
    }
    let mut lines = vec![format!("Since {since}:")];
    lines.extend(changes.tools.iter().map(describe_tool));
    let most = most_shown(MAX_GOLDENS);
    lines.extend(changes.goldens.iter().take(most).map(|change| format!("  {}", describe_golden(change))));
    if changes.goldens.len() > most {
        lines.push(format!("  and {} with -v", count(changes.goldens.len() - most, "more change")));
    }
    lines.join("\n")
}

fn describe_tool(change: &ToolChange) -> String {
    let ToolChange { tool, metrics, false_positives: [before, after], slices } = change;
    let mut parts = Vec::new();
    if let Some(MetricChange { metric, value }) = metrics.first() {
        parts.push(format!("{} of {tool} {}", title(metric), before_and_after(*value)));
    }
    if before != after {
        parts.push(format!("false positives of {tool} {before} → {after}"));
    }
    // Parts of the suite nearly always change with the whole.
    if parts.is_empty() {
        let slices: Vec<&str> = slices.iter().map(String::as_str).collect();
        parts.push(format!("only figures by {} of {tool}", listed(&slices)));
    }
    let mut text = format!("  {}", parts.join("; "));
    let others = metrics.get(1..).unwrap_or_default();
    let (shown, hidden) = others.split_at(others.len().min(most_shown(MAX_METRICS)));
    for (at, line) in shown.chunks(METRICS_A_LINE).enumerate() {
        let metrics: Vec<String> = line
            .iter()
            .map(|MetricChange { metric, value }| format!("{} {}", title(metric), before_and_after(*value)))
            .collect();
        text += if at == 0 { "\n    also " } else { ",\n         " };
        text += &metrics.join(", ");
    }
    if !hidden.is_empty() {
        text += &format!(", and {} with -v", count(hidden.len(), "more metric"));
    }
    text
}

/// Such as `0.225 → 0.310`, with as many decimals as it takes to see a difference.
fn before_and_after(value: [Option<f64>; 2]) -> String {
    let texts = |digits: usize| value.map(|one| or_dash(one.map(|one| decimals(one, digits))));
    let [before, after] = (3..9).map(texts).find(|[before, after]| before != after).unwrap_or_else(|| texts(9));
    format!("{before} → {after}")
}

fn describe_golden(change: &GoldenChange) -> String {
    let GoldenChange { tool, case, golden, before, after } = change;
    let state = |(found, all): Found| match found {
        _ if found == all => "found".to_owned(),
        0 => "missed".to_owned(),
        _ => format!("found in {found} of {}", count(all, "trial")),
    };
    match (before.map(state), after.map(state)) {
        (None, Some(now)) => format!("case {case}: new golden {golden} {now} by {tool}"),
        (Some(then), Some(now)) => format!("case {case}: {golden} now {now} by {tool} (before: {then})"),
        (Some(then), None) => format!("case {case}: {golden} no longer to be found by {tool} (before: {then})"),
        (None, None) => format!("case {case}: {golden}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_told_by_tool_and_golden() {
        let golden = |golden: &str, before, after| GoldenChange {
            tool: "patterns".to_owned(),
            case: "x".to_owned(),
            golden: golden.to_owned(),
            before,
            after,
        };
        let mut changes = ScoreChanges { since: "round 1".to_owned(), ..ScoreChanges::default() };
        assert_eq!(describe_changes(&changes), "No score changed since round 1.");
        let tool = |tool: &str, metrics: &[(&str, [Option<f64>; 2])], false_positives| ToolChange {
            tool: tool.to_owned(),
            metrics: metrics
                .iter()
                .map(|(id, value)| MetricChange { metric: (*id).to_owned(), value: *value })
                .collect(),
            false_positives,
            slices: vec!["language".to_owned(), "severity".to_owned()],
        };
        let half = [Some(0.5), Some(1.0)];
        changes.tools = vec![
            tool("patterns", &[("f1", [Some(0.225), Some(0.31)])], [4, 2]),
            tool("scanner", &[("recall", [Some(0.5), Some(0.50001)]), ("ece", [None, Some(0.25)])], [1, 1]),
            tool(
                "other",
                &[("f1", half), ("f2", half), ("recall", half), ("tpr", half), ("fpr", half), ("fnr", half)],
                [0, 0],
            ),
            tool("noisy", &[], [1, 0]),
            tool("quiet", &[], [0, 0]),
        ];
        changes.goldens = vec![
            golden("g", Some((0, 2)), Some((2, 2))),
            golden("h", Some((2, 2)), Some((1, 2))),
            golden("new", None, Some((0, 2))),
            golden("old", Some((1, 2)), None),
        ];
        let expected = "\
Since round 1:
  F1 of patterns 0.225 → 0.310; false positives of patterns 4 → 2
  recall of scanner 0.50000 → 0.50001
    also ECE – → 0.250
  F1 of other 0.500 → 1.000
    also F2 0.500 → 1.000, recall 0.500 → 1.000, TPR 0.500 → 1.000, and 2 more metrics with -v
  false positives of noisy 1 → 0
  only figures by language and severity of quiet
  case x: g now found by patterns (before: missed)
  case x: h now found in 1 of 2 trials by patterns (before: found)
  case x: new golden new missed by patterns
  case x: old no longer to be found by patterns (before: found in 1 of 2 trials)";
        assert_eq!(describe_changes(&changes), expected);
    }
}
