//! A tab: going somewhere, looking, and waiting for what comes late.

use super::heard::{Heard, exception, is_own};
use super::{Browser, PATIENCE, Screen};
use serde_json::{Value, json};
use std::cell::Cell;
use std::time::{Duration, Instant};

/// One page at a time. What it did is recorded from its first moment.
pub(crate) struct Tab {
    browser: Browser,
    context: String,
    target: String,
    session: String,
    /// Whether the context goes with this tab.
    owns_context: bool,
    pub(super) screen: Cell<Screen>,
    patience: Cell<Duration>,
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
        let (screen, patience) = (Cell::new(Screen::LAPTOP), Cell::new(PATIENCE));
        let tab = Self { browser, context, target, session, owns_context, screen, patience };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        tab.call("Target.setAutoAttach", attach);
        tab.call("Page.setLifecycleEventsEnabled", json!({ "enabled": true }));
        // Whoever tests a keyboard has it, also with two tabs side by side.
        tab.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true }));
        tab.emulate(Screen::LAPTOP);
        tab
    }

    /// Another tab of the same person: cookies and storage are shared.
    #[track_caller]
    pub(crate) fn beside(&self, url: &str) -> Self {
        let tab = Self::open(self.browser.clone(), &self.context, false);
        tab.go(url);
        tab
    }

    /// How long the page is waited for from now on.
    pub(crate) fn patience(&self, patience: Duration) {
        self.patience.set(patience);
    }

    /// Turns scripts of pages off, or on again.
    #[track_caller]
    pub(crate) fn scripts(&self, on: bool) {
        self.call("Emulation.setScriptExecutionDisabled", json!({ "value": !on }));
    }

    /// Runs a script before any of a page's own, in every page from now on.
    #[track_caller]
    pub(crate) fn before_pages(&self, js: &str) {
        self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": js }));
    }

    /// Goes to an address, and waits until it is loaded.
    #[track_caller]
    pub(crate) fn go(&self, url: &str) {
        let gone = self.call("Page.navigate", json!({ "url": url }));
        if let Some(why) = gone["errorText"].as_str() {
            panic!("{url} does not open: {why}");
        }
        // Within a document nothing is loaded.
        let Some(loader) = gone["loaderId"].as_str() else { return };
        let loaded = |heard: &Heard| heard.loaded.contains(loader).then_some(());
        if self.browser.own.pipe.wait_heard(&self.session, loaded).is_none() {
            panic!("{url} did not finish loading\n{}", self.shown());
        }
    }

    /// Loads the page anew, and waits until it is.
    #[track_caller]
    pub(crate) fn reload(&self) {
        self.loading(|| {
            self.call("Page.reload", json!({}));
        });
    }

    /// Does something that leads to another document, and waits until that is loaded.
    #[track_caller]
    pub(crate) fn loading(&self, act: impl FnOnce()) {
        let before = self.browser.own.pipe.heard(&self.session, |heard| heard.loads);
        act();
        let more = |heard: &Heard| (heard.loads > before).then_some(());
        if self.browser.own.pipe.wait_heard(&self.session, more).is_none() {
            panic!("no document was loaded\n{}", self.shown());
        }
    }

    /// The button that leads back.
    #[track_caller]
    pub(crate) fn back(&self) {
        self.step(-1);
    }

    /// The button that leads forward.
    #[track_caller]
    pub(crate) fn forward(&self) {
        self.step(1);
    }

    #[track_caller]
    fn step(&self, by: i64) {
        let history = self.call("Page.getNavigationHistory", json!({}));
        let index = history["currentIndex"].as_i64().unwrap_or_default() + by;
        let entry = usize::try_from(index).ok().and_then(|index| history["entries"].get(index));
        let entry = entry.unwrap_or_else(|| panic!("there is no page to go to: {history}"));
        self.call("Page.navigateToHistoryEntry", json!({ "entryId": entry["id"] }));
        let url = entry["url"].as_str().unwrap_or_default();
        self.until(&format!("location.href === {}", json!(url)));
    }

    /// Where the tab is.
    #[track_caller]
    pub(crate) fn url(&self) -> String {
        self.eval("location.href").as_str().unwrap_or_default().to_owned()
    }

    /// The value of an expression; a promise is waited for. The page's policy does not keep tests from looking.
    #[track_caller]
    pub(crate) fn eval(&self, js: &str) -> Value {
        self.try_eval(js).unwrap_or_else(|why| panic!("{why}\nin: {js}"))
    }

    fn try_eval(&self, js: &str) -> Result<Value, String> {
        let about = json!({ "expression": js, "awaitPromise": true, "returnByValue": true });
        let mut result = self.browser.own.pipe.try_call(Some(&self.session), "Runtime.evaluate", about)?;
        match &result["exceptionDetails"] {
            Value::Null => Ok(result["result"]["value"].take()),
            details => Err(exception(details)),
        }
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn until(&self, js: &str) {
        let until = Instant::now() + self.patience.get();
        let mut said = Value::Null;
        while Instant::now() < until {
            // While one document makes way for another there is nothing to ask.
            match self.try_eval(js) {
                Ok(Value::Bool(true)) => return,
                Ok(other) => said = other,
                Err(why) => said = Value::String(why),
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let waited = self.patience.get();
        panic!("within {waited:?} this did not come true: {js}\nit was: {said}\n{}", self.shown());
    }

    /// Waits until something is there and can be seen.
    #[track_caller]
    pub(crate) fn wait_for(&self, selector: &str) {
        self.until(&format!("[...document.querySelectorAll({})].some((e) => e.checkVisibility())", json!(selector)));
    }

    /// Waits until nothing of the kind can be seen.
    #[track_caller]
    pub(crate) fn wait_gone(&self, selector: &str) {
        self.until(&format!("![...document.querySelectorAll({})].some((e) => e.checkVisibility())", json!(selector)));
    }

    /// Waits until the text of something holds these words.
    #[track_caller]
    pub(crate) fn wait_text(&self, selector: &str, words: &str) {
        let (selector, words) = (json!(selector), json!(words));
        self.until(&format!("[...document.querySelectorAll({selector})].some((e) => e.innerText.includes({words}))"));
    }

    /// What the first of its kind says, as people read it.
    #[track_caller]
    pub(crate) fn text(&self, selector: &str) -> String {
        self.wait_for(selector);
        self.texts(selector).into_iter().next().unwrap_or_default()
    }

    /// What all of the kind that can be seen say.
    #[track_caller]
    pub(crate) fn texts(&self, selector: &str) -> Vec<String> {
        let js = format!(
            "[...document.querySelectorAll({})].filter((e) => e.checkVisibility()).map((e) => e.innerText.trim())",
            json!(selector)
        );
        let found = self.eval(&js);
        found.as_array().into_iter().flatten().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// How many of the kind can be seen.
    #[track_caller]
    pub(crate) fn count(&self, selector: &str) -> usize {
        self.texts(selector).len()
    }

    /// Every address the page asked for so far.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.browser.own.pipe.heard(&self.session, |heard| heard.requests.clone())
    }

    /// What the page complained about so far, after all that it is about to say.
    #[track_caller]
    pub(crate) fn complaints(&self) -> Vec<String> {
        // What a document did last is told after two frames; one that is making way for another has nothing left to say.
        let _ =
            self.try_eval("new Promise((r) => setTimeout(() => requestAnimationFrame(() => setTimeout(r, 30)), 30))");
        self.browser.own.pipe.heard(&self.session, |heard| heard.complaints.clone())
    }

    /// Takes complaints that a test provoked, and makes sure that each of them came.
    #[track_caller]
    pub(crate) fn take(&self, expected: &[&str]) {
        for words in expected {
            let said = |heard: &Heard| heard.complaints.iter().any(|said| said.contains(words)).then_some(());
            if self.browser.own.pipe.wait_heard(&self.session, said).is_none() {
                panic!("the page did not complain of {words:?}\n{}", self.shown());
            }
            self.browser.own.pipe.heard(&self.session, |heard| heard.forgive(words));
        }
    }

    /// Makes sure that nothing went wrong, and that nothing was asked for but the page itself and its own server.
    #[track_caller]
    pub(crate) fn quiet(&self) {
        let complaints = self.complaints();
        assert!(complaints.is_empty(), "the page complained:\n{}\n{}", complaints.join("\n"), self.shown());
        let page = self.url();
        let left: Vec<String> = self.requests().into_iter().filter(|asked| !is_own(&page, asked)).collect();
        assert!(left.is_empty(), "{page} asked for what is not its own:\n{}", left.join("\n"));
    }

    /// What a person would see now, for messages.
    pub(super) fn shown(&self) -> String {
        let js = "({ url: location.href, text: document.body?.innerText.slice(0, 2000) ?? '' })";
        let page = self.try_eval(js).unwrap_or_else(|why| json!({ "url": why }));
        let complaints = self.browser.own.pipe.heard(&self.session, |heard| heard.complaints.join("\n"));
        let said = |key: &str| page[key].as_str().unwrap_or_default().to_owned();
        format!("the page {} shows:\n{}\nand complained of: {complaints}", said("url"), said("text"))
    }

    /// The answer to a question about this tab.
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
        pipe.forget(&self.session);
    }
}
