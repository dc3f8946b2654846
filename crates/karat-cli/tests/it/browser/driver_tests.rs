//! Tests of the driver itself on small pages.

use super::driver::{Browser, Screen};
use super::static_server::StaticServer;
use super::{address, browser, has_axe};
use crate::project::Project;
use karat_report::page::Page;
use maud::html;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A page with a body and a script, on disk.
fn page(body: &str, script: &str) -> Project {
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href='data:,'>\
         <meta name=viewport content='width=device-width'><title>p</title><main>{body}</main><script>{script}</script>"
    );
    Project::new().with("p.html", page)
}

/// The panic message of a failing assertion.
fn panic_message(assertion: impl FnOnce()) -> String {
    let fault = catch_unwind(AssertUnwindSafe(assertion)).expect_err("the assertion did not fail");
    fault.downcast_ref::<String>().cloned().expect("a panic message")
}

#[test]
fn keyboard_mouse_and_touch_events_reach_the_page() {
    let Some(browser) = browser() else { return };
    let script = "
      const say = (text) => document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: text }));
      document.addEventListener('keydown', (e) => say(`${e.shiftKey ? 'shift ' : ''}${e.ctrlKey ? 'control ' : ''}${e.key} ${e.code} ${e.isTrusted}`));
      document.querySelector('#b').addEventListener('click', (e) => say(`click ${e.isTrusted} ${e.pointerType}`));
      setTimeout(() => say('late'), 300);";
    let far = "<div style='height:3000px'></div><button id=b>press me</button>";
    let project = page(&format!("<h1>Hello</h1><input id=i><ol></ol><p hidden>unseen</p>{far}"), script);
    let tab = browser.page(&address(&project.path("p.html")));
    tab.wait_text("li", "late");
    for key in ["y", "?", "Tab", "Shift+Tab", "ArrowDown", "Escape", "Control+z", "7"] {
        tab.press(key);
    }
    tab.click("#b");
    tab.wait_text("li:last-child", "click true mouse");
    let expect = [
        "late",
        "y KeyY true",
        "shift ? Slash true",
        "Tab Tab true",
        "shift Tab Tab true",
        "ArrowDown ArrowDown true",
        "Escape Escape true",
        "control z KeyZ true",
        "7 Digit7 true",
        "click true mouse",
    ];
    assert_eq!(tab.texts("li"), expect);
    assert_eq!((tab.text("h1").as_str(), tab.count("p")), ("Hello", 0));
    tab.wait_gone("p");
    tab.hover("#b");
    tab.wait_for("#b:hover");
    tab.click("#i");
    tab.wait_for("#i:focus");
    tab.type_text("Ann's <b> é");
    tab.wait_until("document.querySelector('#i').value === \"Ann's <b> é\" || document.querySelector('#i').value");
    assert_eq!(tab.eval("Promise.resolve({ a: [1] })"), json!({ "a": [1] }));
    tab.assert_clean();
    tab.emulate(Screen::PHONE);
    tab.click("#b");
    tab.wait_text("li:last-child", "click true touch");
    tab.add_init_script("window.early = 7");
    tab.reload();
    tab.wait_text("li:last-child", "late");
    assert_eq!((tab.count("li"), tab.eval("early")), (1, json!(7)));
}

#[test]
fn clicking_a_covered_button_names_what_covers_it() {
    let Some(browser) = browser() else { return };
    let project = page("<button>b</button><div id=veil style='position:fixed;inset:0'></div>", "");
    let tab = browser.page(&address(&project.path("p.html")));
    let message = panic_message(|| tab.click("button"));
    assert!(message.contains("button cannot be clicked") && message.contains("id=\\\"veil\\\""), "{message}");
}

#[test]
fn clicks_follow_an_element_that_moves() {
    let Some(browser) = browser() else { return };
    // The button jumps away from the pointer twice, as if the page were still being laid out.
    let script = "
      const b = document.querySelector('#b');
      let jumps = 0;
      const log = (text) => document.querySelector('ol').append(Object.assign(document.createElement('li'), { textContent: text }));
      document.addEventListener('mousemove', () => { if (jumps++ < 2) b.style.marginTop = `${jumps * 100}px`; });
      document.addEventListener('click', (e) => log(`${e.target.id} was clicked`));";
    let project = page("<ol></ol><button id=b>b</button>", script);
    let tab = browser.page(&address(&project.path("p.html")));
    tab.click("#b");
    tab.wait_for("li");
    assert_eq!(tab.texts("li"), ["b was clicked"]);
}

