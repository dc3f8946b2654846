//! What pages and plots are drawn from: a report, and what else is at hand to show beside it.

use crate::format::power::VarianceV1;
use crate::format::report::ReportV1;
use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::Suite;
use karat_core::trial::Trial;

/// A report with all that can be shown beside it. What is not at hand is not shown, and a page says so.
pub struct Exhibit<'a> {
    /// What people call it, such as a run's name; the suite's name where there is none.
    pub name: Option<String>,
    /// The report.
    pub report: &'a ReportV1,
    /// By tool: how much of the spread comes from cases, trials and judges.
    pub variance: Vec<(String, VarianceV1)>,
    /// What came before, oldest first.
    pub earlier: Vec<Earlier>,
    /// Texts and code.
    pub sources: Option<Sources<'a>>,
}

/// An earlier report.
pub struct Earlier {
    /// What people call it: a run's name or short id, or a file's name.
    pub label: String,
    /// The report.
    pub report: ReportV1,
}

/// What goldens and findings say in full, and the code they lie in.
pub struct Sources<'a> {
    /// The cases with their goldens.
    pub suite: &'a Suite,
    /// The trials with their findings.
    pub trials: &'a [Trial],
    /// The text of a file of a case.
    pub code: &'a (dyn Fn(&CaseId, &RepoPath) -> Option<String> + Sync),
}

impl<'a> Exhibit<'a> {
    /// A report, and nothing beside it.
    pub fn of(report: &'a ReportV1) -> Self {
        Self { name: None, report, variance: Vec::new(), earlier: Vec::new(), sources: None }
    }
}
