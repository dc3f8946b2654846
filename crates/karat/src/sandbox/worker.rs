//! Karat's own work on what a tool wrote, done in a process with limits: whatever is in there, Karat itself lives on.

use super::channel;
use super::job::{Cancel, Ended, LONGEST, Resource, SandboxError, Supervisor};
use super::order::Order;
use super::run::{LOOK, is_gone};
use super::supervise::limit;
use rustix::process::{Pid, Signal, kill_process};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel as mpsc_channel};
use std::time::{Duration, Instant};

/// What a worker may use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerLimits {
    /// The longest it may take.
    pub time: Duration,
    /// Bytes of memory that it may ask the system for.
    pub memory: u64,
}

/// One end of the connection between Karat and a worker. A side that is gone is an error.
pub struct Connection(OwnedFd);

impl Connection {
    pub(super) fn new(end: OwnedFd) -> Self {
        Self(end)
    }

    /// Sends a value.
    pub fn send(&self, value: &impl Serialize) -> io::Result<()> {
        channel::send(self.0.as_fd(), value)
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&self, bytes: &[u8]) -> io::Result<()> {
        channel::send_frame(self.0.as_fd(), bytes)
    }

    /// Waits for a value.
    pub fn receive<T: DeserializeOwned>(&self) -> io::Result<T> {
        channel::receive(self.0.as_fd())?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }

    /// Waits for bytes.
    pub fn receive_bytes(&self) -> io::Result<Vec<u8>> {
        channel::receive_frame(self.0.as_fd())?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// Puts the limits of a worker on this process.
pub(super) fn restrict(limits: &WorkerLimits) -> rustix::io::Result<()> {
    use rustix::process::Resource;
    // Should Karat be killed, nobody waits for the work any more.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    limit(Resource::Core, 0)?;
    limit(Resource::Cpu, limits.time.as_secs().saturating_add(1))?;
    // Where the system counts what is asked for as data, the program's own size is left aside; elsewhere all counts.
    limit(if cfg!(target_os = "linux") { Resource::Data } else { Resource::As }, limits.memory)
}

/// Starts a worker and talks to it, with an end: `Err` where it went over a limit, failed, or was cancelled. When this comes
/// back, the worker is gone.
pub fn run_worker<T>(
    limits: WorkerLimits,
    supervisor: &Supervisor,
    cancel: &Cancel,
    talk: impl FnOnce(&Connection) -> io::Result<T>,
) -> Result<Result<T, Ended>, SandboxError> {
    let trouble = |doing| move |source| SandboxError::Supervisor { program: supervisor.program.clone(), doing, source };
    let (ours, theirs) = channel::pair().map_err(trouble("reached"))?;
    let late = Instant::now() + limits.time.min(LONGEST);
    let mut command = Command::new(&supervisor.program);
    command.args(&supervisor.args).env_clear().stdin(theirs).stdout(Stdio::null()).stderr(Stdio::piped());
    // Of a Ctrl-C in the terminal Karat alone is to hear.
    command.process_group(0);
    let mut child = command.spawn().map_err(trouble("started"))?;
    // The command holds the worker's end, and with two holders nobody would see it close.
    drop(command);
    let (pid, connection) = (Pid::from_child(&child), Connection::new(ours));
    let (talked, stopped) = std::thread::scope(|scope| {
        let (done, over) = mpsc_channel::<()>();
        // Talking waits for the worker, and killing the worker is what ends the wait.
        let watch = scope.spawn(move || stop_in_time(pid, late, cancel, &over));
        let talked = connection.send(&Order::Work(limits)).and_then(|()| talk(&connection));
        drop(done);
        (talked, watch.join().ok().flatten())
    });
    let gone = talked.as_ref().is_err_and(is_gone);
    if !gone {
        let _ = child.kill();
    }
    drop(connection);
    let status = child.wait().map_err(trouble("waited for"))?;
    match (talked, stopped) {
        (Ok(value), _) => Ok(Ok(value)),
        (Err(_), Some(stopped)) => Ok(Err(stopped)),
        (Err(_), None) if gone => Ok(Err(how_it_ended(status, child.stderr.take()))),
        (Err(error), None) => Err(trouble("talked to")(error)),
    }
}

/// Kills a worker that is late or no longer wanted, and says which it was; `None` where it was done before.
fn stop_in_time(worker: Pid, late: Instant, cancel: &Cancel, over: &Receiver<()>) -> Option<Ended> {
    loop {
        let left = late.saturating_duration_since(Instant::now());
        let why =
            if cancel.is_cancelled() { Some(Ended::Cancelled) } else { left.is_zero().then_some(Ended::TimedOut) };
        if why.is_some() {
            let _ = kill_process(worker, Signal::KILL);
            return why;
        }
        if over.recv_timeout(left.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
            return None;
        }
    }
}

/// How a worker ended that was gone before it had answered.
fn how_it_ended(status: ExitStatus, stderr: Option<ChildStderr>) -> Ended {
    let mut said = String::new();
    let _ = stderr.map(|stderr| stderr.take(4096).read_to_string(&mut said));
    match status.signal() {
        Some(signal) if signal == Signal::XCPU.as_raw() => Ended::TimedOut,
        // Nobody else kills a worker but a system that has no memory left.
        Some(signal) if signal == Signal::KILL.as_raw() => Ended::Overran(Resource::Memory),
        // The words of Rust's standard library, which has no other sign for it.
        Some(_) if said.contains("memory allocation of") => Ended::Overran(Resource::Memory),
        Some(signal) => Ended::Signalled(signal),
        None => Ended::Exited(status.code().unwrap_or_default()),
    }
}
