//! The built-in baseline: rules matched against the changed lines of a case, in this process.

use super::drive::Task;
use crate::suite::LoadedSuite;
use crate::tool::patterns::Patterns;
use karat_core::suite::Case;
use karat_core::trial::{Outcome, Trial};
use karat_format::run::TrialDetailV1;
use karat_store::record::TrialRecord;

/// Runs the rules over one case.
pub(super) fn execute(patterns: &Patterns, loaded: &LoadedSuite, case: Option<&Case>, task: &Task) -> TrialRecord {
    let key = &task.key;
    let mut trial = Trial::reported(key.case.clone(), key.tool.clone(), key.number);
    let mut reason = None;
    match case {
        Some(case) if loaded.has_tree(&case.id) => {
            let paths = loaded.after_paths(&case.id).into_iter();
            let files = paths.filter_map(|path| loaded.source(&case.id, &path).map(|text| (path, text)));
            trial.findings = patterns.scan(files, case.change.as_ref());
        }
        _ => {
            trial.outcome = Outcome::Skipped;
            reason = Some("the case has no code".to_owned());
        }
    }
    let detail = TrialDetailV1 { reason, ..TrialDetailV1::default() };
    TrialRecord { trial, attempt: task.attempt, detail, artifacts: Vec::new() }
}
