//! A report as a page, opened from disk: everything a person does with it.

use super::driver::{Browser, Screen, Tab};
use super::made::large::Large;
use super::{address, browser, has_axe, printed};
use crate::project::{Project, root};
use serde_json::{Value, json};

/// The starter suite scored, as a page and as the report that it is drawn from.
struct Starter {
    project: Project,
    report: Value,
}

impl Starter {
    fn scored() -> Self {
        let project = Project::new();
        project.ok("score starter --resamples 200 -o r.html -o r.json");
        let report = serde_json::from_str(&project.read("r.json")).unwrap();
        Self { project, report }
    }

    fn url(&self, fragment: &str) -> String {
        format!("{}{fragment}", address(&self.project.path("r.html")))
    }

    #[track_caller]
    fn open(&self, browser: &Browser, fragment: &str) -> Tab {
        let tab = browser.page(&self.url(fragment));
        tab.wait_for("html[data-ready]");
        tab
    }

    fn tool(&self, name: &str) -> &Value {
        self.report["tools"].as_array().unwrap().iter().find(|tool| tool["tool"] == name).unwrap()
    }

    /// The case of every golden that a tool missed, trial after trial.
    fn misses(&self, tool: &str) -> Vec<String> {
        let mut found = Vec::new();
        for case in self.tool(tool)["cases"].as_array().unwrap() {
            let trials = case["trials"].as_array().unwrap();
            let missed = trials.iter().map(|trial| trial["misses"].as_array().unwrap().len()).sum();
            found.extend(std::iter::repeat_n(case["case"].as_str().unwrap().to_owned(), missed));
        }
        found
    }
}

/// The keys that a column of the leaderboard is sorted by, from top to bottom.
fn column(tab: &Tab, at: usize) -> Vec<String> {
    let js = format!("[...document.querySelectorAll('#leaderboard tbody tr')].map((r) => r.cells[{at}].dataset.sort)");
    tab.eval(&js).as_array().unwrap().iter().map(|key| key.as_str().unwrap().to_owned()).collect()
}

#[track_caller]
fn sorted(keys: &[String], direction: &str) {
    let stated: Vec<&String> = keys.iter().filter(|key| !key.is_empty()).collect();
    assert!(keys[stated.len()..].iter().all(String::is_empty), "what has no value is not last: {keys:?}");
    let numbers: Option<Vec<f64>> = stated.iter().map(|key| key.parse().ok()).collect();
    let rises = match &numbers {
        Some(numbers) => numbers.windows(2).all(|w| w[0] <= w[1]),
        None => stated.windows(2).all(|w| w[0] <= w[1]),
    };
    let falls = match &numbers {
        Some(numbers) => numbers.windows(2).all(|w| w[0] >= w[1]),
        None => stated.windows(2).all(|w| w[0] >= w[1]),
    };
    assert!(if direction == "ascending" { rises } else { falls }, "{direction}: {keys:?}");
}

#[test]
fn the_leaderboard_is_sorted_by_each_column() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    Large { cases: 40, tools: 6, with_code: 0 }.write(&project.path("s"));
    project.ok("score s --resamples 100 -o r.html");
    let tab = browser.page(&address(&project.path("r.html")));
    tab.wait_for("html[data-ready]");
    let heads = tab.count("#leaderboard thead th");
    assert!(heads >= 8, "{heads} columns");
    let press_key = |at: usize, key: &str| {
        tab.tab_to(&format!("#leaderboard th:nth-child({}) button", at + 1));
        tab.press(key);
    };
    for at in 0..heads {
        let head = format!("#leaderboard th:nth-child({})", at + 1);
        let direction = || tab.eval(&format!("document.querySelector('{head}').getAttribute('aria-sort')"));
        let mut seen = Vec::new();
        for by_mouse in [true, false, true] {
            match by_mouse {
                true => tab.click(&format!("{head} button")),
                false => press_key(at, if at % 2 == 0 { "Enter" } else { "Space" }),
            }
            let now = direction().as_str().unwrap_or_default().to_owned();
            sorted(&column(&tab, at), &now);
            assert_eq!(tab.eval("document.querySelectorAll('#leaderboard [aria-sort]').length"), 1);
            seen.push(now);
        }
        assert!(seen[0] != seen[1] && seen[0] == seen[2], "{head}: {seen:?}");
    }
    tab.quiet();
}

