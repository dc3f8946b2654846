//! Statistics over plain numbers. Nothing here knows what the numbers are about.

pub mod summary;
