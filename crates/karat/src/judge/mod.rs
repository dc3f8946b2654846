//! Judges: the local model, language models, human labels and panels of these.
//!
//! A judge decides whether a finding reports a golden. [`run`] is the use case: it opens a session for every judge ([`session`]), asks
//! about the pairs that matching is unsure of, and stores the decisions. Questions to language models are worded by [`template`] and
//! sent by `karat_llm`, which keeps every answer in its ledger.

pub mod agree;
pub mod audit;
pub mod code_context;
pub mod identity;
pub mod local;
pub mod probing;
pub mod registry;
pub mod run;
pub mod session;
pub mod template;
