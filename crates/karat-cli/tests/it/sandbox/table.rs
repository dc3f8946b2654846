//! One hostile tool, run by `karat run` in every isolation, by a user and by root: what it can do is the table in
//! `docs/running.md`, which is held against what is seen here. Nothing is written but in the test's own folders.

use super::{is_root, open_to_all};
use crate::project::{Project, Ran, root, skipped};
use crate::run::with_cases;
use karat_sandbox::Isolation;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What is tried, by the name that the script prints, with what it means for a reader. Where the third is set, no sandbox may
/// let it happen.
const TRIED: [(&str, &str, bool); 25] = [
    ("golden", "read the suite's goldens", true),
    ("clone", "read the goldens in a clone of Karat", true),
    ("karat", "read the program `karat`", true),
    ("store", "read the store", true),
    ("key", "read a key in Karat's environment", true),
    ("home", "read your home", true),
    ("shadow", "read `/etc/shadow`", true),
    ("write", "write to a folder that everybody may write to", true),
    ("mode", "change the mode of a file of yours", false),
    ("setting", "open a setting of the machine for writing (`/proc/sys`, …)", true),
    ("names", "see that another file exists", false),
    ("process", "see another process of yours", false),
    ("signal", "end another process of yours", false),
    ("network", "send to an address outside the machine", true),
    ("loopback", "connect to a service on this machine", true),
    ("daemon", "connect to a daemon by its socket file", true),
    ("ptrace", "trace processes (`ptrace`)", true),
    ("namespace", "make a user namespace", true),
    ("keyring", "use the kernel's keyrings", true),
    ("bpf", "load programs into the kernel (`bpf`)", true),
    ("perf", "measure performance (`perf_event_open`)", true),
    ("userfaultfd", "handle page faults (`userfaultfd`)", true),
    ("io_uring", "use `io_uring`", true),
    ("shared", "leave shared memory behind (`shmget`)", true),
    ("handle", "open files by handle", true),
];

/// The tool. It prints `name yes` or `name no` for everything it tries.
const SCRIPT: &str = r##"#!/usr/bin/perl
use Socket;
my $at = 'PROJECT';
sub told { print "$_[0] ", ($_[1] ? "yes" : "no"), "\n" }
sub reads { my ($f, $x); open($f, '<', $_[0]) && sysread($f, $x, 1) }
sub calls { my ($n, @a) = @_; my $r = syscall($n, @a); my $e = $! + 0; $r != -1 || ($e != 1 && $e != 13 && $e != 38) }
told 'golden', reads("$at/suite/cases/case-1/case.yaml");
told 'clone', reads("$at/clone/suites/starter/golden.yaml");
told 'karat', reads('KARAT');
told 'store', scalar grep { reads($_) } glob("$at/.karat/* $at/.karat/*/*");
my $key = 0;
for my $f (glob('/proc/[0-9]*/environ')) { local $/; open(my $e, '<', $f) or next; $key ||= <$e> =~ /MARKER/ }
told 'key', $key;
told 'home', reads("$at/home/notes.txt");
told 'shadow', reads('/etc/shadow');
open(NEW, '>', "$at/everybody/new") && close(NEW);
chmod 0777, "$at/home/notes.txt";
my ($set, @open) = (0, '/proc/sys', '/proc/irq', '/proc/bus', '/proc/acpi', '/proc/sysrq-trigger', '/proc/mtrr', '/sys/kernel');
while (defined(my $p = shift @open)) {
    if (-l $p) { next } elsif (-d $p) { opendir(my $d, $p) or next; push @open, map { "$p/$_" } grep { !/^\.\.?$/ } readdir $d }
    # What everybody may open is of no use to anybody.
    elsif (-f $p && !((stat(_))[2] & 2)) { open(my $f, '>>', $p) && ($set = 1) }
}
told 'setting', $set;
told 'names', -e "$at/suite/karat.toml";
told 'process', -e '/proc/BYSTANDER/comm';
kill 9, BYSTANDER;
told 'network', socket(UDP, AF_INET, SOCK_DGRAM, 0) && connect(UDP, pack_sockaddr_in(9, inet_aton('192.0.2.1')));
told 'loopback', socket(TCP, AF_INET, SOCK_STREAM, 0) && connect(TCP, pack_sockaddr_in(PORT, inet_aton('127.0.0.1')));
told 'daemon', socket(LOCAL, AF_UNIX, SOCK_STREAM, 0) && connect(LOCAL, pack_sockaddr_un("$at/everybody/socket"));
my $room = "\0" x 256;
sub in_child { my $f = shift; my $p = open(my $o, '-|') // return 0; if (!$p) { print $f->() ? 1 : 0; exit } local $/; <$o> }
told 'ptrace', in_child(sub { calls(101, 0, 0, 0, 0) });
told 'namespace', in_child(sub { syscall(272, 0x10000000) == 0 });
told 'keyring', calls(250, 0, -4, 0, 0, 0);
told 'bpf', calls(321, 0, $room, 128);
told 'perf', calls(298, pack('LLQ', 1, 112, 0) . ("\0" x 24) . pack('Q', 0x60) . ("\0" x 100), 0, -1, -1, 0);
told 'userfaultfd', calls(323, 1);
told 'io_uring', calls(425, 1, $room);
my $id = syscall(29, 0, 4096, 0600); told 'shared', $id != -1; syscall(31, $id, 0, 0) if $id != -1;
told 'handle', calls(304, -100, $room, 0);
open(my $out, '>', $ARGV[1]) or die; print {$out} '{"findings":[]}';
"##;

/// Who runs Karat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Runner {
    User,
    Root,
}

