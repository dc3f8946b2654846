//! Pages over a store, served by the real server: navigation, and a live run.

use super::driver::{Screen, Tab};
use super::fixtures::hostile::{self, CANARY};
use super::{browser, has_axe};
use crate::project::Project;
use crate::run::{FINDS_IT, with_cases, with_tool};
use crate::serve::Server;
use serde_json::Value;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Two different runs of the starter suite, shared by concurrent tests.
pub(super) fn two_runs() -> Arc<Project> {
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
fn store_pages_fit_every_screen() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    for (name, path) in PAGES {
        let tab = browser.page(&server.at(path));
        tab.wait_for("h1");
        for screen in Screen::ALL.into_iter().chain([Screen::NARROW]) {
            tab.emulate(screen);
            tab.assert_fits();
        }
        tab.save_screenshots(&format!("served-{name}"));
        tab.assert_clean();
    }
    // Also the page for a missing run.
    let tab = browser.page(&server.at("/runs/nobody"));
    assert!(tab.text("main").contains("nobody"));
    tab.emulate(Screen::NARROW);
    tab.assert_fits();
}

#[test]
fn store_pages_pass_axe() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    for (_, path) in PAGES {
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark()] {
            let tab = browser.page_on(screen, &server.at(path));
            tab.wait_for("h1");
            tab.assert_accessible();
        }
    }
}

#[test]
fn navigation_from_runs_to_cases_and_back() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    assert_eq!(tab.count("table.runs tbody tr"), 2);
    let list = tab.url();
    tab.wait_for_navigation(|| tab.click("table.runs tbody tr:first-child a"));
    tab.wait_for("html[data-ready]");
    tab.click(".tabs a[href='#cases']");
    tab.click("#grid .space .row .first a");
    tab.wait_for("#case h1");
    // The served page has the code on both sides of the change.
    tab.wait_for("#case .line.removed");
    tab.wait_for("#case .line.added");
    // Styles of other served pages do not reach into the report: the change fills its column, as in a file.
    let share = tab.eval(
        "document.querySelector('#case .lines').offsetWidth / document.querySelector('#case .files').offsetWidth",
    );
    assert!(share.as_f64().unwrap() > 0.95, "the change takes {share} of its column");
    tab.click("#case button.item");
    tab.wait_for("#case .more");
    assert_eq!(tab.eval("getComputedStyle(document.querySelector('#case .more:not([hidden])')).display"), "block");
    tab.back();
    tab.wait_for("#grid");
    tab.back();
    tab.wait_for("#leaderboard");
    // The other run of the suite is one step away, and so is the list.
    let (run, heading) = (tab.url(), tab.text(".switcher summary"));
    tab.click(".switcher summary");
    tab.wait_for_navigation(|| tab.click(".switcher li a"));
    tab.wait_for("#leaderboard");
    assert!(tab.url() != run && tab.text(".switcher summary") != heading, "{}", tab.url());
    tab.wait_for_navigation(|| tab.click(".top .brand"));
    assert_eq!(tab.url(), list);
    tab.wait_for("table.runs");
    tab.click("table.runs tbody tr:first-child input");
    tab.wait_text("#chosen", "one more");
    tab.click("table.runs tbody tr:last-child input");
    tab.wait_for_navigation(|| tab.click(".compare-bar button:enabled"));
    assert!(tab.url().contains("/compare?a="), "{}", tab.url());
    assert_eq!(tab.count("h1 .conclusion"), 1);
    assert!(tab.count("table.by-tool tbody tr") > 0);
    tab.assert_clean();
}

#[test]
fn runs_take_one_line_and_say_how_long_ago_they_were() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    tab.emulate(Screen::LAPTOP);
    let tallest =
        tab.eval("Math.max(...[...document.querySelectorAll('table.runs tbody tr')].map((row) => row.offsetHeight))");
    assert!(tallest.as_f64().unwrap() < 45.0, "a row takes several lines: {tallest} px");
    let time = tab.text("table.runs time");
    assert!(time == "just now" || time.ends_with(" ago"), "{time}");
    assert!(tab.eval("document.querySelector('table.runs time').title.endsWith(' UTC')") == true);
    // Without scripts: exact times, searching, and two boxes to tick.
    tab.set_scripts_enabled(false);
    tab.go(&server.at("/?q=second"));
    assert_eq!(tab.count("table.runs tbody tr"), 1);
    assert!(tab.text("table.runs time").ends_with(" UTC"));
    tab.go(&server.at("/compare?run=second&run=first"));
    assert_eq!(tab.count("h1 .conclusion"), 1);
    tab.set_scripts_enabled(true);
}

