//! The assessment track: documents held against requirements, by whoever is asked, and measured.

pub mod assessor;
pub mod log;
