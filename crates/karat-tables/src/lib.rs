//! What was scored, as Parquet tables: trials, findings, pairs, judgements and figures.
//!
//! [`rows`] lists the columns of every table once: schema, rows and documentation come from that list. [`TablesWriter`] takes one
//! case at a time and holds a bounded part of the rows.

mod case_rows;
mod column;
mod content;
mod error;
mod figure_rows;
mod folder;
mod judgement_rows;
mod part;
pub mod rows;
#[cfg(test)]
mod tests;
mod writer;

pub use case_rows::{ScoredCase, TrialRecord};
pub use column::{Column, ColumnType, Table};
pub use error::{Result, TablesError};
pub use folder::check_target;
pub use writer::{TableCounts, TablesHead, TablesWriter};

/// All tables, in the order of the documentation.
pub static TABLES: [&Table; 5] = [&rows::TRIALS, &rows::FINDINGS, &rows::PAIRS, &rows::JUDGEMENTS, &rows::FIGURES];
