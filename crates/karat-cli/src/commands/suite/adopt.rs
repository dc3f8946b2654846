//! `karat suite adopt`: adds findings that people confirmed to the goldens.

use crate::args::SuiteAdoptArgs;
use crate::exit::{Exit, Failure};
use crate::judging::JudgeCall;
use crate::terminal::{note, print, print_json, tell};
use crate::{inputs, store_path};
use karat::run_loader;
use karat::scoring::Work;
use karat::suite::LoadedSuite;
use karat::suite::adopt::{Proposal, Proposals, adopt, as_yaml, origin, proposals};
use karat_core::ids::{CaseId, FindingId, JudgeName, ToolName};
use karat_core::judgement::{Decision, Judgement};
use karat_core::scorecard::score;
use karat_core::trial::Trial;
use karat_core::wording::count;
use karat_format::diagnostic::harmless;
use karat_format::recorded::read_trials;
use karat_io::atomic_write;
use karat_io::files::Files;
use karat_store::Store;
use karat_store::label::extra_label_judgements;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) fn run(args: &SuiteAdoptArgs) -> Result<Exit, Failure> {
    let loaded = inputs::suite(&args.suite)?;
    let Files::Disk(root) = &loaded.files else {
        return Err(Failure::usage("a built-in suite is read-only; copy it first"));
    };
    let profile = inputs::profile(&args.rules, Some(&loaded))?;
    let mut work = Work::new(trials(args, &loaded)?, profile);
    let folder = args.store.as_deref();
    let request = args.ask.request();
    JudgeCall { request, loaded: &loaded, folder, store: None, models: Vec::new(), quiet: false }.run(&mut work)?;
    // Only human labels may change a suite; models' judgements of extras are ignored.
    work.judgements.retain(|judgement| !matches!(judgement.decision, Decision::Extra(_)));
    work.judgements.extend(labels(args, &loaded, &work.trials)?);
    let scorecard = score(&loaded.suite, &work.trials, &work.judgements, &work.profile);
    let found = proposals(&loaded, &work.trials, &scorecard, &work.profile);
    let changed = adopt(&loaded, &found.goldens);
    if args.dry_run {
        return preview(args, &found, changed.err().map(|error| error.to_string()));
    }
    let changed = changed.map_err(|error| Failure::bad_input(error.to_string()))?;
    for (path, text) in &changed {
        let full = root.join(path);
        atomic_write::write(&full, &mut |out| out.write_all(text.as_bytes()))
            .map_err(|error| Failure::unwritten(full.display(), error))?;
    }
    if args.json {
        print_json(&as_json(&found, changed.keys().collect()))?;
    } else {
        print(&found.goldens.iter().map(line).collect::<String>())?;
    }
    tell_rest(args, &found);
    for path in changed.keys() {
        tell(&format!("wrote {}", root.join(path).display()));
    }
    Ok(Exit::Ok)
}

/// The labelled findings: of a run, of submissions, or of the suite's own submissions.
fn trials(args: &SuiteAdoptArgs, loaded: &LoadedSuite) -> Result<Vec<Trial>, Failure> {
    if let Some(run) = &args.run {
        let run = run_loader::run(&mut store_path::open(args.store.as_deref())?, run)?;
        return Ok(run.trials.into_iter().map(|stored| stored.trial).collect());
    }
    let files = inputs::submission_lines(&args.submissions, loaded)?;
    if files.is_empty() {
        return Err(Failure::usage("nothing to adopt from; name a run, or add a submission with --submission FILE"));
    }
    Ok(read_trials(files, Some(&loaded.suite))?)
}

/// Human labels of extras, from files and the store; one label per person and finding.
fn labels(args: &SuiteAdoptArgs, loaded: &LoadedSuite, trials: &[Trial]) -> Result<Vec<Judgement>, Failure> {
    let mut labels = inputs::judgements(&args.labels, &loaded.suite)?;
    let folder = store_path::folder(args.store.as_deref());
    if Store::is_at(&folder) {
        let stored = Store::open(&folder)?.extra_labels()?;
        labels.extend(extra_label_judgements(&stored, trials).into_iter().map(|(_, judgement)| judgement));
    }
    let mut heard: BTreeSet<(JudgeName, CaseId, ToolName, u32, FindingId)> = BTreeSet::new();
    labels.retain(|label| match &label.decision {
        Decision::Extra(extra) if label.judge.is_human() => {
            let Judgement { judge, case, tool, trial, .. } = label.clone();
            heard.insert((judge, case, tool, trial, extra.finding.clone()))
        }
        _ => false,
    });
    Ok(labels)
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
