//! Takes details out of a finished report.

use super::keep_acceptance;
use super::trial::{FalseLists, keep_misses};
use karat_format::report::{CaseResultV1, DetailV1, ReportV1, TrialResultV1};

/// Leaves no more detail in a report than asked for. An error says that it never had as much.
pub fn reduce(report: &mut ReportV1, detail: DetailV1) -> Result<(), String> {
    if report.detail < detail {
        return Err(format!(
            "{}; score again with --detail {}",
            report.detail.left_out("more detail is"),
            detail.as_str()
        ));
    }
    if report.detail == detail {
        return Ok(());
    }
    let profile = &report.profile;
    let are_false =
        FalseLists { duplicates: profile.duplicates_are_false(), acceptable: profile.acceptable_are_false() };
    for case in report.tools.iter_mut().flat_map(|tool| &mut tool.cases) {
        match detail {
            DetailV1::None => keep_figures(case),
            DetailV1::Misses => case.trials.iter_mut().for_each(|trial| keep_misses(trial, are_false)),
            DetailV1::All => {}
        }
    }
    if detail == DetailV1::None {
        report.cases.iter_mut().flat_map(|case| &mut case.issues).for_each(keep_acceptance);
    }
    let stated = report.detail.statement();
    report.warnings.retain(|warning| Some(warning) != stated.as_ref());
    report.warnings.splice(0..0, detail.statement());
    report.detail = detail;
    Ok(())
}

fn keep_figures(case: &mut CaseResultV1) {
    let stated = std::mem::take(&mut case.metrics);
    case.values.extend(stated.into_iter().filter_map(|(id, estimate)| Some((id, estimate.value?))));
    for trial in &mut case.trials {
        let TrialResultV1 { findings, matches, misses, extras, duplicates, acceptable, .. } = trial;
        findings.clear();
        matches.clear();
        misses.clear();
        extras.clear();
        duplicates.clear();
        acceptable.clear();
        trial.notes.clear();
        trial.audit = None;
        trial.detail = DetailV1::None;
    }
}
