//! The parts of GitHub's and GitLab's programming interfaces that a comment needs, on loopback. Lists have two entries a page.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) body: Value,
}

/// The status that a request is refused with; `None` if it is answered.
type Refuse = fn(&Request, usize) -> Option<u16>;

#[derive(Default)]
struct State {
    comments: Vec<Value>,
    requests: Vec<Request>,
}

/// A running server; it lives as long as the process.
pub(super) struct Api {
    pub(super) url: String,
    state: Arc<Mutex<State>>,
}

impl Api {
    /// A server that has these comments, and refuses some requests by their number, counted from 1.
    pub(super) fn start(comments: &[Value], refuse: Refuse) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let url = format!("http://127.0.0.1:{}", listener.local_addr().unwrap().port());
        let state = Arc::new(Mutex::new(State { comments: comments.to_vec(), requests: Vec::new() }));
        let (shared, base) = (Arc::clone(&state), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                // A client may disconnect.
                let _ = serve(stream, &shared, &base, refuse);
            }
        });
        Self { url, state }
    }

    pub(super) fn comments(&self) -> Vec<Value> {
        self.state.lock().unwrap().comments.clone()
    }

    pub(super) fn requests(&self) -> Vec<Request> {
        self.state.lock().unwrap().requests.clone()
    }

    /// The requests so far, without their queries.
    pub(super) fn asked(&self) -> Vec<String> {
        let line = |request: &Request| format!("{} {}", request.method, request.path.split('?').next().unwrap());
        self.requests().iter().map(line).collect()
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>, base: &str, refuse: Refuse) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace().map(str::to_owned);
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = Request { method, path, headers, body: serde_json::from_slice(&body).unwrap_or_default() };
    let mut state = state.lock().unwrap();
    state.requests.push(request.clone());
    let number = state.requests.len();
    let (status, link, answer) = match refuse(&request, number) {
        Some(status) => (status, String::new(), json!({ "message": "refused" })),
        None => state.answer(&request, base),
    };
    let text = answer.to_string();
    write!(
        &stream,
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{link}\r\n{text}",
        text.len()
    )
}

impl State {
    /// The status, a header for the next page, and the body.
    fn answer(&mut self, request: &Request, base: &str) -> (u16, String, Value) {
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        let is_list = path.ends_with("/comments") || path.ends_with("/notes");
        match request.method.as_str() {
            "GET" if path == "/user" => (200, String::new(), json!({ "id": 7 })),
            "GET" if is_list => {
                let page =
                    query.split('&').find_map(|part| part.strip_prefix("page=")?.parse().ok()).unwrap_or(1_usize);
                let entries: Vec<&Value> = self.comments.iter().skip(2 * (page - 1)).take(2).collect();
                let more = self.comments.len() > 2 * page;
                let link = format!("Link: <{base}{path}?per_page=2&page={}>; rel=\"next\"\r\n", page + 1);
                (200, if more { link } else { String::new() }, json!(entries))
            }
            "POST" if is_list => {
                let id = 100 + self.comments.len();
                let author = json!({ "id": id, "user": { "type": "Bot" }, "author": { "id": 7 } });
                self.comments.push(author);
                self.set_body(id, &request.body)
            }
            "PATCH" | "PUT" => {
                let id = path.rsplit('/').next().and_then(|id| id.parse().ok()).unwrap_or(0);
                self.set_body(id, &request.body)
            }
            "POST" if path.ends_with("/code-scanning/sarifs") => (202, String::new(), json!({ "id": "1" })),
            _ => (404, String::new(), json!({ "message": "Not Found" })),
        }
    }

    fn set_body(&mut self, id: usize, body: &Value) -> (u16, String, Value) {
        let Some(comment) = self.comments.iter_mut().find(|comment| comment["id"] == id) else {
            return (404, String::new(), Value::Null);
        };
        comment["body"] = body["body"].clone();
        (200, String::new(), comment.clone())
    }
}
