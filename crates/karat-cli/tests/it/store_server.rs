//! `--store` with a URL: what is refused, and a real PostgreSQL.

use crate::project::{CommandOutput, Project};
use crate::serve::Server;
use karat_test_servers::{Postgres, or_skip};
use serde_json::Value;

/// A command of each kind that takes `--store`.
const COMMANDS: &[&str] = &[
    "run starter",
    "run --resume latest",
    "replay latest",
    "score starter",
    "score latest",
    "explain sqli --run latest",
    "report latest",
    "plot intervals latest -o plot.svg",
    "compare latest nightly",
    "gate latest --min f1=0.5",
    "baseline write latest -o baseline.json",
    "power latest --effect 0.1",
    "assess .",
    "logs list",
    "logs summarize --run latest",
    "judge show",
    "judge eval starter --judge local",
    "judge probe starter --judge local",
    "calibrate sui latest --ranking ranking.csv",
    "label next --as anna",
    "label add 0123456789ab yes --as anna",
    "label list",
    "label undo --as anna",
    "label export",
    "suite adopt . latest",
    "tools try bandit",
    "store list",
    "store show",
    "store gc",
    "store export",
    "store verify",
    "serve --listen 127.0.0.1:0",
];

const PASSWORD: &str = "correct-horse";

/// Runs a command with a store by the flag, or by the variable.
fn run_with(project: &Project, line: &str, url: &str, by_variable: bool) -> CommandOutput {
    let mut command = project.command();
    command.args(line.split_whitespace());
    match by_variable {
        true => command.env("KARAT_STORE", url),
        false => command.args(["--store", url]),
    };
    CommandOutput::start(&mut command)
}

#[test]
fn what_names_no_store_is_refused_by_every_command() {
    let project = Project::new();
    let refused = [
        (format!("mysql://u:{PASSWORD}@db.example.org/karat"), "a mysql URL cannot be a store"),
        ("postgres://".to_owned(), "names no host"),
        (format!("postgres://u:{PASSWORD}@db.example.org"), "names no database"),
        (format!("postgres://u:x/{PASSWORD}@db.example.org/karat"), "cannot be read"),
        (format!("postgres://u:1/{PASSWORD}@db.example.org/karat"), "password as %2F"),
    ];
    for (url, why) in &refused {
        for line in COMMANDS {
            for by_variable in [false, true] {
                let ran = run_with(&project, line, url, by_variable).expect_error(2, &[why]);
                assert!(!(ran.out + &ran.err).contains(PASSWORD), "{line} shows the password of {url}");
            }
        }
    }
    assert_eq!(std::fs::read_dir(project.path("")).unwrap().count(), 0, "something was created");
}

#[test]
fn server_that_does_not_answer_ends_every_command_without_showing_the_password() {
    let project = Project::new();
    let url = format!("postgres://karat:{PASSWORD}@127.0.0.1:1/karat?application_name=test");
    for line in COMMANDS.iter().chain(&["doctor --skip-tools"]) {
        for by_variable in [false, true] {
            let ran = run_with(&project, line, &url, by_variable);
            assert_eq!(ran.code, Some(5), "{line}\n{}{}", ran.out, ran.err);
            let said = ran.out + &ran.err;
            assert!(said.contains("cannot be reached"), "{line}: {said}");
            assert!(said.contains("postgres://karat@127.0.0.1:1/karat"), "{line}: {said}");
            assert!(!said.contains(PASSWORD), "{line} shows the password: {said}");
        }
    }
    // Where nothing was asked for, nothing fails.
    let ran = run_with(&project, "", &url, true).expect_error(0, &["cannot be reached"]);
    assert!(!(ran.out + &ran.err).contains(PASSWORD));
}

#[test]
fn password_is_not_repeated_by_errors_of_the_command_line() {
    let project = Project::new();
    let url = format!("postgres://karat:{PASSWORD}@127.0.0.1:1/karat");
    for arguments in [vec!["store", "list", &url], vec!["--stroe", &url], vec![&*url], vec!["init", &url]] {
        let ran = project.run_list(&arguments).expect(2);
        assert!(!ran.err.contains(PASSWORD), "{}", ran.err);
    }
}

/// A project and the URL of an empty database, or nothing where there is no PostgreSQL.
fn project_with_database() -> Option<(Project, String)> {
    let postgres = or_skip(Postgres::shared())?;
    Some((Project::new(), postgres.new_database().unwrap()))
}

/// The bytes of the latest run's report.
fn report(project: &Project, flags: &str) -> String {
    project.ok(&format!("report latest {flags} -o report.json"));
    let report = project.read("report.json");
    std::fs::remove_file(project.path("report.json")).unwrap();
    report
}

#[test]
fn run_on_a_server_gives_the_report_of_a_run_in_a_folder() {
    let Some((project, url)) = project_with_database() else { return };
    project.run("run starter --name nightly").expect(0);
    let ran = project.run(&format!("run starter --name nightly --store {url}")).expect(0);
    assert!(ran.err.contains("is stored in postgres://karat@127.0.0.1:"), "{}", ran.err);
    assert!(!(ran.out + &ran.err).contains("karat:karat@"), "{}", ran.err);
    assert_eq!(report(&project, ""), report(&project, &format!("--store {url}")));
    let again = project.run(&format!("run --resume nightly --store {url}")).expect(0);
    assert!(again.err.contains("is stored in"), "{}", again.err);
    assert_eq!(project.json(&format!("store list --store {url} --json")).as_array().unwrap().len(), 1);
}

