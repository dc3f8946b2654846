//! A cgroup for each trial, where this process may create cgroups. The kernel then enforces exactly what is otherwise sampled,
//! and counts what cannot be sampled: memory of unnamed files, and threads.

use super::isolation::Isolation;
use super::job::Limits;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const CONTROLLERS: [&str; 2] = ["memory", "pids"];
/// The period of `cpu.max`, in microseconds.
const CPU_PERIOD: u64 = 100_000;
/// The group that this process moves to, since a group with limited subgroups may hold no processes itself.
const OWN_GROUP: &str = "karat";
/// How long the kernel may take to release the last process of a group.
const GIVE_UP_AFTER: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    parent: PathBuf,
    own_group: PathBuf,
}

/// A note for the description of a run's isolation: how memory and processes are limited.
pub fn describe_limits(isolation: Isolation) -> String {
    // A plain process of the same user may write to the group's files.
    let can_leave = isolation == Isolation::Process && !rustix::process::geteuid().is_root();
    match tree() {
        Ok(_) if can_leave => "limits by cgroup, which the tool can change".to_owned(),
        Ok(_) => "limits by cgroup".to_owned(),
        Err(why) => format!("limits by sampling ({why})"),
    }
}

/// Where groups can be created, or why they cannot. Determined once.
pub(super) fn tree() -> Result<&'static Tree, &'static str> {
    static FOUND: OnceLock<Result<Tree, &'static str>> = OnceLock::new();
    FOUND.get_or_init(find).as_ref().map_err(|why| *why)
}

fn find() -> Result<Tree, &'static str> {
    const ABSENT: &str = "no cgroup v2";
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let own = groups.lines().find_map(|line| line.strip_prefix("0::/")).ok_or(ABSENT)?;
    let is_mount = |fields: &Vec<&str>| fields.get(2) == Some(&"cgroup2");
    let mount = mounts.lines().map(|line| line.split(' ').collect()).find(is_mount).ok_or(ABSENT)?;
    let top = mount.get(1).ok_or(ABSENT)?;
    enable(&Path::new(top).join(own), std::process::id())
}

/// Prepares a group to have limited subgroups. Only a group that holds no other process is changed.
fn enable(group: &Path, process: u32) -> Result<Tree, &'static str> {
    let has_both = |group: &Path, file: &str| {
        let text = fs::read_to_string(group.join(file)).unwrap_or_default();
        CONTROLLERS.iter().all(|name| text.split_whitespace().any(|word| word == *name))
    };
    // An earlier run from the same shell has created this group and prepared its parent.
    if let Some(parent) = group.parent().filter(|_| group.ends_with(OWN_GROUP))
        && parent.join("cgroup.type").exists()
        && has_both(parent, "cgroup.subtree_control")
    {
        remove_stale_groups(parent);
        return Ok(Tree { parent: parent.to_owned(), own_group: group.to_owned() });
    }
    if !has_both(group, "cgroup.controllers") {
        return Err("no cgroup v2 controllers");
    }
    // Only the root group has no type.
    if !group.join("cgroup.type").exists() {
        return Err("the cgroup is that of the whole machine");
    }
    if has_both(group, "cgroup.subtree_control") {
        remove_stale_groups(group);
        return Ok(Tree { parent: group.to_owned(), own_group: group.to_owned() });
    }
    let processes = fs::read_to_string(group.join("cgroup.procs")).unwrap_or_default();
    if processes.split_whitespace().ne([process.to_string().as_str()]) {
        return Err("the cgroup is shared");
    }
    let own_group = group.join(OWN_GROUP);
    let moved = || -> io::Result<()> {
        fs::create_dir_all(&own_group)?;
        fs::write(own_group.join("cgroup.procs"), process.to_string())?;
        fs::write(group.join("cgroup.subtree_control"), CONTROLLERS.map(|name| format!("+{name}")).join(" "))
    };
    if moved().is_err() {
        let _ = fs::write(group.join("cgroup.procs"), process.to_string());
        let _ = fs::remove_dir(&own_group);
        return Err("the cgroup is read-only");
    }
    // Optional: without it processors are limited by affinity.
    let _ = fs::write(group.join("cgroup.subtree_control"), "+cpu");
    Ok(Tree { parent: group.to_owned(), own_group })
}

/// Removes the groups of killed Karat processes. The kernel refuses to remove a group in use.
fn remove_stale_groups(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let owner = name.strip_prefix(OWN_GROUP).and_then(|rest| rest.strip_prefix('-')?.split('-').next());
        let owner = owner.and_then(|pid| pid.parse::<u32>().ok());
        if owner.is_some_and(|pid| !Path::new("/proc").join(pid.to_string()).exists()) {
            remove_group(&entry.path());
        }
    }
}

fn remove_group(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_group(&entry.path());
        }
    }
    let _ = fs::remove_dir(path);
}

/// The cgroup of one trial. Dropping it kills its processes and removes it.
pub(super) struct Cgroup(pub(super) CgroupHandle);

