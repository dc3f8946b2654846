//! Runs one hostile tool with `karat run` in every isolation, as a user and as root, and compares what it can do with
//! the table in `docs/running.md`. Writes only to the test's own folders.

use super::{is_root, open_to_all};
use crate::project::{CommandOutput, Project, report_skipped, root};
use crate::run::with_cases;
use karat_sandbox::Isolation;
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What is tried: the name that the script prints, the text for readers, and whether every sandbox must prevent it.
const ATTEMPTS: [(&str, &str, bool); 25] = [
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

/// The tool. It prints `name yes` or `name no` for each attempt.
const SCRIPT: &str = r##"#!/usr/bin/perl
use Socket;
my $at = 'PROJECT';
sub report { print "$_[0] ", ($_[1] ? "yes" : "no"), "\n" }
sub reads { my ($f, $x); open($f, '<', $_[0]) && sysread($f, $x, 1) }
sub calls { my ($n, @a) = @_; my $r = syscall($n, @a); my $e = $! + 0; $r != -1 || ($e != 1 && $e != 13 && $e != 38) }
report 'golden', reads("$at/suite/cases/case-1/case.yaml");
report 'clone', reads("$at/clone/suites/starter/golden.yaml");
report 'karat', reads('KARAT');
report 'store', scalar grep { reads($_) } glob("$at/.karat/* $at/.karat/*/*");
my $key = 0;
for my $f (glob('/proc/[0-9]*/environ')) { local $/; open(my $e, '<', $f) or next; $key ||= <$e> =~ /MARKER/ }
report 'key', $key;
report 'home', reads("$at/home/notes.txt");
report 'shadow', reads('/etc/shadow');
open(NEW, '>', "$at/everybody/new") && close(NEW);
chmod 0777, "$at/home/notes.txt";
my ($set, @open) = (0, '/proc/sys', '/proc/irq', '/proc/bus', '/proc/acpi', '/proc/sysrq-trigger', '/proc/mtrr', '/sys/kernel');
while (defined(my $p = shift @open)) {
    if (-l $p) { next } elsif (-d $p) { opendir(my $d, $p) or next; push @open, map { "$p/$_" } grep { !/^\.\.?$/ } readdir $d }
    # Files that are world-writable do not count.
    elsif (-f $p && !((stat(_))[2] & 2)) { open(my $f, '>>', $p) && ($set = 1) }
}
report 'setting', $set;
report 'names', -e "$at/suite/karat.toml";
report 'process', -e '/proc/BYSTANDER/comm';
kill 9, BYSTANDER;
report 'network', socket(UDP, AF_INET, SOCK_DGRAM, 0) && connect(UDP, pack_sockaddr_in(9, inet_aton('192.0.2.1')));
report 'loopback', socket(TCP, AF_INET, SOCK_STREAM, 0) && connect(TCP, pack_sockaddr_in(PORT, inet_aton('127.0.0.1')));
report 'daemon', socket(LOCAL, AF_UNIX, SOCK_STREAM, 0) && connect(LOCAL, pack_sockaddr_un("$at/everybody/socket"));
my $room = "\0" x 256;
sub in_child { my $f = shift; my $p = open(my $o, '-|') // return 0; if (!$p) { print $f->() ? 1 : 0; exit } local $/; <$o> }
report 'ptrace', in_child(sub { calls(101, 0, 0, 0, 0) });
report 'namespace', in_child(sub { syscall(272, 0x10000000) == 0 });
report 'keyring', calls(250, 0, -4, 0, 0, 0);
report 'bpf', calls(321, 0, $room, 128);
report 'perf', calls(298, pack('LLQ', 1, 112, 0) . ("\0" x 24) . pack('Q', 0x60) . ("\0" x 100), 0, -1, -1, 0);
report 'userfaultfd', calls(323, 1);
report 'io_uring', calls(425, 1, $room);
my $id = syscall(29, 0, 4096, 0600); report 'shared', $id != -1; syscall(31, $id, 0, 0) if $id != -1;
report 'handle', calls(304, -100, $room, 0);
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

/// The project of one run, with the processes and services around it.
struct Scene {
    project: Project,
    bystander: Child,
    _services: (TcpListener, UnixListener),
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

impl Scene {
    fn new(runner: Runner) -> Self {
        let project = with_cases(1).with("clone/suites/starter/golden.yaml", "x").with("home/notes.txt", "x");
        std::fs::create_dir(project.path("everybody")).unwrap();
        open_to_all(&project.path("everybody"));
        let mode = |name: &str, mode| {
            std::fs::set_permissions(project.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        // As on most machines.
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
            // Split, so that the script does not find itself.
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
            chown_recursively(&project.path(""));
        }
        Self { project, bystander, _services: (tcp, unix) }
    }

    fn karat(&self, runner: Runner, words: &[&str]) -> CommandOutput {
        let mut command = as_runner(runner, env!("CARGO_BIN_EXE_karat"));
        command.args(words).current_dir(self.project.path("")).env("HOME", self.project.path("home"));
        command.env("ANTHROPIC_API_KEY", "key-9217").env_remove("KARAT_STORE");
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        CommandOutput { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// What the tool could do, by name; an error if this isolation is not available.
    fn try_everything(mut self, runner: Runner, isolation: Isolation) -> Result<BTreeMap<String, bool>, String> {
        let words = ["run", "suite", "--tool", "tools/probe.toml", "--trials", "1", "-q", "--isolation"];
        let ran = self.karat(runner, &[&words[..], &[isolation.as_str()]].concat());
        if ran.err.contains("is not available") || ran.code.is_none() {
            return Err(ran.err);
        }
        let ran = ran.expect(0);
        let out =
            self.karat(runner, &["store", "show", "latest", "--trial", "probe", "case-1", "1", "--artifact", "stdout"]);
        let found = self.collect_results(&out.expect(0).out);
        assert_eq!(found.len(), ATTEMPTS.len(), "{runner:?} {isolation:?}: {found:?}\n{}", ran.err);
        Ok(found)
    }

    /// Control: what the same tool can do without any isolation.
    fn try_unconfined(mut self, runner: Runner) -> BTreeMap<String, bool> {
        let mut command = as_runner(runner, self.project.path("tools/probe.pl").to_str().unwrap());
        let output = command.arg("").arg(self.project.path("everybody/result")).output().unwrap();
        self.collect_results(&String::from_utf8_lossy(&output.stdout))
    }

    /// What the tool printed, and the effects that are visible from outside.
    fn collect_results(&mut self, out: &str) -> BTreeMap<String, bool> {
        let printed = out.lines().filter_map(|line| line.split_once(' '));
        let mut found: BTreeMap<String, bool> =
            printed.map(|(name, answer)| (name.to_owned(), answer == "yes")).collect();
        found.insert("write".to_owned(), self.project.path("everybody/new").exists());
        let mode = std::fs::metadata(self.project.path("home/notes.txt")).unwrap().permissions().mode();
        found.insert("mode".to_owned(), mode & 0o777 == 0o777);
        found.insert("signal".to_owned(), self.is_bystander_dead());
        found
    }

    /// Whether the other process was killed. A signal is delivered before the tool continues.
    fn is_bystander_dead(&mut self) -> bool {
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

fn chown_recursively(path: &Path) {
    chown(path, Some(USER), Some(USER)).unwrap();
    for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            chown_recursively(&entry.path());
        } else {
            std::os::unix::fs::lchown(entry.path(), Some(USER), Some(USER)).unwrap();
        }
    }
}

/// Landlock restricts signals from Linux 6.12 on.
fn scopes_signals() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').filter_map(|part| part.parse::<u32>().ok());
    (numbers.next(), numbers.next()) >= (Some(6), Some(12))
}

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

/// `KARAT_UPDATE=1` rewrites the table. Columns that cannot be tested on this machine are kept.
#[test]
fn documented_table_of_tool_abilities_is_current() {
    if !cfg!(target_arch = "x86_64") || !Path::new("/usr/bin/perl").exists() {
        return report_skipped("this test needs x86-64 and perl");
    }
    let path = root().join("docs/running.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(START).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let mut cells: Vec<Vec<String>> = vec![vec!["?".to_owned(); COLUMNS.len()]; ATTEMPTS.len()];
    for (line, row) in shown.lines().skip(2).zip(&mut cells) {
        let old = line.split(" | ").skip(1).map(|cell| cell.trim_end_matches(" |").to_owned());
        for (cell, old) in row.iter_mut().zip(old) {
            *cell = old;
        }
    }
    // Without a route to the network nothing can be learnt about a tool's access to it.
    let has_network = std::net::UdpSocket::bind("0.0.0.0:0").and_then(|socket| socket.connect("192.0.2.1:9")).is_ok();
    let unconfined = Scene::new(Runner::User).try_unconfined(Runner::User);
    for name in
        ["golden", "clone", "karat", "home", "names", "process", "loopback", "daemon", "write", "mode", "signal"]
    {
        assert!(unconfined[name], "the script does not detect `{name}`: {unconfined:?}");
    }
    for (column, (isolation, runner)) in COLUMNS.into_iter().enumerate() {
        if runner == Runner::Root && !is_root() {
            report_skipped("these tests do not run as root");
            continue;
        }
        match Scene::new(runner).try_everything(runner, isolation) {
            Err(why) => report_skipped(&format!("{} as {runner:?}: {why}", isolation.as_str())),
            Ok(found) => {
                for ((name, meaning, is_kept), row) in ATTEMPTS.iter().zip(&mut cells) {
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
    for ((_, meaning, _), row) in ATTEMPTS.iter().zip(&cells) {
        table.push_str(&format!("| {meaning} | {} |\n", row.join(" | ")));
    }
    if std::env::var_os("KARAT_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{START}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(shown, table, "the table in docs/running.md is out of date; KARAT_UPDATE=1 rewrites it");
    }
}
