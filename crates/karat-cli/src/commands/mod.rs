//! The commands; a file holds one, or a few that belong together.

pub(crate) mod assess;
pub(crate) mod calibrate;
pub(crate) mod compare;
pub(crate) mod fix;
pub(crate) mod import;
pub(crate) mod judge;
pub(crate) mod label;
pub(crate) mod machine;
pub(crate) mod models;
pub(crate) mod next_steps;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod score;
mod score_changes;
pub(crate) mod serve;
pub(crate) mod shell;
pub(crate) mod shipped;
pub(crate) mod store;
pub(crate) mod suite;
pub(crate) mod tools;
pub(crate) mod watch;
pub(crate) mod worker;
