//! The label page, used by keyboard, and its state after a reload.

use super::driver::{Screen, Tab};
use super::{browser, has_axe};
use crate::label_page;
use crate::project::{Project, lines, trial};
use crate::serve::Server;
use karat_format::diagnostic::stand_in;
use serde_json::json;

fn wait_for_question(tab: &Tab) {
    tab.wait_for("#labelling[data-state=asking]");
}

fn current_item(tab: &Tab) -> String {
    tab.eval("document.querySelector('#labelling').dataset.item").as_str().unwrap_or_default().to_owned()
}

/// Presses a key and waits for another item.
fn answer(tab: &Tab, key: &str) {
    let before = current_item(tab);
    tab.press(key);
    tab.wait_until(&format!(
        "document.querySelector('#labelling').dataset.state === 'asking' && document.querySelector('#labelling').dataset.item !== {}",
        serde_json::json!(before)
    ));
}

#[test]
fn pairs_are_labelled_by_keyboard_and_survive_a_reload() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.page(server.printed["label_url"].as_str().unwrap());
    tab.tab_to("#name");
    tab.type_text("anna");
    tab.press("Enter");
    wait_for_question(&tab);
    let mut items = Vec::new();
    for number in 0..20 {
        items.push(current_item(&tab));
        answer(&tab, ["y", "n", "p"][number % 3]);
    }
    let different: std::collections::BTreeSet<&String> = items.iter().collect();
    assert_eq!(different.len(), 20, "a pair was asked twice: {items:?}");
    tab.wait_text("#headline", "20 labels");
    // An undone answer is asked again.
    tab.press("u");
    tab.wait_text("#headline", "19 labels");
    wait_for_question(&tab);
    assert_eq!(current_item(&tab), items[19]);
    answer(&tab, "n");
    tab.wait_text("#headline", "20 labels");
    let left = current_item(&tab);
    tab.reload();
    wait_for_question(&tab);
    tab.wait_text("#headline", "20 labels");
    assert_eq!(current_item(&tab), left, "labelling must resume at the same item");
    tab.assert_clean();
    let labels = project.json("label list --as anna --json");
    assert_eq!(labels.as_array().unwrap().len(), 20);
}

/// Opens the label page with a patched `fetch`: requests wait while `window.held` returns true for them, and fail if
/// `window.cut` does.
fn open_labels(tab: &Tab, server: &Server, kind: &str, name: &str) {
    tab.add_init_script(
        "(() => {
           const real = window.fetch;
           window.requestTimes = [];
           window.fetch = async (address, more) => {
             window.requestTimes.push(performance.now());
             while (window.held?.(address, more)) await new Promise((wait) => setTimeout(wait, 10));
             if (window.cut?.(address, more)) throw new TypeError('cut');
             return real(address, more);
           };
         })();",
    );
    tab.go(server.printed["label_url"].as_str().unwrap());
    tab.go(&format!("http://{}/label/latest/{kind}?as={name}", server.address));
}

#[test]
fn question_is_the_heading_and_marked_lines_look_marked() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    open_labels(&tab, &server, "pairs", "anna");
    wait_for_question(&tab);
    assert_eq!(tab.text("h1"), "Does the report describe the known problem?");
    for screen in [Screen::LAPTOP, Screen::LAPTOP.dark()] {
        tab.emulate(screen);
        for class in ["g", "r"] {
            let js = format!(
                "(() => {{
                   const style = (selector) => getComputedStyle(document.querySelector(selector));
                   const line = style('ol.code li.{class}');
                   return (line.backgroundColor + line.backgroundImage) !== style('ol.code li:not(.g):not(.r)').backgroundColor + 'none';
                 }})()"
            );
            assert_eq!(tab.eval(&js), true, "a line with {class} looks like any other on {screen}");
        }
    }
    open_labels(&tab, &server, "extras", "anna");
    wait_for_question(&tab);
    assert_eq!(tab.text("h1"), "Is it a real problem?");
    for _ in 0..9 {
        if tab.eval("document.querySelector('#labelling').dataset.state") == "done" {
            break;
        }
        tab.press("n");
        tab.wait_until("['asking', 'done'].includes(document.querySelector('#labelling').dataset.state)");
    }
    tab.wait_text("h1", "Everything is labelled.");
    tab.assert_clean();
}