#[test]
fn timed_out_wait_names_its_condition() {
    let Some(browser) = browser() else { return };
    let project = page("<h1>All there is</h1>", "console.error('oh')");
    let tab = browser.page(&address(&project.path("p.html")));
    tab.set_timeout(Duration::from_millis(200));
    let message = panic_message(|| tab.wait_for("#none"));
    for part in ["#none", "200ms", "p.html", "All there is", "console error: oh"] {
        assert!(message.contains(part), "{part} is not in: {message}");
    }
    let message = panic_message(|| {
        tab.eval("nothing.at.all");
    });
    assert!(message.contains("ReferenceError") && message.contains("nothing.at.all"), "{message}");
}

#[test]
fn page_problems_are_logged() {
    let Some(browser) = browser() else { return };
    let policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">";
    let hears = |body: &str, script: &str, expect: &str| {
        let project = page(body, script);
        if body == policy {
            project.write("p.html", format!("<!doctype html><title>p</title>{policy}<script>{script}</script>"));
        }
        let tab = browser.page(&address(&project.path("p.html")));
        tab.expect_problems(&[expect]);
        tab.reload();
        let message = panic_message(|| tab.assert_clean());
        assert!(message.contains(expect), "{expect} is not in: {message}");
    };
    hears("", "console.error('one', 2)", "console error: one 2");
    hears("", "console.warn('w')", "console warning: w");
    hears("", "setTimeout(() => { throw new Error('three') })", "three");
    hears("", "Promise.reject(new Error('four'))", "four");
    hears("", "alert('five')", "dialog: alert: five");
    hears(policy, "window.ran = 1", "violates the following Content Security Policy directive");
    hears("", "window.open('about:blank#six')", "opened: window");
    hears("", "new Worker(URL.createObjectURL(new Blob([''])))", "opened: worker");
    hears("<img src='missing.png' alt=''>", "", "missing.png");
    hears("", "fetch('http://127.0.0.1:9/seven').catch(() => {})", "127.0.0.1:9/seven");
}

#[test]
fn external_requests_are_logged_even_if_they_fail() {
    let Some(browser) = browser() else { return };
    let other = StaticServer::new(&[("/pixel", "there")]);
    let leaves = |tab: &super::driver::Tab, expect: &str| {
        // Regardless of whether it is answered.
        tab.wait_until("window.tried === true");
        tab.problems();
        assert!(tab.requests().iter().any(|url| url == expect), "{expect}: {:?}", tab.requests());
        let message = panic_message(|| tab.assert_clean());
        assert!(message.contains("what is not its own") || message.contains("had problems"), "{message}");
    };
    let script =
        |url: &str| format!("fetch('{url}', {{ mode: 'no-cors' }}).catch(() => 0).then(() => (window.tried = true))");
    let project = page("", &script("https://fonts.example/a.css"));
    leaves(&browser.page(&address(&project.path("p.html"))), "https://fonts.example/a.css");
    let project = page("", &script(&other.url("/pixel")));
    leaves(&browser.page(&address(&project.path("p.html"))), &other.url("/pixel"));
    let beacon = format!("navigator.sendBeacon('{}'); window.tried = true", other.url("/pixel"));
    leaves(&browser.page(&address(&page("", &beacon).path("p.html"))), &other.url("/pixel"));
    // A page may request more from its own server.
    let own = page("<p>in</p>", &script("/more")).read("p.html");
    let own = StaticServer::new(&[("/", own.as_str()), ("/more", "more")]);
    let tab = browser.page(&own.url("/"));
    tab.wait_until("window.tried === true");
    tab.assert_clean();
    assert_eq!(tab.requests(), [own.url("/"), own.url("/more")]);
}

