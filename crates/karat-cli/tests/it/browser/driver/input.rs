//! Keys, mouse and touch as trusted events.

use super::Tab;
use serde_json::{Value, json};
use std::time::Instant;

/// Withholds the next click from the page unless it lands on the element. `karatClick.end()` says where it landed instead, or nothing.
/// A press and a release of the mouse make no click of the element if the page replaced it between them.
const GUARD_CLICK: &str = "(selector) => {
  const e = [...document.querySelectorAll(selector)].find((e) => e.checkVisibility());
  const names = ['pointerdown', 'touchstart', 'mousedown', 'pointerup', 'touchend', 'mouseup', 'click'];
  let landed = null;
  let ended;
  const clicked = new Promise((done) => { ended = done; });
  const guard = (event) => {
    if (!event.isTrusted) return;
    const hit = event.target;
    const reached = e.contains(hit) || hit.closest('label')?.control === e;
    if (landed === null || (event.type === 'click' && !landed)) landed = reached ? '' : hit.outerHTML.slice(0, 300);
    if (landed) { event.preventDefault(); event.stopImmediatePropagation(); }
    if (landed || event.type === 'click') ended(landed);
  };
  for (const name of names) window.addEventListener(name, guard, { capture: true, passive: false });
  window.karatClick = { end: async () => {
    setTimeout(() => ended('nothing'), 2000);
    const result = await clicked;
    for (const name of names) window.removeEventListener(name, guard, { capture: true });
    delete window.karatClick;
    return result;
  } };
}";

impl Tab {
    /// Clicks, or taps on a touch screen, the middle of the first visible element. A click that lands elsewhere, since
    /// the page was still moving, is withheld from the page and repeated.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let until = Instant::now() + self.timeout();
        loop {
            self.wait_for(selector);
            let point = self.click_point(selector);
            // Without scripts no listener would say where it landed.
            if !self.scripts_enabled() {
                return self.dispatch_click(point);
            }
            self.eval(&format!("({GUARD_CLICK})({})", json!(selector)));
            self.dispatch_click(point);
            // The click may have opened another document, which has no guard.
            let missed = self.try_eval("window.karatClick?.end() ?? ''").unwrap_or_default();
            match missed.as_str() {
                Some(missed) if !missed.is_empty() => {
                    assert!(Instant::now() < until, "a click on {selector} reached {missed}\n{}", self.describe());
                }
                _ => return,
            }
        }
    }

    #[track_caller]
    fn dispatch_click(&self, [x, y]: [f64; 2]) {
        if self.screen.get().touch {
            self.call("Input.dispatchTouchEvent", json!({ "type": "touchStart", "touchPoints": [{ "x": x, "y": y }] }));
            self.call("Input.dispatchTouchEvent", json!({ "type": "touchEnd", "touchPoints": [] }));
            return;
        }
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let button = if kind == "mouseMoved" { "none" } else { "left" };
            let about = json!({ "type": kind, "x": x, "y": y, "button": button, "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", about);
        }
    }

    /// Moves the mouse onto an element.
    #[track_caller]
    pub(crate) fn hover(&self, selector: &str) {
        self.wait_for(selector);
        let [x, y] = self.click_point(selector);
        self.call("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y }));
    }

    /// A point of the element that a click would reach. Panics if something covers it.
    #[track_caller]
    fn click_point(&self, selector: &str) -> [f64; 2] {
        let js = format!(
            "(async () => {{
               const e = [...document.querySelectorAll({})].find((e) => e.checkVisibility());
               const before = e.getBoundingClientRect();
               e.scrollIntoView({{ block: 'center', inline: 'center', behavior: 'instant' }});
               const after = e.getBoundingClientRect();
               // Scrolling takes effect after the next frames.
               const frame = () => new Promise((done) => {{ requestAnimationFrame(done); setTimeout(done, 200); }});
               if (before.x !== after.x || before.y !== after.y) {{ await frame(); await frame(); }}
               const box = e.getClientRects()[0] ?? e.getBoundingClientRect();
               const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
               const hit = document.elementFromPoint(x, y);
               const reached = hit && (e.contains(hit) || hit.closest('label')?.control === e);
               return reached ? [x, y] : (hit?.outerHTML ?? 'nothing').slice(0, 300);
             }})()",
            json!(selector)
        );
        let found = self.eval(&js);
        match (found[0].as_f64(), found[1].as_f64()) {
            (Some(x), Some(y)) => [x, y],
            _ => panic!("{selector} cannot be clicked, as this covers it: {found}\n{}", self.describe()),
        }
    }

    /// Presses and releases a key: `y`, `?`, `Tab`, `Enter`, `ArrowDown`, or with others held, as `Shift+Tab`.
    #[track_caller]
    pub(crate) fn press(&self, stroke: &str) {
        let (held, key) = match stroke.rsplit_once('+') {
            Some((held, key)) if !key.is_empty() => (held, key),
            _ => ("", stroke),
        };
        let mut modifiers = 0;
        for name in held.split('+').filter(|name| !name.is_empty()) {
            modifiers |= match name {
                "Alt" => 1,
                "Control" => 2,
                "Meta" => 4,
                "Shift" => 8,
                _ => panic!("unknown modifier key {name}"),
            };
        }
        let key = Key::from_name(key);
        if key.shifted {
            modifiers |= 8;
        }
        // With Control held, a key produces no text.
        let text = key.text.filter(|_| modifiers & 7 == 0);
        let mut about = json!({
            "type": if text.is_some() { "keyDown" } else { "rawKeyDown" },
            "key": key.key,
            "code": key.code,
            "windowsVirtualKeyCode": key.number,
            "modifiers": modifiers,
        });
        if let Some(text) = text {
            about["text"] = Value::String(text);
        }
        self.call("Input.dispatchKeyEvent", about.clone());
        about["type"] = json!("keyUp");
        about.as_object_mut().map(|about| about.remove("text"));
        self.call("Input.dispatchKeyEvent", about);
    }

    /// Presses Tab until the element has the focus.
    #[track_caller]
    pub(crate) fn tab_to(&self, selector: &str) {
        let reached = format!("document.activeElement?.matches({}) ?? false", json!(selector));
        for _ in 0..200 {
            if self.eval(&reached) == true {
                return;
            }
            self.press("Tab");
        }
        panic!("{selector} is not reached with the Tab key\n{}", self.describe());
    }

    /// Chooses from a list by typing the beginning of the label.
    #[track_caller]
    pub(crate) fn choose(&self, selector: &str, label: &str) {
        self.wait_for(selector);
        self.eval(&format!("document.querySelector({}).focus()", json!(selector)));
        self.type_text(label);
        let chosen = format!("document.querySelector({}).selectedOptions[0]?.text ?? ''", json!(selector));
        self.wait_until(&format!("({chosen}).startsWith({})", json!(label)));
    }

    /// Types a text key by key into the focused element; characters without a key are inserted as by an input method.
    #[track_caller]
    pub(crate) fn type_text(&self, text: &str) {
        self.wait_until("document.activeElement !== null && document.activeElement !== document.body");
        for c in text.chars() {
            match c {
                '\n' => self.press("Enter"),
                ' '..='~' => self.press(&c.to_string()),
                c => {
                    self.call("Input.insertText", json!({ "text": c.to_string() }));
                }
            }
        }
    }
}

