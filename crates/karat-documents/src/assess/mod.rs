//! Assesses documents against requirements, and scores the assessors.
//!
//! Golden records are found ([`mod@discover`]), loaded with their templates and documents ([`bundle`]) and linted
//! ([`mod@lint`]). Every requirement is searched once ([`mod@search`]), assessors judge the parts that were found
//! ([`evaluate`], [`assessor`]), and [`measure`] scores the result. [`AssessEvent`]s report progress and are kept in a [`log`].

#[expect(missing_docs, reason = "field names say it")]
pub mod assessor;
#[expect(missing_docs, reason = "field names say it")]
pub mod bundle;
pub mod discover;
#[expect(missing_docs, reason = "field names say it")]
pub mod evaluate;
mod evidence;
pub mod folder;
pub mod lint;
#[expect(missing_docs, reason = "field names say it")]
pub mod log;
#[expect(missing_docs, reason = "field names say it")]
pub mod measure;
mod nearest;
mod record;
#[expect(missing_docs, reason = "field names say it")]
pub mod search;
pub mod search_providers;
pub mod template;
#[cfg(test)]
mod tests;

pub use bundle::{Bundle, DocumentSource, EvidenceLocation, FilesOnly, IngestedBefore, load, load_all};
pub use discover::{RecordPlace, discover, holds_records};
pub use folder::Folder;
pub use template::Template;

use crate::DocumentError;
use crate::retrieval::ModelUse;
use assessor::Assessed;
use bundle::RequirementRef;
use karat_format::assessment::{StepV1, UnansweredV1};
use karat_llm::engine::Retry;
use karat_llm::ledger::Exchange;
use std::time::Duration;

/// What happens during an assessment.
#[expect(missing_docs, reason = "the names say it")]
pub enum AssessEvent<'a> {
    /// A document was ingested, or taken from the session.
    Read { document: &'a str, sections: usize, reused: bool, took: Duration },
    /// All requirements of a bundle were searched.
    Searched { bundle_id: &'a str, template_id: &'a str, requirements: usize, took: Duration },
    /// An embedder or reranker was given texts: those of a requirement, or the sections of a bundle.
    SearchModelUsed {
        /// `embedding` or `rerank`.
        stage: &'static str,
        provider: &'a str,
        bundle_id: &'a str,
        template_id: &'a str,
        requirement_id: Option<&'a str>,
        took: Duration,
        used: &'a Result<ModelUse, DocumentError>,
    },
    /// An assessor is about to be asked this many questions.
    Round { model: &'a str, questions: usize },
    /// A question is answered or has failed.
    Settled {
        model: &'a str,
        about: RequirementRef<'a>,
        step: StepV1,
        exchange: &'a Exchange,
        failure: Option<&'a UnansweredV1>,
    },
    /// A request failed and will be sent again.
    Retrying { model: &'a str, retry: &'a Retry },
    /// An assessor is done with a requirement.
    Assessed { model: &'a str, about: RequirementRef<'a>, assessed: &'a Assessed },
    /// A model cannot be asked any further.
    ModelFailed { model: &'a str, why: &'a str },
}
