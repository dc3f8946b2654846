//! A log of what a page did: its requests, its problems, and the windows and workers it opened.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct PageLog {
    /// The URL of every request, allowed or not.
    pub(super) requests: Vec<String>,
    /// Errors and warnings of the console, exceptions, policy violations, failed requests, dialogs, and opened windows and
    /// workers.
    pub(super) problems: Vec<String>,
    /// Loader ids of documents that have finished loading.
    pub(super) loaded: BTreeSet<String>,
    /// How many times a document finished loading.
    pub(super) loads: usize,
    requested: BTreeMap<String, String>,
}

impl PageLog {
    pub(super) fn record(&mut self, method: &str, about: &Value) {
        match method {
            "Network.requestWillBeSent" => {
                let url = text(&about["request"]["url"]);
                self.requested.insert(text(&about["requestId"]), url.clone());
                self.requests.push(url);
            }
            "Network.webSocketCreated" | "Network.webTransportCreated" => self.requests.push(text(&about["url"])),
            "Network.loadingFailed" => self.failed(about),
            "Page.lifecycleEvent" if about["name"] == "load" => {
                self.loaded.insert(text(&about["loaderId"]));
            }
            "Page.loadEventFired" => self.loads += 1,
            "Page.javascriptDialogOpening" => {
                self.problems.push(format!("dialog: {}: {}", text(&about["type"]), text(&about["message"])));
            }
            "Page.windowOpen" => self.problems.push(format!("opened: window {}", text(&about["url"]))),
            // Only workers and frames of this page are attached to its session.
            "Target.attachedToTarget" => {
                let target = &about["targetInfo"];
                self.problems.push(format!("opened: {} {}", text(&target["type"]), text(&target["url"])));
            }
            "Runtime.exceptionThrown" => {
                self.problems.push(format!("exception: {}", exception(&about["exceptionDetails"])));
            }
            "Runtime.consoleAPICalled" => self.console(about),
            "Log.entryAdded" => self.logged(&about["entry"]),
            _ => {}
        }
    }

    /// Removes one problem that contains these words; false if there is none.
    pub(super) fn remove_problem(&mut self, words: &str) -> bool {
        let at = self.problems.iter().position(|problem| problem.contains(words));
        at.map(|at| self.problems.remove(at)).is_some()
    }

    /// Requests that were cancelled by a navigation are not problems.
    fn failed(&mut self, about: &Value) {
        if about["canceled"] == true && about["blockedReason"].is_null() {
            return;
        }
        let url = self.requested.get(&text(&about["requestId"])).cloned().unwrap_or_default();
        self.problems.push(format!("request: {}: {url}", text(&about["errorText"])));
    }

    fn console(&mut self, about: &Value) {
        let kind = text(&about["type"]);
        if !matches!(kind.as_str(), "error" | "warning" | "assert") {
            return;
        }
        let words = about["args"].as_array().into_iter().flatten();
        let words: Vec<String> = words.map(console_text).collect();
        self.problems.push(format!("console {kind}: {}", words.join(" ")));
    }

    fn logged(&mut self, entry: &Value) {
        let level = text(&entry["level"]);
        if matches!(level.as_str(), "error" | "warning") {
            self.problems.push(format!(
                "log {level}: {}: {} {}",
                text(&entry["source"]),
                text(&entry["text"]),
                text(&entry["url"])
            ));
        }
    }
}

/// An exception with its line.
pub(super) fn exception(details: &Value) -> String {
    let thrown =
        details["exception"]["description"].as_str().map_or_else(|| console_text(&details["exception"]), str::to_owned);
    format!("{} {thrown} (line {})", text(&details["text"]), details["lineNumber"])
}

fn console_text(argument: &Value) -> String {
    match (&argument["value"], argument["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(description)) => description.to_owned(),
        (value, _) => value.to_string(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a page may request an address: the page itself on disk, its own data, or the server it came from.
pub(super) fn is_own(page: &str, requested: &str) -> bool {
    let scheme = requested.split(':').next().unwrap_or_default();
    match scheme {
        "data" | "blob" | "about" => true,
        "file" => bare(page) == bare(requested),
        _ => origin(page).is_some_and(|own| origin(requested) == Some(own)),
    }
}

fn bare(url: &str) -> &str {
    url.split(['#', '?']).next().unwrap_or_default()
}

/// Scheme, host and port; a server's websockets have its origin.
fn origin(url: &str) -> Option<(bool, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let secure = match scheme {
        "http" | "ws" => false,
        "https" | "wss" => true,
        _ => return None,
    };
    Some((secure, rest.split(['/', '?', '#']).next().unwrap_or_default()))
}

#[test]
fn only_the_page_and_its_server_are_own() {
    let own = |page, requested, expect| assert_eq!(is_own(page, requested), expect, "{page} asks for {requested}");
    own("file:///a/r.html#x", "file:///a/r.html", true);
    own("file:///a/r.html", "file:///a/other.js", false);
    own("file:///a/r.html", "data:image/png;base64,x", true);
    own("file:///a/r.html", "http://127.0.0.1:1/", false);
    own("http://127.0.0.1:1/a", "http://127.0.0.1:1/b?c", true);
    own("http://127.0.0.1:1/a", "ws://127.0.0.1:1/live", true);
    own("http://127.0.0.1:1/a", "http://127.0.0.1:2/b", false);
    own("http://127.0.0.1:1/a", "https://127.0.0.1:1/b", false);
    own("http://127.0.0.1:1/a", "http://127.0.0.1:1.evil.example/b", false);
    own("http://127.0.0.1:1/a", "https://fonts.example/x", false);
    own("http://127.0.0.1:1/a", "file:///etc/passwd", false);
}
