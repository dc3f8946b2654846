//! The tool's first process, started by its supervisor.

use super::job::this_executable;
use super::order::{Exec, Launch, Order, Start};
use super::proxy::Upstream;
#[cfg(target_os = "linux")]
use super::user::UNPRIVILEGED;
use super::{bubblewrap, channel, processes};
use rustix::process::Pid;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// A tool that was started.
pub(super) struct Started {
    /// Its first process, or that of bubblewrap around it.
    pub(super) main: Pid,
    /// What bubblewrap says of itself.
    pub(super) bubblewrap: Option<OwnedFd>,
}

impl Started {
    /// Whether the tool itself never came to run, which only bubblewrap knows. To be asked when all is over.
    pub(super) fn never_ran(self) -> bool {
        let Some(status) = self.bubblewrap else { return false };
        let mut said = String::new();
        let _ = std::fs::File::from(status).read_to_string(&mut said);
        // It tells an exit code only where the program was there to have one.
        !said.contains("\"exit-code\"")
    }
}

/// Starts a tool, or says why that is impossible. `announce` hears of its first process before the tool itself runs: a tool may
/// end this process as the first thing it does.
pub(super) fn start(how: Start, exec: Exec, announce: &dyn Fn(Pid)) -> Result<Started, String> {
    match how {
        Start::Launched { changes_user } => start_launcher(Launch { exec, rules: None, changes_user }, announce),
        Start::Bubblewrap { way_out } => start_bubblewrap(exec, way_out, announce).map_err(|error| error.to_string()),
        Start::Confined { rules, changes_user } => {
            start_launcher(Launch { exec, rules: Some(rules), changes_user }, announce)
        }
    }
}

/// Leaves the terminal, restricts this process and becomes the tool. Comes back only to say why it could not.
pub(super) fn become_tool(launch: &Launch) -> String {
    // A session of its own has no terminal to read from, and is a group that the supervisor is not in: who signals its group
    // does not hit it.
    if let Err(error) = rustix::process::setsid() {
        return error.to_string();
    }
    if let Err(why) = restrict(launch) {
        return why;
    }
    match command(&launch.exec) {
        Ok(mut command) => command.exec().to_string(),
        Err(why) => why,
    }
}

#[cfg(target_os = "linux")]
fn restrict(launch: &Launch) -> Result<(), String> {
    use rustix::process::{Signal, set_parent_process_death_signal};
    use rustix::thread::CapabilitySet;
    // Without capabilities, root owns its files and nothing more. With them, it could read the environment of any process past
    // the rules on files: the kernel lets whoever may measure performance read memory.
    for capability in CapabilitySet::all().iter() {
        // Who has none to give up is refused, and has nothing to lose.
        let _ = rustix::thread::remove_capability_from_bounding_set(capability);
    }
    if launch.changes_user {
        become_unprivileged().map_err(|error| format!("root's rights could not be given up: {error}"))?;
    }
    // Should the supervisor be ended from outside, the tool goes with it. A change of user would undo this, so it comes after.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|error| error.to_string())?;
    match &launch.rules {
        Some(rules) => super::confine::restrict(rules),
        // Where no filter can be made, limits alone are what there is.
        None => super::filter::probe().map_or(Ok(()), |()| super::filter::apply(super::filter::Sockets::Any)),
    }
}

/// Gives up root for good. The launcher has one thread, so what holds for its thread holds for the process.
#[cfg(target_os = "linux")]
fn become_unprivileged() -> rustix::io::Result<()> {
    use rustix::process::{Gid, Uid};
    let (user, group) = (Uid::from_raw(UNPRIVILEGED), Gid::from_raw(UNPRIVILEGED));
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_res_gid(group, group, group)?;
    rustix::thread::set_thread_res_uid(user, user, user)
}

#[cfg(not(target_os = "linux"))]
fn restrict(launch: &Launch) -> Result<(), String> {
    if launch.rules.is_some() { Err("this system has no rules to confine a tool with".to_owned()) } else { Ok(()) }
}

fn command(exec: &Exec) -> Result<Command, String> {
    let (program, args) = exec.command.split_first().ok_or("the command is empty")?;
    let mut command = Command::new(program);
    command.args(args).env_clear().envs(exec.env.iter().cloned()).stdin(Stdio::null());
    if let Some(dir) = &exec.dir {
        command.current_dir(dir);
    }
    Ok(command)
}

fn spawn(command: &mut Command) -> Result<Pid, String> {
    let child = command.spawn().map_err(|error| error.to_string())?;
    Ok(Pid::from_child(&child))
}

