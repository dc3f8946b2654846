//! From a word to a tool: one the suite declares, one of the catalogue, a manifest file, recorded trials, or a model.

use super::llm;
use super::replay::{self, RecordingError};
use crate::suite::LoadedSuite;
use crate::tool::catalogue::{CATALOGUE, shipped};
use karat_format::diagnostic::Faults;
use karat_format::document::suggest::nearest;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use std::io;
use std::path::{Path, PathBuf};

/// A tool, and the name it is shown under.
pub type Named = (String, ToolManifestV1);

/// The baseline that is run where a suite declares no tool.
pub const BASELINE: &str = "patterns";

/// Why no tool goes by a word.
#[derive(Debug, thiserror::Error)]
pub enum LookupError {
    /// There is none.
    #[error(
        "unknown tool `{text}`{}; `karat tools list` shows all; a manifest file, replay:FILE or llm:PROVIDER/MODEL also works",
        near.as_ref().map(|near| format!(", did you mean `{near}`?")).unwrap_or_default()
    )]
    Unknown {
        /// What was asked for.
        text: String,
        /// The tool of the most similar name.
        near: Option<String>,
    },
    /// No model goes by that.
    #[error(
        "`{text}` names no model: {why}; write llm:PROVIDER/MODEL or llm:PROVIDER/MODEL@STYLE, such as llm:anthropic/claude-sonnet-4-20250514@direct"
    )]
    BadModel {
        /// What was asked for.
        text: String,
        /// What is wrong with it.
        why: String,
    },
    /// A file cannot be read.
    #[error("{file}: {source}")]
    Io {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file is wrong.
    #[error(transparent)]
    Faults(#[from] Faults),
}

/// The tools a word stands for. A submission holds the trials of several.
pub fn lookup(text: &str, loaded: &LoadedSuite) -> Result<Vec<Named>, LookupError> {
    if let Some(manifest) = loaded.config.tools.get(text) {
        return Ok(vec![(text.to_owned(), manifest.clone())]);
    }
    if let Some(file) = text.strip_prefix("replay:") {
        let path = absolute(Path::new(file)).map_err(|source| LookupError::Io { file: file.to_owned(), source })?;
        return recorded(loaded, &path);
    }
    if let Some(model) = text.strip_prefix("llm:") {
        let named = llm::parse_reference(model).map_err(|why| LookupError::BadModel { text: text.to_owned(), why })?;
        return Ok(vec![named]);
    }
    if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
        return Ok(vec![from_file(Path::new(text))?]);
    }
    if let Some(ready) = shipped(text) {
        return Ok(vec![(text.to_owned(), ready.manifest()?)]);
    }
    let known = loaded.config.tools.keys().map(String::as_str).chain(CATALOGUE.iter().map(|ready| ready.name));
    Err(LookupError::Unknown { text: text.to_owned(), near: nearest(text, known).map(str::to_owned) })
}

/// What is run where nobody names a tool: all that the suite declares, else the baseline and the suite's own submissions.
pub fn declared(loaded: &LoadedSuite) -> Result<Vec<Named>, LookupError> {
    if !loaded.config.tools.is_empty() {
        return Ok(loaded.config.tools.iter().map(|(name, manifest)| (name.clone(), manifest.clone())).collect());
    }
    let mut tools = lookup(BASELINE, loaded)?;
    let own = loaded.own_submissions();
    let own = own.map_err(|source| LookupError::Io { file: loaded.files.display("submissions"), source })?;
    for submission in own {
        tools.extend(recorded(loaded, Path::new(&submission))?);
    }
    Ok(tools)
}

/// One tool for each that a submission has trials of.
fn recorded(loaded: &LoadedSuite, submission: &Path) -> Result<Vec<Named>, LookupError> {
    let trials = replay::read(loaded, submission).map_err(|error| match error {
        RecordingError::Io { file, source } => LookupError::Io { file, source },
        RecordingError::Faults(faults) => LookupError::Faults(faults),
        RecordingError::NoTrials { file, .. } => {
            LookupError::Io { file, source: io::Error::other("it contains no trial") }
        }
    })?;
    let mut names: Vec<String> = Vec::new();
    for trial in &trials {
        if !names.iter().any(|name| name == trial.tool.as_str()) {
            names.push(trial.tool.to_string());
        }
    }
    let manifest = || ToolManifestV1 {
        kind: ToolKindV1::Replay,
        submission: Some(submission.to_string_lossy().into_owned()),
        ..ToolManifestV1::default()
    };
    Ok(names.into_iter().map(|name| (name, manifest())).collect())
}

/// A manifest in a file of its own, called like the file. Files it names lie beside it.
fn from_file(path: &Path) -> Result<Named, LookupError> {
    let shown = path.display().to_string();
    let failed = |source| LookupError::Io { file: shown.clone(), source };
    let bytes = std::fs::read(path).map_err(failed)?;
    let decoded = decode_bytes::<ToolManifestV1>(&shown, &bytes, Syntax::Toml, &schema_of::<ToolManifestV1>());
    let (mut manifest, _) = decoded.into_result().map_err(Faults::from)?;
    let folder = absolute(path).map_err(failed)?.parent().map(Path::to_owned).unwrap_or_default();
    let files = [&mut manifest.submission, &mut manifest.rules, &mut manifest.rule_map, &mut manifest.llm.file];
    for file in files.into_iter().flatten() {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    for place in manifest.expose.iter_mut().chain(&mut manifest.writable).filter(|place| !place.starts_with('~')) {
        *place = folder.join(&*place).to_string_lossy().into_owned();
    }
    // A program that is named by a path lies beside the manifest too, wherever trials take place.
    for command in [&mut manifest.command, &mut manifest.setup, &mut manifest.version] {
        if let Some(program) =
            command.first_mut().filter(|program| program.starts_with("./") || program.starts_with("../"))
        {
            *program = folder.join(&*program).to_string_lossy().into_owned();
        }
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok((name, manifest))
}

fn absolute(path: &Path) -> io::Result<PathBuf> {
    std::path::absolute(path)
}
