//! From a manifest as it is written to one that can be run: every value checked, every default stated.

mod llm;

pub use llm::Llm;

use super::grants::Request;
use super::output;
use super::placeholders::{self, PlaceholderError};
use crate::suite::LoadedSuite;
use karat_core::ids::ToolName;
use karat_format::diagnostic::{Diagnostic, Level};
use karat_format::document::Segment;
use karat_format::document::suggest::nearest;
use karat_format::submission::MAX_TRIALS;
use karat_format::tool::{ToolKindV1, ToolManifestV1};
use karat_format::{id_fault, quantity};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// A system under test, fully resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// What it is called in reports.
    pub name: ToolName,
    /// How it comes to findings.
    pub kind: Kind,
    /// The model it uses, `{model}` filled in; also what `{model}` stands for in its command.
    pub model: Option<String>,
    /// How often it runs on each case, where it says so itself.
    pub trials: Option<u32>,
    /// A table from rules to categories.
    pub rule_map: Option<PathBuf>,
}

/// How a tool comes to findings, with what that takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A program is run.
    Command(Box<Program>),
    /// Recorded trials are told again.
    Replay {
        /// The submission with the trials.
        submission: PathBuf,
        /// The tool's name in it.
        recorded_as: ToolName,
    },
    /// Rules are matched against the changed lines.
    Patterns {
        /// A file with rules instead of the built-in ones.
        rules: Option<PathBuf>,
    },
    /// A language model is asked.
    Llm(Box<Llm>),
}

/// A program and all that is needed to run it. Placeholders are checked and still in place.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The program and its arguments, with placeholders.
    pub command: Vec<String>,
    /// What it writes: one of [`output::formats`].
    pub format: &'static str,
    /// Where its result is read from.
    pub result: ResultFrom,
    /// Exit codes that do not mean failure.
    pub ok_exit: Vec<i32>,
    /// The longest a trial may take.
    pub timeout: Duration,
    /// What it may use up.
    pub limits: Limits,
    /// Variables to set, with placeholders.
    pub env: BTreeMap<String, String>,
    /// Variables to hand over.
    pub pass_env: Vec<String>,
    /// What is run once before the first trial; empty: nothing.
    pub setup: Vec<String>,
    /// Programs that it calls besides.
    pub needs: Vec<String>,
    /// What prints the version; empty: nothing.
    pub version: Vec<String>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether that includes the services of this machine.
    pub loopback: bool,
    /// What it may read beside its checkout and the system.
    pub expose: Vec<PathBuf>,
    /// What it may write beside its checkout.
    pub writable: Vec<PathBuf>,
    /// Whether files that its words name by their full path are readable for it: yes in what the user names, no in a suite.
    pub files_anywhere: bool,
}

impl Program {
    /// The keys it asks for, where not one of them is set: without any it cannot work, and one is enough.
    pub fn missing_keys(&self, is_set: &dyn Fn(&str) -> bool) -> Vec<&str> {
        let is_key = |name: &&str| ["KEY", "TOKEN", "SECRET"].iter().any(|end| name.ends_with(end));
        let keys: Vec<&str> = self.pass_env.iter().map(String::as_str).filter(is_key).collect();
        if keys.iter().any(|key| is_set(key)) { Vec::new() } else { keys }
    }
}

/// Where a result is read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFrom {
    /// The file that `{output}` stands for.
    File,
    /// What the tool prints.
    Stdout,
}

/// What a tool may use up; `None` is left to whoever runs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory of all its processes together.
    pub memory: Option<u64>,
    /// Processors it may use at once.
    pub cpus: Option<u32>,
    /// Processes at once.
    pub processes: Option<u32>,
    /// Bytes of the largest file it may write.
    pub file_size: Option<u64>,
    /// Bytes of all files in its folder together.
    pub disk: Option<u64>,
    /// Bytes it may print.
    pub output: Option<u64>,
    /// Findings it may report for one case.
    pub findings: Option<u32>,
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
pub struct ManifestFault {
    /// Keys and indices from the manifest's own root, such as `command`, `2`.
    pub path: Vec<String>,
    /// A short name of the kind of fault.
    pub code: &'static str,
    /// What was seen, and how to mend it.
    pub message: String,
}

