//! Statistics over plain numbers. Nothing here knows what the numbers are about.

pub mod agreement;
pub mod dawid_skene;
pub mod summary;
