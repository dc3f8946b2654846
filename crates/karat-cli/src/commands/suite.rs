//! `karat suite` and `init`.

use crate::args::{InitArgs, SuiteAdoptArgs, SuiteCommand};
use crate::exit::{Exit, Failure, Result};
use crate::outputs::save;
use crate::progress::JudgeProgress;
use crate::terminal::{note, notes, print, print_json, print_stderr, show};
use karat::label::{AdoptRequest, score_for_adoption};
use karat::suite::adopt::{Proposal, Proposals, adopt, as_yaml, origin, proposals};
use karat::suite::from_commit::skeleton;
use karat_core::ids::CaseId;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_source::git::Repository;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub(crate) fn init(args: &InitArgs) -> Result<Exit> {
    let written = karat::suite::init::write(&args.folder).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::bad_input(error),
        _ => Failure::unwritten(args.folder.display(), error),
    })?;
    let shown = |path: &String| format!("{}\n", args.folder.join(path).display());
    if args.json {
        return print_json(&json!({ "written": written }));
    }
    print(&written.iter().map(shown).collect::<String>())?;
    let folder = args.folder.display();
    print_stderr(&format!("\nNext:\n  karat check {folder}\n  karat score {folder}"));
    Ok(Exit::Ok)
}

pub(crate) fn run(command: &SuiteCommand) -> Result<Exit> {
    match command {
        SuiteCommand::Add { from_commit, repo, suite, id, json } => add(from_commit, repo, suite, id.as_deref(), *json),
        SuiteCommand::Adopt(args) => adopt_confirmed(args),
    }
}

fn add(from_commit: &str, repo: &Path, suite: &Path, id: Option<&str>, json: bool) -> Result<Exit> {
    let repository = Repository::open(repo).map_err(|error| Failure::bad_input(error.to_string()))?;
    let made = skeleton(&repository, from_commit, id).map_err(|error| Failure::bad_input(error.to_string()))?;
    let folder = made.write(suite).map_err(|error| Failure::io(suite.display(), error))?;
    if json {
        return print_json(&json!({ "case": made.id, "folder": folder, "notes": made.notes }));
    }
    notes(&made.notes);
    print(&format!("{}\n", folder.display()))?;
    print_stderr(&format!("\nNext: fill in {}\n  karat check {}", folder.join("case.yaml").display(), suite.display()));
    Ok(Exit::Ok)
}

fn adopt_confirmed(args: &SuiteAdoptArgs) -> Result<Exit> {
    let request = AdoptRequest {
        suite: args.suite.clone(),
        run: args.run.clone(),
        submissions: args.submissions.clone(),
        labels: args.labels.clone(),
        profile: (&args.rules).into(),
        judge: args.ask.request(),
        store_folder: args.store.path(),
    };
    let scored = score_for_adoption(&request, &mut JudgeProgress::new(false))?;
    let found = proposals(&scored.loaded, &scored.trials, &scored.scorecard, &scored.profile);
    let changed = adopt(&scored.loaded, &found.goldens);
    if args.dry_run {
        return preview(args, &found, changed.err().map(|error| error.to_string()));
    }
    let changed = changed.map_err(|error| Failure::bad_input(error.to_string()))?;
    let written: Vec<PathBuf> = changed.keys().map(|path| PathBuf::from(scored.loaded.files.display(path))).collect();
    for (path, text) in written.iter().zip(changed.values()) {
        save(path, text.as_bytes())?;
    }
    show(args.json, &as_json(&found, changed.keys().collect()), |_| found.goldens.iter().map(line).collect())?;
    print_rest(args, &found);
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
fn preview(args: &SuiteAdoptArgs, found: &Proposals<'_>, hindrance: Option<String>) -> Result<Exit> {
    if args.json {
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
    print_rest(args, found);
    if let Some(why) = hindrance {
        note(&why);
    }
    Ok(Exit::Ok)
}

fn print_rest(args: &SuiteAdoptArgs, found: &Proposals<'_>) {
    for why in &found.left_out {
        note(&format!("skipped: {why}"));
    }
    let named = match found.named_already {
        0 => String::new(),
        named => format!("; {named} confirmed and already in the goldens"),
    };
    let verb = if args.dry_run { "would be adopted" } else { "adopted" };
    match found.goldens.len() {
        0 => {
            let hint = "label extras with `karat label extras`";
            print_stderr(&format!("nothing to adopt{named}; {hint}"));
        }
        goldens => print_stderr(&format!("{} {verb}{named}", count(goldens, "golden"))),
    }
}

fn as_json(found: &Proposals<'_>, written: Vec<&String>) -> serde_json::Value {
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
