//! `karat worker`: real processes on a real PostgreSQL, and everything that can end or cut off one of them. However a run was
//! executed, every planned trial has one record, the store is sound, and the report is the one of a single machine.

mod connections;
mod endings;
mod failures;
mod judge;
mod ordinary;
mod servers;

use crate::project::{CommandOutput, Project};
use crate::run::{FINDS_IT, with_cases, with_tool};
use karat_test_servers::{Options, Postgres, or_skip};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What is waited for takes far less; a busy machine does not make a test fail.
const LIMIT: Duration = Duration::from_secs(240);

/// Takes 10 to 50 ms and reports the only golden.
const SHORT: &str = "sleep 0.0$(($$ % 5 + 1))";

/// Waits for the file `go` while there is a file `hold`, and says with the file `started` that it does.
const HELD: &str =
    "if [ -e PROJECT/hold ]; then : > PROJECT/started; while [ ! -e PROJECT/go ]; do sleep 0.05; done; fi; sleep 0.02";

/// While there is a file `hold`, six trials run freely, and later ones wait for the file `go`.
const PAUSED: &str = "if [ -e PROJECT/hold ]; then n=1; while ! mkdir PROJECT/begun-$n 2>/dev/null; do n=$((n + 1)); done; \
     if [ $n -gt 6 ]; then while [ ! -e PROJECT/go ]; do sleep 0.05; done; fi; fi";

enum Server {
    Shared(&'static Postgres),
    Own(Box<Postgres>),
}

/// A suite with the tool `it`, and a database that `karat` uses as its store.
struct Site {
    project: Project,
    server: Server,
    database: String,
    /// Where processes connect to.
    url: String,
    /// More variables of all processes.
    variables: Vec<(String, String)>,
    started: AtomicU32,
}

impl Site {
    /// With an empty database of the shared server, or nothing where there is none. The script runs before the tool reports; in
    /// it, `PROJECT` stands for the project's folder.
    fn new(cases: usize, script: &str) -> Option<Self> {
        let postgres = or_skip(Postgres::shared())?;
        Some(Self::with(Server::Shared(postgres), cases, script))
    }

    /// With a server of its own.
    fn with_own_server(options: &Options, cases: usize, script: &str) -> Option<Self> {
        let postgres = or_skip(Postgres::start(options))?;
        Some(Self::with(Server::Own(Box::new(postgres)), cases, script))
    }

    fn with(server: Server, cases: usize, script: &str) -> Self {
        let postgres = match &server {
            Server::Shared(postgres) => postgres,
            Server::Own(postgres) => &**postgres,
        };
        let url = postgres.new_database().unwrap();
        let database = url.rsplit('/').next().unwrap().to_owned();
        let project = with_cases(cases);
        // Tools write to this folder, so root must not be made another user for them.
        std::fs::set_permissions(project.path(""), Permissions::from_mode(0o700)).unwrap();
        for n in 1..=cases {
            project.write(&format!("suite/cases/case-{n}/after/number"), n.to_string());
        }
        for folder in ["tmp", "logs"] {
            std::fs::create_dir(project.path(folder)).unwrap();
        }
        let site = Self { project, server, database, url, variables: Vec::new(), started: AtomicU32::new(0) };
        site.add_tool("it", &format!("{script}\n{FINDS_IT}"), "");
        site
    }

    fn postgres(&self) -> &Postgres {
        match &self.server {
            Server::Shared(postgres) => postgres,
            Server::Own(postgres) => postgres,
        }
    }

    fn add_tool(&self, name: &str, script: &str, more: &str) {
        let folder = self.project.path("").display().to_string();
        with_tool(&self.project, name, &script.replace("PROJECT", folder.trim_end_matches('/')), more);
    }

    fn write(&self, file: &str) {
        self.project.write(file, "");
    }

    /// Runs a command to its end, with the database as its store.
    fn run(&self, line: &str) -> CommandOutput {
        let mut process = self.start_at(&self.postgres().url_of(&self.database), line, &[]);
        process.wait()
    }

    fn start(&self, line: &str) -> Process {
        self.start_at(&self.url, line, &[])
    }

