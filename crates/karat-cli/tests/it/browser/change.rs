//! The change of a case as a diff, with goldens and findings on its lines.

use super::driver::{Browser, Screen, Tab};
use super::{address, browser};
use crate::project::{Project, lines, suite, trial};
use serde_json::{Value, json};

/// Lines `value_1 = 1`, `value_2 = 2` and so on, with some replaced; an empty replacement removes the line.
fn numbered(count: usize, replaced: &[(usize, &str)]) -> String {
    let line = |number: usize| match replaced.iter().find(|(at, _)| *at == number) {
        Some((_, "")) => String::new(),
        Some((_, text)) => format!("{text}\n"),
        None => format!("value_{number} = {number}\n"),
    };
    (1..=count).map(line).collect()
}

fn golden(id: &str, file: &str, line: usize, words: &str) -> Value {
    json!({ "id": id, "title": words, "description": format!("{words}, in more words"), "file": file, "line_start": line,
            "keywords": [words] })
}

fn finding(id: &str, file: &str, line: usize, words: &str) -> Value {
    json!({ "id": id, "message": words, "file": file, "line_start": line })
}

/// A scored case `c`: files of both sides, goldens, and the findings of one trial.
fn scored(files: &[(&str, String)], goldens: &Value, findings: &Value) -> Project {
    let project =
        suite(&[json!({ "id": "c", "verdict": "vulnerable", "issues": goldens })]).with_verdicts_of_findings();
    for (path, text) in files {
        project.write(&format!("cases/c/{path}"), text);
    }
    project.write("submissions/t.jsonl", lines(&[trial("c", "t", 1, findings.clone())]));
    project.ok("score . --resamples 100 -o r.html");
    project
}

/// One line changed, one removed, one file added and one removed.
fn edited() -> Project {
    let files = [
        ("before/src/app.py", numbered(60, &[])),
        ("after/src/app.py", numbered(60, &[(20, "value_20 = 21"), (30, "")])),
        ("after/src/new.py", "fresh = True\n".to_owned()),
        ("before/src/old.py", "import os\n\nstale = os.sep\n".to_owned()),
    ];
    let goldens = json!([golden("g1", "src/app.py", 20, "wrong number"), golden("g2", "src/app.py", 50, "late lock")]);
    let findings =
        json!([finding("f1", "src/app.py", 20, "wrong number"), finding("f2", "src/old.py", 3, "a separator is used")]);
    scored(&files, &goldens, &findings)
}

#[track_caller]
fn open(browser: &Browser, project: &Project, screen: Screen) -> Tab {
    let tab = browser.page_on(screen, &format!("{}#/case/c?tool=t&trial=1", address(&project.path("r.html"))));
    tab.wait_for("html[data-ready]");
    tab.wait_for("#case .lines");
    tab
}

/// The lines of the file at this place: numbers before and after, `+`, `−` or nothing, and the text.
fn unified(tab: &Tab, file: usize) -> Vec<String> {
    let js = format!(
        "[...document.querySelectorAll('#case .file')[{file}].querySelectorAll('.line')].map((line) =>
           [...line.children].filter((part) => !part.matches('.signs')).map((part) => part.textContent.trim()).join('|'))"
    );
    tab.eval(&js).as_array().unwrap().iter().map(|line| line.as_str().unwrap().to_owned()).collect()
}

fn current(tab: &Tab) -> String {
    tab.text("#case button.item[aria-current=true] .sign")
}

#[test]
fn change_is_shown_with_folded_unchanged_lines() {
    let Some(browser) = browser() else { return };
    let project = edited();
    let tab = open(&browser, &project, Screen::LAPTOP);
    assert_eq!(tab.text("#case .files h2"), "Change");
    let heads = tab.texts("#case .file h3");
    assert_eq!(heads, ["src/app.py +1 −2", "src/old.py removed −3", "src/new.py added +1"]);
    let shown = unified(&tab, 0);
    assert_eq!(
        shown[..5],
        [
            "17|17||value_17 = 17",
            "18|18||value_18 = 18",
            "19|19||value_19 = 19",
            "20||−|value_20 = 20",
            "|20|+|value_20 = 21"
        ]
    );
    assert!(shown.contains(&"30||−|value_30 = 30".to_owned()) && shown.contains(&"51|50||value_51 = 51".to_owned()));
    assert_eq!(unified(&tab, 1), ["1|−|import os", "2|−|", "3|−|stale = os.sep"]);
    assert_eq!(unified(&tab, 2), ["1|+|fresh = True"]);
    // What differs within a line.
    assert_eq!(tab.texts("#case .line.added .word"), ["1"]);
    // Goldens and findings are on their lines, also in a removed file.
    assert_eq!(tab.texts("#case .line[data-line='20'] .sign"), ["G1", "R1"]);
    assert_eq!(tab.texts("#case .line[data-line='50'] .sign"), ["G2"]);
    assert_eq!(tab.texts("#case .line.removed[data-line='3'] .sign"), ["R2"]);
    // Syntax has colours.
    assert_eq!(tab.texts("#case .line[data-line='50'] .c-n"), ["51"]);
    let folds = ["⋮ Show 16 unchanged lines", "⋮ Show 14 unchanged lines", "⋮ Show 6 unchanged lines"];
    assert_eq!(tab.texts("#case .fold"), folds);
    tab.click("#case .fold");
    tab.wait_for("#case .line[data-line='1']");
    assert_eq!(tab.texts("#case .fold"), folds[1..]);
    assert_eq!(unified(&tab, 0)[0], "1|1||value_1 = 1");
    for screen in [Screen::NARROW, Screen::WIDE] {
        tab.emulate(screen);
        tab.assert_fits();
    }
    tab.save_screenshots("change");
    tab.assert_clean();
}

