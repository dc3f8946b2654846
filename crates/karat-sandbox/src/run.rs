//! Karat's side of a job: starts the supervisor, reads the tool's output, and enforces time and output limits.

use super::availability::{available, unavailable};
use super::cgroup::{self, Cgroup};
use super::ipc::{CANCEL_POLL, Connection, is_disconnected};
use super::isolation::Isolation;
use super::job::{
    CapturedOutput, ExitReason, Job, JobResult, MAX_DURATION, NetworkAccess, OutputStream, Resource, Supervisor,
    root_in_sandbox,
};
use super::protocol::{LaunchRequest, Report, Request, StartMethod, StopRequest, SuperviseRequest};
use super::protocol::{SupervisorMessage, ToolCommand};
use super::resolved_access::ResolvedAccess;
use super::system_paths::NOBODY;
use super::user::{ToolUser, give_to_nobody, tool_user};
use super::{bubblewrap, processes, proxy};
use karat_io::cancel::Cancel;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Pid;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long a supervisor may take to kill the tool's processes, beyond the tool's grace period.
const SUPERVISOR_TIMEOUT: Duration = Duration::from_secs(15);
/// The start of the message by which `setpriv` reports that it cannot become the tool.
const SETPRIV_ERROR: &[u8] = b"setpriv: failed to execute ";
const READ_SIZE: usize = 64 << 10;

/// Runs a job to its end. On return no process of the tool is left, however it ended.
pub fn run(job: &Job, supervisor: &Supervisor, cancel: &Cancel) -> io::Result<JobResult> {
    run_with_output(job, supervisor, cancel, &|_, _| {})
}

/// Runs a job to its end as [`run`] does, and calls `observe` with its output as it comes.
pub fn run_with_output(
    job: &Job,
    supervisor: &Supervisor,
    cancel: &Cancel,
    observe: &dyn Fn(OutputStream, &[u8]),
) -> io::Result<JobResult> {
    // The cgroup is dropped last, when it is empty.
    let (request, _cgroup) = build_request(job)?;
    let begun = Instant::now();
    let (mut child, channel) = supervisor.spawn(Stdio::piped())?;
    let streams = [
        (OutputStream::Stdout, child.stdout.take().map(OwnedFd::from)),
        (OutputStream::Stderr, child.stderr.take().map(OwnedFd::from)),
    ];
    let streams = streams.map(|(name, pipe)| {
        let captured = CapturedOutput::default();
        Stream { name, pipe, captured, max_bytes: job.limits.output, observe }
    });
    let mut running = RunningJob { channel, streams, main: None, stop_reason: None };
    let report = running.supervise(&request, job, &mut child, cancel, begun);
    if !matches!(report, Ok(Some(_))) {
        // Does nothing if it has already exited.
        let _ = child.kill();
    }
    let status = child.wait().map_err(supervisor.error("waited for"))?;
    if let (Ok(None) | Err(_), Some(main)) = (&report, running.main) {
        processes::kill_session(main);
    }
    let report = match report {
        Ok(report) => report,
        Err(error) if is_disconnected(&error) || cancel.is_cancelled() => None,
        Err(error) => return Err(supervisor.error("talked to")(error)),
    };
    // Reads what is left in the pipes without waiting for them to close, since whoever holds them may never do so.
    for stream in &mut running.streams {
        while stream.read() {}
    }
    if report.as_ref().is_some_and(|report| report.unkillable) {
        return Err(io::Error::other(
            "processes of the tool could not be ended; they may wait for a disk or a server that does not answer, see `ps` for them",
        ));
    }
    let [stdout, stderr] = running.streams.map(|stream| stream.captured);
    let wall = report.as_ref().map_or_else(|| begun.elapsed(), |report| report.wall);
    let truncated = (stdout.truncated || stderr.truncated).then_some(ExitReason::LimitExceeded(Resource::Output));
    let exit = truncated
        .or_else(|| Some(explain_exit(report.as_ref()?.exit.clone()?, job, &stderr)))
        .or(running.stop_reason)
        .or_else(|| cancel.is_cancelled().then_some(ExitReason::Cancelled))
        .or_else(|| running.main.and_then(|_| killed_by_tool(job.isolation, status)))
        .ok_or_else(|| {
            io::Error::other(format!(
                "the supervisor of the tool was ended from outside ({status}); processes of the tool may be left, see `ps`"
            ))
        })?;
    let leftover_processes = report.and_then(|report| report.leftover_processes);
    Ok(JobResult { exit, stdout, stderr, wall, leftover_processes })
}

