//! A program run on a fresh checkout of a case, and what became of it.

use super::drive::{Task, failed};
use super::environment::environment;
use super::import_output::{Importing, import};
use super::ready_error::ReadyError;
use super::run_context::RunContext;
use super::trial_folder::{self, CHECKOUT, DESCRIPTION, DIFF, HOME, RESULT, RESULTS, ResultFolder, TITLE, TMP};
use crate::checkout::{BASE, HEAD, Template};
use crate::tool::manifest::{Manifest, Program, ResultFrom};
use crate::tool::output::{About, Caps, Output};
use crate::tool::placeholders::{PlaceholderError, fill};
use karat_core::trial::{Outcome, Trial};
use karat_format::run::{ToolFactsV1, TrialDetailV1};
use karat_import::rule_map::RuleMap;
use karat_io::cancel::Cancel;
use karat_io::files::Files;
use karat_io::remove_tree::remove_tree;
use karat_io::secret::Secret;
use karat_sandbox::{Access, WorkerLimits, describe_limits, find_installation, is_system_path, locate_program, run};
use karat_sandbox::{CapturedOutput, ExitReason, Isolation, Job, JobResult, Limits, Resource, ToolFolder};
use karat_sandbox::{python_user_base, root_in_sandbox, tool_folder_in_sandbox, tool_user};
use karat_store::record::{Artifact, TrialRecord};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program, ready for its trials.
pub struct CommandTool {
    manifest: Manifest,
    program: Program,
    isolation: Isolation,
    rules: Option<RuleMap>,
    /// What the set-up command prepared.
    own_folder: PathBuf,
    /// What is installed with the tool's programs outside the system's folders.
    installed: Vec<PathBuf>,
}

/// So much of what a tool said last is told with its failure.
const LAST_WORDS: usize = 300;
/// Set-up may download things.
const SETUP_TIME: Duration = Duration::from_secs(1800);
const VERSION_TIME: Duration = Duration::from_secs(60);
/// What an import may fill where the manifest states no memory for the tool: ample for the most that a tool may print.
const IMPORT_MEMORY: u64 = 2 << 30;
/// An import has at least this long, since a tool may end well in the last moment of its time.
const LEAST_IMPORT_TIME: Duration = Duration::from_secs(1);
/// So often a trial begins anew because others filled the disk.
const MOST_BEGINNINGS: usize = 3;
/// Of a trial that left no room for others on the disk.
const FILLED_DISK: &str = "its files filled the disk that all trials share (lower limits.disk)";

impl CommandTool {
    /// Sees that the program is there, runs its set-up command and asks for its version.
    pub fn ready(
        manifest: Manifest,
        program: Program,
        install: Option<String>,
        rules: Option<RuleMap>,
        isolation: Isolation,
        site: &RunContext<'_>,
    ) -> Result<(Self, ToolFactsV1), ReadyError> {
        for path in program.expose.iter().chain(&program.writable) {
            if program.writable.contains(path) && !path.exists() {
                return Err(ReadyError::Missing { path: path.display().to_string() });
            }
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            if site.secret.iter().any(|secret| real.starts_with(secret) || secret.starts_with(&real)) {
                return Err(ReadyError::Reveals { path: path.display().to_string() });
            }
        }
        let missing = program.missing_keys(&|name| site.variable(name).is_some());
        if !missing.is_empty() {
            return Err(ReadyError::NoVariable { names: missing.join(" or ") });
        }
        let own_folder = site.folder();
        fs::create_dir_all(&own_folder)?;
        let mut tool = Self { manifest, program, isolation, rules, own_folder, installed: Vec::new() };
        let mut of_setup = Vec::new();
        if !tool.program.setup.is_empty() {
            of_setup = tool.needs(&tool.program.setup, &[], site)?;
            tool.installed = of_setup.clone();
            tool.set_up(site)?;
        }
        let first = tool.program.command.first().cloned().unwrap_or_default();
        let Some(found) = tool.find(&first, site)? else {
            return Err(ReadyError::NoProgram { program: first, install });
        };
        for program in &tool.program.needs {
            if tool.find(program, site)?.is_none() {
                return Err(ReadyError::NoProgram { program: program.clone(), install });
            }
        }
        if site.secret.iter().any(|secret| found.starts_with(secret)) {
            return Err(ReadyError::InsideSecret { program: found.display().to_string() });
        }
        tool.installed = tool.needs(&tool.program.command, &of_setup, site)?;
        let version = if tool.program.version.is_empty() { None } else { tool.ask_version(site)? };
        let facts =
            ToolFactsV1 { version, isolation: tool.isolation_words(site), program: Some(found.display().to_string()) };
        Ok((tool, facts))
    }

