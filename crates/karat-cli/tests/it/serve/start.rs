//! Starting and stopping the server.

use super::Server;
use crate::project::Project;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Instant;

#[test]
fn listening_on_all_addresses_needs_a_token() {
    let project = Project::new();
    project.run("serve --listen 0.0.0.0:0 --no-token").expect_error(2, &["a token is required", "omit --no-token"]);
    project.run("serve --listen [::]:0 --no-token").expect_error(2, &["a token is required"]);
    project.run("serve --no-token --token auto").expect_error(2, &["cannot be used with"]);
    project.run("serve --listen 0.0.0.0:0 --token short").expect_error(2, &["16", "omit --token", "openssl rand"]);
    project.run("serve --token-lifetime soon").expect_error(2, &["invalid duration"]);
    project.run_list(&["serve", "--token", "sixteen letters; and more"]).expect_error(2, &["letters, digits"]);
    let server = Server::start(&project, &["--listen", "0.0.0.0:0", "--host", "karat.example"]);
    assert!(server.token.as_ref().is_some_and(|token| token.len() >= 32), "{}", server.printed);
    let ask = |host: &str| server.ask("GET", "/healthz", &[("host", host)], "");
    assert_eq!(server.ask_as("GET", "/healthz", &[], "").status, 401);
    assert_eq!(ask("karat.example").status, 200);
    assert_eq!(ask("10.0.0.5:7331").status, 200);
    assert_eq!(ask("evil.example").status, 403);
}

#[test]
fn unusable_listen_address_is_reported() {
    let project = Project::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    project.run(&format!("serve --listen {address}")).expect_error(5, &["another program uses this port", "--listen"]);
    project.run("serve --listen 192.0.2.1:7331 --token auto").expect_error(5, &["no such address"]);
    project.run("serve --listen nonsense").expect_error(2, &["--listen nonsense", "127.0.0.1:7331"]);
    project.run_list(&["serve", "--host", "a b"]).expect_error(2, &["--host a b"]);
}

#[test]
fn signals_end_the_server_promptly_with_success() {
    let project = Project::new();
    for signal in ["INT", "TERM"] {
        let mut server = Server::start(&project, &[]);
        // The server does not wait for a client that sends nothing.
        let _silent = server.connect();
        let began = Instant::now();
        let status = Command::new("kill").args([format!("-{signal}"), server.process().to_string()]).status().unwrap();
        assert!(status.success());
        let ended = server.child.wait().unwrap();
        assert_eq!(ended.code(), Some(0), "{signal}");
        assert!(began.elapsed() < crate::run::STOP_LIMIT, "{signal}: {:?}", began.elapsed());
    }
}

/// The first lines of the server's stderr.
fn read_startup_lines(project: &Project, arguments: &[&str], token: &str, lines: usize) -> Vec<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(["serve", "--store", "elsewhere"])
        .args(arguments)
        .env("KARAT_SERVE_TOKEN", token)
        .env("XDG_CONFIG_HOME", project.path(".user"))
        .current_dir(project.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stderr = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let first = stderr.take(lines).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    first
}

#[test]
fn startup_lines_name_the_store_and_not_the_token() {
    let project = Project::new();
    let token = "a-token-of-a-fair-length";
    let here = read_startup_lines(&project, &["--listen", "127.0.0.1:0"], token, 4);
    assert!(here[0].contains("serving elsewhere on http://127.0.0.1:") && !here[0].contains("other"), "{here:?}");
    assert!(here.iter().any(|line| line.contains("no store yet")), "{here:?}");
    let all = read_startup_lines(&project, &["--listen", "0.0.0.0:0"], token, 4);
    let port = all[0].split("http://localhost:").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    assert!(all[0].ends_with(&format!(" and on this computer's other addresses, port {port}")), "{all:?}");
    assert!(!here.iter().chain(&all).any(|line| line.contains(token)), "{here:?} {all:?}");
}
