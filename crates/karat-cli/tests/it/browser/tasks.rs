//! What people come for, in at most three steps each. A step is a click, a key, or a name that is typed.

use super::browser;
use super::driver::{TIMEOUT, Tab};
use super::served_pages::two_runs;
use crate::project::Project;
use crate::serve::Server;
use serde_json::Value;
use std::cell::Cell;
use std::time::{Duration, Instant};

const MOST_STEPS: usize = 3;

/// A person at a page, whose steps are counted.
struct Person<'t> {
    tab: &'t Tab,
    steps: Cell<usize>,
}

impl<'t> Person<'t> {
    fn new(tab: &'t Tab) -> Self {
        Self { tab, steps: Cell::new(0) }
    }

    #[track_caller]
    fn step(&self) {
        self.steps.set(self.steps.get() + 1);
        assert!(self.steps.get() <= MOST_STEPS, "more than {MOST_STEPS} steps");
    }

    #[track_caller]
    fn click(&self, selector: &str) {
        self.step();
        self.tab.click(selector);
    }

    /// Clicks a link to another document.
    #[track_caller]
    fn follow(&self, selector: &str) {
        self.step();
        self.tab.wait_for_navigation(|| self.tab.click(selector));
    }

    #[track_caller]
    fn press(&self, key: &str) {
        self.step();
        self.tab.press(key);
    }

    #[track_caller]
    fn type_text(&self, text: &str) {
        self.step();
        self.tab.type_text(text);
    }
}

/// The mean of F1 over tools, for each case that has one.
fn means(report: &Value) -> Vec<(String, f64)> {
    let tools = report["tools"].as_array().unwrap();
    let f1 = |tool: &Value, id: &Value| {
        let cases = tool["cases"].as_array().unwrap();
        cases.iter().find(|case| case["case"] == *id)?["metrics"]["f1"]["value"].as_f64()
    };
    let mut means = Vec::new();
    for case in report["cases"].as_array().unwrap() {
        let values: Vec<f64> = tools.iter().filter_map(|tool| f1(tool, &case["case"])).collect();
        if !values.is_empty() {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            means.push((case["case"].as_str().unwrap().to_owned(), mean));
        }
    }
    means
}

#[test]
fn worst_case_is_found() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    let person = Person::new(&tab);
    person.follow("table.runs tbody tr:first-child .run a");
    tab.wait_for("html[data-ready]");
    person.click("#hardest tbody tr:first-child a");
    let shown = tab.text("#case h1");
    let id = tab.url().split("/runs/").nth(1).unwrap().split('#').next().unwrap().to_owned();
    let means = means(&server.json(&format!("/runs/{id}/report.json")));
    let least = means.iter().map(|(_, mean)| *mean).fold(f64::MAX, f64::min);
    let (_, own) = means.iter().find(|(case, _)| *case == shown).unwrap_or_else(|| panic!("no case {shown}"));
    assert!((own - least).abs() < 0.001, "{shown} has {own}, and the worst case {least}");
    // The list of all cases begins with the same one.
    tab.back();
    tab.wait_for("#hardest");
    tab.click("#hardest a[href='#/cases?order=hard']");
    tab.wait_until("document.querySelector('#grid select[name=order]').value === 'hard'");
    assert_eq!(tab.eval("document.querySelector('#grid .space .row .first a').hash"), format!("#/case/{shown}"));
    tab.assert_clean();
}

#[test]
fn reason_of_a_miss_is_seen() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    let person = Person::new(&tab);
    person.follow("table.runs tbody tr:first-child .run a");
    tab.wait_for("html[data-ready]");
    person.click("#hardest tbody tr:first-child a");
    tab.wait_for("#case h1");
    person.press("n");
    tab.wait_for("#case button.item[aria-current=true] .state.miss");
    let reason = "document.querySelector('#case li:has(> [aria-current]) .more h3')";
    tab.wait_until(&format!("{reason}?.textContent === 'Missed'"));
    assert!(tab.eval(&format!("{reason}.nextElementSibling.textContent")).as_str().unwrap().len() > 10);
    let place = tab.eval(&format!("{reason}.getBoundingClientRect().top / innerHeight")).as_f64().unwrap();
    assert!(place > 0.0 && place < 1.0, "the reason is not in view: {place}");
    // From the leaderboard: the cases in which a tool missed something.
    tab.go(&format!("{}#overview", tab.url().split('#').next().unwrap()));
    tab.wait_for("#leaderboard");
    let person = Person::new(&tab);
    person.click("#leaderboard tbody tr:last-child th a");
    tab.wait_until("document.querySelector('#grid [name=outcome]:checked')?.value === 'missed'");
    person.click("#grid .space .row .first a");
    tab.wait_for("#case .state.miss");
    tab.wait_text("#case .more h3", "Missed");
    tab.assert_clean();
}

#[test]
fn two_runs_are_compared() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    let person = Person::new(&tab);
    person.click("table.runs tbody tr:first-child input");
    person.click("table.runs tbody tr:last-child input");
    person.follow(".compare-bar button:enabled");
    assert_eq!(tab.count("h1 .conclusion"), 1);
    assert!(tab.count("table.by-tool tbody tr") > 0);
    tab.assert_clean();
}

#[test]
fn ten_pairs_are_labelled() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    project.run("run starter --name one --only py-* --seed 1 -q").expect(0);
    let server = Server::start(&project, &["--label"]);
    // The printed address brings the right to label.
    let tab = browser.page(server.printed["label_url"].as_str().unwrap());
    tab.go(&server.at("/"));
    let person = Person::new(&tab);
    person.follow(".tabs a[href='/label']");
    tab.wait_for("#name:focus");
    person.type_text("anna");
    person.press("Enter");
    tab.wait_for("#labelling[data-state=asking]");
    for number in 1..=10 {
        tab.press(["y", "n", "p"][number % 3]);
        tab.wait_text("#headline", &format!("{number} label"));
        tab.wait_for("#labelling[data-state=asking]");
    }
    tab.assert_clean();
    assert_eq!(project.json("label list --as anna --json").as_array().unwrap().len(), 10);
}

/// The file that was downloaded into a folder, with its name.
#[track_caller]
fn downloaded(folder: &Project) -> (String, Vec<u8>) {
    let until = Instant::now() + TIMEOUT;
    while Instant::now() < until {
        for entry in std::fs::read_dir(folder.path("")).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            // A file has another name until it is complete, and may be made empty before the content is moved there.
            if name.starts_with('.') || name.ends_with(".crdownload") {
                continue;
            }
            let content = std::fs::read(folder.path(&name)).unwrap();
            if !content.is_empty() {
                return (name, content);
            }
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("nothing was downloaded");
}

#[test]
fn plot_is_exported() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let save = |button: &str| {
        let folder = Project::new();
        let tab = browser.page(&server.at("/"));
        tab.save_downloads(&folder.path(""));
        let person = Person::new(&tab);
        person.follow("table.runs tbody tr:first-child .run a");
        tab.wait_for("html[data-ready]");
        person.click(button);
        let file = downloaded(&folder);
        tab.assert_clean();
        file
    };
    let (name, svg) = save("#ranking .save button:first-child");
    assert_eq!(name, "starter-f1-of-every-tool.svg");
    let svg = String::from_utf8(svg).unwrap();
    assert!(svg.starts_with("<svg xmlns") && svg.contains(">F1 of every tool</text>"), "{svg}");
    let (name, png) = save("#quality .save button:last-child");
    assert!(name.starts_with("starter-") && name.ends_with(".png"), "{name}");
    assert!(png.starts_with(b"\x89PNG\r\n"), "{name} is no picture");
}
