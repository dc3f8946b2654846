//! A small working suite of either kind to start from, with the schemas by which editors check and complete its files.

use super::write::write_below;
use karat_format::config::SuiteKind;
use karat_format::schemas::SCHEMAS;
use karat_io::files::Files;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

macro_rules! template {
    ($folder:literal: $($path:literal,)+) => {
        &[$(($path, include_str!(concat!("../../templates/", $folder, "/", $path))),)+]
    };
}

/// Files with their paths.
type Template = &'static [(&'static str, &'static str)];

static FINDINGS: Template = template! { "suite":
    "karat.toml",
    "cases/unchecked-index/case.yaml",
    "cases/unchecked-index/before/pager.py",
    "cases/unchecked-index/after/pager.py",
    "cases/tidy-rename/case.yaml",
    "cases/tidy-rename/before/greet.py",
    "cases/tidy-rename/after/greet.py",
    "submissions/example-reviewer.jsonl",
};

static ASSESSMENT: Template = template! { "assessment":
    "karat.toml",
    "templates/hosting/config.yml",
    "bundles/example-host/hosting_terms.md",
    "bundles/example-host/example-host.golden-assessment.yml",
};

/// The name of the suite in a template, which becomes that of its folder.
const NAME: &str = "name = \"my-suite\"";

/// The file of a template that every suite needs.
const CONFIG: &str = "karat.toml";

/// The folder of a suite with the schemas that its files name. It is committed with them, so that every editor finds it.
const SCHEMA_FOLDER: &str = "schemas";

/// The suite to write.
#[expect(missing_docs, reason = "field names say it")]
pub struct InitRequest {
    pub folder: PathBuf,
    pub kind: SuiteKind,
    /// Without examples.
    pub bare: bool,
}

/// The line by which a language server finds the schema of a case; empty if the suite does not have it.
pub(super) fn case_schema_link(suite: &Path) -> &'static str {
    match suite.join(SCHEMA_FOLDER).join("case.json").is_file() {
        true => "# yaml-language-server: $schema=../../schemas/case.json\n",
        false => "",
    }
}

/// Writes the template into a folder that has no suite yet, and says which files it wrote. Nothing is overwritten. The suite is
/// named after the folder.
pub fn write(request: &InitRequest) -> io::Result<Vec<String>> {
    let InitRequest { folder, kind, bare } = request;
    if folder.is_file() {
        let message = format!("{} is a file; name a folder for the suite", folder.display());
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
    }
    let (template, schemas): (_, &[&str]) = match kind {
        SuiteKind::Findings => (FINDINGS, &["config.json", "case.json"]),
        SuiteKind::Assessment => (ASSESSMENT, &["config.json", "golden-record.json", "template.json"]),
    };
    let examples = template.iter().filter(|(path, _)| !bare || *path == CONFIG);
    let mut files: Vec<(String, String)> =
        examples.map(|(path, content)| ((*path).to_owned(), (*content).to_owned())).collect();
    for schema in SCHEMAS.iter().filter(|schema| schemas.contains(&schema.file)) {
        files.push((format!("{SCHEMA_FOLDER}/{}", schema.file), schema.text()));
    }
    for (path, _) in &files {
        let full = folder.join(path);
        if std::fs::symlink_metadata(&full).is_ok() {
            let message = format!("{} already exists; choose a folder without a suite", full.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
    }
    std::fs::create_dir_all(folder)?;
    let real = folder.canonicalize()?;
    let name = real.file_name().map_or_else(|| "suite".to_owned(), |name| name.to_string_lossy().into_owned());
    let name = format!("name = {}", toml::Value::String(name));
    for (path, content) in &files {
        let content = if path == CONFIG { content.replace(NAME, &name) } else { content.clone() };
        write_below(folder, path, content.as_bytes())?;
    }
    Ok(files.into_iter().map(|(path, _)| path).collect())
}

/// Removes the example cases that are as `write` left them, with the example submission, and returns their ids.
pub(super) fn remove_examples(suite: &Path) -> io::Result<Vec<String>> {
    let mut examples: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    let mut submissions = Vec::new();
    for (path, content) in FINDINGS {
        match path.strip_prefix("cases/").and_then(|path| path.split_once('/')) {
            Some((id, _)) => examples.entry(id).or_default().push((path, content)),
            None => submissions.extend(path.starts_with("submissions/").then_some((*path, *content))),
        }
    }
    let files = Files::Disk(suite.to_owned());
    let unchanged =
        |(path, content): &(&str, &str)| matches!(files.read(path), Ok(Some(bytes)) if bytes == content.as_bytes());
    // What was changed became the user's own.
    let is_example = |id: &str, own: &[(&str, &str)]| {
        let there = files.walk(&format!("cases/{id}")).map_or(0, |found| found.files.len() + found.refused.len());
        there == own.len() && own.iter().all(unchanged)
    };
    let mut removed = Vec::new();
    for (id, own) in &examples {
        if is_example(id, own) {
            std::fs::remove_dir_all(suite.join("cases").join(id))?;
            removed.push((*id).to_owned());
        }
    }
    // The submission is about all of them.
    if removed.len() == examples.len() {
        for (path, _) in submissions.iter().filter(|submission| unchanged(submission)) {
            std::fs::remove_file(suite.join(path))?;
        }
    }
    Ok(removed)
}
