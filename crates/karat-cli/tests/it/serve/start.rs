//! Starting and ending.

use super::Server;
use crate::project::Project;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn others_are_served_with_a_token_alone() {
    let project = Project::new();
    project.run("serve --listen 0.0.0.0:0 --no-token").says(2, &["a token is required", "omit --no-token"]);
    project.run("serve --listen [::]:0 --no-token").says(2, &["a token is required"]);
    project.run("serve --no-token --token auto").says(2, &["cannot be used with"]);
    project.run("serve --listen 0.0.0.0:0 --token short").says(2, &["16", "omit --token", "openssl rand"]);
    project.run("serve --token-lifetime soon").says(2, &["invalid duration"]);
    project.run_list(&["serve", "--token", "sixteen letters; and more"]).says(2, &["letters, digits"]);
    let server = Server::start(&project, &["--listen", "0.0.0.0:0", "--host", "karat.example"]);
    assert!(server.token.as_ref().is_some_and(|token| token.len() >= 32), "{}", server.told);
    let ask = |host: &str| server.ask("GET", "/healthz", &[("host", host)], "");
    assert_eq!(server.ask_as("GET", "/healthz", &[], "").status, 401);
    assert_eq!(ask("karat.example").status, 200);
    assert_eq!(ask("10.0.0.5:7331").status, 200);
    assert_eq!(ask("evil.example").status, 403);
}

#[test]
fn an_address_that_cannot_be_had_is_told() {
    let project = Project::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    project.run(&format!("serve --listen {address}")).says(5, &["another program uses this port", "--listen"]);
    project.run("serve --listen 192.0.2.1:7331 --token auto").says(5, &["no such address"]);
    project.run("serve --listen nonsense").says(2, &["--listen nonsense", "127.0.0.1:7331"]);
    project.run_list(&["serve", "--host", "a b"]).says(2, &["--host a b"]);
}

#[test]
fn a_signal_ends_it_at_once_and_well() {
    let project = Project::new();
    for signal in ["INT", "TERM"] {
        let mut server = Server::start(&project, &[]);
        // Somebody who sends nothing is not waited for.
        let _silent = server.connect();
        let began = Instant::now();
        let told = Command::new("kill").args([format!("-{signal}"), server.process().to_string()]).status().unwrap();
        assert!(told.success());
        let ended = server.child.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{signal}");
        assert!(began.elapsed() < Duration::from_secs(10), "{signal}: {:?}", began.elapsed());
    }
}

/// The first lines that a server says to people.
fn said(project: &Project, arguments: &[&str], token: &str, lines: usize) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(["serve", "--store", "elsewhere"])
        .args(arguments)
        .env("KARAT_SERVE_TOKEN", token)
        .current_dir(project.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let said = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let said = said.take(lines).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

#[test]
fn it_says_what_it_serves_and_never_who_may_come() {
    let project = Project::new();
    let token = "a-token-of-a-fair-length";
    let here = said(&project, &["--listen", "127.0.0.1:0"], token, 4);
    assert!(here[0].contains("serving elsewhere on http://127.0.0.1:") && !here[0].contains("other"), "{here:?}");
    assert!(here.iter().any(|line| line.contains("no store yet")), "{here:?}");
    let all = said(&project, &["--listen", "0.0.0.0:0"], token, 4);
    let port = all[0].split("http://localhost:").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    assert!(all[0].ends_with(&format!(" and on this computer's other addresses, port {port}")), "{all:?}");
    assert!(!here.iter().chain(&all).any(|line| line.contains(token)), "{here:?} {all:?}");
}
