//! The supervising process: starts one tool, enforces its limits, and outlives everything it started.

use super::cgroup::CgroupHandle;
use super::disk_usage::DiskUsage;
use super::ipc;
use super::job::{Limits, MAX_DURATION, Resource};
use super::launch::{self, StartedTool};
use super::processes::{self, set_rlimit};
use super::protocol::{Report, Request, StartMethod, StopRequest, SuperviseRequest, SupervisorMessage};
use super::protocol::{ToolCommand, ToolExit};
use super::worker::{self, Connection};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Signal, WaitStatus};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
    let Ok(channel) = ipc::inherited() else { return ExitCode::FAILURE };
    let result = match ipc::receive(channel.as_fd()) {
        Ok(Some(Request::Supervise(request))) => {
            let report = run_tool(*request, channel.as_fd());
            ipc::send(channel.as_fd(), &SupervisorMessage::Finished(report))
        }
        Ok(Some(Request::Launch(request))) => ipc::send(channel.as_fd(), &launch::become_tool(&request)),
        #[cfg(target_os = "linux")]
        Ok(Some(Request::Listen { process, port })) => {
            super::network_namespace::send_listener(process, port, channel.as_fd())
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Some(Request::Listen { .. })) => Ok(()),
        Ok(Some(Request::Work(limits))) => {
            worker::restrict(&limits).map_err(io::Error::from).and_then(|()| work(&Connection::new(channel)))
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

fn run_tool(request: SuperviseRequest, channel: BorrowedFd<'_>) -> Report {
    let begun = Instant::now();
    let not_started = |why: String| Report {
        exit: ToolExit::NotStarted(why),
        wall: begun.elapsed(),
        leftover_processes: None,
        unkillable: false,
    };
    if let Err(error) = prepare(&request) {
        return not_started(format!("its limits could not be set: {error}"));
    }
    // A failure to send means that Karat is gone, which waiting for the tool notices.
    let announce = |main: Pid| drop(ipc::send(channel, &SupervisorMessage::Started(main.as_raw_nonzero().get())));
    let cgroup = request.cgroup.as_ref();
    let report = match start_in_cgroup(request.start, request.command, cgroup, request.limits.memory, &announce) {
        Ok(tool) => {
            watch_until_exit(tool, &request.limits, DiskUsage::new(request.root.as_ref()), cgroup, channel, begun)
        }
        Err(why) => not_started(why),
    };
    let out_of_memory = cgroup.is_some_and(CgroupHandle::ran_out_of_memory);
    // The kernel kills bubblewrap with the tool, which then looks as if it had never run.
    let killed_by_kernel =
        out_of_memory && matches!(report.exit, ToolExit::Signalled(_) | ToolExit::Exited(_) | ToolExit::NotStarted(_));
    if killed_by_kernel { Report { exit: ToolExit::LimitExceeded(Resource::Memory), ..report } } else { report }
}

/// Starts a tool in its cgroup. This process is a member only for that moment, since it must outlive the cgroup's processes.
fn start_in_cgroup(
    start: StartMethod,
    command: ToolCommand,
    cgroup: Option<&CgroupHandle>,
    memory: u64,
    announce: &dyn Fn(Pid),
) -> Result<StartedTool, String> {
    let Some(cgroup) = cgroup else { return launch::start(start, command, announce) };
    let failed = |error: std::io::Error| format!("its control group could not be used: {error}");
    cgroup.enter().map_err(failed)?;
    let started = launch::start(start, command, announce);
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
    set_rlimit(Resource::Data, request.limits.memory.saturating_mul(2))?;
    if let Some(max_tasks) = request.max_tasks {
        set_rlimit(Resource::Nproc, max_tasks)?;
    }
    #[cfg(target_os = "linux")]
    if let Some(cpus) = request.limits.cpus
        && !request.cgroup.as_ref().is_some_and(CgroupHandle::limits_cpus)
    {
        limit_cpu_affinity(cpus)?;
    }
    Ok(())
}

/// Restricts this process and its children to `max` of its processors. Which ones differs from trial to trial, so that parallel
/// trials do not share one.
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

/// Watches a tool until none of its processes is left.
fn watch_until_exit(
    tool: StartedTool,
    limits: &Limits,
    disk: DiskUsage,
    cgroup: Option<&CgroupHandle>,
    channel: BorrowedFd<'_>,
    begun: Instant,
) -> Report {
    // Among thousands of processes, the one that is to kill them must get its turn. Fails without the privilege.
    let _ = rustix::process::setpriority_process(None, -15);
    let (cause, status) = wait(&tool, limits, disk, channel);
    let wall = begun.elapsed();
    let in_bubblewrap = tool.bubblewrap_status.is_some();
    // Bubblewrap's processes end with the first of them, and the kernel does not say how many there were.
    let countable = matches!(cause, StopCause::Exited) && !in_bubblewrap;
    let leftover_processes = countable.then(|| processes::count_alive(&processes::descendants(limits.processes)));
    if let Some(cgroup) = cgroup {
        cgroup.kill();
    }
    let killed = processes::kill_all(tool.main, in_bubblewrap);
    let exit = match cause {
        StopCause::Requested => ToolExit::Stopped,
        StopCause::LimitExceeded(resource) => ToolExit::LimitExceeded(resource),
        StopCause::Exited if tool.never_ran() => ToolExit::NotStarted(String::new()),
        StopCause::Exited => {
            let status = status.or(killed.main);
            status.map_or(ToolExit::Stopped, |status| tool_exit(status, in_bubblewrap, limits))
        }
    };
    Report { exit, wall, leftover_processes, unkillable: killed.unkillable }
}

enum StopCause {
    Exited,
    Requested,
    LimitExceeded(Resource),
}

/// Waits until the tool exits, exceeds a limit, or is to be stopped.
fn wait(
    tool: &StartedTool,
    limits: &Limits,
    mut disk: DiskUsage,
    channel: BorrowedFd<'_>,
) -> (StopCause, Option<WaitStatus>) {
    let main = tool.main;
    // Bubblewrap and the init process of its namespace are not the tool's.
    let extra_processes = if tool.bubblewrap_status.is_some() { 2 } else { 0 };
    let max_processes = limits.processes.saturating_add(extra_processes);
    let exit_notice = open_pidfd(main);
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
            return (if stopping { StopCause::Requested } else { StopCause::Exited }, Some(status));
        }
        if request == Some(StopRequest::Kill) || kill_deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return (StopCause::Requested, None);
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
                return (StopCause::LimitExceeded(Resource::Processes), None);
            }
            if processes::memory(&all) > limits.memory {
                return (StopCause::LimitExceeded(Resource::Memory), None);
            }
            if !disk.is_idle() || disk_measured.elapsed() >= DISK_TICK {
                if disk.count(DISK_STEP).0 > limits.disk {
                    return (StopCause::LimitExceeded(Resource::Disk), None);
                }
                disk_measured = Instant::now();
            }
            measured = Instant::now();
            tick = (begun.elapsed() * 10).clamp(MIN_TICK, MAX_TICK);
        }
    }
}

