//! A server that does not outlive the test process.
//!
//! Test processes end without dropping statics, or are killed. So a shell waits at a pipe that only the test process holds: when the pipe ends, the
//! shell ends the server and removes its folder. The shell is also the parent of the server, so that it can wait for it.

use crate::account::Account;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Arguments: folder, the signal that ends the server, its command line. A signal is repeated, since the first may come before the server handles
/// it, and the last one cannot be ignored.
const SCRIPT: &str = r#"
folder=$1 signal=$2 server=
shift 2
while read -r word; do
  case $word in
    start) "$@" </dev/null >>"$folder/log" 2>&1 & server=$!; echo "$server" ;;
    wait) wait "$server"; server=; echo ended ;;
  esac
done
tries=0
while [ -n "$server" ] && kill -0 "$server"; do
  [ "$tries" -lt 50 ] || signal=KILL
  kill "-$signal" "$server"
  tries=$((tries + 1))
  sleep 0.1
done
rm -rf "$folder"
"#;

/// The variables that a server gets; nothing else of the environment changes what it does.
pub(crate) fn clean(command: &mut Command, folder: &Path) {
    command.env_clear().env("LC_ALL", "C.UTF-8").env("TZ", "UTC").env("HOME", folder).current_dir(folder);
    command.env("PATH", std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin:/usr/sbin:/sbin".into()));
}

/// A folder of a server, open to its account only.
pub(crate) fn new_folder(name: &str, parent: Option<&Path>, account: &Account) -> Result<PathBuf, String> {
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_owned);
    let folder =
        tempfile::Builder::new().prefix(name).permissions(std::fs::Permissions::from_mode(0o700)).tempdir_in(&parent);
    let folder = folder.map_err(|e| format!("cannot create a folder in {}: {e}", parent.display()))?;
    account.give(folder.path())?;
    Ok(folder.keep())
}

/// The shell that guards one server.
pub(crate) struct Guard {
    folder: PathBuf,
    shell: Mutex<Shell>,
}

struct Shell {
    process: Child,
    /// Taken at the end: the end of this pipe ends all.
    requests: Option<ChildStdin>,
    replies: BufReader<ChildStdout>,
    server: Option<Pid>,
}

impl Guard {
    /// Takes over a folder; the server is not started yet.
    pub(crate) fn new(folder: PathBuf, signal: &str, server: &[String]) -> Result<Guard, String> {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).arg(&folder).arg(signal).args(server);
        clean(&mut command, &folder);
        // A process group of its own, so that Ctrl-C does not end the shell before the server.
        command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let failed = |what: &str| format!("cannot start a shell for a server: {what}");
        let mut process = command.spawn().map_err(|e| failed(&e.to_string()))?;
        let requests = process.stdin.take();
        let replies = process.stdout.take().ok_or_else(|| failed("it has no output"))?;
        let shell = Shell { process, requests, replies: BufReader::new(replies), server: None };
        Ok(Guard { folder, shell: Mutex::new(shell) })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Starts the server, if it does not run; its standard streams go to `log` in the folder.
    pub(crate) fn start(&self) -> Result<(), String> {
        let mut shell = self.shell();
        if shell.server.is_some() {
            return Ok(());
        }
        let reply = shell.request("start")?;
        let server = reply.trim().parse().ok().and_then(Pid::from_raw);
        shell.server = Some(server.ok_or_else(|| format!("the shell of a server answered `{reply}`"))?);
        Ok(())
    }

    /// The server's process, if it was started and not ended by this guard.
    pub(crate) fn server(&self) -> Option<Pid> {
        self.shell().server
    }

    /// Whether the server ended by itself. Only known on Linux; elsewhere it becomes known by waiting in vain.
    pub(crate) fn died(&self) -> bool {
        let Some(server) = self.server() else { return true };
        // The shell may or may not have taken note of its end already.
        match std::fs::read_to_string(format!("/proc/{server}/stat")) {
            Ok(stat) => stat.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z')),
            Err(_) => Path::new("/proc/self/stat").exists(),
        }
    }

    /// Ends the server with a signal and waits until it is gone.
    pub(crate) fn end(&self, signal: Signal) -> Result<(), String> {
        let mut shell = self.shell();
        let Some(server) = shell.server.take() else { return Ok(()) };
        // It may be gone already.
        let _ = kill_process(server, signal);
        shell.request("wait").map(drop)
    }

    /// The end of what the server wrote.
    pub(crate) fn log(&self) -> String {
        let log = std::fs::read(self.folder.join("log")).unwrap_or_default();
        let log = String::from_utf8_lossy(&log).into_owned();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(20)..].join("\n")
    }

    fn shell(&self) -> MutexGuard<'_, Shell> {
        self.shell.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shell {
    fn request(&mut self, word: &str) -> Result<String, String> {
        let lost = |e: std::io::Error| format!("the shell of a server is gone: {e}");
        let requests = self.requests.as_mut().ok_or("the shell of a server was ended")?;
        writeln!(requests, "{word}").and_then(|()| requests.flush()).map_err(lost)?;
        let mut reply = String::new();
        self.replies.read_line(&mut reply).map_err(lost)?;
        Ok(reply)
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut shell = self.shell();
        drop(shell.requests.take());
        // Best effort: the shell removes the folder also without being waited for.
        let _ = shell.process.wait();
    }
}