impl Cgroup {
    pub(super) fn create(tree: &Tree, limits: &Limits, tasks: u64) -> io::Result<Self> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let group = loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let group = tree.parent.join(format!("{OWN_GROUP}-{}-{number}", std::process::id()));
            match fs::create_dir(&group) {
                // A killed process with the same id may have left one.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            break group;
        };
        let mut made = Self(CgroupHandle { group, own_group: tree.own_group.clone(), limits_cpus: false });
        let CgroupHandle { group, limits_cpus, .. } = &mut made.0;
        fs::write(group.join("pids.max"), tasks.to_string())?;
        // Kernels without swap have no such file.
        let _ = fs::write(group.join("memory.swap.max"), "0");
        if let Some(cpus) = limits.cpus {
            let share = format!("{} {CPU_PERIOD}", u64::from(cpus) * CPU_PERIOD);
            *limits_cpus = fs::write(group.join("cpu.max"), share).is_ok();
        }
        Ok(made)
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        let begun = Instant::now();
        self.0.kill();
        while self.0.group.exists() && begun.elapsed() < GIVE_UP_AFTER {
            remove_group(&self.0.group);
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

/// What the supervisor needs to put a tool into a cgroup.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct CgroupHandle {
    group: PathBuf,
    own_group: PathBuf,
    pub(super) limits_cpus: bool,
}

impl CgroupHandle {
    /// Moves this process into the group, so that its children start there.
    pub(super) fn enter(&self) -> io::Result<()> {
        fs::write(self.group.join("cgroup.procs"), "0")
    }

    /// Moves this process back; its children stay. Only then memory is limited, lest this process is killed with the tool.
    pub(super) fn leave(&self, memory: u64) -> io::Result<()> {
        fs::write(self.own_group.join("cgroup.procs"), "0")?;
        // Killing one of many processes would look like a failure of that process.
        let _ = fs::write(self.group.join("memory.oom.group"), "1");
        fs::write(self.group.join("memory.max"), memory.to_string())
    }

    /// Kills all processes of the group at once, faster than they can start others.
    pub(super) fn kill(&self) {
        let _ = fs::write(self.group.join("cgroup.kill"), "1");
    }

    pub(super) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.group.join("memory.events")).unwrap_or_default();
        events.lines().find_map(|line| line.strip_prefix("oom_kill ")).is_some_and(|count| count.trim() != "0")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with the files of a cgroup.
    fn group(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        folder
    }

    #[test]
    fn shared_groups_are_not_changed() {
        let both = ("cgroup.controllers", "cpu memory pids\n");
        let check = |files: &[(&str, &str)], expect: Result<&str, &str>, enabled: &str| {
            let folder = group(files);
            let found = enable(folder.path(), 7);
            assert_eq!(
                found.as_ref().map(|tree| tree.own_group.strip_prefix(folder.path()).unwrap()).map_err(|why| *why),
                expect.map(Path::new)
            );
            let written = fs::read_to_string(folder.path().join("cgroup.subtree_control")).unwrap_or_default();
            assert_eq!(written, enabled);
        };
        let shared = Err("the cgroup is shared");
        check(&[], Err("no cgroup v2 controllers"), "");
        check(&[("cgroup.controllers", "memory cpu")], Err("no cgroup v2 controllers"), "");
        let enabled = ("cgroup.subtree_control", "pids memory");
        check(&[both, enabled, ("cgroup.type", "domain")], Ok(""), "pids memory");
        check(&[both, enabled], Err("the cgroup is that of the whole machine"), "pids memory");
        check(&[both, ("cgroup.type", "domain"), ("cgroup.procs", "7\n8\n")], shared, "");
    }

    #[test]
    fn group_of_an_earlier_run_is_reused() {
        let folder = group(&[("cgroup.type", "domain"), ("cgroup.subtree_control", "memory pids")]);
        let own_group = folder.path().join(OWN_GROUP);
        fs::create_dir(&own_group).unwrap();
        assert_eq!(enable(&own_group, 7), Ok(Tree { parent: folder.path().to_owned(), own_group }));
    }

    #[test]
    fn group_has_the_limits_of_its_trial() {
        let folder = group(&[]);
        let tree = Tree { parent: folder.path().to_owned(), own_group: folder.path().to_owned() };
        let limits = Limits { memory: 4096, cpus: Some(3), ..Limits::default() };
        let group = Cgroup::create(&tree, &limits, 50).unwrap();
        let handle = &group.0;
        let read = |name: &str| fs::read_to_string(handle.group.join(name)).unwrap();
        assert_eq!([read("pids.max"), read("memory.swap.max")], ["50", "0"]);
        assert_eq!((read("cpu.max").as_str(), handle.limits_cpus), ("300000 100000", true));
        handle.enter().unwrap();
        assert_eq!(read("cgroup.procs"), "0");
        handle.leave(limits.memory).unwrap();
        assert_eq!([read("memory.max"), read("memory.oom.group")], ["4096", "1"]);
        assert_eq!(fs::read_to_string(folder.path().join("cgroup.procs")).unwrap(), "0");
        for (events, expect) in [("max 3\noom_kill 0\n", false), ("oom 1\noom_kill 2\n", true), ("", false)] {
            fs::write(handle.group.join("memory.events"), events).unwrap();
            assert_eq!(handle.ran_out_of_memory(), expect, "{events}");
        }
        // A plain folder has files and is therefore not removed.
        fs::remove_dir_all(&handle.group).unwrap();
    }

    #[test]
    fn stale_groups_are_removed_with_their_subgroups() {
        let folder = group(&[]);
        // Larger than any process id.
        for name in ["karat-4294967295-0/sub/sub", "karat-4294967295-1", "karat", "other"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let own = format!("karat-{}-7", std::process::id());
        fs::create_dir(folder.path().join(&own)).unwrap();
        remove_stale_groups(folder.path());
        let left = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut left: Vec<String> = left.collect();
        left.sort();
        assert_eq!(left, ["karat", &own, "other"]);
    }
}
