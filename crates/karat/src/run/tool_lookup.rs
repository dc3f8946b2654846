//! From a word to a tool: one the suite declares, one of the catalogue, a manifest file, recorded trials, or a model.

use crate::failure::{Failure, Result};
use crate::suggestion;
use crate::suite::LoadedSuite;
use crate::tool::catalogue::{CATALOGUE, TableV1, shipped};
use crate::tool::{placeholders, replay};
use karat_core::wording::count;
use karat_format::diagnostic::Faults;
use karat_format::document::suggest::nearest;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::llm::{LlmV1, StyleV1};
use karat_format::plain_id;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_io::files::Files;
use karat_llm::providers;
use std::collections::HashSet;
use std::path::Path;

pub(crate) type Named = (String, ToolManifestV1);

/// The baseline that is run if a suite declares no tool.
const BASELINE: &str = "patterns";

/// The tools a word stands for: a submission may contain the trials of several.
pub(crate) fn lookup(text: &str, loaded: &LoadedSuite) -> Result<Vec<Named>> {
    if let Some(manifest) = loaded.config.tools.get(text) {
        return Ok(vec![(text.to_owned(), manifest.clone())]);
    }
    if let Some(name) = text.strip_suffix("@live").filter(|name| !name.contains(':')) {
        return live(name, loaded);
    }
    if let Some(name) = text.strip_suffix("@recorded").filter(|name| !name.contains(':')) {
        return recording_of(name, loaded);
    }
    if let Some(file) = text.strip_prefix("replay:") {
        return recorded(loaded, &std::path::absolute(file).map_err(|error| Failure::io(file, error))?);
    }
    if let Some(model) = text.strip_prefix("llm:") {
        let failed = |why| {
            Failure::usage(format!(
                "`{text}` names no model: {why}; write llm:PROVIDER/MODEL or llm:PROVIDER/MODEL@STYLE,STYLE, such as llm:anthropic/claude-sonnet-5-5@direct"
            ))
        };
        return Ok(vec![parse_model(model).map_err(failed)?]);
    }
    if Path::new(text).extension().is_some_and(|extension| extension == "toml") {
        return Ok(vec![read_manifest(Path::new(text))?]);
    }
    if let Some(ready) = shipped(text) {
        return Ok(vec![(text.to_owned(), ready.manifest()?)]);
    }
    let known = loaded.config.tools.keys().map(String::as_str).chain(CATALOGUE.iter().map(|ready| ready.name));
    if text.contains(',') {
        let each: Vec<String> = text.split(',').map(|name| format!("--tool {}", name.trim())).collect();
        return Err(Failure::usage(format!("unknown tool `{text}`; repeat the flag: {}", each.join(" "))));
    }
    Err(Failure::usage(format!(
        "unknown tool `{text}`{} `karat tools list` shows all; a manifest file, replay:FILE or llm:PROVIDER/MODEL also works",
        suggestion(text, known, ";")
    )))
}

/// The tool itself, also where the suite has a recording of that name.
fn live(name: &str, loaded: &LoadedSuite) -> Result<Vec<Named>> {
    let declared = loaded.config.tools.get(name);
    if let Some(manifest) = declared.filter(|manifest| manifest.kind != ToolKindV1::Replay) {
        return Ok(vec![(name.to_owned(), manifest.clone())]);
    }
    let Some(ready) = shipped(name) else {
        let why = if declared.is_some() { "of which only a recording is known" } else { "which is unknown" };
        return Err(Failure::usage(format!(
            "`{name}@live` names a tool {why}; name its manifest with --tool FILE.toml"
        )));
    };
    // Beside its recording it needs a name of its own.
    let own = if declared.is_some() { format!("{name}@live") } else { name.to_owned() };
    Ok(vec![(own, ready.manifest()?)])
}

/// The recording that the suite declares or has among its submissions.
fn recording_of(name: &str, loaded: &LoadedSuite) -> Result<Vec<Named>> {
    if let Some(manifest) = loaded.config.tools.get(name).filter(|manifest| manifest.kind == ToolKindV1::Replay) {
        return Ok(vec![(name.to_owned(), manifest.clone())]);
    }
    let own = loaded.own_submissions().map_err(|error| Failure::io(loaded.files.display("submissions"), error))?;
    for submission in own {
        let mut there = recorded(loaded, Path::new(&submission))?;
        if let Some(at) = there.iter().position(|(own, _)| own == name) {
            let manifest = ToolManifestV1 { recorded_as: Some(name.to_owned()), ..there.swap_remove(at).1 };
            return Ok(vec![(format!("{name}@recorded"), manifest)]);
        }
    }
    Err(Failure::usage(format!("the suite has no recording of `{name}`; name a file with --tool replay:FILE")))
}

