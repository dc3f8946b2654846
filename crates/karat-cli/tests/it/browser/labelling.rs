//! The label page as people use it: with keys alone, and finding everything as they left it.

use super::driver::{Screen, Tab};
use super::{browser, has_axe};
use crate::label_page;
use crate::project::{Project, lines, trial};
use crate::serve::Server;
use karat_format::diagnostic::stand_in;
use serde_json::json;
use std::time::Duration;

fn asking(tab: &Tab) {
    tab.wait_for("#labelling[data-state=asking]");
}

fn item(tab: &Tab) -> String {
    tab.eval("document.querySelector('#labelling').dataset.item").as_str().unwrap_or_default().to_owned()
}

/// Presses a key and waits until another item is asked about.
fn answer(tab: &Tab, key: &str) {
    let before = item(tab);
    tab.press(key);
    tab.until(&format!(
        "document.querySelector('#labelling').dataset.state === 'asking' && document.querySelector('#labelling').dataset.item !== {}",
        serde_json::json!(before)
    ));
}

#[test]
fn twenty_pairs_are_labelled_with_keys_alone_and_found_as_left() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.page(server.told["label_url"].as_str().unwrap());
    tab.tab_to("#name");
    tab.type_text("anna");
    tab.press("Enter");
    asking(&tab);
    let mut asked = Vec::new();
    for number in 0..20 {
        asked.push(item(&tab));
        answer(&tab, ["y", "n", "p"][number % 3]);
    }
    let different: std::collections::BTreeSet<&String> = asked.iter().collect();
    assert_eq!(different.len(), 20, "no pair comes twice: {asked:?}");
    tab.wait_text("#headline", "20 labels");
    // What was taken back is asked again.
    tab.press("u");
    tab.wait_text("#headline", "19 labels");
    asking(&tab);
    assert_eq!(item(&tab), asked[19]);
    answer(&tab, "n");
    tab.wait_text("#headline", "20 labels");
    let left = item(&tab);
    tab.reload();
    asking(&tab);
    tab.wait_text("#headline", "20 labels");
    assert_eq!(item(&tab), left, "it goes on where one was");
    tab.quiet();
    let kept = project.json("label list --as anna --json");
    assert_eq!(kept.as_array().unwrap().len(), 20);
}

/// A server over a project, and the label page of somebody there; requests for which `window.held` is true wait until it is not, and
/// those for which `window.cut` is true fail.
fn open_labels(tab: &Tab, server: &Server, kind: &str, name: &str) {
    tab.before_pages(
        "(() => {
           const real = window.fetch;
           window.asked = [];
           window.fetch = async (address, more) => {
             window.asked.push(address);
             while (window.held?.(address, more)) await new Promise((wait) => setTimeout(wait, 10));
             if (window.cut?.(address, more)) throw new TypeError('cut');
             return real(address, more);
           };
         })();",
    );
    tab.go(server.told["label_url"].as_str().unwrap());
    tab.go(&format!("http://{}/label/latest/{kind}?as={name}", server.address));
}

#[test]
fn undo_waits_for_the_list_and_for_answers_under_way() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    tab.before_pages("window.held = () => true");
    open_labels(&tab, &server, "pairs", "anna");
    tab.press("u");
    tab.eval("window.held = (address) => address.endsWith('/undo')");
    asking(&tab);
    tab.eval("window.held = null");
    tab.wait_text("#status", "Nothing to undo");
    // Answers are heard after that.
    let first = item(&tab);
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    // One that is under way is taken back when it is there.
    let second = item(&tab);
    tab.eval("window.held = (address, more) => more?.method === 'POST'");
    answer(&tab, "n");
    tab.press("u");
    tab.eval("window.held = null");
    tab.until(&format!("document.querySelector('#labelling').dataset.item === {}", json!(second)));
    tab.wait_text("#status", "Undid no");
    tab.wait_text("#headline", "1 label,");
    asking(&tab);
    assert_ne!(first, second);
    let kept = project.json("label list --all --json");
    assert_eq!(kept.as_array().unwrap().len(), 1, "{kept}");
    assert!(project.ok("label list --all --history").contains("withdrawn"));
    tab.quiet();
}

#[test]
fn a_server_that_is_gone_is_asked_again_after_a_while_and_not_at_once() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    tab.before_pages("window.cut = (address) => address.includes('/item/')");
    open_labels(&tab, &server, "pairs", "anna");
    asking(&tab);
    // What came with the list is put off, and nothing else comes.
    for _ in 0..3 {
        let before = item(&tab);
        tab.press("s");
        tab.until(&format!("document.querySelector('#labelling').dataset.item !== {}", json!(before)));
    }
    tab.press("s");
    tab.wait_for("#labelling[data-state=loading]");
    tab.wait_text("#status", "unreachable");
    tab.eval("window.asked = []");
    std::thread::sleep(Duration::from_millis(2500));
    let asked = tab.eval("window.asked.length").as_u64().unwrap();
    assert!((1..=3).contains(&asked), "asked {asked} times in two seconds and a half");
    tab.eval("window.cut = null");
    asking(&tab);
    tab.until("document.querySelector('#status').textContent === ''");
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    tab.quiet();
}

