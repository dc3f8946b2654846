//! What a tool wrote in a trial, in every format a manifest may name.

use super::records::submission_survives;
use karat::tool::output::{Caps, Output, formats, read};
use karat_core::ids::{CaseId, ToolName};
use karat_core::trial::{Outcome, Trial};

/// The first byte chooses the format. The output is read or the trial is unparsable for a reason, without findings; the trial
/// survives being written as a submission.
pub fn check(bytes: &[u8]) {
    let Some((&choice, bytes)) = bytes.split_first() else { return };
    let all: Vec<&str> = formats().collect();
    let format = all[usize::from(choice) % all.len()];
    let read = read(&Output {
        trial: &Trial::reported(CaseId::new("case"), ToolName::new("tool"), 1),
        format,
        bytes: Some(bytes),
        caps: Caps::default(),
        roots: &["/repo/checkout".to_owned()],
        rules: None,
        sources: &|_| Some("one\ntwo\nthree\n".to_owned()),
    });
    assert_eq!(read.problem.is_some(), read.trial.outcome == Outcome::Unparsable);
    assert!(
        read.problem.is_none_or(|why| !why.is_empty())
            && (read.trial.outcome == Outcome::Reported || read.trial.findings.is_empty())
    );
    submission_survives(&[read.trial]);
}
