//! A tool that is a program, run on a fresh checkout of each case.

mod blocked;
pub(crate) mod environment;
pub(super) mod examine;
mod import_output;
mod outage;
mod program;
pub(crate) mod runner;
mod trial;

pub use import_output::serve;
pub(super) use program::Program;
pub(super) use program::ResultFrom;

use super::doctor::{Examined, Surroundings};
use super::{Declaration, Kind, LoadResult};
use crate::failure::Failure;
use crate::suite::LoadedSuite;
use crate::tool::replay::Recordings;
use karat_format::run::IsolationV1;
use karat_format::tool::ToolManifestV1;
use karat_import::rule_map::RuleMap;
use karat_io::regular_file;
use karat_sandbox::{Isolation, NetworkAccess};
use runner::CommandTool;
use std::path::{Path, PathBuf};

pub(super) static KIND: Kind = Kind {
    keys: &[
        "command",
        "format",
        "ok_exit",
        "infra_exit",
        "infra_pattern",
        "retries",
        "retry_wait",
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
        "rule_map",
    ],
    resolve: |check| Box::new(check.command()),
};

impl Declaration for Program {
    fn load(self: Box<Self>, suite: &LoadedSuite, _: &mut Recordings) -> LoadResult {
        let rules = self.rule_map.as_deref().map(|path| read_rule_map(path, suite)).transpose()?;
        Ok(Box::new(CommandTool { program: *self, rules }))
    }

    fn examine(&self, _: &ToolManifestV1, around: &Surroundings<'_>, examined: &mut Examined) {
        examine::examine_program(self, around, examined);
    }
}

fn read_rule_map(path: &Path, suite: &LoadedSuite) -> Result<RuleMap, Failure> {
    let failed = |why: String| Failure::bad_input(format!("{}: {why}", path.display()));
    let file = path.is_absolute().then(|| path.to_owned()).or_else(|| suite.files.on_disk(&path.to_string_lossy()));
    let file = file.ok_or_else(|| failed("there is no such file on disk in the suite".to_owned()))?;
    // A suite may name a pipe, and reading one would wait forever.
    regular_file::open(&file).map_err(|error| failed(error.to_string()))?;
    Ok(RuleMap::read(&file)?)
}

pub(crate) fn isolation_kind(isolation: Isolation) -> IsolationV1 {
    match isolation {
        Isolation::Process => IsolationV1::Process,
        Isolation::Landlock => IsolationV1::Landlock,
        Isolation::Bubblewrap => IsolationV1::Bubblewrap,
    }
}

/// What [`isolation_kind`] stands for.
pub(crate) fn isolation_of_kind(kind: IsolationV1) -> Isolation {
    match kind {
        IsolationV1::Process => Isolation::Process,
        IsolationV1::Landlock => Isolation::Landlock,
        IsolationV1::Bubblewrap => Isolation::Bubblewrap,
    }
}

/// The isolation in force, with what the manifest asks for beyond it.
fn isolation_text(isolation: Isolation, program: &Program) -> String {
    let missing = isolation.missing().map(|missing| format!(" ({missing})")).unwrap_or_default();
    let mut parts = vec![format!("{}{missing}", isolation.as_str())];
    parts.extend(match program.network {
        NetworkAccess::None => None,
        NetworkAccess::External if isolation == Isolation::Bubblewrap => {
            Some("network allowed, but for this machine".to_owned())
        }
        _ => Some("network allowed".to_owned()),
    });
    let (expose, writable) = (join_paths(&program.expose, " "), join_paths(&program.writable, " "));
    let given = [("gets", program.manifest.pass_env.join(" ")), ("reads", expose), ("writes", writable)];
    parts.extend(given.iter().filter(|(_, what)| !what.is_empty()).map(|(verb, what)| format!("{verb} {what}")));
    parts.join(", ")
}

fn join_paths(paths: &[PathBuf], separator: &str) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(separator)
}
