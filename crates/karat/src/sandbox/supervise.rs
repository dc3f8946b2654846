//! The supervising process: starts one tool, watches what it uses, and outlives everything it started.

use super::cgroup::Membership;
use super::channel;
use super::disk_usage::DiskUsage;
use super::job::{LONGEST, Limits, Resource};
use super::order::{Exec, How, Order, Report, Said, Start, Watch, Wish};
use super::processes;
use super::start::{self, Started};
use super::worker::{self, Connection};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, Rlimit, Signal, WaitStatus};
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How often the tool is measured, unless measuring itself takes long.
const TICK: Duration = Duration::from_millis(20);
/// How seldom at most.
const LONGEST_TICK: Duration = Duration::from_millis(250);
/// How often its files are counted, and how many of them before the processes have their turn again.
const DISK_TICK: Duration = Duration::from_millis(500);
const DISK_STEP: usize = 4_000;

/// The whole life of a supervising process. An executable calls this, before anything else, when it was started as
/// [`Supervisor`](super::Supervisor) says. Where it was started as a worker instead, it does `work`.
pub fn supervise(work: fn(&Connection) -> io::Result<()>) -> ExitCode {
    close_what_was_left_open();
    let Ok(channel) = channel::inherited() else { return ExitCode::FAILURE };
    let told = match channel::receive(channel.as_fd()) {
        Ok(Some(Order::Watch(order))) => {
            let report = watch(*order, channel.as_fd());
            channel::send(channel.as_fd(), &Said::Done(report))
        }
        Ok(Some(Order::Launch(order))) => channel::send(channel.as_fd(), &start::become_tool(&order)),
        #[cfg(target_os = "linux")]
        Ok(Some(Order::Listen { process, port })) => super::name_space::visit(process, port, channel.as_fd()),
        #[cfg(not(target_os = "linux"))]
        Ok(Some(Order::Listen { .. })) => Ok(()),
        Ok(Some(Order::Work(limits))) => {
            worker::restrict(&limits).map_err(io::Error::from).and_then(|()| work(&Connection::new(channel)))
        }
        Ok(None) | Err(_) => {
            let _ = writeln!(io::stderr(), "this command is for Karat itself, which starts tools with it");
            return ExitCode::FAILURE;
        }
    };
    // Where nobody listens any more there is nobody to tell.
    if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Closes every file that a shell, an editor or a CI left open for Karat: through one of them a tool could read what its view
/// does not show. The three that are needed are standard input, which is the channel, and the two outputs.
fn close_what_was_left_open() {
    let Ok(open) = std::fs::read_dir("/proc/self/fd").or_else(|_| std::fs::read_dir("/dev/fd")) else { return };
    let numbers: Vec<i32> = open.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    for number in numbers.into_iter().filter(|number| *number > 2) {
        // The folder that was listed is closed by now, and so may others be.
        let _ = nix::unistd::close(number);
    }
}

fn watch(order: Watch, channel: BorrowedFd<'_>) -> Report {
    let begun = Instant::now();
    let not_started =
        |why: String| Report { how: How::NotStarted(why), wall: begun.elapsed(), ended_after: None, left: false };
    if let Err(error) = prepare(&order) {
        return not_started(format!("its limits could not be set: {error}"));
    }
    // Where nobody listens, waiting is over soon.
    let announce = |main: Pid| drop(channel::send(channel, &Said::Started(main.as_raw_nonzero().get())));
    let group = order.group.as_ref();
    let report = match start_in_group(order.start, order.exec, group, order.limits.memory, &announce) {
        Ok(started) => follow(started, &order.limits, DiskUsage::new(order.root.as_ref()), group, channel, begun),
        Err(why) => not_started(why),
    };
    let out_of_memory = group.is_some_and(Membership::ran_out_of_memory);
    // The kernel ends bubblewrap with the tool, which then looks as if it had never run.
    let by_kernel = out_of_memory && matches!(report.how, How::Signalled(_) | How::Exited(_) | How::NotStarted(_));
    if by_kernel { Report { how: How::Overran(Resource::Memory), ..report } } else { report }
}

/// Starts a tool in its control group, in which this process is only for that moment: it must outlive what the group may not.
fn start_in_group(
    start: Start,
    exec: Exec,
    group: Option<&Membership>,
    memory: u64,
    announce: &dyn Fn(Pid),
) -> Result<Started, String> {
    let Some(group) = group else { return start::start(start, exec, announce) };
    let failed = |error: std::io::Error| format!("its control group could not be used: {error}");
    group.enter().map_err(failed)?;
    let started = start::start(start, exec, announce);
    group.leave(memory).map_err(failed)?;
    started
}

/// Makes this process fit to be the parent of a tool. Limits are inherited.
fn prepare(order: &Watch) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        // Bubblewrap may have to be privileged to set things up, and sees to this itself.
        if !matches!(order.start, Start::Bubblewrap { .. }) {
            rustix::thread::set_no_new_privs(true)?;
        }
    }
    limit(rustix::process::Resource::Core, 0)?;
    limit(rustix::process::Resource::Fsize, order.limits.file_size.min(order.limits.disk))?;
    // What is asked for and never touched counts here, as the stacks of threads. The exact limit is on what is filled; this
    // one stops who would fill more than the machine has between two looks.
    limit(rustix::process::Resource::Data, order.limits.memory.saturating_mul(2))?;
    if let Some(tasks) = order.tasks {
        limit(rustix::process::Resource::Nproc, tasks)?;
    }
    #[cfg(target_os = "linux")]
    if let Some(cpus) = order.limits.cpus
        && !order.group.as_ref().is_some_and(Membership::limits_cpus)
    {
        use_few_cpus(cpus)?;
    }
    Ok(())
}