#[test]
fn cases_are_filtered_and_the_view_can_be_sent_around() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "");
    let all = starter.report["suite"]["cases"].as_u64().unwrap();
    tab.wait_text("#grid-told", &format!("{all} cases"));
    tab.click("#grid input[type=search]");
    tab.type_text("sqli");
    tab.wait_text("#grid-told", " of ");
    let ids = tab.texts("#grid .space .first a");
    assert!(!ids.is_empty() && (ids.len() as u64) < all, "{ids:?}");
    tab.choose("#grid select[name=tool]", "noisy-scanner");
    tab.choose("#grid select[name=outcome]", "with false");
    tab.choose("#grid select[name=order]", "hardest");
    let (told, rows) = (tab.text("#grid-told"), tab.texts("#grid .space .row"));
    assert!(!rows.is_empty());
    let sent = browser.page(&tab.url());
    sent.wait_for("html[data-ready]");
    assert_eq!((sent.text("#grid-told"), sent.texts("#grid .space .row")), (told, rows));
    assert_eq!(sent.eval("document.querySelector('#grid input[type=search]').value"), "sqli");
    sent.click("#grid .filters button");
    sent.wait_text("#grid-told", &format!("{all} cases"));
    // What fits nothing says so.
    sent.click("#grid input[type=search]");
    sent.type_text("no such words");
    sent.wait_text("#grid-told", "0 of");
    [tab, sent].iter().for_each(Tab::quiet);
}

#[test]
fn a_case_shows_its_code_with_everything_on_its_lines() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=careful-reviewer&trial=1");
    assert_eq!(tab.text("#case h1"), "py-order-search-sqli");
    assert!(!tab.texts("#overview h1").contains(&"starter".to_owned()), "one thing at a time");
    let code = std::fs::read_to_string(root().join("suites/starter/cases/py-order-search-sqli/after/shop/orders.py"));
    let code = code.unwrap();
    // The golden lies where the suite says, on the line that the file has there.
    let shown = tab.eval(
        "[...document.querySelectorAll('.line.golden')].map((l) => [Number(l.dataset.line), l.querySelector('code').textContent])",
    );
    let shown = shown.as_array().unwrap();
    assert!(!shown.is_empty());
    for line in shown {
        let at = line[0].as_u64().unwrap() as usize;
        assert_eq!(code.lines().nth(at - 1).unwrap().trim(), line[1].as_str().unwrap().trim(), "line {at}");
    }
    tab.click("#case .items .list button.item");
    tab.wait_for("#case .more");
    assert!(tab.text("#case .more").contains("Score"), "{}", tab.text("#case .more"));
    assert!(tab.count("#case .line.on") > 0, "what is open is not marked in the code");
    tab.quiet();
}

#[test]
fn a_trap_is_told_on_both_sides() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=noisy-scanner&trial=1&item=g3");
    let open = tab.text("#case button.item[aria-expanded=true]");
    assert!(open.contains("reported: R1") && open.contains("trap"), "{open}");
    assert!(tab.text("#case .more").contains("this trial did: R1"), "{}", tab.text("#case .more"));
    let told = tab.texts("#case .who tr.unasked td.fell");
    assert!(told.iter().any(|cell| cell.contains("3/3")), "{told:?}");
    // Green is for what was rightly found.
    assert!(tab.count("#case .line.is-bad[data-line='23']") == 1 && tab.count("#case .line.is-good") > 0);
    tab.quiet();
}

#[test]
fn what_is_skipped_to_is_no_other_view() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=noisy-scanner");
    tab.eval("document.querySelector('.skip').click()");
    assert_eq!(tab.eval("document.activeElement.id"), "main");
    assert_eq!(tab.text("#case h1"), "py-order-search-sqli");
    tab.quiet();
}

#[test]
fn misses_are_stepped_through_there_and_back() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tool = "noisy-scanner";
    let expected = starter.misses(tool);
    assert!(expected.len() > 3, "{expected:?}");
    let first = &starter.tool(tool)["cases"][0]["case"].as_str().unwrap().to_owned();
    let tab = starter.open(&browser, &format!("#/case/{first}?tool={tool}"));
    let here = || tab.eval("location.hash").as_str().unwrap().to_owned();
    let walk = |act: &dyn Fn(), ends: &str| {
        let mut seen: Vec<(String, String)> = Vec::new();
        for _ in 0..500 {
            let before = here();
            act();
            tab.until(&format!(
                "location.hash !== {0} && document.querySelector('#case').dataset.shown === location.hash && document.querySelector('#case [aria-expanded=true]') !== null
                 || document.querySelector('#case .said').textContent.includes({1})",
                json!(before),
                json!(ends)
            ));
            if tab.text("#case").contains(ends) {
                return seen;
            }
            let open = tab.text("#case button.item[aria-expanded=true] .state");
            assert!(open.starts_with("missed"), "{open}");
            let trial = tab.eval("document.querySelector('#case select[name=trial]').value").to_string();
            let sign = tab.text("#case button.item[aria-expanded=true] .sign");
            seen.push((tab.text("#case h1"), format!("{sign} of trial {trial}")));
        }
        panic!("there is no end of misses");
    };
    let forward = walk(&|| tab.press("n"), "no later miss");
    let cases = |of: &[(String, String)]| of.iter().map(|(case, _)| case.clone()).collect::<Vec<_>>();
    assert_eq!(cases(&forward), expected);
    let mut back = walk(&|| tab.click("#case .previous-miss"), "no earlier miss");
    back.reverse();
    assert_eq!(back, forward[..forward.len() - 1], "the same misses, the other way round");
    tab.quiet();
}

