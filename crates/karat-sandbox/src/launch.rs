//! Starts the tool's first process, in the supervisor and in the launcher that becomes the tool.

use super::protocol::{LaunchRequest, Request, StartMethod, ToolCommand};
use super::proxy::UpstreamProxies;
#[cfg(target_os = "linux")]
use super::system_paths::NOBODY;
use super::{bubblewrap, ipc, processes};
use rustix::process::Pid;
use std::io::{self, PipeReader, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

pub(super) struct StartedTool {
    /// The tool's first process, or bubblewrap's.
    pub(super) main: Pid,
    pub(super) bubblewrap_status: Option<PipeReader>,
}

impl StartedTool {
    /// Whether bubblewrap ran but could not start the tool. Call this only when all processes have ended.
    pub(super) fn never_ran(self) -> bool {
        let Some(mut status) = self.bubblewrap_status else { return false };
        let mut text = String::new();
        let _ = status.read_to_string(&mut text);
        // Bubblewrap reports an exit code only for a program that ran.
        !text.contains("\"exit-code\"")
    }
}

/// Starts a tool, or returns why that is impossible. `announce` is called with its first process before the tool itself runs,
/// since a tool may kill this process as the first thing it does.
pub(super) fn start(method: StartMethod, announce: &dyn Fn(Pid)) -> Result<StartedTool, String> {
    match method {
        StartMethod::Launcher(request) => start_launcher(request, announce),
        StartMethod::Bubblewrap { command, upstream } => {
            start_bubblewrap(command, upstream, announce).map_err(|error| error.to_string())
        }
    }
}

/// Leaves the terminal, restricts this process and becomes the tool. Returns only on failure, with the reason.
pub(super) fn become_tool(request: &LaunchRequest) -> String {
    // A session of its own has no terminal to read from, and a tool that signals its group does not hit the supervisor.
    if let Err(error) = rustix::process::setsid() {
        return error.to_string();
    }
    if let Err(why) = restrict(request) {
        return why;
    }
    build_command(&request.command).map_or_else(|why| why, |mut command| command.exec().to_string())
}

#[cfg(target_os = "linux")]
fn restrict(request: &LaunchRequest) -> Result<(), String> {
    use super::{landlock_rules, seccomp};
    use rustix::process::{Signal, set_parent_process_death_signal};
    use rustix::thread::CapabilitySet;
    // With capabilities, root could read the environment of any process: CAP_PERFMON allows reading memory.
    for capability in CapabilitySet::all().iter() {
        // Fails for an unprivileged user, who has no capabilities to drop.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    if request.changes_user {
        become_nobody().map_err(|error| format!("root's rights could not be given up: {error}"))?;
    }
    // If the supervisor is killed, the tool dies with it. Changing the user resets this, so it comes after.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    match &request.rules {
        Some(rules) => landlock_rules::restrict(rules),
        // On an architecture without filters, only the limits remain.
        None => seccomp::probe().map_or(Ok(()), |()| seccomp::apply(None)),
    }
}

