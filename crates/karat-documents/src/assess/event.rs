//! Events of an assessment, for progress display and logs.

use super::assessor::Assessed;
use super::assessor::model::Call;
use std::time::Duration;

/// An event of an assessment.
#[expect(missing_docs, reason = "field names say it")]
pub enum AssessEvent<'a> {
    /// A document was ingested or taken from the session.
    Read { document: &'a str, sections: usize, reused: bool, took: Duration },
    /// All requirements of a bundle were searched.
    Searched { bundle: BundleRef<'a>, requirements: usize, took: Duration },
    /// An assessor is about to be asked this many questions.
    Round { model: &'a str, questions: usize },
    /// A question is answered or has failed.
    Settled { model: &'a str, about: RequirementRef<'a>, call: &'a Call },
    /// A failed request is retried.
    Retrying { model: &'a str, wait: Duration, why: &'a str },
    /// An assessor is done with a requirement.
    Assessed { model: &'a str, about: RequirementRef<'a>, assessed: &'a Assessed },
    /// An assessor cannot be asked at all.
    ModelFailed { model: &'a str, why: &'a str },
}

/// A bundle and its template.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct BundleRef<'a> {
    pub bundle_id: &'a str,
    pub template_id: &'a str,
}

/// A requirement of a bundle.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct RequirementRef<'a> {
    pub bundle: BundleRef<'a>,
    pub requirement_id: &'a str,
}
