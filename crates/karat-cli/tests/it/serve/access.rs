//! Tokens: who needs them, how long they are valid, how often they may be wrong, and what the access log holds.

use super::{Answer, Server, two_runs};
use crate::project::{Project, report_skipped};
use crate::run::{parsed, sandboxed, with_cases, with_tool};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, Stream, crypto::ring};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

const TOKEN: &str = "a-token-of-a-fair-length";

/// Opens the server with the token as a browser does and returns the cookie.
fn log_in(server: &Server, token: &str) -> String {
    let welcome = server.get(&format!("/?token={token}"));
    let cookie = welcome.header("set-cookie").unwrap_or_else(|| panic!("{welcome:?}"));
    assert!(!cookie.contains(token), "the cookie contains the token");
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn pages_on_loopback_need_the_token() {
    let project = two_runs();
    let server = Server::start(&project, &["--label"]);
    let token = server.token.clone().unwrap();
    let label = server.printed["label_url"].as_str().unwrap().split_once("#token=").unwrap().1;
    let paths = [
        "/",
        "/runs/latest",
        "/runs/latest/live",
        "/runs/latest/report.json",
        "/runs/latest/progress.json",
        "/compare?a=latest&b=latest",
        "/label",
        "/label/latest/pairs?as=anna",
        "/api/label/latest/pairs?as=anna",
        "/healthz",
        "/nothing",
    ];
    for path in paths {
        let refused = server.ask_as("GET", path, &[], "");
        assert_eq!(refused.status, 401, "{path}");
        assert!(!refused.body.contains("second") && !refused.body.contains(&token), "{path}: {}", refused.body);
        assert_ne!(server.get(path).status, 401, "{path} with the token");
    }
    let json = [("content-type", "application/json"), ("x-karat-token", label)];
    let write = server.ask_as("POST", "/api/label/latest/pairs/undo", &json, "{\"as\":\"anna\"}");
    assert_eq!(write.status, 401, "the label token must not open pages: {}", write.body);
    let inside = server.ask_as("GET", "/", &[("cookie", &log_in(&server, &token))], "");
    assert!(inside.status == 200 && inside.body.contains("second"));

    let open = Server::start(&project, &["--no-token"]);
    assert_eq!(open.token, None);
    assert_eq!(open.get("/").status, 200);
}

/// A tool with access to loopback: it requests pages, tries to write, and searches temporary files and the arguments
/// of other processes for a token. Everything it finds is in its result.
const SPY: &str = r#"
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$PORT" || return
  printf '%s HTTP/1.0\r\nhost: 127.0.0.1:%s\r\n%s\r\n' "$1" "$PORT" "$2" >&3
  cat <&3
}
{
  ask 'GET /' ''
  ask 'GET /runs/latest/report.json' ''
  ask 'POST /api/label/latest/pairs/undo' $'content-type: application/json\r\ncontent-length: 0\r\n'
  cat "$SIGNPOSTS"/karat-serve-*.html
  cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline | tr '\0' '\n'
} > seen.txt 2>/dev/null
printf '{"findings":[{"title":"seen","message":"%s","file":"app.py"}]}' "$(base64 -w0 seen.txt)" > "$2"
"#;