/// The longest a trial may take where nobody says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// Variables that are the same for every tool and every trial, so that no manifest can set them.
pub static FROZEN: &[&str] =
    &["HOME", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LC_ALL", "PWD", "PYTHONHASHSEED", "SOURCE_DATE_EPOCH"];

/// What is printed is held in memory and kept in the store.
const MOST_OUTPUT: u64 = 256 << 20;

/// The code of the fault that `{model}` is used and no model is given.
pub const NO_MODEL: &str = "no-model";

/// Placeholders that have a value before any case is at hand.
const WITHOUT_CASE: &[&str] = &["tool_dir", "home", "tmp", "model"];

impl Manifest {
    /// Checks a manifest whole. Files that it names lie below `base`.
    pub fn resolve(
        name: &str,
        raw: &ToolManifestV1,
        base: &Path,
        context: &Context<'_>,
    ) -> Result<Self, Vec<ManifestFault>> {
        let mut check = Check { raw, base, context, faults: Vec::new() };
        if let Some(fault) = id_fault(&[], name) {
            check.fault(&[], fault.code, fault.message);
        }
        check.foreign_keys();
        let model = check.model();
        if raw.trials.is_some_and(|trials| !(1..=MAX_TRIALS).contains(&trials)) {
            check.fault(&["trials"], "out-of-range", format!("expected a number from 1 to {MAX_TRIALS}"));
        }
        let rule_map = check.file("rule_map", raw.rule_map.as_deref());
        let kind = match raw.kind {
            ToolKindV1::Command => Kind::Command(Box::new(check.program(model.as_deref()))),
            ToolKindV1::Replay => check.replay(name),
            ToolKindV1::Patterns => Kind::Patterns { rules: check.file("rules", raw.rules.as_deref()) },
            ToolKindV1::Llm => Kind::Llm(Box::new(check.llm(model.clone()))),
        };
        if !check.faults.is_empty() {
            return Err(check.faults);
        }
        Ok(Self { name: ToolName::new(name), kind, model, trials: raw.trials, rule_map })
    }
}

/// All that is wrong with the tools that a suite declares, each at its place in `karat.toml`.
pub fn faults_of_suite(loaded: &LoadedSuite, home: Option<&Path>) -> Vec<Diagnostic> {
    // Which model it will be is said when a run starts; that none is named yet is no fault of the suite.
    let context = Context { model: Some("any"), home, files_anywhere: false };
    let mut found = Vec::new();
    for (name, raw) in &loaded.config.tools {
        let faults = Manifest::resolve(name, raw, Path::new(""), &context).err().unwrap_or_default();
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
    let asking = loaded.config.tools.iter().filter_map(|(name, raw)| Request::new(name, raw, &[]));
    let note = |request: Request| {
        let message = format!(
            "the tool `{}` asks for more than the closed sandbox gives: {}",
            request.tool,
            request.describe().join("; ")
        );
        let help =
            format!("`karat run` asks once at a terminal, and needs --allow '{}' elsewhere", request.flag_value());
        let steps = [Segment::Key("tools"), Segment::Key(&request.tool)];
        loaded.in_config(&steps, "asks-for-grants", message).with_level(Level::Note).with_help(help)
    };
    asking.map(note).collect()
}

/// A fault of a tool that a suite declares, at its place in `karat.toml`.
pub fn in_config(loaded: &LoadedSuite, tool: &str, fault: &ManifestFault) -> Diagnostic {
    let step = |part: &'_ str| part.parse().ok().map(Segment::Index);
    let own = fault.path.iter().map(|part| step(part).unwrap_or(Segment::Key(part)));
    let steps: Vec<Segment<'_>> = [Segment::Key("tools"), Segment::Key(tool)].into_iter().chain(own).collect();
    let message = match fault.path.first() {
        Some(key) => format!("{key} of the tool `{tool}`: {}", fault.message),
        None => format!("the tool `{tool}`: {}", fault.message),
    };
    loaded.in_config(&steps, fault.code, message)
}

/// A manifest that is being checked.
struct Check<'a> {
    raw: &'a ToolManifestV1,
    base: &'a Path,
    context: &'a Context<'a>,
    faults: Vec<ManifestFault>,
}

impl Check<'_> {
    fn fault(&mut self, path: &[&str], code: &'static str, message: impl Into<String>) {
        let path = path.iter().map(|part| (*part).to_owned()).collect();
        self.faults.push(ManifestFault { path, code, message: message.into() });
    }

    /// Keys that another kind of tool would have.
    fn foreign_keys(&mut self) {
        let raw = self.raw;
        let kind = raw.kind;
        let (command, replay, patterns) = (ToolKindV1::Command, ToolKindV1::Replay, ToolKindV1::Patterns);
        let llm = ToolKindV1::Llm;
        let keys: [(&str, bool, &[ToolKindV1]); 18] = [
            ("command", !raw.command.is_empty(), &[command]),
            ("format", raw.format.is_some(), &[command]),
            ("ok_exit", raw.ok_exit.is_some(), &[command]),
            ("timeout", raw.timeout.is_some(), &[command, llm]),
            ("env", !raw.env.is_empty(), &[command]),
            ("pass_env", !raw.pass_env.is_empty(), &[command]),
            ("setup", !raw.setup.is_empty(), &[command]),
            ("needs", !raw.needs.is_empty(), &[command]),
            ("version", !raw.version.is_empty(), &[command]),
            ("network", raw.network, &[command]),
            ("loopback", raw.loopback, &[command]),
            ("expose", !raw.expose.is_empty(), &[command]),
            ("writable", !raw.writable.is_empty(), &[command]),
            ("limits", raw.limits.is_some(), &[command]),
            ("rule_map", raw.rule_map.is_some(), &[command]),
            ("submission", raw.submission.is_some(), &[replay]),
            ("recorded_as", raw.recorded_as.is_some(), &[replay]),
            ("rules", raw.rules.is_some(), &[patterns]),
        ];
        let asked = raw.llm.stated_settings();
        let asked = asked.iter().map(|key| (key.as_str(), true, &[ToolKindV1::Llm] as &[ToolKindV1]));
        for (key, stated, kinds) in keys.into_iter().chain(asked) {
            if stated && !kinds.contains(&kind) {
                let kinds: Vec<String> = kinds.iter().map(|kind| format!("kind = \"{}\"", kind.as_str())).collect();
                let message =
                    format!("has no effect for kind = \"{}\"; remove it, or use {}", kind.as_str(), kinds.join(" or "));
                self.fault(&[key], "foreign-key", message);
            }
        }
    }

    fn model(&mut self) -> Option<String> {
        let Some(text) = self.raw.model.as_deref() else { return self.context.model.map(str::to_owned) };
        let used = self.used(&["model"], text, Some(&["model"]));
        if used.is_empty() {
            return Some(text.to_owned()).filter(|_| self.text(&["model"], text));
        }
        let Some(model) = self.context.model else {
            self.no_model(&["model"]);
            return None;
        };
        placeholders::fill(text, &BTreeMap::from([("model", model.to_owned())])).ok()
    }

    fn no_model(&mut self, path: &[&str]) {
        self.fault(path, NO_MODEL, "`{model}` has no value: give a model with --model NAME or KARAT_TOOL_MODEL");
    }

    fn program(&mut self, model: Option<&str>) -> Program {
        let raw = self.raw;
        if raw.command.first().is_none_or(|program| program.trim().is_empty()) {
            let message =
                "names no program; give it and its arguments as a list of words, such as [\"scan\", \"{checkout}\"]";
            self.fault(&["command"], "no-command", message);
        }
        let mut used: BTreeSet<String> = self.words("command", &raw.command, None);
        used.extend(self.env());
        let without_case: [BTreeSet<String>; 2] = [
            self.words("setup", &raw.setup, Some(WITHOUT_CASE)),
            self.words("version", &raw.version, Some(WITHOUT_CASE)),
        ];
        // Where `model` itself is at fault there is nothing more to say about it.
        let all = || used.iter().chain(without_case.iter().flatten());
        if all().any(|name| name == "model") && model.is_none() && self.raw.model.is_none() {
            self.no_model(&["command"]);
        }
        if all().any(|name| name == "tool_dir") && raw.setup.is_empty() {
            let message = "`{tool_dir}` is the folder that set-up prepares, and there is no `setup`";
            self.fault(&["command"], "no-setup", message);
        }
        self.pass_env();
        Program {
            command: raw.command.clone(),
            format: self.format(),
            result: if used.contains("output") { ResultFrom::File } else { ResultFrom::Stdout },
            ok_exit: self.ok_exit(),
            timeout: self.timeout(),
            limits: self.limits(),
            env: raw.env.clone(),
            pass_env: raw.pass_env.clone(),
            setup: raw.setup.clone(),
            needs: raw.needs.clone(),
            version: raw.version.clone(),
            network: raw.network || raw.loopback,
            loopback: raw.loopback,
            expose: self.places("expose", &raw.expose),
            writable: self.places("writable", &raw.writable),
            files_anywhere: self.context.files_anywhere,
        }
    }

    fn replay(&mut self, name: &str) -> Kind {
        let raw = self.raw;
        if raw.submission.is_none() {
            self.fault(&[], "no-submission", "kind = \"replay\" needs `submission`, the file with the recorded trials");
        }
        let submission = self.file("submission", raw.submission.as_deref()).unwrap_or_default();
        let recorded_as = raw.recorded_as.as_deref().unwrap_or(name);
        if let Some(fault) = raw.recorded_as.as_deref().and_then(|id| id_fault(&[], id)) {
            self.fault(&["recorded_as"], fault.code, fault.message);
        }
        Kind::Replay { submission, recorded_as: ToolName::new(recorded_as) }
    }

    fn words(&mut self, key: &str, words: &[String], allowed: Option<&[&str]>) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for (index, word) in words.iter().enumerate() {
            used.extend(self.used(&[key, &index.to_string()], word, allowed));
        }
        used
    }

    /// The placeholders of a text; those that have no value there are faults.
    fn used(&mut self, path: &[&str], text: &str, allowed: Option<&[&str]>) -> Vec<String> {
        self.text(path, text);
        match placeholders::used(text) {
            Ok(used) => {
                for name in used.iter().filter(|name| allowed.is_some_and(|allowed| !allowed.contains(*name))) {
                    let rest: Vec<String> = allowed.unwrap_or_default().iter().map(|n| format!("{{{n}}}")).collect();
                    let message = format!("`{{{name}}}` has no value here; there are {}", rest.join(" "));
                    self.fault(path, "bad-placeholder", message);
                }
                used.into_iter().map(str::to_owned).collect()
            }
            Err(error) => {
                let code = if matches!(error, PlaceholderError::Unknown { .. }) {
                    "unknown-placeholder"
                } else {
                    "bad-placeholder"
                };
                self.fault(path, code, error.to_string());
                Vec::new()
            }
        }
    }

    /// No argument and no variable can hold a zero byte.
    fn text(&mut self, path: &[&str], text: &str) -> bool {
        if text.contains('\0') {
            self.fault(path, "zero-byte", "there is a zero byte in it, which no program can be given");
        }
        !text.contains('\0')
    }

    fn env(&mut self) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        for (name, value) in &self.raw.env {
            self.variable(&["env", name], name);
            used.extend(self.used(&["env", name], value, None));
        }
        used
    }

    fn pass_env(&mut self) {
        for (index, name) in self.raw.pass_env.iter().enumerate() {
            let index = index.to_string();
            self.variable(&["pass_env", &index], name);
            if self.raw.env.contains_key(name) {
                let message = format!("`{name}` is already set by `env`; remove it from one of the two");
                self.fault(&["pass_env", &index], "set-twice", message);
            }
        }
    }

    fn variable(&mut self, path: &[&str], name: &str) {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(plain) {
            let message = format!("invalid variable name {name:?}: expected letters, digits and `_`, such as API_KEY");
            self.fault(path, "bad-variable", message);
        } else if FROZEN.contains(&name) {
            let message = format!("`{name}` is the same for every tool and cannot be set; remove it");
            self.fault(path, "frozen-variable", message);
        }
    }

    fn format(&mut self) -> &'static str {
        let listed = || output::formats().collect::<Vec<_>>().join(", ");
        let Some(name) = self.raw.format.as_deref() else {
            self.fault(&[], "no-format", format!("needs `format`, what the tool writes; there are {}", listed()));
            return output::KARAT;
        };
        if let Some(known) = output::formats().find(|known| *known == name) {
            return known;
        }
        let near = nearest(name, output::formats()).map(|near| format!(", did you mean `{near}`?"));
        let message = format!("unknown format `{name}`{}; available: {}", near.unwrap_or_default(), listed());
        self.fault(&["format"], "unknown-format", message);
        output::KARAT
    }

    fn ok_exit(&mut self) -> Vec<i32> {
        let codes = self.raw.ok_exit.clone().unwrap_or_else(|| vec![0]);
        if codes.is_empty() {
            self.fault(&["ok_exit"], "no-exit", "expected at least one exit code: without one every trial would fail");
        }
        for (index, code) in codes.iter().enumerate().filter(|(_, code)| !(0..=255).contains(*code)) {
            self.fault(
                &["ok_exit", &index.to_string()],
                "out-of-range",
                format!("invalid exit code {code}: expected 0 to 255"),
            );
        }
        codes
    }

    fn timeout(&mut self) -> Duration {
        match self.raw.timeout.as_deref().map(quantity::duration) {
            None => DEFAULT_TIMEOUT,
            Some(Ok(timeout)) => timeout,
            Some(Err(message)) => {
                self.fault(&["timeout"], "bad-duration", message);
                DEFAULT_TIMEOUT
            }
        }
    }

    fn limits(&mut self) -> Limits {
        let Some(stated) = self.raw.limits.as_ref() else { return Limits::default() };
        if stated.processes == Some(0) {
            self.fault(&["limits", "processes"], "out-of-range", "a tool is at least 1 process");
        }
        if stated.cpus == Some(0) {
            self.fault(&["limits", "cpus"], "out-of-range", "a tool needs at least 1 processor");
        }
        let mut size = |key: &str, text: Option<&str>| match quantity::size(text?) {
            Ok(bytes) => Some(bytes),
            Err(message) => {
                self.fault(&["limits", key], "bad-size", message);
                None
            }
        };
        let limits = Limits {
            memory: size("memory", stated.memory.as_deref()),
            cpus: stated.cpus,
            processes: stated.processes,
            file_size: size("file_size", stated.file_size.as_deref()),
            disk: size("disk", stated.disk.as_deref()),
            output: size("output", stated.output.as_deref()),
            findings: stated.findings,
        };
        if limits.output.is_some_and(|bytes| bytes > MOST_OUTPUT) {
            self.fault(&["limits", "output"], "out-of-range", "expected at most 256MiB: the output is stored");
        }
        limits
    }

    /// Places outside the suite: absolute, below the home, or below the base.
    fn places(&mut self, key: &str, texts: &[String]) -> Vec<PathBuf> {
        let mut places = Vec::new();
        for (index, text) in texts.iter().enumerate() {
            let index = index.to_string();
            let path = [key, index.as_str()];
            if text.trim().is_empty() || !self.text(&path, text) {
                self.fault(&path, "bad-path", "expected a path, such as ~/.config/tool");
                continue;
            }
            let below_home = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
            match (below_home, self.context.home) {
                (Some(rest), Some(home)) => places.push(home.join(rest.trim_start_matches('/'))),
                (Some(_), None) => self.fault(&path, "no-home", "`~` cannot be resolved: HOME is not set"),
                (None, _) => places.push(self.base.join(text)),
            }
        }
        places
    }

    /// A file of the suite's own.
    fn file(&mut self, key: &str, text: Option<&str>) -> Option<PathBuf> {
        let text = text?;
        let anywhere = self.context.files_anywhere && Path::new(text).is_absolute();
        if !anywhere && !is_below(text) {
            let message = format!("{text:?} leads elsewhere; name a file that lies beside karat.toml or below");
            self.fault(&[key], "bad-path", message);
        }
        Some(self.base.join(text))
    }
}

fn is_below(path: &str) -> bool {
    let inner = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    !path.trim().is_empty() && !path.contains(['\0', '\\']) && Path::new(path).components().all(inner)
}

#[cfg(test)]
mod tests;
