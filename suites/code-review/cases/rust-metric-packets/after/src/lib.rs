//! Collects measurements of services for the status page.

mod names;
mod packet;
mod sample;
mod store;

pub use names::OTHER;
pub use packet::{decode, PacketError};
pub use sample::Sample;
pub use store::{Store, Window};
