//! The input of pages and plots: a report and related data.

use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::{Case, Suite};
use karat_core::trial::Trial;
use karat_format::assessment::AssessmentReportV1;
use karat_format::power::VarianceV1;
use karat_format::report::ReportV1;

/// A report with everything that can be shown with it. Missing parts are left out, and pages say so.
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportView<'a> {
    /// Such as a run's name; default: the suite's name.
    pub name: Option<String>,
    /// When the run began, in words.
    pub date: Option<String>,
    pub report: &'a ReportV1,
    pub variance: Vec<(String, VarianceV1)>,
    pub earlier: Vec<EarlierReport>,
    pub sources: Option<Sources<'a>>,
}

/// An earlier report.
#[expect(missing_docs, reason = "field names say it")]
pub struct EarlierReport {
    /// A run's name or short id, or a file name.
    pub label: String,
    pub report: ReportV1,
}

/// Full texts of goldens and findings, and the code they refer to.
#[expect(missing_docs, reason = "field names say it")]
pub struct Sources<'a> {
    pub suite: &'a Suite,
    pub trials: &'a [Trial],
    pub code: &'a dyn CodeProvider,
}

/// Reads the code of cases.
pub trait CodeProvider: Sync {
    /// A text file as the change of its case left it.
    fn file(&self, case: &CaseId, path: &RepoPath) -> Option<String>;

    /// The files that the change of a case touched, sorted by path; none if the case has no state before its change.
    fn changed_files(&self, case: &Case) -> Vec<ChangedFile>;
}

/// A file that a change touched. A side that is missing has no text; if a side is not text, neither has.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ChangedFile {
    pub path: RepoPath,
    pub renamed_from: Option<RepoPath>,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl<'a> ReportView<'a> {
    /// A view of the report alone.
    pub fn new(report: &'a ReportV1) -> Self {
        Self { name: None, date: None, report, variance: Vec::new(), earlier: Vec::new(), sources: None }
    }
}

/// An assessment with everything that can be shown with it.
#[expect(missing_docs, reason = "field names say it")]
pub struct AssessmentView<'a> {
    /// Such as the name of a stored assessment; default: the names of its templates.
    pub name: Option<String>,
    pub report: &'a AssessmentReportV1,
    /// Earlier assessments, oldest first.
    pub earlier: Vec<EarlierAssessment>,
}

/// An earlier assessment.
#[expect(missing_docs, reason = "field names say it")]
pub struct EarlierAssessment {
    /// Its name or short id, or a file name.
    pub label: String,
    pub report: AssessmentReportV1,
}

impl<'a> AssessmentView<'a> {
    /// A view of the report alone.
    pub fn new(report: &'a AssessmentReportV1) -> Self {
        Self { name: None, report, earlier: Vec::new() }
    }
}
