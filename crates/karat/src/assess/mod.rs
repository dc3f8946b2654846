//! Documents held against requirements: golden records with their templates and documents, from files to checked values.
//!
//! Records are found ([`mod@discover`]), read and checked against their template and their documents ([`bundle`]), and looked over
//! for what an author would want to know ([`mod@lint`]).

pub mod bundle;
pub mod discover;
mod evidence;
pub mod folder;
pub mod lint;
mod nearest;
mod record;
pub mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use bundle::{Bundle, DocumentFile, Standing, load, load_all};
pub use discover::{RecordPlace, discover, holds_records};
pub use folder::Folder;
pub use template::Template;
