//! The assessment track: documents held against requirements, with the parts that are evidence.
//!
//! A record says what is true of a bundle of documents ([`record`]). Texts become tokens ([`text`]), parts of the documents are
//! held against golden parts ([`part_match`]), and what was retrieved and what was answered is measured ([`retrieval`],
//! [`scores`]), item by item ([`items`]).

pub mod items;
mod lcs;
pub mod part_match;
pub mod record;
pub mod retrieval;
pub mod rules;
pub mod scores;
pub mod text;
