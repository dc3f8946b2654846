//! One trial of a program: a checkout, the program under its limits, and the outcome.

use super::environment::{CHECKOUT, DESCRIPTION, DIFF, RESULT, RESULTS, TITLE};
use super::environment::{environment, make_folders, read_result};
use super::import_output::import;
use super::isolation_kind;
use super::program::ResultFrom;
use super::runner::{CommandRunner, last_line};
use crate::checkout::{BASE, HEAD, Template};
use crate::tool::output::Output;
use crate::tool::placeholders::fill;
use crate::tool::{BlockedKind, RunResult, Task, TrialRunner, failed, milliseconds};
use karat_core::trial::{Outcome, Trial};
use karat_io::cancel::Cancel;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{ExitReason, JobResult, Limits, Resource, WorkerLimits, root_in_sandbox};
use karat_store::record::{Artifact, TrialRecord};
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An import has at least this long, since a tool may end at the last moment of its time.
const MIN_IMPORT_TIME: Duration = Duration::from_secs(1);
const FILLED_DISK: &str = "its files filled the disk that all trials share (lower limits.disk)";

impl CommandRunner<'_> {
    pub(super) fn run_once(&self, task: &Task, template: &Template) -> RunResult {
        let mut record = task.record();
        record.detail.isolation = Some(self.isolation_in_force());
        record.detail.isolation_kind = Some(isolation_kind(self.isolation));
        record.detail.commit = Some(template.head.to_string());
        let root = self.context.new_folder();
        let cancel = self.context.cancel.child();
        let occupied = self.context.room.occupy(&root, &cancel);
        let mut trial = RunningTrial { tool: self, template, root: &root, cancel: &cancel, record };
        let is_done = trial.run();
        if let Err(error) = remove_tree(&root) {
            trial.record.detail.remarks.push(format!("its folder could not be removed: {error}"));
        }
        drop(occupied);
        Ok(is_done?.then_some(trial.record))
    }

    /// How a program failed, and why; `None` if it did not.
    pub(in crate::tool) fn failure(&self, finished: &JobResult) -> Option<(Outcome, String)> {
        let ok_exit = &self.program.ok_exit;
        let Limits { time, memory, processes, file_size, disk, output, .. } = &self.program.limits;
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
                let reason = format!("it took longer than {} s and was ended", time.as_secs_f64());
                return Some((Outcome::TimedOut, reason));
            }
            ExitReason::LimitExceeded(resource) => match resource {
                Resource::Output => format!("it printed more than {output} bytes and was ended (limits.output)"),
                Resource::Memory => format!("it used more than {memory} bytes of memory and was ended (limits.memory)"),
                Resource::FileSize => format!("it wrote a file of more than {file_size} bytes (limits.file_size)"),
                Resource::Disk => format!("its files took up more than {disk} bytes and it was ended (limits.disk)"),
                Resource::Processes => {
                    format!("it had more than {processes} processes and was ended (limits.processes)")
                }
            },
        };
        Some((Outcome::Crashed, reason))
    }
}

/// A trial that is being executed in its folder. Its methods return `false` if it was cancelled.
struct RunningTrial<'a> {
    tool: &'a CommandRunner<'a>,
    template: &'a Template,
    root: &'a Path,
    cancel: &'a Cancel,
    record: TrialRecord,
}

