//! A tab: navigation, reading the page, and waiting for conditions.

use super::page_log::{PageLog, exception, is_own};
use super::{Browser, Screen, TIMEOUT};
use serde_json::{Value, json};
use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

/// A tab and the log of its page.
pub(crate) struct Tab {
    browser: Browser,
    context: String,
    target: String,
    session: String,
    /// Whether the context is disposed with this tab.
    owns_context: bool,
    pub(super) screen: Cell<Screen>,
    timeout: Cell<Duration>,
    scripts_enabled: Cell<bool>,
}

impl Tab {
    #[track_caller]
    pub(super) fn open(browser: Browser, context: &str, owns_context: bool) -> Self {
        let about = json!({ "url": "about:blank", "browserContextId": context, "newWindow": true });
        let target = browser.own.pipe.call(None, "Target.createTarget", about);
        let target = target["targetId"].as_str().expect("a target has an id").to_owned();
        let attached = json!({ "targetId": target, "flatten": true });
        let session = browser.own.pipe.call(None, "Target.attachToTarget", attached);
        let session = session["sessionId"].as_str().expect("a session has an id").to_owned();
        let context = context.to_owned();
        let (screen, timeout) = (Cell::new(Screen::LAPTOP), Cell::new(TIMEOUT));
        let scripts_enabled = Cell::new(true);
        let tab = Self { browser, context, target, session, owns_context, screen, timeout, scripts_enabled };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        tab.call("Target.setAutoAttach", attach);
        tab.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        // Keyboard tests need the focus also with two tabs side by side.
        tab.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        tab.emulate(Screen::LAPTOP);
        tab
    }

    /// Opens another tab with the same cookies and storage.
    #[track_caller]
    pub(crate) fn open_beside(&self, url: &str) -> Self {
        let tab = Self::open(self.browser.clone(), &self.context, false);
        tab.go(url);
        tab
    }

    /// Changes the upper bound of waits for the page.
    pub(crate) fn set_timeout(&self, timeout: Duration) {
        self.timeout.set(timeout);
    }

    pub(super) fn timeout(&self) -> Duration {
        self.timeout.get()
    }

