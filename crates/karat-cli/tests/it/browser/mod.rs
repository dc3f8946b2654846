//! Pages as people meet them: in a real browser, with a mouse, a finger or keys alone, and on paper.

mod assessed;
mod driver;
mod driving;
mod hostile;
mod labelling;
mod made;
mod reported;
mod served;
mod serving;

use crate::project::{Project, skipped};
use driver::{Browser, Tab};
use std::path::Path;

/// The browser, or word that there is none to test with.
fn browser() -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => Some(browser),
        // A browser that is there and does not start is a fault of its own.
        Err(why) if why == "no chromium" => {
            skipped("no chromium: run scripts/test-tools, or name one in KARAT_TEST_CHROMIUM");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// Whether axe-core is there, or word that it is not.
fn has_axe() -> bool {
    let there = driver::axe_core().is_some();
    if !there {
        skipped("axe-core is not there: run scripts/test-tools");
    }
    there
}

/// The address of a file.
fn address(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    format!("file://{}", path.display())
}

/// What can be read on the printed page.
fn printed(tab: &Tab) -> String {
    let project = Project::new().with("printed.pdf", tab.print_pdf());
    let sections = project.json("ingest printed.pdf --json");
    // Printers draw some letters in one.
    sections.to_string().replace('\u{fb01}', "fi").replace('\u{fb02}', "fl")
}
