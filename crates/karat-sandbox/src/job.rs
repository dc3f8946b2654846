//! Public types: the job to run, its limits, and how it ended.

use super::ipc::{Connection, this_executable};
use super::isolation::Isolation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// One program to run once.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Job {
    /// The program and its arguments. A name without a slash is looked up on the `PATH` of `env`.
    pub command: Vec<OsString>,
    /// The complete environment, apart from `PWD`; nothing is inherited.
    pub env: BTreeMap<String, OsString>,
    /// The trial's own folder, which the program may write to. The program sees it at [`root_in_sandbox`].
    pub root: PathBuf,
    /// The working folder: `root` or a folder below it.
    pub dir: PathBuf,
    pub tool: Option<ToolFolder>,
    pub access: Access,
    pub limits: Limits,
    pub isolation: Isolation,
}

/// A folder that a program's set-up writes and its trials read. The program sees it at [`tool_folder_in_sandbox`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "field names say it")]
pub struct ToolFolder {
    pub path: PathBuf,
    pub writable: bool,
}

/// What a program may access besides its own folder and the system's programs, where the isolation can enforce it.
#[derive(Clone, Debug, Default)]
#[expect(missing_docs, reason = "field names say it")]
pub struct Access {
    /// Files and folders it may read, such as its installation.
    pub readable: Vec<PathBuf>,
    /// Files and folders outside its own that it may write.
    pub writable: Vec<PathBuf>,
    /// Files and folders it must not read whatever the other lists say, such as the suite and the store.
    pub secret: Vec<PathBuf>,
    pub network: NetworkAccess,
}

/// The network that a program may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum NetworkAccess {
    #[default]
    None,
    /// All but services on this machine, where the isolation can enforce it.
    External,
    Full,
}

/// Caps durations so that adding one to an `Instant` cannot overflow.
pub(super) const MAX_DURATION: Duration = Duration::from_secs(10 * 365 * 86_400);

/// The resources a program may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock time.
    pub time: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Bytes of memory, all processes together.
    pub memory: u64,
    /// Whether a process may reserve any amount of memory, as programs built with sanitizers do. What is used stays limited.
    pub any_reservation: bool,
    /// Processors used at once; `None` for all.
    pub cpus: Option<u32>,
    /// Processes at once.
    pub processes: usize,
    /// Bytes of the largest file it may write.
    pub file_size: u64,
    /// Bytes of all files below the trial's own folder.
    pub disk: u64,
    /// Bytes of standard output, and again of standard error.
    pub output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(600),
            grace: Duration::from_millis(500),
            memory: 8 << 30,
            any_reservation: false,
            cpus: None,
            processes: 1024,
            file_size: 2 << 30,
            disk: 4 << 30,
            output: 64 << 20,
        }
    }
}

/// The resources a worker may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLimits {
    /// Wall-clock time.
    pub time: Duration,
    /// Bytes of memory it may allocate.
    pub memory: u64,
}

/// How to start the supervising process.
#[derive(Clone, Debug, Default)]
pub struct Supervisor {
    /// An executable that calls [`supervise`](super::supervise) and nothing else when given `args`.
    pub program: PathBuf,
    /// The arguments that make it do so.
    pub args: Vec<OsString>,
}

impl Supervisor {
    /// The running executable with `argument`.
    pub fn this_program(argument: &str) -> io::Result<Self> {
        Ok(Self { program: this_executable()?, args: vec![argument.into()] })
    }

    pub(super) fn spawn(&self, stdout: Stdio) -> io::Result<(Child, Connection)> {
        let (ours, theirs) = UnixStream::pair().map_err(self.error("reached"))?;
        // The command holds the other end of the socket; as long as it does, nobody would see it close.
        let mut command = Command::new(&self.program);
        // An unisolated tool can read the supervisor's environment, so it gets none.
        command.args(&self.args).env_clear().stdin(OwnedFd::from(theirs)).stdout(stdout).stderr(Stdio::piped());
        // A terminal signals the whole foreground group. Only Karat is to receive a Ctrl-C and decide what follows.
        Ok((command.process_group(0).spawn().map_err(self.error("started"))?, Connection(ours)))
    }

    pub(super) fn error(&self, doing: &'static str) -> impl FnOnce(io::Error) -> io::Error {
        let program = self.program.display();
        move |error| io::Error::other(format!("the supervisor {program} could not be {doing}: {error}"))
    }
}

/// What came of a [`Job`].
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "field names say it")]
pub struct JobResult {
    pub exit: ExitReason,
    pub stdout: CapturedOutput,
    pub stderr: CapturedOutput,
    pub wall: Duration,
    /// How many of its processes outlived it. `None` where the system killed them, or the program did not end by itself.
    pub leftover_processes: Option<usize>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum ExitReason {
    #[error("ended with exit code {0}")]
    Exited(i32),
    /// By a signal that Karat did not send.
    #[error("was ended by signal {0}")]
    Signalled(i32),
    #[error("took longer than its time limit")]
    TimedOut,
    #[error("was cancelled")]
    Cancelled,
    /// A limit other than that on time.
    #[error("went over its limit on {}", .0.as_str())]
    LimitExceeded(Resource),
    #[error("could not be started: {0}")]
    NotStarted(String),
    /// It was running when its supervisor was killed, which a tool can do itself where the isolation is weak.
    #[error("killed its supervisor")]
    LostSupervisor,
}

/// A limited resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "variant names say it")]
pub enum Resource {
    Memory,
    Processes,
    FileSize,
    Disk,
    Output,
}

impl Resource {
    /// The name used in messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Processes => "processes",
            Self::FileSize => "file size",
            Self::Disk => "disk",
            Self::Output => "output",
        }
    }
}

/// One of a program's output streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum OutputStream {
    Stdout,
    Stderr,
}

/// What a program wrote to one of its output streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The bytes, from the first on.
    pub bytes: Vec<u8>,
    /// Whether the limit was reached and the rest dropped.
    pub truncated: bool,
}

/// The path at which a program sees its own folder. With bubblewrap it is the same in every trial.
pub fn root_in_sandbox(isolation: Isolation, root: &Path) -> PathBuf {
    path_in_sandbox(isolation, root, "/tmp/trial")
}

/// The path at which a program sees the folder its set-up prepared. Tools name their rules by it.
pub fn tool_folder_in_sandbox(isolation: Isolation, path: &Path) -> PathBuf {
    path_in_sandbox(isolation, path, "/tmp/tool")
}

fn path_in_sandbox(isolation: Isolation, path: &Path, fixed: &str) -> PathBuf {
    match isolation {
        Isolation::Bubblewrap => PathBuf::from(fixed),
        Isolation::Landlock | Isolation::Process => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
    }
}
