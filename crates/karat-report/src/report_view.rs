//! The input of pages and plots: a report and related data.

use karat_core::ids::CaseId;
use karat_core::path::RepoPath;
use karat_core::suite::Suite;
use karat_core::trial::Trial;
use karat_format::assessment::AssessmentReportV1;
use karat_format::power::VarianceV1;
use karat_format::report::ReportV1;

/// A report with everything that can be shown with it. Missing parts are left out, and pages say so.
#[expect(missing_docs, reason = "field names say it")]
pub struct ReportView<'a> {
    /// Such as a run's name; default: the suite's name.
    pub name: Option<String>,
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
    /// Reads a file of a case.
    pub code: &'a (dyn Fn(&CaseId, &RepoPath) -> Option<String> + Sync),
}

impl<'a> ReportView<'a> {
    /// A view of the report alone.
    pub fn new(report: &'a ReportV1) -> Self {
        Self { name: None, report, variance: Vec::new(), earlier: Vec::new(), sources: None }
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
