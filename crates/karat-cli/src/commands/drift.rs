//! `karat drift`.

use crate::args::DriftArgs;
use crate::exit::{Exit, Result};
use crate::outputs::save;
use crate::terminal::{print_stderr, show};
use karat::suite::drift::{DriftRequest, drift_suite};
use karat_core::wording::count;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use karat_source::drift::{DriftOutcome, DriftStatus, Location};
use serde_json::{Value, json};

pub(crate) fn run(args: &DriftArgs) -> Result<Exit> {
    let report = drift_suite(&DriftRequest {
        suite: args.suite.clone(),
        repo: args.repo.clone(),
        prefix: args.prefix.clone(),
        from: args.from.clone(),
        to: args.to.clone(),
    })?;
    let outcomes = &report.outcomes;
    show(args.json, &outcomes.iter().map(as_json).collect::<Vec<_>>(), |look| table(outcomes, look))?;
    if args.write {
        for (path, text) in report.changed_files()? {
            save(&path, text.as_bytes())?;
            print_stderr(&format!("wrote {}", path.display()));
        }
    } else if outcomes.iter().any(|outcome| outcome.status.change().is_some()) {
        print_stderr("\nwrite the new locations to the suite's files with --write");
    }
    Ok(Exit::Ok)
}

fn words(outcome: &DriftOutcome) -> (&'static str, String) {
    let (word, mut text) = match &outcome.status {
        DriftStatus::Unchanged(place) => ("unchanged", location_text(place)),
        DriftStatus::Moved { from, to } => ("moved", format!("{} → {}", location_text(from), location_text(to))),
        DriftStatus::Edited { from, to } => {
            ("edited", format!("{} → {} (check it)", location_text(from), location_text(to)))
        }
        DriftStatus::Lost { reason } => ("lost", reason.clone()),
    };
    if outcome.anchor_in_doubt {
        text.push_str("; update its anchor from the scanner");
    }
    (word, text)
}

fn location_text(place: &Location) -> String {
    match place.lines {
        Some(lines) if lines.start == lines.end => format!("{}:{}", place.file, lines.start),
        Some(lines) => format!("{}:{}-{}", place.file, lines.start, lines.end),
        None => place.file.to_string(),
    }
}

fn table(outcomes: &[DriftOutcome], look: &TerminalStyle) -> String {
    let mut rows = Vec::new();
    for outcome in outcomes.iter().filter(|o| !matches!(o.status, DriftStatus::Unchanged(_))) {
        let (word, text) = words(outcome);
        rows.push(vec![Cell::left(format!("{} {}", outcome.case, outcome.golden)), Cell::left(word), Cell::left(text)]);
    }
    let total = |word| format!("{} {word}", outcomes.iter().filter(|o| words(o).0 == word).count());
    let totals = ["unchanged", "moved", "edited", "lost"].map(total).join(", ");
    format!("{}{}: {totals}\n", draw(&rows, look.width, look.colour), count(outcomes.len(), "golden"))
}

fn as_json(outcome: &DriftOutcome) -> Value {
    let place = |p: &Location| json!({ "file": p.file.as_str(), "line_start": p.lines.map(|l| l.start), "line_end": p.lines.map(|l| l.end) });
    let mut value = json!({ "case": outcome.case, "golden": outcome.golden, "status": words(outcome).0 });
    match &outcome.status {
        DriftStatus::Unchanged(at) => value["to"] = place(at),
        DriftStatus::Moved { from, to } | DriftStatus::Edited { from, to } => {
            value["from"] = place(from);
            value["to"] = place(to);
        }
        DriftStatus::Lost { reason } => value["reason"] = json!(reason),
    }
    value["anchor_in_doubt"] = json!(outcome.anchor_in_doubt);
    value
}
