//! From a manifest as it is written to the declaration of a tool: every value is checked, every default filled in.

use super::grants::Request;
use super::placeholders;
use super::{Declaration, SHARED_KEYS, kind};
use crate::suite::LoadedSuite;
use karat_format::diagnostic::{Diagnostic, Level};
use karat_format::document::Segment;
use karat_format::id_fault;
use karat_format::submission::MAX_TRIALS;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// A manifest, resolved.
pub struct Manifest {
    /// The model it uses, with `{model}` filled in.
    pub model: Option<String>,
    pub(crate) declaration: Box<dyn Declaration>,
}

/// What a manifest is resolved with.
#[derive(Clone, Copy, Debug, Default)]
pub struct Context<'a> {
    /// The model given to every tool.
    pub model: Option<&'a str>,
    /// The user's home folder, which `~` stands for.
    pub home: Option<&'a Path>,
    /// Whether files may be named by their full path: yes in what the user names, no in a suite.
    pub files_anywhere: bool,
}

/// What is wrong with a value of a manifest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", .path.iter().map(|part| format!("{part}: ")).collect::<String>())]
#[expect(missing_docs, reason = "field names say it")]
pub struct ManifestFault {
    /// Keys and indices from the manifest's own root, such as `command`, `2`.
    pub path: Vec<String>,
    pub code: &'static str,
    pub message: String,
}

/// Variables that are the same for every tool and every trial, so that no manifest can set them.
pub(super) const FROZEN: &[&str] =
    &["HOME", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LC_ALL", "PWD", "PYTHONHASHSEED", "SOURCE_DATE_EPOCH"];

/// The code of the fault that `{model}` is used and no model is given.
pub(crate) const NO_MODEL: &str = "no-model";

impl Manifest {
    /// Checks a manifest and reports all its faults.
    pub fn resolve(name: &str, raw: &ToolManifestV1, context: &Context<'_>) -> Result<Self, Vec<ManifestFault>> {
        let mut check = Check { name, raw, context, model: None, faults: Vec::new() };
        if let Some(fault) = id_fault(&[], name) {
            check.fault(&[], fault.code, fault.message);
        }
        check.foreign_keys();
        check.model = check.model();
        if raw.trials.is_some_and(|trials| !(1..=MAX_TRIALS).contains(&trials)) {
            check.fault(&["trials"], "out-of-range", format!("expected a number from 1 to {MAX_TRIALS}"));
        }
        let declaration = (kind(raw.kind).resolve)(&mut check);
        if check.faults.is_empty() { Ok(Self { model: check.model, declaration }) } else { Err(check.faults) }
    }
}

/// All that is wrong with the tools that a suite declares, each at its place in `karat.toml`.
pub fn faults_of_suite(loaded: &LoadedSuite, home: Option<&Path>) -> Vec<Diagnostic> {
    // The model is named when a run starts, so that none is named yet is not a fault of the suite.
    let context = Context { model: Some("any"), home, files_anywhere: false };
    let mut found = Vec::new();
    for (name, raw) in &loaded.config.tools {
        let faults = Manifest::resolve(name, raw, &context).err().unwrap_or_default();
        found.extend(faults.iter().map(|fault| in_config(loaded, name, fault)));
        let named = [("rule_map", &raw.rule_map), ("submission", &raw.submission), ("rules", &raw.rules)];
        for (key, file) in named.into_iter().chain([("file", &raw.llm.file)]) {
            let Some(file) = file.as_deref().filter(|file| is_below(file)) else { continue };
            if !matches!(loaded.files.read(file), Ok(Some(_))) {
                let message = format!("the suite has no file `{file}`");
                let fault = ManifestFault { path: vec![key.to_owned()], code: "no-such-file", message };
                found.push(in_config(loaded, name, &fault));
            }
        }
    }
    found
}

/// What the tools that a suite declares ask for beyond the closed sandbox, one note for each tool.
pub fn grants_of_suite(loaded: &LoadedSuite) -> Vec<Diagnostic> {
    let requests = loaded.config.tools.iter().filter_map(|(name, raw)| Request::new(name, raw, &[]));
    let note = |request: Request| {
        let asked = request.describe().join("; ");
        let message = format!("the tool `{}` asks for more than the closed sandbox gives: {asked}", request.tool);
        let allow = request.flag_value();
        let help = format!("`karat run` asks once at a terminal, and needs --allow '{allow}' elsewhere");
        let steps = [Segment::Key("tools"), Segment::Key(&request.tool)];
        loaded.in_config(&steps, "asks-for-grants", message).with_level(Level::Note).with_help(help)
    };
    requests.map(note).collect()
}

/// A fault of a tool that a suite declares, at its place in `karat.toml`.
pub(crate) fn in_config(loaded: &LoadedSuite, tool: &str, fault: &ManifestFault) -> Diagnostic {
    let mut steps = vec![Segment::Key("tools"), Segment::Key(tool)];
    steps.extend(fault.path.iter().map(|part| part.parse().map_or(Segment::Key(part), Segment::Index)));
    let message = match fault.path.first() {
        Some(key) => format!("{key} of the tool `{tool}`: {}", fault.message),
        None => format!("the tool `{tool}`: {}", fault.message),
    };
    loaded.in_config(&steps, fault.code, message)
}

/// A manifest that is being checked, with the checks that several kinds of tools need.
pub(super) struct Check<'a> {
    pub(super) name: &'a str,
    pub(super) raw: &'a ToolManifestV1,
    pub(super) context: &'a Context<'a>,
    pub(super) model: Option<String>,
    faults: Vec<ManifestFault>,
}