#[test]
fn change_is_shown_side_by_side_where_there_is_room() {
    let Some(browser) = browser() else { return };
    let project = edited();
    let tab = open(&browser, &project, Screen::LAPTOP);
    assert_eq!(tab.count("#case .pair"), 0);
    let choice = "#case .layouts button:last-child";
    tab.click(choice);
    tab.wait_for("#case .pair");
    assert_eq!(tab.eval(&format!("document.querySelector('{choice}').getAttribute('aria-pressed')")), "true");
    let row = |after: usize| {
        let js = format!(
            "[...document.querySelector('#case .pair .line[data-line=\"{after}\"]').parentElement.querySelectorAll('code')].map((code) => code.textContent)"
        );
        tab.eval(&js)
    };
    assert_eq!(row(20), json!(["value_20 = 20", "value_20 = 21"]));
    assert_eq!(row(50), json!(["value_51 = 51", "value_51 = 51"]));
    // A removed line has nothing beside it. Added and removed files have one side.
    assert_eq!(tab.texts("#case .pair .line[data-before='30'] + .none"), [""]);
    assert_eq!(tab.count("#case .lines.split"), 1);
    tab.assert_fits();
    tab.save_screenshots("change-split");
    // The choice is stored, is read again, and does not count on a small screen. When a browser writes to its disk is its own affair.
    assert_eq!(tab.eval("localStorage.getItem('karat-diff')"), "split");
    tab.add_init_script("localStorage.setItem('karat-diff', 'split')");
    tab.reload();
    tab.wait_for("#case .pair");
    tab.emulate(Screen::NARROW);
    tab.wait_gone("#case .pair");
    assert_eq!((tab.count("#case .layouts"), tab.count("#case .line[data-line='20']")), (0, 1));
    tab.assert_fits();
    tab.emulate(Screen::LAPTOP);
    tab.wait_for("#case .pair");
    tab.press("s");
    tab.wait_gone("#case .pair");
    tab.assert_clean();
}

#[test]
fn markers_and_list_lead_to_each_other() {
    let Some(browser) = browser() else { return };
    let project = edited();
    let tab = open(&browser, &project, Screen::LAPTOP);
    // Reasons of misses are open, those of matches and extras are not.
    let states = tab.eval(
        "[...document.querySelectorAll('#case button.item')].map((b) => [b.dataset.item, b.getAttribute('aria-expanded')])",
    );
    assert_eq!(states, json!([["g0", "false"], ["g1", "true"], ["f0", "false"], ["f1", "false"]]));
    assert!(tab.text("#more-g1").contains("late lock, in more words"), "{}", tab.text("#more-g1"));
    tab.click("#case .line[data-line='50'] .sign");
    assert_eq!(current(&tab), "G2");
    assert_eq!(tab.eval("document.activeElement.dataset.item"), "g1");
    assert_eq!(tab.count("#case .line.on[data-line='50']"), 1);
    tab.click("#more-g1 .to-code");
    assert_eq!(tab.eval("document.activeElement.matches('.line[data-line=\"50\"] .sign')"), true);
    // The list stays beside the code.
    let top = "document.querySelector('#case .items').getBoundingClientRect().top";
    tab.eval("document.querySelector('#case .file:last-of-type').scrollIntoView({ block: 'end' })");
    tab.wait_until(&format!("{top} >= 0 && {top} < innerHeight / 2"));
    // On a phone it is below.
    tab.emulate(Screen::PHONE);
    let below = "document.querySelector('#case .items').getBoundingClientRect().top >= document.querySelector('#case .files').getBoundingClientRect().bottom";
    assert_eq!(tab.eval(below), true);
    tab.assert_clean();
}

