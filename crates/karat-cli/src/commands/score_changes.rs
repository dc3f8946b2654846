//! What changed in the scores since an earlier report, as text.

use crate::args::OutputArgs;
use crate::exit::Result;
use crate::terminal::{most_shown, print, print_stderr};
use karat::score_changes::{Found, GoldenChange, ScoreChanges};
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_report::number::{three, title};

/// Changed goldens that are listed.
const MAX_GOLDENS: usize = 12;

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
    let metric = title(&changes.metric);
    for change in &changes.tools {
        let [before, after] = change.value.map(three);
        let mut parts = Vec::new();
        if before != after {
            parts.push(format!("{metric} of {} {before} → {after}", change.tool));
        }
        let [before, after] = change.false_positives;
        if before != after {
            parts.push(format!("false positives of {} {before} → {after}", change.tool));
        }
        if !parts.is_empty() {
            lines.push(format!("  {}", parts.join("; ")));
        }
    }
    let most = most_shown(MAX_GOLDENS);
    lines.extend(changes.goldens.iter().take(most).map(|change| format!("  {}", describe_golden(change))));
    if changes.goldens.len() > most {
        lines.push(format!("  and {} with -v", count(changes.goldens.len() - most, "more change")));
    }
    lines.join("\n")
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
    use karat::score_changes::ToolChange;

    #[test]
    fn changes_are_told_by_tool_and_golden() {
        let golden = |golden: &str, before, after| GoldenChange {
            tool: "patterns".to_owned(),
            case: "x".to_owned(),
            golden: golden.to_owned(),
            before,
            after,
        };
        let mut changes =
            ScoreChanges { since: "round 1".to_owned(), metric: "f1".to_owned(), ..ScoreChanges::default() };
        assert_eq!(describe_changes(&changes), "No score changed since round 1.");
        let value = [Some(0.225), Some(0.31)];
        changes.tools = vec![ToolChange { tool: "patterns".to_owned(), value, false_positives: [4, 2] }];
        changes.goldens = vec![
            golden("g", Some((0, 2)), Some((2, 2))),
            golden("h", Some((2, 2)), Some((1, 2))),
            golden("new", None, Some((0, 2))),
            golden("old", Some((1, 2)), None),
        ];
        let expected = "\
Since round 1:
  F1 of patterns 0.225 → 0.310; false positives of patterns 4 → 2
  case x: g now found by patterns (before: missed)
  case x: h now found in 1 of 2 trials by patterns (before: found)
  case x: new golden new missed by patterns
  case x: old no longer to be found by patterns (before: found in 1 of 2 trials)";
        assert_eq!(describe_changes(&changes), expected);
    }
}
