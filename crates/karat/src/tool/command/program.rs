//! The manifest of a command: a program, what it may use, and how its result is read.

use super::outage::Outages;
use crate::suggestion;
use crate::tool::manifest::Check;
use crate::tool::output;
use crate::tool::placeholders::{FINDING_FILE, PLACEHOLDERS};
use karat_format::quantity;
use karat_format::tool::ToolManifestV1;
use karat_sandbox::{Limits, NetworkAccess, locate_program};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// A program and all that is needed to run it. Placeholders are checked and not filled in yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Program {
    pub(crate) manifest: ToolManifestV1,
    /// One of [`output::formats`].
    pub(crate) format: &'static str,
    pub(crate) result: ResultFrom,
    pub(crate) ok_exit: Vec<i32>,
    pub(crate) outages: Outages,
    pub(crate) limits: Limits,
    /// Bytes of memory that importing the output may use.
    pub(crate) import_memory: u64,
    pub(crate) caps: output::Caps,
    pub(crate) network: NetworkAccess,
    /// What it may read beside its checkout and the system.
    pub(crate) expose: Vec<PathBuf>,
    /// What it may write beside its checkout.
    pub(crate) writable: Vec<PathBuf>,
    /// Whether it may read files that its arguments name by their full path: yes in what the user names, no in a suite.
    pub(crate) files_anywhere: bool,
    pub(crate) model: Option<String>,
    pub(crate) rule_map: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultFrom {
    /// The file that `{output}` stands for.
    File,
    Stdout,
}

/// The output is kept in memory and stored.
const MAX_OUTPUT: u64 = 256 << 20;
/// The memory for an import if the manifest does not limit the tool's: ample for the largest output.
const IMPORT_MEMORY: u64 = 2 << 30;
/// Placeholders that have a value without a case.
pub(in crate::tool) const WITHOUT_CASE: &[&str] = &["tool_dir", "manifest_dir", "home", "tmp", "model"];

impl Program {
    /// The program of a name: on the PATH, else beside the manifest.
    pub(crate) fn locate(&self, name: &OsStr, path: &OsStr) -> Option<PathBuf> {
        let beside = || Some(Path::new(self.manifest.manifest_dir.as_deref()?).join(name));
        locate_program(name, path).or_else(|| locate_program(beside()?.as_os_str(), path))
    }

    /// The keys it asks for, if none of them is set: it cannot work without any, and one is enough.
    pub(crate) fn missing_keys(&self, is_set: &dyn Fn(&str) -> bool) -> Vec<&str> {
        let is_key = |name: &&str| ["KEY", "TOKEN", "SECRET"].iter().any(|end| name.ends_with(end));
        let keys: Vec<&str> = self.manifest.pass_env.iter().map(String::as_str).filter(is_key).collect();
        if keys.iter().any(|key| is_set(key)) { Vec::new() } else { keys }
    }
}

