//! Judges: the local model, language models, people's labels and panels of these.
//!
//! A judge decides whether a finding reports a golden. [`run`] is the use case: it opens the judge ([`registry`]), asks it about
//! the pairs that matching leaves open ([`session`]), and adds its judgements to the work. Questions to language models are worded
//! by [`template`] and sent by `karat_llm`, which keeps every answer in its ledger.

pub mod agree;
pub mod audit;
mod code_context;
pub mod local;
pub mod probing;
pub mod question;
pub mod registry;
pub mod run;
pub mod session;
pub mod template;
