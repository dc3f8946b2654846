//! Pages of a suite whose every field tries to be more than text.

use super::driver::{Screen, Tab};
use super::made::hostile::{self, CANARY};
use super::{address, browser, printed};
use crate::project::Project;
use serde_json::Value;

fn scored() -> Project {
    let project = Project::new();
    hostile::write(&project.path("s"));
    project.ok("score s --judgements s/judgements.jsonl --resamples 100 -o r.html -o r.json");
    project
}

/// Nothing ran, nothing complained, nothing was asked for, and all of it stays within the window.
#[track_caller]
fn harmless(tab: &Tab) {
    assert_eq!(tab.eval(CANARY), Value::Null, "something ran");
    tab.fits();
    tab.quiet();
}

#[test]
fn nothing_in_a_report_runs_or_breaks_out() {
    let Some(browser) = browser() else { return };
    let project = scored();
    let page = address(&project.path("r.html"));
    let tab = browser.page_on(Screen::NARROW, &page);
    tab.wait_for("html[data-ready]");
    harmless(&tab);
    // All that folds is unfolded, and whatever waits for the mouse gets it.
    tab.eval("document.querySelectorAll('details').forEach((d) => (d.open = true))");
    tab.eval(
        "document.querySelectorAll('*').forEach((e) => ['mouseover', 'focus', 'toggle'].forEach((k) => e.dispatchEvent(new Event(k))))",
    );
    harmless(&tab);
    tab.emulate(Screen::LAPTOP);
    tab.pictures("hostile-overview");
    harmless(&tab);
    // The text itself is shown, with marks that would turn it around by their numbers.
    let shown = tab.text("h1");
    assert!(
        shown.contains("<img src=x onerror=") && shown.contains("\\u{202e}") && !shown.contains('\u{202e}'),
        "{shown}"
    );
    assert_eq!(tab.eval("getComputedStyle(document.body).display"), "block");
}

#[test]
fn no_case_of_a_report_runs_or_breaks_out() {
    let Some(browser) = browser() else { return };
    let project = scored();
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
        tab.until("document.querySelector('#case').dataset.shown === location.hash");
        // Every item is opened, and every text unfolded.
        tab.eval(
            "(async () => {
               for (const item of document.querySelectorAll('#case button.item')) {
                 item.click();
                 document.querySelectorAll('#case .told button').forEach((b) => b.click());
                 await new Promise(requestAnimationFrame);
               }
             })()",
        );
        ids.push(tab.text("#case h1"));
        for screen in [Screen::NARROW, Screen::LAPTOP] {
            tab.emulate(screen);
            harmless(&tab);
        }
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len() as u64, cases, "a case cannot be opened, or opens as another: {ids:?}");
    tab.pictures("hostile-case");
}

#[test]
fn a_hostile_report_can_be_printed() {
    let Some(browser) = browser() else { return };
    let project = scored();
    let tab = browser.page(&address(&project.path("r.html")));
    tab.wait_for("html[data-ready]");
    assert!(printed(&tab).contains("Leaderboard"));
    harmless(&tab);
}
