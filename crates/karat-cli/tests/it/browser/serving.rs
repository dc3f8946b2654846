//! Pages over a store, served by the real server: looked at, clicked through, and watched while a run goes on.

use super::driver::{Screen, Tab};
use super::made::hostile::{self, CANARY};
use super::{browser, has_axe};
use crate::project::Project;
use crate::run::{FINDS_IT, with_cases, with_tool};
use crate::serve::Server;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Two runs of the starter suite that are not alike. Tests that look at them at the same time share them.
fn two_runs() -> Arc<Project> {
    static SHARED: Mutex<Weak<Project>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(project) = shared.upgrade() {
        return project;
    }
    let project = Arc::new(Project::new());
    project.run("run starter --name first --only py-* --seed 1 -q").expect(0);
    project.run("run starter --name second --only py-* --seed 1 --trials 1 -q").expect(0);
    *shared = Arc::downgrade(&project);
    project
}

const PAGES: [(&str, &str); 4] =
    [("runs", "/"), ("run", "/runs/second"), ("compare", "/compare?a=first&b=second"), ("live", "/runs/second/live")];

#[test]
fn every_page_of_a_store_fits_every_screen() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    for (name, path) in PAGES {
        let tab = browser.page(&server.at(path));
        tab.wait_for("h1");
        for screen in Screen::ALL.into_iter().chain([Screen::NARROW]) {
            tab.emulate(screen);
            tab.fits();
        }
        tab.pictures(&format!("served-{name}"));
        tab.quiet();
    }
    // A page for what is not there is a page as well.
    let tab = browser.page(&server.at("/runs/nobody"));
    assert!(tab.text("main").contains("nobody"));
    tab.emulate(Screen::NARROW);
    tab.fits();
}

#[test]
fn pages_of_a_store_keep_nobody_out() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    for (_, path) in PAGES {
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark()] {
            let tab = browser.page_on(screen, &server.at(path));
            tab.wait_for("h1");
            tab.accessible();
        }
    }
}

#[test]
fn people_find_their_way_from_runs_to_cases_and_back() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    assert_eq!(tab.count("table.runs tbody tr"), 2);
    let list = tab.url();
    tab.loading(|| tab.click("table.runs tbody tr:first-child a"));
    tab.wait_for("html[data-ready]");
    tab.click("#grid .space .row .first a");
    tab.wait_for("#case h1");
    tab.back();
    tab.wait_for("#leaderboard");
    tab.back();
    assert_eq!(tab.url(), list);
    tab.wait_for("table.runs");
    tab.loading(|| tab.click("form button"));
    assert!(tab.url().contains("/compare?a="), "{}", tab.url());
    assert!(tab.text("h1").len() > 3);
    tab.quiet();
}

/// A run in a process of its own, ended with the value.
struct Going(Child);

