//! Resolves names of embedders and rerankers: a template's provider, a built-in one, or a model folder.

use super::Template;
use crate::retrieval::RetrievalError;
use crate::retrieval::embed::{EMBEDDERS, Embedder, open_embedder};
use crate::retrieval::rerank::{RERANKERS, Reranker, open_reranker};
use karat_format::document::suggest::nearest;
use karat_format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use karat_llm::provider::ProviderEnv;
use std::path::Path;

/// The provider used by default.
pub const DEFAULT: &str = "embedded";

/// Reads an environment variable.
pub type Variable<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// Opens an embedder by name; `None` if the name is `none`.
pub fn embedder(
    name: &str,
    template: &Template,
    variable: &Variable<'_>,
) -> Result<Option<Box<dyn Embedder>>, RetrievalError> {
    let stated = template.config.embedding_providers.get(name);
    let inside = EMBEDDERS.iter().any(|entry| entry.name == name);
    let named = |provider: &str, path: Option<String>| EmbeddingProviderV1 {
        provider: provider.to_owned(),
        path,
        ..EmbeddingProviderV1::default()
    };
    // Built-in names take precedence over a template's: the user has not agreed to another provider.
    let (config, typed) = match stated {
        _ if inside => (named(name, None), false),
        Some(config) => (config.clone(), false),
        None if Path::new(name).is_dir() => (named("folder", Some(name.to_owned())), true),
        None => {
            let own = template.config.embedding_providers.keys().map(String::as_str);
            return Err(unknown("embedder", name, own.chain(EMBEDDERS.iter().map(|entry| entry.name)).collect()));
        }
    };
    let folder = folder(template, typed);
    let opened = open_embedder(&config, &ProviderEnv { variable, folder: &folder })?;
    ready(opened.as_ref().and_then(|embedder| embedder.missing_setting()), name)?;
    Ok(opened)
}

/// Opens a reranker by name; `None` if the name is `none`.
pub fn reranker(
    name: &str,
    template: &Template,
    variable: &Variable<'_>,
) -> Result<Option<Box<dyn Reranker>>, RetrievalError> {
    let stated = template.config.rerank_providers.get(name);
    let inside = RERANKERS.iter().any(|entry| entry.name == name);
    let named = |provider: &str, path: Option<String>| RerankProviderV1 {
        provider: provider.to_owned(),
        path,
        ..RerankProviderV1::default()
    };
    // Built-in names take precedence over a template's: the user has not agreed to another provider.
    let (config, typed) = match stated {
        _ if inside => (named(name, None), false),
        Some(config) => (config.clone(), false),
        None if Path::new(name).is_dir() => (named("folder", Some(name.to_owned())), true),
        None => {
            let own = template.config.rerank_providers.keys().map(String::as_str);
            return Err(unknown("reranker", name, own.chain(RERANKERS.iter().map(|entry| entry.name)).collect()));
        }
    };
    let folder = folder(template, typed);
    let opened = open_reranker(&config, &ProviderEnv { variable, folder: &folder })?;
    ready(opened.as_ref().and_then(|reranker| reranker.missing_setting()), name)?;
    Ok(opened)
}

/// What paths are relative to: the template's folder, or the current folder for typed ones.
fn folder(template: &Template, typed: bool) -> std::path::PathBuf {
    if typed { std::path::PathBuf::new() } else { template.folder.disk_path("").unwrap_or_default() }
}

fn ready(lacks: Option<&str>, name: &str) -> Result<(), RetrievalError> {
    lacks.map_or(Ok(()), |why| Err(RetrievalError::Failed { who: format!("`{name}`"), why: why.to_owned() }))
}

fn unknown(what: &'static str, name: &str, known: Vec<&str>) -> RetrievalError {
    let hint = nearest(name, known.iter().copied()).map_or_else(
        || format!("there are {}, and folders with a model", known.join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    RetrievalError::UnknownProvider { what, name: name.to_owned(), hint }
}