#[test]
fn tool_with_loopback_access_gets_no_page_and_no_token() {
    if !sandboxed() || !Path::new("/bin/bash").exists() {
        return report_skipped(
            "this system keeps nothing from a tool, or there is no bash, which connects without another program",
        );
    }
    let project = with_cases(1);
    // A browser that never opens: the redirect file stays until the server ends.
    project.write("bin/xdg-open", "#!/bin/sh\nexit 0\n");
    std::fs::set_permissions(project.path("bin/xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::create_dir(project.path("signposts")).unwrap();
    let (path, signposts) = (project.path("bin"), project.path("signposts"));
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap_or_default());
    let signposts = signposts.to_str().unwrap();
    let variables = [("PATH", path.as_str()), ("TMPDIR", signposts)];
    let server = Server::with_variables(&project, &["--label", "--open"], &variables);
    let token = server.token.clone().unwrap();
    // It is written once the server listens.
    let redirect_has_token = || {
        let mut files = std::fs::read_dir(signposts).unwrap().flatten();
        files.any(|file| std::fs::read_to_string(file.path()).is_ok_and(|page| page.contains(&token)))
    };
    let began = std::time::Instant::now();
    while !redirect_has_token() {
        assert!(began.elapsed() < crate::run::STOP_LIMIT, "no redirect file with the token appeared");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }

    let port = server.address.port();
    let script = format!("PORT={port} SIGNPOSTS='{signposts}'\n{SPY}");
    with_tool(&project, "spy", &script, "loopback = true");
    // bash can connect without another program.
    project.write("tools/spy.sh", format!("#!/bin/bash\n{script}"));
    let ran = project.run("run suite --tool tools/spy.toml --trials 1 --store .karat --json -q");
    assert_eq!(parsed(&ran).pointer("/tools/0/outcomes/reported"), Some(&1.into()), "{}", ran.err);
    let exported = project.run("store export latest --store .karat").out;
    let finding: serde_json::Value = serde_json::from_str(exported.lines().next().unwrap()).unwrap();
    let report = finding.pointer("/findings/0/message").and_then(serde_json::Value::as_str).unwrap();
    let report = base64::Engine::decode(&base64::engine::general_purpose::STANDARD, report).unwrap();
    let report = String::from_utf8_lossy(&report);
    assert_eq!(report.matches("HTTP/1.0 401").count(), 3, "{report}");
    assert!(!report.contains(&token), "the tool found the token: {report}");
}

#[test]
fn wrong_tokens_are_rate_limited() {
    let project = two_runs();
    let server = Server::with_variables(&project, &[], &[("KARAT_SERVE_TOKEN", TOKEN)]);
    let cookie = log_in(&server, TOKEN);
    let bearer = |token: &str| server.ask_as("GET", "/", &[("authorization", &format!("Bearer {token}"))], "");
    for n in 0..10 {
        let wrong = if n % 2 == 0 { server.get("/?token=wrong") } else { bearer("wrong") };
        assert_eq!(wrong.status, 401, "{n}");
        // Requests without a token, or with an old cookie, do not count as guesses.
        assert_eq!(server.ask_as("GET", "/", &[], "").status, 401);
        assert_eq!(server.ask_as("GET", "/", &[("cookie", &format!("{cookie}x"))], "").status, 401);
    }
    let check = |answer: Answer| {
        assert_eq!(answer.status, 429, "{}", answer.body);
        let wait: u64 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=61).contains(&wait), "{wait}");
    };
    check(bearer("wrong"));
    check(bearer(TOKEN));
    check(server.get(&format!("/?token={TOKEN}")));
    assert_eq!(server.ask_as("GET", "/", &[("cookie", &cookie)], "").status, 200, "an existing session stays valid");
}

/// A server whose stderr is read line by line.
struct LoggedServer(Child, BufReader<std::process::ChildStderr>);

impl LoggedServer {
    fn start(project: &Project, more: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
        command
            .args(["serve", "--store", ".karat", "--listen", "127.0.0.1:0"])
            .args(more)
            .env("XDG_CONFIG_HOME", project.path(".user"))
            .current_dir(project.path(""));
        command.env_remove("KARAT_SERVE_TOKEN").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let words = BufReader::new(child.stderr.take().unwrap());
        Self(child, words)
    }

    /// The next line that contains `words`.
    fn line(&mut self, words: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.1.read_line(&mut line).unwrap(), 0, "the server ended without printing {words:?}");
            if line.contains(words) {
                return line.trim_end().to_owned();
            }
        }
    }
}

impl Drop for LoggedServer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The host and the token of the URL in a line.
fn parse_url(line: &str) -> (String, String) {
    let address = line.split("http://").nth(1).unwrap();
    let (host, token) = address.split_once("/?token=").unwrap();
    (host.to_owned(), token.to_owned())
}

fn request(host: &str, path: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "GET {path} HTTP/1.0\r\nhost: {host}\r\n{header}\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn unused_token_expires_and_a_new_one_is_printed() {
    let project = two_runs();
    let mut server = LoggedServer::start(&project, &["--token-lifetime", "2s"]);
    let (host, printed) = parse_url(&server.line("serving"));
    let (old, cookie) = log_in_with_newest(&mut server, &host, printed);
    // Longer than the lifetime, without any use.
    std::thread::sleep(Duration::from_millis(2100));
    let refused = request(&host, "/healthz", &format!("cookie: {cookie}\r\n"));
    assert!(refused.starts_with("HTTP/1.0 401"), "{refused}");
    let (same, new) = parse_url(&server.line("the new address is"));
    assert!(same == host && new != old);
    assert!(request(&host, "/healthz", &format!("authorization: Bearer {old}\r\n")).starts_with("HTTP/1.0 401"));
    log_in_with_newest(&mut server, &host, new);
}

