//! The processes below this one: finding, measuring and ending them.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, getpgid, kill_process, kill_process_group};
#[cfg(target_os = "linux")]
use std::path::Path;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long processes are ended over and over before whoever is left is given up, such as one that waits for a dead disk.
const PATIENCE: Duration = Duration::from_secs(10);

/// Everything below this process, parents before children; no more are looked for once there are more than `most`.
pub(super) fn descendants(most: usize) -> Vec<Pid> {
    let table = Table::read();
    let mut found = table.children(rustix::process::getpid());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied().filter(|_| found.len() <= most) {
        found.extend(table.children(pid));
        next += 1;
    }
    found
}

/// Bytes of memory that processes fill together: their own and what they have mapped to share. Files they read are left aside,
/// and so is what lies in memory as a file that nobody has mapped.
pub(super) fn memory(pids: &[Pid]) -> u64 {
    pids.iter().map(|pid| memory_of(*pid)).sum()
}

/// How many of them have not ended.
pub(super) fn living(pids: &[Pid]) -> usize {
    pids.iter().filter(|pid| lives(**pid)).count()
}

/// Sends a signal to each of them. Who is gone by now needs none.
pub(super) fn signal(pids: &[Pid], signal: Signal) {
    for pid in pids {
        let _ = kill_process(*pid, signal);
    }
}

/// Collects whoever has ended, and gives how `main` did when it is among them. The second value says whether anybody is left.
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

/// What became of everything below this process.
pub(super) struct Gone {
    /// How the first of them ended, where it had not before.
    pub(super) main: Option<WaitStatus>,
    /// Whether somebody cannot be ended.
    pub(super) left: bool,
}

/// Ends everything below this process, and collects it. Where `main` takes all others with it, as the first process of a
/// namespace does, nobody else is looked for.
pub(super) fn end_all(main: Pid, takes_all: bool) -> Gone {
    let begun = Instant::now();
    let mut gone = Gone { main: None, left: true };
    while gone.left && begun.elapsed() < PATIENCE {
        if takes_all {
            signal(&Table::read().children(rustix::process::getpid()), Signal::KILL);
        } else {
            sweep(main);
        }
        let (found, left) = reap(main);
        gone.main = gone.main.or(found);
        gone.left = left;
        if left {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    gone
}

/// Ends whoever is found below this process. Whole groups are ended at one stroke, which nobody in them can outrun by starting
/// others. Who left its group in time is found in the next round, for orphans come to this process.
fn sweep(main: Pid) {
    if cfg!(not(target_os = "linux")) {
        // Where processes cannot be listed, the group is all there is to name.
        let _ = kill_process_group(main, Signal::KILL);
    }
    let (own, table) = (getpgid(None).ok(), Table::read());
    let mut found = table.children(rustix::process::getpid());
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        // Only what lies below can be in a group with it, save this very process.
        if let Some(group) = getpgid(Some(pid)).ok().filter(|group| Some(*group) != own) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = kill_process(pid, Signal::KILL);
        found.extend(table.children(pid));
        next += 1;
    }
}

/// Ends what can be found of a tool whose supervisor is gone, given its first process: who is in the session or the group it
/// began, and who is below these. Whoever left both before, and lost its parent, is not found.
pub(super) fn end_session(first: Pid) {
    let begun = Instant::now();
    let _ = kill_process_group(first, Signal::KILL);
    while begun.elapsed() < PATIENCE {
        let found = session(first);
        if found.is_empty() {
            return;
        }
        signal(&found, Signal::KILL);
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[cfg(target_os = "linux")]
fn session(first: Pid) -> Vec<Pid> {
    let number = first.as_raw_nonzero().get();
    let (own, all) = (rustix::process::getpid(), everybody());
    let begun_by = |about: &Stat| about.session == number || about.group == number;
    let mut found: Vec<Pid> = all.iter().filter(|(_, about)| begun_by(about)).map(|(pid, _)| *pid).collect();
    let mut next = 0;
    while let Some(pid) = found.get(next).copied() {
        let below = all.iter().filter(|(_, about)| about.parent == pid.as_raw_nonzero().get()).map(|(pid, _)| *pid);
        let below: Vec<Pid> = below.filter(|pid| !found.contains(pid)).collect();
        found.extend(below);
        next += 1;
    }
    found.retain(|pid| *pid != own && lives(*pid));
    found
}

#[cfg(not(target_os = "linux"))]
fn session(_: Pid) -> Vec<Pid> {
    Vec::new()
}

/// Processes and threads that a user has.
#[cfg(target_os = "linux")]
pub(super) fn tasks_of_user(user: u32) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let Ok(entries) = std::fs::read_dir("/proc") else { return 0 };
    let own = entries.flatten().filter(|entry| entry.metadata().is_ok_and(|about| about.uid() == user));
    own.filter_map(|entry| status_field(&entry.path().join("status"), &["Threads:"])).sum()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn tasks_of_user(_: u32) -> u64 {
    0
}

/// Who is whose child.
#[cfg(target_os = "linux")]
enum Table {
    /// The kernel lists the children of each thread.
    Listed,
    /// The kernel was built without these lists: every process with its parent.
    Parents(Vec<(Pid, i32)>),
}

#[cfg(target_os = "linux")]
impl Table {
    fn read() -> Self {
        static LISTED: OnceLock<bool> = OnceLock::new();
        let own = std::process::id();
        if *LISTED.get_or_init(|| Path::new(&format!("/proc/{own}/task/{own}/children")).exists()) {
            return Self::Listed;
        }
        Self::parents()
    }

    fn parents() -> Self {
        Self::Parents(everybody().into_iter().map(|(pid, about)| (pid, about.parent)).collect())
    }

    fn children(&self, of: Pid) -> Vec<Pid> {
        let of = of.as_raw_nonzero().get();
        match self {
            Self::Parents(all) => all.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid).collect(),
            Self::Listed => {
                let threads = std::fs::read_dir(format!("/proc/{of}/task")).into_iter().flatten().flatten();
                let lists = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok());
                lists.flat_map(|list| list.split_whitespace().filter_map(parse).collect::<Vec<_>>()).collect()
            }
        }
    }
}

/// Other systems tell nothing that could be read without `unsafe`.
#[cfg(not(target_os = "linux"))]
struct Table;

#[cfg(not(target_os = "linux"))]
impl Table {
    fn read() -> Self {
        Self
    }

    fn children(&self, _: Pid) -> Vec<Pid> {
        Vec::new()
    }
}

#[cfg(target_os = "linux")]
fn parse(text: &str) -> Option<Pid> {
    Pid::from_raw(text.parse().ok()?)
}

/// What the kernel tells of a process.
#[cfg(target_os = "linux")]
struct Stat {
    state: char,
    parent: i32,
    group: i32,
    session: i32,
}

#[cfg(target_os = "linux")]
fn stat(pid: Pid) -> Option<Stat> {
    let text = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    // After the name, which may hold anything, come the state and the numbers.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    let state = fields.next()?.chars().next()?;
    let mut number = || fields.next()?.parse().ok();
    Some(Stat { state, parent: number()?, group: number()?, session: number()? })
}

/// All processes there are.
#[cfg(target_os = "linux")]
fn everybody() -> Vec<(Pid, Stat)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| parse(entry.file_name().to_str()?));
    pids.filter_map(|pid| Some((pid, stat(pid)?))).collect()
}

