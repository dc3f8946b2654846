//! `karat suite`, `init`, `check` and `drift`.

mod prove;
mod twist;

use super::store::size;
use crate::args::{CheckArgs, DriftArgs, InitArgs, SuiteAddArgs, SuiteAdoptArgs, SuiteCommand, SuiteGcArgs};
use crate::exit::{Exit, Failure, Result};
use crate::progress::{JudgeProgress, at_terminal};
use crate::terminal::{
    draw_diagnostics, note, notes, print, print_always, print_done, print_json, print_next, print_stderr, show, word,
};
use karat::label::{LabelRequest, score_for_adoption};
use karat::profile::{ProfileRequest, resolve_for_suite};
use karat::suite::OriginCandidate;
use karat::suite::add::{AddReport, AddRequest, CaseOrigin, add_case};
use karat::suite::adopt::{Proposal, Proposals, adopt, as_yaml, origin, proposals};
use karat::suite::drift::{DriftRequest, drift_suite};
use karat::suite::init::{InitRequest, write as write_suite};
use karat::suite::lint::lint as lint_suite;
use karat::suite::load_suite;
use karat::suite::load_what_is_there;
use karat::suite::unused_objects::{find_unused_objects, remove_objects};
use karat::suite::write::write_changed;
use karat::tool::manifest::{faults_of_suite, grants_of_suite};
use karat_core::assessment::record::Compliance;
use karat_core::golden::count_by_kind;
use karat_core::ids::CaseId;
use karat_core::wording::count;
use karat_documents::assess::lint::lint as lint_record;
use karat_documents::assess::{Bundle, FilesOnly, discover, holds_records, load_all};
use karat_format::config::SuiteKind;
use karat_format::diagnostic::{Diagnostic, Level, harmless};
use karat_format::shipped_suites::locate;
use karat_io::files::Files;
use karat_report::TerminalStyle;
use karat_report::grid::{Cell, draw};
use karat_source::drift::{DriftOutcome, DriftStatus, Location};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, Write};

pub(crate) fn init(args: &InitArgs) -> Result<Exit> {
    let InitArgs { folder, kind, bare, json } = args;
    let kind = match kind {
        Some(kind) => *kind,
        None if *json => SuiteKind::Findings,
        None => ask_kind()?,
    };
    let request = InitRequest { folder: folder.clone(), kind, bare: *bare };
    let written = write_suite(&request).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::bad_input(error),
        _ => Failure::unwritten(folder.display(), error),
    })?;
    let shown = |path: &String| format!("{}\n", folder.join(path).display());
    if *json {
        return print_json(&json!({ "written": written }));
    }
    print(&written.iter().map(shown).collect::<String>())?;
    let folder = word(&folder.display().to_string());
    let check = format!("karat check {folder}");
    print_next(&match (kind, *bare) {
        (SuiteKind::Findings, false) => [check, format!("karat score {folder}")],
        (SuiteKind::Assessment, false) => [check, format!("karat assess {folder}")],
        (SuiteKind::Findings, true) => {
            [format!("karat suite add --from-commit REV --repo PATH --suite {folder}"), check]
        }
        (SuiteKind::Assessment, true) => {
            let files = "templates/NAME/config.yml and bundles/NAME/NAME.golden-assessment.yml";
            [format!("write {files}"), check]
        }
    });
    Ok(Exit::Ok)
}

/// Asks at a terminal what the suite is for. Elsewhere, nobody is asked.
fn ask_kind() -> Result<SuiteKind> {
    if !std::io::stdin().is_terminal() || !at_terminal() {
        return Ok(SuiteKind::Findings);
    }
    print_always("What is the suite for?");
    print_always("  1  findings: tools that report problems in code, such as scanners and reviewers");
    print_always("  2  assessment: documents that are held against requirements");
    loop {
        let mut answer = String::new();
        let mut screen = anstream::stderr();
        let read = write!(screen, "1 or 2? [1] ")
            .and_then(|()| screen.flush())
            .and_then(|()| std::io::stdin().lock().read_line(&mut answer));
        let length = read.map_err(|error| Failure::io("terminal", error))?;
        match answer.trim().to_lowercase().as_str() {
            "" if length == 0 => {
                return Err(Failure::usage("no answer; name the kind with --kind findings or --kind assessment"));
            }
            "" | "1" | "findings" => return Ok(SuiteKind::Findings),
            "2" | "assessment" => return Ok(SuiteKind::Assessment),
            _ => print_always("answer 1 or 2"),
        }
    }
}