/// The token that was accepted, and the cookie for it. On a busy machine a token may expire before its first use; then the server
/// has printed another.
fn log_in_with_newest(server: &mut LoggedServer, host: &str, mut token: String) -> (String, String) {
    loop {
        let welcome = request(host, &format!("/?token={token}"), "");
        if welcome.starts_with("HTTP/1.0 303") {
            let cookie = welcome.split("set-cookie: ").nth(1).unwrap().split(';').next().unwrap().to_owned();
            return (token, cookie);
        }
        assert!(welcome.starts_with("HTTP/1.0 401"), "{welcome}");
        token = parse_url(&server.line("the new address is")).1;
    }
}

#[test]
fn access_log_holds_no_secrets() {
    let project = two_runs();
    let server = Server::start(&project, &["--label", "--access-log", "access.log"]);
    let token = server.token.clone().unwrap();
    let label = server.printed["label_url"].as_str().unwrap().split_once("#token=").unwrap().1;
    server.get(&format!("/runs/latest?token={token}&x=1"));
    server.ask_as("GET", "/?token=wrong-token-of-somebody", &[], "");
    server.get(&format!("/{token}/{label}"));
    server.ask("POST", "/api/label/latest/pairs/undo", &[("x-karat-token", label)], "");
    let page = server.get("/runs/second");
    let log = project.read("access.log");
    for secret in [token.as_str(), label, "wrong-token", "token=", "x=1"] {
        assert!(!log.contains(secret), "{secret} in:\n{log}");
    }
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split(' ').collect()).collect();
    let requests: Vec<String> = lines.iter().map(|line| line[1..5].join(" ")).collect();
    assert_eq!(
        requests,
        [
            "127.0.0.1 GET /runs/latest 303",
            "127.0.0.1 GET / 401",
            "127.0.0.1 GET /.../... 404",
            "127.0.0.1 POST /api/label/latest/pairs/undo 415",
            "127.0.0.1 GET /runs/second 200",
        ]
    );
    let last = lines.last().unwrap();
    assert!(last[0].ends_with('Z') && last[0].len() == 24, "{last:?}");
    assert_eq!(last[5], page.body.len().to_string());
    assert!(last[6].parse::<u64>().is_ok(), "{last:?}");
    let mode = project.path("access.log").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o077, 0, "the access log is readable by others");

    let mut logged = LoggedServer::start(&project, &["--access-log", "-"]);
    let (host, token) = parse_url(&logged.line("serving"));
    request(&host, "/healthz", &format!("authorization: Bearer {token}\r\n"));
    assert!(logged.line("GET /healthz").contains(" 127.0.0.1 GET /healthz 200 3 "));
    project.run("serve --access-log no/such/folder/log").expect_error(5, &["--access-log no/such/folder/log"]);
}

#[test]
fn pages_are_served_over_tls_with_a_certificate() {
    let project = two_runs();
    let pem = include_str!("localhost.pem");
    project.write("localhost.pem", pem);
    project.write("empty.pem", "nothing\n");
    project.run("serve --tls-cert localhost.pem").expect_error(2, &["--tls-key"]);
    project.run("serve --tls-cert none.pem --tls-key localhost.pem").expect_error(4, &["--tls-cert none.pem"]);
    project.run("serve --tls-cert empty.pem --tls-key localhost.pem").expect_error(4, &["no certificate"]);
    project.run("serve --tls-cert localhost.pem --tls-key empty.pem").expect_error(4, &["--tls-key empty.pem"]);
    let server = Server::start(&project, &["--tls-cert", "localhost.pem", "--tls-key", "localhost.pem"]);
    let url = server.printed["url"].as_str().unwrap();
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");

    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let ask = |path: &str| {
        let mut client = ClientConnection::new(Arc::clone(&config), "localhost".try_into().unwrap()).unwrap();
        let mut socket = server.connect();
        let mut stream = Stream::new(&mut client, &mut socket);
        write!(stream, "GET {path} HTTP/1.0\r\nhost: localhost:{}\r\n\r\n", server.address.port()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    assert!(ask("/").starts_with("HTTP/1.0 401"));
    let welcome = ask(&format!("/?token={}", server.token.as_ref().unwrap()));
    assert!(welcome.starts_with("HTTP/1.0 303") && welcome.contains("SameSite=Strict; Path=/; Secure"), "{welcome}");
    // Plain HTTP gets no answer.
    let mut plain = server.connect();
    write!(plain, "GET / HTTP/1.0\r\nhost: {}\r\n\r\n", server.address).unwrap();
    let mut answer = Vec::new();
    let _ = plain.read_to_end(&mut answer);
    assert!(!String::from_utf8_lossy(&answer).contains("HTTP"), "{answer:?}");
}