#[test]
fn undo_waits_for_the_list_and_for_pending_answers() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    tab.add_init_script("window.held = () => true");
    open_labels(&tab, &server, "pairs", "anna");
    tab.press("u");
    tab.eval("window.held = (address) => address.endsWith('/undo')");
    wait_for_question(&tab);
    tab.eval("window.held = null");
    tab.wait_text("#status", "Nothing to undo");
    // Answers work after that.
    let first = current_item(&tab);
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    // A pending answer is undone once it is stored.
    let second = current_item(&tab);
    tab.eval("window.held = (address, more) => more?.method === 'POST'");
    answer(&tab, "n");
    tab.press("u");
    tab.eval("window.held = null");
    tab.wait_until(&format!("document.querySelector('#labelling').dataset.item === {}", json!(second)));
    tab.wait_text("#status", "Undid no");
    tab.wait_text("#headline", "1 label,");
    wait_for_question(&tab);
    assert_ne!(first, second);
    let labels = project.json("label list --all --json");
    assert_eq!(labels.as_array().unwrap().len(), 1, "{labels}");
    assert!(project.ok("label list --all --history").contains("withdrawn"));
    tab.assert_clean();
}

#[test]
fn lost_server_is_retried_with_a_delay() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    tab.add_init_script("window.cut = (address) => address.includes('/item/')");
    open_labels(&tab, &server, "pairs", "anna");
    wait_for_question(&tab);
    // Skip the items that came with the list; no more arrive.
    for _ in 0..3 {
        let before = current_item(&tab);
        tab.press("s");
        tab.wait_until(&format!("document.querySelector('#labelling').dataset.item !== {}", json!(before)));
    }
    tab.press("s");
    tab.wait_for("#labelling[data-state=loading]");
    tab.wait_text("#status", "unreachable");
    tab.eval("window.requestTimes = []");
    tab.wait_until("window.requestTimes.length >= 3");
    let pause = tab.eval("(window.requestTimes[2] - window.requestTimes[0]) / 2").as_f64().unwrap();
    assert!(pause >= 500.0, "retried after {pause} ms");
    tab.eval("window.cut = null");
    wait_for_question(&tab);
    tab.wait_until("document.querySelector('#status').textContent === ''");
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    tab.assert_clean();
}

#[test]
fn confirmed_extra_can_be_adopted() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    open_labels(&tab, &server, "extras", "anna");
    wait_for_question(&tab);
    assert_eq!(tab.count("#offer"), 0, "no extra is confirmed yet");
    // Answering by keyboard works while the code has the focus.
    tab.tab_to("#code .lines");
    let title = tab.text("#finding .title");
    tab.press("y");
    tab.wait_text("#offer", &format!("Add «{title}» as a golden"));
    tab.wait_text("#status", "Saved: reported by");
    tab.save_screenshots("label-offer");
    tab.click("#offer");
    tab.wait_text("#adopting[open]", "orders");
    tab.save_screenshots("label-adopting");
    for screen in [Screen::LAPTOP, Screen::PHONE] {
        tab.emulate(screen);
        let cut = tab.eval(
            "(() => { const e = document.getElementById('adopt-yaml'); return e.scrollWidth - e.clientWidth; })()",
        );
        assert_eq!(cut, 0, "the text is cut off on {screen}");
    }
    tab.press("a");
    tab.wait_text("#status", "Added");
    assert_eq!(tab.count("#offer"), 0, "the extra has been adopted");
    assert!(project.read("cases/orders/case.yaml").contains("acceptance: acceptable"));
    tab.assert_clean();
}