/// Blames the tool for a supervisor that was killed while the tool ran, where the tool can reach it: if that were an error of
/// Karat's, one such tool would end every run. In bubblewrap's namespace a tool sees no supervisor.
fn killed_by_tool(isolation: Isolation, status: ExitStatus) -> Option<ExitReason> {
    (isolation < Isolation::Bubblewrap && status.signal().is_some()).then_some(ExitReason::LostSupervisor)
}

fn build_request(job: &Job) -> io::Result<(Request, Option<Cgroup>)> {
    if job.command.is_empty() {
        return Err(io::Error::other("the command is empty; name a program"));
    }
    let access = ResolvedAccess::new(job)?;
    let changes_user = tool_user(job.isolation, &access.root, &job.access) == ToolUser::Unprivileged;
    if changes_user {
        for folder in job.tool.iter().filter(|tool| tool.writable).map(|tool| &tool.path).chain([&access.root]) {
            give_to_nobody(folder).map_err(|error| {
                let folder = folder.display();
                io::Error::other(format!(
                    "{folder} cannot be given to the unprivileged user that tools run as: {error}"
                ))
            })?;
        }
    }
    let dir = root_in_sandbox(job.isolation, &access.root).join(&access.dir);
    let mut env = job.env.clone();
    env.insert("PWD".to_owned(), dir.clone().into());
    let launcher = |rules, env| {
        let command = ToolCommand { args: job.command.clone(), env, dir: Some(dir.into()) };
        StartMethod::Launcher(LaunchRequest { command, rules, changes_user })
    };
    let start = match job.isolation {
        Isolation::Bubblewrap => {
            let bubblewrap = available().bubblewrap.as_ref().map_err(|why| unavailable(job.isolation, why))?;
            let upstream =
                (access.network == NetworkAccess::External).then(|| proxy::redirect_proxy_variables(&mut env));
            let command = bubblewrap::command(bubblewrap, job, &access, changes_user, env);
            StartMethod::Bubblewrap { command, upstream }
        }
        Isolation::Landlock => {
            available().landlock.as_ref().map_err(|why| unavailable(job.isolation, why))?;
            #[cfg(target_os = "linux")]
            let rules = Some(super::landlock_rules::rules(&access));
            #[cfg(not(target_os = "linux"))]
            let rules = None;
            launcher(rules, env)
        }
        Isolation::Process => launcher(None, env),
    };
    // Far above the limit on processes: a second line of defence behind the supervisor, which counts at intervals.
    let max_tasks = 16 * job.limits.processes.max(256) as u64;
    let cgroup = cgroup::tree().ok().map(|tree| Cgroup::create(tree, &job.limits, max_tasks)).transpose();
    let cgroup = cgroup.map_err(|error| {
        io::Error::other(format!(
            "the control group for the tool could not be made: {error}; see that the group Karat runs in can be written to"
        ))
    })?;
    let request = SuperviseRequest {
        start,
        limits: job.limits.clone(),
        root: access.root.into(),
        max_tasks: initial_tasks(changes_user).map(|initial| initial + max_tasks),
        cgroup: cgroup.as_ref().map(|cgroup| cgroup.0.clone()),
    };
    Ok((Request::Supervise(Box::new(request)), cgroup))
}

/// The tasks of the tool's user before the first tool, which `RLIMIT_NPROC` counts too; `None` for root, whom it does not bind.
fn initial_tasks(changes_user: bool) -> Option<u64> {
    static INITIAL: OnceLock<u64> = OnceLock::new();
    let own = rustix::process::geteuid();
    let user = if changes_user { NOBODY } else { own.as_raw() };
    (changes_user || !own.is_root()).then(|| *INITIAL.get_or_init(|| processes::tasks_of_user(user)))
}

/// Says why a tool was not started, where others than the supervisor know.
fn explain_exit(exit: ExitReason, job: &Job, stderr: &CapturedOutput) -> ExitReason {
    match exit {
        // `setpriv`, which changes the user first, reports a tool that cannot be started.
        ExitReason::Exited(126 | 127)
            if stderr.bytes.starts_with(SETPRIV_ERROR) && job.isolation == Isolation::Bubblewrap =>
        {
            let why = stderr.bytes.strip_prefix(SETPRIV_ERROR).unwrap_or_default();
            ExitReason::NotStarted(String::from_utf8_lossy(why).lines().next().unwrap_or_default().to_owned())
        }
        ExitReason::NotStarted(why) if why.is_empty() => {
            let stderr = String::from_utf8_lossy(&stderr.bytes);
            ExitReason::NotStarted(stderr.lines().next().unwrap_or("bubblewrap does not say why").to_owned())
        }
        ExitReason::NotStarted(why) => {
            let program = job.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            ExitReason::NotStarted(format!("{program}: {why}"))
        }
        exit => exit,
    }
}

