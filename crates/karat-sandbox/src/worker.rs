//! Runs Karat's own code on untrusted input in a process with limits, so that no input can bring Karat down.

use super::ipc::{CANCEL_POLL, Connection, is_disconnected};
use super::job::{ExitReason, MAX_DURATION, Resource, Supervisor, WorkerLimits};
use super::processes::set_rlimit;
use super::protocol::Request;
use karat_io::cancel::Cancel;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{self, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{ChildStderr, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel as mpsc_channel};
use std::time::Instant;

pub(super) fn restrict(limits: &WorkerLimits) -> rustix::io::Result<()> {
    use rustix::process::Resource;
    // If Karat is killed, nobody waits for the result any more.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    set_rlimit(Resource::Core, 0)?;
    set_rlimit(Resource::Cpu, limits.time.as_secs().saturating_add(1))?;
    // On Linux the limit on data leaves out the program's own size; elsewhere the whole address space counts.
    set_rlimit(if cfg!(target_os = "linux") { Resource::Data } else { Resource::As }, limits.memory)
}

/// Starts a worker and calls `talk` with the connection to it. The inner result is `Err` where the worker exceeded a limit,
/// failed, or was cancelled. On return the worker is gone.
pub fn run_worker<T>(
    limits: WorkerLimits,
    supervisor: &Supervisor,
    cancel: &Cancel,
    talk: impl FnOnce(&Connection) -> io::Result<T>,
) -> io::Result<Result<T, ExitReason>> {
    let deadline = Instant::now() + limits.time.min(MAX_DURATION);
    let (mut child, connection) = supervisor.spawn(Stdio::null())?;
    let pid = Pid::from_child(&child);
    let (result, stop_reason) = std::thread::scope(|scope| {
        let (done, is_done) = mpsc_channel::<()>();
        // `talk` blocks on the worker, and killing the worker is what ends the wait.
        let watchdog = scope.spawn(move || kill_at_deadline(pid, deadline, cancel, &is_done));
        let result = connection.send(&Request::Work(limits)).and_then(|()| talk(&connection));
        drop(done);
        (result, watchdog.join().ok().flatten())
    });
    let disconnected = result.as_ref().is_err_and(is_disconnected);
    if !disconnected {
        let _ = child.kill();
    }
    drop(connection);
    let status = child.wait().map_err(supervisor.error("waited for"))?;
    match (result, stop_reason) {
        (Ok(value), _) => Ok(Ok(value)),
        (Err(_), Some(reason)) => Ok(Err(reason)),
        (Err(_), None) if disconnected => Ok(Err(exit_reason(status, child.stderr.take()))),
        (Err(error), None) => Err(supervisor.error("talked to")(error)),
    }
}

/// Kills a worker that is late or cancelled, and returns which it was; `None` where it finished before.
fn kill_at_deadline(worker: Pid, deadline: Instant, cancel: &Cancel, is_done: &Receiver<()>) -> Option<ExitReason> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let reason = if cancel.is_cancelled() {
            Some(ExitReason::Cancelled)
        } else {
            left.is_zero().then_some(ExitReason::TimedOut)
        };
        if reason.is_some() {
            let _ = kill_process(worker, Signal::KILL);
            return reason;
        }
        if is_done.recv_timeout(left.min(CANCEL_POLL)) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
    }
}

/// How a worker ended that was gone before it answered.
fn exit_reason(status: ExitStatus, stderr: Option<ChildStderr>) -> ExitReason {
    let mut message = String::new();
    let _ = stderr.map(|stderr| stderr.take(4096).read_to_string(&mut message));
    match status.signal() {
        Some(signal) if signal == Signal::XCPU.as_raw() => ExitReason::TimedOut,
        // Nobody else kills a worker but a system that is out of memory.
        Some(signal) if signal == Signal::KILL.as_raw() => ExitReason::LimitExceeded(Resource::Memory),
        // The message of Rust's standard library, which is the only sign of it.
        Some(_) if message.contains("memory allocation of") => ExitReason::LimitExceeded(Resource::Memory),
        Some(signal) => ExitReason::Signalled(signal),
        None => ExitReason::Exited(status.code().unwrap_or_default()),
    }
}