#[test]
fn list_reloads_unless_somebody_is_using_it() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    tab.set_timeout(std::time::Duration::from_secs(60));
    tab.wait_text("main", "karat run");
    let run = |name: &str| project.run(&format!("run starter --name {name} --only py-* --trials 1 -q")).expect(0);
    run("first");
    tab.wait_until("document.querySelectorAll('table.runs tbody tr').length === 1");
    run("second");
    // It may be shown while it is running first.
    tab.wait_until("document.querySelectorAll('table.runs .state.complete').length === 2");
    tab.click("input[type=search]");
    tab.type_text("fir");
    run("third");
    tab.wait_text("#reload", "There are new results");
    assert_eq!(tab.eval("document.querySelector('input[type=search]').value"), "fir");
    assert_eq!(tab.count("table.runs tbody tr"), 2);
    tab.wait_for_navigation(|| tab.click("#reload button"));
    assert_eq!(tab.count("table.runs tbody tr"), 3);
}

#[test]
fn live_page_warns_if_the_first_trials_all_fail() {
    let Some(browser) = browser() else { return };
    let project = with_cases(4);
    with_tool(&project, "broken", "echo 'no licence key' >&2; exit 3", "");
    with_tool(&project, "fine", FINDS_IT, "");
    let run =
        "run suite --tool tools/broken.toml tools/fine.toml --trials 1 -q --isolation process --store .karat --name";
    project.run(&format!("{run} half"));
    project.run(&format!("{run} none").replace("tools/fine.toml ", ""));
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/runs/none/live"));
    tab.wait_text("#warning", "The first 4 trials all failed");
    tab.wait_text("#warning li", "broken");
    tab.wait_text("#warning", "--retry-failed");
    if has_axe() {
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark()] {
            tab.emulate(screen);
            tab.assert_accessible();
        }
    }
    tab.emulate(Screen::NARROW);
    tab.assert_fits();
    tab.go(&server.at("/runs/half/live"));
    tab.wait_text("#warning", "Some tools have failed in every trial so far");
    assert_eq!(tab.count("#warning li"), 1);
    tab.assert_clean();
}

#[test]
fn remaining_time_is_rounded() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &[]);
    let tab = browser.tab();
    // The server's answers are replaced, so that the times are known.
    tab.add_init_script(
        "window.fetch = async () => ({ ok: true, json: async () => ({
           state: 'running', planned: 10, done: 4, failed: 0, unavailable: 0, tools: [], failures: [], all_failed: [],
           more_failures: 0, last: [], spent: { priced: 0, metered: 0 }, per_minute: 2, begun_ms: 0, ended_ms: null,
           now_ms: 180000, left_ms: window.left ?? 180000 }) });",
    );
    tab.go(&server.at("/runs/second/live"));
    tab.wait_text("#figures", "about 3 min");
    assert!(tab.text("#figures").contains("remaining") && tab.text("#figures").contains("elapsed"));
    assert!(!tab.text("#figures").contains("0 s"), "{}", tab.text("#figures"));
    for (ms, shown) in
        [(4_000, "a few seconds"), (41_000, "about 40 s"), (5_000_000, "about 1 h 20 min"), (90_000_000, "about 25 h")]
    {
        tab.eval(&format!("window.left = {ms}"));
        tab.wait_text("#figures", shown);
    }
}

/// A run in its own process, killed when dropped.
struct RunningProcess(Child);

