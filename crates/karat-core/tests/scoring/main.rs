//! What becomes of goldens and findings, told in one line each.

mod metrics;
mod outcomes;
mod properties;
mod story;
