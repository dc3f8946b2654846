//! `karat store show`: one run, or one trial of it.

use super::{made, size, value};
use crate::exit::{Exit, Failure, Result};
use crate::terminal::{draw_table, look, merged, most_shown, print, print_json, print_stderr, word};
use karat::tool::failed;
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::Outcome;
use karat_core::wording::count;
use karat_format::config::SuiteKind;
use karat_format::diagnostic::harmless;
use karat_format::document::suggest;
use karat_format::run::{PlanV1, ToolFactsV1};
use karat_format::submission::TrialV1;
use karat_report::grid::{Cell, fold};
use karat_store::queue::QueueStatus;
use karat_store::record::TrialKey;
use karat_store::timestamp::format_utc;
use karat_store::{RunInfo, RunState, Store, StoredTrial};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};

/// Maximum number of failures listed; `--json` lists all.
const MOST_FAILURES: usize = 30;

fn without_report(outcome: Outcome) -> bool {
    failed(outcome) || outcome == Outcome::Unavailable
}

pub(super) fn run(store: &mut Store, reference: &str, json: bool) -> Result<Exit> {
    let info = store.find(reference)?;
    if info.kind == SuiteKind::Assessment {
        return assessment(store, &info, json);
    }
    let (plan, history, trials) = (store.plan(&info.id)?, store.tool_history(&info.id)?, store.trials(&info.id)?);
    let tools: BTreeMap<&ToolName, &ToolFactsV1> =
        history.iter().filter_map(|(tool, facts)| Some((tool, facts.last()?))).collect();
    let judgements = store.judgements(&info.id)?.len();
    let failures: Vec<&StoredTrial> = trials.iter().filter(|t| without_report(t.trial.outcome)).collect();
    let queue = match info.state == RunState::Running && store.is_queued(&info.id)? {
        true => Some(store.queue_status(&info.id)?),
        false => None,
    };
    if json {
        let failure = |t: &&StoredTrial| {
            json!({
                "tool": t.trial.tool, "case": t.trial.case, "trial": t.trial.number, "attempt": t.attempt,
                "outcome": t.trial.outcome, "detail": t.detail,
            })
        };
        let attempts: u64 = trials.iter().map(|trial| u64::from(trial.attempt)).sum();
        let failures: Vec<_> = failures.iter().map(failure).collect();
        let mut rest = json!({
            "tools": tools, "tool_history": history, "judgements": judgements, "attempts": attempts,
            "failures": failures, "plan": plan,
        });
        if let Some(queue) = queue {
            rest["queue"] = json!(queue);
        }
        return print_json(&merged(value(store, &info), &rest));
    }
    let mut text = head(store, &info, &plan, judgements, queue.as_ref());
    text.push_str(&tool_table(&plan, &tools, &trials));
    text.push_str(&changes(&history));
    if !failures.is_empty() {
        text.push_str(&failure_table(&failures));
    }
    print(&text)?;
    let example = failures.first().copied().or(trials.first()).map(|stored| &stored.trial);
    if let Some(trial) = example {
        let named = format!("{} {} {}", word(trial.tool.as_str()), word(trial.case.as_str()), trial.number);
        let (run, trial) = (&info.short_id, harmless(&named));
        print_stderr(&format!("\nArtifacts of a trial:\n  karat store show {run} --trial {trial}"));
    }
    Ok(Exit::Ok)
}

fn assessment(store: &mut Store, info: &RunInfo, json: bool) -> Result<Exit> {
    let plan = store.plan(&info.id)?;
    if json {
        return print_json(&merged(value(store, info), &json!({ "plan": plan })));
    }
    let part = if plan.selected_by.is_empty() { String::new() } else { format!(", {}", plan.selected_by.join(" ")) };
    let assessors: Vec<&str> = plan.tools.iter().map(|tool| tool.name.as_str()).collect();
    let assessors = if assessors.is_empty() { "none, only the search".to_owned() } else { assessors.join(", ") };
    let rows = vec![
        ("run", run_words(info)),
        ("kind", info.kind.as_str().to_owned()),
        ("state", store.state_word(info).to_owned()),
        ("started", started(info)),
        ("template", format!("{}, {}{part}", info.suite, count(plan.suite.cases, "requirement"))),
        ("input", plan.suite.place.clone()),
        ("assessor", assessors),
        ("report", if info.has_report { "kept" } else { "none" }.to_owned()),
        ("karat", info.karat.clone()),
    ];
    print(&facts(rows))?;
    let run = &info.short_id;
    print_stderr(&format!("\nIts report and its log:\n  karat report {run}\n  karat logs summarize --run {run}"));
    Ok(Exit::Ok)
}

