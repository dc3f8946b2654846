//! Events of an assessment, for progress display and logs.

use super::assessor::Assessed;
use super::bundle::{BundleRef, RequirementRef};
use karat_format::assessment::StepV1;
use std::time::Duration;

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

/// A question and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub step: StepV1,
    pub cached: bool,
    pub requests: u32,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub usd: Option<f64>,
    /// Total time of its requests; `None` if none was made.
    pub latency: Option<Duration>,
    /// Kind and text of the failure.
    pub failure: Option<(&'static str, String)>,
}
