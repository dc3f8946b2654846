//! Pages of a suite with hostile content in every field.

use super::driver::{Screen, Tab};
use super::fixtures::hostile::{self, CANARY};
use super::{address, browser, print_to_text};
use crate::project::Project;
use serde_json::Value;

fn scored_project() -> Project {
    let project = Project::new();
    hostile::write(&project.path("s"));
    project.ok("score s --judgements s/judgements.jsonl --resamples 100 -o r.html -o r.json");
    project
}

/// Asserts that no script ran, nothing was logged or requested, and everything fits the window.
#[track_caller]
fn assert_harmless(tab: &Tab) {
    assert_eq!(tab.eval(CANARY), Value::Null, "something ran");
    tab.assert_fits();
    tab.assert_clean();
}

#[test]
fn hostile_text_in_a_report_stays_text() {
    let Some(browser) = browser() else { return };
    let project = scored_project();
    let page = address(&project.path("r.html"));
    let tab = browser.page_on(Screen::NARROW, &page);
    tab.wait_for("html[data-ready]");
    assert_harmless(&tab);
    // Expand everything that folds, and hover everything that reacts to it.
    tab.eval("document.querySelectorAll('details').forEach((d) => (d.open = true))");
    tab.eval(
        "document.querySelectorAll('*').forEach((e) => ['mouseover', 'focus', 'toggle'].forEach((k) => e.dispatchEvent(new Event(k))))",
    );
    assert_harmless(&tab);
    tab.emulate(Screen::LAPTOP);
    tab.save_screenshots("hostile-overview");
    assert_harmless(&tab);
    // The text itself is shown, with bidirectional control characters escaped.
    let heading = tab.text("#overview .about");
    assert!(
        heading.contains("<img src=x onerror=") && heading.contains("\\u{202e}") && !heading.contains('\u{202e}'),
        "{heading}"
    );
    assert_eq!(tab.eval("getComputedStyle(document.body).display"), "block");
}

#[test]
fn hostile_text_in_cases_stays_text() {
    let Some(browser) = browser() else { return };
    let project = scored_project();
    let report: Value = serde_json::from_str(&project.read("r.json")).unwrap();
    let tab = browser.page(&address(&project.path("r.html")));
    tab.wait_for("html[data-ready]");
    let links = tab.eval("[...document.querySelectorAll('#grid .space a')].map((a) => a.getAttribute('href'))");
    let links: Vec<String> = links.as_array().unwrap().iter().map(|link| link.as_str().unwrap().to_owned()).collect();
    let (cases, tools) = (report["suite"]["cases"].as_u64().unwrap(), report["tools"].as_array().unwrap().len() as u64);
    assert_eq!(links.len() as u64, cases * (tools + 1));
    let mut ids = Vec::new();
    for link in &links {
        tab.eval(&format!("location.hash = {}", serde_json::json!(link)));
        tab.wait_for("#case h1");
        tab.wait_until("document.querySelector('#case').dataset.shown === location.hash");
        // Open every item and expand every text.
        tab.eval(
            "(async () => {
               for (const item of document.querySelectorAll('#case button.item')) {
                 item.click();
                 document.querySelectorAll('#case .long-text button').forEach((b) => b.click());
                 await new Promise(requestAnimationFrame);
               }
             })()",
        );
        ids.push(tab.text("#case h1"));
        for screen in [Screen::NARROW, Screen::LAPTOP] {
            tab.emulate(screen);
            tab.eval("document.querySelectorAll('#case .fold, #case .layouts button').forEach((b) => b.click())");
            assert_harmless(&tab);
        }
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len() as u64, cases, "a case does not open, or opens as another: {ids:?}");
    tab.save_screenshots("hostile-case");
}

#[test]
fn hostile_report_can_be_printed() {
    let Some(browser) = browser() else { return };
    let project = scored_project();
    let tab = browser.page(&address(&project.path("r.html")));
    tab.wait_for("html[data-ready]");
    assert!(print_to_text(&tab).contains("Leaderboard"));
    assert_harmless(&tab);
}