pub(super) fn trial(store: &mut Store, run: &str, words: &[String], wanted: Option<&str>, json: bool) -> Result<Exit> {
    let info = store.find_findings(run)?;
    let key = key(words)?;
    let stored = store.trials(&info.id)?.into_iter().find(|stored| TrialKey::from_trial(&stored.trial) == key);
    let Some(stored) = stored else { return Err(unknown(store, &info, &key)?) };
    let artifacts = store.artifacts(&info.id, &key)?;
    if let Some(name) = wanted {
        let Some(found) = artifacts.iter().find(|artifact| artifact.name == name) else {
            let names: Vec<&str> = artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
            let others = match names.as_slice() {
                [] => "it has none at all: the tool printed and wrote nothing".to_owned(),
                names => format!("available: {}", names.join(", ")),
            };
            return Err(Failure::usage(format!("the trial has no artifact `{name}`; {others}")));
        };
        return print_bytes(&store.artifact(&found.hash)?).map(|()| Exit::Ok);
    }
    if json {
        return print_json(&json!({
            "run": info.id, "attempt": stored.attempt, "trial": TrialV1::from(&stored.trial),
            "detail": stored.detail, "artifacts": artifacts,
        }));
    }
    let (trial, detail) = (&stored.trial, &stored.detail);
    // A failed trial has no number of findings.
    let found = match trial.outcome {
        Outcome::Reported => format!(", {}", count(trial.findings.len(), "finding")),
        _ => String::new(),
    };
    let mut lines = vec![
        format!("trial {} of {} on {}, attempt {}", trial.number, trial.tool, trial.case, stored.attempt),
        format!("  {}{found}", trial.outcome.words()),
        format!("  started {} UTC", format_utc(detail.started_ms)),
    ];
    lines.extend(detail.reason.as_ref().map(|reason| format!("  reason: {reason}")));
    lines.extend(detail.exit.map(|code| format!("  exit code: {code}")));
    lines.extend(detail.signal.map(|signal| format!("  signal: {signal}")));
    lines.extend(detail.remarks.iter().map(|remark| format!("  note: {remark}")));
    lines.extend(detail.isolation.as_ref().map(|isolation| format!("  isolation: {isolation}")));
    let mut text: String = lines.iter().map(|line| format!("{}\n", harmless(line))).collect();
    if !artifacts.is_empty() {
        let mut rows = vec![["artifact", "size", "hash"].map(Cell::left).to_vec()];
        for artifact in &artifacts {
            let hash = artifact.hash.get(..16).unwrap_or(&artifact.hash);
            rows.push(vec![Cell::left(&artifact.name), Cell::right(size(artifact.size)), Cell::left(hash)]);
        }
        text.push('\n');
        text.push_str(&draw_table(&rows));
    }
    print(&text)
}

fn head(store: &Store, info: &RunInfo, plan: &PlanV1, judgements: usize, queue: Option<&QueueStatus>) -> String {
    let outcomes: Vec<String> = info.outcomes.iter().map(|(outcome, n)| format!("{n} {}", outcome.words())).collect();
    let outcomes = if outcomes.is_empty() { String::new() } else { format!(": {}", outcomes.join(", ")) };
    let part = if plan.selected_by.is_empty() { String::new() } else { format!(", {}", plan.selected_by.join(" ")) };
    let mut rows = vec![
        ("run", run_words(info)),
        ("state", store.state_word(info).to_owned()),
        ("started", started(info)),
        ("suite", format!("{}, {} of {}{part}", info.suite, plan.cases.len(), count(plan.suite.cases, "case"))),
        ("profile", format!("{}, seed {}", plan.profile.name, plan.seed)),
        ("trials", format!("{} of {}{outcomes}", made(info), info.planned)),
        ("report", if info.has_report { "kept" } else { "none" }.to_owned()),
        ("karat", info.karat.clone()),
    ];
    if judgements > 0 {
        rows.insert(6, ("judged", count(judgements, "judgement")));
    }
    if let Some(queue) = queue {
        rows.insert(6, ("queue", queue_words(queue)));
    }
    if let Some(model) = &plan.model {
        rows.insert(5, ("model", model.clone()));
    }
    facts(rows)
}

fn queue_words(queue: &QueueStatus) -> String {
    let QueueStatus { waiting, claimed, expired, done, workers, needs } = queue;
    let mut parts = vec![format!("{done} done"), format!("{waiting} waiting")];
    if *claimed > 0 {
        parts.push(format!(
            "{claimed} under way at {}",
            count(usize::try_from(*workers).unwrap_or(usize::MAX), "worker")
        ));
    }
    if *expired > 0 {
        parts.push(format!("{expired} whose worker is gone"));
    }
    let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
    let needs = if needs.is_empty() { String::new() } else { format!("; workers need {}", needs.join(", ")) };
    format!("{}{needs}", parts.join(", "))
}

fn run_words(info: &RunInfo) -> String {
    format!("{}{}", info.id, info.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default())
}

fn started(info: &RunInfo) -> String {
    let ended = info.ended_ms.map(|ms| format!(", ended {}", format_utc(ms))).unwrap_or_default();
    format!("{} UTC{ended}", format_utc(info.created_ms))
}

