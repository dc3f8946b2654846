//! What works on this machine: sandbox, store, keys, tools, fonts and mirrors, and what to do about what does not.

use crate::failure::Result;
use crate::scratch::make_scratch;
use crate::suite::code::mirror_folders;
use crate::tool::doctor::{DoctorRequest, Examined, Variable, diagnose};
use crate::tool::free_disk::free;
use karat_llm::providers::PROVIDERS;
use karat_report::plot::built_in_fonts;
use karat_sandbox::{
    Access, DiskUsage, ExitReason, Isolation, Job, Limits, available, describe_limits, locate_program, run,
};
use karat_store::{Store, StoreError, StoreLocation};
use serde::Serialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to look at.
#[expect(missing_docs, reason = "field names say it")]
pub struct MachineRequest {
    pub store: StoreLocation,
    /// The suite whose mirrors are looked for.
    pub suite: Option<PathBuf>,
    /// The tools to examine, which may be none, and the environment of everything.
    pub tools: DoctorRequest,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct MachineReport {
    pub sandbox: SandboxState,
    pub scratch: ScratchState,
    pub store: StoreState,
    pub keys: Vec<KeyState>,
    /// Variables with the default models of judges and tools.
    pub models: Vec<Variable>,
    pub tools: Vec<Examined>,
    /// The fonts of PNG pictures, which are built in.
    pub fonts: Vec<String>,
    pub mirrors: Vec<MirrorState>,
}

/// How tools can be isolated.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct SandboxState {
    /// The strongest isolation, which is the default.
    pub strongest: &'static str,
    /// What it leaves open, if anything.
    pub leaves_open: Option<&'static str>,
    /// How memory and processes are limited.
    pub limits: String,
    pub kinds: Vec<IsolationState>,
    /// Why a program could not be run in it.
    pub problem: Option<String>,
}

/// One kind of isolation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct IsolationState {
    pub name: &'static str,
    pub available: bool,
    pub reason: Option<String>,
    /// How to get it, unless the reason says so.
    pub help: Option<&'static str>,
}

/// The folder in which trials take place.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ScratchState {
    pub folder: PathBuf,
    pub free_bytes: Option<u64>,
    pub problem: Option<String>,
}

/// The store that commands use here.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct StoreState {
    pub location: StoreLocation,
    /// Whether there is a store; if not, the first run makes it.
    pub exists: bool,
    /// The version of the server, if the store is on one that answers.
    pub server_version: Option<String>,
    /// The version of its tables, if it can be read.
    pub schema_version: Option<i64>,
    pub runs: Option<usize>,
    pub bytes: Option<u64>,
    /// Free space on its disk, if it is on this machine.
    pub free_bytes: Option<u64>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

/// Whether a provider of models can be asked. Values are never part of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct KeyState {
    pub provider: &'static str,
    pub key: Variable,
    /// The variable with the address of another server, which may need no key.
    pub address: Variable,
}

/// A folder with mirrors of repositories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "field names say it")]
pub struct MirrorState {
    pub folder: PathBuf,
    pub exists: bool,
    pub repositories: usize,
}

/// With less free space than this, runs cannot be stored.
const MIN_FREE: u64 = 16 << 20;
/// The longest that starting a program may take.
const START_TIME: Duration = Duration::from_secs(30);
/// Folders of mirrors are `host/owner/name` at most.
const MIRROR_DEPTH: usize = 3;
const MOST_FOLDERS: usize = 20_000;

/// Looks at this machine. `done` is called with each tool when it has been examined.
pub fn check_machine(request: &MachineRequest, done: &(dyn Fn(&Examined) + Sync)) -> Result<MachineReport> {
    let environment = &request.tools.environment;
    let variable = |name: &str| {
        let set = environment.get(name).is_some_and(|value| !value.is_empty());
        Variable { name: name.to_owned(), set }
    };
    let remote = PROVIDERS.iter().filter_map(|entry| Some((entry.name, entry.remote?)));
    let keys = remote.map(|(provider, api)| KeyState { provider, key: variable(api.key), address: variable(api.base) });
    let models = ["KARAT_JUDGE_MODEL", "CRB_JUDGE_MODEL", "KARAT_TOOL_MODEL", "CRB_TOOL_MODEL"].map(variable);
    Ok(MachineReport {
        sandbox: check_sandbox(&request.tools),
        scratch: check_scratch(),
        store: check_store(&request.store),
        keys: keys.collect(),
        models: models.into(),
        tools: if request.tools.tools.is_empty() { Vec::new() } else { diagnose(&request.tools, done)? },
        fonts: built_in_fonts().into_iter().map(str::to_owned).collect(),
        mirrors: check_mirrors(request.suite.as_deref()),
    })
}

