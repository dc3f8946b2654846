//! Whole runs by the program itself, from reading the suite to the report.

use crate::drawn;
use crate::spent::Spent;
use karat_sandbox::{Isolation, available};
use std::path::Path;
use std::process::{Command, Stdio};

/// The program that is measured.
pub(crate) const KARAT: &str = env!("CARGO_BIN_EXE_karat");

/// One kind of run at two sizes.
pub(crate) struct Runs {
    /// What is run, for the table.
    pub(crate) about: &'static str,
    /// How many trials, and what they took.
    pub(crate) sizes: [(usize, Spent); 2],
}

impl Runs {
    /// Milliseconds of processor time for a trial, at the larger size.
    pub(crate) fn cpu_ms(&self) -> f64 {
        let [_, (trials, spent)] = self.sizes;
        spent.cpu_ms_each(trials)
    }

    /// How much more a trial costs at the larger size; 1 where the time grows as the number of trials does.
    pub(crate) fn growth(&self) -> f64 {
        let [(few, small), (many, large)] = self.sizes;
        large.cpu_ms_each(many) / small.cpu_ms_each(few)
    }
}

/// Trials that were recorded, with ten findings each.
pub(crate) fn replayed() -> Runs {
    measure("a replayed trial", [200, 2_000], 3, drawn::recorded, &|_| {})
}

/// Trials that were recorded, with one finding each.
pub(crate) fn replayed_sparsely() -> Runs {
    measure("the same, one finding", [200, 2_000], 3, drawn::recorded_sparsely, &|_| {})
}

/// A program that does nothing; `None` where this system has no such isolation.
pub(crate) fn executed(isolation: Isolation) -> Option<Runs> {
    if let Some(why) = available().unavailable_reason(isolation) {
        println!("{}: skipped: {why}", isolation.as_str());
        return None;
    }
    let (about, cases, times) = match isolation {
        Isolation::Process => ("a no-op command, no sandbox", [20, 100], 3),
        Isolation::Landlock => ("a no-op command, landlock", [10, 40], 1),
        Isolation::Bubblewrap => ("a no-op command, bubblewrap", [10, 40], 1),
    };
    let isolated = |command: &mut Command| {
        command.args(["--isolation", isolation.as_str()]);
    };
    Some(measure(about, cases, times, drawn::with_code, &isolated))
}

/// The same without a sandbox and with the trials' folders in memory, which leaves the disk out of it; `None` where that
/// cannot be had.
pub(crate) fn executed_in_memory() -> Option<Runs> {
    let memory = Path::new("/dev/shm");
    if !memory.is_dir() {
        println!("files in memory: skipped: there is no /dev/shm");
        return None;
    }
    let in_memory = |command: &mut Command| {
        command.args(["--isolation", Isolation::Process.as_str()]).env("TMPDIR", memory);
    };
    Some(measure("the same, files in memory", [20, 100], 1, drawn::with_code, &in_memory))
}

fn measure(
    about: &'static str,
    cases: [usize; 2],
    times: usize,
    draw: fn(&Path, usize),
    with: &dyn Fn(&mut Command),
) -> Runs {
    let sizes = cases.map(|cases| {
        let folder = tempfile::tempdir().expect("a folder");
        let suite = folder.path().join("suite");
        draw(&suite, cases);
        let spent = Spent::least_of(times, || {
            let store = tempfile::tempdir_in(folder.path()).expect("a folder for the store");
            Spent::on(|| run(&suite, store.path(), with)).0
        });
        (cases * drawn::TRIALS, spent)
    });
    Runs { about, sizes }
}

/// Runs the suite as a person would, with the table on standard output.
fn run(suite: &Path, store: &Path, with: &dyn Fn(&mut Command)) {
    let mut command = Command::new(KARAT);
    command.arg("run").arg(suite).arg("--store").arg(store).env_remove("GITHUB_STEP_SUMMARY");
    with(&mut command);
    let ran = command.stdin(Stdio::null()).output().expect("karat can be started");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success(), "karat ended with {}:\n{said}", ran.status);
}