/// An id that no account has.
const USER: u32 = 54_321;

/// The project of one run, and what lives beside it while it runs.
struct Stage {
    project: Project,
    bystander: Child,
    _services: (TcpListener, UnixListener),
}

impl Drop for Stage {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

impl Stage {
    fn set(runner: Runner) -> Self {
        let project = with_cases(1).with("clone/suites/starter/golden.yaml", "x").with("home/notes.txt", "x");
        std::fs::create_dir(project.path("everybody")).unwrap();
        open_to_all(&project.path("everybody"));
        let mode = |name: &str, mode| {
            std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        // As they are on most machines.
        mode("", 0o755);
        mode("home", 0o700);
        mode("home/notes.txt", 0o600);
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = project.path("everybody/socket");
        let unix = UnixListener::bind(&socket).unwrap();
        open_to_all(&socket);
        let bystander = as_runner(runner, "sleep").arg("600").spawn().unwrap();
        let values = [
            ("PROJECT", project.path("").canonicalize().unwrap().display().to_string()),
            ("KARAT", env!("CARGO_BIN_EXE_karat").to_owned()),
            // The script must not hold what it looks for in one piece.
            ("MARKER", "key-9[2]17".to_owned()),
            ("BYSTANDER", bystander.id().to_string()),
            ("PORT", tcp.local_addr().unwrap().port().to_string()),
        ];
        let script = values.iter().fold(SCRIPT.to_owned(), |script, (name, value)| script.replace(name, value));
        project.write("tools/probe.pl", script);
        mode("tools/probe.pl", 0o755);
        let manifest = "command = [\"./probe.pl\", \"{checkout}\", \"{output}\"]\nformat = \"karat\"\n";
        project.write("tools/probe.toml", manifest);
        if runner == Runner::User && is_root() {
            give(&project.path(""));
        }
        Self { project, bystander, _services: (tcp, unix) }
    }

    fn karat(&self, runner: Runner, words: &[&str]) -> Ran {
        let mut command = as_runner(runner, env!("CARGO_BIN_EXE_karat"));
        command.args(words).current_dir(self.project.path("")).env("HOME", self.project.path("home"));
        command.env("ANTHROPIC_API_KEY", "key-9217").env_remove("KARAT_STORE");
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What the tool could do, by name; an error where this isolation cannot be had.
    fn try_everything(mut self, runner: Runner, isolation: Isolation) -> Result<BTreeMap<String, bool>, String> {
        let words = ["run", "suite", "--tool", "tools/probe.toml", "--trials", "1", "-q", "--isolation"];
        let ran = self.karat(runner, &[&words[..], &[isolation.as_str()]].concat());
        if ran.err.contains("is not available") || ran.code.is_none() {
            return Err(ran.err);
        }
        let ran = ran.expect(0);
        let out =
            self.karat(runner, &["store", "show", "latest", "--trial", "probe", "case-1", "1", "--artifact", "stdout"]);
        let found = self.found(&out.expect(0).out);
        assert_eq!(found.len(), TRIED.len(), "{runner:?} {isolation:?}: {found:?}\n{}", ran.err);
        Ok(found)
    }

    /// What the same tool can do where nothing keeps it from anything.
    fn try_unconfined(mut self, runner: Runner) -> BTreeMap<String, bool> {
        let mut command = as_runner(runner, self.project.path("tools/probe.pl").to_str().unwrap());
        let output = command.arg("").arg(self.project.path("everybody/result")).output().unwrap();
        self.found(&String::from_utf8_lossy(&output.stdout))
    }

    /// What the tool said it could do, and what can be seen of its doings.
    fn found(&mut self, out: &str) -> BTreeMap<String, bool> {
        let said = out.lines().filter_map(|line| line.split_once(' '));
        let mut found: BTreeMap<String, bool> = said.map(|(name, said)| (name.to_owned(), said == "yes")).collect();
        found.insert("write".to_owned(), self.project.path("everybody/new").exists());
        let mode = std::fs::metadata(self.project.path("home/notes.txt")).unwrap().permissions().mode();
        found.insert("mode".to_owned(), mode & 0o777 == 0o777);
        found.insert("signal".to_owned(), self.has_lost_bystander());
        found
    }

    /// Whether the other process was ended. A signal that was sent has arrived before the tool went on.
    fn has_lost_bystander(&mut self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.bystander.id())).unwrap_or_default();
        self.bystander.try_wait().unwrap().is_some() || stat.contains(") Z ")
    }
}

/// A program started by the user or by root.
fn as_runner(runner: Runner, program: &str) -> Command {
    if runner == Runner::Root || !is_root() {
        let mut command = Command::new(program);
        command.stdin(Stdio::null());
        return command;
    }
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={USER}"), &format!("--regid={USER}"), "--clear-groups", "--", program]);
    command.stdin(Stdio::null());
    command
}

fn give(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            give(&entry.path());
        } else {
            std::os::unix::fs::lchown(entry.path(), Some(USER), Some(USER)).unwrap();
        }
    }
}