#[test]
fn label_pages_fit_every_screen_and_pass_axe() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let long = "a-run-whose-name-is-as-long-as-names-of-runs-may-well-be";
    project.run_list(&["run", ".", "--tool", "replay:a.jsonl", "--name", long, "-q"]).expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    open_labels(&tab, &server, "extras", "anna");
    wait_for_question(&tab);
    tab.press("y");
    tab.wait_for("#offer");
    let axe = has_axe();
    let at = |path: &str| format!("http://{}/label{path}", server.address);
    for path in
        ["", "/latest/pairs?as=anna", "/latest/extras?as=anna", "/latest/audits?as=anna", "/latest/confirmed?as=anna"]
    {
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark(), Screen::NARROW] {
            tab.emulate(screen);
            tab.go(&at(path));
            tab.wait_until("document.querySelector('[data-state=loading]') === null");
            tab.assert_fits();
            if axe {
                tab.assert_accessible();
            }
        }
        tab.save_screenshots(&format!("label{}", path.split('?').next().unwrap_or_default().replace('/', "-")));
    }
    tab.assert_clean();
}

#[test]
fn bidirectional_and_invisible_characters_are_escaped() {
    let Some(browser) = browser() else { return };
    let hidden: Vec<char> = ('\0'..=char::MAX).filter(|c| stand_in(*c).is_some() && !"\n\t".contains(*c)).collect();
    let words: String = hidden.iter().flat_map(|c| ['a', *c]).collect();
    let finding =
        json!({ "id": "f1", "title": words, "message": format!("m{words}"), "file": "a.py", "line_start": 1 });
    let project = Project::new()
        .with("karat.toml", "[suite]\nname = \"tiny\"\n")
        .with("cases/one/case.yaml", "id: one\nissues: []\n")
        .with("cases/one/before/a.py", "pass\n")
        .with("cases/one/after/a.py", format!("pass # {words}\n"))
        .with("a.jsonl", lines(&[trial("one", "t", 1, json!([finding]))]));
    project.run("run . --tool replay:a.jsonl --name one -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    let check = |part: &str| {
        let text = tab.eval(&format!("document.querySelector({}).textContent", json!(part)));
        let text = text.as_str().unwrap();
        let raw: Vec<char> = text.chars().filter(|c| hidden.contains(c)).collect();
        assert!(raw.is_empty(), "{part} shows {raw:?}");
        text.to_owned()
    };
    open_labels(&tab, &server, "extras", "anna");
    wait_for_question(&tab);
    for part in ["#finding .title", "#finding .text"] {
        let text = check(part);
        let missing: Vec<&char> =
            hidden.iter().filter(|c| !text.contains(&format!("\\u{{{:x}}}", **c as u32))).collect();
        assert!(missing.is_empty(), "{part} does not show {missing:?}");
    }
    check("#code .lines");
    tab.press("y");
    tab.wait_for("#offer");
    check("#offer");
    tab.click("#offer");
    tab.wait_for("#adopting[open]");
    check("#adopting");
    tab.go(&format!("http://{}/label/one/confirmed?as=anna", server.address));
    tab.wait_for("#confirmed[data-state=listed] .card");
    check("main");
    tab.go(&format!("http://{}/runs/one/live", server.address));
    tab.wait_for("#live[data-ready]");
    check("main");
    tab.assert_clean();
}

#[test]
fn label_link_works_from_another_site() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label", "--token", "auto"]);
    let label = server.printed["label_url"].as_str().unwrap();
    // The same server under another name is another site.
    let tab = browser.page(&format!("http://localhost:{}/healthz", server.address.port()));
    tab.expect_problems(&["status of 401"]);
    tab.eval(&format!("{{ location.href = {} }}", json!(label)));
    tab.wait_for("#name");
    assert!(tab.url().ends_with("/label"), "the token is still in the address: {}", tab.url());
    tab.tab_to("#name");
    tab.type_text("anna");
    tab.press("Enter");
    wait_for_question(&tab);
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    assert_eq!(tab.problems(), [] as [String; 0]);
}