#[test]
fn tabs_share_storage_only_when_opened_beside() {
    let Some(browser) = browser() else { return };
    let own = page("<a href='#x'>x</a><a id=next href='/b'>next</a>", "");
    let served = StaticServer::new(&[
        ("/", own.read("p.html").as_str()),
        ("/b", "<title>b</title><link rel=icon href='data:,'>b"),
    ]);
    let first = browser.page(&served.url("/"));
    first.eval("localStorage.setItem('n', 'shared')");
    let stranger = browser.page(&served.url("/"));
    let beside = first.open_beside(&served.url("/"));
    // Pages of other processes see it after a while.
    beside.wait_until("localStorage.getItem('n') === 'shared'");
    assert_eq!(stranger.eval("localStorage.getItem('n')"), json!(null));
    first.click("a");
    first.wait_until("location.hash === '#x'");
    first.back();
    assert_eq!(first.url(), served.url("/"));
    first.forward();
    first.wait_for_navigation(|| first.click("#next"));
    assert_eq!(first.url(), served.url("/b"));
    [first, stranger, beside].iter().for_each(|tab| tab.assert_clean());
}

#[test]
fn screens_and_print_are_emulated() {
    let Some(browser) = browser() else { return };
    let style = "<style>main{width:100%} @media print{.screen{display:none}}</style>";
    let project =
        page(&format!("{style}<h1>Findings</h1><p class=screen>nav</p><div id=d style='height:9px'></div>"), "");
    let tab = browser.page_on(Screen::NARROW.dark(), &address(&project.path("p.html")));
    let media =
        "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(pointer: coarse)').matches]";
    assert_eq!(tab.eval(media), json!([360, true, true]));
    tab.assert_fits();
    tab.eval("document.querySelector('#d').style.width = '500px'");
    let message = panic_message(|| tab.assert_fits());
    assert!(message.contains("does not fit on narrow-dark") && message.contains("id=\"d\""), "{message}");
    tab.emulate(Screen::LAPTOP);
    assert_eq!(tab.eval(media), json!([1366, false, false]));
    tab.assert_fits();
    let shot = project.path("shots/a.png");
    tab.screenshot(&shot);
    let shot = std::fs::read(shot).unwrap();
    let size = |at: usize| u32::from_be_bytes(shot[at..at + 4].try_into().unwrap());
    assert_eq!((&shot[1..4], size(16), size(20)), (b"PNG".as_slice(), 1366, 768));
    tab.emulate_print(true);
    assert_eq!(tab.count(".screen"), 0);
    tab.emulate_print(false);
    assert_eq!(tab.count(".screen"), 1);
    assert!(tab.print_pdf().starts_with(b"%PDF-"));
    tab.save_screenshots("driven");
}

#[test]
fn browser_leaves_no_processes_or_files() {
    if browser().is_none() {
        return;
    }
    let panicked = std::thread::spawn(|| {
        let browser = Browser::start_private().unwrap();
        let tab = browser.page("data:text/html,<title>t</title>here");
        assert_eq!(tab.text("body"), "here");
        let folder = browser.folder().to_owned();
        assert!(folder.exists());
        std::panic::panic_any(folder);
    });
    let folder = *panicked.join().unwrap_err().downcast::<std::path::PathBuf>().unwrap();
    assert!(!folder.exists(), "{} is left", folder.display());
    let processes = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
    let processes = String::from_utf8_lossy(&processes.stdout).into_owned();
    assert!(!processes.contains(&folder.display().to_string()), "{processes}");
}

#[test]
fn serious_accessibility_violations_are_reported() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project =
        page("<h1>A page</h1><img src='data:,'><button></button><p style='color:#ccc;background:#fff'>pale</p>", "");
    let tab = browser.page(&address(&project.path("p.html")));
    let found = tab.axe();
    for rule in ["image-alt", "button-name", "color-contrast"] {
        assert!(found.iter().any(|v| v.rule.starts_with(rule) && v.is_serious()), "{rule}: {found:#?}");
    }
    assert!(panic_message(|| tab.assert_accessible()).contains("image-alt"));
    // The common page shell passes in light and dark, and its content security policy does not block axe.
    let body = html! { h1 { "A page" } p { "Words, " a href="#main" { "a link" } " and " code { "code" } "." } };
    let shell = Page { title: "A page", body, scripts: &["let one = 1;"], ..Page::default() };
    let project = Project::new().with("p.html", shell.draw());
    let tab = browser.page(&address(&project.path("p.html")));
    for screen in Screen::ALL {
        tab.emulate(screen);
        tab.assert_accessible();
        tab.assert_fits();
    }
    tab.assert_clean();
}
