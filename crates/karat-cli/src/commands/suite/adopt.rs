//! `karat suite adopt`: adds findings that people confirmed to the goldens.

use crate::args::SuiteAdoptArgs;
use crate::exit::{Exit, Failure};
use crate::output_files::{save, show};
use crate::progress::JudgeProgress;
use crate::terminal::{note, print, print_json, tell};
use karat::label::{AdoptRequest, score_for_adoption};
use karat::suite::adopt::{Proposal, Proposals, adopt, as_yaml, origin, proposals};
use karat_core::ids::CaseId;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) fn run(args: &SuiteAdoptArgs) -> Result<Exit, Failure> {
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
    let value = as_json(&found, changed.keys().collect());
    show(args.json, &value, |_| found.goldens.iter().map(line).collect())?;
    tell_rest(args, &found);
    for path in written {
        tell(&format!("wrote {}", path.display()));
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
fn preview(args: &SuiteAdoptArgs, found: &Proposals<'_>, hindrance: Option<String>) -> Result<Exit, Failure> {
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
    tell_rest(args, found);
    if let Some(why) = hindrance {
        note(&why);
    }
    Ok(Exit::Ok)
}

fn tell_rest(args: &SuiteAdoptArgs, found: &Proposals<'_>) {
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
            tell(&format!("nothing to adopt{named}; {hint}"));
        }
        goldens => tell(&format!("{} {verb}{named}", count(goldens, "golden"))),
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
