//! Documents held against requirements: golden records with their templates and documents, what a search finds in them, what
//! assessors say, and what all of that is worth.
//!
//! Records are found ([`mod@discover`]), read and checked against their template and their documents ([`bundle`]), and looked over
//! for what an author would want to know ([`mod@lint`]). Their documents become a [`corpus`], every requirement is searched for once
//! ([`mod@search`]), whoever was named says how far it is met ([`evaluate`], [`assessor`]), and [`measure`] scores it. What happens is
//! told as [`event`]s and kept in a [`log`].

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
pub mod means;
pub mod measure;
mod nearest;
mod record;
pub mod search;
pub mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bundle::{Bundle, DocumentFile, Standing, load, load_all};
pub use discover::{RecordPlace, discover, holds_records};
pub use folder::Folder;
pub use template::Template;
