//! Identifiers of requests, as they appear in logs and headers.

mod hex;
mod id;

pub use hex::Hex;
pub use id::{Id, ParseIdError};
