//! The driver itself, on pages made for it: what it does is done, and what goes wrong is heard.

use super::driver::{Browser, Screen};
use super::served::Served;
use super::{address, browser, has_axe};
use crate::project::Project;
use karat_report::page::Page;
use serde_json::json;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// A page around a body and a script, on disk.
fn page(body: &str, script: &str) -> Project {
    let page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><link rel=icon href='data:,'>\
         <meta name=viewport content='width=device-width'><title>p</title><main>{body}</main><script>{script}</script>"
    );
    Project::new().with("p.html", page)
}

/// What an assertion that fails says.
fn refusal(of: impl FnOnce()) -> String {
    let fault = catch_unwind(AssertUnwindSafe(of)).expect_err("nothing was refused");
    fault.downcast_ref::<String>().cloned().expect("a message")
}

#[test]
fn hands_do_what_hands_do() {
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
    assert_eq!(tab.count("#b:hover"), 1);
    tab.click("#i");
    tab.type_text("Ann's <b> é");
    assert_eq!(tab.eval("document.querySelector('#i').value"), "Ann's <b> é");
    assert_eq!(tab.eval("Promise.resolve({ a: [1] })"), json!({ "a": [1] }));
    tab.quiet();
    tab.emulate(Screen::PHONE);
    tab.click("#b");
    tab.wait_text("li:last-child", "click true touch");
    tab.before_pages("window.early = 7");
    tab.reload();
    tab.wait_text("li:last-child", "late");
    assert_eq!((tab.count("li"), tab.eval("early")), (1, json!(7)));
}

#[test]
fn what_covers_a_button_is_told() {
    let Some(browser) = browser() else { return };
    let project = page("<button>b</button><div id=veil style='position:fixed;inset:0'></div>", "");
    let tab = browser.page(&address(&project.path("p.html")));
    let said = refusal(|| tab.click("button"));
    assert!(said.contains("button cannot be clicked") && said.contains("id=\\\"veil\\\""), "{said}");
}

#[test]
fn waiting_ends_and_says_what_for() {
    let Some(browser) = browser() else { return };
    let project = page("<h1>All there is</h1>", "console.error('oh')");
    let tab = browser.page(&address(&project.path("p.html")));
    tab.patience(Duration::from_millis(200));
    let said = refusal(|| tab.wait_for("#none"));
    for part in ["#none", "200ms", "p.html", "All there is", "console error: oh"] {
        assert!(said.contains(part), "{part} is not in: {said}");
    }
    let said = refusal(|| {
        tab.eval("nothing.at.all");
    });
    assert!(said.contains("ReferenceError") && said.contains("nothing.at.all"), "{said}");
}

