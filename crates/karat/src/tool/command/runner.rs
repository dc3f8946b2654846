//! A program that is ready for its trials: found, set up, and with everything that its jobs share.

use super::blocked::find_blocked;
use super::environment::{CHECKOUT, HOME, TMP, environment, make_folders};
use super::program::Program;
use super::{isolation_kind, isolation_text};
use crate::checkout::Template;
use crate::tool::placeholders::fill;
use crate::tool::run_context::{OutputObserver, RunContext};
use crate::tool::{Blocked, NO_CODE, PrepareResult, Retries, RunResult, Task, Tool, TrialRunner};
use karat_core::suite::Case;
use karat_format::run::ToolFactsV1;
use karat_import::rule_map::RuleMap;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use karat_io::secret::Secret;
use karat_llm::engine::Retry;
use karat_sandbox::{
    Access, ExitReason, Isolation, Job, JobResult, Limits, NetworkAccess, ToolFolder, describe_limits,
};
use karat_sandbox::{OutputStream, find_folder_installation, find_installation, is_system_path, python_variables};
use karat_sandbox::{root_in_sandbox, run_with_output, tool_folder_in_sandbox, tool_user};
use karat_store::record::TrialRecord;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::io::ErrorKind::{QuotaExceeded, StorageFull};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub(in crate::tool) struct CommandRunner<'a> {
    pub(in crate::tool) program: Program,
    pub(super) rules: Option<RuleMap>,
    pub(in crate::tool) isolation: Isolation,
    pub(in crate::tool) context: &'a RunContext<'a>,
    /// What the set-up command prepared.
    own_folder: PathBuf,
    /// What is installed with the tool's programs outside the system's folders.
    installed: Vec<PathBuf>,
}

pub(in crate::tool) type Values = BTreeMap<&'static str, String>;

const STOPPED: &str = "the run was stopped";
/// Set-up may download things.
const SETUP_TIME: Duration = Duration::from_secs(1800);
const VERSION_TIME: Duration = Duration::from_secs(60);
/// Characters of the last line of a tool's output that are repeated in the reason of its failure.
const LAST_LINE: usize = 300;

impl TrialRunner for CommandRunner<'_> {
    fn needs_checkout(&self) -> bool {
        true
    }

    fn retries(&self) -> Retries {
        self.program.outages.retries
    }

    /// If another trial has filled the disk, that one is ended, and this one starts again.
    fn run_trial(&self, task: &Task, _: Option<&Case>, checkout: Option<&Template>, _: &dyn Fn(Retry)) -> RunResult {
        let Some(template) = checkout else { return Ok(Some(task.skipped(NO_CODE))) };
        let RunContext { room, cancel, .. } = self.context;
        let is_disk_full = |error: &io::Error| matches!(error.kind(), StorageFull | QuotaExceeded);
        room.repeat(cancel, is_disk_full, || self.run_once(task, template))
    }

    fn blocked(&self, record: &TrialRecord) -> Vec<Blocked> {
        find_blocked(self.isolation, &self.access(self.program.network), record)
    }
}

fn missing_key(program: &Program, context: &RunContext<'_>) -> Option<String> {
    let missing = program.missing_keys(&|name| context.variable(name).is_some());
    (!missing.is_empty()).then(|| {
        let names = missing.join(" or ");
        format!("it needs {names}, which is not set; set it in the environment that Karat is started from")
    })
}

pub(super) struct CommandTool {
    pub(super) program: Program,
    pub(super) rules: Option<RuleMap>,
}

impl Tool for CommandTool {
    fn isolation(&self, isolation: Isolation) -> String {
        isolation_text(isolation, &self.program)
    }

    fn missing_key(&self, context: &RunContext<'_>) -> Option<String> {
        missing_key(&self.program, context)
    }

    fn prepare<'a>(self: Box<Self>, isolation: Isolation, context: &'a RunContext<'a>) -> PrepareResult<'a> {
        let Self { program, rules } = *self;
        let (runner, facts) = CommandRunner::prepare(program, rules, isolation, context)?;
        Ok((Box::new(runner), facts))
    }
}