    /// The isolation in force, with what the manifest asks for beyond it.
    fn isolation_words(&self, site: &RunContext<'_>) -> String {
        let user = tool_user(self.isolation, &site.scratch, &self.view(site, self.program.network));
        let installed: Vec<String> = self.installed.iter().map(|path| path.display().to_string()).collect();
        let is_list = self.isolation > Isolation::Process && !installed.is_empty();
        let installed = is_list.then(|| format!("sees its installation {}", installed.join(" ")));
        let words = isolation_words(self.isolation, &self.program);
        let all = [Some(words), user.describe(), Some(describe_limits(self.isolation)), installed];
        all.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Runs one trial; `None` when it was cancelled. An error is Karat's or the system's, never the tool's. Where another
    /// trial has filled the disk, that one ends, and this one begins anew.
    pub(super) fn execute(
        &self,
        task: &Task,
        template: Option<Arc<Template>>,
        site: &RunContext<'_>,
    ) -> Result<Option<TrialRecord>, ReadyError> {
        let mut begun_anew = 0;
        loop {
            match self.execute_once(task, template.clone(), site) {
                Err(error) if error.is_full_disk() && begun_anew < MOST_BEGINNINGS && site.make_room() => {
                    begun_anew += 1;
                }
                done => return done,
            }
        }
    }

    fn execute_once(
        &self,
        task: &Task,
        template: Option<Arc<Template>>,
        site: &RunContext<'_>,
    ) -> Result<Option<TrialRecord>, ReadyError> {
        let key = &task.key;
        let mut trial = Trial::reported(key.case.clone(), key.tool.clone(), key.number);
        let mut detail = TrialDetailV1::default();
        let mut artifacts = Vec::new();
        let Some(template) = template else {
            trial.outcome = Outcome::Skipped;
            detail.reason = Some("the case has no code".to_owned());
            return Ok(Some(TrialRecord { trial, attempt: task.attempt, detail, artifacts }));
        };
        detail.isolation = Some(self.isolation_words(site));
        detail.commit = Some(template.head.to_string());
        let root = site.folder();
        let cancel = site.cancel.child();
        let occupied = site.room.occupy(&root, &cancel);
        let done = self.attempt(task, &template, &root, site, &cancel, &mut detail);
        let trial = match done {
            Ok(done) if done.finished.exit != ExitReason::Cancelled || cancel.is_cancelled_itself() => {
                match self.outcome(trial, done, &root, site, &mut detail, &mut artifacts) {
                    // A tool that fails where nobody could write anything is not to blame, and another may be.
                    Ok(Some(trial))
                        if failed(trial.outcome) && !cancel.is_cancelled_itself() && !site.room.is_left() =>
                    {
                        if site.room.is_used_up_by(&root) {
                            detail.reason = Some(FILLED_DISK.to_owned());
                            Ok(Some(trial))
                        } else {
                            Err(ReadyError::DiskFull { folder: site.scratch.display().to_string() })
                        }
                    }
                    other => other,
                }
            }
            Ok(_) => Ok(None),
            Err(error) => Err(error),
        };
        if let Err(error) = remove_tree(&root) {
            detail.remarks.push(format!("its folder could not be removed: {error}"));
        }
        drop(occupied);
        Ok(trial?.map(|trial| TrialRecord { trial, attempt: task.attempt, detail, artifacts }))
    }

    fn attempt(
        &self,
        task: &Task,
        template: &Template,
        root: &Path,
        site: &RunContext<'_>,
        cancel: &Cancel,
        detail: &mut TrialDetailV1,
    ) -> Result<Done, ReadyError> {
        let began = Instant::now();
        let results = trial_folder::make(root)?;
        template.write(&root.join(CHECKOUT))?;
        fs::write(root.join(TITLE), &template.title)?;
        fs::write(root.join(DESCRIPTION), &template.description)?;
        fs::write(root.join(DIFF), &template.diff)?;
        detail.stages_ms.insert("checkout".to_owned(), milliseconds(began.elapsed()));

        let seen = root_in_sandbox(self.isolation, root);
        let seed = site.seed.wrapping_add(u64::from(task.key.number) - 1);
        let values: BTreeMap<&str, String> = [
            ("checkout", seen.join(CHECKOUT).display().to_string()),
            ("output", seen.join(RESULTS).join(RESULT).display().to_string()),
            ("base", BASE.to_owned()),
            ("head", HEAD.to_owned()),
            ("base_commit", template.base.to_string()),
            ("head_commit", template.head.to_string()),
            ("title_file", seen.join(TITLE).display().to_string()),
            ("description_file", seen.join(DESCRIPTION).display().to_string()),
            ("diff_file", seen.join(DIFF).display().to_string()),
            ("seed", seed.to_string()),
            ("trial", task.key.number.to_string()),
        ]
        .into_iter()
        .chain(self.standing_values(&seen, &tool_folder_in_sandbox(self.isolation, &self.own_folder)))
        .collect();
        let mut env = self.variables(site, self.program.network, &seen);
        for (name, value) in &values {
            if !["home", "tmp"].contains(name) {
                env.insert(format!("KARAT_{}", name.to_uppercase()), value.into());
            }
        }
        env.insert("KARAT_PR_TITLE".to_owned(), handed_over(&template.title));
        env.insert("KARAT_PR_DESCRIPTION".to_owned(), handed_over(&template.description));
        for (name, text) in &self.program.env {
            env.insert(name.clone(), fill(text, &values)?.into());
        }
        let command = self.located(filled(&self.program.command, &values)?, site);
        let limits = Limits { time: self.program.timeout, ..self.limits() };
        let job = self.job(command, env, root, CHECKOUT, limits, self.program.network, site);
        let began = Instant::now();
        let finished = self.without_keys(run(&job, &site.supervisor, cancel)?, site);
        detail.stages_ms.insert("process".to_owned(), milliseconds(began.elapsed()));
        Ok(Done { finished, results, seen })
    }

    /// What became of it: the right word, the reason, and the findings. `None` when it was cancelled.
    fn outcome(
        &self,
        mut trial: Trial,
        done: Done,
        root: &Path,
        site: &RunContext<'_>,
        detail: &mut TrialDetailV1,
        artifacts: &mut Vec<Artifact>,
    ) -> Result<Option<Trial>, ReadyError> {
        let Done { finished, results, seen } = done;
        trial.latency_ms = Some(milliseconds(finished.wall));
        match finished.exit {
            ExitReason::Exited(code) => detail.exit = Some(code),
            ExitReason::Signalled(signal) => detail.signal = Some(signal),
            _ => {}
        }
        if let Some(left) = finished.leftover_processes.filter(|left| *left > 0) {
            detail.remarks.push(format!("it left {left} processes running, which were killed"));
        }
        if let Some((outcome, reason)) = self.failure(&finished) {
            trial.outcome = outcome;
            detail.reason = Some(reason);
            keep(artifacts, finished, None);
            return Ok(Some(trial));
        }
        let most = self.limits().output;
        let (bytes, unread) = match self.program.result {
            ResultFrom::Stdout => (None, None),
            ResultFrom::File => match results.read(most) {
                Ok(bytes) => (bytes.map(|bytes| self.scrubbed(bytes, site)), None),
                Err(why) => (None, Some(why)),
            },
        };
        let began = Instant::now();
        if let Some(why) = unread {
            trial.outcome = Outcome::Unparsable;
            detail.reason = Some(why);
        } else {
            let latency = trial.latency_ms;
            let roots = [seen.join(CHECKOUT), root.join(CHECKOUT)].map(|path| path.to_string_lossy().into_owned());
            let limits = WorkerLimits {
                time: self.program.timeout.saturating_sub(finished.wall).max(LEAST_IMPORT_TIME),
                memory: self.program.limits.memory.unwrap_or(IMPORT_MEMORY),
            };
            let read = import(
                &Output {
                    format: self.program.format,
                    bytes: match self.program.result {
                        ResultFrom::Stdout => Some(&finished.stdout.bytes),
                        ResultFrom::File => bytes.as_deref(),
                    },
                    caps: Caps {
                        unpacked: most as u64,
                        findings: self.program.limits.findings.map_or(Caps::default().findings, |most| most as usize),
                    },
                },
                &About {
                    case: &trial.case,
                    tool: &trial.tool,
                    number: trial.number,
                    roots: &roots.each_ref().map(String::as_str),
                    rules: self.rules.as_ref(),
                    sources: &|path| site.loaded.source(&trial.case, path),
                },
                &Importing { limits, supervisor: &site.supervisor, cancel: &site.cancel },
            )?;
            let Some(read) = read else { return Ok(None) };
            detail.remarks.extend(read.notes);
            detail.reason = read.problem;
            // What a tool says of its own speed is not asked.
            trial = Trial { latency_ms: latency, ..read.trial };
        }
        detail.stages_ms.insert("import".to_owned(), milliseconds(began.elapsed()));
        keep(artifacts, finished, bytes);
        Ok(Some(trial))
    }

    /// How the program failed, where it did.
    fn failure(&self, finished: &JobResult) -> Option<(Outcome, String)> {
        let limits = self.limits();
        let crashed = |reason: String| Some((Outcome::Crashed, reason));
        match &finished.exit {
            ExitReason::Exited(code) if self.program.ok_exit.contains(code) => None,
            // A sandbox tells an exit code above 128 as shells do: as the signal it may stand for.
            ExitReason::Signalled(signal) if self.program.ok_exit.contains(&(128 + signal)) => None,
            ExitReason::Exited(code) => crashed(format!("it exited with {code}{}", last_words(finished))),
            ExitReason::Signalled(signal) => {
                crashed(format!("it was ended by signal {signal}{}", last_words(finished)))
            }
            ExitReason::NotStarted(why) => crashed(format!("it could not be started: {why}")),
            ExitReason::LostSupervisor => crashed("it killed its supervisor".to_owned()),
            ExitReason::Cancelled => crashed(FILLED_DISK.to_owned()),
            ExitReason::TimedOut => {
                let reason = format!("it took longer than {} s and was ended", self.program.timeout.as_secs_f64());
                Some((Outcome::TimedOut, reason))
            }
            ExitReason::LimitExceeded(Resource::Output) => {
                crashed(format!("it printed more than {} bytes and was ended (limits.output)", limits.output))
            }
            ExitReason::LimitExceeded(Resource::Memory) => {
                crashed(format!("it used more than {} bytes of memory and was ended (limits.memory)", limits.memory))
            }
            ExitReason::LimitExceeded(Resource::FileSize) => {
                crashed(format!("it wrote a file of more than {} bytes (limits.file_size)", limits.file_size))
            }
            ExitReason::LimitExceeded(Resource::Disk) => {
                crashed(format!("its files took up more than {} bytes and it was ended (limits.disk)", limits.disk))
            }
            ExitReason::LimitExceeded(Resource::Processes) => {
                crashed(format!("it had more than {} processes and was ended (limits.processes)", limits.processes))
            }
        }
    }

    fn set_up(&self, site: &RunContext<'_>) -> Result<(), ReadyError> {
        let finished = self.once(&self.program.setup, SETUP_TIME, true, site)?;
        match finished.exit {
            ExitReason::Exited(0) => Ok(()),
            ExitReason::Cancelled => Err(ReadyError::Cancelled),
            ref other => Err(ReadyError::SetupFailed { why: format!("it {other}{}", last_words(&finished)) }),
        }
    }

    /// The first line of what the version command says; a tool that cannot say it is run all the same.
    fn ask_version(&self, site: &RunContext<'_>) -> Result<Option<String>, ReadyError> {
        let finished = self.once(&self.program.version, VERSION_TIME, false, site)?;
        if finished.exit == ExitReason::Cancelled {
            return Err(ReadyError::Cancelled);
        }
        let said = [&finished.stdout.bytes, &finished.stderr.bytes].map(|bytes| String::from_utf8_lossy(bytes));
        let line = said.iter().flat_map(|text| text.lines()).map(str::trim).find(|line| !line.is_empty());
        let known = matches!(finished.exit, ExitReason::Exited(_));
        Ok(line.filter(|_| known).map(|line| line.chars().take(100).collect()))
    }

    /// Runs a command outside any trial, in an empty folder.
    fn once(
        &self,
        command: &[String],
        time: Duration,
        setting_up: bool,
        site: &RunContext<'_>,
    ) -> Result<JobResult, ReadyError> {
        let root = site.folder();
        trial_folder::make(&root)?;
        fs::create_dir(root.join(CHECKOUT))?;
        let seen = root_in_sandbox(self.isolation, &root);
        let values: BTreeMap<&str, String> =
            self.standing_values(&seen, &tool_folder_in_sandbox(self.isolation, &self.own_folder)).collect();
        let network = setting_up || self.program.network;
        // Set-up may run what others wrote, with the network: no key is handed over to it.
        let passed = if setting_up { &[][..] } else { &self.program.pass_env };
        let env = environment(site, network, passed, &seen.join(HOME), &seen.join(TMP));
        let command = self.located(filled(command, &values)?, site);
        let limits = Limits { time, ..self.limits() };
        let mut job = self.job(command, env, &root, CHECKOUT, limits, network, site);
        job.tool = Some(ToolFolder { path: self.own_folder.clone(), writable: setting_up });
        let finished = run(&job, &site.supervisor, &site.cancel);
        let _ = remove_tree(&root);
        Ok(self.without_keys(finished?, site))
    }

    /// What was printed, with the values of variables that were handed over taken out: they are never stored.
    fn without_keys(&self, finished: JobResult, site: &RunContext<'_>) -> JobResult {
        let scrub =
            |captured: CapturedOutput| CapturedOutput { bytes: self.scrubbed(captured.bytes, site), ..captured };
        JobResult { stdout: scrub(finished.stdout), stderr: scrub(finished.stderr), ..finished }
    }

    fn scrubbed(&self, bytes: Vec<u8>, site: &RunContext<'_>) -> Vec<u8> {
        let value = |name: &String| site.variable(name).and_then(|value| value.to_str());
        let secret = |name: &String| Secret::new(&format!("[{name}]"), value(name)?);
        self.program.pass_env.iter().filter_map(secret).fold(bytes, |bytes, secret| secret.redact_bytes(bytes))
    }

    /// Values that do not depend on a case, given where the trial's folder and the tool's own are seen.
    fn standing_values(&self, seen: &Path, seen_tool: &Path) -> impl Iterator<Item = (&'static str, String)> {
        let values = [
            ("tool_dir", Some(seen_tool.display().to_string())),
            ("home", Some(seen.join(HOME).display().to_string())),
            ("tmp", Some(seen.join(TMP).display().to_string())),
            ("model", self.manifest.model.clone()),
        ];
        values.into_iter().filter_map(|(name, value)| Some((name, value?)))
    }

    fn variables(&self, site: &RunContext<'_>, network: bool, seen: &Path) -> BTreeMap<String, OsString> {
        environment(site, network, &self.program.pass_env, &seen.join(HOME), &seen.join(TMP))
    }

    fn limits(&self) -> Limits {
        let (asked, usual) = (self.program.limits, Limits::default());
        Limits {
            memory: asked.memory.unwrap_or(usual.memory),
            cpus: asked.cpus,
            processes: asked.processes.map_or(usual.processes, |most| most as usize),
            file_size: asked.file_size.unwrap_or(usual.file_size),
            disk: asked.disk.unwrap_or(usual.disk),
            output: asked.output.map_or(usual.output, |most| usize::try_from(most).unwrap_or(usize::MAX)),
            ..usual
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "each is a different thing that trials, set-up and version differ in"
    )]
    fn job(
        &self,
        command: Vec<OsString>,
        mut env: BTreeMap<String, OsString>,
        root: &Path,
        dir: &str,
        limits: Limits,
        network: bool,
        site: &RunContext<'_>,
    ) -> Job {
        if let Some(base) = python_user_base(&self.installed, site.variable("HOME").map(Path::new)) {
            env.entry("PYTHONUSERBASE".to_owned()).or_insert_with(|| base.into());
        }
        let view = self.view(site, network);
        let tool = Some(ToolFolder { path: self.own_folder.clone(), writable: false });
        Job {
            command,
            env,
            root: root.to_owned(),
            dir: root.join(dir),
            tool,
            access: view,
            limits,
            isolation: self.isolation,
        }
    }

    fn view(&self, site: &RunContext<'_>, network: bool) -> Access {
        Access {
            // Other trials lie beside this one, where the folder for all of them is within what every tool reads.
            secret: site.secret.iter().chain([&site.scratch]).cloned().collect(),
            readable: self.installed.iter().chain(&self.program.expose).cloned().collect(),
            writable: self.program.writable.clone(),
            network,
            loopback: self.program.loopback,
        }
    }

    /// The command with its program by the full path it was found under: a name, or a path from somewhere, would be looked
    /// for again in the case under review.
    fn located(&self, mut command: Vec<OsString>, site: &RunContext<'_>) -> Vec<OsString> {
        let path = site.variable("PATH").cloned().unwrap_or_default();
        if let Some(program) = command.first_mut()
            && let Some(found) = locate_program(program, &path)
        {
            *program = found.into();
        }
        command
    }

    /// Where a program lies. One that is named by a path from somewhere would have to lie in the suite.
    fn find(&self, program: &str, site: &RunContext<'_>) -> Result<Option<PathBuf>, ReadyError> {
        let values: BTreeMap<&str, String> = self.standing_values(&self.own_folder, &self.own_folder).collect();
        let program = fill(program, &values)?;
        if program.contains('/') && !Path::new(&program).is_absolute() {
            return Ok(match &site.loaded.files {
                Files::Disk(root) => root.canonicalize().ok().map(|root| root.join(program)),
                Files::Embedded(..) => None,
            });
        }
        let path = site.variable("PATH").cloned().unwrap_or_default();
        Ok(locate_program(program.as_ref(), &path))
    }

    /// What must be readable for a command: what its program needs, and, where the user wrote the command, the files that its words
    /// name by their full path. What set-up made runs with what set-up had, `of_setup`, wherever its links and first lines lead.
    fn needs(
        &self,
        command: &[String],
        of_setup: &[PathBuf],
        site: &RunContext<'_>,
    ) -> Result<Vec<PathBuf>, ReadyError> {
        let anywhere = self.program.files_anywhere;
        let mut needs = Vec::new();
        for name in command.first().into_iter().chain(&self.program.needs) {
            let Some(program) = self.find(name, site)? else { continue };
            if program.starts_with(&self.own_folder) {
                needs.extend(of_setup.iter().cloned());
            } else if name.contains('/') && !anywhere {
                // A suite cannot choose a folder whose neighbours are shown.
                needs.extend((!is_system_path(&program)).then_some(program));
            } else {
                needs.extend(find_installation(&program));
            }
        }
        let named = command.iter().skip(1).filter(|_| anywhere).map(PathBuf::from);
        needs.extend(named.filter(|path| path.is_absolute() && path.is_file() && !is_system_path(path)));
        needs.sort();
        needs.dedup();
        Ok(needs)
    }
}

/// The isolation in force, with what a manifest asks for beyond it.
pub fn isolation_words(isolation: Isolation, program: &Program) -> String {
    let missing = isolation.missing().map(|missing| format!(" ({missing})")).unwrap_or_default();
    let mut words = vec![format!("{}{missing}", isolation.as_str())];
    if program.network {
        let elsewhere = isolation == Isolation::Bubblewrap && !program.loopback;
        words.push(if elsewhere { "network allowed, but for this machine" } else { "network allowed" }.to_owned());
    }
    let list = |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
    if !program.pass_env.is_empty() {
        words.push(format!("gets {}", program.pass_env.join(" ")));
    }
    if !program.expose.is_empty() {
        words.push(format!("reads {}", list(&program.expose)));
    }
    if !program.writable.is_empty() {
        words.push(format!("writes {}", list(&program.writable)));
    }
    words.join(", ")
}

/// What is left of an execution before its folder goes.
struct Done {
    finished: JobResult,
    results: ResultFolder,
    seen: PathBuf,
}

/// Keeps what a trial printed and wrote.
fn keep(artifacts: &mut Vec<Artifact>, finished: JobResult, result: Option<Vec<u8>>) {
    let printed = [("stdout", finished.stdout.bytes), ("stderr", finished.stderr.bytes)];
    let all = printed.into_iter().chain(result.map(|bytes| ("output", bytes)));
    let kept = all.filter(|(_, bytes)| !bytes.is_empty());
    artifacts.extend(kept.map(|(name, bytes)| Artifact { name: name.to_owned(), bytes }));
}

fn filled(words: &[String], values: &BTreeMap<&str, String>) -> Result<Vec<OsString>, PlaceholderError> {
    words.iter().map(|word| Ok(OsString::from(fill(word, values)?))).collect()
}

/// A variable cannot hold a zero byte, and the system takes no very long ones; the file has it whole.
fn handed_over(text: &str) -> OsString {
    text.chars().filter(|c| *c != '\0').take(30_000).collect::<String>().into()
}

/// The last line a tool said, for the reason of its failure.
fn last_words(finished: &JobResult) -> String {
    let last = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(4_096)..]).into_owned();
        let line = text.lines().map(str::trim).rfind(|line| !line.is_empty());
        line.map(|line| line.chars().take(LAST_WORDS).collect::<String>())
    };
    let words = last(&finished.stderr.bytes).or_else(|| last(&finished.stdout.bytes));
    words.map(|words| format!(": {words}")).unwrap_or_default()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
