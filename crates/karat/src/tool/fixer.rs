//! A fixer: a program that gets the code of a case and one finding, and repairs what the finding reports.
//!
//! It sees nothing else: no change, no pull request, no golden and no proof. `karat fix` runs the golden's proof on what it leaves.

use super::command::environment::{CHECKOUT, FINDING, RESULT, RESULTS, environment, make_folders, read_result};
use super::command::examine::examine_program;
use super::command::runner::CommandRunner;
use super::command::{Program, ResultFrom};
use super::doctor::{Examined, Surroundings};
use super::manifest::Check;
use super::placeholders::{FINDING_FILE, fill};
use super::replay::Recordings;
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadResult, output};
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use karat_format::run::ToolFactsV1;
use karat_format::submission::FindingV1;
use karat_format::tool::ToolManifestV1;
use karat_io::remove_tree::remove_tree;
use karat_sandbox::{ExitReason, Isolation, JobResult, root_in_sandbox};
use karat_source::git::{GitError, apply_patch};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) static KIND: Kind = Kind {
    keys: &[
        "command",
        "format",
        "ok_exit",
        "infra_exit",
        "infra_pattern",
        "timeout",
        "env",
        "pass_env",
        "setup",
        "needs",
        "version",
        "network",
        "loopback",
        "expose",
        "writable",
        "limits",
    ],
    resolve: |check| Box::new(check.fixer()),
};

/// The format of a fixer that prints a diff.
const DIFF: &str = "diff";
/// Placeholders of its command, beside `{output}` where it writes a diff.
const PLACEHOLDERS: &[&str] = &["checkout", FINDING_FILE, "model", "tool_dir", "manifest_dir", "home", "tmp"];

/// A fixer as its manifest declares it.
pub(crate) struct Fixer {
    program: Program,
    /// Whether it prints a unified diff, and does not edit the code.
    prints_diff: bool,
}

impl Check<'_> {
    fn fixer(&mut self) -> Fixer {
        let prints_diff = match self.raw.format.as_deref() {
            None => false,
            Some(DIFF) => true,
            Some(other) => {
                let message = format!(
                    "unknown format `{other}` of a fixer; `{DIFF}` if it prints a unified diff, none if it edits the code"
                );
                self.fault(&["format"], "unknown-format", message);
                false
            }
        };
        let result_file = prints_diff.then_some("output");
        let placeholders: Vec<&str> = PLACEHOLDERS.iter().copied().chain(result_file).collect();
        // What it prints is not imported.
        Fixer { program: self.program(|_| output::KARAT, &placeholders), prints_diff }
    }
}

impl Declaration for Fixer {
    fn load(self: Box<Self>, _: &LoadedSuite, _: &mut Recordings) -> LoadResult {
        Err(Failure::usage("it is a fixer, which reports nothing itself; use it with `karat fix --with`"))
    }

    fn examine(&self, _: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
        examine_program(&self.program, around, examined);
    }

    fn into_fixer(self: Box<Self>) -> Option<Fixer> {
        Some(*self)
    }
}

impl Fixer {
    /// Finds its program, sets it up and asks for its version.
    pub(crate) fn prepare<'a>(
        self,
        isolation: Isolation,
        context: &'a RunContext<'a>,
    ) -> io::Result<(FixerRunner<'a>, ToolFactsV1)> {
        let (runner, facts) = CommandRunner::prepare(self.program, None, isolation, context)?;
        Ok((FixerRunner { runner, prints_diff: self.prints_diff }, facts))
    }
}

/// A fixer that is ready.
pub(crate) struct FixerRunner<'a> {
    runner: CommandRunner<'a>,
    prints_diff: bool,
}

/// How a fixer ended, with the reason if it did not do its work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FixerOutcome {
    Done,
    Failed(String),
    Unavailable(String),
}

/// What a fixer left, until this is dropped.
pub(crate) struct FixerResult {
    pub(crate) outcome: FixerOutcome,
    /// The code as the fixer left it. Anything may be in it, such as links to other places.
    pub(crate) code: PathBuf,
    /// Folders to remove.
    roots: Vec<PathBuf>,
}