    fn start_at(&self, url: &str, line: &str, variables: &[(&str, &str)]) -> Process {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let output = |kind: &str| self.project.path(&format!("logs/{number}.{kind}"));
        let mut command = self.project.process();
        command.args(line.split_whitespace()).env("KARAT_STORE", url).env("TMPDIR", self.project.path("tmp"));
        command.envs(self.variables.iter().cloned()).envs(variables.iter().copied());
        let (out, err) = (output("out"), output("err"));
        command.stdin(Stdio::null()).stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
        // In a process group of its own, so that a signal meets nobody else.
        let child = command.process_group(0).spawn().unwrap();
        Process { line: line.to_owned(), child, out, err }
    }

    /// Starts `karat run` that leaves the work to workers, and waits until its trials are queued. Unless a test says otherwise,
    /// nothing is given up because a busy machine renews leases too late.
    fn plan(&self, more: &str) -> Process {
        let tries = if more.contains("--max-tries") { "" } else { "--max-tries 1000" };
        let queues = || self.count("SELECT COUNT(*) FROM run_queues");
        let before = queues().unwrap_or(0);
        let mut planner = self.start(&format!("{} --no-work {tries} {more}", run_line()));
        wait_for("the run is queued", || {
            assert!(planner.is_running() || queues() > Some(before), "{}", planner.everything());
            (queues()? > before).then_some(())
        });
        planner
    }

    fn worker(&self, more: &str) -> Process {
        self.worker_at(&self.url, more)
    }

    fn worker_at(&self, url: &str, more: &str) -> Process {
        let lease = if more.contains("--lease") { "" } else { "--lease 2s" };
        self.start_at(url, &format!("worker --isolation process {lease} {more}"), &[])
    }

    /// A number from the database; `None` while there is no such table, or no server.
    fn count(&self, sql: &str) -> Option<i64> {
        self.postgres().psql(&self.database, sql).ok()?.trim().parse().ok()
    }

    fn wait_for_count(&self, what: &str, sql: &str, enough: impl Fn(i64) -> bool) {
        wait_for(what, || self.count(sql).filter(|n| enough(*n)));
    }

    fn wait_for_trials(&self, least: i64) {
        self.wait_for_count("trials are recorded", "SELECT COUNT(*) FROM trials", |n| n >= least);
    }

    fn wait_for_file(&self, file: &str) {
        wait_for(file, || self.project.path(file).exists().then_some(()));
    }

    /// Whether a process of a tool runs that this site's suite was given to.
    fn has_tool_process(&self) -> bool {
        let folder = self.project.path("tools").display().to_string();
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes.into_iter().any(|process| {
            let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let line = String::from_utf8_lossy(&line).replace('\0', " ");
            // Supervisors are processes of karat, and end after the tools.
            line.contains(&folder)
        })
    }

    /// The same suite on one machine, in a folder: the report and what was printed.
    fn run_on_one_machine(&self, more: &str) -> Expected {
        self.run_on_one_machine_to(more, 0)
    }

    /// The same of a run with an exit code.
    fn run_on_one_machine_to(&self, more: &str, code: i32) -> Expected {
        let line = format!("{} {more} --store one", run_line());
        let mut command = self.project.command();
        command.envs(self.variables.iter().cloned()).env("TMPDIR", self.project.path("tmp"));
        let ran = CommandOutput::start(command.args(line.split_whitespace())).expect(code);
        let trials = self.project.ok("store export latest --store one").lines().count();
        self.project.ok("report latest --store one -o one.json");
        Expected { report: without_run(&self.project.read("one.json")), table: without_seconds(&ran.out), trials }
    }

    /// Waits until the process that planned the latest run has followed it to its end, and checks everything about it.
    #[track_caller]
    fn check_when_followed(&self, planner: &mut Process, expected: &Expected) {
        let ran = planner.wait();
        assert_eq!(ran.code, Some(0), "{}\n{}\n{}", ran.out, ran.err, self.logs());
        assert_eq!(followed(&ran.err), Some(expected.trials), "{}", ran.err);
        assert_eq!(without_seconds(&ran.out), expected.table);
        self.check(expected);
    }

    /// Checks the latest run, which has ended.
    #[track_caller]
    fn check(&self, expected: &Expected) {
        let runs = self.json("store list --json");
        assert_eq!(runs[0]["state"], "complete", "{runs:#}\n{}", self.logs());
        self.check_records(expected.trials);
        self.run("report latest -o report.json").expect(0);
        let report = without_run(&self.project.read("report.json"));
        assert!(report == expected.report, "{}", first_difference(&expected.report, &report));
    }

