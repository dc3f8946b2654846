//! The supervising process: starts one tool, enforces its limits, and outlives everything it started.

use super::cgroup::CgroupHandle;
use super::disk_usage::DiskUsage;
use super::ipc::Connection;
use super::job::{ExitReason, Limits, MAX_DURATION, Resource};
use super::launch::{self, StartedTool};
use super::processes::{self, set_rlimit};
use super::protocol::{Report, Request, StartMethod, StopRequest, SuperviseRequest, SupervisorMessage};
use super::worker;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitStatus};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often processes are measured; less often where measuring itself takes long.
const MIN_TICK: Duration = Duration::from_millis(20);
const MAX_TICK: Duration = Duration::from_millis(250);
/// How often disk usage is counted, and how many files before the processes are measured again.
const DISK_TICK: Duration = Duration::from_millis(500);
const DISK_STEP: usize = 4_000;

/// The whole life of a supervising process. An executable calls this before anything else when it was started as described by
/// [`Supervisor`](super::Supervisor). Where it was started as a worker, it does `work` instead.
pub fn supervise(work: fn(&Connection) -> io::Result<()>) -> ExitCode {
    close_inherited_files();
    let Ok(channel) = Connection::inherited() else { return ExitCode::FAILURE };
    let result = match channel.receive_or_end() {
        Ok(Some(Request::Supervise(request))) => {
            channel.send(&SupervisorMessage::Finished(run_tool(*request, &channel)))
        }
        Ok(Some(Request::Launch(request))) => channel.send(&launch::become_tool(&request)),
        #[cfg(target_os = "linux")]
        Ok(Some(Request::Listen { process, port })) => {
            super::network_namespace::send_listener(process, port, &channel.0)
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Some(Request::Listen { .. })) => Ok(()),
        Ok(Some(Request::Work(limits))) => {
            worker::restrict(&limits).map_err(io::Error::from).and_then(|()| work(&channel))
        }
        Ok(None) | Err(_) => {
            let _ = writeln!(io::stderr(), "this command is for Karat itself, which starts tools with it");
            return ExitCode::FAILURE;
        }
    };
    if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Closes every file that a shell, an editor or a CI left open for Karat, through which a tool could read what it has no access
/// to. Only standard input, which is the channel, and the two outputs are needed.
fn close_inherited_files() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd").or_else(|_| std::fs::read_dir("/dev/fd")) else { return };
    let numbers: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // Fails for the listed folder itself, which is closed by now.
        let _ = nix::unistd::close(number);
    }
}

fn run_tool(request: SuperviseRequest, channel: &Connection) -> Report {
    let begun = Instant::now();
    let not_started = |why: String| Report {
        exit: Some(ExitReason::NotStarted(why)),
        wall: begun.elapsed(),
        leftover_processes: None,
        unkillable: false,
    };
    if let Err(error) = prepare(&request) {
        return not_started(format!("its limits could not be set: {error}"));
    }
    // A failure to send means that Karat is gone, which waiting for the tool notices.
    let announce = |main: Pid| drop(channel.send(&SupervisorMessage::Started(main.as_raw_nonzero().get())));
    let cgroup = request.cgroup.as_ref();
    let report = match start_in_cgroup(request.start, cgroup, request.limits.memory, &announce) {
        Ok(tool) => {
            watch_until_exit(tool, &request.limits, DiskUsage::new(request.root.as_ref()), cgroup, &channel.0, begun)
        }
        Err(why) => not_started(why),
    };
    let out_of_memory = cgroup.is_some_and(CgroupHandle::ran_out_of_memory);
    // The kernel kills bubblewrap with the tool, which then looks as if it had never run.
    use ExitReason::{Exited, LimitExceeded, NotStarted, Signalled};
    if out_of_memory && matches!(report.exit, Some(Signalled(_) | Exited(_) | NotStarted(_))) {
        return Report { exit: Some(LimitExceeded(Resource::Memory)), ..report };
    }
    report
}

