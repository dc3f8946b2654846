//! What Karat tells its supervisor, and what it hears back.

use super::cgroup::Membership;
use super::job::{Limits, Resource};
use super::proxy::Upstream;
use super::worker::WorkerLimits;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// What a freshly started supervisor is to do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Start a tool and watch over it.
    Watch(Box<Watch>),
    /// Restrict itself and become the tool.
    Launch(Launch),
    /// Send back a socket that listens at a port in the network name space of a process.
    Listen { process: i32, port: u16 },
    /// Do some of Karat's own work under limits.
    Work(WorkerLimits),
}

/// A tool to be watched.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Watch {
    pub(super) start: Start,
    pub(super) exec: Exec,
    pub(super) limits: Limits,
    /// The trial's own folder, whose size is watched.
    pub(super) root: OsString,
    /// How many processes and threads the user may have before the system refuses more; `None` where that does not bind.
    pub(super) tasks: Option<u64>,
    /// The control group it is put in, where there is one.
    pub(super) group: Option<Membership>,
}

/// A program to become, after leaving the terminal and, where there are rules, restricting oneself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Launch {
    pub(super) exec: Exec,
    pub(super) rules: Option<Rules>,
    /// Whether it becomes the unprivileged user first.
    pub(super) changes_user: bool,
}

/// A program with all that is handed over to it. Paths travel as plain strings of the system, which need not be UTF-8.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Exec {
    pub(super) command: Vec<OsString>,
    pub(super) env: Vec<(OsString, OsString)>,
    /// The working folder; `None` where the command itself goes there.
    pub(super) dir: Option<OsString>,
}

/// How the tool is started.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Start {
    /// By a launcher that becomes it.
    Launched { changes_user: bool },
    /// The command is that of bubblewrap. With `way_out` the tool reaches the network through a proxy alone.
    Bubblewrap { way_out: Option<Upstream> },
    /// By a launcher that restricts itself first.
    Confined { rules: Rules, changes_user: bool },
}

/// What a confined program may do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Rules {
    /// What it may read and execute.
    pub(super) readable: Vec<OsString>,
    /// What it may also write.
    pub(super) writable: Vec<OsString>,
    /// Whether it may open sockets.
    pub(super) network: bool,
}

/// A word that follows an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wish {
    /// Ask the tool to end, and end it when its grace is over.
    Terminate,
    /// End it at once.
    Kill,
}

impl Wish {
    /// As one byte.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Terminate => b't',
            Self::Kill => b'k',
        }
    }

    /// From one byte. Whatever is not understood is taken for the safest.
    pub(super) fn from_byte(byte: u8) -> Self {
        if byte == b't' { Self::Terminate } else { Self::Kill }
    }
}

/// What the supervisor has to say.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Said {
    /// The tool runs; its first process has this number.
    Started(i32),
    /// It is over.
    Done(Report),
}

/// What the supervisor has to say in the end.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) how: How,
    pub(super) wall: Duration,
    pub(super) ended_after: Option<usize>,
    /// Whether processes are left that could not be ended.
    pub(super) left: bool,
}

/// How the tool ended, as the supervisor knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum How {
    Exited(i32),
    Signalled(i32),
    Overran(Resource),
    /// With what is known of the reason, which may be nothing.
    NotStarted(String),
    /// It was ended because Karat wished so.
    Stopped,
}
