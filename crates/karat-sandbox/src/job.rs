//! Public types: the job to run, its limits, and how it ended.

use super::ipc::{Connection, this_executable};
use super::isolation::Isolation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
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
pub struct Access {
    /// Files and folders it may read, such as its installation.
    pub readable: Vec<PathBuf>,
    /// Files and folders outside its own that it may write.
    pub writable: Vec<PathBuf>,
    /// Files and folders it must not read whatever the other lists say, such as the suite and the store.
    pub secret: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether the network includes services on this machine.
    pub loopback: bool,
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

    pub(super) fn spawn(&self, stdout: Stdio) -> Result<(Child, Connection), SandboxError> {
        let (ours, theirs) = UnixStream::pair().map_err(self.error("reached"))?;
        // The command holds the other end of the socket; as long as it does, nobody would see it close.
        let mut command = Command::new(&self.program);
        // An unisolated tool can read the supervisor's environment, so it gets none.
        command.args(&self.args).env_clear().stdin(OwnedFd::from(theirs)).stdout(stdout).stderr(Stdio::piped());
        // A terminal signals the whole foreground group. Only Karat is to receive a Ctrl-C and decide what follows.
        Ok((command.process_group(0).spawn().map_err(self.error("started"))?, Connection(ours)))
    }

    pub(super) fn error(&self, doing: &'static str) -> impl FnOnce(io::Error) -> SandboxError {
        let program = self.program.clone();
        move |source| SandboxError::Supervisor { program, doing, source }
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
    /// How many of its processes outlived it and had to be killed. `None` where the system killed them uncounted, or where
    /// the program did not end by itself.
    pub leftover_processes: Option<usize>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "variant names say it")]
pub enum ExitReason {
    Exited(i32),
    /// By a signal that Karat did not send.
    Signalled(i32),
    TimedOut,
    Cancelled,
    /// A limit other than that on time.
    LimitExceeded(Resource),
    NotStarted(String),
    /// It was running when its supervisor was killed, which a tool can do itself where the isolation is weak.
    LostSupervisor,
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("took longer than its time limit"),
            Self::Cancelled => f.write_str("was cancelled"),
            Self::LimitExceeded(resource) => write!(f, "went over its limit on {}", resource.as_str()),
            Self::NotStarted(why) => write!(f, "could not be started: {why}"),
            Self::LostSupervisor => f.write_str("killed its supervisor"),
        }
    }
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

/// What a program wrote to one of its output streams.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedOutput {
    /// The bytes, from the first on.
    pub bytes: Vec<u8>,
    /// Whether the limit was reached and the rest dropped.
    pub truncated: bool,
}

/// A job could not be run at all, which says nothing about the tool.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages explain the variants")]
pub enum SandboxError {
    #[error("the command is empty; name a program")]
    NoCommand,
    #[error("{}: {source}; it must exist before a tool can be given it", .path.display())]
    Missing { path: PathBuf, source: io::Error },
    #[error("{} cannot be given to the unprivileged user that tools run as: {source}", .folder.display())]
    ChangeOwner { folder: PathBuf, source: io::Error },
    #[error(
        "the control group for the tool could not be made: {0}; see that the group Karat runs in can be written to"
    )]
    ControlGroup(io::Error),
    #[error("{} lies outside {}, which is all the tool is given; choose a folder within", .dir.display(), .root.display())]
    Outside { dir: PathBuf, root: PathBuf },
    #[error(
        "{} must stay hidden but lies in {}, which the tool is given; give it a folder that holds neither suite nor store",
        .secret.display(), .root.display()
    )]
    SecretInside { secret: PathBuf, root: PathBuf },
    #[error("isolation by {} was requested, but {why}", .required.as_str())]
    Unavailable { required: Isolation, why: String },
    #[error("the supervisor {} could not be {doing}: {source}", .program.display())]
    Supervisor { program: PathBuf, doing: &'static str, source: io::Error },
    #[error(
        "processes of the tool could not be ended; they may wait for a disk or a server that does not answer, see `ps` for them"
    )]
    Unkillable,
    #[error(
        "the supervisor of the tool was ended from outside ({status}); processes of the tool may be left, see `ps`"
    )]
    Lost { status: String },
}

/// The path at which a program sees its own folder. With bubblewrap it is fixed, so that paths in a tool's output are equal in
/// every trial.
pub fn root_in_sandbox(isolation: Isolation, root: &Path) -> PathBuf {
    path_in_sandbox(isolation, root, "/tmp/trial")
}

/// The path at which a program sees the folder its set-up prepared. With bubblewrap it is fixed, since tools name their rules
/// by it.
pub fn tool_folder_in_sandbox(isolation: Isolation, path: &Path) -> PathBuf {
    path_in_sandbox(isolation, path, "/tmp/tool")
}

fn path_in_sandbox(isolation: Isolation, path: &Path, fixed: &str) -> PathBuf {
    match isolation {
        Isolation::Bubblewrap => PathBuf::from(fixed),
        Isolation::Landlock | Isolation::Process => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
    }
}
