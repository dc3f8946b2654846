//! How soon a page can be used: `cargo bench -p karat-cli --bench pages`.
//!
//! The report of 5,000 cases and 10 tools is opened from disk in Chromium, again and again, and so is an empty page: what the
//! browser takes for itself is on both sides of the ratio. See `bench/README.md`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark prints, and may stop at the first fault"
)]

#[expect(dead_code, unused_imports, reason = "tests use all of it, and a benchmark needs a part")]
#[path = "../tests/it/browser/driver/mod.rs"]
mod driver;

#[path = "../tests/it/browser/fixtures"]
mod fixtures {
    pub(crate) mod draw;
    pub(crate) mod faults;
    #[expect(dead_code, reason = "one size is measured")]
    pub(crate) mod large;
}

use driver::Browser;
use fixtures::large::Large;
use karat_report::page::Page;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Seconds after which a person may sort, search and open cases.
const MOST_SECONDS: f64 = 2.0;
/// Megabytes of a file that can still be sent around.
const MOST_MB: f64 = 15.0;
/// How often each page is opened.
const TIMES: usize = 7;

fn main() -> ExitCode {
    let browser = match Browser::start_private() {
        Ok(browser) => browser,
        Err(why) => {
            println!("skipped: {why}");
            return ExitCode::SUCCESS;
        }
    };
    let folder = tempfile::tempdir().unwrap();
    Large::BENCHMARK.write(&folder.path().join("suite"));
    let report = folder.path().join("report.html");
    let begun = Instant::now();
    // The page is the same with fewer samples, and here sooner.
    let ended = Command::new(env!("CARGO_BIN_EXE_karat"))
        .args(["score", "suite", "--resamples", "200", "-o", "report.html"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    println!("scored and drawn in {:.1} s", begun.elapsed().as_secs_f64());

    let empty = folder.path().join("empty.html");
    let script = "document.documentElement.dataset.ready = 'true';";
    let page = Page { title: "empty", scripts: &[script], ..Page::default() };
    std::fs::write(&empty, page.draw()).unwrap();

    println!("| page   |       MB | parsed, ms | ready, ms |");
    println!("|--------|---------:|-----------:|----------:|");
    let empty = show(&browser, "empty", &empty);
    let report = show(&browser, "report", &report);
    println!("a report is ready after {:.1} times what an empty page takes", report.ready / empty.ready);
    let held =
        [target("MB", report.mb, MOST_MB), target("seconds until it is ready", report.ready / 1000.0, MOST_SECONDS)];
    if held.iter().all(|held| *held) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn target(what: &str, value: f64, most: f64) -> bool {
    let held = value <= most;
    println!("target: {what} {value:.2}, at most {most}: {}", if held { "held" } else { "MISSED" });
    held
}

struct Opened {
    mb: f64,
    parsed: f64,
    ready: f64,
}

/// Opens a page in a fresh tab each time; of all times the middle one counts.
fn show(browser: &Browser, name: &str, path: &Path) -> Opened {
    let mb = std::fs::metadata(path).unwrap().len() as f64 / 1e6;
    let mut times: Vec<(f64, f64)> = (0..TIMES).map(|_| open(browser, path)).collect();
    let mut middle = |which: fn(&(f64, f64)) -> f64| {
        times.sort_by(|a, b| which(a).total_cmp(&which(b)));
        which(&times[TIMES / 2])
    };
    let opened = Opened { mb, parsed: middle(|t| t.0), ready: middle(|t| t.1) };
    println!("| {name:6} | {mb:8.3} | {:10.0} | {:9.0} |", opened.parsed, opened.ready);
    opened
}

/// Milliseconds from going there to the document being parsed, and to its saying that it can be used.
fn open(browser: &Browser, path: &Path) -> (f64, f64) {
    let tab = browser.tab();
    tab.add_init_script(
        "new MutationObserver((_, watch) => {
           if (document.documentElement?.dataset.ready === undefined) return;
           window.readyAfter = performance.now();
           watch.disconnect();
         }).observe(document, { attributes: true, childList: true, subtree: true });",
    );
    tab.go(&format!("file://{}", path.display()));
    tab.wait_until("window.readyAfter !== undefined");
    tab.assert_clean();
    let parsed = tab.eval("performance.getEntriesByType('navigation')[0].domContentLoadedEventStart");
    (parsed.as_f64().unwrap(), tab.eval("readyAfter").as_f64().unwrap())
}