fn start_bubblewrap(mut exec: Exec, way_out: Option<Upstream>, announce: &dyn Fn(Pid)) -> io::Result<Started> {
    let (status, theirs) = io::pipe()?;
    let (status, theirs) = (OwnedFd::from(status), OwnedFd::from(theirs));
    let filters = filters()?;
    for (at, file) in bubblewrap::FILTERS.into_iter().zip(&filters).chain([(bubblewrap::STATUS, &theirs)]) {
        // Nothing else is started by this process, so nothing else can inherit it.
        rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty())?;
        if let Some(number) = exec.command.get_mut(at) {
            *number = file.as_raw_fd().to_string().into();
        }
    }
    let block = match &way_out {
        None => None,
        Some(_) => {
            let (theirs, ours) = io::pipe()?;
            let theirs = OwnedFd::from(theirs);
            rustix::io::fcntl_setfd(&theirs, rustix::io::FdFlags::empty())?;
            if let Some(number) = exec.command.get_mut(bubblewrap::BLOCK) {
                *number = theirs.as_raw_fd().to_string().into();
            }
            Some((theirs, ours))
        }
    };
    // A group of its own, which can be ended as one.
    let started = command(&exec).and_then(|mut command| spawn(command.process_group(0)));
    let main = started.map_err(io::Error::other)?;
    drop(theirs);
    // Whatever runs in there by now sees no supervisor.
    announce(main);
    if let (Some((_, mut begin)), Some(upstream)) = (block, way_out) {
        if let Err(why) = open_way_out(status.as_fd(), upstream) {
            processes::end_all(main, true);
            return Err(io::Error::other(format!(
                "its network could not be set up: {why}; with `loopback = true` in its manifest it would have that of the machine"
            )));
        }
        io::Write::write_all(&mut begin, b"x")?;
    }
    Ok(Started { main, bubblewrap: Some(status) })
}

/// Puts a proxy into the network name space that bubblewrap has made, as soon as it tells of it.
#[cfg(target_os = "linux")]
fn open_way_out(status: BorrowedFd<'_>, upstream: Upstream) -> Result<(), String> {
    let mut line = Vec::new();
    while line.last() != Some(&b'\n') {
        let mut byte = [0];
        match rustix::io::retry_on_intr(|| rustix::io::read(status, &mut byte)) {
            Ok(1) => line.push(byte[0]),
            Ok(_) => return Err("bubblewrap ended".to_owned()),
            Err(error) => return Err(error.to_string()),
        }
    }
    let told: serde_json::Value = serde_json::from_slice(&line).map_err(|error| error.to_string())?;
    let process = told["child-pid"].as_i64().and_then(|process| i32::try_from(process).ok());
    let process = process.ok_or("bubblewrap does not say which process it started")?;
    let listener = super::name_space::listen_within(process, super::proxy::PORT)?;
    // It ends with this process, which outlives the tool.
    let serving = std::thread::Builder::new().spawn(move || super::proxy::serve(&listener, upstream));
    serving.map(|_| ()).map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
fn open_way_out(_status: BorrowedFd<'_>, _upstream: Upstream) -> Result<(), String> {
    Err("there are no name spaces here".to_owned())
}

/// Files to read the filters from. Namespaces keep a tool from networks, but not from a daemon whose socket is a file.
#[cfg(target_os = "linux")]
fn filters() -> io::Result<Vec<OwnedFd>> {
    use super::filter::{NETWORK, Sockets};
    let filters = super::filter::bytes(Sockets::Families(NETWORK)).map_err(io::Error::other)?;
    let file = |bytes: &Vec<u8>| -> io::Result<OwnedFd> {
        let (read, mut write) = io::pipe()?;
        // It is far smaller than what a pipe holds, so nobody need read yet.
        io::Write::write_all(&mut write, bytes)?;
        Ok(read.into())
    };
    filters.iter().map(file).collect()
}

#[cfg(not(target_os = "linux"))]
fn filters() -> io::Result<Vec<OwnedFd>> {
    Err(io::Error::other("bubblewrap is for Linux"))
}

fn start_launcher(launch: Launch, announce: &dyn Fn(Pid)) -> Result<Started, String> {
    let (ours, theirs) = channel::pair().map_err(|error| error.to_string())?;
    let mut launcher = Command::new(this_executable().map_err(|error| error.to_string())?);
    launcher.args(std::env::args_os().skip(1)).env_clear().stdin(theirs);
    let main = spawn(&mut launcher)?;
    drop(launcher);
    announce(main);
    let said = channel::send(ours.as_fd(), &Order::Launch(launch))
        .and_then(|()| channel::receive::<String>(ours.as_fd()))
        .map_err(|error| error.to_string())?;
    match said {
        // Becoming the tool closes the launcher's end.
        None => Ok(Started { main, bubblewrap: None }),
        Some(why) => {
            let _ = rustix::process::waitpid(Some(main), rustix::process::WaitOptions::empty());
            Err(why)
        }
    }
}
