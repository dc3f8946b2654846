//! Builds the bubblewrap command that gives a tool its own file system, processes and network.

use super::installation::locate_program;
use super::isolation::Isolation;
use super::job::{Job, NetworkAccess, root_in_sandbox, tool_folder_in_sandbox};
use super::protocol::ToolCommand;
use super::resolved_access::{ResolvedAccess, within};
use super::system_paths::{
    DEVICES, NOBODY, SystemPath, excluded_system_folders, folders_above_system_paths, is_resolved_system_path,
    system_paths,
};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes of each folder for temporary files. They lie in memory that no limit counts.
const SCRATCH: &str = "67108864";
/// Bytes of the empty folders that cover secret ones.
const EMPTY: &str = "1048576";

/// Indexes of the arguments for file descriptors that are known only when bubblewrap is started: its status,
pub(super) const STATUS_ARG: usize = 2;
/// the seccomp filters,
pub(super) const SECCOMP_ARGS: [usize; 3] = [4, 6, 8];
/// and, where the network is proxied, the pipe bubblewrap waits for before it starts the tool.
pub(super) const BLOCK_ARG: usize = 10;

/// A bubblewrap that works on this system.
#[derive(Clone, Debug)]
pub struct Bubblewrap {
    /// The path of `bwrap`.
    pub program: PathBuf,
    /// The path of `setpriv`, if Karat runs as root and can use it to change the tool's user.
    pub setpriv: Option<PathBuf>,
}

pub(super) fn probe() -> Result<Bubblewrap, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = locate_program(OsStr::new("bwrap"), &path)
        .ok_or("bubblewrap was not found; install the package `bubblewrap` and see that `bwrap` is on the PATH")?;
    try_out(&program, None)?;
    let is_root = rustix::process::geteuid().is_root();
    let setpriv = locate_program(OsStr::new("setpriv"), &path)
        .filter(|setpriv| is_root && try_out(&program, Some(setpriv.as_path())).is_ok());
    Ok(Bubblewrap { program, setpriv })
}

fn try_out(program: &Path, setpriv: Option<&Path>) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(base(NetworkAccess::None, setpriv.is_some()));
    command.args(["--size", EMPTY, "--tmpfs", "/tmp", "--remount-ro", "/dev", "--remount-ro", "/", "--"]);
    command.args(setpriv.map(drop_privileges).unwrap_or_default()).arg("true");
    command.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    match command.stdin(Stdio::null()).stdout(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let stderr = String::from_utf8_lossy(&output.stderr);
            Err(format!(
                "`{}` does not work here ({}); it needs version 0.6 or newer and user namespaces",
                program.display(),
                stderr.lines().next().unwrap_or("no message").trim()
            ))
        }
        Err(error) => Err(format!("`{}` could not be run: {error}", program.display())),
    }
}

fn drop_privileges(setpriv: &Path) -> Vec<OsString> {
    let id = NOBODY;
    let ids = [format!("--reuid={id}"), format!("--regid={id}")].map(OsString::from);
    let rest = ["--clear-groups", "--bounding-set=-all", "--inh-caps=-all", "--no-new-privs", "--"].map(OsString::from);
    std::iter::once(setpriv.into()).chain(ids).chain(rest).collect()
}

/// The command of bubblewrap that runs a job. File descriptors are filled in when it is started.
pub(super) fn command(
    bubblewrap: &Bubblewrap,
    job: &Job,
    access: &ResolvedAccess,
    changes_user: bool,
    env: BTreeMap<String, OsString>,
) -> ToolCommand {
    let setpriv = bubblewrap.setpriv.as_deref().filter(|_| changes_user);
    let mut args = Arguments(vec![(&bubblewrap.program).into(), "--json-status-fd".into(), OsString::new()]);
    for _ in SECCOMP_ARGS {
        args.0.extend(["--add-seccomp-fd".into(), OsString::new()]);
    }
    if access.network == NetworkAccess::External {
        args.0.extend(["--block-fd".into(), OsString::new()]);
    }
    args.0.extend(base(access.network, setpriv.is_some()));
    for path in ["/dev/shm", "/tmp", "/var/tmp"] {
        args.add(&["--perms", "1777", "--size", SCRATCH, "--tmpfs", path]);
    }
    args.add(&["--remount-ro", "/dev"]);
    for path in &access.readable {
        args.bind("--ro-bind", path);
    }
    for (to, at) in &access.links {
        args.parents(at);
        args.pair("--symlink", to, at);
    }
    for path in &access.writable {
        args.bind("--bind", path);
    }
    let is_visible = |secret: &&PathBuf| {
        is_resolved_system_path(secret) || within(secret, &access.readable) || within(secret, &access.writable)
    };
    let hidden = access.secret.iter().filter(is_visible).map(PathBuf::as_path);
    let absent: Vec<&Path> = excluded_system_folders().map(|path| -> &Path { path }).chain(hidden).collect();
    for path in &absent {
        args.mask(path);
    }
    let root = root_in_sandbox(Isolation::Bubblewrap, &access.root);
    args.pair("--bind", &access.root, &root);
    if let Some(tool) = &access.tool {
        let tool_folder = tool_folder_in_sandbox(Isolation::Bubblewrap, &tool.path);
        args.pair(if tool.writable { "--bind" } else { "--ro-bind" }, &tool.path, &tool_folder);
    }
    for path in absent.into_iter().filter(|path| path.is_dir()).chain([Path::new("/")]) {
        args.0.extend(["--remount-ro".into(), path.into()]);
    }
    args.0.extend(["--chdir".into(), root.join(&access.dir).into()]);
    // Variables of the loader would affect bubblewrap itself. The others go through its environment instead of its arguments,
    // which everybody on the machine can read.
    let (loader, env): (BTreeMap<_, _>, _) = env.into_iter().partition(|(name, _)| name.starts_with("LD_"));
    for (name, value) in loader {
        args.0.extend(["--setenv".into(), name.into(), value]);
    }
    args.add(&["--"]);
    args.0.extend(setpriv.map(drop_privileges).unwrap_or_default());
    args.0.extend(job.command.iter().cloned());
    ToolCommand { args: args.0, env, dir: None }
}

