//! The control connection between the desktop client and the hub.

mod decode;
mod encode;
mod message;

pub use decode::{DecodeError, Decoder};
pub use encode::{encode, EncodeError};
pub use message::Message;
