//! Collects measurements of services for the status page.

mod sample;
mod store;

pub use sample::{parse, Sample};
pub use store::Store;
