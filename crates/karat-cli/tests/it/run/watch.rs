//! `karat run --watch`: each change runs again what it touches, and nothing else.

use super::interrupted::wait_for;
use super::{FINDS_IT, STOP_LIMIT, with_cases, with_tool};
use crate::project::Project;
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// A watch in the background, with what it has printed so far.
struct Watch {
    child: Child,
    out: Arc<Mutex<Vec<u8>>>,
    err: Arc<Mutex<Vec<u8>>>,
}

fn collect(mut stream: impl Read + Send + 'static) -> Arc<Mutex<Vec<u8>>> {
    let text = Arc::new(Mutex::new(Vec::new()));
    let shared = Arc::clone(&text);
    std::thread::spawn(move || {
        let mut piece = [0; 4096];
        while let Ok(n @ 1..) = stream.read(&mut piece) {
            shared.lock().unwrap().extend_from_slice(&piece[..n]);
        }
    });
    text
}

impl Watch {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
            .args(arguments)
            .current_dir(project.path(""))
            .env("XDG_CONFIG_HOME", project.path(".user"))
            .env("COLUMNS", "100")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, err) = (collect(child.stdout.take().unwrap()), collect(child.stderr.take().unwrap()));
        Self { child, out, err }
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.err.lock().unwrap()).into_owned()
    }

    fn out(&self) -> String {
        String::from_utf8_lossy(&self.out.lock().unwrap()).into_owned()
    }

    /// Waits until it has said something so many times on standard error, and waits for changes again.
    #[track_caller]
    fn wait(&self, text: &str, times: usize) {
        let is_waiting = |err: &str| err.trim_end().ends_with("Ctrl-C ends it");
        wait_for(&format!("{text:?}, {times} times"), || {
            let err = self.err();
            (err.matches(text).count() >= times && is_waiting(&err)).then_some(())
        });
    }

    /// Interrupts it, and asserts that it ends in time.
    #[track_caller]
    fn interrupt(&mut self) -> Option<i32> {
        let asked = Instant::now();
        assert!(Command::new("kill").args(["-INT", "--", &self.child.id().to_string()]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert!(asked.elapsed() < STOP_LIMIT);
        status.code()
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn watch_runs_again_what_a_change_touches() {
    let project = with_cases(3);
    with_tool(&project, "it", FINDS_IT, "");
    let mut watch =
        Watch::start(&project, &["run", "suite", "--tool", "tools/it.toml", "--watch", "-o", "report.json"]);
    watch.wait("round 1 is stored", 1);
    assert!(watch.err().contains("watching suite, tools; Ctrl-C ends it"), "{}", watch.err());

    let code = project.read("suite/cases/case-2/after/app.py");
    project.write("suite/cases/case-2/after/app.py", format!("{code}\n\nLIMIT = 10\n"));
    watch.wait("round 2 is stored", 1);
    let err = watch.err();
    assert!(err.contains("round 2: 1 case changed (case-2); runs 2 of 6 trials again\n"), "{err}");
    assert!(err.contains("2 reported, 4 were already done"), "{err}");
    assert!(watch.out().contains("No score changed since round 1."), "{}", watch.out());
    // What was taken over is as complete as what was executed.
    for case in ["case-1", "case-2"] {
        let written = project.ok(&format!("store show latest --trial it {case} 2 --artifact output"));
        assert!(written.contains("SQL injection"), "{written}");
    }

    let case = project.read("suite/cases/case-3/case.yaml");
    project.write("suite/cases/case-3/case.yaml", "id: [");
    watch.wait("nothing was loaded", 1);
    project.write("suite/cases/case-3/case.yaml", &case);
    watch.wait("everything is again as it was in the last round", 1);

    project.write("tools/it.sh", "#!/bin/sh\necho '{\"findings\":[]}' > \"$2\"\n");
    watch.wait("round 3 is stored", 1);
    let (out, err) = (watch.out(), watch.err());
    assert!(err.contains("round 3: 1 tool changed (it); runs 6 of 6 trials again\n"), "{err}");
    assert!(out.contains("Since round 2:\n  F1 of it 1.000 → 0.000\n"), "{out}");
    assert!(out.contains("  case case-1: query now missed by it (before: found)\n"), "{out}");

    project.write("suite/cases/case-3/case.yaml", case.replace("SQL query built from input", "SQL built from a name"));
    watch.wait("round 4 is stored", 1);
    let err = watch.err();
    assert!(err.contains("round 4: only goldens or rules changed; runs 0 of 6 trials again\n"), "{err}");

    assert_eq!(watch.interrupt(), Some(0), "{}", watch.err());
    let runs = project.json("store list --json");
    let states: Vec<&str> = runs.as_array().unwrap().iter().filter_map(|run| run["state"].as_str()).collect();
    assert_eq!(states, ["complete"; 4]);
    project.run("store verify").expect(0);
    let report: Value = serde_json::from_str(&project.read("report.json")).unwrap();
    assert_eq!(report["cases"][2]["issues"][0]["title"], "SQL built from a name");
}

#[test]
fn watch_starts_with_a_broken_file_and_ends_in_a_round() {
    let project = with_cases(1);
    with_tool(&project, "slow", "sleep 600", "");
    let case = project.read("suite/cases/case-1/case.yaml");
    project.write("suite/cases/case-1/case.yaml", "id: [");
    let mut watch = Watch::start(&project, &["run", "suite", "--tool", "tools/slow.toml", "--watch"]);
    watch.wait("nothing was loaded", 1);
    project.write("suite/cases/case-1/case.yaml", case);
    wait_for("the first trial", || watch.err().contains("slow · isolation").then_some(()));
    assert_eq!(watch.interrupt(), Some(5));
    let err = watch.err();
    wait_for("how to resume", || watch.err().contains("resume with: karat run --resume").then_some(()));
    assert!(!err.contains("round 1 is stored"), "{err}");
}

#[test]
fn watch_needs_files_that_can_change() {
    let project = with_cases(1);
    project.run("run suite --watch --resume latest").expect_error(2, &["--watch", "--resume"]);
    project.run("run suite --watch --dry-run").expect_error(2, &["--dry-run"]);
    project.run("run suite --watch --name x").expect_error(2, &["--name"]);
    project.run("run starter --watch -q").expect_error(2, &["--watch has no file to watch"]);
    project.run("run missing --watch -q").expect_error(4, &["missing"]);
    project.run("run suite --tool nothing --watch -q").expect_error(2, &["unknown tool `nothing`"]);
}
