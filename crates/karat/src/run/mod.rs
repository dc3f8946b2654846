//! Runs: a plan, executed trial by trial, and events about it for the terminal and the store.

pub(crate) mod parallel;
pub mod plan;
pub mod selection;
pub mod tool_lookup;
pub mod workers;