#[test]
fn store_commands_labels_and_probes_work_on_a_server() {
    let Some((project, url)) = project_with_database() else { return };
    let at = |line: &str| format!("{line} --store {url}");
    project.run(&at("store list")).expect_error(5, &["there is no store in postgres://karat@"]);
    project.run(&at("run starter --name nightly")).expect(0);
    assert!(project.ok(&at("store list")).contains("nightly"));
    assert_eq!(project.json(&at("store show nightly --json"))["name"], "nightly");
    assert_eq!(project.json(&at("store verify --json"))["sound"], true);
    assert!(project.run(&at("replay nightly")).expect(0).err.contains("replay of run"));

    let next = project.json(&at("label next --as anna --json"));
    let id = next["next"]["id"].as_str().unwrap().to_owned();
    project.run(&at(&format!("label add {id} yes --as anna"))).expect(0);
    assert_eq!(project.json(&at("label list --json")).as_array().unwrap().len(), 1);
    assert!(project.ok(&at("label export")).contains("human:anna"));

    project.run(&at("judge probe starter --judge local")).expect_error(0, &["stored in postgres://karat@127.0.0.1"]);

    project.run(&at("store export nightly --whole -o nightly.jsonl.gz")).expect(0);
    project.run("store import nightly.jsonl.gz").expect(0);
    assert_eq!(report(&project, ""), report(&project, &format!("--store {url}")));
    project.run(&at("store gc nightly")).expect(0);
    assert_eq!(project.json(&at("store list --json")), Value::Array(Vec::new()));
    project.run(&at("store import nightly.jsonl.gz")).expect(0);
    assert_eq!(report(&project, ""), report(&project, &format!("--store {url}")));

    let doctor = project.json(&at("doctor --skip-tools --json"));
    assert_eq!(doctor["store"]["runs"], 1);
    assert!(doctor["store"]["server_version"].as_str().is_some_and(|version| version.as_bytes()[0].is_ascii_digit()));
}

#[test]
fn pages_of_a_store_on_a_server_are_served() {
    let Some((project, url)) = project_with_database() else { return };
    project.run(&format!("run starter --name nightly --store {url}")).expect(0);
    let server = Server::of_store(&project, &url, &["--label"], &[]);
    let list = server.page("/");
    assert!(list.contains("nightly") && list.contains("postgres://karat@127.0.0.1"), "{list}");
    assert!(!list.contains("karat:karat@"), "{list}");
    let runs = project.json(&format!("store list --store {url} --json"));
    let id = runs[0]["id"].as_str().unwrap();
    assert!(server.page(&format!("/runs/{id}")).contains("nightly"));
    assert!(server.page("/label").contains("nightly"));
}

#[test]
fn store_is_copied_to_a_server_and_back() {
    let Some((project, url)) = project_with_database() else { return };
    project.run("run starter --name nightly").expect(0);
    let id = project.json("label next --as anna --json")["next"]["id"].as_str().unwrap().to_owned();
    project.run(&format!("label add {id} yes --as anna")).expect(0);
    project.run("judge probe starter --judge local").expect(0);
    let there = project.json(&format!("store copy .karat {url} --json"));
    assert_eq!((&there["runs"], &there["were_here"]), (&1.into(), &0.into()));
    assert!(!there.to_string().contains("karat:karat@"), "{there}");
    let again = project.json(&format!("store copy . {url} --json"));
    assert_eq!((&again["added"], &again["were_here"]), (&0.into(), &there["added"]));
    let back = project.json(&format!("store copy {url} back --json"));
    assert_eq!(back["added"], there["added"]);
    for line in ["store list --json", "store show nightly --json", "label list --json", "label export", "store export"]
    {
        let here = project.ok(line);
        assert_eq!(project.ok(&format!("{line} --store {url}")), here, "{line}");
        assert_eq!(project.ok(&format!("{line} --store back")), here, "{line}");
    }
    assert_eq!(project.json(&format!("store verify --json --store {url}"))["sound"], true);
    project.run("store copy . .karat").expect_error(2, &["cannot be copied to itself"]);
    project.run(&format!("store copy {url} {url}?application_name=x")).expect_error(2, &["cannot be copied to itself"]);
    project.run("store copy nowhere elsewhere").expect_error(5, &["there is no store in nowhere"]);
    assert!(!project.path("elsewhere").exists());
}

#[test]
fn password_may_be_in_the_environment() {
    let Some((project, url)) = project_with_database() else { return };
    project.run(&format!("run starter --store {url}")).expect(0);
    let bare = url.replacen("karat:karat@", "karat@", 1);
    let with = |password: &str| {
        let mut command = project.command();
        CommandOutput::start(command.args(["store", "list", "--store", &bare]).env("PGPASSWORD", password))
    };
    with("karat").expect(0);
    let refused = with(PASSWORD).expect_error(5, &["does not let this user in"]);
    assert!(!refused.err.contains(PASSWORD), "{}", refused.err);
}