/// Whether the kernel's rules keep signals in: from Linux 6.12 on.
fn scopes_signals() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').filter_map(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

/// The columns of the table.
const COLUMNS: [(Isolation, Runner); 6] = [
    (Isolation::Bubblewrap, Runner::User),
    (Isolation::Bubblewrap, Runner::Root),
    (Isolation::Landlock, Runner::User),
    (Isolation::Landlock, Runner::Root),
    (Isolation::Process, Runner::User),
    (Isolation::Process, Runner::Root),
];
const START: &str = "whose tools are an unprivileged user's:\n\n";
const END: &str = "\nWhat is left open:\n";

/// The table, made anew with `KARAT_UPDATE=1`. A column that cannot be seen here stays as it is.
#[test]
fn what_a_hostile_tool_can_do_is_documented() {
    if !cfg!(target_arch = "x86_64") || !Path::new("/usr/bin/perl").exists() {
        return skipped("the numbers of system calls here are not in this test, or there is no perl to make them with");
    }
    let path = root().join("docs/running.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let mut cells: Vec<Vec<String>> = vec![vec!["?".to_owned(); COLUMNS.len()]; TRIED.len()];
    for (line, row) in shown.lines().skip(2).zip(&mut cells) {
        let old = line.split(" | ").skip(1).map(|cell| cell.trim_end_matches(" |").to_owned());
        for (cell, old) in row.iter_mut().zip(old) {
            *cell = old;
        }
    }
    // Where the machine has no way out itself, nothing is learnt about a tool's.
    let has_network = std::net::UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9")).is_ok();
    let unconfined = Stage::set(Runner::User).try_unconfined(Runner::User);
    for name in
        ["golden", "clone", "karat", "home", "names", "process", "loopback", "daemon", "write", "mode", "signal"]
    {
        assert!(unconfined[name], "the script cannot tell `{name}`: {unconfined:?}");
    }
    for (column, (isolation, runner)) in COLUMNS.into_iter().enumerate() {
        if runner == Runner::Root && !is_root() {
            skipped("these tests do not run as root");
            continue;
        }
        match Stage::set(runner).try_everything(runner, isolation) {
            Err(why) => skipped(&format!("{} as {runner:?}: {why}", isolation.as_str())),
            Ok(found) => {
                for ((name, meaning, is_kept), row) in TRIED.iter().zip(&mut cells) {
                    let can = found[*name];
                    assert!(
                        !(can && *is_kept && isolation > Isolation::Process),
                        "{isolation:?} {runner:?}: can {meaning}"
                    );
                    let depends_on_kernel = *name == "signal" && isolation == Isolation::Landlock && !scopes_signals();
                    if (*name != "network" || has_network) && !depends_on_kernel {
                        row[column] = if can { "**yes**" } else { "no" }.to_owned();
                    }
                }
            }
        }
    }
    let titles = COLUMNS.map(|(isolation, runner)| {
        format!("`{}`{}", isolation.as_str(), if runner == Runner::Root { ", root" } else { "" })
    });
    let mut table = format!("| a tool can | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(COLUMNS.len()));
    for ((_, meaning, _), row) in TRIED.iter().zip(&cells) {
        table.push_str(&format!("| {meaning} | {} |\n", row.join(" | ")));
    }
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{START}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "docs/running.md is not what a tool can do here; KARAT_UPDATE=1 writes it anew");
    }
}
