//! `karat drift`.

use crate::args::DriftArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{save, show};
use crate::terminal::tell;
use karat::submissions::load_suite;
use karat::suite::LoadedSuite;
use karat::suite::edit::{Edit, apply};
use karat_core::identity::key;
use karat_core::path::RepoPath;
use karat_io::files::Files;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use karat_source::drift::{DriftInput, DriftOutcome, DriftStatus, Location, drift};
use karat_source::git::Repository;
use serde_json::json;

pub(crate) fn run(args: &DriftArgs) -> Result<Exit, Failure> {
    let loaded = load_suite(&args.suite)?;
    let failed = |error: karat_source::git::GitError| Failure::bad_input(error.to_string());
    let repository = Repository::open(&args.repo).map_err(failed)?;
    let prefix = args.prefix.as_deref().and_then(RepoPath::new);
    let goldens: Vec<DriftInput> = loaded
        .suite
        .cases
        .iter()
        .flat_map(|case| case.goldens.iter().map(move |golden| (case, golden)))
        .map(|(case, golden)| DriftInput {
            case: case.id.clone(),
            golden: golden.id.clone(),
            file: golden.file.clone(),
            lines: golden.lines,
            anchor: golden.anchor.clone(),
        })
        .collect();
    let outcomes = drift(&repository, &args.from, &args.to, prefix.as_ref(), &goldens).map_err(failed)?;
    let list: Vec<_> = outcomes.iter().map(as_json).collect();
    show(args.json, &list, |look| table(&outcomes, look))?;
    if args.write {
        write(&loaded, &outcomes)?;
    } else if outcomes.iter().any(|o| moved(&o.status).is_some()) {
        tell("\nwrite the new locations to the suite's files with --write");
    }
    Ok(Exit::Ok)
}

fn moved(status: &DriftStatus) -> Option<(&Location, &Location)> {
    match status {
        DriftStatus::Moved { from, to } | DriftStatus::Edited { from, to } => Some((from, to)),
        DriftStatus::Unchanged(_) | DriftStatus::Lost { .. } => None,
    }
}

fn words(outcome: &DriftOutcome) -> (&'static str, String) {
    let (word, mut text) = match &outcome.status {
        DriftStatus::Unchanged(place) => ("unchanged", location_text(place)),
        DriftStatus::Moved { from, to } => ("moved", format!("{} → {}", location_text(from), location_text(to))),
        DriftStatus::Edited { from, to } => {
            ("edited", format!("{} → {} (check it)", location_text(from), location_text(to)))
        }
        DriftStatus::Lost { reason } => ("lost", reason.to_string()),
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
    let count = |word: &str| outcomes.iter().filter(|o| words(o).0 == word).count();
    let mut rows = Vec::new();
    for outcome in outcomes.iter().filter(|o| !matches!(o.status, DriftStatus::Unchanged(_))) {
        let (word, text) = words(outcome);
        rows.push(vec![Cell::left(format!("{} {}", outcome.case, outcome.golden)), Cell::left(word), Cell::left(text)]);
    }
    let totals: Vec<String> =
        ["unchanged", "moved", "edited", "lost"].map(|word| format!("{} {word}", count(word))).to_vec();
    format!(
        "{}{}: {}\n",
        draw(&rows, look.width, look.colour),
        karat_core::wording::count(outcomes.len(), "golden"),
        totals.join(", ")
    )
}

fn as_json(outcome: &DriftOutcome) -> serde_json::Value {
    let place = |p: &Location| json!({ "file": p.file.as_str(), "line_start": p.lines.map(|l| l.start), "line_end": p.lines.map(|l| l.end) });
    let mut value = json!({ "case": outcome.case, "golden": outcome.golden, "status": words(outcome).0 });
    match &outcome.status {
        DriftStatus::Unchanged(at) => value["to"] = place(at),
        DriftStatus::Moved { from, to } | DriftStatus::Edited { from, to } => {
            value["from"] = place(from);
            value["to"] = place(to);
        }
        DriftStatus::Lost { reason } => value["reason"] = json!(reason.to_string()),
    }
    value["anchor_in_doubt"] = json!(outcome.anchor_in_doubt);
    value
}

fn write(loaded: &LoadedSuite, outcomes: &[DriftOutcome]) -> Result<(), Failure> {
    let Files::Disk(root) = &loaded.files else {
        return Err(Failure::usage("a built-in suite is read-only; copy it first"));
    };
    let edits: Vec<Edit> = outcomes.iter().flat_map(|outcome| edits(loaded, outcome)).collect();
    let changed = apply(loaded, &edits).map_err(|error| Failure::io(root.display(), error))?;
    for (path, text) in &changed {
        let full = root.join(path);
        save(&full, text.as_bytes())?;
        tell(&format!("wrote {}", full.display()));
    }
    Ok(())
}

fn edits(loaded: &LoadedSuite, outcome: &DriftOutcome) -> Vec<Edit> {
    let Some((from, to)) = moved(&outcome.status) else { return Vec::new() };
    let Some(case) = loaded.suite.cases.iter().find(|c| c.id == outcome.case) else { return Vec::new() };
    let Some(index) = case.goldens.iter().position(|g| g.id == outcome.golden) else { return Vec::new() };
    let golden = &case.goldens[index];
    let edit = |key, value| Edit { case: case.id.clone(), golden: index, key, value, needless: false };
    let mut edits = Vec::new();
    if from.file != to.file {
        edits.push(edit("file", json!(to.file.as_str())));
    }
    if let Some(new) = to.lines {
        edits.push(edit("line_start", json!(new.start)));
        edits.push(Edit { needless: new.start == new.end, ..edit("line_end", json!(new.end)) });
    }
    // A stated key of the old location is updated to the new one.
    if golden.identity_key.is_some() && golden.identity_key == key_at(golden, from) {
        edits.extend(key_at(golden, to).map(|key| edit("identity_key", json!(key))));
    }
    edits
}

fn key_at(golden: &karat_core::golden::Golden, place: &Location) -> Option<String> {
    let anchor = place.lines.map(key::Anchor::Lines);
    key::build(Some(&place.file), golden.rule_id.as_deref(), anchor.as_ref(), None)
}
