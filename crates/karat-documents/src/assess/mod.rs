//! Assesses documents against requirements, and scores the assessors.
//!
//! Golden records are found ([`mod@discover`]), loaded with their templates and documents ([`bundle`]) and linted
//! ([`mod@lint`]). Every requirement is searched once ([`mod@search`]), assessors judge the parts that were found
//! ([`evaluate`], [`assessor`]), and [`measure`] scores the result. [`event`]s report progress and are kept in a [`log`].

#[expect(missing_docs, reason = "field names say it")]
pub mod assessor;
#[expect(missing_docs, reason = "field names say it")]
pub mod bundle;
pub mod discover;
#[expect(missing_docs, reason = "field names say it")]
pub mod evaluate;
#[expect(missing_docs, reason = "field names say it")]
pub mod event;
mod evidence;
pub mod folder;
pub mod lint;
#[expect(missing_docs, reason = "field names say it")]
pub mod log;
#[expect(missing_docs, reason = "field names say it")]
pub mod measure;
mod nearest;
pub mod prompt;
mod record;
#[expect(missing_docs, reason = "field names say it")]
pub mod search;
pub mod search_providers;
pub mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bundle::{Bundle, DocumentFile, EvidenceLocation, load, load_all};
pub use discover::{RecordPlace, discover, holds_records};
pub use folder::Folder;
pub use template::Template;
