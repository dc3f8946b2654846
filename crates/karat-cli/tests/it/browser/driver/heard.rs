//! What a page did while nobody looked: what it asked for, what it complained about, and what it opened.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// All of it, in order.
#[derive(Default)]
pub(super) struct Heard {
    /// Every address that was asked for, allowed or not.
    pub(super) requests: Vec<String>,
    /// Errors and warnings of the console, exceptions, violations of the policy, failed requests, dialogs, and windows and
    /// workers that the page opened.
    pub(super) complaints: Vec<String>,
    /// Documents that have finished loading.
    pub(super) loaded: BTreeSet<String>,
    /// How many times a document finished loading.
    pub(super) loads: usize,
    asked: BTreeMap<String, String>,
}

impl Heard {
    pub(super) fn take(&mut self, method: &str, about: &Value) {
        match method {
            "Network.requestWillBeSent" => {
                let url = text(&about["request"]["url"]);
                self.asked.insert(text(&about["requestId"]), url.clone());
                self.requests.push(url);
            }
            "Network.webSocketCreated" | "Network.webTransportCreated" => self.requests.push(text(&about["url"])),
            "Network.loadingFailed" => self.failed(about),
            "Page.lifecycleEvent" if about["name"] == "load" => {
                self.loaded.insert(text(&about["loaderId"]));
            }
            "Page.loadEventFired" => self.loads += 1,
            "Page.javascriptDialogOpening" => {
                self.complaints.push(format!("dialog: {}: {}", text(&about["type"]), text(&about["message"])));
            }
            "Page.windowOpen" => self.complaints.push(format!("opened: window {}", text(&about["url"]))),
            // Only workers and frames of this page are attached to its session.
            "Target.attachedToTarget" => {
                let target = &about["targetInfo"];
                self.complaints.push(format!("opened: {} {}", text(&target["type"]), text(&target["url"])));
            }
            "Runtime.exceptionThrown" => {
                self.complaints.push(format!("exception: {}", exception(&about["exceptionDetails"])));
            }
            "Runtime.consoleAPICalled" => self.console(about),
            "Log.entryAdded" => self.logged(&about["entry"]),
            _ => {}
        }
    }

    /// Takes one complaint that holds these words; false where there is none.
    pub(super) fn forgive(&mut self, words: &str) -> bool {
        let at = self.complaints.iter().position(|complaint| complaint.contains(words));
        at.map(|at| self.complaints.remove(at)).is_some()
    }

    /// What a page left behind by going elsewhere is no fault.
    fn failed(&mut self, about: &Value) {
        if about["canceled"] == true && about["blockedReason"].is_null() {
            return;
        }
        let url = self.asked.get(&text(&about["requestId"])).cloned().unwrap_or_default();
        self.complaints.push(format!("request: {}: {url}", text(&about["errorText"])));
    }

    fn console(&mut self, about: &Value) {
        let kind = text(&about["type"]);
        if !matches!(kind.as_str(), "error" | "warning" | "assert") {
            return;
        }
        let words = about["args"].as_array().into_iter().flatten();
        let words: Vec<String> = words.map(shown).collect();
        self.complaints.push(format!("console {kind}: {}", words.join(" ")));
    }

    fn logged(&mut self, entry: &Value) {
        let level = text(&entry["level"]);
        if matches!(level.as_str(), "error" | "warning") {
            let (source, said) = (text(&entry["source"]), text(&entry["text"]));
            self.complaints.push(format!("log {level}: {source}: {said} {}", text(&entry["url"])));
        }
    }
}

/// What was thrown, with the place it came from.
pub(super) fn exception(details: &Value) -> String {
    let said = details["exception"]["description"].as_str().map_or_else(|| shown(&details["exception"]), str::to_owned);
    format!("{} {said} (line {})", text(&details["text"]), details["lineNumber"])
}

fn shown(argument: &Value) -> String {
    match (&argument["value"], argument["description"].as_str()) {
        (Value::String(text), _) => text.clone(),
        (Value::Null, Some(description)) => description.to_owned(),
        (value, _) => value.to_string(),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Whether a page at one address may ask for another: itself on disk, what it made itself, or the server it came from.
pub(super) fn is_own(page: &str, asked: &str) -> bool {
    let scheme = asked.split(':').next().unwrap_or_default();
    match scheme {
        "data" | "blob" | "about" => true,
        "file" => bare(page) == bare(asked),
        _ => origin(page).is_some_and(|own| origin(asked) == Some(own)),
    }
}

fn bare(url: &str) -> &str {
    url.split(['#', '?']).next().unwrap_or_default()
}

/// Scheme, host and port; websockets of a server are its own.
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
fn a_page_may_ask_for_itself_and_its_server_alone() {
    let own = |page, asked, expect| assert_eq!(is_own(page, asked), expect, "{page} asks for {asked}");
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
