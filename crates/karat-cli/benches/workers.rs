//! How many trials workers record in a second, and where the database is the limit: `cargo bench -p karat-cli --bench workers -- 400 1 2 4 8`.
//!
//! The first argument is the number of cases (default: 200), the others are numbers of workers (default: 1 2 4 8). The tool does nothing, so
//! that all time is Karat's. PostgreSQL runs on the same machine, with fsync.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may stop at the first fault")]

use karat_test_servers::{Options, Postgres};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

const TRIALS: usize = 2;

fn main() {
    let numbers: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let cases = numbers.first().copied().unwrap_or(200);
    let workers = if numbers.len() > 1 { numbers[1..].to_vec() } else { vec![1, 2, 4, 8] };
    let folder = tempfile::tempdir().unwrap();
    write_suite(folder.path(), cases);
    let server = match Postgres::start(&Options { fsync: true, max_connections: 200, ..Options::default() }) {
        Ok(server) => server,
        Err(why) => return println!("skipped: {why}"),
    };
    println!("| where | workers | trials | seconds | trials/s | database ms a trial |");
    println!("|---|---|---|---|---|---|");
    let began = Instant::now();
    let mut alone = karat(folder.path(), None);
    alone.args(["run", "suite", "--tool", "tools/nothing.toml", "--judge", "none", "-q", "-j", "1"]);
    assert!(alone.stdout(Stdio::null()).status().unwrap().success());
    print_row("folder", 1, cases * TRIALS, began.elapsed().as_secs_f64(), None);
    for count in workers {
        let url = server.new_database().unwrap();
        let mut planner = karat(folder.path(), Some(&url));
        planner.args(["run", "suite", "--tool", "tools/nothing.toml", "--judge", "none", "-q", "--no-work"]);
        let mut planner = planner.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_for_units(&server, &url);
        let began = Instant::now();
        let started: Vec<Child> = (0..count)
            .map(|_| {
                let mut worker = karat(folder.path(), Some(&url));
                worker.args(["worker", "--idle", "exit", "-q", "-j", "1"]).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        assert!(planner.wait().unwrap().success());
        let seconds = began.elapsed().as_secs_f64();
        started.into_iter().for_each(|mut worker| drop(worker.wait()));
        let database = active_milliseconds(&server, &url) / (cases * TRIALS) as f64;
        print_row("server", count, cases * TRIALS, seconds, Some(database));
    }
}

fn print_row(place: &str, workers: usize, trials: usize, seconds: f64, database_ms: Option<f64>) {
    let database = database_ms.map_or_else(|| "–".to_owned(), |ms| format!("{ms:.2}"));
    println!("| {place} | {workers} | {trials} | {seconds:.1} | {:.1} | {database} |", trials as f64 / seconds);
}

fn karat(folder: &Path, store: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
    command.current_dir(folder).env_remove("KARAT_STORE").env("XDG_CACHE_HOME", folder.join(".cache"));
    command.env("XDG_CONFIG_HOME", folder.join(".config"));
    if let Some(store) = store {
        command.env("KARAT_STORE", store);
    }
    command
}

fn database(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// Waits until the run is queued.
fn wait_for_units(server: &Postgres, url: &str) {
    karat_test_servers::wait_for("the units of the run", || {
        let count = server.psql(database(url), "SELECT COUNT(*) FROM queue_units").ok()?;
        (count.trim() != "0").then_some(())
    })
    .unwrap();
}

/// The time that statements of all processes were executed in a database.
fn active_milliseconds(server: &Postgres, url: &str) -> f64 {
    let name = database(url);
    let sql = format!("SELECT active_time FROM pg_stat_database WHERE datname = '{name}'");
    server.psql(name, &sql).unwrap().trim().parse().unwrap()
}

fn write_suite(folder: &Path, cases: usize) {
    let write = |path: String, text: String| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    };
    write("suite/karat.toml".to_owned(), format!("[suite]\nname = \"workers\"\n[scoring]\ntrials = {TRIALS}\n"));
    for number in 1..=cases {
        let case = format!("suite/cases/case-{number}");
        let yaml = format!(
            "id: case-{number}\nlanguage: python\nissues:\n  - id: query\n    title: SQL query built from input\n    file: app.py\n    line_start: 1\n"
        );
        write(format!("{case}/case.yaml"), yaml);
        write(format!("{case}/before/app.py"), "pass\n".to_owned());
        write(format!("{case}/after/app.py"), "query = 'SELECT ' + name\n".to_owned());
    }
    let program = write("tools/nothing.sh".to_owned(), "#!/bin/sh\necho '{\"findings\":[]}' > \"$1\"\n".to_owned());
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    write(
        "tools/nothing.toml".to_owned(),
        "command = [\"./nothing.sh\", \"{output}\"]\nformat = \"karat\"\n".to_owned(),
    );
}