#[test]
fn the_back_button_leads_back() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "");
    tab.click("#grid .space .row:nth-child(6) .first a");
    tab.wait_for("#case h1");
    tab.wait_gone("#overview");
    let case = tab.text("#case h1");
    assert!(tab.eval("document.title").as_str().unwrap().starts_with(&case));
    tab.press("]");
    tab.until(&format!("document.querySelector('#case h1').textContent !== {}", json!(case)));
    tab.back();
    tab.wait_text("#case h1", &case);
    tab.back();
    tab.wait_for("#overview h1");
    tab.wait_gone("#case");
    assert!(tab.eval("scrollY").as_f64().unwrap() > 0.0, "one is back where one was, not at the top");
    tab.forward();
    tab.wait_text("#case h1", &case);
    tab.press("Escape");
    tab.wait_for("#grid");
    tab.wait_gone("#case");
    tab.quiet();
}

#[test]
fn a_link_opens_what_it_names_or_says_that_it_is_not_there() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=noisy-scanner&show=extras");
    assert_eq!(tab.text("#case h1"), "py-order-search-sqli");
    assert_eq!(tab.eval("document.querySelector('#case select[name=show]').value"), "extras");
    tab.quiet();
    let tab = starter.open(&browser, "#/case/gone?tool=nobody");
    tab.wait_text("#grid-told", "there is no case gone");
    tab.quiet();
    for odd in
        ["#/case/%E0%A4%A", "#/cases?tool=__proto__&by=__proto__&order=x", "#/case/", "#nothing", "#/case/a/b?item=g0"]
    {
        let tab = starter.open(&browser, odd);
        tab.wait_for("#leaderboard");
        tab.quiet();
    }
    // A trial or an item that is not there is no reason to show nothing.
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=noisy-scanner&trial=99&item=%22%5D");
    assert_eq!(tab.text("#case h1"), "py-order-search-sqli");
    tab.quiet();
}

#[test]
fn a_report_is_used_with_keys_alone() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "");
    tab.tab_to("#grid .box");
    tab.press("ArrowDown");
    tab.press("ArrowDown");
    tab.press("ArrowRight");
    let at = tab.eval("document.activeElement.dataset.at");
    assert_eq!(at, "1,1");
    tab.press("Enter");
    tab.wait_for("#case h1");
    tab.tab_to("#case button.item");
    tab.press("Enter");
    tab.wait_for("#case .more");
    tab.press("Escape");
    tab.wait_for("#leaderboard");
    tab.quiet();
}

#[test]
fn a_report_fits_every_screen() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let case = "#/case/py-order-search-sqli?tool=careful-reviewer&trial=1&item=g0";
    for (view, fragment) in [("overview", ""), ("cases", "#/cases"), ("case", case)] {
        let tab = starter.open(&browser, fragment);
        for screen in Screen::ALL.into_iter().chain([Screen::NARROW]) {
            tab.emulate(screen);
            tab.fits();
        }
        tab.pictures(&format!("report-{view}"));
        tab.quiet();
        // A small screen is not only shrunk: it is the first thing some people open the page with.
        let small = browser.page_on(Screen::NARROW, &starter.url(fragment));
        small.wait_for("html[data-ready]");
        small.fits();
        small.quiet();
    }
}