/// What is run if no tool is named: all that the suite declares, but for fixers, which report nothing; else the baseline and the
/// suite's own submissions.
pub(crate) fn declared(loaded: &LoadedSuite) -> Result<Vec<Named>> {
    let declared = loaded.config.tools.iter().filter(|(_, manifest)| manifest.kind != ToolKindV1::Fixer);
    let declared: Vec<Named> = declared.map(|(name, manifest)| (name.clone(), manifest.clone())).collect();
    if !declared.is_empty() {
        return Ok(declared);
    }
    let mut tools = lookup(BASELINE, loaded)?;
    let own = loaded.own_submissions().map_err(|error| Failure::io(loaded.files.display("submissions"), error));
    for submission in own? {
        tools.extend(recorded(loaded, Path::new(&submission))?);
    }
    Ok(tools)
}

/// One tool for each that has trials in a submission.
fn recorded(loaded: &LoadedSuite, submission: &Path) -> Result<Vec<Named>> {
    let trials = replay::read(loaded, submission)?;
    let mut seen = HashSet::new();
    let names = trials.iter().map(|trial| trial.tool.as_str()).filter(|name| seen.insert(*name));
    let submission = Some(submission.to_string_lossy().into_owned());
    let manifest = ToolManifestV1 { kind: ToolKindV1::Replay, submission, ..ToolManifestV1::default() };
    Ok(names.map(|name| (name.to_owned(), manifest.clone())).collect())
}

/// A manifest in its own file; the tool is named like the file, or like its table where the file is what `karat tools show` prints.
/// Files that it names are relative to it.
pub fn read_manifest(path: &Path) -> Result<(String, ToolManifestV1)> {
    let shown = path.display().to_string();
    let failed = |error| Failure::io(&shown, error);
    let bytes = std::fs::read(path).map_err(failed)?;
    let (name, mut manifest) = match names_table(&bytes) {
        true => read_table(&shown, &bytes)?,
        false => {
            let decoded = decode_bytes::<ToolManifestV1>(&shown, &bytes, Syntax::Toml, &schema_of::<ToolManifestV1>());
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            (name, decoded.into_result().map_err(Faults::from)?.0)
        }
    };
    let folder = std::path::absolute(path).map_err(failed)?.parent().map(Path::to_owned).unwrap_or_default();
    let folder = folder.canonicalize().map_err(failed)?;
    for file in named_files(&mut manifest) {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    for place in manifest.expose.iter_mut().chain(&mut manifest.writable).filter(|place| !place.starts_with('~')) {
        *place = folder.join(&*place).to_string_lossy().into_owned();
    }
    for command in [&mut manifest.command, &mut manifest.setup, &mut manifest.version] {
        resolve_words(command, &folder);
    }
    manifest.manifest_dir = Some(folder.to_string_lossy().into_owned());
    Ok((name, manifest))
}

/// Gives the files of a suite's tool their full paths, so that the manifest means the same in a file of its own. Returns those that have
/// none, since the suite is inside the binary.
pub fn use_full_paths(manifest: &mut ToolManifestV1, suite: &Files) -> Vec<String> {
    let Files::Disk(root) = suite else { return named_files(manifest).map(|file| file.clone()).collect() };
    let root = root.canonicalize().unwrap_or_else(|_| root.clone());
    for file in named_files(manifest) {
        *file = root.join(&*file).to_string_lossy().into_owned();
    }
    Vec::new()
}

fn named_files(manifest: &mut ToolManifestV1) -> impl Iterator<Item = &mut String> {
    let ToolManifestV1 { submission, rules, rule_map, llm, .. } = manifest;
    [submission, rules, rule_map, &mut llm.file].into_iter().flatten()
}

/// Whether a manifest is the table `[tools.NAME]` of a `karat.toml`.
fn names_table(bytes: &[u8]) -> bool {
    let table = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<toml::Table>().ok());
    table.is_some_and(|table| table.contains_key("tools"))
}