/// Lets this process and what it starts run on so many of the processors it has. Which ones differs from trial to trial, so that
/// trials side by side do not share one.
#[cfg(target_os = "linux")]
fn use_few_cpus(most: u32) -> rustix::io::Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let available = sched_getaffinity(None)?;
    let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|cpu| available.is_set(*cpu)).collect();
    let first = std::process::id() as usize % all.len().max(1);
    let mut chosen = CpuSet::new();
    for cpu in all.iter().cycle().skip(first).take(all.len().min(most as usize)) {
        chosen.set(*cpu);
    }
    sched_setaffinity(None, &chosen)
}

pub(super) fn limit(resource: rustix::process::Resource, most: u64) -> rustix::io::Result<()> {
    let most = rustix::process::getrlimit(resource).maximum.map_or(most, |now| now.min(most));
    rustix::process::setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
}

/// Stays with a tool until nothing of it is left.
fn follow(
    started: Started,
    limits: &Limits,
    disk: DiskUsage,
    group: Option<&Membership>,
    channel: BorrowedFd<'_>,
    begun: Instant,
) -> Report {
    // Among thousands of processes, the one that is to end them must get its turn. Who may not ask for it goes without.
    let _ = rustix::process::setpriority_process(None, -15);
    let (why, status) = wait(&started, limits, disk, channel);
    let wall = begun.elapsed();
    let in_bubblewrap = started.bubblewrap.is_some();
    // Bubblewrap's processes end with the first of them, and the kernel does not say how many these were.
    let counted = matches!(why, Why::Done) && !in_bubblewrap;
    let ended_after = counted.then(|| processes::living(&processes::descendants(limits.processes)));
    if let Some(group) = group {
        group.kill();
    }
    let gone = processes::end_all(started.main, in_bubblewrap);
    let how = match why {
        Why::Wished => How::Stopped,
        Why::Overran(resource) => How::Overran(resource),
        Why::Done if started.never_ran() => How::NotStarted(String::new()),
        Why::Done => status.or(gone.main).map_or(How::Stopped, |status| told(status, in_bubblewrap, limits)),
    };
    Report { how, wall, ended_after, left: gone.left }
}

/// Why waiting was over.
enum Why {
    Done,
    Wished,
    Overran(Resource),
}

