//! One trial of a program: a checkout, the program under its limits, and the outcome.

use super::environment::environment;
use super::import_output::{Importing, import};
use super::isolation_kind;
use super::program::ResultFrom;
use super::runner::{CommandRunner, last_line};
use super::trial_folder::{self, CHECKOUT, DESCRIPTION, DIFF, RESULT, RESULTS, ResultFolder, TITLE};
use crate::checkout::{BASE, HEAD, Template};
use crate::tool::output::{About, Caps, Output};
use crate::tool::placeholders::fill;
use crate::tool::{ReadyError, RunResult, Task, failed, milliseconds};
use karat_core::trial::{Outcome, Trial};
use karat_io::cancel::Cancel;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{ExitReason, JobResult, Resource, WorkerLimits, root_in_sandbox};
use karat_store::record::{Artifact, TrialRecord};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An import has at least this long, since a tool may end at the last moment of its time.
const MIN_IMPORT_TIME: Duration = Duration::from_secs(1);
/// The reason of a trial that left no room for others on the disk.
const FILLED_DISK: &str = "its files filled the disk that all trials share (lower limits.disk)";

/// A finished execution whose folder still exists.
struct Execution {
    finished: JobResult,
    results: ResultFolder,
    /// The folder as the tool saw it.
    seen: PathBuf,
}