fn read_table(file: &str, bytes: &[u8]) -> Result<Named> {
    let decoded = decode_bytes::<TableV1>(file, bytes, Syntax::Toml, &schema_of::<TableV1>());
    let mut tools = decoded.into_result().map_err(Faults::from)?.0.tools;
    match (tools.pop_first(), tools.len()) {
        (Some(tool), 0) => Ok(tool),
        (_, others) => Err(Failure::bad_input(format!(
            "{file} declares {}: expected one [tools.NAME], or a manifest without a table",
            count(if others == 0 { 0 } else { others + 1 }, "tool")
        ))),
    }
}

/// Makes the relative paths of a command absolute, since trials run in another folder: a program with a slash, and arguments
/// that name something in the manifest's folder, with `./` anything and without it a file.
fn resolve_words(command: &mut [String], folder: &Path) {
    for (index, word) in command.iter_mut().enumerate() {
        let has_placeholder = placeholders::used(word).is_ok_and(|used| !used.is_empty());
        if Path::new(&*word).is_absolute() || has_placeholder {
            continue;
        }
        let path = folder.join(word.strip_prefix("./").unwrap_or(word));
        let is_in_folder = match index {
            0 => word.contains('/'),
            _ if word.starts_with("./") || word.starts_with("../") => path.exists(),
            _ => path.is_file(),
        };
        if is_in_folder {
            *word = placeholders::escape(&path.to_string_lossy());
        }
    }
}

/// Makes one tool of those that differ in their style alone, so that styles are a part of one tool's trials; with `separate`, a tool
/// of each style of those that have several.
pub(crate) fn join_styles(asked: Vec<Named>, separate: bool) -> Vec<Named> {
    let mut joined: Vec<Named> = Vec::new();
    for (name, manifest) in asked {
        let same = joined.iter_mut().find(|(own, other)| {
            let llm = LlmV1 { style: other.llm.style.clone(), ..manifest.llm.clone() };
            // With the same styles, it is the same tool given twice.
            let known = other.llm.styles();
            let adds = manifest.llm.styles().iter().any(|style| !known.contains(style));
            *own == name && adds && *other == ToolManifestV1 { llm, ..manifest.clone() }
        });
        match same {
            Some((_, other)) => other.llm.style = [other.llm.styles(), manifest.llm.styles()].concat(),
            None => joined.push((name, manifest)),
        }
    }
    if !separate {
        return joined;
    }
    let mut separated = Vec::new();
    for (name, manifest) in joined {
        if manifest.llm.style.len() < 2 {
            separated.push((name, manifest));
            continue;
        }
        for style in &manifest.llm.style {
            let llm = LlmV1 { style: vec![*style], ..manifest.llm.clone() };
            separated.push((format!("{name}@{}", style.as_str()), ToolManifestV1 { llm, ..manifest.clone() }));
        }
    }
    separated
}

/// Whether a tool is one that the suite declares, or one of its styles.
pub(crate) fn is_declared(loaded: &LoadedSuite, name: &str, manifest: &ToolManifestV1) -> bool {
    loaded.config.tools.iter().any(|(own, declared)| {
        let llm = LlmV1 { style: declared.llm.style.clone(), ..manifest.llm.clone() };
        let is_style = name.strip_prefix(own.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('@'));
        is_style && *declared == ToolManifestV1 { llm, ..manifest.clone() }
    })
}

/// A tool named after its model, from `PROVIDER/MODEL` or `PROVIDER/MODEL@STYLE,…`; or what is wrong with the text. If answers
/// come from a file, its path takes the model's place.
fn parse_model(text: &str) -> Result<Named, String> {
    let (name, rest) = text.split_once('/').ok_or("expected a `/` between provider and model")?;
    let entry = providers::entry(name).map_err(|error| error.to_string())?;
    if !entry.reads_prompts() {
        return Err(format!("`{name}` cannot be asked to review anything"));
    }
    let (what, style) = split_styles(rest)?;
    if what.trim().is_empty() {
        return Err("the model after the `/` is missing".to_owned());
    }
    let mut llm = LlmV1 { provider: Some(name.to_owned()), style, ..LlmV1::default() };
    let mut model = Some(what.to_owned());
    let mut called = what.to_owned();
    if entry.remote.is_none() {
        let path = std::path::absolute(what).map_err(|error| format!("{what}: {error}"))?;
        llm.file = Some(path.to_string_lossy().into_owned());
        model = None;
        called = Path::new(what).file_stem().unwrap_or_default().to_string_lossy().into_owned();
    }
    let id = plain_id(&called).ok_or_else(|| format!("{called:?} cannot be the name of a tool"))?;
    Ok((id, ToolManifestV1 { kind: ToolKindV1::Llm, model, llm, ..ToolManifestV1::default() }))
}

