//! Runs one untrusted program under limits, isolated as far as the system allows.
//!
//! [`run`] starts the calling executable once more as a supervisor, which starts the program described by a [`Job`]. The
//! supervisor is the parent of every process the program starts, so it can count, measure and kill them; when the caller
//! dies, it kills the program and exits. The two talk over a socket pair: requests go down, a report comes up, and the
//! supervisor treats a closed socket as the caller's death. The program's output goes straight to the caller.
//!
//! [`run_worker`] uses the same mechanism to run trusted code on untrusted input under limits.

mod availability;
mod bubblewrap;
mod cgroup;
mod disk_usage;
mod installation;
mod ipc;
mod isolation;
mod job;
#[cfg(target_os = "linux")]
mod landlock_rules;
mod launch;
#[cfg(target_os = "linux")]
mod network_namespace;
mod processes;
mod protocol;
mod proxy;
mod resolved_access;
mod run;
#[cfg(target_os = "linux")]
mod seccomp;
mod supervise;
mod system_paths;
mod user;
mod worker;

pub use availability::{Availability, available, strongest};
pub use bubblewrap::Bubblewrap;
pub use cgroup::describe_limits;
pub use disk_usage::DiskUsage;
pub use installation::{find_folder_installation, find_installation, locate_program, python_variables};
pub use ipc::Connection;
pub use isolation::Isolation;
pub use job::{Access, CapturedOutput, ExitReason, Job, JobResult, Limits, NetworkAccess, Resource};
pub use job::{OutputStream, Supervisor, ToolFolder, WorkerLimits, root_in_sandbox, tool_folder_in_sandbox};
pub use run::{run, run_with_output};
pub use supervise::supervise;
pub use system_paths::is_system_path;
pub use user::{ToolUser, tool_user};
pub use worker::run_worker;
