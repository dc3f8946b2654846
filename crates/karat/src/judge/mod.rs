//! Judges: asking a language model, and hearing what it says as data.
//!
//! A [`template::Question`] is rendered to a prompt, a [`provider::Provider`] sends it, [`mod@answer`] reads what comes
//! back, and [`engine::Engine`] does that for many questions at once: in turn, within a budget, again where it failed, and
//! never for what the [`ledger`] has already.

pub mod answer;
pub mod engine;
pub mod ledger;
pub mod provider;
pub mod template;

mod anthropic;
mod http;
mod openai;
mod scripted;