/// Parts of `/proc` that change the machine itself. Bubblewrap covers them only where their folder is writable, but root without
/// capabilities may write to the files in them all the same.
const WRITABLE_PROC_PATHS: [&str; 6] =
    ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/mtrr"];

const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// The first arguments of every sandbox. To change the user there is no user namespace, in which no other user would exist.
fn base(network: NetworkAccess, changes_user: bool) -> Vec<OsString> {
    let mut args = vec!["--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-uts"];
    args.push("--unshare-cgroup-try");
    if network != NetworkAccess::Full {
        args.push("--unshare-net");
    }
    args.extend(["--cap-drop", "ALL"]);
    if changes_user {
        args.extend(["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]);
    } else {
        args.push("--unshare-user-try");
    }
    // Folders that bubblewrap creates implicitly are closed to other users.
    let above = folders_above_system_paths();
    for folder in above.iter().filter_map(|folder| folder.to_str()).chain(["/var", "/run"]) {
        args.extend(["--perms", "0755", "--dir", folder]);
    }
    if network == NetworkAccess::External {
        // To make `/dev`, bubblewrap needs a second user namespace, which has no rights in the network of the first.
        args.extend(["--perms", "0755", "--size", EMPTY, "--tmpfs", "/dev"]);
        for device in DEVICES.into_iter().filter(|device| Path::new(device).exists()) {
            args.extend(["--dev-bind", device, device]);
        }
        for (target, at) in DEVICE_LINKS {
            args.extend(["--symlink", target, at]);
        }
    } else {
        args.extend(["--dev", "/dev"]);
    }
    args.extend(["--proc", "/proc"]);
    for path in WRITABLE_PROC_PATHS.into_iter().filter(|path| Path::new(path).exists()) {
        args.extend(["--ro-bind", path, path]);
    }
    let mut args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    for path in system_paths() {
        match path {
            SystemPath::Real(path) => args.extend(["--ro-bind".into(), path.into(), path.into()]),
            SystemPath::Link { at, target } => args.extend(["--symlink".into(), target.into(), at.into()]),
        }
    }
    args
}

struct Arguments(Vec<OsString>);

impl Arguments {
    fn add(&mut self, args: &[&str]) {
        self.0.extend(args.iter().map(OsString::from));
    }

    fn pair(&mut self, option: &str, from: &Path, to: &Path) {
        self.0.extend([option.into(), from.into(), to.into()]);
    }

    fn bind(&mut self, option: &str, path: &Path) {
        self.parents(path);
        self.pair(option, path, path);
    }

    /// Creates the folders above a path that are not the system's, open to every user.
    fn parents(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|folder| folder.parent().is_some()).collect();
        above.reverse();
        for folder in
            above.into_iter().filter(|folder| !is_resolved_system_path(folder) && *folder != Path::new("/tmp"))
        {
            self.add(&["--perms", "0755", "--dir"]);
            self.0.push(folder.into());
        }
    }

    /// Covers a folder with an empty one, and a file with `/dev/null`.
    fn mask(&mut self, path: &Path) {
        if path.is_dir() {
            self.add(&["--size", EMPTY, "--tmpfs"]);
            self.0.push(path.into());
        } else {
            self.pair("--ro-bind", Path::new("/dev/null"), path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What bubblewrap creates by itself is closed to the user that a tool of root runs as.
    #[test]
    fn folders_above_system_paths_are_open_to_every_user() {
        let args = base(NetworkAccess::None, true);
        let is_opened_before = |folder: &Path, end: usize| {
            args[..end]
                .windows(4)
                .any(|words| words[0] == "--perms" && words[1] == "0755" && words[2] == "--dir" && words[3] == folder)
        };
        let mut seen = 0;
        for (i, word) in args.iter().enumerate().filter(|(_, word)| *word == "--ro-bind" || *word == "--symlink") {
            let place = Path::new(&args[i + 2]);
            let above = place.ancestors().skip(1).filter(|folder| folder.parent().is_some());
            for folder in above.filter(|folder| !folder.starts_with("/proc") && !folder.starts_with("/dev")) {
                assert!(is_opened_before(folder, i), "{word:?} {place:?}: {folder:?} would be closed");
                seen += 1;
            }
        }
        assert!(seen > 5, "{args:?}");
    }
}
