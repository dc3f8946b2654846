//! From a word to a tool: one the suite declares, one of the catalogue, a manifest file, recorded trials, or a model.

use crate::failure::{Failure, Result};
use crate::suggestion;
use crate::suite::LoadedSuite;
use crate::tool::catalogue::{CATALOGUE, shipped};
use crate::tool::{placeholders, replay};
use karat_format::diagnostic::Faults;
use karat_format::document::suggest::nearest;
use karat_format::document::{Syntax, decode_bytes, schema_of};
use karat_format::llm::{LlmV1, StyleV1};
use karat_format::plain_id;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
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
    if let Some(file) = text.strip_prefix("replay:") {
        return recorded(loaded, &std::path::absolute(file).map_err(|error| Failure::io(file, error))?);
    }
    if let Some(model) = text.strip_prefix("llm:") {
        let failed = |why| {
            Failure::usage(format!(
                "`{text}` names no model: {why}; write llm:PROVIDER/MODEL or llm:PROVIDER/MODEL@STYLE, such as llm:anthropic/claude-sonnet-4-20250514@direct"
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

/// A manifest in its own file; the tool is named like the file. Files that it names are relative to it.
pub fn read_manifest(path: &Path) -> Result<(String, ToolManifestV1)> {
    let shown = path.display().to_string();
    let failed = |error| Failure::io(&shown, error);
    let bytes = std::fs::read(path).map_err(failed)?;
    let decoded = decode_bytes::<ToolManifestV1>(&shown, &bytes, Syntax::Toml, &schema_of::<ToolManifestV1>());
    let (mut manifest, _) = decoded.into_result().map_err(Faults::from)?;
    let folder = std::path::absolute(path).map_err(failed)?.parent().map(Path::to_owned).unwrap_or_default();
    let folder = folder.canonicalize().map_err(failed)?;
    let files = [&mut manifest.submission, &mut manifest.rules, &mut manifest.rule_map, &mut manifest.llm.file];
    for file in files.into_iter().flatten() {
        *file = folder.join(&*file).to_string_lossy().into_owned();
    }
    for place in manifest.expose.iter_mut().chain(&mut manifest.writable).filter(|place| !place.starts_with('~')) {
        *place = folder.join(&*place).to_string_lossy().into_owned();
    }
    for command in [&mut manifest.command, &mut manifest.setup, &mut manifest.version] {
        resolve_words(command, &folder);
    }
    manifest.manifest_dir = Some(folder.to_string_lossy().into_owned());
    Ok((path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(), manifest))
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

/// A tool named after its model, from `PROVIDER/MODEL` or `PROVIDER/MODEL@STYLE`; or what is wrong with the text. If answers
/// come from a file, its path takes the model's place.
fn parse_model(text: &str) -> Result<Named, String> {
    let (name, rest) = text.split_once('/').ok_or("expected a `/` between provider and model")?;
    let entry = providers::entry(name).map_err(|error| error.to_string())?;
    if !entry.reads_prompts() {
        return Err(format!("`{name}` cannot be asked to review anything"));
    }
    let (what, style) = split_style(rest)?;
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
    if let Some(style) = style {
        called = format!("{called}@{}", style.as_str());
    }
    let id = plain_id(&called).ok_or_else(|| format!("{called:?} cannot be the name of a tool"))?;
    Ok((id, ToolManifestV1 { kind: ToolKindV1::Llm, model, llm, ..ToolManifestV1::default() }))
}

/// The model and the style. Names of models may contain an `@` themselves, so only what looks like a style is one.
fn split_style(text: &str) -> Result<(&str, Option<StyleV1>), String> {
    let Some((model, word)) = text.rsplit_once('@') else { return Ok((text, None)) };
    if let Some(style) = StyleV1::ALL.into_iter().find(|style| style.as_str() == word) {
        return Ok((model, Some(style)));
    }
    match nearest(word, StyleV1::ALL.iter().map(|style| style.as_str())) {
        Some(near) => Err(format!("unknown style `{word}`, did you mean `{near}`?")),
        None => Ok((text, None)),
    }
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
                    let (model, style) = (tool.model.unwrap_or_default(), tool.llm.style.map(StyleV1::as_str));
                    format!("{name} = {} {model} {}", tool.llm.provider.unwrap(), style.unwrap_or("-"))
                }
                Err(why) => format!("fault: {why}"),
            };
            assert_eq!(got, expect, "{text}");
        };
        check("anthropic/claude-sonnet-4", "claude-sonnet-4 = anthropic claude-sonnet-4 -");
        check("openai/gpt@adversarial", "gpt@adversarial = openai gpt adversarial");
        check("openai/org/name", "org/name = openai org/name -");
        check("openai/../name", "name = openai ../name -");
        check("openai/claude@20240229", "claude@20240229 = openai claude@20240229 -");
        check("openai/m\u{7}x", "m x = openai m\u{7}x -");
        check("scripted/a/answers.jsonl@direct", "answers@direct = scripted  direct");
        check("openai/gpt@advesarial", "fault: unknown style `advesarial`, did you mean `adversarial`?");
        check("antropic/m", "fault: unknown provider `antropic`; did you mean `anthropic`?");
        check("local/m", "fault: `local` cannot be asked to review anything");
        check("openai", "fault: expected a `/` between provider and model");
        check("openai/", "fault: the model after the `/` is missing");
        check("openai/..", "fault: \"..\" cannot be the name of a tool");
    }
}
