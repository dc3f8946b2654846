//! From names to who helps a search: what a template describes, what Karat has inside, or a folder with a model.

use super::Template;
use crate::document::suggest::nearest;
use crate::format::retrieval::{EmbeddingProviderV1, RerankProviderV1};
use crate::judge::provider::Surroundings;
use crate::retrieval::RetrievalError;
use crate::retrieval::embed::{EMBEDDERS, Embedder, open_embedder};
use crate::retrieval::rerank::{RERANKERS, Reranker, open_reranker};
use std::path::Path;

/// Who helps where nobody is named.
pub const USUAL: &str = "embedded";

/// Reads a variable of the environment.
pub type Variable<'v> = dyn Fn(&str) -> Option<String> + 'v;

/// What makes vectors, by name; nobody where that is the choice.
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
    // What is inside goes by its own name, whatever a template calls so: nobody agreed to anything else.
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
    let opened = open_embedder(&config, &Surroundings { variable, folder: &folder })?;
    ready(opened.as_ref().and_then(|embedder| embedder.lacks()), name)?;
    Ok(opened)
}

/// What puts candidates into a better order, by name; nobody where that is the choice.
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
    // What is inside goes by its own name, whatever a template calls so: nobody agreed to anything else.
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
    let opened = open_reranker(&config, &Surroundings { variable, folder: &folder })?;
    ready(opened.as_ref().and_then(|reranker| reranker.lacks()), name)?;
    Ok(opened)
}

/// What paths are relative to: the template's folder, or the folder somebody types in.
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
