//! The assessment track: documents assessed against requirements, with the parts that are evidence.
//!
//! A record states the truth about a bundle of documents ([`record`]). Texts become tokens ([`text`]), parts of
//! the documents are compared with golden parts ([`part_match`]), and what was retrieved and what was answered
//! is measured ([`retrieval`], [`scores`]), item by item ([`items`]).

#![expect(missing_docs, reason = "names of fields and variants say it")]

pub mod items;
mod lcs;
pub mod part_match;
pub mod record;
pub mod retrieval;
pub mod rules;
pub mod scores;
pub mod text;
