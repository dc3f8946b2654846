//! Judges: who decides whether a finding reports a golden, and how far to trust them.
//!
//! [`local`] decides without asking anybody. To ask a language model, a [`template::Question`] is rendered to a prompt, a
//! [`provider::Provider`] sends it, [`mod@answer`] reads what comes back, and [`engine::Engine`] does that for many questions
//! at once: in turn, within a budget, again where it failed, and never for what the [`ledger`] has already. [`roster`] knows
//! judges by name, and [`asking`] puts to them what matching leaves open; [`mod@audit`] asks about a whole response. [`labels`]
//! are what people say, [`agree`] tells how far several judges agree, and [`probing`] how easily one is fooled.

pub mod adaptation;
pub mod agree;
pub mod answer;
pub mod asking;
pub mod audit;
pub mod context;
pub mod engine;
pub mod identity;
pub mod labels;
pub mod ledger;
pub mod local;
pub mod probing;
pub mod provider;
pub mod providers;
pub mod roster;
pub mod template;
pub mod vendor;

pub(crate) mod http;

mod anthropic;
mod openai;
mod scripted;
pub(crate) mod watched;