impl<'a> CommandRunner<'a> {
    /// Finds the program, sets it up and asks for its version.
    pub(in crate::tool) fn prepare(
        program: Program,
        rules: Option<RuleMap>,
        isolation: Isolation,
        context: &'a RunContext<'a>,
    ) -> io::Result<(Self, ToolFactsV1)> {
        for path in program.expose.iter().chain(&program.writable) {
            if program.writable.contains(path) && !path.exists() {
                return Err(io::Error::other(format!(
                    "`{}`, which it is to write to, does not exist; make it, or take it out of `writable`",
                    path.display()
                )));
            }
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if context.secret.iter().any(|secret| real.starts_with(secret) || secret.starts_with(&real)) {
                return Err(io::Error::other(format!(
                    "`{}` would let it see the suite or the store, which no tool may; take it out of `expose` and `writable`",
                    path.display()
                )));
            }
        }
        if let Some(why) = missing_key(&program, context) {
            return Err(io::Error::other(why));
        }
        let own_folder = context.new_folder();
        fs::create_dir_all(&own_folder)?;
        let mut tool = Self { program, rules, isolation, context, own_folder, installed: Vec::new() };
        if !tool.program.manifest.setup.is_empty() {
            tool.installed = tool.readable_for(&tool.program.manifest.setup, &[])?;
            tool.set_up()?;
        }
        let found = tool.find_required(&tool.program.manifest.command.first().cloned().unwrap_or_default())?;
        for program in &tool.program.manifest.needs {
            tool.find_required(program)?;
        }
        let folder = tool.program.manifest.manifest_dir.as_deref();
        let named = tool.named_paths(&tool.program.manifest.command).into_iter();
        let own_files = named.filter(|path| folder.is_some_and(|folder| path.starts_with(folder)));
        let is_secret = |path: &PathBuf| context.secret.iter().any(|secret| path.starts_with(secret));
        if let Some(path) = own_files.chain([found.clone()]).find(is_secret) {
            return Err(io::Error::other(format!(
                "{} is in the suite or the store, which no tool may see; keep it elsewhere, in a folder with its manifest",
                path.display()
            )));
        }
        tool.installed = tool.readable_for(&tool.program.manifest.command, &tool.installed)?;
        let version = if tool.program.manifest.version.is_empty() { None } else { tool.ask_version()? };
        let facts = ToolFactsV1 {
            version,
            isolation: tool.isolation_in_force(),
            isolation_kind: Some(isolation_kind(isolation)),
            program: Some(found.display().to_string()),
        };
        Ok((tool, facts))
    }
}

