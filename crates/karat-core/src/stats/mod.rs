//! Statistics over plain numbers. Nothing here knows what the numbers are about.

pub mod agreement;
pub mod bootstrap;
pub mod correct;
pub mod dawid_skene;
pub mod distribution;
pub mod interval;
pub mod jackknife;
pub(crate) mod logistic;
pub mod paired;
pub(crate) mod permutation;
pub mod random;
pub mod rank;
pub mod summary;
pub(crate) mod two_phase;
pub mod variance;
