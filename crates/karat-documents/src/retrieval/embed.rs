//! Embedders: the registry.

pub use super::provider::{Embedded, Embedder, SearchProviderEntry, Side};

use super::{Result, folder, http, provider};
use karat_format::retrieval::EmbeddingProviderV1;
use karat_llm::provider::ProviderEnv;

/// All embedders, in listing order.
pub static EMBEDDERS: &[SearchProviderEntry<EmbeddingProviderV1, dyn Embedder>] = &[
    SearchProviderEntry { name: "folder", open: Some(folder::open_embedder) },
    SearchProviderEntry { name: "http", open: Some(http::open_embedder) },
    SearchProviderEntry { name: "none", open: None },
];

/// Opens an embedder; `None` if `none` is chosen. Files are read now; no connection is made before the first text.
pub fn open_embedder(config: &EmbeddingProviderV1, env: &ProviderEnv<'_>) -> Result<Option<Box<dyn Embedder>>> {
    provider::open("embedder", EMBEDDERS, &config.provider, config, env)
}
