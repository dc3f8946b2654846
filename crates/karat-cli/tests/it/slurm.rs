//! The workers of `deploy/slurm`, submitted to a real Slurm on this host.

use crate::project::{CommandOutput, Project, root};
use karat_test_servers::{Postgres, Slurm, or_skip, wait_for};
use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

/// Where workers find the settings of the user who submits them.
const SETTINGS: &str = "home/.config/karat/worker.env";

/// The folder of the `karat` under test.
fn program_folder() -> PathBuf {
    assert_cmd::cargo::cargo_bin("karat").parent().unwrap().to_owned()
}

/// Submits the array with these flags of sbatch, as a user whose search path begins with `programs`.
fn submit(slurm: &Slurm, project: &Project, programs: &Path, flags: &str) -> CommandOutput {
    let mut command = assert_cmd::Command::from_std(slurm.command("sbatch"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::iter::once(programs.to_owned()).chain(std::env::split_paths(&path));
    command.env("PATH", std::env::join_paths(folders).unwrap()).env("HOME", project.path("home"));
    command.env("XDG_CONFIG_HOME", project.path(".user")).env("TMPDIR", project.path("")).env_remove("XDG_CACHE_HOME");
    command.env_remove("KARAT_STORE").env_remove("KARAT_SETTINGS").current_dir(project.path(""));
    command.args(flags.split(' ')).arg(root().join("deploy/slurm/workers.sbatch"));
    CommandOutput::start(&mut command)
}

/// A process that ends with the test.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn read_if_there(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// A project with a shell script in place of `karat`.
fn with_stand_in(script: &str) -> Project {
    let project = Project::new().with("bin/karat", format!("#!/bin/sh\n{script}"));
    std::fs::set_permissions(project.path("bin/karat"), std::fs::Permissions::from_mode(0o755)).unwrap();
    project
}

#[test]
fn array_starts_workers_with_the_settings_of_the_user() {
    let Some(slurm) = or_skip(Slurm::start()) else { return };
    let project = with_stand_in("echo \"$*; $KARAT_STORE $PGPASSWORD\" >\"task-$SLURM_ARRAY_TASK_ID\"\n");
    let refused = submit(&slurm, &project, &project.path("bin"), "--wait --array=0 --output=refused.log");
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(project.read("refused.log").contains("cannot read"), "{}", project.read("refused.log"));

    project.write(SETTINGS, "# comment\n\nKARAT_STORE=postgres://a@b/c?x=1&y=2\nPGPASSWORD=two words");
    submit(&slurm, &project, &project.path("bin"), "--wait --array=0-2 --cpus-per-task=2").expect(0);
    for task in 0..3 {
        let expect = "worker -j 2 --grace 90s --idle exit; postgres://a@b/c?x=1&y=2 two words\n";
        assert_eq!(project.read(&format!("task-{task}")), expect);
    }
}

/// The tool notes whether it got the signal, and writes that down when the worker asks for it.
const WORKER_WITH_TOOL: &str = r#"
sh -c 'trap got=yes TERM; trap "echo got=\$got >told; mv told ended; exit" WINCH; touch ready; while :; do sleep 0.02; done' &
tool=$!
trap 'kill -WINCH $tool; wait $tool; exit 0' TERM
while [ ! -e ready ]; do sleep 0.02; done
touch started
wait
"#;

/// A worker ends its own tools: had they got the signal, their trials would look like failures of the tools.
#[test]
fn only_the_worker_gets_the_signal_to_end() {
    let Some(slurm) = or_skip(Slurm::start()) else { return };
    let project = with_stand_in(WORKER_WITH_TOOL).with(SETTINGS, "");
    let job = submit(&slurm, &project, &project.path("bin"), "--parsable --array=0 --cpus-per-task=1").expect(0).out;
    wait_for("the worker starts", || project.path("started").exists().then_some(())).unwrap();
    let scancel = slurm.command("scancel").args(["--batch", "--signal=TERM", job.trim()]).status().unwrap();
    assert!(scancel.success());
    wait_for("the worker ends", || project.path("ended").exists().then_some(())).unwrap();
    assert_eq!(project.read("ended"), "got=\n");
}

/// Waits until all tasks of a job have ended, and checks that they succeeded.
#[track_caller]
fn wait_for_job(slurm: &Slurm, job: &str, logs: impl Fn() -> String) {
    let states = || {
        let output = slurm.command("scontrol").args(["--oneliner", "show", "job", job]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let states = text.split_whitespace().filter_map(|word| word.strip_prefix("JobState="));
        states.map(str::to_owned).collect::<Vec<_>>()
    };
    let unfinished = ["PENDING", "RUNNING", "CONFIGURING", "COMPLETING", "SUSPENDED", "REQUEUED"];
    let ended = wait_for("the job ends", || {
        let states = states();
        (!states.is_empty() && states.iter().all(|state| !unfinished.contains(&state.as_str()))).then_some(states)
    });
    let context = || format!("{:?}\nSlurm:\n{}\nworkers:\n{}", states(), slurm.log(), logs());
    let ended = ended.unwrap_or_else(|why| panic!("{why}: {}", context()));
    assert!(ended.iter().all(|state| state == "COMPLETED"), "{}", context());
}

#[test]
fn array_completes_a_run() {
    let Some(postgres) = or_skip(Postgres::shared()) else { return };
    let Some(slurm) = or_skip(Slurm::start()) else { return };
    let url = postgres.new_database().unwrap();
    let project = Project::new();
    let plan = "run starter --tool patterns --trials 3";
    let mut planner = project.process();
    planner.args(plan.split(' ')).args(["--no-work", "--store", &url]).stdout(Stdio::null());
    let mut planner = Ended(planner.stderr(File::create(project.path("planner.log")).unwrap()).spawn().unwrap());
    let database = url.rsplit('/').next().unwrap();
    let queued = "SELECT COUNT(*) FROM queue_units";
    let is_queued = || postgres.psql(database, queued).is_ok_and(|count| count.trim() != "0").then_some(());
    wait_for("the run is queued", is_queued).unwrap();
    // Workers have no more rights than they need.
    let roles = std::fs::read_to_string(root().join("deploy/postgres/roles.sql")).unwrap();
    postgres.psql(database, &roles).unwrap();
    postgres.psql(database, "ALTER ROLE karat_worker PASSWORD 'worker'").unwrap();
    project
        .write(SETTINGS, format!("KARAT_STORE={}\nPGPASSWORD=worker\n", url.replace("karat:karat@", "karat_worker@")));
    let flags = "--parsable --array=0-1 --cpus-per-task=2 --output=worker-%a.log";
    let job = submit(&slurm, &project, &program_folder(), flags).expect(0).out;
    let logs =
        || ["planner.log", "worker-0.log", "worker-1.log"].map(|file| read_if_there(&project.path(file))).concat();
    wait_for_job(&slurm, job.trim(), logs);
    let followed = wait_for("the run is followed to its end", || planner.0.try_wait().unwrap());
    assert!(followed.unwrap_or_else(|why| panic!("{why}: {}", logs())).success(), "{}", logs());

    let runs = project.json(&format!("store list --json --store {url}"));
    assert_eq!(runs[0]["state"], "complete", "{runs}\n{}", logs());
    project.ok(&format!("{plan} --store alone"));
    let trials =
        |store: &str| project.json(&format!("report latest --json --store {store}"))["tools"][0]["outcomes"].take();
    assert_eq!(trials(&url), trials("alone"));
}
