//! Karat's side of a job: starts the supervisor, reads what the tool prints, and says when it is enough.

use super::available::available;
use super::cgroup::{self, Group};
use super::isolation::Isolation;
use super::job::{Cancel, Captured, Ended, Finished, Job, LONGEST, Resource, SandboxError, Supervisor, seen_root};
use super::order::{Exec, How, Order, Report, Said, Start, Watch, Wish};
use super::user::{ToolUser, UNPRIVILEGED, give_to_unprivileged, tool_user};
use super::view::{Reach, Sight};
use super::{bubblewrap, channel, processes, proxy};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Pid;
use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How soon a cancel is seen.
pub(super) const LOOK: Duration = Duration::from_millis(50);
/// How long a supervisor may take to end what cannot be ended, beyond the grace of the tool.
const PATIENCE: Duration = Duration::from_secs(15);
/// How `setpriv` begins when it cannot become the tool.
const NOT_EXECUTED: &[u8] = b"setpriv: failed to execute ";
/// How much room is made for each reading of a stream.
const CHUNK: usize = 64 << 10;

/// Runs a job to its end. When this comes back, nothing of the tool is left, however it ended.
pub fn run(job: &Job, supervisor: &Supervisor, cancel: &Cancel) -> Result<Finished, SandboxError> {
    // Goes last, when nothing of the tool is left in it.
    let (order, _group) = order(job)?;
    let trouble = |doing| move |source| SandboxError::Supervisor { program: supervisor.program.clone(), doing, source };
    let (channel, theirs) = channel::pair().map_err(trouble("reached"))?;
    let begun = Instant::now();
    let mut command = Command::new(&supervisor.program);
    // The supervisor's environment can be read by a tool that nothing is kept from, so there is none.
    command.args(&supervisor.args).env_clear().stdin(theirs).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A terminal signals the whole group in its foreground. Of a Ctrl-C Karat alone is to hear, and to decide what comes of it.
    command.process_group(0);
    let mut child = command.spawn().map_err(trouble("started"))?;
    // The command holds the supervisor's end, and with two holders nobody would see it close.
    drop(command);
    let streams = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    let streams = streams.map(|pipe| Stream { pipe, captured: Captured::default(), most: job.limits.output });
    let mut running = Running { channel, streams, main: None, asked: None };
    let talked = running.talk(&order, job, &mut child, cancel, begun);
    if !matches!(talked, Ok(Some(_))) {
        // One that is gone already stays as it ended.
        let _ = child.kill();
    }
    let status = child.wait().map_err(trouble("waited for"))?;
    if let (Ok(None) | Err(_), Some(main)) = (&talked, running.main) {
        processes::end_session(main);
    }
    let report = match talked {
        Ok(report) => report,
        Err(error) if is_gone(&error) || cancel.is_cancelled() => None,
        Err(error) => return Err(trouble("talked to")(error)),
    };
    running.drain();
    if report.as_ref().is_some_and(|report| report.left) {
        return Err(SandboxError::Unending);
    }
    let [stdout, stderr] = running.streams.map(|stream| stream.captured);
    let wall = report.as_ref().map_or_else(|| begun.elapsed(), |report| report.wall);
    let cut = (stdout.cut || stderr.cut).then_some(Ended::Overran(Resource::Output));
    let asked = running.asked.or_else(|| cancel.is_cancelled().then_some(Ended::Cancelled));
    let told = report.as_ref().and_then(|report| ended(&report.how, job, &stderr));
    let its_doing = || running.main.and_then(|_| lost_to_tool(job.isolation, status));
    let lost = || SandboxError::Lost { status: status.to_string() };
    let ended = cut.or(told).or(asked).or_else(its_doing).ok_or_else(lost)?;
    Ok(Finished { ended, stdout, stderr, wall, ended_after: report.and_then(|report| report.ended_after) })
}

/// Whether an error means that the other side is no longer there.
pub(super) fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// Whose doing it is when a supervisor is ended while its tool runs. The tool's, where it can reach its supervisor: were that
/// Karat's failure, one such tool would end every run. In a namespace of its own it sees no supervisor.
fn lost_to_tool(isolation: Isolation, status: ExitStatus) -> Option<Ended> {
    (isolation < Isolation::Bubblewrap && status.signal().is_some()).then_some(Ended::LostSupervisor)
}