impl Drop for FixerResult {
    fn drop(&mut self) {
        for root in &self.roots {
            // What cannot be removed now goes with the folder of all runs.
            let _ = remove_tree(root);
        }
    }
}

impl FixerRunner<'_> {
    /// Lets it repair what a finding reports; `None` if it was cancelled. `write_code` writes the code to a folder.
    pub(crate) fn repair(
        &self,
        finding: &FindingV1,
        write_code: &dyn Fn(&Path) -> io::Result<()>,
    ) -> io::Result<Option<FixerResult>> {
        let root = self.runner.context.new_folder();
        let mut result =
            FixerResult { outcome: FixerOutcome::Done, code: root.join(CHECKOUT), roots: vec![root.clone()] };
        let results = make_folders(&root)?;
        fs::create_dir(&result.code)?;
        write_code(&result.code)?;
        fs::write(root.join(FINDING), serde_json::to_vec_pretty(finding)?)?;
        let finished = self.execute(&root)?;
        if finished.exit == ExitReason::Cancelled {
            return Ok(None);
        }
        result.outcome = match self.runner.failure(&finished) {
            Some((_, why)) => match self.runner.program.outages.explain(&finished) {
                Some(outage) => FixerOutcome::Unavailable(format!("{outage}; {why}")),
                None => FixerOutcome::Failed(why),
            },
            None if self.prints_diff => {
                // The fixer has not seen this folder, so what it wrote cannot be in the way.
                result.code = self.runner.context.new_folder();
                result.roots.push(result.code.clone());
                fs::create_dir(&result.code)?;
                write_code(&result.code)?;
                self.apply_diff(&result.code, &finished, &results)?
            }
            None => FixerOutcome::Done,
        };
        Ok(Some(result))
    }

    fn execute(&self, root: &Path) -> io::Result<JobResult> {
        let (runner, program) = (&self.runner, &self.runner.program);
        let sandbox_root = root_in_sandbox(runner.isolation, root);
        let mut values = runner.values_without_case(&sandbox_root);
        values.extend([
            ("checkout", sandbox_root.join(CHECKOUT).display().to_string()),
            (FINDING_FILE, sandbox_root.join(FINDING).display().to_string()),
        ]);
        if self.prints_diff {
            values.insert("output", sandbox_root.join(RESULTS).join(RESULT).display().to_string());
        }
        let mut env = environment(runner.context, program.network, &program.manifest.pass_env, &sandbox_root);
        for (name, value) in values.iter().filter(|(name, _)| !["home", "tmp"].contains(*name)) {
            env.insert(format!("KARAT_{}", name.to_uppercase()), value.into());
        }
        for (name, text) in &program.manifest.env {
            env.insert(name.clone(), fill(text, &values).map_err(io::Error::other)?.into());
        }
        let command = runner.fill_command(&program.manifest.command, &values)?;
        let job = runner.job(command, env, root, program.limits.clone(), program.network);
        runner.run_job(&job, &runner.context.cancel, runner.context.output)
    }

    /// Applies the diff that it printed. One that does not apply is its failure, and none at all repairs nothing.
    fn apply_diff(&self, code: &Path, finished: &JobResult, results: &fs::File) -> io::Result<FixerOutcome> {
        let program = &self.runner.program;
        let diff = match program.result {
            ResultFrom::Stdout => Some(finished.stdout.bytes.clone()),
            ResultFrom::File => match read_result(results, program.limits.output) {
                Ok(diff) => diff,
                Err(why) => return Ok(FixerOutcome::Failed(why)),
            },
        };
        let diff = diff.unwrap_or_default();
        if diff.trim_ascii().is_empty() {
            return Ok(FixerOutcome::Done);
        }
        match apply_patch(code, &diff) {
            Ok(()) => Ok(FixerOutcome::Done),
            Err(GitError::Failed { message, .. }) => {
                Ok(FixerOutcome::Failed(format!("its diff does not apply: {message}")))
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }
}