pub(crate) fn run(command: SuiteCommand, jobs: Option<usize>) -> Result<Exit> {
    match command {
        SuiteCommand::Add(args) => add(args),
        SuiteCommand::Adopt(args) => adopt_confirmed(args),
        SuiteCommand::Gc(args) => gc(&args),
        SuiteCommand::Prove(args) => prove::run(args, jobs),
        SuiteCommand::Twist(args) => twist::run(args, jobs),
    }
}

fn gc(args: &SuiteGcArgs) -> Result<Exit> {
    let loaded = load_suite(&args.suite)?;
    let unused = find_unused_objects(&loaded)?;
    if !args.dry_run {
        remove_objects(&loaded, &unused)?;
    }
    let value = json!({ "dry_run": args.dry_run, "objects": unused.paths, "bytes": unused.bytes });
    let verb = if args.dry_run { "would remove" } else { "removed" };
    let objects = count(unused.paths.len(), "object");
    let text = format!("{verb} {objects} that no case uses ({})", size(unused.bytes));
    print_done(args.json, &value, &text)
}

fn add(args: SuiteAddArgs) -> Result<Exit> {
    let SuiteAddArgs { from_commit, from_fix, introduced_by, title, whole_tree, repo, suite, id, keep_examples, json } =
        args;
    let origin = match (from_commit, from_fix) {
        (_, Some(rev)) => CaseOrigin::Fix { rev, introduced_by, title },
        (Some(rev), None) => CaseOrigin::Commit(rev),
        (None, None) => return Err(Failure::usage("name a commit with --from-commit or --from-fix")),
    };
    let is_fix = matches!(origin, CaseOrigin::Fix { .. });
    let request = AddRequest { origin, repo, suite, id, whole_tree, keep_examples };
    let AddReport { case, twin, candidates, commit, notes: remarks } = add_case(&request)?;
    if json {
        let mut value = json!({ "case": case.id, "folder": case.folder, "notes": remarks, "commit": commit.as_str() });
        if let Some(twin) = twin {
            let candidates = candidates.iter().map(|OriginCandidate { commit, lines, weight }| {
                json!({ "commit": commit.as_str(), "lines": lines, "weight": weight })
            });
            value["twin"] = json!({ "case": twin.id, "folder": twin.folder });
            value["candidates"] = candidates.collect();
        }
        return print_json(&value);
    }
    if is_fix {
        note(&format!("introduced by {commit}"));
    }
    notes(&remarks);
    let folders = std::iter::once(&case).chain(&twin).map(|case| format!("{}\n", case.folder.display()));
    print(&folders.collect::<String>())?;
    let (verb, suite) = (if is_fix { "check" } else { "fill in" }, request.suite.display());
    print_stderr(&format!("\nNext: {verb} {}\n  karat check {suite}", case.folder.join("case.yaml").display()));
    Ok(Exit::Ok)
}

fn adopt_confirmed(args: SuiteAdoptArgs) -> Result<Exit> {
    let (profile, judge, store) = ((&args.rules).into(), args.ask.request(), args.store.location()?);
    let SuiteAdoptArgs { suite, run, submissions, labels, dry_run, json, .. } = args;
    let request = LabelRequest { run, suite: None, submissions, profile, judge, store };
    let scored = score_for_adoption(&suite, &request, &labels, &mut JudgeProgress::new(false))?;
    let found = proposals(&scored.loaded, &scored.trials, &scored.scorecard, &scored.profile);
    let changed = adopt(&scored.loaded, &found.goldens);
    if dry_run {
        return preview(json, &found, changed.err().map(|error| error.to_string()));
    }
    let changed = changed.map_err(|error| Failure::bad_input(error.to_string()))?;
    let written = match &scored.loaded.files {
        Files::Disk(root) => write_changed(root, &changed)?,
        Files::Embedded(..) => return Err(Failure::usage("a built-in suite is read-only; copy it first")),
    };
    show(json, &as_json(&found, changed.keys().collect()), |_| found.goldens.iter().map(line).collect())?;
    print_rest("adopted", &found);
    for path in written {
        print_stderr(&format!("wrote {}", path.display()));
    }
    Ok(Exit::Ok)
}

fn place(golden: &Proposal<'_>) -> String {
    let issue = &golden.issue;
    match (&issue.file, issue.line_start) {
        (Some(file), Some(line)) => format!(" ({file}:{line})"),
        (Some(file), None) => format!(" ({file})"),
        _ => String::new(),
    }
}