/// What the supervisor is to do.
fn order(job: &Job) -> Result<(Order, Option<Group>), SandboxError> {
    if job.command.is_empty() {
        return Err(SandboxError::NoCommand);
    }
    let sight = Sight::of(job)?;
    let user = tool_user(job.isolation, &sight.root, &job.view);
    let changes_user = user == ToolUser::Unprivileged;
    if changes_user {
        let prepared = job.tool.iter().filter(|tool| tool.writable).map(|tool| &tool.path);
        for folder in prepared.chain([&sight.root]) {
            give_to_unprivileged(folder).map_err(|source| SandboxError::NotGiven { folder: folder.clone(), source })?;
        }
    }
    let dir = seen_root(job.isolation, &sight.root).join(&sight.dir);
    let mut env: Vec<(OsString, OsString)> = job.env.iter().map(|(name, value)| (name.into(), value.clone())).collect();
    env.retain(|(name, _)| name != "PWD");
    env.push(("PWD".into(), dir.clone().into()));
    let plain = |env| Exec { command: job.command.clone(), env, dir: Some(dir.into()) };
    let unavailable = |why: &str| SandboxError::Unavailable { required: job.isolation, why: why.to_owned() };
    let (start, exec) = match job.isolation {
        Isolation::Bubblewrap => {
            let bubblewrap = available().bubblewrap.as_ref().map_err(|why| unavailable(why))?;
            let way_out = (sight.reach == Reach::Elsewhere).then(|| proxy::lead_through(&mut env));
            (Start::Bubblewrap { way_out }, bubblewrap::command(bubblewrap, job, &sight, &user, env))
        }
        Isolation::Landlock => {
            available().landlock.as_ref().map_err(|why| unavailable(why))?;
            (confined(&sight, changes_user), plain(env))
        }
        Isolation::Process => (Start::Launched { changes_user }, plain(env)),
    };
    let most = most_tasks(job.limits.processes);
    let group = cgroup::tree().ok().map(|tree| Group::make(tree, &job.limits, most)).transpose();
    let group = group.map_err(SandboxError::ControlGroup)?;
    let membership = group.as_ref().map(Group::membership);
    let tasks = tasks_before(changes_user).map(|before| before + most);
    let root = sight.root.into();
    let watch = Watch { start, exec, limits: job.limits.clone(), root, tasks, group: membership };
    Ok((Order::Watch(Box::new(watch)), group))
}

#[cfg(target_os = "linux")]
fn confined(sight: &Sight, changes_user: bool) -> Start {
    Start::Confined { rules: super::confine::rules(sight), changes_user }
}

#[cfg(not(target_os = "linux"))]
fn confined(_: &Sight, changes_user: bool) -> Start {
    Start::Launched { changes_user }
}

/// How many processes and threads a tool may have before the system refuses more. This is far above the limit on its processes: a
/// last wall behind the supervisor, which counts exactly but not at every moment.
fn most_tasks(processes: usize) -> u64 {
    16 * processes.max(256) as u64
}

/// How many processes and threads the tool's user had before the first tool was started, for the system counts all of a user's;
/// `None` for root, whom it lets pass.
fn tasks_before(changes_user: bool) -> Option<u64> {
    static BEFORE: OnceLock<u64> = OnceLock::new();
    let own = rustix::process::geteuid();
    let user = if changes_user { UNPRIVILEGED } else { own.as_raw() };
    (changes_user || !own.is_root()).then(|| *BEFORE.get_or_init(|| processes::tasks_of_user(user)))
}

/// How the tool ended, unless Karat itself wished it to.
fn ended(how: &How, job: &Job, stderr: &Captured) -> Option<Ended> {
    Some(match how {
        // What changes the user before the tool is there speaks for it where it cannot be started.
        How::Exited(126 | 127) if stderr.bytes.starts_with(NOT_EXECUTED) && job.isolation == Isolation::Bubblewrap => {
            let why = String::from_utf8_lossy(stderr.bytes.strip_prefix(NOT_EXECUTED).unwrap_or_default()).into_owned();
            Ended::NotStarted(why.lines().next().unwrap_or_default().to_owned())
        }
        How::Exited(code) => Ended::Exited(*code),
        How::Signalled(signal) => Ended::Signalled(*signal),
        How::Overran(resource) => Ended::Overran(*resource),
        How::NotStarted(why) if why.is_empty() => {
            let said = String::from_utf8_lossy(&stderr.bytes);
            Ended::NotStarted(said.lines().next().unwrap_or("bubblewrap does not say why").to_owned())
        }
        How::NotStarted(why) => {
            let program = job.command.first().map(|word| word.to_string_lossy()).unwrap_or_default();
            Ended::NotStarted(format!("{program}: {why}"))
        }
        How::Stopped => return None,
    })
}

