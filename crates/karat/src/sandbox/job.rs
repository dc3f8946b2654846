//! What is to be run, and how it went.

use super::isolation::Isolation;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// One program to be run once.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program and its arguments. A name without a slash is looked for on the `PATH` of `env`.
    pub command: Vec<OsString>,
    /// Its environment: this and `PWD`, nothing is inherited.
    pub env: BTreeMap<String, OsString>,
    /// The trial's own folder, which the program may write to. See [`seen_root`] for where the program sees it.
    pub root: PathBuf,
    /// The working folder, which is `root` or lies below it.
    pub dir: PathBuf,
    /// What was prepared for the program once and for all, where something was.
    pub tool: Option<ToolFolder>,
    /// What else it may see.
    pub view: View,
    /// What it may use up.
    pub limits: Limits,
    /// The isolation to put it in.
    pub isolation: Isolation,
}

/// A folder that a program's set-up prepares and its trials read. See [`seen_tool`] for where the program sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolFolder {
    /// The folder.
    pub path: PathBuf,
    /// Whether the program may write to it, as in set-up.
    pub writable: bool,
}

/// What a program may see and reach outside its own folder and the system's programs, where the isolation can tell.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Files and folders that it may read, such as its installation.
    pub readable: Vec<PathBuf>,
    /// Files and folders outside its own that it may write.
    pub writable: Vec<PathBuf>,
    /// Files and folders that cannot be read whatever else is said, such as the suite and the store.
    pub secret: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether that includes the services of this machine, where the isolation can tell.
    pub loopback: bool,
}

/// The longest time that is told from none: clocks cannot count for ever.
pub(super) const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// What a program may use up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// The longest it may run.
    pub time: Duration,
    /// How long it may tidy up after it was asked to end.
    pub grace: Duration,
    /// Bytes of memory that all its processes together may fill.
    pub memory: u64,
    /// Processors it may use at once; `None` for all there are.
    pub cpus: Option<u32>,
    /// Processes at once.
    pub processes: usize,
    /// Bytes of the largest file it may write.
    pub file_size: u64,
    /// Bytes of all files below the trial's own folder.
    pub disk: u64,
    /// Bytes it may print to standard output, and again to standard error.
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

/// How the supervising process is started.
#[derive(Clone, Debug)]
pub struct Supervisor {
    /// An executable that calls [`supervise`](super::supervise) and nothing else when given `args`.
    pub program: PathBuf,
    /// What makes it do so.
    pub args: Vec<OsString>,
}

impl Supervisor {
    /// The running executable with `argument`.
    pub fn this_program(argument: &str) -> io::Result<Self> {
        Ok(Self { program: this_executable()?, args: vec![argument.into()] })
    }
}

/// The running executable.
pub(super) fn this_executable() -> io::Result<PathBuf> {
    // The link in /proc leads to what is running even where a newer version has taken its place.
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// A wish to stop, shared by everything that should hear of it.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    own: Arc<AtomicBool>,
    /// A wish for more than this, which is meant for this, too.
    wider: Option<Arc<AtomicBool>>,
}

impl Cancel {
    /// Asks everything that holds this to stop.
    pub fn cancel(&self) {
        self.own.store(true, Ordering::Relaxed);
    }

    /// Whether anybody has asked.
    pub fn is_cancelled(&self) -> bool {
        self.is_own() || self.wider.as_ref().is_some_and(|wider| wider.load(Ordering::Relaxed))
    }

    /// Whether this itself was cancelled, rather than all that it is a part of.
    pub fn is_own(&self) -> bool {
        self.own.load(Ordering::Relaxed)
    }

    /// A wish to stop a part of what this is for. Cancelling this cancels the part.
    pub fn part(&self) -> Self {
        Self { own: Arc::default(), wider: Some(Arc::clone(&self.own)) }
    }
}

impl From<Arc<AtomicBool>> for Cancel {
    fn from(flag: Arc<AtomicBool>) -> Self {
        Self { own: flag, wider: None }
    }
}

