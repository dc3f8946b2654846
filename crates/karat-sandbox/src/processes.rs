//! Finds, measures and kills the descendants of this process. Systems without `/proc` list nothing that can be read without
//! `unsafe`, so nothing is found there.

use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, getpgid, kill_process, kill_process_group,
};
use std::path::Path;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long to keep killing before giving up on processes such as one that waits for a dead disk.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);

/// Limits a resource of this process and its children, never above the current hard limit.
pub(super) fn set_rlimit(resource: Resource, max: u64) -> rustix::io::Result<()> {
    let max = rustix::process::getrlimit(resource).maximum.map_or(max, |hard| hard.min(max));
    rustix::process::setrlimit(resource, Rlimit { current: Some(max), maximum: Some(max) })
}

/// All descendants of this process, parents before children. The search stops when there are more than `max`.
pub(super) fn descendants(max: usize) -> Vec<Pid> {
    let table = ProcessTable::read();
    let mut found = table.children(rustix::process::getpid());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied().filter(|_| found.len() <= max) {
        found.extend(table.children(pid));
        next += 1;
    }
    found
}

/// Bytes of anonymous and shared memory of all these processes. Mapped files and unmapped files in memory do not count.
pub(super) fn memory(pids: &[Pid]) -> u64 {
    let path = |pid: &Pid| format!("/proc/{}/status", pid.as_raw_nonzero());
    let resident = |pid: &Pid| status_field(Path::new(&path(pid)), &["RssAnon:", "RssShmem:"]);
    pids.iter().filter_map(resident).sum::<u64>() * 1024
}

pub(super) fn count_alive(pids: &[Pid]) -> usize {
    pids.iter().filter(|pid| is_alive(**pid)).count()
}

/// Sends a signal to each process, ignoring those that are gone.
pub(super) fn signal(pids: &[Pid], signal: Signal) {
    for pid in pids {
        let _ = kill_process(*pid, signal);
    }
}

/// Reaps ended children. Returns the status of `main` if it is among them, and whether children are left.
pub(super) fn reap(main: Pid) -> (Option<WaitStatus>, bool) {
    let mut ended = None;
    loop {
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if pid == main => ended = Some(status),
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return (ended, true),
            Err(_) => return (ended, false),
        }
    }
}

/// Kills and reaps all descendants of this process; `false` where some could not be killed. Where `main` is the init process
/// of a PID namespace, the kernel kills the others with it, so only children are killed.
pub(super) fn kill_all(main: Pid, is_namespace_init: bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < GIVE_UP_AFTER {
        if is_namespace_init {
            signal(&ProcessTable::read().children(rustix::process::getpid()), Signal::KILL);
        } else {
            kill_descendants(main);
        }
        let (_, left) = reap(main);
        if !left {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// Kills all descendants that are found now. Killing a whole process group is atomic, so its members cannot outrun it by
/// forking. A process that left its group is found in the next round, since orphans become children of this process.
fn kill_descendants(main: Pid) {
    if cfg!(not(target_os = "linux")) {
        // Where processes cannot be listed, the process group is all that is known.
        let _ = kill_process_group(main, Signal::KILL);
    }
    let (own, table) = (getpgid(None).ok(), ProcessTable::read());
    let mut found = table.children(rustix::process::getpid());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        // Only descendants can share its group, apart from this process itself.
        if let Some(group) = getpgid(Some(pid)).ok().filter(|group| Some(*group) != own) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = kill_process(pid, Signal::KILL);
        found.extend(table.children(pid));
        next += 1;
    }
}

/// Kills what can be found of a tool whose supervisor is gone: members of the session or process group that its first process
/// began, and their descendants. A process that left both and lost its parent is not found.
pub(super) fn kill_session(first: Pid) {
    let start = Instant::now();
    let _ = kill_process_group(first, Signal::KILL);
    while start.elapsed() < GIVE_UP_AFTER {
        let found = find_session(first);
        if found.is_empty() {
            return;
        }
        signal(&found, Signal::KILL);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn find_session(first: Pid) -> Vec<Pid> {
    let number = first.as_raw_nonzero().get();
    let (own, all) = (rustix::process::getpid(), all_processes());
    let is_member = |stat: &Stat| stat.session == number || stat.group == number;
    let mut found: Vec<Pid> = all.iter().filter(|(_, stat)| is_member(stat)).map(|(pid, _)| *pid).collect();
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        let below = all.iter().filter(|(_, stat)| stat.parent == pid.as_raw_nonzero().get()).map(|(pid, _)| *pid);
        let below: Vec<Pid> = below.filter(|pid| !found.contains(pid)).collect();
        found.extend(below);
        next += 1;
    }
    found.retain(|pid| *pid != own && is_alive(*pid));
    found
}

pub(super) fn tasks_of_user(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let own = entries.flatten().filter(|entry| entry.metadata().is_ok_and(|stat| stat.uid() == user));
    own.filter_map(|entry| status_field(&entry.path().join("status"), &["Threads:"])).sum()
}

enum ProcessTable {
    /// The kernel lists children in `/proc`.
    Listed,
    /// The kernel was built without these lists, so this is every process with its parent.
    Parents(Vec<(Pid, i32)>),
}

impl ProcessTable {
    fn read() -> Self {
        static LISTED: OnceLock<bool> = OnceLock::new();
        let own = std::process::id();
        if *LISTED.get_or_init(|| Path::new(&format!("/proc/{own}/task/{own}/children")).exists()) {
            return Self::Listed;
        }
        Self::parents()
    }

    fn parents() -> Self {
        Self::Parents(all_processes().into_iter().map(|(pid, stat)| (pid, stat.parent)).collect())
    }

    fn children(&self, of: Pid) -> Vec<Pid> {
        let of = of.as_raw_nonzero().get();
        match self {
            Self::Parents(all) => all.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid).collect(),
            Self::Listed => {
                let threads = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
                let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
                lists.flat_map(|list| list.split_whitespace().filter_map(parse_pid).collect::<Vec<_>>()).collect()
            }
        }
    }
}

fn parse_pid(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// Fields of `/proc/PID/stat`.
struct Stat {
    state: char,
    parent: i32,
    group: i32,
    session: i32,
}

fn read_stat(pid: Pid) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // The name before it may contain anything, parentheses included.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Stat { state, parent: number()?, group: number()?, session: number()? })
}

fn all_processes() -> Vec<(Pid, Stat)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| parse_pid(entry.file_name().to_str()?));
    pids.filter_map(|pid| Some((pid, read_stat(pid)?))).collect()
}

/// Whether a process exists and is no zombie.
fn is_alive(pid: Pid) -> bool {
    read_stat(pid).is_some_and(|stat| !matches!(stat.state, 'Z' | 'X'))
}

/// The sum of the fields with these names.
fn status_field(path: &Path, names: &[&str]) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let values = text.lines().filter_map(|line| names.iter().find_map(|name| line.strip_prefix(name)));
    Some(values.filter_map(|value| value.trim().trim_end_matches(" kB").parse::<u64>().ok()).sum())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn both_tables_list_the_same_children() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let own = rustix::process::getpid();
        for table in [ProcessTable::read(), ProcessTable::parents()] {
            assert!(table.children(own).contains(&pid));
            assert!(table.children(pid).is_empty());
        }
        assert!(is_alive(pid) && memory(&[pid]) > 0 && tasks_of_user(rustix::process::getuid().as_raw()) >= 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!is_alive(pid) && memory(&[pid]) == 0 && !ProcessTable::parents().children(own).contains(&pid));
    }
}