fn line(golden: &Proposal<'_>) -> String {
    let (issue, tools) = (&golden.issue, count(golden.pool.tools().len(), "tool"));
    let title = issue.title.as_deref().unwrap_or_default();
    let text = format!("{}: {}{}: {title}, reported by {tools}", golden.case.id, issue.id, place(golden));
    format!("{}\n", harmless(&text.replace(['\n', '\r'], " ")))
}

/// Prints what would be written, as it would appear in the files.
fn preview(json: bool, found: &Proposals<'_>, hindrance: Option<String>) -> Result<Exit> {
    if json {
        print_json(&as_json(found, Vec::new()))?;
    } else {
        let mut by_case: BTreeMap<&CaseId, String> = BTreeMap::new();
        for golden in &found.goldens {
            by_case.entry(&golden.case.id).or_default().push_str(&as_yaml(&golden.issue, &origin(&golden.pool), "  "));
        }
        for (case, text) in by_case {
            let lines: Vec<String> = text.lines().map(|line| harmless(line).into_owned()).collect();
            print(&format!("# case {}\nissues:\n{}\n", harmless(case.as_str()), lines.join("\n")))?;
        }
    }
    print_rest("would be adopted", found);
    if let Some(why) = hindrance {
        note(&why);
    }
    Ok(Exit::Ok)
}

fn print_rest(verb: &str, found: &Proposals<'_>) {
    for why in &found.left_out {
        note(&format!("skipped: {why}"));
    }
    let named = match found.named_already {
        0 => String::new(),
        named => format!("; {named} confirmed and already in the goldens"),
    };
    match found.goldens.len() {
        0 => print_stderr(&format!("nothing to adopt{named}; label extras with `karat label extras`")),
        goldens => print_stderr(&format!("{} {verb}{named}", count(goldens, "golden"))),
    }
}

fn as_json(found: &Proposals<'_>, written: Vec<&String>) -> Value {
    let adopted: Vec<_> = found
        .goldens
        .iter()
        .map(|golden| {
            let members = golden.pool.members.iter();
            let members =
                members.map(|m| json!({ "tool": m.trial.tool, "trial": m.trial.number, "finding": m.finding.id }));
            json!({ "case": golden.case.id, "golden": golden.issue, "members": members.collect::<Vec<_>>() })
        })
        .collect();
    json!({ "adopted": adopted, "named_already": found.named_already, "left_out": found.left_out, "written": written })
}

pub(crate) fn drift(args: DriftArgs) -> Result<Exit> {
    let DriftArgs { suite, repo, prefix, from, to, write, json } = args;
    let report = drift_suite(&DriftRequest { suite, repo, prefix, from, to })?;
    let outcomes = &report.outcomes;
    show(json, &outcomes.iter().map(drift_json).collect::<Vec<_>>(), |look| drift_table(outcomes, look))?;
    if write {
        for path in report.write()? {
            print_stderr(&format!("wrote {}", path.display()));
        }
    } else if outcomes.iter().any(|outcome| outcome.status.change().is_some()) {
        print_stderr("\nwrite the new locations to the suite's files with --write");
    }
    Ok(Exit::Ok)
}