/// The model and the styles. Names of models may contain an `@` themselves, so only what looks like a style is one.
fn split_styles(text: &str) -> Result<(&str, Vec<StyleV1>), String> {
    let Some((model, words)) = text.rsplit_once('@') else { return Ok((text, Vec::new())) };
    let mut styles = Vec::new();
    for word in words.split(',') {
        if let Some(style) = StyleV1::ALL.into_iter().find(|style| style.as_str() == word) {
            styles.push(style);
            continue;
        }
        return match nearest(word, StyleV1::ALL.iter().map(|style| style.as_str())) {
            Some(near) => Err(format!("unknown style `{word}`, did you mean `{near}`?")),
            None if styles.is_empty() => Ok((text, Vec::new())),
            None => Err(format!("unknown style `{word}`")),
        };
    }
    Ok((model, styles))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_words_of_a_manifest_are_in_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap().join("a{b");
        std::fs::create_dir_all(folder.join("rules")).unwrap();
        std::fs::write(folder.join("tool.py"), "").unwrap();
        std::fs::write(folder.join("tool.toml"), "command = [\"x\"]\n").unwrap();
        let escaped = folder.to_string_lossy().replace('{', "{{");
        let check = |command: &str, expect: &str| {
            let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
            resolve_words(&mut words, &folder);
            assert_eq!(words.join(" ").replace(&escaped, "~"), expect);
        };
        check("./tool.py {checkout}", "~/tool.py {checkout}");
        check("venv/bin/python tool.py ./rules ./tool.py", "~/venv/bin/python ~/tool.py ~/rules ~/tool.py");
        // Names of programs, folders without a `./`, and what is not there mean what they say.
        check("tool.py rules ./... .", "tool.py rules ./... .");
        check("{tool_dir}/bin/x /bin/sh", "{tool_dir}/bin/x /bin/sh");
        let (name, manifest) = read_manifest(&folder.join("tool.toml")).unwrap();
        assert_eq!((name.as_str(), manifest.manifest_dir.as_deref()), ("tool", folder.to_str()));
    }

    #[test]
    fn words_stand_for_models() {
        let check = |text: &str, expect: &str| {
            let got = match parse_model(text) {
                Ok((name, tool)) => {
                    let styles: Vec<&str> = tool.llm.style.iter().map(|style| style.as_str()).collect();
                    let (model, provider) = (tool.model.unwrap_or_default(), tool.llm.provider.unwrap());
                    format!(
                        "{name} = {provider} {model} {}",
                        if styles.is_empty() { "-".into() } else { styles.join("+") }
                    )
                }
                Err(why) => format!("fault: {why}"),
            };
            assert_eq!(got, expect, "{text}");
        };
        check("anthropic/claude-sonnet-4", "claude-sonnet-4 = anthropic claude-sonnet-4 -");
        check("openai/gpt@adversarial", "gpt = openai gpt adversarial");
        check("openai/gpt@direct,adversarial", "gpt = openai gpt direct+adversarial");
        check("openai/gpt@direct,20240229", "fault: unknown style `20240229`");
        check("openai/org/name", "org/name = openai org/name -");
        check("openai/../name", "name = openai ../name -");
        check("openai/claude@20240229", "claude@20240229 = openai claude@20240229 -");
        check("openai/m\u{7}x", "m x = openai m\u{7}x -");
        check("scripted/a/answers.jsonl@direct", "answers = scripted  direct");
        check("openai/gpt@advesarial", "fault: unknown style `advesarial`, did you mean `adversarial`?");
        check("antropic/m", "fault: unknown provider `antropic`; did you mean `anthropic`?");
        check("local/m", "fault: `local` cannot be asked to review anything");
        check("openai", "fault: expected a `/` between provider and model");
        check("openai/", "fault: the model after the `/` is missing");
        check("openai/..", "fault: \"..\" cannot be the name of a tool");
    }
}