impl RunningTrial<'_> {
    fn run(&mut self) -> io::Result<bool> {
        let (finished, results, sandbox_root) = self.execute()?;
        // A trial that was cancelled by itself had filled the disk.
        if finished.exit == ExitReason::Cancelled && !self.cancel.is_cancelled_itself() {
            return Ok(false);
        }
        if !self.record_outcome(finished, &results, &sandbox_root)? {
            return Ok(false);
        }
        self.explain_closed_port();
        // A tool that fails because the disk is full is not to blame if others filled it.
        let (context, record) = (self.tool.context, &mut self.record);
        if failed(record.trial.outcome) && !self.cancel.is_cancelled_itself() && !context.room.is_left() {
            if !context.room.is_used_up_by(self.root) {
                let folder = context.scratch.display();
                let message =
                    format!("less than 1 MiB free in {folder}; free some space, or name another folder with TMPDIR");
                return Err(io::Error::new(io::ErrorKind::StorageFull, message));
            }
            record.detail.reason = Some(FILLED_DISK.to_owned());
        }
        Ok(true)
    }

    /// Runs the program. Returns the open folder of its result, and its own folder as it saw it.
    fn execute(&mut self) -> io::Result<(JobResult, fs::File, PathBuf)> {
        let Self { tool, template, root, cancel, record } = self;
        let began = Instant::now();
        let results = make_folders(root)?;
        template.write(&root.join(CHECKOUT))?;
        fs::write(root.join(TITLE), &template.title)?;
        fs::write(root.join(DESCRIPTION), &template.description)?;
        fs::write(root.join(DIFF), &template.diff)?;
        record.detail.stages_ms.insert("checkout".to_owned(), milliseconds(began.elapsed()));

        let sandbox_root = root_in_sandbox(tool.isolation, root);
        let number = record.trial.number;
        let mut values = tool.values_without_case(&sandbox_root);
        values.extend([
            ("checkout", sandbox_root.join(CHECKOUT).display().to_string()),
            ("output", sandbox_root.join(RESULTS).join(RESULT).display().to_string()),
            ("base", BASE.to_owned()),
            ("head", HEAD.to_owned()),
            ("base_commit", template.base.to_string()),
            ("head_commit", template.head.to_string()),
            ("title_file", sandbox_root.join(TITLE).display().to_string()),
            ("description_file", sandbox_root.join(DESCRIPTION).display().to_string()),
            ("diff_file", sandbox_root.join(DIFF).display().to_string()),
            ("seed", tool.context.seed.wrapping_add(u64::from(number) - 1).to_string()),
            ("trial", number.to_string()),
        ]);
        let program = &tool.program;
        let mut env = environment(tool.context, program.network, &program.manifest.pass_env, &sandbox_root);
        for (name, value) in values.iter().filter(|(name, _)| !["home", "tmp"].contains(*name)) {
            env.insert(format!("KARAT_{}", name.to_uppercase()), value.into());
        }
        env.insert("KARAT_PR_TITLE".to_owned(), as_variable(&template.title));
        env.insert("KARAT_PR_DESCRIPTION".to_owned(), as_variable(&template.description));
        for (name, text) in &program.manifest.env {
            env.insert(name.clone(), fill(text, &values).map_err(io::Error::other)?.into());
        }
        let command = tool.fill_command(&program.manifest.command, &values)?;
        let job = tool.job(command, env, root, program.limits.clone(), program.network);
        let began = Instant::now();
        let finished = tool.run_job(&job, cancel, tool.context.output)?;
        record.detail.stages_ms.insert("process".to_owned(), milliseconds(began.elapsed()));
        Ok((finished, results, sandbox_root))
    }

    fn record_outcome(&mut self, finished: JobResult, results: &fs::File, sandbox_root: &Path) -> io::Result<bool> {
        let (tool, record) = (self.tool, &mut self.record);
        record.trial.latency_ms = Some(milliseconds(finished.wall));
        match finished.exit {
            ExitReason::Exited(code) => record.detail.exit = Some(code),
            ExitReason::Signalled(signal) => record.detail.signal = Some(signal),
            _ => {}
        }
        if let Some(left) = finished.leftover_processes.filter(|left| *left > 0) {
            record.detail.remarks.push(format!("it left {left} processes running, which were killed"));
        }
        if let Some((outcome, reason)) = tool.failure(&finished) {
            record.trial.outcome = outcome;
            record.detail.reason = Some(reason);
            self.mark_outage(&finished);
            keep_artifacts(&mut self.record, finished, None);
            return Ok(true);
        }
        let result = match tool.program.result {
            ResultFrom::Stdout => Ok(None),
            ResultFrom::File => read_result(results, tool.program.limits.output),
        };
        let began = Instant::now();
        let file = match result {
            Err(why) => {
                record.trial.outcome = Outcome::Unparsable;
                record.detail.reason = Some(why);
                None
            }
            Ok(file) => {
                let file = file.map(|bytes| tool.redact(bytes));
                if !self.import(&finished, file.as_deref(), sandbox_root)? {
                    return Ok(false);
                }
                file
            }
        };
        self.record.detail.stages_ms.insert("import".to_owned(), milliseconds(began.elapsed()));
        self.mark_outage(&finished);
        keep_artifacts(&mut self.record, finished, file);
        Ok(true)
    }

    /// A service of this machine that the sandbox keeps from the tool looks like one that is down.
    fn explain_closed_port(&mut self) {
        if !failed(self.record.trial.outcome) && self.record.trial.outcome != Outcome::Unavailable {
            return;
        }
        let blocked = self.tool.blocked(&self.record).into_iter();
        let closed =
            blocked.filter(|one| one.kind == BlockedKind::Port).map(|one| format!("{}: {}", one.what, one.help));
        if let Some(closed) = closed.reduce(|first, _| first) {
            let reason = self.record.detail.reason.take().map(|reason| format!("{reason}; ")).unwrap_or_default();
            self.record.detail.reason = Some(format!("{reason}{closed}"));
        }
    }

    fn mark_outage(&mut self, finished: &JobResult) {
        let TrialRecord { trial, detail, .. } = &mut self.record;
        if !failed(trial.outcome) {
            return;
        }
        if let Some(why) = self.tool.program.outages.explain(finished) {
            trial.outcome = Outcome::Unavailable;
            let failure = detail.reason.take().map(|reason| format!("; {reason}")).unwrap_or_default();
            detail.reason = Some(format!("{why}{failure}"));
        }
    }

    fn import(&mut self, finished: &JobResult, file: Option<&[u8]>, sandbox_root: &Path) -> io::Result<bool> {
        let (tool, record) = (self.tool, &mut self.record);
        let (program, trial) = (&tool.program, &record.trial);
        let roots = [sandbox_root, self.root].map(|folder| folder.join(CHECKOUT).display().to_string());
        let limits = WorkerLimits {
            time: program.limits.time.saturating_sub(finished.wall).max(MIN_IMPORT_TIME),
            memory: program.import_memory,
        };
        let output = Output {
            trial,
            format: program.format,
            bytes: match program.result {
                ResultFrom::Stdout => Some(&finished.stdout.bytes),
                ResultFrom::File => file,
            },
            caps: program.caps,
            roots: &roots,
            rules: tool.rules.as_ref(),
            sources: &|path| tool.context.loaded.source(&trial.case, path),
        };
        let (supervisor, cancel) = (tool.context.supervisor, &tool.context.cancel);
        let read = import(&output, limits, supervisor, cancel)?;
        let Some(read) = read else { return Ok(false) };
        record.detail.remarks.extend(read.notes);
        record.detail.reason = read.problem;
        // The latency is measured, whatever the tool states.
        record.trial = Trial { latency_ms: record.trial.latency_ms, ..read.trial };
        Ok(true)
    }
}

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