fn drift_words(outcome: &DriftOutcome) -> (&'static str, String) {
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

fn drift_table(outcomes: &[DriftOutcome], look: &TerminalStyle) -> String {
    let mut rows = Vec::new();
    for outcome in outcomes.iter().filter(|o| !matches!(o.status, DriftStatus::Unchanged(_))) {
        let (word, text) = drift_words(outcome);
        rows.push(vec![Cell::left(format!("{} {}", outcome.case, outcome.golden)), Cell::left(word), Cell::left(text)]);
    }
    let total = |word| format!("{} {word}", outcomes.iter().filter(|o| drift_words(o).0 == word).count());
    let totals = ["unchanged", "moved", "edited", "lost"].map(total).join(", ");
    format!("{}{}: {totals}\n", draw(&rows, look.width, look.colour), count(outcomes.len(), "golden"))
}

fn drift_json(outcome: &DriftOutcome) -> Value {
    let place = |p: &Location| json!({ "file": p.file.as_str(), "line_start": p.lines.map(|l| l.start), "line_end": p.lines.map(|l| l.end) });
    let mut value = json!({ "case": outcome.case, "golden": outcome.golden, "status": drift_words(outcome).0 });
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

pub(crate) fn check(args: &CheckArgs) -> Result<Exit> {
    if holds_records(&args.suite) {
        return check_records(args);
    }
    let (loaded, mut diagnostics) = load_what_is_there(locate(&args.suite));
    // If karat.toml itself is invalid, its tools cannot be checked.
    let config = loaded.files.display("karat.toml");
    let mut tools = Vec::new();
    if diagnostics.iter().all(|d| d.file != config) {
        tools.extend(faults_of_suite(&loaded, std::env::home_dir().as_deref()));
        tools.extend(grants_of_suite(&loaded));
    }
    let profile = resolve_for_suite(&(&args.rules).into(), Some(&loaded));
    let mut facts = None;
    match profile {
        Err(Failure::Faults(faults)) => diagnostics.extend(faults.0),
        Err(failure) if diagnostics.is_empty() => return Err(failure),
        Err(_) => {}
        Ok(profile) if diagnostics.is_empty() => {
            loaded.notes.iter().for_each(|text| note(text));
            let goldens = loaded.suite.cases.iter().flat_map(|case| &case.goldens);
            let goldens = count_by_kind(goldens.map(|golden| golden.acceptance));
            let cases = count(loaded.suite.cases.len(), "case");
            facts = Some(format!("{}: {cases}, {goldens}, profile {}", loaded.suite.name, profile.name));
            diagnostics = lint_suite(&loaded, &profile);
        }
        // In a suite with errors, style lints would be guesses; errors are still reported.
        Ok(profile) => {
            diagnostics.extend(lint_suite(&loaded, &profile).into_iter().filter(|d| d.level == Level::Error));
        }
    }
    diagnostics.extend(tools);
    print_diagnostics(args, &diagnostics, facts)
}

fn print_diagnostics(args: &CheckArgs, diagnostics: &[Diagnostic], facts: Option<String>) -> Result<Exit> {
    let of = |level: Level| diagnostics.iter().filter(|d| d.level == level).map(|d| 1 + d.more).sum::<usize>();
    let (errors, warnings) = (of(Level::Error), of(Level::Warning));
    show(args.json, &diagnostics, |_| {
        let verdict = match (errors, warnings) {
            (0, 0) => "no problems".to_owned(),
            (0, w) => count(w, "warning"),
            (e, 0) => count(e, "fault"),
            (e, w) => format!("{}, {}", count(e, "fault"), count(w, "warning")),
        };
        let facts = facts.map_or_else(String::new, |facts| format!("{facts}: "));
        format!("{}{}{verdict}\n", draw_diagnostics(diagnostics, &std::io::stdout()), harmless(&facts))
    })?;
    Ok(if errors > 0 || (args.strict && warnings > 0) { Exit::BadInput } else { Exit::Ok })
}

fn check_records(args: &CheckArgs) -> Result<Exit> {
    if !ProfileRequest::from(&args.rules).is_empty() {
        let message =
            "--profile, --set and --count-untouched apply to findings; golden records have their rules in the template";
        return Err(Failure::usage(message));
    }
    let places = discover(std::slice::from_ref(&args.suite), true);
    let bundles = match places.and_then(|places| load_all(&places, &mut FilesOnly)) {
        Ok(bundles) => bundles,
        Err(faults) => return print_diagnostics(args, &faults.0, None),
    };
    notes(&bundles.iter().flat_map(|bundle| bundle.notes.iter().cloned()).collect::<Vec<_>>());
    let problems = bundles.iter().flat_map(|bundle| bundle.problems.iter().cloned());
    let remarks: Vec<_> = problems.chain(bundles.iter().flat_map(lint_record)).collect();
    print_diagnostics(args, &remarks, Some(record_facts(&bundles)))
}

fn record_facts(bundles: &[Bundle]) -> String {
    let sum = |of: fn(&Bundle) -> usize| bundles.iter().map(of).sum::<usize>();
    let requirements = || bundles.iter().flat_map(|bundle| &bundle.record.requirements);
    let of = |verdict: Compliance| requirements().filter(|requirement| requirement.assessment == verdict).count();
    let verdicts = Compliance::ALL.map(|verdict| format!("{} {}", of(verdict), verdict.as_str()));
    let primary: usize = requirements().map(|requirement| requirement.primary.len()).sum();
    let supporting: usize = requirements().map(|requirement| requirement.supporting.len()).sum();
    [
        count(bundles.len(), "bundle"),
        format!("{} ({})", count(requirements().count(), "requirement"), verdicts.join(", ")),
        format!("{} ({primary} primary, {supporting} supporting)", count(primary + supporting, "golden part")),
        count(sum(|bundle| bundle.documents.len()), "document"),
        count(sum(|bundle| bundle.documents.iter().map(|document| document.sections.len()).sum()), "section"),
    ]
    .join(", ")
}