impl Going {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
        command.args(arguments).current_dir(project.path("")).stdin(Stdio::null());
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Going {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn done(tab: &Tab) -> u64 {
    tab.eval("document.getElementById('bar').value").as_u64().unwrap_or_default()
}

#[test]
fn a_run_is_watched_from_its_first_trial_to_its_report() {
    let Some(browser) = browser() else { return };
    let project = with_cases(6);
    // It waits for a file, so that the test and not the machine says how fast it goes.
    let gate = project.path("go").display().to_string();
    with_tool(&project, "slow", &format!("while [ ! -e {gate} ]; do sleep 0.05; done; {FINDS_IT}"), "");
    with_tool(&project, "quick", FINDS_IT, "");
    let run = ["run", "suite", "--tool", "tools/quick.toml", "tools/slow.toml", "--trials", "1", "-q", "-j", "2"];
    let run = [&run[..], &["--isolation", "process", "--name", "watched", "--store", ".karat"]].concat();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    // There is no store yet, and no page to show for it but one that says so.
    tab.wait_text("main", "karat run");
    tab.take(&["status of 503"]);
    let mut going = Going::start(&project, &run);
    tab.patience(std::time::Duration::from_secs(60));
    for _ in 0..600 {
        if server.get("/runs/watched/live").status == 200 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    tab.go(&server.at("/runs/watched/live"));
    tab.wait_for("#live[data-ready]");
    tab.until("document.getElementById('bar').value >= 1");
    assert_eq!(tab.text("#state"), "running");
    assert!(done(&tab) < 12, "the slow tool has not been let go");
    tab.pictures("live-running");
    project.write("go", "");
    tab.wait_text("#state", "complete");
    assert!(going.0.wait().unwrap().success());
    assert_eq!(done(&tab), 12);
    tab.loading(|| tab.click("#over a"));
    tab.wait_for("#leaderboard");
    assert_eq!(tab.count("#leaderboard tbody tr"), 2);
    tab.quiet();
}

#[test]
fn a_page_that_lost_its_server_says_so_and_recovers() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &["--no-token"]);
    let address = server.address.to_string();
    let tab = browser.page(&server.at("/runs/second/live"));
    tab.wait_for("#live[data-ready]");
    drop(server);
    // A run that has ended is asked for seldom.
    tab.eval("document.dispatchEvent(new Event('visibilitychange'))");
    tab.wait_text("#lost", "unreachable");
    let _again = Server::start(&project, &["--no-token", "--listen", &address]);
    tab.eval("document.dispatchEvent(new Event('visibilitychange'))");
    tab.wait_gone("#lost");
    tab.take(&["ERR_CONNECTION"]);
}

#[test]
fn a_token_lets_one_browser_in_and_no_other() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &["--token", "a-token-of-my-own-7"]);
    // A token that somebody chose is not printed.
    let tab = browser.page(&server.at("/?token=a-token-of-my-own-7"));
    tab.wait_for("table.runs");
    assert_eq!(tab.count("table.runs tbody tr"), 2);
    assert!(!tab.url().contains("a-token-of-my-own"), "the address can be seen by others: {}", tab.url());
    tab.loading(|| tab.click("table.runs tbody tr:first-child a"));
    tab.wait_for("#leaderboard");
    tab.quiet();
    // Scripts of a page cannot read it either.
    assert!(!tab.eval("document.cookie").as_str().unwrap().contains("a-token-of-my-own"));
    let stranger = browser.page(&server.at("/"));
    assert_eq!(stranger.count("table.runs"), 0);
    let wrong = browser.page(&server.at("/?token=a-token-of-somebody"));
    assert_eq!(wrong.count("table.runs"), 0);
}

#[test]
fn nothing_on_served_pages_runs_or_breaks_out() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    hostile::write(&project.path("s"));
    for number in 1..=2 {
        let name = format!("{number}<img src=x onerror=\"window.canary='run'\"></script>");
        let run = ["run", "s", "--tool", "replay:s/submissions/all.jsonl", "--trials", "1", "--name", &name, "-q"];
        project.run_list(&run).expect(0);
    }
    let server = Server::start(&project, &[]);
    let runs = project.json("store list --json");
    let ids: Vec<&str> = runs.as_array().unwrap().iter().map(|run| run["id"].as_str().unwrap()).collect();
    let paths = [
        "/".to_owned(),
        format!("/runs/{}", ids[0]),
        format!("/runs/{}/live", ids[0]),
        format!("/compare?a={}&b={}", ids[1], ids[0]),
    ];
    for path in paths {
        let tab = browser.page(&server.at(&path));
        tab.wait_for("h1");
        for screen in [Screen::NARROW, Screen::LAPTOP] {
            tab.emulate(screen);
            assert_eq!(tab.eval(CANARY), Value::Null, "something ran on {path}");
            tab.fits();
        }
        tab.pictures(&format!("hostile-served-{}", path.split(['/', '?']).nth(1).unwrap_or_default()));
        tab.quiet();
    }
}
