//! Messages between Karat and the processes it starts of itself: supervisor, launcher and worker.

use super::cgroup::CgroupHandle;
use super::job::{ExitReason, Limits, WorkerLimits};
use super::proxy::UpstreamProxies;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

/// The first message to a freshly started process, which decides what it becomes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    Supervise(Box<SuperviseRequest>),
    Launch(LaunchRequest),
    /// Send back a socket that listens at a port in the network namespace of a process.
    Listen {
        process: i32,
        port: u16,
    },
    Work(WorkerLimits),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SuperviseRequest {
    pub(super) start: StartMethod,
    pub(super) limits: Limits,
    /// The trial's own folder, whose size is watched.
    pub(super) root: OsString,
    /// `RLIMIT_NPROC`, which counts all processes and threads of the user; `None` for root, whom it does not bind.
    pub(super) max_tasks: Option<u64>,
    pub(super) cgroup: Option<CgroupHandle>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LaunchRequest {
    pub(super) command: ToolCommand,
    pub(super) rules: Option<LandlockRules>,
    pub(super) changes_user: bool,
}

/// A command with its environment. Paths are `OsString`s since they need not be UTF-8.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ToolCommand {
    pub(super) args: Vec<OsString>,
    pub(super) env: BTreeMap<String, OsString>,
    /// The working folder; `None` where the command itself changes to it.
    pub(super) dir: Option<OsString>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum StartMethod {
    Launcher(LaunchRequest),
    /// The command is that of bubblewrap. With `upstream`, the tool reaches the network through our proxy only.
    Bubblewrap {
        command: ToolCommand,
        upstream: Option<UpstreamProxies>,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct LandlockRules {
    pub(super) readable: Vec<OsString>,
    pub(super) writable: Vec<OsString>,
    pub(super) network: bool,
}

/// Asks a supervisor to end its tool; sent as one byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopRequest {
    /// Send SIGTERM, and SIGKILL when the grace period is over.
    Terminate = 1,
    /// Send SIGKILL at once.
    Kill = 2,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum SupervisorMessage {
    /// The process id of the tool's first process.
    Started(i32),
    Finished(Report),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    /// `None` where a [`StopRequest`] ended the tool. An empty reason for not starting stands for an unknown one.
    pub(super) exit: Option<ExitReason>,
    pub(super) wall: Duration,
    pub(super) leftover_processes: Option<usize>,
    pub(super) unkillable: bool,
}
