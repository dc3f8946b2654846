//! `karat serve`: the real server on a free port, queried over plain sockets.

mod access;
mod auth;
mod load;
mod pages;
mod start;

use crate::project::{Project, lines, suite, trial};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server on a free port, killed when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// What it printed: `url`, and `label_url` in label mode.
    pub(crate) printed: Value,
    /// The access token, if it printed one. Requests send it unless they send other credentials.
    pub(crate) token: Option<String>,
}

impl Server {
    /// Starts `karat serve` over the project's store.
    pub(crate) fn start(project: &Project, more: &[&str]) -> Self {
        Self::with_variables(project, more, &[])
    }

    pub(crate) fn with_variables(project: &Project, more: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of_store(project, ".karat", more, variables)
    }

    /// Starts `karat serve` over a store by its folder or URL.
    pub(crate) fn of_store(project: &Project, store: &str, more: &[&str], variables: &[(&str, &str)]) -> Self {
        let listen: &[&str] = if more.contains(&"--listen") { &[] } else { &["--listen", "127.0.0.1:0"] };
        let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
        command.args(["serve", "--json", "--store", store]).args(listen).args(more).current_dir(project.path(""));
        command.env("XDG_CONFIG_HOME", project.path(".user"));
        command.env_remove("KARAT_STORE").env_remove("KARAT_SERVE_TOKEN").envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let printed: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("no line of JSON: {line:?}"));
        let port =
            printed["url"].as_str().unwrap().split(['/', ':']).filter_map(|part| part.parse::<u16>().ok()).next();
        let token = printed["url"].as_str().unwrap().split_once("?token=").map(|(_, token)| token.to_owned());
        Self { child, address: SocketAddr::from(([127, 0, 0, 1], port.unwrap())), printed, token }
    }

    /// A page's URL, with the token if there is one.
    pub(crate) fn at(&self, path: &str) -> String {
        let mark = if path.contains('?') { '&' } else { '?' };
        let token = self.token.as_ref().map(|token| format!("{mark}token={token}")).unwrap_or_default();
        format!("http://{}{path}{token}", self.address)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// The body of a page that must exist.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).unwrap()
    }

    /// Any request. Adds this server's host and token unless the headers have them.
    pub(crate) fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let shows = |name: &str| headers.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
        let token =
            self.token.as_ref().filter(|_| !shows("authorization") && !shows("cookie") && !path.contains("token="));
        let bearer = token.map(|token| format!("Bearer {token}"));
        let own = bearer.as_ref().map(|bearer| ("authorization", bearer.as_str()));
        self.ask_as(method, path, &headers.iter().copied().chain(own).collect::<Vec<_>>(), body)
    }

    /// A request with no credentials but those in the headers and the path.
    pub(crate) fn ask_as(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nconnection: close\r\n");
        if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("content-length: {}\r\n\r\n{body}", body.len()));
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        Answer::read(&mut stream)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        stream
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    head: String,
    pub(crate) body: String,
}

impl Answer {
    fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head: {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let pair = |line: &'_ str| line.split_once(": ").map(|(name, value)| (name.to_ascii_lowercase(), value.len()));
        let line = self.head.lines().find(|line| pair(line).is_some_and(|(there, _)| there == name))?;
        line.split_once(": ").map(|(_, value)| value)
    }
}

/// A name that breaks out of HTML if it is not escaped.
const HOSTILE: &str = "x\"><script>alert(1)</script><b title='";

/// A project with a suite of two cases and two finished runs: a careful tool, then one that finds less.
fn two_runs() -> Project {
    let issue = |id: &str| json!({ "id": id, "title": "SQL injection", "file": "a.py", "line_start": 2 });
    let cases = [json!({ "id": "one", "issues": [issue("g1")] }), json!({ "id": "two", "issues": [issue("g1")] })];
    let project = suite(&cases);
    let found = json!([{ "id": "f", "title": "SQL injection", "file": "a.py", "line_start": 2 }]);
    let good = [trial("one", HOSTILE, 1, found.clone()), trial("two", HOSTILE, 1, found.clone())];
    let bad = [trial("one", HOSTILE, 1, found), trial("two", HOSTILE, 1, json!([]))];
    project.write("good.jsonl", lines(&good));
    project.write("bad.jsonl", lines(&bad));
    for (file, name) in [("good", HOSTILE), ("bad", "second")] {
        let tool = format!("replay:{file}.jsonl");
        project.run_list(&["run", ".", "--tool", &tool, "--trials", "1", "--name", name, "-q"]).expect(0);
    }
    project
}

/// The ids of the runs, newest first.
fn run_ids(project: &Project) -> Vec<String> {
    let runs = project.json("store list --json");
    runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap().to_owned()).collect()
}