#[test]
fn every_complaint_is_heard() {
    let Some(browser) = browser() else { return };
    let policy = "<meta http-equiv=Content-Security-Policy content=\"script-src 'none'\">";
    let hears = |body: &str, script: &str, expect: &str| {
        let project = page(body, script);
        if body == policy {
            project.write("p.html", format!("<!doctype html><title>p</title>{policy}<script>{script}</script>"));
        }
        let tab = browser.page(&address(&project.path("p.html")));
        tab.take(&[expect]);
        tab.reload();
        let said = refusal(|| tab.quiet());
        assert!(said.contains(expect), "{expect} is not in: {said}");
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
fn a_request_that_leaves_is_heard_even_where_it_fails() {
    let Some(browser) = browser() else { return };
    let other = Served::new(&[("/pixel", "there")]);
    let leaves = |tab: &super::driver::Tab, expect: &str| {
        // Whether it fails or is answered is another matter.
        tab.until("window.tried === true");
        tab.complaints();
        assert!(tab.requests().iter().any(|asked| asked == expect), "{expect}: {:?}", tab.requests());
        let said = refusal(|| tab.quiet());
        assert!(said.contains("what is not its own") || said.contains("complained"), "{said}");
    };
    let script =
        |url: &str| format!("fetch('{url}', {{ mode: 'no-cors' }}).catch(() => 0).then(() => (window.tried = true))");
    let project = page("", &script("https://fonts.example/a.css"));
    leaves(&browser.page(&address(&project.path("p.html"))), "https://fonts.example/a.css");
    let project = page("", &script(&other.url("/pixel")));
    leaves(&browser.page(&address(&project.path("p.html"))), &other.url("/pixel"));
    let beacon = format!("navigator.sendBeacon('{}'); window.tried = true", other.url("/pixel"));
    leaves(&browser.page(&address(&page("", &beacon).path("p.html"))), &other.url("/pixel"));
    // The server of a page may be asked for more, and is no stranger.
    let own = page("<p>in</p>", &script("/more")).read("p.html");
    let own = Served::new(&[("/", own.as_str()), ("/more", "more")]);
    let tab = browser.page(&own.url("/"));
    tab.until("window.tried === true");
    tab.quiet();
    assert_eq!(tab.requests(), [own.url("/"), own.url("/more")]);
}

#[test]
fn tabs_are_strangers_unless_they_stand_beside_each_other() {
    let Some(browser) = browser() else { return };
    let own =
        page("<a href='#x'>x</a><a id=next href='/b'>next</a>", "localStorage.n = 1 + Number(localStorage.n ?? 0)");
    let served =
        Served::new(&[("/", own.read("p.html").as_str()), ("/b", "<title>b</title><link rel=icon href='data:,'>b")]);
    let count = |tab: &super::driver::Tab| tab.eval("Number(localStorage.n)");
    let first = browser.page(&served.url("/"));
    assert_eq!(count(&first), 1);
    let stranger = browser.page(&served.url("/"));
    assert_eq!(count(&stranger), 1);
    let beside = first.beside(&served.url("/"));
    assert_eq!((count(&beside), count(&first)), (json!(2), json!(2)));
    first.click("a");
    first.until("location.hash === '#x'");
    first.back();
    assert_eq!(first.url(), served.url("/"));
    first.forward();
    first.loading(|| first.click("#next"));
    assert_eq!(first.url(), served.url("/b"));
    [first, stranger, beside].iter().for_each(|tab| tab.quiet());
}

#[test]
fn screens_and_paper_are_what_they_are_called() {
    let Some(browser) = browser() else { return };
    let style = "<style>main{width:100%} @media print{.screen{display:none}}</style>";
    let project =
        page(&format!("{style}<h1>Findings</h1><p class=screen>nav</p><div id=d style='height:9px'></div>"), "");
    let tab = browser.page_on(Screen::NARROW.dark(), &address(&project.path("p.html")));
    let seen =
        "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches, matchMedia('(pointer: coarse)').matches]";
    assert_eq!(tab.eval(seen), json!([360, true, true]));
    tab.fits();
    tab.eval("document.querySelector('#d').style.width = '500px'");
    let said = refusal(|| tab.fits());
    assert!(said.contains("does not fit on narrow-dark") && said.contains("id=\"d\""), "{said}");
    tab.emulate(Screen::LAPTOP);
    assert_eq!(tab.eval(seen), json!([1366, false, false]));
    tab.fits();
    let shot = project.path("shots/a.png");
    tab.screenshot(&shot);
    let shot = std::fs::read(shot).unwrap();
    let size = |at: usize| u32::from_be_bytes(shot[at..at + 4].try_into().unwrap());
    assert_eq!((&shot[1..4], size(16), size(20)), (b"PNG".as_slice(), 1366, 768));
    tab.on_paper(true);
    assert_eq!(tab.count(".screen"), 0);
    tab.on_paper(false);
    assert_eq!(tab.count(".screen"), 1);
    assert!(tab.print_pdf().starts_with(b"%PDF-"));
    tab.pictures("driven");
}

#[test]
fn a_browser_leaves_nothing_behind() {
    if browser().is_none() {
        return;
    }
    let panicked = std::thread::spawn(|| {
        let browser = Browser::alone().unwrap();
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
fn what_keeps_people_out_is_found() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project =
        page("<h1>A page</h1><img src='data:,'><button></button><p style='color:#ccc;background:#fff'>pale</p>", "");
    let tab = browser.page(&address(&project.path("p.html")));
    let found = tab.axe();
    for rule in ["image-alt", "button-name", "color-contrast"] {
        assert!(found.iter().any(|v| v.rule.starts_with(rule) && v.is_grave()), "{rule}: {found:#?}");
    }
    assert!(refusal(|| tab.accessible()).contains("image-alt"));
    // The shell of all pages is fine by itself, by day and by night, and its policy does not keep axe from looking.
    let body = "<h1>A page</h1><p>Words, <a href=\"#main\">a link</a> and <code>code</code>.</p>";
    let shell = Page {
        title: "A page",
        nav: "",
        body,
        styles: &[],
        scripts: &["let one = 1;"],
        connects: false,
        ..Page::default()
    };
    let project = Project::new().with("p.html", shell.draw());
    let tab = browser.page(&address(&project.path("p.html")));
    for screen in Screen::ALL {
        tab.emulate(screen);
        tab.accessible();
        tab.fits();
    }
    tab.quiet();
}
