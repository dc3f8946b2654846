//! Resolves names of embedders and rerankers: a template's provider, a built-in one, or a model folder.

use super::Template;
use crate::retrieval::embed::{EMBEDDERS, Embedder, SearchProviderEntry, open_embedder};
use crate::retrieval::rerank::{RERANKERS, Reranker, open_reranker};
use crate::{DocumentError, Result};
use karat_format::document::suggest::did_you_mean;
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::http::Endpoint;
use karat_llm::provider::ProviderEnv;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The reranker used by default. By default there is no embedder: with the reranker, vectors of small models add nothing.
pub const DEFAULT_RERANKER: &str = "embedded";

/// The name for no embedder or reranker.
pub const NONE: &str = "none";

/// Reads an environment variable.
pub type Variable<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// Opens an embedder by name; `None` if the name is `none`.
pub fn embedder(name: &str, template: &Template, variable: &Variable<'_>) -> Result<Option<Box<dyn Embedder>>> {
    let configure = |provider, path| EmbeddingProviderV1 { provider, path, ..EmbeddingProviderV1::default() };
    let stated = &template.config.embedding_providers;
    let (config, folder) = resolve("embedder", name, template, stated, EMBEDDERS, configure)?;
    let opened = open_embedder(&config, &ProviderEnv { variable, folder: &folder })?;
    check_setup(opened.as_ref().and_then(|embedder| embedder.endpoint()), name)?;
    Ok(opened)
}

/// Opens a reranker by name; `None` if the name is `none`.
pub fn reranker(name: &str, template: &Template, variable: &Variable<'_>) -> Result<Option<Box<dyn Reranker>>> {
    let configure = |provider, path| RerankProviderV1 { provider, path, ..RerankProviderV1::default() };
    let stated = &template.config.rerank_providers;
    let (config, folder) = resolve("reranker", name, template, stated, RERANKERS, configure)?;
    let opened = open_reranker(&config, &ProviderEnv { variable, folder: &folder })?;
    check_setup(opened.as_ref().and_then(|reranker| reranker.endpoint()), name)?;
    Ok(opened)
}

/// A provider's configuration, and what its paths are relative to: the template, or the current folder if typed.
fn resolve<C: Clone, P: ?Sized>(
    what: &str,
    name: &str,
    template: &Template,
    stated: &BTreeMap<String, C>,
    built_in: &[SearchProviderEntry<C, P>],
    configure: impl Fn(String, Option<String>) -> C,
) -> Result<(C, PathBuf)> {
    let template_folder = || template.folder.disk_path("").unwrap_or_default();
    // Built-in names take precedence over a template's: the user has not agreed to another provider.
    if built_in.iter().any(|entry| entry.name == name) {
        return Ok((configure(name.to_owned(), None), template_folder()));
    }
    if let Some(config) = stated.get(name) {
        return Ok((config.clone(), template_folder()));
    }
    if Path::new(name).is_dir() {
        return Ok((configure("folder".to_owned(), Some(name.to_owned())), PathBuf::new()));
    }
    let known: Vec<&str> = stated.keys().map(String::as_str).chain(built_in.iter().map(|entry| entry.name)).collect();
    let hint = did_you_mean(name, known.iter().copied())
        .unwrap_or_else(|| format!("there are {}, and folders with a model", known.join(", ")));
    Err(DocumentError::Usage(format!("unknown {what} `{name}`; {hint}")))
}

fn check_setup(endpoint: Option<&Endpoint>, name: &str) -> Result<()> {
    match endpoint.and_then(Endpoint::missing_setup) {
        Some(why) => Err(DocumentError::Failed(format!("`{name}`: {why}"))),
        None => Ok(()),
    }
}