#[test]
fn goldens_and_findings_can_be_walked_through_by_keyboard() {
    let Some(browser) = browser() else { return };
    let project = edited();
    let tab = open(&browser, &project, Screen::LAPTOP);
    let order = ["G1", "R1", "G2", "R2"];
    for sign in order {
        tab.press("j");
        assert_eq!(current(&tab), sign);
        let key = tab.eval("document.querySelector('#case button.item[aria-current]').dataset.item");
        let line = format!("document.querySelector('#case .line.on[data-items~={key}]')?.getBoundingClientRect()");
        assert_eq!(
            tab.eval(&format!("{line}.top >= 0 && {line}.bottom <= innerHeight")),
            true,
            "{sign} is not in view"
        );
    }
    tab.press("j");
    tab.wait_text("#case .said", "last golden or finding");
    for sign in order.iter().rev().skip(1) {
        tab.press("k");
        assert_eq!(current(&tab), *sign);
    }
    tab.press("k");
    tab.wait_text("#case .said", "first golden or finding");
    // The address names the current one.
    let sent = browser.page(&tab.url());
    sent.wait_for("html[data-ready]");
    assert_eq!(current(&sent), "G1");
    [tab, sent].iter().for_each(Tab::assert_clean);
}

#[test]
fn thousands_of_lines_open_at_once() {
    let Some(browser) = browser() else { return };
    let files = [
        ("before/src/app.py", numbered(6_000, &[])),
        ("after/src/app.py", numbered(6_000, &[(20, "value_20 = 21"), (5_000, "value_5000 = 0")])),
        ("after/src/new.py", numbered(5_000, &[])),
    ];
    let goldens =
        json!([golden("g1", "src/app.py", 5_000, "wrong number"), golden("g2", "src/new.py", 4_800, "late lock")]);
    let project = scored(&files, &goldens, &json!([]));
    let tab = open(&browser, &project, Screen::LAPTOP);
    let rows = || tab.eval("document.querySelectorAll('#case .line').length").as_u64().unwrap();
    assert!(rows() < 1_000, "{} rows are drawn at once", rows());
    assert_eq!(tab.texts("#case .fold")[1], "⋮ Show 4,973 unchanged lines");
    // Lines far away can be reached by keyboard, by unfolding and by scrolling.
    tab.press("j");
    tab.press("j");
    assert_eq!(current(&tab), "G2");
    tab.wait_for("#case .line.on[data-line='4800']");
    tab.click("#case .file:first-of-type .fold:nth-of-type(2)");
    tab.wait_for("#case .file:first-of-type .line[data-line='24']");
    assert!(rows() < 2_000, "{} rows are drawn", rows());
    tab.eval("document.querySelector('#case .file:last-of-type').scrollIntoView({ block: 'end' })");
    tab.wait_for("#case .file:last-of-type .line[data-line='5000']");
    tab.assert_clean();
}

#[test]
fn case_without_a_state_before_shows_its_code() {
    let Some(browser) = browser() else { return };
    let goldens = json!([golden("g1", "src/app.py", 20, "wrong number")]);
    let project = scored(&[("after/src/app.py", numbered(60, &[]))], &goldens, &json!([]));
    let tab = open(&browser, &project, Screen::LAPTOP);
    assert_eq!(tab.text("#case .files h2"), "Code");
    for absent in [".layouts", ".fold", ".side", ".no.old", ".line.added", ".line.removed"] {
        assert_eq!(tab.count(&format!("#case {absent}")), 0, "{absent}");
    }
    let shown = unified(&tab, 0);
    assert_eq!((shown.len(), shown[19].as_str()), (60, "20|value_20 = 20"));
    assert_eq!(tab.texts("#case .line[data-line='20'] .sign"), ["G1"]);
    // A switch by keyboard has nothing to switch.
    tab.press("s");
    assert_eq!(unified(&tab, 0), shown);
    tab.assert_clean();
}

#[test]
fn right_verdict_without_the_target_is_amber() {
    let Some(browser) = browser() else { return };
    let goldens = json!([
        { "id": "g", "title": "The target", "file": "a.py", "keywords": ["target"], "target": true },
        { "id": "h", "title": "Another", "file": "b.py", "keywords": ["another"] },
    ]);
    let project = scored(&[], &goldens, &json!([{ "id": "f", "message": "another", "file": "b.py" }]));
    let tab = browser.page(&format!("{}#/case/c?tool=t", address(&project.path("r.html"))));
    tab.wait_for("html[data-ready]");
    let verdict = tab.text("#case .verdict.warn");
    assert!(verdict.contains("correct, without finding the target"), "{verdict}");
    assert_eq!(tab.count("#case .verdict.good"), 0);
    tab.assert_clean();
}