/// Whether a process is there and has not ended.
#[cfg(target_os = "linux")]
fn lives(pid: Pid) -> bool {
    stat(pid).is_some_and(|about| !matches!(about.state, 'Z' | 'X'))
}

#[cfg(target_os = "linux")]
fn memory_of(pid: Pid) -> u64 {
    let path = format!("/proc/{}/status", pid.as_raw_nonzero());
    status_field(Path::new(&path), &["RssAnon:", "RssShmem:"]).unwrap_or(0) * 1024
}

/// The sum of the numbers behind `names`.
#[cfg(target_os = "linux")]
fn status_field(path: &Path, names: &[&str]) -> Option<u64> {
    let text = std::fs::read_to_string(path).ok()?;
    let value = |line: &str| {
        let rest = names.iter().find_map(|name| line.strip_prefix(name))?;
        rest.trim().trim_end_matches(" kB").parse::<u64>().ok()
    };
    Some(text.lines().filter_map(value).sum())
}

#[cfg(not(target_os = "linux"))]
fn lives(_: Pid) -> bool {
    false
}

#[cfg(not(target_os = "linux"))]
fn memory_of(_: Pid) -> u64 {
    0
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn both_ways_find_the_same_children() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        let own = rustix::process::getpid();
        for table in [Table::read(), Table::parents()] {
            assert!(table.children(own).contains(&pid));
            assert!(table.children(pid).is_empty());
        }
        assert!(lives(pid) && memory(&[pid]) > 0 && tasks_of_user(rustix::process::getuid().as_raw()) >= 2);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!lives(pid) && memory(&[pid]) == 0 && !Table::parents().children(own).contains(&pid));
    }
}