fn facts(rows: Vec<(&str, String)>) -> String {
    let mut out = String::new();
    for (name, value) in rows {
        let lines = fold(&harmless(&value), look().width.saturating_sub(9));
        let named = |nth: usize| if nth == 0 { name } else { "" };
        out.extend(lines.iter().enumerate().map(|(nth, line)| format!("{:<8} {line}\n", named(nth))));
    }
    out
}

fn tool_table(plan: &PlanV1, tools: &BTreeMap<&ToolName, &ToolFactsV1>, trials: &[StoredTrial]) -> String {
    let mut rows = vec![["tool", "version", "isolation", "trials", "failed"].map(Cell::left).to_vec()];
    for tool in &plan.tools {
        let facts = tools.get(&ToolName::new(&tool.name));
        let own = || trials.iter().filter(|stored| stored.trial.tool.as_str() == tool.name);
        let failures = own().filter(|stored| failed(stored.trial.outcome)).count();
        let planned = u64::from(tool.trials).saturating_mul(plan.cases.len() as u64);
        rows.push(vec![
            Cell::left(&tool.name),
            Cell::folded(facts.and_then(|facts| facts.version.as_deref()).unwrap_or("–")),
            Cell::folded(facts.map_or(tool.isolation.as_str(), |facts| facts.isolation.as_str())),
            Cell::right(format!("{}/{planned}", own().count())),
            Cell::right(failures.to_string()),
        ]);
    }
    format!("\n{}", draw_table(&rows))
}

/// Tools that changed during the run, which its trials do not show.
fn changes(history: &BTreeMap<ToolName, Vec<ToolFactsV1>>) -> String {
    let describe = |facts: &ToolFactsV1| {
        let version = facts.version.as_deref().map_or("no version".to_owned(), |version| format!("version {version}"));
        let program = facts.program.as_deref().map(|program| format!(", {program}")).unwrap_or_default();
        format!("{version}, isolation {}{program}", facts.isolation)
    };
    let changed = history.iter().filter(|(_, facts)| facts.len() > 1);
    let lines = changed.map(|(tool, facts)| {
        let states: Vec<String> = facts.iter().map(describe).collect();
        harmless(&format!("{tool} changed during the run: {}", states.join("; then "))).into_owned()
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { String::new() } else { format!("\n{}\n", lines.join("\n")) }
}

fn failure_table(failures: &[&StoredTrial]) -> String {
    let mut rows = vec![["case", "tool", "trial", "outcome", "reason"].map(Cell::left).to_vec()];
    let most = most_shown(MOST_FAILURES);
    for stored in failures.iter().take(most) {
        let reason = stored.detail.reason.as_deref().unwrap_or("unknown reason");
        rows.push(vec![
            Cell::folded(stored.trial.case.as_str()),
            Cell::folded(stored.trial.tool.as_str()),
            Cell::right(stored.trial.number.to_string()),
            Cell::left(stored.trial.outcome.words()),
            Cell::folded(reason),
        ]);
    }
    let more = failures.len().saturating_sub(most);
    let more = if more > 0 { format!("  and {more} more with -v\n") } else { String::new() };
    format!("\n{}{more}", draw_table(&rows))
}

fn key(words: &[String]) -> Result<TrialKey> {
    let [tool, case, number] = words else { return Err(Failure::usage("--trial expects a tool, a case and a number")) };
    let wrong =
        |_| Failure::usage(format!("--trial {tool} {case} {number}: invalid trial number: expected a number from 1"));
    let number = number.parse::<u32>().map_err(wrong)?;
    Ok(TrialKey { tool: ToolName::new(tool.as_str()), case: CaseId::new(case.as_str()), number })
}

/// Why there is no such trial: a mistyped name, or a trial that has not run.
fn unknown(store: &mut Store, info: &RunInfo, key: &TrialKey) -> Result<Failure> {
    let plan = store.plan(&info.id)?;
    let tools: Vec<&str> = plan.tools.iter().map(|tool| tool.name.as_str()).collect();
    let cases: Vec<&str> = plan.cases.iter().map(String::as_str).collect();
    for (kind, word, known) in [("tool", key.tool.as_str(), &tools), ("case", key.case.as_str(), &cases)] {
        if !known.contains(&word) {
            let near = suggest::nearest(word, known.iter().copied());
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Ok(Failure::usage(format!("the run {} has no {kind} `{word}`{near}", info.short_id)));
        }
    }
    let TrialKey { tool, case, number } = key;
    Ok(Failure::usage(format!("the run {} has no trial {number} of {tool} on {case} yet", info.short_id)))
}

/// Writes raw bytes to files and pipes; for a terminal, control characters are replaced.
fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = if out.is_terminal() {
        let text = String::from_utf8_lossy(bytes);
        let shown: String = text.lines().map(|line| format!("{}\n", harmless(line))).collect();
        out.write_all(shown.as_bytes())
    } else {
        out.write_all(bytes)
    };
    written.and_then(|()| out.flush()).map_err(|error| Failure::unwritten("standard output", error))
}
