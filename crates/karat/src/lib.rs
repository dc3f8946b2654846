//! Karat as a library: everything with effects around the pure core.

pub mod baseline;
pub mod checkout;
pub mod comparison;
pub mod evaluate;
pub mod expect;
pub mod failure;
pub mod gate;
pub mod judge;
pub mod label;
pub mod plausibility;
pub mod power;
pub mod profile;
pub mod ranking;
pub mod report_view;
pub mod run;
pub mod run_loader;
pub mod scoring;
pub mod suite;
pub mod tool;
pub mod trec;
