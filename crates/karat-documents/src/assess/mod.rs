//! Assesses documents against requirements, and scores the assessors.
//!
//! Golden records are found ([`mod@discover`]), loaded with their templates and documents ([`bundle`]) and linted
//! ([`mod@lint`]). Their documents form a [`corpus`], every requirement is searched once ([`mod@search`]), assessors judge it
//! ([`evaluate`], [`assessor`]), and [`measure`] scores the result. [`event`]s report progress and are kept in a [`log`].

pub mod assessor;
pub mod bundle;
pub mod corpus;
pub mod discover;
pub mod evaluate;
pub mod event;
mod evidence;
pub mod export;
pub mod folder;
pub mod lint;
pub mod log;
pub mod measure;
mod nearest;
pub mod prompt;
mod record;
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