/// Gives up root for good. The launcher is single-threaded, so changing the thread changes the process.
#[cfg(target_os = "linux")]
fn become_nobody() -> rustix::io::Result<()> {
    use rustix::process::{Gid, Uid};
    let user = Uid::from_raw(NOBODY);
    let group = Gid::from_raw(NOBODY);
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

#[cfg(not(target_os = "linux"))]
fn restrict(request: &LaunchRequest) -> Result<(), String> {
    if request.rules.is_some() { Err("this system has no rules to confine a tool with".to_owned()) } else { Ok(()) }
}

fn build_command(tool: &ToolCommand) -> Result<Command, String> {
    let (program, args) = tool.args.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(&tool.env).stdin(Stdio::null());
    if let Some(dir) = &tool.dir {
        command.current_dir(dir);
    }
    Ok(command)
}

/// Lets the child, and nothing else that is started here, inherit `file`, whose number becomes the argument at `index`.
fn pass_file(tool: &mut ToolCommand, index: usize, file: &(impl AsFd + AsRawFd)) -> io::Result<()> {
    rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
    if let Some(number) = tool.args.get_mut(index) {
        *number = file.as_raw_fd().to_string().into();
    }
    Ok(())
}

fn start_bubblewrap(
    mut tool: ToolCommand,
    upstream: Option<UpstreamProxies>,
    announce: &dyn Fn(Pid),
) -> io::Result<StartedTool> {
    let (status, status_writer) = io::pipe()?;
    let filters = seccomp_files()?;
    for (index, file) in bubblewrap::SECCOMP_ARGS.into_iter().zip(&filters) {
        pass_file(&mut tool, index, file)?;
    }
    pass_file(&mut tool, bubblewrap::STATUS_ARG, &status_writer)?;
    let block = upstream.as_ref().map(|_| io::pipe()).transpose()?;
    if let Some((reader, _)) = &block {
        pass_file(&mut tool, bubblewrap::BLOCK_ARG, reader)?;
    }
    // A process group of its own, which can be killed as one.
    let main = Pid::from_child(&build_command(&tool).map_err(io::Error::other)?.process_group(0).spawn()?);
    drop(status_writer);
    // Whatever already runs in the sandbox cannot see the supervisor.
    announce(main);
    if let (Some((_, mut unblock)), Some(upstream)) = (block, upstream) {
        if let Err(why) = start_proxy(status.as_fd(), upstream) {
            processes::kill_all(main, true);
            return Err(io::Error::other(format!(
                "its network could not be set up: {why}; with `loopback = true` in its manifest it would have that of the machine"
            )));
        }
        io::Write::write_all(&mut unblock, b"x")?;
    }
    Ok(StartedTool { main, bubblewrap_status: Some(status) })
}

/// Waits until bubblewrap reports the process it made the network namespace for, and serves a proxy in there.
#[cfg(target_os = "linux")]
fn start_proxy(status: BorrowedFd<'_>, upstream: UpstreamProxies) -> io::Result<()> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        match rustix::io::retry_on_intr(|| rustix::io::read(status, &mut byte))? {
            1 => line.push(byte[0]),
            _ => return Err(io::Error::other("bubblewrap ended")),
        }
    }
    let message: serde_json::Value = serde_json::from_slice(&line)?;
    let process = message["child-pid"].as_i64().and_then(|process| i32::try_from(process).ok());
    let process = process.ok_or_else(|| io::Error::other("bubblewrap does not say which process it started"))?;
    let listener = super::network_namespace::listen_in_namespace(process, super::proxy::PORT)?;
    // The thread ends with this process, which outlives the tool.
    std::thread::Builder::new().spawn(move || super::proxy::serve(&listener, upstream))?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn start_proxy(_status: BorrowedFd<'_>, _upstream: UpstreamProxies) -> io::Result<()> {
    Err(io::Error::other("there are no name spaces here"))
}

/// Pipes from which bubblewrap reads the seccomp filters. Namespaces keep a tool from networks, but not from a daemon whose
/// socket is a file.
#[cfg(target_os = "linux")]
fn seccomp_files() -> io::Result<Vec<PipeReader>> {
    use super::seccomp::{NETWORK_FAMILIES, filter_bytes};
    let filters = filter_bytes(Some(NETWORK_FAMILIES)).map_err(io::Error::other)?;
    let to_pipe = |bytes: &Vec<u8>| -> io::Result<PipeReader> {
        let (read, mut write) = io::pipe()?;
        // A filter is far smaller than a pipe's buffer, so this does not block.
        io::Write::write_all(&mut write, bytes)?;
        Ok(read)
    };
    filters.iter().map(to_pipe).collect()
}

#[cfg(not(target_os = "linux"))]
fn seccomp_files() -> io::Result<Vec<PipeReader>> {
    Err(io::Error::other("bubblewrap is for Linux"))
}

fn start_launcher(request: LaunchRequest, announce: &dyn Fn(Pid)) -> Result<StartedTool, String> {
    let (child, ours) = ipc::spawn_self().map_err(|error| error.to_string())?;
    let main = Pid::from_child(&child);
    announce(main);
    let error = ours.send(&Request::Launch(request)).and_then(|()| ours.receive_or_end::<String>());
    match error.map_err(|error| error.to_string())? {
        // Becoming the tool closes the launcher's end.
        None => Ok(StartedTool { main, bubblewrap_status: None }),
        Some(why) => {
            let _ = rustix::process::waitpid(Some(main), rustix::process::WaitOptions::empty());
            Err(why)
        }
    }
}