/// Starts a tool in its cgroup. This process is a member only for that moment, since it must outlive the cgroup's processes.
fn start_in_cgroup(
    start: StartMethod,
    cgroup: Option<&CgroupHandle>,
    memory: u64,
    announce: &dyn Fn(Pid),
) -> Result<StartedTool, String> {
    let Some(cgroup) = cgroup else { return launch::start(start, announce) };
    let failed = |error: std::io::Error| format!("its control group could not be used: {error}");
    cgroup.enter().map_err(failed)?;
    let started = launch::start(start, announce);
    cgroup.leave(memory).map_err(failed)?;
    started
}

/// Makes this process fit to be the parent of a tool, which inherits its limits.
fn prepare(request: &SuperviseRequest) -> rustix::io::Result<()> {
    use rustix::process::Resource;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // Bubblewrap may be setuid, and sets this itself.
        if !matches!(request.start, StartMethod::Bubblewrap { .. }) {
            rustix::thread::set_no_new_privs(true)?;
        }
    }
    set_rlimit(Resource::Core, 0)?;
    set_rlimit(Resource::Fsize, request.limits.file_size.min(request.limits.disk))?;
    // This counts reserved memory too, such as stacks of threads. The exact limit is on resident memory; this one stops a
    // tool that would fill the machine's memory between two measurements.
    if !request.limits.any_reservation {
        set_rlimit(Resource::Data, request.limits.memory.saturating_mul(2))?;
    }
    if let Some(max_tasks) = request.max_tasks {
        set_rlimit(Resource::Nproc, max_tasks)?;
    }
    #[cfg(target_os = "linux")]
    if let Some(cpus) = request.limits.cpus
        && !request.cgroup.as_ref().is_some_and(|cgroup| cgroup.limits_cpus)
    {
        limit_cpu_affinity(cpus)?;
    }
    Ok(())
}

/// Restricts this process and its children to `max` processors, which differ from trial to trial: parallel ones share none.
#[cfg(target_os = "linux")]
fn limit_cpu_affinity(max: u32) -> rustix::io::Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let available = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| available.is_set(*cpu)).collect();
    let first = std::process::id() as usize % all.len().max(1);
    let mut chosen = CpuSet::new();
    for cpu in all.iter().cycle().skip(first).take(all.len().min(max as usize)) {
        chosen.set(*cpu);
    }
    sched_setaffinity(None, &chosen)
}

fn watch_until_exit(
    tool: StartedTool,
    limits: &Limits,
    disk: DiskUsage,
    cgroup: Option<&CgroupHandle>,
    channel: &UnixStream,
    begun: Instant,
) -> Report {
    // Among thousands of processes, the one that is to kill them must get its turn. Fails without the privilege.
    let _ = rustix::process::setpriority_process(None, -15);
    let cause = wait(&tool, limits, disk, channel);
    let wall = begun.elapsed();
    let in_bubblewrap = tool.bubblewrap_status.is_some();
    // Bubblewrap's processes end with the first of them, and the kernel does not say how many there were.
    let countable = matches!(cause, StopCause::Exited(_)) && !in_bubblewrap;
    let leftover_processes = countable.then(|| processes::count_alive(&processes::descendants(limits.processes)));
    if let Some(cgroup) = cgroup {
        cgroup.kill();
    }
    let unkillable = !processes::kill_all(tool.main, in_bubblewrap);
    let exit = match cause {
        StopCause::Requested => None,
        StopCause::LimitExceeded(resource) => Some(ExitReason::LimitExceeded(resource)),
        StopCause::Exited(_) if tool.never_ran() => Some(ExitReason::NotStarted(String::new())),
        StopCause::Exited(status) => Some(exit_reason(status, in_bubblewrap, limits)),
    };
    Report { exit, wall, leftover_processes, unkillable }
}

enum StopCause {
    Exited(WaitStatus),
    Requested,
    LimitExceeded(Resource),
}

