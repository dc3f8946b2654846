//! A suite as it is now, for the trials of an earlier run.

use crate::failure::{Failure, Result};
use crate::suite::LoadedSuite;
use karat_core::ids::CaseId;
use karat_core::suite::Case;
use karat_core::wording::{count, first_few};
use karat_format::case::{CaseV1, IssueV1};
use karat_format::run::PlanV1;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Names of cases that a note lists.
const MAX_NAMES: usize = 10;

/// The suite as it is `now`, without the cases of which a tool would see something else than `then`, since what was reported is
/// about other code. Its notes say what was left out, and how goldens were edited.
pub(crate) fn present_suite(mut now: LoadedSuite, then: &LoadedSuite, plan: &PlanV1, run: &str) -> Result<LoadedSuite> {
    let before: HashMap<&CaseId, &Case> = then.suite.cases.iter().map(|case| (&case.id, case)).collect();
    let planned: HashSet<&str> = plan.cases.iter().map(String::as_str).collect();
    let there: HashSet<&str> = now.suite.cases.iter().map(|case| case.id.as_str()).collect();
    let removed: Vec<String> = plan.cases.iter().filter(|case| !there.contains(case.as_str())).cloned().collect();
    let (mut kept, mut other_code, mut added) = (HashSet::new(), Vec::new(), Vec::new());
    let mut edits = GoldenEdits::default();
    for case in &now.suite.cases {
        match before.get(&case.id) {
            None => added.push(case.id.to_string()),
            Some(_) if !planned.contains(case.id.as_str()) => {}
            Some(old) if then.tool_input_hash(old) == now.tool_input_hash(case) => {
                edits.add(old, case);
                kept.insert(case.id.to_string());
            }
            Some(_) => other_code.push(case.id.to_string()),
        }
    }
    let name = now.suite.name.clone();
    if kept.is_empty() {
        let why = match other_code.len() {
            0 => "it has none of its cases".to_owned(),
            n => format!("the code or pull request of {} has changed since", count(n, "case")),
        };
        return Err(Failure::bad_input(format!(
            "{name} says nothing about the trials of run {run}: {why}\nhelp: `karat score {run}` scores them with the goldens of \
             the run; `karat run` runs the tools again"
        )));
    }
    now.restrict(&kept.iter().map(String::as_str).collect());
    now.notes.push(format!("the trials of run {run} are scored with the present goldens of {name}: {edits}"));
    let left_out = [
        (other_code, "their code or pull request has changed since the run"),
        (removed, "the suite no longer has them"),
        (added, "they were added after the run"),
    ];
    for (cases, why) in left_out.iter().filter(|(cases, _)| !cases.is_empty()) {
        now.notes.push(format!(
            "{} left out, since {why}: {}",
            count(cases.len(), "case"),
            first_few(cases, MAX_NAMES)
        ));
    }
    Ok(now)
}

/// How many goldens were edited between two versions of a suite.
#[derive(Default)]
struct GoldenEdits {
    changed: usize,
    added: usize,
    removed: usize,
    /// Cases with another verdict or `allow_unexpected`.
    rules: usize,
}

impl GoldenEdits {
    fn add(&mut self, old: &Case, new: &Case) {
        // Both as they are stored: what a file merely writes in another way is no change.
        let [old, new] = [old, new].map(CaseV1::from);
        let before: HashMap<&str, &IssueV1> = old.issues.iter().map(|issue| (issue.id.as_str(), issue)).collect();
        let (mut kept, mut changed) = (0, 0);
        for issue in &new.issues {
            if let Some(old) = before.get(issue.id.as_str()) {
                kept += 1;
                changed += usize::from(*old != issue);
            }
        }
        self.changed += changed;
        self.added += new.issues.len() - kept;
        self.removed += old.issues.len() - kept;
        self.rules += usize::from((old.verdict, old.allow_unexpected) != (new.verdict, new.allow_unexpected));
    }
}

impl fmt::Display for GoldenEdits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            (self.changed, "golden", "edited"),
            (self.added, "golden", "added"),
            (self.removed, "golden", "removed"),
            (self.rules, "case", "with another verdict or allow_unexpected"),
        ];
        let parts = parts.into_iter().filter(|(n, ..)| *n > 0);
        let parts: Vec<String> = parts.map(|(n, noun, how)| format!("{} {how}", count(n, noun))).collect();
        match parts.is_empty() {
            true => f.write_str("none was edited since"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}
