//! Slurm on one host.

use crate::account::Account;
use crate::guard::{self, Guard};
use crate::{find_program, port, wait_for};
use rustix::process::Signal;
use std::path::Path;
use std::process::Command;

/// Starts the three daemons and ends all of them if one ends. What slurmd started outlives it by design, and is known by its variable.
const DAEMONS: &str = r#"
folder=$1 host=$2 PATH=$PATH:/usr/sbin
end() {
  trap - TERM
  kill $daemons 2>/dev/null
  for process in /proc/[0-9]*; do
    if grep -qszF "SLURM_CONF=$folder/slurm.conf" "$process/environ"; then kill -KILL "${process#/proc/}" 2>/dev/null; fi
  done
  wait
  exit 0
}
trap end TERM
munged --foreground --force --key-file="$folder/key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
  --seed-file="$folder/seed" --log-file="$folder/munged.log" &
daemons=$!
while [ ! -S "$folder/munge.socket" ]; do
  kill -0 "$daemons" 2>/dev/null || exit 1
  sleep 0.05
done
slurmctld -D -f "$folder/slurm.conf" &
daemons="$daemons $!"
slurmd -D -f "$folder/slurm.conf" -N "$host" &
daemons="$daemons $!"
wait
"#;

/// A cluster of this machine with munge, slurmctld and slurmd, and one partition. Jobs run as the user of the tests.
pub struct Slurm {
    guard: Guard,
}

impl Slurm {
    /// Starts a cluster of one node with four processors, whatever this machine has.
    ///
    /// # Errors
    /// Why there is none, for `skipped: …`.
    pub fn start() -> Result<Slurm, String> {
        for program in ["munged", "slurmctld", "slurmd", "sbatch"] {
            find_program(program)
                .ok_or_else(|| format!("{program} is not installed; help: install Debian's package slurm-wlm"))?;
        }
        // Daemons of Slurm run as root or as the user that submits jobs.
        let folder = guard::new_folder("karat-slurm-", None, &Account::current())?;
        let user = if rustix::process::geteuid().is_root() { "root".to_owned() } else { user_name()? };
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let host = host.split('.').next().unwrap_or_default().to_owned();
        configure(&folder, &user, &host)?;
        let script = ["sh", "-c", DAEMONS, "sh"].map(str::to_owned).into_iter();
        let daemons: Vec<String> = script.chain([folder.display().to_string(), host]).collect();
        let slurm = Slurm { guard: Guard::new(folder, "TERM", &daemons)? };
        slurm.guard.start()?;
        let ready = wait_for("the node of Slurm is idle", || {
            let dead = slurm.guard.died().then_some(false);
            let state = slurm.command("sinfo").args(["--noheader", "--format=%T"]).output();
            let idle = state.is_ok_and(|output| output.stdout.trim_ascii() == b"idle");
            dead.or_else(|| idle.then_some(true))
        });
        if ready == Ok(true) {
            return Ok(slurm);
        }
        slurm.guard.end(Signal::TERM)?;
        Err(format!("Slurm does not start:\n{}", slurm.guard.log()))
    }

    /// A program of Slurm, such as `sbatch`, that asks this cluster.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(find_program(program).unwrap_or_else(|| program.into()));
        command.env("SLURM_CONF", self.guard.folder().join("slurm.conf"));
        command
    }

    /// The end of what the daemons wrote.
    pub fn log(&self) -> String {
        self.guard.log()
    }
}

fn configure(folder: &Path, user: &str, host: &str) -> Result<(), String> {
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        let written = std::fs::write(&path, bytes)
            .and_then(|()| std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)));
        written.map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    // A key for one test on loopback need not be secret.
    write("key", &[7; 128])?;
    // So that a cgroup of the system is not looked for.
    write("cgroup.conf", b"CgroupPlugin=autodetect\nConstrainCores=no\n")?;
    for name in ["state", "spool"] {
        std::fs::create_dir(folder.join(name))
            .map_err(|e| format!("cannot create {name} in {}: {e}", folder.display()))?;
    }
    let at = folder.display();
    let text = format!(
        "ClusterName=karat\nSlurmctldHost={host}(127.0.0.1)\nSlurmUser={user}\nSlurmdUser={user}\n\
         SlurmctldPort={}\nSlurmdPort={}\nAuthType=auth/munge\nAuthInfo=socket={at}/munge.socket\nCredType=cred/munge\n\
         StateSaveLocation={at}/state\nSlurmdSpoolDir={at}/spool\nSlurmctldPidFile={at}/slurmctld.pid\nSlurmdPidFile={at}/slurmd.pid\n\
         ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\n\
         MpiDefault=none\nReturnToService=2\nSlurmdParameters=config_overrides\nSchedulerParameters=sched_min_interval=0\nKillWait=5\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=100000 State=UNKNOWN\nPartitionName=karat Nodes=ALL Default=YES State=UP\n",
        port::free()?,
        port::free()?,
    );
    write("slurm.conf", text.as_bytes())
}

fn user_name() -> Result<String, String> {
    let output = Command::new("id").arg("-un").output().map_err(|e| format!("cannot start id: {e}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