#[test]
fn fifty_tools_fit_every_screen() {
    let Some(browser) = browser() else { return };
    let project = Project::new();
    Large::CROWD.write(&project.path("s"));
    project.ok("score s --resamples 100 -o r.html");
    for fragment in ["", "#/case/case-0001"] {
        let tab = browser.page(&format!("{}{fragment}", address(&project.path("r.html"))));
        tab.wait_for("html[data-ready]");
        for screen in [Screen::NARROW, Screen::LAPTOP, Screen::WIDE] {
            tab.emulate(screen);
            tab.fits();
        }
        assert_eq!(tab.cut_on_paper(), Vec::<String>::new());
        tab.pictures(if fragment.is_empty() { "crowd-overview" } else { "crowd-case" });
        tab.quiet();
    }
}

#[test]
fn a_report_keeps_nobody_out() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let starter = Starter::scored();
    for fragment in ["", "#/case/py-order-search-sqli?tool=careful-reviewer&trial=1&item=g0"] {
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark()] {
            let tab = browser.page_on(screen, &starter.url(fragment));
            tab.wait_for("html[data-ready]");
            tab.accessible();
        }
    }
}

#[test]
fn a_report_can_be_printed_whole() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = starter.open(&browser, "");
    assert_eq!(tab.cut_on_paper(), Vec::<String>::new());
    let paper = printed(&tab);
    let cases = starter.tool("careful-reviewer")["cases"].as_array().unwrap();
    let cases = cases.iter().map(|case| case["case"].as_str().unwrap());
    for words in ["starter", "Leaderboard", "careful-reviewer", "noisy-scanner"].into_iter().chain(cases) {
        assert!(paper.contains(words), "{words} is not on paper: {paper}");
    }
    // What can be clicked on a screen is read on paper.
    let heads = tab.texts("#leaderboard thead th");
    tab.on_paper(true);
    let shown: Vec<String> = tab.texts("#leaderboard thead button");
    assert_eq!(shown, heads);
    let tab = starter.open(&browser, "#/case/py-order-search-sqli?tool=careful-reviewer");
    let items = tab.texts("#case button.item .what");
    tab.on_paper(true);
    assert!(!items.is_empty());
    assert_eq!(tab.texts("#case button.item .what"), items);
    assert_eq!(tab.cut_on_paper(), Vec::<String>::new());
    assert!(printed(&tab).contains("py-order-search-sqli"));
}

#[test]
fn figures_and_tables_need_no_script() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    let tab = browser.tab();
    tab.scripts(false);
    tab.go(&starter.url(""));
    let shown = tab.text("main");
    for words in ["Leaderboard", "careful-reviewer", "JavaScript is off"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
}

#[test]
fn a_page_is_drawn_without_a_suite_at_hand() {
    let Some(browser) = browser() else { return };
    let starter = Starter::scored();
    starter.project.ok("report r.json -o again.html");
    let tab = browser.page(&format!("{}#/case/py-order-search-sqli", address(&starter.project.path("again.html"))));
    tab.wait_for("html[data-ready]");
    assert_eq!(tab.text("#case h1"), "py-order-search-sqli");
    tab.wait_text("#case", "without the suite");
    tab.quiet();
}

/// A large report is used like a small one. The largest, 5,000 cases and 10 tools, takes a debug build too long to score, so it
/// is held to a share of what that may have; a release build and the benchmark hold the whole to 15 MB.
#[test]
fn a_large_report_can_be_sent_around_and_used() {
    let Some(browser) = browser() else { return };
    let size = match cfg!(debug_assertions) {
        true => Large { cases: 800, tools: 3, with_code: 32 },
        false => Large::BENCHMARK,
    };
    let project = Project::new();
    size.write(&project.path("s"));
    project.ok("score s --resamples 100 -o r.html");
    let bytes = std::fs::metadata(project.path("r.html")).unwrap().len();
    // Plots, texts and scripts are as large for few cases as for many.
    let most = 500_000 + 14_500_000 * (size.cases * size.tools) as u64 / 50_000;
    assert!(bytes < most, "the page has {bytes} bytes, and {most} are the most");
    let tab = browser.page(&address(&project.path("r.html")));
    tab.wait_for("html[data-ready]");
    let last = format!("case-{:04}", size.cases - 1);
    // Only what is in view is in the document.
    assert!(tab.count("#grid .space .row") < 200);
    tab.tab_to("#grid .box");
    tab.press("End");
    tab.wait_text("#grid .space .first", &last);
    tab.press("Enter");
    tab.wait_text("#case h1", &last);
    tab.press("[");
    tab.wait_text("#case h1", &format!("case-{:04}", size.cases - 2));
    tab.press("Escape");
    tab.click("#grid input[type=search]");
    tab.type_text("case-07");
    tab.wait_text("#grid-told", "100 of");
    tab.emulate(Screen::NARROW);
    tab.fits();
    tab.quiet();
}