/// What became of a job.
#[derive(Clone, Debug)]
pub struct Finished {
    /// How it ended.
    pub ended: Ended,
    /// What it printed to standard output.
    pub stdout: Captured,
    /// What it printed to standard error.
    pub stderr: Captured,
    /// How long it ran.
    pub wall: Duration,
    /// Processes that were still there when the program was done, and had to be ended. `None` where the system ended them
    /// uncounted, or where the program did not come to its own end.
    pub ended_after: Option<usize>,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, with an exit code.
    Exited(i32),
    /// By a signal that Karat did not send.
    Signalled(i32),
    /// It was ended because it took too long.
    TimedOut,
    /// It was ended because somebody asked for it.
    Cancelled,
    /// It was ended because it used too much of something.
    Overran(Resource),
    /// It could not be started, for this reason.
    NotStarted(String),
    /// It was running when the process that watches over it was ended, which it is free to do in this isolation.
    LostSupervisor,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "ended with exit code {code}"),
            Self::Signalled(signal) => write!(f, "was ended by signal {signal}"),
            Self::TimedOut => f.write_str("took longer than its time limit"),
            Self::Cancelled => f.write_str("was cancelled"),
            Self::Overran(resource) => write!(f, "went over its limit on {}", resource.as_str()),
            Self::NotStarted(why) => write!(f, "could not be started: {why}"),
            Self::LostSupervisor => f.write_str("ended the process that watched over it"),
        }
    }
}

/// Something a program can use too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Memory of all its processes.
    Memory,
    /// Processes at once.
    Processes,
    /// The size of a file.
    FileSize,
    /// The size of all files in its folder.
    Disk,
    /// What it prints.
    Output,
}

impl Resource {
    /// The word for it.
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

/// What came out of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The bytes, from the first on.
    pub bytes: Vec<u8>,
    /// Whether there was more than may be kept.
    pub cut: bool,
}

/// A job could not be run at all, which says nothing about the tool.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// There is nothing to run.
    #[error("the command is empty; name a program")]
    NoCommand,
    /// A folder of the job is not there.
    #[error("{}: {source}; it must exist before a tool can be given it", .path.display())]
    Missing {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder cannot be handed to the user that the tool runs as.
    #[error("{} cannot be given to the unprivileged user that tools run as: {source}", .folder.display())]
    NotGiven {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A control group for the tool could not be made, though others could.
    #[error(
        "the control group for the tool could not be made: {0}; see that the group Karat runs in can be written to"
    )]
    ControlGroup(io::Error),
    /// The working folder lies elsewhere.
    #[error("{} lies outside {}, which is all the tool is given; choose a folder within", .dir.display(), .root.display())]
    Outside {
        /// The working folder.
        dir: PathBuf,
        /// The trial's own folder.
        root: PathBuf,
    },
    /// What must never be seen lies where everything is seen.
    #[error(
        "{} must stay hidden but lies in {}, which the tool is given; give it a folder that holds neither suite nor store",
        .secret.display(), .root.display()
    )]
    SecretInside {
        /// What must stay hidden.
        secret: PathBuf,
        /// The folder that the tool is given.
        root: PathBuf,
    },
    /// The system cannot isolate as asked.
    #[error("isolation by {} is asked for, but {why}", .required.as_str())]
    Unavailable {
        /// What was asked for.
        required: Isolation,
        /// Why it is not there, and what to do.
        why: String,
    },
    /// The supervising process could not be started or talked to.
    #[error("the supervisor {} could not be {doing}: {source}", .program.display())]
    Supervisor {
        /// Its executable.
        program: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// Processes of the tool could not be ended.
    #[error(
        "processes of the tool could not be ended; they may wait for a disk or a server that does not answer, see `ps` for them"
    )]
    Unending,
    /// The supervising process ended without saying how the tool did.
    #[error(
        "the supervisor of the tool was ended from outside ({status}); processes of the tool may be left, see `ps`"
    )]
    Lost {
        /// How it ended.
        status: String,
    },
}

/// Where a program sees its own folder. In a file system of its own that is one fixed place, so that paths in what tools print
/// are equal in every trial.
pub fn seen_root(isolation: Isolation, root: &Path) -> PathBuf {
    seen(isolation, root, TRIAL)
}

/// Where a program sees the folder that its set-up prepared. Tools name their rules by it, so it is one fixed place, too, where
/// there is a file system of its own.
pub fn seen_tool(isolation: Isolation, path: &Path) -> PathBuf {
    seen(isolation, path, TOOL)
}

fn seen(isolation: Isolation, path: &Path, fixed: &str) -> PathBuf {
    match isolation {
        Isolation::Bubblewrap => PathBuf::from(fixed),
        Isolation::Landlock | Isolation::Process => path.canonicalize().unwrap_or_else(|_| path.to_owned()),
    }
}

/// The trial's own folder as seen in a file system of its own.
const TRIAL: &str = "/tmp/trial";
/// What set-up prepared, as seen there.
const TOOL: &str = "/tmp/tool";
