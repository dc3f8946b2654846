//! Pages in a real browser: by mouse, touch and keyboard, and in print.

mod assessment_report;
mod change;
mod driver;
mod driver_tests;
mod fixtures;
mod hostile;
mod labelling;
mod report;
mod served_pages;
mod static_server;
mod tasks;

use crate::project::{Project, report_skipped};
use driver::{Browser, Tab};
use std::path::Path;

/// The browser, or `None` after reporting the test as skipped.
fn browser() -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => Some(browser),
        // A browser that is installed and does not start is a failure.
        Err(why) if why == "no chromium" => {
            report_skipped("no chromium: run scripts/test-tools, or name one in KARAT_TEST_CHROMIUM");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Whether axe-core is installed; reports the test as skipped if not.
fn has_axe() -> bool {
    let installed = driver::axe_core().is_some();
    if !installed {
        report_skipped("axe-core is missing: run scripts/test-tools");
    }
    installed
}

/// The addresses of the parts of a page.
const TAB_ADDRESSES: &str =
    "[...document.querySelectorAll('.top .tabs nav:first-child a')].map((link) => link.getAttribute('href'))";

/// Opens what is folded in the visible part of a page, a few of each kind.
const UNFOLD: &str = "document.querySelectorAll('.panel:not(.closed) details:nth-of-type(-n + 3)').forEach((folded) => (folded.open = true))";

fn address(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    format!("file://{}", path.display())
}

/// The text of the printed page.
fn print_to_text(tab: &Tab) -> String {
    let project = Project::new().with("printed.pdf", tab.print_pdf());
    let sections = project.json("ingest printed.pdf --json");
    // Replaces ligatures.
    sections.to_string().replace('\u{fb01}', "fi").replace('\u{fb02}', "fl")
}
