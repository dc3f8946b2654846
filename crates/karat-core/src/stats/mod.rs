//! Statistics over plain numbers. Nothing here knows what the numbers are about.

pub mod agreement;
pub mod bootstrap;
pub mod cluster;
pub mod correct;
pub mod dawid_skene;
pub mod distribution;
pub mod interval;
pub mod paired;
pub mod proportion;
pub mod random;
pub mod rank;
pub mod summary;
pub mod two_phase;
pub mod variance;