#[test]
fn what_was_confirmed_is_named_where_it_can_be_added() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    open_labels(&tab, &server, "extras", "anna");
    asking(&tab);
    assert_eq!(tab.count("#offer"), 0, "nothing is confirmed yet");
    // Whoever scrolls the code with keys answers with keys.
    tab.tab_to("#code .lines");
    let title = tab.text("#finding .title");
    tab.press("y");
    tab.wait_text("#offer", &format!("Add «{title}» as a golden"));
    tab.wait_text("#status", "Saved: reported by");
    tab.pictures("label-offer");
    tab.click("#offer");
    tab.wait_text("#adopting[open]", "orders");
    tab.pictures("label-adopting");
    for screen in [Screen::LAPTOP, Screen::PHONE] {
        tab.emulate(screen);
        let cut = tab.eval(
            "(() => { const e = document.getElementById('adopt-yaml'); return e.scrollWidth - e.clientWidth; })()",
        );
        assert_eq!(cut, 0, "the text is cut off on {screen}");
    }
    tab.press("a");
    tab.wait_text("#status", "Added");
    assert_eq!(tab.count("#offer"), 0, "it is added");
    assert!(project.read("cases/orders/case.yaml").contains("acceptance: acceptable"));
    tab.quiet();
}

#[test]
fn label_pages_fit_every_screen_and_keep_nobody_out() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let long = "a-run-whose-name-is-as-long-as-names-of-runs-may-well-be";
    project.run_list(&["run", ".", "--tool", "replay:a.jsonl", "--name", long, "-q"]).expect(0);
    let server = Server::start(&project, &["--label"]);
    let tab = browser.tab();
    open_labels(&tab, &server, "extras", "anna");
    asking(&tab);
    tab.press("y");
    tab.wait_for("#offer");
    let axe = has_axe();
    let at = |path: &str| format!("http://{}/label{path}", server.address);
    for path in
        ["", "/latest/pairs?as=anna", "/latest/extras?as=anna", "/latest/audits?as=anna", "/latest/confirmed?as=anna"]
    {
        for screen in [Screen::LAPTOP, Screen::PHONE, Screen::NARROW] {
            tab.emulate(screen);
            tab.go(&at(path));
            tab.until("document.querySelector('[data-state=loading]') === null");
            tab.fits();
            if axe {
                tab.accessible();
            }
        }
        tab.pictures(&format!("label{}", path.split('?').next().unwrap_or_default().replace('/', "-")));
    }
    tab.quiet();
}

#[test]
fn what_turns_writing_or_hides_is_shown_by_its_number() {
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
        let shown = tab.eval(&format!("document.querySelector({}).textContent", json!(part)));
        let shown = shown.as_str().unwrap();
        let raw: Vec<char> = shown.chars().filter(|c| hidden.contains(c)).collect();
        assert!(raw.is_empty(), "{part} shows {raw:?}");
        shown.to_owned()
    };
    open_labels(&tab, &server, "extras", "anna");
    asking(&tab);
    for part in ["#finding .title", "#finding .text"] {
        let shown = check(part);
        let missing: Vec<&char> =
            hidden.iter().filter(|c| !shown.contains(&format!("\\u{{{:x}}}", **c as u32))).collect();
        assert!(missing.is_empty(), "{part} does not tell of {missing:?}");
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
    tab.quiet();
}

#[test]
fn a_link_of_another_site_lets_people_label() {
    let Some(browser) = browser() else { return };
    let project = label_page::project();
    let server = Server::start(&project, &["--label", "--token", "auto"]);
    let label = server.told["label_url"].as_str().unwrap();
    // The same server by another name is another site.
    let tab = browser.page(&format!("http://localhost:{}/healthz", server.address.port()));
    tab.take(&["status of 401"]);
    tab.eval(&format!("{{ location.href = {} }}", json!(label)));
    tab.wait_for("#name");
    assert!(tab.url().ends_with("/label"), "no token is left in the address: {}", tab.url());
    tab.tab_to("#name");
    tab.type_text("anna");
    tab.press("Enter");
    asking(&tab);
    answer(&tab, "y");
    tab.wait_text("#headline", "1 label,");
    assert_eq!(tab.complaints(), [] as [String; 0]);
}
