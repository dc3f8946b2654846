//! Judges: what decides whether a finding reports a golden.

pub mod local;