fn wait(started: &Started, limits: &Limits, mut disk: DiskUsage, channel: BorrowedFd<'_>) -> (Why, Option<WaitStatus>) {
    let main = started.main;
    // Bubblewrap and the first process in its namespace are not the tool's.
    let own = if started.bubblewrap.is_some() { 2 } else { 0 };
    let most = limits.processes.saturating_add(own);
    let ended = end_of(main);
    let (mut tick, mut looked, mut over) = (TICK, Instant::now(), None::<Instant>);
    let mut counted = looked;
    loop {
        let left = over.map_or(tick, |over| tick.min(over.saturating_duration_since(Instant::now())));
        let wish = listen(channel, ended.as_ref(), left);
        if let (Some(status), _) = processes::reap(main) {
            let why = if over.is_some() || wish.is_some() { Why::Wished } else { Why::Done };
            return (why, Some(status));
        }
        if wish == Some(Wish::Kill) || over.is_some_and(|over| Instant::now() >= over) {
            return (Why::Wished, None);
        }
        if wish == Some(Wish::Terminate) {
            let mut all = processes::descendants(usize::MAX);
            // Bubblewrap would take the tool with it at once.
            all.retain(|pid| own == 0 || *pid != main);
            processes::signal(&all, Signal::TERM);
            if cfg!(not(target_os = "linux")) {
                let _ = rustix::process::kill_process_group(main, Signal::TERM);
            }
            over = Some(Instant::now() + limits.grace.min(LONGEST));
        }
        if looked.elapsed() >= tick {
            let begun = Instant::now();
            let all = processes::descendants(most);
            if all.len() > most {
                return (Why::Overran(Resource::Processes), None);
            }
            if processes::memory(&all) > limits.memory {
                return (Why::Overran(Resource::Memory), None);
            }
            if !disk.is_between() || counted.elapsed() >= DISK_TICK {
                if disk.count(DISK_STEP).0 > limits.disk {
                    return (Why::Overran(Resource::Disk), None);
                }
                counted = Instant::now();
            }
            looked = Instant::now();
            tick = (begun.elapsed() * 10).clamp(TICK, LONGEST_TICK);
        }
    }
}

/// Waits for a word from Karat or the end of the tool, but no longer than `most`. Silence for ever means that Karat is gone.
fn listen(channel: BorrowedFd<'_>, ended: Option<&OwnedFd>, most: Duration) -> Option<Wish> {
    let mut waiting = vec![PollFd::from_borrowed_fd(channel, PollFlags::IN)];
    waiting.extend(ended.map(|ended| PollFd::new(ended, PollFlags::IN)));
    // Where the system has no file that tells of an end, looking often is all that is left.
    let most = if ended.is_some() { most } else { most.min(Duration::from_millis(5)) };
    let timeout = Timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos() as _ };
    if rustix::event::poll(&mut waiting, Some(&timeout)).is_err() {
        return None;
    }
    if waiting.first().is_none_or(|first| first.revents().is_empty()) {
        return None;
    }
    let mut words = [0; 16];
    match rustix::io::read(channel, &mut words) {
        Ok(0) => Some(Wish::Kill),
        Ok(count) => words.iter().take(count).map(|byte| Wish::from_byte(*byte)).max(),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => None,
        Err(_) => Some(Wish::Kill),
    }
}

#[cfg(target_os = "linux")]
fn end_of(main: rustix::process::Pid) -> Option<OwnedFd> {
    rustix::process::pidfd_open(main, rustix::process::PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn end_of(_: rustix::process::Pid) -> Option<OwnedFd> {
    None
}

fn told(status: WaitStatus, in_bubblewrap: bool, limits: &Limits) -> How {
    let signal = status.terminating_signal();
    let code = status.exit_status().unwrap_or_default();
    // Bubblewrap tells a signal as shells do.
    let signal = signal.or_else(|| Some(code - 128).filter(|signal| in_bubblewrap && (1..=64).contains(signal)));
    match signal {
        Some(signal) if signal == Signal::XFSZ.as_raw() => {
            How::Overran(if limits.disk < limits.file_size { Resource::Disk } else { Resource::FileSize })
        }
        Some(signal) => How::Signalled(signal),
        None => How::Exited(code),
    }
}