struct Key {
    key: String,
    code: String,
    number: u32,
    text: Option<String>,
    shifted: bool,
}

impl Key {
    #[track_caller]
    fn from_name(name: &str) -> Self {
        let mut chars = name.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return Self::from_char(c);
        }
        let known = [
            ("Tab", 9, None),
            ("Enter", 13, Some("\r")),
            ("Escape", 27, None),
            ("Space", 32, Some(" ")),
            ("PageUp", 33, None),
            ("PageDown", 34, None),
            ("End", 35, None),
            ("Home", 36, None),
            ("ArrowLeft", 37, None),
            ("ArrowUp", 38, None),
            ("ArrowRight", 39, None),
            ("ArrowDown", 40, None),
            ("Delete", 46, None),
            ("Backspace", 8, None),
        ];
        let found = known.iter().find(|(known, ..)| *known == name);
        let (_, number, text) = found.unwrap_or_else(|| panic!("no key is called {name}"));
        let key = if name == "Space" { " " } else { name };
        let (key, code) = (key.to_owned(), name.to_owned());
        Self { key, code, number: *number, text: text.map(str::to_owned), shifted: false }
    }

    /// The key of a US keyboard that produces the character.
    #[track_caller]
    fn from_char(c: char) -> Self {
        let keys = [
            ("Digit0", 48, "0)"),
            ("Digit1", 49, "1!"),
            ("Digit2", 50, "2@"),
            ("Digit3", 51, "3#"),
            ("Digit4", 52, "4$"),
            ("Digit5", 53, "5%"),
            ("Digit6", 54, "6^"),
            ("Digit7", 55, "7&"),
            ("Digit8", 56, "8*"),
            ("Digit9", 57, "9("),
            ("Semicolon", 186, ";:"),
            ("Equal", 187, "=+"),
            ("Comma", 188, ",<"),
            ("Minus", 189, "-_"),
            ("Period", 190, ".>"),
            ("Slash", 191, "/?"),
            ("Backquote", 192, "`~"),
            ("BracketLeft", 219, "[{"),
            ("Backslash", 220, "\\|"),
            ("BracketRight", 221, "]}"),
            ("Quote", 222, "'\""),
            ("Space", 32, " "),
        ];
        let text = c.to_string();
        if c.is_ascii_alphabetic() {
            let upper = c.to_ascii_uppercase();
            let number = u32::from(upper);
            return Self {
                key: text.clone(),
                code: format!("Key{upper}"),
                number,
                text: Some(text),
                shifted: c == upper,
            };
        }
        let found = keys.iter().find(|(.., written)| written.contains(c));
        let (code, number, written) = found.unwrap_or_else(|| panic!("no key writes {c:?}"));
        let shifted = !written.starts_with(c);
        Self { key: text.clone(), code: (*code).to_owned(), number: *number, text: Some(text), shifted }
    }
}
