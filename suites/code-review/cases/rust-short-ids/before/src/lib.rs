//! Identifiers of requests, as they appear in logs and headers.

mod id;

pub use id::Id;
