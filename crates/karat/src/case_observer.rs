//! Takes scored cases one by one, as long as their pairs are there.

use crate::failure::Result;
use crate::run_facts::RunFacts;
use karat_core::ids::{CaseId, ToolName};
use karat_core::judgement::Judgement;
use karat_core::profile::Profile;
use karat_core::scorecard::CaseScore;
use karat_core::suite::Case;
use karat_core::trial::Trial;
use karat_format::run::TrialDetailV1;
use std::collections::HashMap;

/// One scored case with everything that it was scored from.
#[expect(missing_docs, reason = "field names say it")]
pub struct ObservedCase<'a> {
    /// The name of the suite.
    pub suite: &'a str,
    pub case: &'a Case,
    pub profile: &'a Profile,
    /// The stored run that is scored, if it is one.
    pub run: Option<&'a RunFacts>,
    /// By tool, in the order of the report.
    pub tools: &'a [ToolName],
    /// By tool; trials, goldens, findings and judgements are named by index.
    pub scores: &'a [CaseScore],
    pub trials: &'a [Trial],
    /// By trial, what is stored beside it: the number of the attempt, and how it went. May be shorter.
    pub stored: &'a [Option<(u32, TrialDetailV1)>],
    /// Indices of the trials of this case, upward.
    pub own_trials: &'a [usize],
    pub judgements: &'a [Judgement],
    /// Indices of the judgements about this case, upward.
    pub own_judgements: &'a [usize],
}

/// Gets every case as soon as it is scored, in the order of the suite. After the call its pairs are gone.
pub trait CaseObserver {
    /// Takes what it wants of a scored case; an error ends the scoring.
    fn observe(&mut self, case: &ObservedCase<'_>) -> Result<()>;
}

/// The indices of the judgements about every case, in the order of the cases.
pub(crate) fn judgements_by_case(cases: &[Case], judgements: &[Judgement]) -> Vec<Vec<usize>> {
    let numbers: HashMap<&CaseId, usize> = cases.iter().map(|case| &case.id).zip(0..).collect();
    let mut own = vec![Vec::new(); cases.len()];
    for (at, judgement) in judgements.iter().enumerate() {
        if let Some(case) = numbers.get(&judgement.case) {
            own[*case].push(at);
        }
    }
    own
}