impl CommandRunner<'_> {
    /// The isolation in force, with what the manifest asks for and what this machine adds.
    pub(super) fn isolation_in_force(&self) -> String {
        let mut parts = vec![isolation_text(self.isolation, &self.program)];
        parts.extend(tool_user(self.isolation, &self.context.scratch, &self.access(self.program.network)).describe());
        parts.push(describe_limits(self.isolation));
        if self.isolation > Isolation::Process && !self.installed.is_empty() {
            parts.push(format!("sees its installation {}", super::join_paths(&self.installed, " ")));
        }
        parts.join(", ")
    }

    fn set_up(&self) -> io::Result<()> {
        let finished = self.run_outside_trial(&self.program.manifest.setup, SETUP_TIME, true)?;
        match finished.exit {
            ExitReason::Exited(0) => Ok(()),
            ExitReason::Cancelled => Err(io::Error::other(STOPPED)),
            ref other => {
                let last = last_line(&finished);
                Err(io::Error::other(format!("its set-up command failed: it {other}{last}")))
            }
        }
    }

    /// The first line that the version command prints; a tool without one is run all the same.
    fn ask_version(&self) -> io::Result<Option<String>> {
        let finished = self.run_outside_trial(&self.program.manifest.version, VERSION_TIME, false)?;
        match finished.exit {
            ExitReason::Cancelled => Err(io::Error::other(STOPPED)),
            ExitReason::Exited(_) => {
                let line = first_line(&finished, |line| !line.is_empty());
                Ok(line.map(|line| line.chars().take(100).collect()))
            }
            _ => Ok(None),
        }
    }

    fn run_outside_trial(&self, command: &[String], time: Duration, is_setup: bool) -> io::Result<JobResult> {
        let root = self.context.new_folder();
        make_folders(&root)?;
        fs::create_dir(root.join(CHECKOUT))?;
        let sandbox_root = root_in_sandbox(self.isolation, &root);
        let at_least = if is_setup { NetworkAccess::External } else { NetworkAccess::None };
        let network = self.program.network.max(at_least);
        // Set-up may run what others wrote, with the network: it gets no key.
        let passed = if is_setup { &[][..] } else { &self.program.manifest.pass_env };
        let env = environment(self.context, network, passed, &sandbox_root);
        let command = self.fill_command(command, &self.values_without_case(&sandbox_root))?;
        let limits = Limits { time, ..self.program.limits.clone() };
        let mut job = self.job(command, env, &root, limits, network);
        job.tool = Some(ToolFolder { path: self.own_folder.clone(), writable: is_setup });
        let finished = self.run_job(&job, &self.context.cancel, None);
        let _ = remove_tree(&root);
        finished
    }

    /// Runs a job. The values of variables that were handed over are removed from its output: they are never stored.
    pub(in crate::tool) fn run_job(
        &self,
        job: &Job,
        cancel: &Cancel,
        observer: Option<&OutputObserver>,
    ) -> io::Result<JobResult> {
        let pending = RefCell::new([Vec::new(), Vec::new()]);
        let show_lines = |stream: OutputStream, bytes: &[u8]| {
            let Some(observer) = observer else { return };
            let mut pending = pending.borrow_mut();
            let pending = &mut pending[stream as usize];
            let complete = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| pending.len() + at + 1);
            pending.extend_from_slice(bytes);
            let lines: Vec<u8> = pending.drain(..complete).collect();
            for line in lines.split_inclusive(|byte| *byte == b'\n') {
                let line = self.redact(line.to_vec());
                observer(stream, String::from_utf8_lossy(&line).trim_end());
            }
        };
        let mut finished = run_with_output(job, self.context.supervisor, cancel, &show_lines)?;
        for stream in [OutputStream::Stdout, OutputStream::Stderr] {
            // The last line may have no end.
            if !pending.borrow()[stream as usize].is_empty() {
                show_lines(stream, b"\n");
            }
        }
        finished.stdout.bytes = self.redact(finished.stdout.bytes);
        finished.stderr.bytes = self.redact(finished.stderr.bytes);
        Ok(finished)
    }

    pub(in crate::tool) fn redact(&self, bytes: Vec<u8>) -> Vec<u8> {
        let value = |name: &String| self.context.variable(name).and_then(|value| value.to_str());
        let secret = |name: &String| Secret::new(&format!("[{name}]"), value(name)?);
        self.program.manifest.pass_env.iter().filter_map(secret).fold(bytes, |bytes, secret| secret.redact_bytes(bytes))
    }

    /// The placeholders that do not depend on a case, by where the tool sees its folders.
    pub(in crate::tool) fn values_without_case(&self, sandbox_root: &Path) -> Values {
        self.values(sandbox_root, &tool_folder_in_sandbox(self.isolation, &self.own_folder))
    }

    fn values(&self, sandbox_root: &Path, tool_folder: &Path) -> Values {
        let mut values = BTreeMap::from([
            ("tool_dir", tool_folder.display().to_string()),
            ("home", sandbox_root.join(HOME).display().to_string()),
            ("tmp", sandbox_root.join(TMP).display().to_string()),
        ]);
        values.extend(self.program.model.clone().map(|model| ("model", model)));
        values.extend(self.program.manifest.manifest_dir.clone().map(|folder| ("manifest_dir", folder)));
        values
    }

    pub(in crate::tool) fn job(
        &self,
        command: Vec<OsString>,
        mut env: BTreeMap<String, OsString>,
        root: &Path,
        limits: Limits,
        network: NetworkAccess,
    ) -> Job {
        for (name, value) in python_variables(&self.installed, self.context.variable("HOME").map(Path::new)) {
            env.entry(name).or_insert_with(|| value.into());
        }
        Job {
            command,
            env,
            root: root.to_owned(),
            dir: root.join(CHECKOUT),
            tool: Some(ToolFolder { path: self.own_folder.clone(), writable: false }),
            access: self.access(network),
            limits,
            isolation: self.isolation,
        }
    }

    pub(super) fn access(&self, network: NetworkAccess) -> Access {
        Access {
            // Other trials are beside this one, and their common folder may be within what every tool reads.
            secret: self.context.secret.iter().chain([&self.context.scratch]).cloned().collect(),
            readable: self.installed.iter().chain(&self.program.expose).cloned().collect(),
            writable: self.program.writable.clone(),
            network,
        }
    }

    /// The command, filled in, and its program by the full path: a name would be searched for in the case under review.
    pub(in crate::tool) fn fill_command(&self, words: &[String], values: &Values) -> io::Result<Vec<OsString>> {
        let filled = words.iter().map(|word| fill(word, values).map(OsString::from));
        let mut command = filled.collect::<Result<Vec<_>, _>>().map_err(io::Error::other)?;
        if let Some(program) = command.first_mut()
            && let Some(found) = self.program.locate(program, &self.context.path())
        {
            *program = found.into();
        }
        Ok(command)
    }

    /// Finds a program; a relative path is in the suite.
    fn find(&self, program: &str) -> io::Result<Option<PathBuf>> {
        let program = fill(program, &self.values(&self.own_folder, &self.own_folder)).map_err(io::Error::other)?;
        if program.contains('/') && !Path::new(&program).is_absolute() {
            return Ok(match &self.context.loaded.files {
                Files::Disk(root) => root.canonicalize().ok().map(|root| root.join(program)),
                Files::Embedded(..) => None,
            });
        }
        Ok(self.program.locate(program.as_ref(), &self.context.path()))
    }

    fn find_required(&self, program: &str) -> io::Result<PathBuf> {
        self.find(program)?.ok_or_else(|| {
            let install = self.program.manifest.install.as_ref().map(|how| format!("; install it with: {how}"));
            let install = install.unwrap_or_default();
            let what = if !program.contains('/') {
                format!("the program `{program}` was not found on the PATH")
            } else if Path::new(program).is_file() {
                format!("`{program}` is not executable; run chmod +x, or name its interpreter first, as in [\"python3\", \"tool.py\"]")
            } else {
                format!("there is no program `{program}`")
            };
            io::Error::other(format!("{what}{install}"))
        })
    }

    /// What must be readable for a command: what its programs need, and, if the user wrote the command, the files that its
    /// arguments name by their full path. A program made by set-up needs what set-up needed, wherever its links lead.
    fn readable_for(&self, command: &[String], of_setup: &[PathBuf]) -> io::Result<Vec<PathBuf>> {
        let anywhere = self.program.files_anywhere;
        let mut readable = Vec::new();
        for name in command.first().into_iter().chain(&self.program.manifest.needs) {
            let Some(program) = self.find(name)? else { continue };
            if program.starts_with(&self.own_folder) {
                readable.extend(of_setup.iter().cloned());
            } else if name.contains('/') && !anywhere {
                // A suite cannot choose a folder whose other files are shown.
                readable.extend((!is_system_path(&program)).then_some(program));
            } else {
                readable.extend(find_installation(&program));
            }
        }
        if anywhere {
            let named = self.named_paths(command).into_iter();
            readable.extend(named.filter(|path| path.is_file() && !is_system_path(path)));
            let folder = self.program.manifest.manifest_dir.as_deref().map(Path::new);
            readable.extend(folder.map(find_folder_installation).unwrap_or_default());
        }
        readable.sort();
        readable.dedup();
        Ok(readable)
    }

    /// What the arguments of a command name by their full path.
    fn named_paths(&self, command: &[String]) -> Vec<PathBuf> {
        let values = self.values(&self.own_folder, &self.own_folder);
        let words = command.iter().skip(1).filter_map(|word| fill(word, &values).ok());
        words.map(PathBuf::from).filter(|path| path.is_absolute() && path.exists()).collect()
    }
}

/// The first line of this kind that a tool printed.
pub(crate) fn first_line(finished: &JobResult, fits: fn(&str) -> bool) -> Option<String> {
    let printed = [&finished.stdout.bytes, &finished.stderr.bytes].map(|bytes| String::from_utf8_lossy(bytes));
    printed.iter().flat_map(|text| text.lines()).map(str::trim).find(|line| fits(line)).map(str::to_owned)
}

/// The last line that a tool printed, for the reason of its failure.
pub(crate) fn last_line(finished: &JobResult) -> String {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4_096)..]).into_owned();
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        line.map(|line| line.chars().take(LAST_LINE).collect::<String>())
    };
    let line = last(&finished.stderr.bytes).or_else(|| last(&finished.stdout.bytes));
    line.map(|line| format!(": {line}")).unwrap_or_default()
}