/// A job under way.
struct Running {
    channel: OwnedFd,
    streams: [Stream; 2],
    /// The tool's first process, once it runs.
    main: Option<Pid>,
    /// Why the supervisor was asked to end the tool.
    asked: Option<Ended>,
}

impl Running {
    /// Gives the order and hears how it went; `None` where the supervisor is gone without a word.
    fn talk(
        &mut self,
        order: &Order,
        job: &Job,
        child: &mut Child,
        cancel: &Cancel,
        begun: Instant,
    ) -> io::Result<Option<Report>> {
        for pipe in self.streams.iter().filter_map(|stream| stream.pipe.as_ref()) {
            rustix::io::ioctl_fionbio(pipe, true)?;
        }
        channel::send(self.channel.as_fd(), order)?;
        self.follow(job, child, cancel, begun)
    }

    /// Reads until the supervisor has reported or is gone.
    fn follow(&mut self, job: &Job, child: &mut Child, cancel: &Cancel, begun: Instant) -> io::Result<Option<Report>> {
        let late = begun + job.limits.time.min(LONGEST);
        let mut too_late = None;
        loop {
            if self.asked.is_none() {
                let asked = if self.streams.iter().any(|stream| stream.captured.cut) {
                    Some((Ended::Overran(Resource::Output), Wish::Kill))
                } else if cancel.is_cancelled() {
                    Some((Ended::Cancelled, Wish::Terminate))
                } else {
                    (Instant::now() >= late).then_some((Ended::TimedOut, Wish::Terminate))
                };
                if let Some((why, wish)) = asked {
                    // A supervisor that is gone by now is seen below.
                    let _ = channel::send_bytes(self.channel.as_fd(), &[wish.byte()]);
                    self.asked = Some(why);
                    too_late = Some(Instant::now() + job.limits.grace.min(LONGEST) + PATIENCE);
                }
            }
            if too_late.is_some_and(|too_late| Instant::now() >= too_late) {
                child.kill()?;
                return Ok(None);
            }
            let left =
                if self.asked.is_some() { LOOK } else { late.saturating_duration_since(Instant::now()).min(LOOK) };
            if self.wait(left)? {
                match channel::receive(self.channel.as_fd())? {
                    Some(Said::Started(number)) => self.main = Pid::from_raw(number),
                    Some(Said::Done(report)) => return Ok(Some(report)),
                    None => return Ok(None),
                }
            }
        }
    }

    /// Waits for something to read and reads it. `true` when the supervisor has something to say.
    fn wait(&mut self, most: Duration) -> io::Result<bool> {
        let mut waiting = vec![PollFd::new(&self.channel, PollFlags::IN)];
        waiting
            .extend(self.streams.iter().filter_map(|stream| Some(PollFd::new(stream.pipe.as_ref()?, PollFlags::IN))));
        let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
        match rustix::event::poll(&mut waiting, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let said = waiting.first().is_some_and(|channel| !channel.revents().is_empty());
        for stream in &mut self.streams {
            stream.read();
        }
        Ok(said)
    }

    /// Takes what is left in the pipes. It does not wait for them to close, for whoever holds them may never do so.
    fn drain(&mut self) {
        for stream in &mut self.streams {
            while stream.read() {}
        }
    }
}

/// One of the tool's streams. It is no longer read once there was more than may be kept.
struct Stream {
    pipe: Option<OwnedFd>,
    captured: Captured,
    most: usize,
}

impl Stream {
    /// Reads what is there; `false` when there is nothing at the moment or for good.
    fn read(&mut self) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        let bytes = &mut self.captured.bytes;
        bytes.reserve(CHUNK);
        match rustix::io::read(pipe, rustix::buffer::spare_capacity(bytes)) {
            Ok(0) => self.pipe = None,
            Ok(_) if bytes.len() > self.most => {
                bytes.truncate(self.most);
                self.captured.cut = true;
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