impl CommandRunner<'_> {
    pub(super) fn run_once(&self, task: &Task, template: &Template) -> RunResult {
        let mut record = task.record();
        record.detail.isolation = Some(self.isolation_in_force());
        record.detail.isolation_kind = Some(isolation_kind(self.isolation));
        record.detail.commit = Some(template.head.to_string());
        let root = self.context.new_folder();
        let cancel = self.context.cancel.child();
        let occupied = self.context.room.occupy(&root, &cancel);
        let is_done = self.run_in(&root, template, &cancel, &mut record);
        if let Err(error) = remove_tree(&root) {
            record.detail.remarks.push(format!("its folder could not be removed: {error}"));
        }
        drop(occupied);
        Ok(is_done?.then_some(record))
    }

    /// Executes the trial in this folder; `false` if it was cancelled.
    fn run_in(
        &self,
        root: &Path,
        template: &Template,
        cancel: &Cancel,
        record: &mut TrialRecord,
    ) -> Result<bool, ReadyError> {
        let done = self.execute(root, template, cancel, record)?;
        // A trial that was cancelled by itself had filled the disk.
        if done.finished.exit == ExitReason::Cancelled && !cancel.is_cancelled_itself() {
            return Ok(false);
        }
        if !self.record_outcome(done, root, record)? {
            return Ok(false);
        }
        // A tool that fails because the disk is full is not to blame if others filled it.
        let room = &self.context.room;
        if failed(record.trial.outcome) && !cancel.is_cancelled_itself() && !room.is_left() {
            if !room.is_used_up_by(root) {
                return Err(ReadyError::DiskFull { folder: self.context.scratch.display().to_string() });
            }
            record.detail.reason = Some(FILLED_DISK.to_owned());
        }
        Ok(true)
    }

    fn execute(
        &self,
        root: &Path,
        template: &Template,
        cancel: &Cancel,
        record: &mut TrialRecord,
    ) -> Result<Execution, ReadyError> {
        let began = Instant::now();
        let results = trial_folder::make(root)?;
        template.write(&root.join(CHECKOUT))?;
        fs::write(root.join(TITLE), &template.title)?;
        fs::write(root.join(DESCRIPTION), &template.description)?;
        fs::write(root.join(DIFF), &template.diff)?;
        record.detail.stages_ms.insert("checkout".to_owned(), milliseconds(began.elapsed()));

        let seen = root_in_sandbox(self.isolation, root);
        let number = record.trial.number;
        let mut values = self.values_without_case(&seen);
        values.extend([
            ("checkout", seen.join(CHECKOUT).display().to_string()),
            ("output", seen.join(RESULTS).join(RESULT).display().to_string()),
            ("base", BASE.to_owned()),
            ("head", HEAD.to_owned()),
            ("base_commit", template.base.to_string()),
            ("head_commit", template.head.to_string()),
            ("title_file", seen.join(TITLE).display().to_string()),
            ("description_file", seen.join(DESCRIPTION).display().to_string()),
            ("diff_file", seen.join(DIFF).display().to_string()),
            ("seed", self.context.seed.wrapping_add(u64::from(number) - 1).to_string()),
            ("trial", number.to_string()),
        ]);
        let program = &self.program;
        let mut env = environment(self.context, program.network, &program.pass_env, &seen);
        for (name, value) in values.iter().filter(|(name, _)| !["home", "tmp"].contains(*name)) {
            env.insert(format!("KARAT_{}", name.to_uppercase()), value.into());
        }
        env.insert("KARAT_PR_TITLE".to_owned(), as_variable(&template.title));
        env.insert("KARAT_PR_DESCRIPTION".to_owned(), as_variable(&template.description));
        for (name, text) in &program.env {
            env.insert(name.clone(), fill(text, &values)?.into());
        }
        let command = self.fill_command(&program.command, &values)?;
        let job = self.job(command, env, root, program.limits.clone(), program.network);
        let began = Instant::now();
        let finished = self.run_job(&job, cancel)?;
        record.detail.stages_ms.insert("process".to_owned(), milliseconds(began.elapsed()));
        Ok(Execution { finished, results, seen })
    }

    /// Records the outcome, its reason and the findings; `false` if importing them was cancelled.
    fn record_outcome(&self, done: Execution, root: &Path, record: &mut TrialRecord) -> Result<bool, ReadyError> {
        let Execution { finished, results, seen } = done;
        record.trial.latency_ms = Some(milliseconds(finished.wall));
        match finished.exit {
            ExitReason::Exited(code) => record.detail.exit = Some(code),
            ExitReason::Signalled(signal) => record.detail.signal = Some(signal),
            _ => {}
        }
        if let Some(left) = finished.leftover_processes.filter(|left| *left > 0) {
            record.detail.remarks.push(format!("it left {left} processes running, which were killed"));
        }
        if let Some((outcome, reason)) = self.failure(&finished) {
            record.trial.outcome = outcome;
            record.detail.reason = Some(reason);
            keep_artifacts(record, finished, None);
            return Ok(true);
        }
        let result = match self.program.result {
            ResultFrom::Stdout => Ok(None),
            ResultFrom::File => results.read(self.program.limits.output),
        };
        let began = Instant::now();
        let file = match result {
            Err(why) => {
                record.trial.outcome = Outcome::Unparsable;
                record.detail.reason = Some(why);
                None
            }
            Ok(file) => {
                let file = file.map(|bytes| self.redact(bytes));
                if !self.import(&finished, file.as_deref(), &[&seen, root], record)? {
                    return Ok(false);
                }
                file
            }
        };
        record.detail.stages_ms.insert("import".to_owned(), milliseconds(began.elapsed()));
        keep_artifacts(record, finished, file);
        Ok(true)
    }

    /// Reads the findings from the result; `false` if it was cancelled.
    fn import(
        &self,
        finished: &JobResult,
        file: Option<&[u8]>,
        folders: &[&Path],
        record: &mut TrialRecord,
    ) -> Result<bool, ReadyError> {
        let (program, trial) = (&self.program, &record.trial);
        let roots: Vec<String> = folders.iter().map(|folder| folder.join(CHECKOUT).display().to_string()).collect();
        let limits = WorkerLimits {
            time: program.limits.time.saturating_sub(finished.wall).max(MIN_IMPORT_TIME),
            memory: program.import_memory,
        };
        let output = Output {
            format: program.format,
            bytes: match program.result {
                ResultFrom::Stdout => Some(&finished.stdout.bytes),
                ResultFrom::File => file,
            },
            caps: Caps { unpacked: program.limits.output as u64, findings: program.max_findings },
        };
        let about = About {
            case: &trial.case,
            tool: &trial.tool,
            number: trial.number,
            roots: &roots.iter().map(String::as_str).collect::<Vec<_>>(),
            rules: self.rules.as_ref(),
            sources: &|path| self.context.loaded.source(&trial.case, path),
        };
        let importing = Importing { limits, supervisor: &self.context.supervisor, cancel: &self.context.cancel };
        let Some(read) = import(&output, &about, &importing)? else { return Ok(false) };
        record.detail.remarks.extend(read.notes);
        record.detail.reason = read.problem;
        // The latency is measured, whatever the tool states.
        record.trial = Trial { latency_ms: record.trial.latency_ms, ..read.trial };
        Ok(true)
    }

    /// How the program failed, if it did.
    fn failure(&self, finished: &JobResult) -> Option<(Outcome, String)> {
        let (ok_exit, limits) = (&self.program.ok_exit, &self.program.limits);
        let reason = match &finished.exit {
            ExitReason::Exited(code) if ok_exit.contains(code) => return None,
            // A sandbox reports an exit code above 128 as shells do: as the signal it may stand for.
            ExitReason::Signalled(signal) if ok_exit.contains(&(128 + signal)) => return None,
            ExitReason::Exited(code) => format!("it exited with {code}{}", last_line(finished)),
            ExitReason::Signalled(signal) => format!("it was ended by signal {signal}{}", last_line(finished)),
            ExitReason::NotStarted(why) => format!("it could not be started: {why}"),
            ExitReason::LostSupervisor => "it killed its supervisor".to_owned(),
            ExitReason::Cancelled => FILLED_DISK.to_owned(),
            ExitReason::TimedOut => {
                let reason = format!("it took longer than {} s and was ended", limits.time.as_secs_f64());
                return Some((Outcome::TimedOut, reason));
            }
            ExitReason::LimitExceeded(Resource::Output) => {
                format!("it printed more than {} bytes and was ended (limits.output)", limits.output)
            }
            ExitReason::LimitExceeded(Resource::Memory) => {
                format!("it used more than {} bytes of memory and was ended (limits.memory)", limits.memory)
            }
            ExitReason::LimitExceeded(Resource::FileSize) => {
                format!("it wrote a file of more than {} bytes (limits.file_size)", limits.file_size)
            }
            ExitReason::LimitExceeded(Resource::Disk) => {
                format!("its files took up more than {} bytes and it was ended (limits.disk)", limits.disk)
            }
            ExitReason::LimitExceeded(Resource::Processes) => {
                format!("it had more than {} processes and was ended (limits.processes)", limits.processes)
            }
        };
        Some((Outcome::Crashed, reason))
    }
}

/// Keeps what a trial printed and wrote.
fn keep_artifacts(record: &mut TrialRecord, finished: JobResult, result: Option<Vec<u8>>) {
    let all = [("stdout", Some(finished.stdout.bytes)), ("stderr", Some(finished.stderr.bytes)), ("output", result)];
    for (name, bytes) in all {
        let bytes = bytes.filter(|bytes| !bytes.is_empty());
        record.artifacts.extend(bytes.map(|bytes| Artifact { name: name.to_owned(), bytes }));
    }
}

/// A variable cannot contain a zero byte, and the system accepts no very long ones; the file has the whole text.
fn as_variable(text: &str) -> OsString {
    text.chars().filter(|c| *c != '\0').take(30_000).collect::<String>().into()
}