impl MachineReport {
    /// What Karat needs and does not work. A missing tool, key or mirror is none of it.
    pub fn problems(&self) -> Vec<String> {
        let mut problems: Vec<String> = [&self.sandbox.problem, &self.scratch.problem, &self.store.problem]
            .into_iter()
            .flatten()
            .cloned()
            .collect();
        if self.fonts.is_empty() {
            problems
                .push("the built-in fonts cannot be read, so pictures cannot be written as PNG; use SVG".to_owned());
        }
        problems
    }
}

fn check_sandbox(request: &DoctorRequest) -> SandboxState {
    let found = available();
    let strongest = found.strongest();
    let kinds = Isolation::ALL.map(|isolation| {
        let reason = found.unavailable_reason(isolation).map(str::to_owned);
        let help = match isolation {
            Isolation::Bubblewrap => "install bubblewrap 0.6 or newer, and allow user namespaces",
            Isolation::Landlock => "use Linux 6.2 or newer with Landlock enabled",
            Isolation::Process => "it always works",
        };
        IsolationState {
            name: isolation.as_str(),
            available: reason.is_none(),
            help: reason.is_some().then_some(help),
            reason,
        }
    });
    SandboxState {
        strongest: strongest.as_str(),
        leaves_open: strongest.missing(),
        limits: describe_limits(strongest),
        kinds: kinds.into(),
        problem: start_program(request, strongest).err(),
    }
}

/// Runs a program that does nothing in the sandbox.
fn start_program(request: &DoctorRequest, isolation: Isolation) -> Result<(), String> {
    let path = request.environment.get("PATH").cloned().unwrap_or_default();
    let Some(program) = locate_program(OsStr::new("true"), &path) else { return Ok(()) };
    // Without a folder for trials, that is what is wrong.
    let Ok(scratch) = make_scratch() else { return Ok(()) };
    let root = scratch.path.join("0");
    std::fs::create_dir(&root).map_err(|error| format!("{}: {error}", root.display()))?;
    let job = Job {
        command: vec![program.into()],
        env: [("PATH".to_owned(), path)].into(),
        dir: root.clone(),
        root,
        tool: None,
        access: Access::default(),
        limits: Limits { time: START_TIME, ..Limits::default() },
        isolation,
    };
    let failed = |why: String| format!("a program in the sandbox ({}) {why}", isolation.as_str());
    match run(&job, &request.supervisor, &request.cancel) {
        Ok(result) if result.exit == ExitReason::Exited(0) => Ok(()),
        Ok(result) => Err(failed(result.exit.to_string())),
        Err(error) => Err(failed(format!("could not be started: {error}"))),
    }
}

fn check_scratch() -> ScratchState {
    let folder = std::env::temp_dir();
    let free_bytes = free(&folder);
    let problem = make_scratch().err().map(|failure| failure.text());
    ScratchState { problem: problem.or_else(|| full(&folder, free_bytes)), free_bytes, folder }
}

fn full(folder: &Path, free_bytes: Option<u64>) -> Option<String> {
    let free_bytes = free_bytes.filter(|free| *free < MIN_FREE)?;
    Some(format!("the disk of {} is full: {free_bytes} bytes are free; free some space", folder.display()))
}

fn check_store(location: &StoreLocation) -> StoreState {
    let mut state = StoreState {
        location: location.clone(),
        exists: Store::is_at(location),
        server_version: None,
        schema_version: None,
        runs: None,
        bytes: None,
        free_bytes: None,
        problem: None,
    };
    if let Some(folder) = location.as_folder() {
        // A store that does not exist yet is made in the nearest folder that does.
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        state.free_bytes = free(absolute.ancestors().find(|place| place.is_dir()).unwrap_or(folder));
        state.problem = full(folder, state.free_bytes);
        state.bytes = state.exists.then(|| DiskUsage::total(folder));
    }
    if !state.exists {
        return state;
    }
    let read = || -> Result<(usize, Option<String>), StoreError> {
        let mut store = Store::read_only(location)?;
        Ok((store.overview()?.len(), store.server_version()?))
    };
    match read() {
        Ok((runs, server_version)) => {
            state.schema_version = Some(Store::schema_version());
            state.runs = Some(runs);
            state.server_version = server_version;
        }
        Err(error) => state.problem = Some(error.to_string()),
    }
    state
}

