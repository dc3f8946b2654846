//! An append-only journal: records with a length and a checksum, one behind the other.

mod checksum;
mod journal;
mod reader;

pub use journal::{Journal, MAX_PAYLOAD};
pub use reader::read_all;
