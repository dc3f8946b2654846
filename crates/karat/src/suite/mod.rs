//! Suites on disk.

pub mod from_commit;

mod case_draft;