    /// Checks that so many trials have one record each, and that the store is sound.
    #[track_caller]
    fn check_records(&self, trials: usize) {
        let exported = self.run("store export latest").expect(0).out;
        let records: Vec<Value> = exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let keys: BTreeSet<String> =
            records.iter().map(|t| format!("{} {} {}", t["tool"], t["case"], t["trial"])).collect();
        assert_eq!((records.len(), keys.len()), (trials, trials), "{}", self.logs());
        assert_eq!(self.json("store show latest --json")["attempts"], trials, "a trial was stored twice");
        assert_eq!(self.json("store verify --json")["sound"], true);
    }

    #[track_caller]
    fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.run(line).expect(0).out).unwrap()
    }

    /// What all processes printed to standard error so far.
    fn logs(&self) -> String {
        let mut all = String::new();
        for number in 0..self.started.load(Ordering::Relaxed) {
            let text = std::fs::read_to_string(self.project.path(&format!("logs/{number}.err"))).unwrap_or_default();
            if !text.is_empty() {
                all += &format!("process {number}: {text}\n");
            }
        }
        all
    }
}

/// What a run must give, by one machine.
struct Expected {
    report: String,
    table: String,
    trials: usize,
}

fn run_line() -> &'static str {
    "run suite --tool tools/it.toml --isolation process"
}

/// A process of karat, killed when it is dropped.
struct Process {
    line: String,
    child: Child,
    out: PathBuf,
    err: PathBuf,
}

impl Process {
    fn id(&self) -> u32 {
        self.child.id()
    }

    fn signal(&self, signal: Signal) {
        let id = Pid::from_raw(i32::try_from(self.id()).unwrap()).unwrap();
        kill_process(id, signal).unwrap_or_else(|error| panic!("{}: {error}", self.line));
    }

    fn is_running(&mut self) -> bool {
        self.child.try_wait().unwrap().is_none()
    }

    /// SIGKILL, at any moment.
    fn kill(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }

    /// What it printed, after its end.
    #[track_caller]
    fn wait(&mut self) -> CommandOutput {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return CommandOutput { code: status.code(), out: read(&self.out), err: read(&self.err) };
            }
            if began.elapsed() > LIMIT {
                self.kill();
                panic!("it does not end: {}", self.everything());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn errors(&self) -> String {
        read(&self.err)
    }

    fn everything(&self) -> String {
        format!("{}\n{}\n{}", self.line, read(&self.out), read(&self.err))
    }

    #[track_caller]
    fn wait_for_error(&self, text: &str) {
        wait_for(&format!("`{text}` from `{}`", self.line), || self.errors().contains(text).then_some(()));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn read(file: &PathBuf) -> String {
    String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned()
}

/// Calls `find` until it returns a value.
#[track_caller]
fn wait_for<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(began.elapsed() < LIMIT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A printed table without the seconds of a trial, the last column of the tool's line.
fn without_seconds(table: &str) -> String {
    let lines = table.lines().map(|line| match line.rsplit_once(' ') {
        Some((before, _)) if line.starts_with("  it ") => before.trim_end(),
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The bytes of a report, but for what names the run itself and what was measured.
fn without_run(report: &str) -> String {
    ["run", "measured"].iter().fold(report.to_owned(), |report, name| {
        let Some((before, rest)) = report.split_once(&format!("\n  \"{name}\": {{")) else { return report };
        let (_, after) = rest.split_once("\n  }").unwrap();
        format!("{before}{after}")
    })
}

/// How many trials a process has shown that follows a run: the sum of "8 trials in 2.1 s: …, 3 were already done".
fn followed(errors: &str) -> Option<usize> {
    let line = errors.lines().find(|line| line.contains(" in ") && line.trim_start().starts_with(char::is_numeric))?;
    let shown: usize = line.split_whitespace().next()?.parse().ok()?;
    let before = line.strip_suffix(" were already done").and_then(|line| line.rsplit_once(", ")?.1.parse().ok());
    Some(shown + before.unwrap_or(0))
}

fn first_difference(expected: &str, found: &str) -> String {
    let differs = expected.lines().zip(found.lines()).enumerate().find(|(_, (expected, found))| expected != found);
    match differs {
        Some((line, (expected, found))) => format!("line {} is\n{found}\nand should be\n{expected}", line + 1),
        None => format!("{} lines instead of {}", found.lines().count(), expected.lines().count()),
    }
}
