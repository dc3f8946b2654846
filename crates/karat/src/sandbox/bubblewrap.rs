//! A file system, processes and a network of its own, set up by bubblewrap.

use super::isolation::Isolation;
use super::job::{Job, seen_root, seen_tool};
use super::order::Exec;
use super::program::locate_program;
use super::system::{SystemPath, is_system, left_out, system};
use super::user::{ToolUser, UNPRIVILEGED};
use super::view::{Reach, Sight, within};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Bytes in each of the places for temporary files. They lie in memory, and nobody counts them among a tool's.
const SCRATCH: &str = "67108864";
/// Bytes in the folders that stand for secret ones, which stay empty.
const EMPTY: &str = "1048576";

/// The word that is to name the file for bubblewrap's state.
pub(super) const STATUS: usize = 2;
/// The words that are to name the files with the filters.
pub(super) const FILTERS: [usize; 2] = [4, 6];
/// The word that is to name the file which is waited for before the tool begins, where there is one.
pub(super) const BLOCK: usize = 8;

/// Bubblewrap, as it can be used here.
#[derive(Clone, Debug)]
pub struct Bubblewrap {
    /// The program.
    pub program: PathBuf,
    /// The program that makes a tool of root's an unprivileged user's; none where Karat is not root or cannot do that.
    pub setpriv: Option<PathBuf>,
}

/// Bubblewrap, if it can do here what is asked of it, or why not.
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

/// Runs a program that does nothing, in the sandbox that tools get.
fn try_out(program: &Path, setpriv: Option<&Path>) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(base(false, Devices::Made, setpriv.is_some()));
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

/// The command that gives up all rights of root before it becomes the tool.
fn drop_privileges(setpriv: &Path) -> Vec<OsString> {
    let id = UNPRIVILEGED;
    let words = [
        format!("--reuid={id}"),
        format!("--regid={id}"),
        "--clear-groups".to_owned(),
        "--bounding-set=-all".to_owned(),
        "--inh-caps=-all".to_owned(),
        "--no-new-privs".to_owned(),
        "--".to_owned(),
    ];
    std::iter::once(setpriv.into()).chain(words.into_iter().map(OsString::from)).collect()
}

/// The command of bubblewrap that runs a job. The words at [`STATUS`] and [`FILTERS`] name the files it tells its state through
/// and reads filters from, which only who starts it can fill in.
pub(super) fn command(
    bubblewrap: &Bubblewrap,
    job: &Job,
    sight: &Sight,
    user: &ToolUser,
    env: Vec<(OsString, OsString)>,
) -> Exec {
    let setpriv = bubblewrap.setpriv.as_deref().filter(|_| *user == ToolUser::Unprivileged);
    let mut args = Arguments(vec![(&bubblewrap.program).into(), "--json-status-fd".into(), OsString::new()]);
    for _ in FILTERS {
        args.0.extend(["--add-seccomp-fd".into(), OsString::new()]);
    }
    if sight.reach == Reach::Elsewhere {
        args.0.extend(["--block-fd".into(), OsString::new()]);
    }
    let devices = match sight.reach {
        Reach::Elsewhere => Devices::Bound,
        Reach::Nothing | Reach::Everything => Devices::Made,
    };
    args.0.extend(base(sight.reach == Reach::Everything, devices, setpriv.is_some()));
    for path in ["/dev/shm", "/tmp", "/var/tmp"] {
        args.add(&["--perms", "1777", "--size", SCRATCH, "--tmpfs", path]);
    }
    args.add(&["--remount-ro", "/dev"]);
    for path in &sight.readable {
        args.bind("--ro-bind", path, path);
    }
    for (to, at) in &sight.links {
        args.parents(at);
        args.pair("--symlink", to, at);
    }
    for path in &sight.writable {
        args.bind("--bind", path, path);
    }
    let seen =
        |secret: &&PathBuf| is_system(secret) || within(secret, &sight.readable) || within(secret, &sight.writable);
    let hidden = sight.secret.iter().filter(seen).map(PathBuf::as_path);
    let absent: Vec<&Path> = left_out().map(|path| -> &Path { path }).chain(hidden).collect();
    for path in &absent {
        args.mask(path);
    }
    let root = seen_root(Isolation::Bubblewrap, &sight.root);
    args.pair("--bind", &sight.root, &root);
    if let Some(tool) = &sight.tool {
        let seen = seen_tool(Isolation::Bubblewrap, &tool.path);
        args.pair(if tool.writable { "--bind" } else { "--ro-bind" }, &tool.path, &seen);
    }
    for path in absent.into_iter().filter(|path| path.is_dir()).chain([Path::new("/")]) {
        args.add(&["--remount-ro"]);
        args.0.push(path.into());
    }
    args.add(&["--chdir"]);
    args.0.push(root.join(&sight.dir).into());
    // What steers the loader would steer bubblewrap too. The rest goes through its environment and not its arguments, which
    // everybody on the machine can read.
    let (loader, env): (Vec<_>, Vec<_>) =
        env.into_iter().partition(|(name, _)| name.as_encoded_bytes().starts_with(b"LD_"));
    for (name, value) in loader {
        args.add(&["--setenv"]);
        args.0.extend([name, value]);
    }
    args.add(&["--"]);
    args.0.extend(setpriv.map(drop_privileges).unwrap_or_default());
    args.0.extend(job.command.iter().cloned());
    Exec { command: args.0, env, dir: None }
}