impl RunningProcess {
    fn start(project: &Project, arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_karat"));
        command.args(arguments).current_dir(project.path("")).stdin(Stdio::null());
        command.env("XDG_CONFIG_HOME", project.path(".user"));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for RunningProcess {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn done_trials(tab: &Tab) -> u64 {
    tab.eval("document.getElementById('bar').value").as_u64().unwrap_or_default()
}

#[test]
fn live_page_follows_a_run_to_its_report() {
    let Some(browser) = browser() else { return };
    let project = with_cases(6);
    // The tool waits for a file, so that the test controls its speed.
    let gate = project.path("go").display().to_string();
    with_tool(&project, "slow", &format!("while [ ! -e {gate} ]; do sleep 0.05; done; {FINDS_IT}"), "");
    with_tool(&project, "quick", FINDS_IT, "");
    let run = ["run", "suite", "--tool", "tools/quick.toml", "tools/slow.toml", "--trials", "1", "-q", "-j", "2"];
    let run = [&run[..], &["--isolation", "process", "--name", "watched", "--store", ".karat"]].concat();
    let server = Server::start(&project, &[]);
    let tab = browser.page(&server.at("/"));
    // There is no store yet, which the page says.
    tab.wait_text("main", "karat run");
    tab.expect_problems(&["status of 503"]);
    // This page would ask again for a store.
    tab.go(&server.at("/healthz"));
    let mut going = RunningProcess::start(&project, &run);
    tab.set_timeout(std::time::Duration::from_secs(60));
    for _ in 0..600 {
        if server.get("/runs/watched/live").status == 200 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    tab.go(&server.at("/runs/watched/live"));
    tab.wait_for("#live[data-ready]");
    tab.wait_until("document.getElementById('bar').value >= 1");
    assert_eq!(tab.text("#state"), "running");
    assert!(done_trials(&tab) < 12, "the slow tool was not released yet");
    tab.save_screenshots("live-running");
    project.write("go", "");
    tab.wait_text("#state", "complete");
    assert!(going.0.wait().unwrap().success());
    assert_eq!(done_trials(&tab), 12);
    tab.wait_for_navigation(|| tab.click("#over a"));
    tab.wait_for("#leaderboard");
    assert_eq!(tab.count("#leaderboard tbody tr"), 2);
    tab.assert_clean();
}

#[test]
fn live_page_reports_a_lost_server_and_recovers() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &["--no-token"]);
    let address = server.address.to_string();
    let tab = browser.page(&server.at("/runs/second/live"));
    tab.wait_for("#live[data-ready]");
    drop(server);
    // A finished run is polled rarely.
    tab.eval("document.dispatchEvent(new Event('visibilitychange'))");
    tab.wait_text("#lost", "unreachable");
    let _again = Server::start(&project, &["--no-token", "--listen", &address]);
    tab.eval("document.dispatchEvent(new Event('visibilitychange'))");
    tab.wait_gone("#lost");
    tab.expect_problems(&["ERR_CONNECTION"]);
}

#[test]
fn token_admits_only_the_browser_that_has_it() {
    let Some(browser) = browser() else { return };
    let project = two_runs();
    let server = Server::start(&project, &["--token", "a-token-of-my-own-7"]);
    // A chosen token is not printed.
    let tab = browser.page(&server.at("/?token=a-token-of-my-own-7"));
    tab.wait_for("table.runs");
    assert_eq!(tab.count("table.runs tbody tr"), 2);
    assert!(!tab.url().contains("a-token-of-my-own"), "the token is still in the address: {}", tab.url());
    tab.wait_for_navigation(|| tab.click("table.runs tbody tr:first-child a"));
    tab.wait_for("#leaderboard");
    tab.assert_clean();
    // Scripts cannot read the cookie either.
    assert!(!tab.eval("document.cookie").as_str().unwrap().contains("a-token-of-my-own"));
    let stranger = browser.page(&server.at("/"));
    assert_eq!(stranger.count("table.runs"), 0);
    let wrong = browser.page(&server.at("/?token=a-token-of-somebody"));
    assert_eq!(wrong.count("table.runs"), 0);
}

#[test]
fn hostile_text_on_served_pages_stays_text() {
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
            assert_eq!(tab.eval(CANARY), Value::Null, "a script ran on {path}");
            tab.assert_fits();
        }
        tab.save_screenshots(&format!("hostile-served-{}", path.split(['/', '?']).nth(1).unwrap_or_default()));
        tab.assert_clean();
    }
}
