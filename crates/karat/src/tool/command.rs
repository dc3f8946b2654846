//! A tool that is a program, run on a fresh checkout of each case.

mod environment;
mod examine;
mod import_output;
mod program;
mod runner;
mod trial;
mod trial_folder;

pub use import_output::serve;
pub(super) use program::Program;
#[cfg(test)]
pub(super) use program::ResultFrom;

use super::doctor::{Examined, Surroundings};
use super::run_context::RunContext;
use super::{Declaration, Kind, LoadFault, PrepareResult, Tool};
use crate::suite::LoadedSuite;
use crate::tool::replay::Recordings;
use karat_format::run::IsolationV1;
use karat_format::tool::ToolManifestV1;
use karat_import::rule_map::RuleMap;
use karat_io::regular_file;
use karat_sandbox::Isolation;
use runner::CommandRunner;
use std::path::{Path, PathBuf};

pub(super) static KIND: Kind = Kind {
    keys: &[
        "command", "format", "ok_exit", "timeout", "env", "pass_env", "setup", "needs", "version", "network",
        "loopback", "expose", "writable", "limits", "rule_map",
    ],
    resolve: |check| Box::new(check.program()),
};

impl Declaration for Program {
    fn load(self: Box<Self>, suite: &LoadedSuite, _: &mut Recordings) -> Result<Box<dyn Tool>, LoadFault> {
        let rules = self.rule_map.as_deref().map(|path| read_rule_map(path, suite)).transpose()?;
        Ok(Box::new(CommandTool { program: *self, rules }))
    }

    fn examine(&self, raw: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
        examine::examine_program(self, raw, around, examined);
    }
}

fn read_rule_map(path: &Path, suite: &LoadedSuite) -> Result<RuleMap, LoadFault> {
    let failed = |why: String| LoadFault::File { file: path.display().to_string(), why };
    let inside = || suite.files.on_disk(&path.to_string_lossy());
    let file = path.is_absolute().then(|| path.to_owned()).or_else(inside);
    let file = file.ok_or_else(|| failed("there is no such file on disk in the suite".to_owned()))?;
    // A suite may name a pipe, and reading one would wait forever.
    regular_file::open(&file).map_err(|error| failed(error.to_string()))?;
    Ok(RuleMap::read(&file)?)
}

struct CommandTool {
    program: Program,
    rules: Option<RuleMap>,
}

impl Tool for CommandTool {
    fn isolation(&self, isolation: Isolation) -> String {
        isolation_text(isolation, &self.program)
    }

    fn prepare<'a>(self: Box<Self>, isolation: Isolation, context: &'a RunContext<'a>) -> PrepareResult<'a> {
        let (runner, facts) = CommandRunner::prepare(self.program, self.rules, isolation, context)?;
        Ok((Box::new(runner), facts))
    }
}

/// The stored kind of an isolation.
pub(crate) fn isolation_kind(isolation: Isolation) -> IsolationV1 {
    match isolation {
        Isolation::Process => IsolationV1::Process,
        Isolation::Landlock => IsolationV1::Landlock,
        Isolation::Bubblewrap => IsolationV1::Bubblewrap,
    }
}

/// The isolation in force, with what the manifest asks for beyond it.
fn isolation_text(isolation: Isolation, program: &Program) -> String {
    let missing = isolation.missing().map(|missing| format!(" ({missing})")).unwrap_or_default();
    let mut parts = vec![format!("{}{missing}", isolation.as_str())];
    if program.network {
        let elsewhere = isolation == Isolation::Bubblewrap && !program.loopback;
        parts.push(if elsewhere { "network allowed, but for this machine" } else { "network allowed" }.to_owned());
    }
    if !program.pass_env.is_empty() {
        parts.push(format!("gets {}", program.pass_env.join(" ")));
    }
    if !program.expose.is_empty() {
        parts.push(format!("reads {}", join_paths(&program.expose, " ")));
    }
    if !program.writable.is_empty() {
        parts.push(format!("writes {}", join_paths(&program.writable, " ")));
    }
    parts.join(", ")
}

fn join_paths(paths: &[PathBuf], separator: &str) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(separator)
}
