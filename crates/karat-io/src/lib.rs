//! Shared helpers for files, cancellation and secrets.

pub mod atomic_write;
pub mod cancel;
pub mod files;
pub mod regular_file;
pub mod remove_tree;
pub mod secret;

/// The BLAKE3 hash of content, in hex.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