impl Check<'_> {
    /// A program that reports findings.
    pub(in crate::tool) fn command(&mut self) -> Program {
        let all = PLACEHOLDERS.iter().map(|(name, _)| *name);
        self.program(Self::format, &all.filter(|name| *name != FINDING_FILE).collect::<Vec<_>>())
    }

    /// A program whose command and variables may use these placeholders. `format` says what its output is read as.
    pub(in crate::tool) fn program(
        &mut self,
        format: impl FnOnce(&mut Self) -> &'static str,
        placeholders: &[&str],
    ) -> Program {
        let raw = self.raw;
        let rule_map = self.file("rule_map", raw.rule_map.as_deref());
        if raw.command.first().is_none_or(|program| program.trim().is_empty()) {
            let message =
                "names no program; give it and its arguments as a list of words, such as [\"scan\", \"{checkout}\"]";
            self.fault(&["command"], "no-command", message);
        }
        let mut used: BTreeSet<String> = self.words("command", &raw.command, Some(placeholders));
        for (name, value) in &raw.env {
            self.variable(&["env", name], name);
            used.extend(self.used(&["env", name], value, Some(placeholders)));
        }
        let is_result_file = used.contains("output");
        used.extend(self.words("setup", &raw.setup, Some(WITHOUT_CASE)));
        used.extend(self.words("version", &raw.version, Some(WITHOUT_CASE)));
        // A fault of `model` itself is reported already.
        if used.contains("model") && self.model.is_none() && raw.model.is_none() {
            self.no_model(&["command"]);
        }
        if used.contains("tool_dir") && raw.setup.is_empty() {
            let message = "`{tool_dir}` is the folder that set-up prepares, and there is no `setup`";
            self.fault(&["command"], "no-setup", message);
        }
        if used.contains("manifest_dir") && raw.manifest_dir.is_none() {
            let message = "`{manifest_dir}` is the folder of a manifest in its own file, and this tool has none; \
                           write the manifest to a file beside the tool and name it with --tool FILE.toml";
            self.fault(&["command"], "no-manifest-dir", message);
        }
        for (index, name) in raw.pass_env.iter().enumerate() {
            let path = ["pass_env", &index.to_string()];
            self.variable(&path, name);
            if raw.env.contains_key(name) {
                let message = format!("`{name}` is already set by `env`; remove it from one of the two");
                self.fault(&path, "set-twice", message);
            }
        }
        let format = format(self);
        let ok_exit = self.ok_exit();
        let outages = self.outages(&ok_exit);
        let limits = self.limits();
        let stated = raw.limits.as_ref();
        let findings = stated.and_then(|stated| stated.findings);
        Program {
            manifest: raw.clone(),
            format,
            result: if is_result_file { ResultFrom::File } else { ResultFrom::Stdout },
            ok_exit,
            outages,
            import_memory: stated.and_then(|stated| stated.memory.as_ref()).map_or(IMPORT_MEMORY, |_| limits.memory),
            caps: output::Caps {
                unpacked: limits.output as u64,
                findings: findings.map_or(output::Caps::default().findings, |most| most as usize),
            },
            limits,
            network: match (raw.network, raw.loopback) {
                (_, true) => NetworkAccess::Full,
                (true, false) => NetworkAccess::External,
                (false, false) => NetworkAccess::None,
            },
            expose: self.places("expose", &raw.expose),
            writable: self.places("writable", &raw.writable),
            files_anywhere: self.context.files_anywhere,
            model: self.model.clone(),
            rule_map,
        }
    }

    fn format(&mut self) -> &'static str {
        let listed = || output::formats().collect::<Vec<_>>().join(", ");
        let Some(name) = self.raw.format.as_deref() else {
            self.fault(&[], "no-format", format!("needs `format`, what the tool writes; available: {}", listed()));
            return output::KARAT;
        };
        if let Some(known) = output::formats().find(|known| *known == name) {
            return known;
        }
        let hint = suggestion(name, output::formats(), ";");
        let message = format!("unknown format `{name}`{hint} available: {}", listed());
        self.fault(&["format"], "unknown-format", message);
        output::KARAT
    }

    fn ok_exit(&mut self) -> Vec<i32> {
        let codes = self.raw.ok_exit.clone().unwrap_or_else(|| vec![0]);
        if codes.is_empty() {
            self.fault(&["ok_exit"], "no-exit", "expected at least one exit code: without one every trial would fail");
        }
        for (index, code) in codes.iter().enumerate().filter(|(_, code)| !(0..=255).contains(*code)) {
            let message = format!("invalid exit code {code}: expected 0 to 255");
            self.fault(&["ok_exit", &index.to_string()], "out-of-range", message);
        }
        codes
    }

    /// The limits that are stated, and the sandbox's own for the others.
    fn limits(&mut self) -> Limits {
        let mut limits = Limits::default();
        match self.raw.timeout.as_deref().map(quantity::duration).transpose() {
            Ok(timeout) => limits.time = timeout.unwrap_or(limits.time),
            Err(message) => self.fault(&["timeout"], "bad-duration", message),
        }
        let Some(stated) = self.raw.limits.as_ref() else { return limits };
        if stated.processes == Some(0) {
            self.fault(&["limits", "processes"], "out-of-range", "a tool is at least 1 process");
        }
        if stated.cpus == Some(0) {
            self.fault(&["limits", "cpus"], "out-of-range", "a tool needs at least 1 processor");
        }
        limits.cpus = stated.cpus;
        limits.processes = stated.processes.map_or(limits.processes, |most| most as usize);
        limits.memory = self.size("memory", stated.memory.as_deref()).unwrap_or(limits.memory);
        limits.file_size = self.size("file_size", stated.file_size.as_deref()).unwrap_or(limits.file_size);
        limits.disk = self.size("disk", stated.disk.as_deref()).unwrap_or(limits.disk);
        if let Some(bytes) = self.size("output", stated.output.as_deref()) {
            limits.output = usize::try_from(bytes).unwrap_or(usize::MAX);
            if bytes > MAX_OUTPUT {
                self.fault(&["limits", "output"], "out-of-range", "expected at most 256MiB: the output is stored");
            }
        }
        limits
    }

    fn size(&mut self, key: &str, text: Option<&str>) -> Option<u64> {
        quantity::size(text?).map_err(|message| self.fault(&["limits", key], "bad-size", message)).ok()
    }

    /// Places outside the suite; `~` is the home folder.
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
                (None, _) => places.push(PathBuf::from(text)),
            }
        }
        places
    }
}