fn check_mirrors(suite: Option<&Path>) -> Vec<MirrorState> {
    let folders = mirror_folders(suite).into_iter();
    // Few suites have mirrors of their own, and a folder that the user named must exist.
    let folders = folders.filter(|(folder, inside)| inside.is_none() || folder.is_dir());
    let state = |(folder, _): (PathBuf, Option<PathBuf>)| {
        let (mut repositories, mut left) = (0, MOST_FOLDERS);
        count_repositories(&folder, MIRROR_DEPTH, &mut left, &mut repositories);
        MirrorState { exists: folder.is_dir(), folder, repositories }
    };
    folders.map(state).collect()
}

fn count_repositories(folder: &Path, depth: usize, left: &mut usize, found: &mut usize) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if *left == 0 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        *left -= 1;
        if path.join(".git").exists() || path.join("objects").is_dir() && path.join("HEAD").is_file() {
            *found += 1;
        } else if depth > 1 {
            count_repositories(&path, depth - 1, left, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use karat_io::cancel::Cancel;
    use karat_sandbox::Supervisor;
    use std::ffi::OsString;
    use std::fs;

    fn request(store: &Path, environment: &[(&str, &str)]) -> MachineRequest {
        let environment = environment.iter().map(|(name, value)| ((*name).to_owned(), OsString::from(value))).collect();
        let supervisor = Supervisor { program: "/nowhere/karat".into(), args: Vec::new() };
        let tools =
            DoctorRequest { tools: Vec::new(), environment, supervisor, cancel: Cancel::default(), jobs: Some(1) };
        MachineRequest { store: store.into(), suite: None, tools }
    }

    #[test]
    fn keys_are_set_or_not_and_never_told() {
        let folder = tempfile::tempdir().unwrap();
        let keyed = [("ANTHROPIC_API_KEY", "hunter2"), ("OPENAI_API_KEY", ""), ("PATH", "/nowhere")];
        let report = check_machine(&request(&folder.path().join(".karat"), &keyed), &|_| {}).unwrap();
        let set: Vec<(&str, bool)> = report.keys.iter().map(|key| (key.provider, key.key.set)).collect();
        assert_eq!(set, [("anthropic", true), ("openai", false), ("google", false)]);
        let json = serde_json::to_string(&report).unwrap();
        assert!(!json.contains("hunter2"), "{json}");
        assert!(!report.store.exists && report.store.free_bytes.is_some());
        assert_eq!(report.fonts, ["Noto Sans", "Noto Sans Bold"]);
        assert_eq!(report.problems(), Vec::<String>::new());
    }

    #[test]
    fn damaged_store_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("karat.db"), "not a database, and long enough to be read as one").unwrap();
        let state = check_store(&folder.path().into());
        assert!(state.exists && state.problem.is_some() && state.schema_version.is_none(), "{state:?}");
    }

    #[test]
    fn sandbox_that_starts_nothing_is_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var("PATH").unwrap();
        let report = check_machine(&request(&folder.path().join(".karat"), &[("PATH", &path)]), &|_| {}).unwrap();
        let [problem] = report.problems().try_into().unwrap();
        assert!(problem.contains("/nowhere/karat could not be started"), "{problem}");
    }

    #[test]
    fn mirrors_are_counted_at_any_of_their_depths() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["a/.git", "host/owner/b.git/objects", "host/c/.git", "host/owner/deep/deeper/.git"] {
            fs::create_dir_all(folder.path().join(path)).unwrap();
        }
        fs::write(folder.path().join("host/owner/b.git/HEAD"), "").unwrap();
        let (mut found, mut left) = (0, MOST_FOLDERS);
        count_repositories(folder.path(), MIRROR_DEPTH, &mut left, &mut found);
        assert_eq!(found, 3);
    }
}