impl Check<'_> {
    pub(super) fn fault(&mut self, path: &[&str], code: &'static str, message: impl Into<String>) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.faults.push(ManifestFault { path, code, message: message.into() });
    }

    /// Keys that only other kinds of tools use.
    fn foreign_keys(&mut self) {
        let Ok(serde_json::Value::Object(stated)) = serde_json::to_value(self.raw) else { return };
        let own = self.raw.kind;
        for key in stated.keys().map(String::as_str) {
            if SHARED_KEYS.contains(&key) || kind(own).keys.contains(&key) {
                continue;
            }
            let users = ToolKindV1::ALL.into_iter().filter(|other| kind(*other).keys.contains(&key));
            let users: Vec<String> = users.map(|other| format!("kind = \"{}\"", other.as_str())).collect();
            let message =
                format!("has no effect for kind = \"{}\"; remove it, or use {}", own.as_str(), users.join(" or "));
            self.fault(&[key], "foreign-key", message);
        }
    }

    fn model(&mut self) -> Option<String> {
        let Some(text) = self.raw.model.as_deref() else { return self.context.model.map(str::to_owned) };
        if self.used(&["model"], text, Some(&["model"])).is_empty() {
            return Some(text.to_owned()).filter(|_| self.text(&["model"], text));
        }
        let Some(model) = self.context.model else {
            self.no_model(&["model"]);
            return None;
        };
        placeholders::fill(text, &BTreeMap::from([("model", model.to_owned())])).ok()
    }

    pub(super) fn no_model(&mut self, path: &[&str]) {
        self.fault(path, NO_MODEL, "`{model}` has no value: give a model with --model NAME or KARAT_TOOL_MODEL");
    }

    pub(super) fn words(&mut self, key: &str, words: &[String], allowed: Option<&[&str]>) -> BTreeSet<String> {
        let numbered = words.iter().enumerate();
        numbered.flat_map(|(index, word)| self.used(&[key, &index.to_string()], word, allowed)).collect()
    }

    /// The placeholders of a text; those that have no value there are faults.
    pub(super) fn used(&mut self, path: &[&str], text: &str, allowed: Option<&[&str]>) -> Vec<String> {
        self.text(path, text);
        match placeholders::used(text) {
            Ok(used) => {
                for name in used.iter().filter(|name| allowed.is_some_and(|allowed| !allowed.contains(*name))) {
                    let rest: Vec<String> = allowed.unwrap_or_default().iter().map(|n| format!("{{{n}}}")).collect();
                    let message = format!("`{{{name}}}` has no value here; available: {}", rest.join(" "));
                    self.fault(path, "bad-placeholder", message);
                }
                used.into_iter().map(str::to_owned).collect()
            }
            Err(error) => {
                self.fault(path, error.code, error.to_string());
                Vec::new()
            }
        }
    }

    /// No argument and no variable can hold a zero byte.
    pub(super) fn text(&mut self, path: &[&str], text: &str) -> bool {
        if text.contains('\0') {
            self.fault(path, "zero-byte", "contains a zero byte, which no program can be given");
        }
        !text.contains('\0')
    }

    pub(super) fn variable(&mut self, path: &[&str], name: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(plain) {
            let message = format!("invalid variable name {name:?}: expected letters, digits and `_`, such as API_KEY");
            self.fault(path, "bad-variable", message);
        } else if FROZEN.contains(&name) {
            let message = format!("`{name}` is the same for every tool and cannot be set; remove it");
            self.fault(path, "frozen-variable", message);
        }
    }

    /// A file in the suite, or anywhere in what the user names.
    pub(super) fn file(&mut self, key: &str, text: Option<&str>) -> Option<PathBuf> {
        let text = text?;
        let anywhere = self.context.files_anywhere && Path::new(text).is_absolute();
        if !anywhere && !is_below(text) {
            let message = format!("{text:?} leads out of the suite; name a file beside karat.toml or below");
            self.fault(&[key], "bad-path", message);
        }
        Some(PathBuf::from(text))
    }
}

fn is_below(path: &str) -> bool {
    let inner = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.trim().is_empty() && !path.contains(['\0', '\\']) && Path::new(path).components().all(inner)
}

#[cfg(test)]
mod tests;
