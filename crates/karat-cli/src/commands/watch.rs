//! `karat run --watch`: rounds of a run, each with its leaderboard and what changed since the one before.

use super::run::{RunObserver, failure, start};
use crate::args::RunArgs;
use crate::exit::{Exit, Result};
use crate::outputs::{self, ReportOutput};
use crate::progress::Progress;
use crate::terminal::{most_shown, note, print, print_failure, print_stderr};
use karat::evaluate::{EvaluateError, GoldenChange, Round, RoundStart, ScoreChanges, WatchObserver};
use karat_core::wording::{count, first_few};
use karat_format::diagnostic::harmless;
use karat_report::number::{three, title};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &RunArgs, jobs: Option<usize>) -> Result<Exit> {
    let (request, mut observer) = start(args, jobs)?;
    karat::evaluate::watch(request, &args.output.outputs, &mut observer).map_err(|error| failure(error, args))?;
    Ok(Exit::Ok)
}

/// Changed goldens that are listed.
const MOST_GOLDENS: usize = 12;
/// Names of cases or tools that are listed.
const MOST_NAMES: usize = 5;

impl WatchObserver for RunObserver<'_> {
    fn begin(&mut self, start: &RoundStart) {
        self.progress = Progress::new();
        if start.number > 1 {
            print_stderr(&format!("\n{}", harmless(&describe_start(start))));
        }
    }

    fn done(&mut self, round: Round) -> Result<()> {
        let Round { number, mut evaluated, changes } = round;
        let facts = evaluated.run.take_facts();
        let run = &evaluated.run;
        let output = &self.args.output;
        outputs::write(ReportOutput::of_scoring(&evaluated.scoring, &run.loaded, Some(&facts)), output)?;
        if let Some(failure) = evaluated.failure() {
            print_failure(&failure);
        }
        if let Some(changes) = changes {
            let text = describe_changes(&changes);
            let is_table = !output.json && output.format.is_none();
            if is_table {
                print(&format!("\n{}\n", harmless_lines(&text)))?;
            } else {
                print_stderr(&harmless_lines(&text));
            }
        }
        let (short, place) = (&run.info.short_id, self.args.store.flag());
        print_stderr(&format!("round {number} is stored as run {short}: karat report {short}{place} -o report.html"));
        Ok(())
    }

    fn failed(&mut self, error: EvaluateError) {
        print_failure(&failure(error, self.args));
    }

    fn restored(&mut self) {
        note("everything is again as it was in the last round");
    }

    fn waiting(&mut self, watched: &[PathBuf]) {
        let here = std::env::current_dir().and_then(|here| here.canonicalize()).ok();
        let shown = |path: &PathBuf| match here.as_deref().and_then(|here| path.strip_prefix(here).ok()) {
            Some(inner) if inner == Path::new("") => "this folder".to_owned(),
            Some(inner) => inner.display().to_string(),
            None => path.display().to_string(),
        };
        let watched: Vec<String> = watched.iter().map(shown).collect();
        print_stderr(&harmless(&format!("watching {}; Ctrl-C ends it", first_few(&watched, most_shown(MOST_NAMES)))));
    }
}

fn harmless_lines(text: &str) -> String {
    text.lines().map(harmless).collect::<Vec<_>>().join("\n")
}

fn describe_start(start: &RoundStart) -> String {
    let parts = [
        ("changed", "case", &start.changed_cases),
        ("changed", "tool", &start.changed_tools),
        ("removed", "case", &start.removed_cases),
        ("removed", "tool", &start.removed_tools),
    ];
    let parts = parts.into_iter().filter(|(.., names)| !names.is_empty());
    let mut why: Vec<String> = parts
        .map(|(how, noun, names)| {
            format!("{} {how} ({})", count(names.len(), noun), first_few(names, most_shown(MOST_NAMES)))
        })
        .collect();
    if why.is_empty() {
        why.push("only goldens or rules changed".to_owned());
    }
    let executed = start.trials.saturating_sub(start.taken_over);
    let (number, why) = (start.number, why.join(", "));
    format!("round {number}: {why}; runs {executed} of {} again", count(start.trials, "trial"))
}

fn describe_changes(changes: &ScoreChanges) -> String {
    let since = changes.since;
    if changes.is_empty() {
        return format!("No score changed since round {since}.");
    }
    let mut lines = vec![format!("Since round {since}:")];
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
    let most = most_shown(MOST_GOLDENS);
    lines.extend(changes.goldens.iter().take(most).map(|change| format!("  {}", describe_golden(change))));
    if changes.goldens.len() > most {
        lines.push(format!("  and {} with -v", count(changes.goldens.len() - most, "more change")));
    }
    lines.join("\n")
}

fn describe_golden(change: &GoldenChange) -> String {
    let GoldenChange { tool, case, golden, before, after } = change;
    let state = |(found, all): (usize, usize)| match found {
        _ if found == all => "found".to_owned(),
        0 => "missed".to_owned(),
        _ => format!("found in {found} of {}", count(all, "trial")),
    };
    let now = state(*after);
    match before {
        None => format!("case {case}: new golden {golden} {now} by {tool}"),
        Some(before) => format!("case {case}: {golden} now {now} by {tool} (before: {})", state(*before)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat::evaluate::ToolChange;

    #[test]
    fn rounds_say_why_they_are_run() {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let start = RoundStart { number: 2, trials: 12, taken_over: 12, ..RoundStart::default() };
        assert_eq!(describe_start(&start), "round 2: only goldens or rules changed; runs 0 of 12 trials again");
        let start = RoundStart {
            number: 3,
            changed_cases: names(&["a", "b", "c", "d", "e", "f", "g"]),
            removed_tools: names(&["x"]),
            trials: 12,
            taken_over: 5,
            ..RoundStart::default()
        };
        let expected =
            "round 3: 7 cases changed (a, b, c, d, e and 2 more), 1 tool removed (x); runs 7 of 12 trials again";
        assert_eq!(describe_start(&start), expected);
    }

    #[test]
    fn changes_are_told_by_tool_and_golden() {
        let golden = |golden: &str, before, after| GoldenChange {
            tool: "patterns".to_owned(),
            case: "x".to_owned(),
            golden: golden.to_owned(),
            before,
            after,
        };
        let mut changes = ScoreChanges { since: 1, metric: "f1".to_owned(), ..ScoreChanges::default() };
        assert_eq!(describe_changes(&changes), "No score changed since round 1.");
        let value = [Some(0.225), Some(0.31)];
        changes.tools = vec![ToolChange { tool: "patterns".to_owned(), value, false_positives: [4, 2] }];
        changes.goldens =
            vec![golden("g", Some((0, 2)), (2, 2)), golden("h", Some((2, 2)), (1, 2)), golden("new", None, (0, 2))];
        let expected = "\
Since round 1:
  F1 of patterns 0.225 → 0.310; false positives of patterns 4 → 2
  case x: g now found by patterns (before: missed)
  case x: h now found in 1 of 2 trials by patterns (before: found)
  case x: new golden new missed by patterns";
        assert_eq!(describe_changes(&changes), expected);
    }
}
