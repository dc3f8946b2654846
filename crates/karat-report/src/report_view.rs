//! The input of pages and plots: a report and related data.

use super::assessment::templates;
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
    /// The name of a run or a file.
    pub name: Option<String>,
    pub run: Option<RunReference>,
    pub report: &'a ReportV1,
    pub variance: Vec<(String, VarianceV1)>,
    pub earlier: Vec<EarlierReport>,
    pub sources: Option<Sources<'a>>,
}

/// The stored run of a report.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RunReference {
    pub id: String,
    pub short_id: String,
    /// When it began: `2026-03-01 14:05:09 UTC`.
    pub began: String,
}

/// What a page is called: its name, or the suite and when its run began.
fn page_label(name: Option<&String>, suite: &str, run: Option<&RunReference>) -> String {
    match (name, run) {
        (Some(name), _) => name.clone(),
        (None, Some(run)) => format!("{suite}, {}", run.began),
        (None, None) => suite.to_owned(),
    }
}

/// The title of a page, which names the suite in any case.
fn page_title(name: Option<&String>, suite: &str, label: String) -> String {
    if name.is_some() { format!("{label} · {suite}") } else { label }
}

/// What the newest report of a trend is called.
fn trend_label<'a>(name: Option<&'a String>, run: Option<&'a RunReference>) -> &'a str {
    name.or(run.map(|run| &run.short_id)).map_or("now", String::as_str)
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
        Self { name: None, run: None, report, variance: Vec::new(), earlier: Vec::new(), sources: None }
    }

    /// What its page is called: its name, or the suite and when its run began.
    pub fn label(&self) -> String {
        page_label(self.name.as_ref(), &self.report.suite.name, self.run.as_ref())
    }

    /// The title of its page: its name and suite, or the suite and when its run began.
    pub fn title(&self) -> String {
        page_title(self.name.as_ref(), &self.report.suite.name, self.label())
    }

    pub(crate) fn trend_label(&self) -> &str {
        trend_label(self.name.as_ref(), self.run.as_ref())
    }
}

/// An assessment with everything that can be shown with it.
#[expect(missing_docs, reason = "field names say it")]
pub struct AssessmentView<'a> {
    /// The name of a stored assessment or a file.
    pub name: Option<String>,
    pub run: Option<RunReference>,
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
        Self { name: None, run: None, report, earlier: Vec::new() }
    }

    /// What its page is called: its name, or its templates and when it began.
    pub fn label(&self) -> String {
        page_label(self.name.as_ref(), &templates(self.report), self.run.as_ref())
    }

    /// The title of its page: its name and templates, or its templates and when it began.
    pub fn title(&self) -> String {
        page_title(self.name.as_ref(), &templates(self.report), self.label())
    }

    pub(crate) fn trend_label(&self) -> &str {
        trend_label(self.name.as_ref(), self.run.as_ref())
    }
}
