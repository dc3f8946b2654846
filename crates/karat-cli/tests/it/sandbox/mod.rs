//! Sandboxed jobs, run in every isolation available on this system.

mod documented_table;
mod hidden;
mod hostile;
mod limits;
mod termination;
mod well_behaved;

use crate::project::report_skipped;
use karat_io::cancel::Cancel;
use karat_sandbox::{
    Access, ExitReason, Isolation, Job, JobResult, Limits, Supervisor, ToolUser, available, root_in_sandbox, run,
    tool_user,
};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tempfile::TempDir;

/// A trial's folder with a checkout in it, and a job that runs a shell script there.
struct Trial {
    folder: TempDir,
    job: Job,
}

impl Trial {
    fn new(isolation: Isolation, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["checkout", "home", "tmp"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        std::fs::write(root.join("checkout/a.txt"), "a\n").unwrap();
        let root_seen = root_in_sandbox(isolation, &root);
        let env = [
            ("PATH", "/usr/bin:/bin".into()),
            ("HOME", root_seen.join("home").into()),
            ("TMPDIR", root_seen.join("tmp").into()),
        ];
        let job = Job {
            command: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
            env: env.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            dir: root.join("checkout"),
            root,
            tool: None,
            access: Access::default(),
            limits: Limits { time: Duration::from_secs(30), ..Limits::default() },
            isolation,
        };
        Self { folder, job }
    }

    fn run(&self) -> JobResult {
        run(&self.job, &supervisor(), &Cancel::default()).unwrap()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn supervisor() -> Supervisor {
    Supervisor { program: env!("CARGO_BIN_EXE_karat").into(), args: vec!["__supervise".into()] }
}

/// Runs a test in every available isolation.
fn for_each_isolation(test: impl Fn(Isolation)) {
    for isolation in Isolation::ALL {
        match available().unavailable_reason(isolation) {
            None => test(isolation),
            Some(why) => report_skipped(&format!("{}: {why}", isolation.as_str())),
        }
    }
}

/// Runs a test in every available isolation that hides files and blocks the network.
fn for_each_sandbox(test: impl Fn(Isolation)) {
    for_each_isolation(|isolation| {
        if isolation > Isolation::Process {
            test(isolation);
        }
    });
}

/// Runs a script in every isolation and compares how it ended and what it printed.
#[track_caller]
fn check(script: &str, ended: &ExitReason, stdout: &str) {
    for_each_isolation(|isolation| {
        let finished = Trial::new(isolation, script).run();
        assert_eq!(finished.exit, *ended, "{isolation:?}: {}", text(&finished.stderr.bytes));
        assert_eq!(text(&finished.stdout.bytes), stdout, "{isolation:?}");
    });
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A number unique to each test, valid as a duration for `sleep`, to identify processes by.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:05}", 1_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Processes with `marker` among their arguments.
fn survivors(marker: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let words = text(&words).replace('\0', " ");
        if entry.path() != Path::new("/proc/self") && words.contains(marker) {
            found.push(format!("{}: {words}", entry.path().display()));
        }
    }
    found
}

/// Asserts that a following trial works.
#[track_caller]
fn assert_next_trial_works(isolation: Isolation) {
    let finished = Trial::new(isolation, "cat a.txt").run();
    assert_eq!((finished.exit, text(&finished.stdout.bytes)), (ExitReason::Exited(0), "a\n".to_owned()));
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

/// Makes a path readable and writable for every user, so that only the isolation, not the user id, can keep a tool
/// from it.
fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}
