//! Runs: a plan, executed trial by trial. What happens is told as events, which the terminal and the store consume alike.

pub mod record;
