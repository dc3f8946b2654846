//! Tools that behave, and tools that do not: each is run in every isolation this system has.

mod ending;
mod hidden;
mod hostile;
mod limits;
mod plain;
mod table;

use crate::project::skipped;
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
        let seen = root_in_sandbox(isolation, &root);
        let env =
            [("PATH", "/usr/bin:/bin".into()), ("HOME", seen.join("home").into()), ("TMPDIR", seen.join("tmp").into())];
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

/// Does something for every isolation there is.
fn each(test: impl Fn(Isolation)) {
    for isolation in Isolation::ALL {
        match available().unavailable_reason(isolation) {
            None => test(isolation),
            Some(why) => skipped(&format!("{}: {why}", isolation.as_str())),
        }
    }
}

/// Does something for every isolation that keeps tools from files and the network.
fn each_apart(test: impl Fn(Isolation)) {
    each(|isolation| {
        if isolation > Isolation::Process {
            test(isolation);
        }
    });
}

/// Runs a script in every isolation and compares how it ended and what it printed.
#[track_caller]
fn check(script: &str, ended: &ExitReason, stdout: &str) {
    each(|isolation| {
        let finished = Trial::new(isolation, script).run();
        assert_eq!(finished.exit, *ended, "{isolation:?}: {}", text(&finished.stderr.bytes));
        assert_eq!(text(&finished.stdout.bytes), stdout, "{isolation:?}");
    });
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A number that no other test uses, which `sleep` understands and processes can be known by.
fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("{}.{:05}", 1_000_000 + std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Processes that were started with `marker` among their arguments.
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

/// The next trial is unharmed.
#[track_caller]
fn next_is_fine(isolation: Isolation) {
    let finished = Trial::new(isolation, "cat a.txt").run();
    assert_eq!((finished.exit, text(&finished.stdout.bytes)), (ExitReason::Exited(0), "a\n".to_owned()));
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|about| about.uid() == 0)
}

/// Lets every user read and write a path, so that what keeps a tool of root's from it is the isolation and not its user.
fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}
