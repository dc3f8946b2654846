//! One untrusted program, run under limits and with as much isolation as the system can give.
//!
//! Karat starts itself once more as a supervisor, which starts the tool. The supervisor is the parent of everything the tool
//! starts, so it can count it, measure it and end it; and when Karat is gone, it ends the tool and itself. Between the two
//! runs a pair of connected sockets: the order goes down, a report comes up, and its closing is the life line. What the tool
//! prints goes straight to Karat and never through the supervisor.
//!
//! In the same way Karat starts itself as a worker, which does some of Karat's own work on what a tool wrote under limits.

mod available;
mod bubblewrap;
mod cgroup;
mod channel;
#[cfg(target_os = "linux")]
mod confine;
mod disk_usage;
#[cfg(target_os = "linux")]
mod filter;
mod isolation;
mod job;
#[cfg(target_os = "linux")]
mod name_space;
mod order;
mod processes;
mod program;
mod proxy;
mod run;
mod start;
mod supervise;
mod system;
mod user;
mod view;
mod worker;

pub use available::{Availability, available, strongest};
pub use bubblewrap::Bubblewrap;
pub use cgroup::describe_limits;
pub(crate) use disk_usage::DiskUsage;
pub use isolation::Isolation;
pub use job::{Cancel, Captured, Ended, Finished, Job, Limits, Resource, SandboxError, Supervisor, ToolFolder, View};
pub use job::{seen_root, seen_tool};
pub use program::{find_installation, locate_program, python_user_base};
pub use run::run;
pub use supervise::supervise;
pub use system::is_of_system;
pub use user::{ToolUser, tool_user};
pub use worker::{Connection, WorkerLimits, run_worker};
