//! Judges: who decides whether a finding reports a golden, and how far to trust them.
//!
//! [`local`] decides without asking anybody. To ask a language model, a [`template::Question`] is rendered to a prompt, a
//! [`provider::Provider`] sends it, [`mod@answer`] reads what comes back, and [`engine::Engine`] does that for many questions
//! at once: in turn, within a budget, again where it failed, and never for what the [`ledger`] has already. [`registry`] knows
//! judges by name, and [`asking`] puts to them what matching leaves open; [`mod@audit`] asks about a whole response. [`labels`]
//! are what people say, [`agree`] tells how far several judges agree, and [`probing`] how easily one is fooled.

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
