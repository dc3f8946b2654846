//! What `folder` is in a build without the feature `models`.

use super::provider::{Embedder, Reranker};
use super::{DocumentError, Result};
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::provider::ProviderEnv;

const NO_MODELS: &str = "this build of Karat cannot load models from folders; install it with `--features models`, or use a \
                         model on a server with `provider: http`";

pub(super) fn open_embedder(_: &EmbeddingProviderV1, _: &ProviderEnv<'_>) -> Result<Box<dyn Embedder>> {
    Err(DocumentError::Usage(NO_MODELS.to_owned()))
}

pub(super) fn open_reranker(_: &RerankProviderV1, _: &ProviderEnv<'_>) -> Result<Box<dyn Reranker>> {
    Err(DocumentError::Usage(NO_MODELS.to_owned()))
}
