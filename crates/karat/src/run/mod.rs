//! Runs: a plan, executed trial by trial. What happens is told as events, which the terminal and the store consume alike.

pub mod command;
pub mod drive;
mod environment;
pub mod execute;
mod import_output;
pub mod llm;
pub mod lookup;
mod patterns;
pub mod plan;
pub mod ready_error;
pub mod replay;
mod room;
pub mod run_context;
pub mod scratch;
pub mod selection;
pub mod templates;
mod trial_folder;

pub use import_output::serve;