struct RunningJob<'a> {
    channel: Connection,
    streams: [Stream<'a>; 2],
    /// The tool's first process, once it runs.
    main: Option<Pid>,
    stop_reason: Option<ExitReason>,
}

impl RunningJob<'_> {
    /// Sends the request and waits for the report; `None` where the supervisor is gone without one.
    fn supervise(
        &mut self,
        request: &Request,
        job: &Job,
        child: &mut Child,
        cancel: &Cancel,
        begun: Instant,
    ) -> io::Result<Option<Report>> {
        for pipe in self.streams.iter().filter_map(|stream| stream.pipe.as_ref()) {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        self.channel.send(request)?;
        let deadline = begun + job.limits.time.min(MAX_DURATION);
        let mut kill_deadline = None;
        loop {
            if self.stop_reason.is_none() {
                let stop = if self.streams.iter().any(|stream| stream.captured.truncated) {
                    Some((ExitReason::LimitExceeded(Resource::Output), StopRequest::Kill))
                } else if cancel.is_cancelled() {
                    Some((ExitReason::Cancelled, StopRequest::Terminate))
                } else {
                    (Instant::now() >= deadline).then_some((ExitReason::TimedOut, StopRequest::Terminate))
                };
                if let Some((reason, request)) = stop {
                    // A supervisor that is gone by now is noticed below.
                    let _ = self.channel.0.write_all(&[request as u8]);
                    self.stop_reason = Some(reason);
                    kill_deadline = Some(Instant::now() + job.limits.grace.min(MAX_DURATION) + SUPERVISOR_TIMEOUT);
                }
            }
            if kill_deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                child.kill()?;
                return Ok(None);
            }
            let timeout = if self.stop_reason.is_some() {
                CANCEL_POLL
            } else {
                deadline.saturating_duration_since(Instant::now()).min(CANCEL_POLL)
            };
            if self.wait(timeout)? {
                match self.channel.receive_or_end()? {
                    Some(SupervisorMessage::Started(number)) => self.main = Pid::from_raw(number),
                    Some(SupervisorMessage::Finished(report)) => return Ok(Some(report)),
                    None => return Ok(None),
                }
            }
        }
    }

    /// Waits for output and reads it. Returns whether there is a message from the supervisor.
    fn wait(&mut self, timeout: Duration) -> io::Result<bool> {
        let mut polled = vec![PollFd::new(&self.channel.0, PollFlags::IN)];
        polled.extend(self.streams.iter().filter_map(|stream| Some(PollFd::new(stream.pipe.as_ref()?, PollFlags::IN))));
        let timeout = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
        match rustix::event::poll(&mut polled, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let has_message = polled.first().is_some_and(|channel| !channel.revents().is_empty());
        for stream in &mut self.streams {
            stream.read();
        }
        Ok(has_message)
    }
}

/// One of the tool's output streams. It is no longer read once its limit is reached.
struct Stream<'a> {
    name: OutputStream,
    pipe: Option<OwnedFd>,
    captured: CapturedOutput,
    max_bytes: usize,
    observe: &'a dyn Fn(OutputStream, &[u8]),
}

impl Stream<'_> {
    /// Reads once; `false` when there is nothing to read now or ever.
    fn read(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let bytes = &mut self.captured.bytes;
        bytes.reserve(READ_SIZE);
        let before = bytes.len();
        let read = rustix::io::read(pipe, rustix::buffer::spare_capacity(bytes));
        (self.observe)(self.name, bytes.get(before..bytes.len().min(self.max_bytes)).unwrap_or_default());
        match read {
            Ok(0) => self.pipe = None,
            Ok(_) if bytes.len() > self.max_bytes => {
                bytes.truncate(self.max_bytes);
                self.captured.truncated = true;
                self.pipe = None;
            }
            Ok(_) => return true,
            Err(rustix::io::Errno::INTR) => return true,
            Err(rustix::io::Errno::AGAIN) => {}
            Err(_) => self.pipe = None,
        }
        false
    }
}