/// Waits for a stop request or the tool's exit. A closed channel means that Karat is gone.
fn poll_stop_request(channel: BorrowedFd<'_>, exit_notice: Option<&OwnedFd>, timeout: Duration) -> Option<StopRequest> {
    let mut polled = vec![PollFd::from_borrowed_fd(channel, PollFlags::IN)];
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
    match rustix::io::read(channel, &mut bytes) {
        Ok(0) => Some(StopRequest::Kill),
        Ok(count) => bytes.iter().take(count).map(|byte| StopRequest::from_byte(*byte)).max(),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => None,
        Err(_) => Some(StopRequest::Kill),
    }
}

/// A file that becomes readable when the process exits.
#[cfg(target_os = "linux")]
fn open_pidfd(main: Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(main, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn open_pidfd(_: Pid) -> Option<OwnedFd> {
    None
}

fn tool_exit(status: WaitStatus, in_bubblewrap: bool, limits: &Limits) -> ToolExit {
    let code = status.exit_status().unwrap_or_default();
    // Bubblewrap reports a signal as shells do.
    let shell_signal = Some(code - 128).filter(|signal| in_bubblewrap && (1..=64).contains(signal));
    match status.terminating_signal().or(shell_signal) {
        Some(signal) if signal == Signal::XFSZ.as_raw() => {
            ToolExit::LimitExceeded(if limits.disk < limits.file_size { Resource::Disk } else { Resource::FileSize })
        }
        Some(signal) => ToolExit::Signalled(signal),
        None => ToolExit::Exited(code),
    }
}