fn wait(tool: &StartedTool, limits: &Limits, mut disk: DiskUsage, channel: &UnixStream) -> StopCause {
    let main = tool.main;
    // Bubblewrap and the init process of its namespace are not the tool's.
    let extra_processes = if tool.bubblewrap_status.is_some() { 2 } else { 0 };
    let max_processes = limits.processes.saturating_add(extra_processes);
    // Becomes readable when the tool exits.
    #[cfg(target_os = "linux")]
    let exit_notice = rustix::process::pidfd_open(main, rustix::process::PidfdFlags::empty()).ok();
    #[cfg(not(target_os = "linux"))]
    let exit_notice = None::<OwnedFd>;
    let mut tick = MIN_TICK;
    let mut measured = Instant::now();
    let mut disk_measured = measured;
    let mut kill_deadline = None::<Instant>;
    loop {
        let timeout =
            kill_deadline.map_or(tick, |deadline| tick.min(deadline.saturating_duration_since(Instant::now())));
        let request = poll_stop_request(channel, exit_notice.as_ref(), timeout);
        if let (Some(status), _) = processes::reap(main) {
            let stopping = kill_deadline.is_some() || request.is_some();
            return if stopping { StopCause::Requested } else { StopCause::Exited(status) };
        }
        if request == Some(StopRequest::Kill) || kill_deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return StopCause::Requested;
        }
        if request == Some(StopRequest::Terminate) {
            let mut all = processes::descendants(usize::MAX);
            // Bubblewrap would take the tool with it at once.
            all.retain(|pid| extra_processes == 0 || *pid != main);
            processes::signal(&all, Signal::TERM);
            if cfg!(not(target_os = "linux")) {
                let _ = rustix::process::kill_process_group(main, Signal::TERM);
            }
            kill_deadline = Some(Instant::now() + limits.grace.min(MAX_DURATION));
        }
        if measured.elapsed() >= tick {
            let begun = Instant::now();
            let all = processes::descendants(max_processes);
            if all.len() > max_processes {
                return StopCause::LimitExceeded(Resource::Processes);
            }
            if processes::memory(&all) > limits.memory {
                return StopCause::LimitExceeded(Resource::Memory);
            }
            if !disk.is_idle() || disk_measured.elapsed() >= DISK_TICK {
                if disk.count(DISK_STEP).0 > limits.disk {
                    return StopCause::LimitExceeded(Resource::Disk);
                }
                disk_measured = Instant::now();
            }
            measured = Instant::now();
            tick = (begun.elapsed() * 10).clamp(MIN_TICK, MAX_TICK);
        }
    }
}

/// Waits for a stop request or the tool's exit. A closed channel means that Karat is gone.
fn poll_stop_request(channel: &UnixStream, exit_notice: Option<&OwnedFd>, timeout: Duration) -> Option<StopRequest> {
    let mut polled = vec![PollFd::new(channel, PollFlags::IN)];
    polled.extend(exit_notice.map(|notice| PollFd::new(notice, PollFlags::IN)));
    // Without a pidfd, polling often is all that is left.
    let timeout = if exit_notice.is_some() { timeout } else { timeout.min(Duration::from_millis(5)) };
    let timeout = Timespec { tv_sec: timeout.as_secs() as _, tv_nsec: timeout.subsec_nanos() as _ };
    if rustix::event::poll(&mut polled, Some(&timeout)).is_err() {
        return None;
    }
    if polled.first().is_none_or(|first| first.revents().is_empty()) {
        return None;
    }
    let mut bytes = [0; 16];
    let is_terminate = |byte: &u8| *byte == StopRequest::Terminate as u8;
    match rustix::io::read(channel, &mut bytes) {
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => None,
        Ok(count) if count > 0 && bytes.iter().take(count).all(is_terminate) => Some(StopRequest::Terminate),
        // An unknown byte means the safe choice.
        Ok(_) | Err(_) => Some(StopRequest::Kill),
    }
}

fn exit_reason(status: WaitStatus, in_bubblewrap: bool, limits: &Limits) -> ExitReason {
    let code = status.exit_status().unwrap_or_default();
    // Bubblewrap reports a signal as shells do.
    let shell_signal = Some(code - 128).filter(|signal| in_bubblewrap && (1..=64).contains(signal));
    match status.terminating_signal().or(shell_signal) {
        Some(signal) if signal == Signal::XFSZ.as_raw() => {
            let limit = if limits.disk < limits.file_size { Resource::Disk } else { Resource::FileSize };
            ExitReason::LimitExceeded(limit)
        }
        Some(signal) => ExitReason::Signalled(signal),
        None => ExitReason::Exited(code),
    }
}
