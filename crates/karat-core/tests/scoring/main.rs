//! What becomes of goldens and findings, told in one line each.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop loudly")]

mod audits;
mod by_case;
mod corrected;
mod extras;
mod intervals;
mod judge_rounds;
mod label_priority;
mod many;
mod metrics;
mod outages;
mod outcomes;
mod over_trials;
mod partly_audited;
mod properties;
mod reasons;
mod story;
mod thresholds;
mod ties;
