//! The pure heart of Karat.
//!
//! Goldens and findings go in, a scorecard comes out: [`scorecard::score`]. Nothing here opens a file, reads a clock or the
//! environment, or depends on the order of a hash map; the same values in give the same values out, to the bit.

pub mod assessment;
pub mod calibrate;
pub mod clusters;
pub mod comparison;
pub mod finding;
pub mod golden;
pub mod identity;
pub mod ids;
pub mod judgement;
pub mod lines;
pub mod local_judge;
pub mod matching;
pub mod metric;
pub mod panel;
pub mod path;
pub mod pooling;
pub mod probe;
pub mod profile;
pub mod scorecard;
pub mod stats;
pub mod suite;
pub mod trec;
pub mod trial;
pub mod wording;