    /// Turns scripts of pages on or off.
    #[track_caller]
    pub(crate) fn set_scripts_enabled(&self, on: bool) {
        self.scripts_enabled.set(on);
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !on }));
    }

    pub(super) fn scripts_enabled(&self) -> bool {
        self.scripts_enabled.get()
    }

    /// Runs a script in every page from now on, before its own scripts.
    #[track_caller]
    pub(crate) fn add_init_script(&self, js: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": js }));
    }

    /// Keeps what pages of this tab download in a folder, under the names they ask for.
    #[track_caller]
    pub(crate) fn save_downloads(&self, folder: &Path) {
        let about = json!({ "behavior": "allow", "browserContextId": self.context, "downloadPath": folder });
        self.browser.own.pipe.call(None, "Browser.setDownloadBehavior", about);
    }

    /// Opens a URL and waits until it is loaded.
    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        let gone = self.call("Page.navigate", json!({ "url": url }));
        if let Some(why) = gone["errorText"].as_str() {
            panic!("{url} does not open: {why}");
        }
        // A navigation within a document loads nothing.
        let Some(loader) = gone["loaderId"].as_str() else { return };
        let loaded = |log: &PageLog| log.loaded.contains(loader).then_some(());
        if self.browser.own.pipe.wait_log(&self.session, loaded).is_none() {
            panic!("{url} did not finish loading\n{}", self.describe());
        }
    }

    /// Reloads the page and waits until it is loaded.
    #[track_caller]
    pub(crate) fn reload(&self) {
        self.wait_for_navigation(|| {
            self.call("Page.reload", json!({}));
        });
    }

    /// Does something that loads another document and waits until it is loaded.
    #[track_caller]
    pub(crate) fn wait_for_navigation(&self, act: impl FnOnce()) {
        let before = self.browser.own.pipe.with_log(&self.session, |log| log.loads);
        act();
        let more = |log: &PageLog| (log.loads > before).then_some(());
        if self.browser.own.pipe.wait_log(&self.session, more).is_none() {
            panic!("no document was loaded\n{}", self.describe());
        }
    }

    #[track_caller]
    pub(crate) fn back(&self) {
        self.step(-1);
    }

    #[track_caller]
    pub(crate) fn forward(&self) {
        self.step(1);
    }

    #[track_caller]
    fn step(&self, by: i64) {
        let history = self.call("Page.getNavigationHistory", json!({}));
        let index = history["currentIndex"].as_i64().unwrap_or_default() + by;
        let entry = usize::try_from(index).ok().and_then(|index| history["entries"].get(index));
        let entry = entry.unwrap_or_else(|| panic!("the history has no such page: {history}"));
        self.call("Page.navigateToHistoryEntry", json!({ "entryId": entry["id"] }));
        let url = entry["url"].as_str().unwrap_or_default();
        self.wait_until(&format!("location.href === {}", json!(url)));
    }

    #[track_caller]
    pub(crate) fn url(&self) -> String {
        self.eval("location.href").as_str().unwrap_or_default().to_owned()
    }

    /// Evaluates an expression, awaiting a promise. The page's content security policy does not apply.
    #[track_caller]
    pub(crate) fn eval(&self, js: &str) -> Value {
        self.try_eval(js).unwrap_or_else(|why| panic!("{why}\nin: {js}"))
    }

    pub(super) fn try_eval(&self, js: &str) -> Result<Value, String> {
        let about = json!({ "expression": js, "awaitPromise": true, "returnByValue": true });
        let mut result = self.browser.own.pipe.try_call(Some(&self.session), "Runtime.evaluate", about)?;
        match &result["exceptionDetails"] {
            Value::Null => Ok(result["result"]["value"].take()),
            details => Err(exception(details)),
        }
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait_until(&self, js: &str) {
        let until = Instant::now() + self.timeout.get();
        let mut last = Value::Null;
        while Instant::now() < until {
            // Evaluation fails during a navigation.
            match self.try_eval(js) {
                Ok(Value::Bool(true)) => return,
                Ok(other) => last = other,
                Err(why) => last = Value::String(why),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let waited = self.timeout.get();
        panic!("not true within {waited:?}: {js}\nlast value: {last}\n{}", self.describe());
    }

    /// Waits until an element is visible.
    #[track_caller]
    pub(crate) fn wait_for(&self, selector: &str) {
        self.wait_until(&format!(
            "[...document.querySelectorAll({})].some((e) => e.checkVisibility())",
            json!(selector)
        ));
    }

    /// Waits until no such element is visible.
    #[track_caller]
    pub(crate) fn wait_gone(&self, selector: &str) {
        self.wait_until(&format!(
            "![...document.querySelectorAll({})].some((e) => e.checkVisibility())",
            json!(selector)
        ));
    }

    /// Waits until the text of an element contains these words.
    #[track_caller]
    pub(crate) fn wait_text(&self, selector: &str, words: &str) {
        let (selector, words) = (json!(selector), json!(words));
        self.wait_until(&format!(
            "[...document.querySelectorAll({selector})].some((e) => e.innerText.includes({words}))"
        ));
    }

    /// The visible text of the first such element.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        self.wait_for(selector);
        self.texts(selector).into_iter().next().unwrap_or_default()
    }

    /// The texts of all visible elements of the kind.
    #[track_caller]
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let js = format!(
            "[...document.querySelectorAll({})].filter((e) => e.checkVisibility()).map((e) => e.innerText.trim())",
            json!(selector)
        );
        let found = self.eval(&js);
        found.as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The number of visible elements.
    #[track_caller]
    pub(crate) fn count(&self, selector: &str) -> usize {
        self.texts(selector).len()
    }

    /// The URLs requested so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.browser.own.pipe.with_log(&self.session, |log| log.requests.clone())
    }

    /// The problems so far, after pending events have arrived.
    #[track_caller]
    pub(crate) fn problems(&self) -> Vec<String> {
        // The last events arrive after two frames. Fails during a navigation, which is fine.
        let _ =
            self.try_eval("new Promise((r) => setTimeout(() => requestAnimationFrame(() => setTimeout(r, 30)), 30))");
        self.browser.own.pipe.with_log(&self.session, |log| log.problems.clone())
    }

    /// Asserts that each of these problems occurred, and removes them from the log.
    #[track_caller]
    pub(crate) fn expect_problems(&self, expected: &[&str]) {
        for words in expected {
            let occurred = |log: &PageLog| log.problems.iter().any(|problem| problem.contains(words)).then_some(());
            if self.browser.own.pipe.wait_log(&self.session, occurred).is_none() {
                panic!("the page did not report {words:?}\n{}", self.describe());
            }
            self.browser.own.pipe.with_log(&self.session, |log| log.remove_problem(words));
        }
    }

    /// Asserts that the page had no problem and requested nothing but itself and its own server.
    #[track_caller]
    pub(crate) fn assert_clean(&self) {
        let problems = self.problems();
        assert!(problems.is_empty(), "the page had problems:\n{}\n{}", problems.join("\n"), self.describe());
        let page = self.url();
        let left: Vec<String> = self.requests().into_iter().filter(|url| !is_own(&page, url)).collect();
        assert!(left.is_empty(), "{page} requested what is not its own:\n{}", left.join("\n"));
    }

    /// What is visible now, for messages.
    pub(super) fn describe(&self) -> String {
        let js = "({ url: location.href, text: document.body?.innerText.slice(0, 2000) ?? '' })";
        let page = self.try_eval(js).unwrap_or_else(|why| json!({ "url": why }));
        let problems = self.browser.own.pipe.with_log(&self.session, |log| log.problems.join("\n"));
        let text = |key: &str| page[key].as_str().unwrap_or_default().to_owned();
        format!("the page {} shows:\n{}\nproblems: {problems}", text("url"), text("text"))
    }

    #[track_caller]
    pub(super) fn call(&self, method: &str, about: Value) -> Value {
        self.browser.own.pipe.call(Some(&self.session), method, about)
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        let pipe = &self.browser.own.pipe;
        // A browser that has ended has closed its tabs.
        let _ = match self.owns_context {
            true => pipe.try_call(None, "Target.disposeBrowserContext", json!({ "browserContextId": self.context })),
            false => pipe.try_call(None, "Target.closeTarget", json!({ "targetId": self.target })),
        };
        pipe.remove_log(&self.session);
    }
}
