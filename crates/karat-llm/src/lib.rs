//! Calls language models for judges, `llm` tools, assessors and retrieval.
//!
//! The [`engine`] fills a [`prompt::Question`] into its template, looks it up in the [`ledger`], sends it as a request to a
//! [`provider`] within rate and budget, and returns an [`ledger::Exchange`] whose answer fits the schema.

pub mod adaptation;
pub mod answer;
mod anthropic;
pub mod engine;
pub mod error;
mod exchange;
mod google;
pub mod http;
pub mod judge_id;
pub mod ledger;
pub mod models;
mod openai;
pub mod permits;
pub mod prompt;
pub mod provider;
pub mod providers;
pub mod remote;
pub mod runtime;
mod scripted;
#[cfg(test)]
mod testing;
pub mod vendor;
