//! The control connection between the desktop client and the hub.

mod encode;
mod message;

pub use encode::{decode, encode};
pub use message::Message;