/// Parts of `/proc` through which the machine itself is changed. Bubblewrap covers them only where their folder can be written,
/// and root without capabilities may write to the files in them all the same.
const CONTROLS: [&str; 6] = ["/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/proc/mtrr"];

/// Where `/dev` comes from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Devices {
    /// Bubblewrap makes it, with terminals. For that it needs a second user namespace, which has no rights in the network that
    /// belongs to the first.
    Made,
    /// The few that every program expects are those of the machine.
    Bound,
}

const DEVICES: [&str; 6] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"];
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// What every sandbox begins with. To change the user, root stays out of a user namespace, in which there would be no other.
fn base(shares_network: bool, devices: Devices, changes_user: bool) -> Vec<OsString> {
    let mut args = vec!["--die-with-parent", "--new-session", "--unshare-ipc", "--unshare-pid", "--unshare-uts"];
    args.push("--unshare-cgroup-try");
    if !shares_network {
        args.push("--unshare-net");
    }
    args.extend(["--cap-drop", "ALL"]);
    if changes_user {
        args.extend(["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP"]);
    } else {
        args.push("--unshare-user-try");
    }
    // Folders that bubblewrap makes on its own are closed to other users.
    for folder in ["/etc", "/etc/ssl", "/etc/pki", "/etc/pki/ca-trust", "/etc/pki/tls", "/var", "/run", "/sys"] {
        args.extend(["--perms", "0755", "--dir", folder]);
    }
    for folder in ["/sys/devices", "/sys/devices/system", "/nix", "/gnu"] {
        args.extend(["--perms", "0755", "--dir", folder]);
    }
    match devices {
        Devices::Made => args.extend(["--dev", "/dev"]),
        Devices::Bound => {
            args.extend(["--perms", "0755", "--size", EMPTY, "--tmpfs", "/dev"]);
            for device in DEVICES.into_iter().filter(|device| Path::new(device).exists()) {
                args.extend(["--dev-bind", device, device]);
            }
            for (target, at) in DEVICE_LINKS {
                args.extend(["--symlink", target, at]);
            }
        }
    }
    args.extend(["--proc", "/proc"]);
    for path in CONTROLS.into_iter().filter(|path| Path::new(path).exists()) {
        args.extend(["--ro-bind", path, path]);
    }
    let mut args: Vec<OsString> = args.into_iter().map(OsString::from).collect();
    for path in system() {
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

    /// Binds a path below folders that every user can pass.
    fn bind(&mut self, option: &str, from: &Path, to: &Path) {
        self.parents(to);
        self.pair(option, from, to);
    }

    /// Makes the folders above a path, those of the system excepted, which are there.
    fn parents(&mut self, path: &Path) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).filter(|folder| folder.parent().is_some()).collect();
        above.reverse();
        for folder in above.into_iter().filter(|folder| !is_system(folder) && *folder != Path::new("/tmp")) {
            self.add(&["--perms", "0755", "--dir"]);
            self.0.push(folder.into());
        }
    }

    /// Puts an empty folder over a folder, and nothing over a file.
    fn mask(&mut self, path: &Path) {
        if path.is_dir() {
            self.add(&["--size", EMPTY, "--tmpfs"]);
            self.0.push(path.into());
        } else {
            self.pair("--ro-bind", Path::new("/dev/null"), path);
        }
    }
}
