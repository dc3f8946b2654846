//! The report of an assessment, opened from disk.

use super::driver::Screen;
use super::{address, browser, has_axe, printed};
use crate::project::Project;

fn assessed() -> Project {
    let project = Project::new();
    project.ok("assess agreements --resamples 200 -q --no-rerank --bm25-weight 1 -o a.html");
    project
}

#[test]
fn an_assessment_reads_well_on_every_screen_and_on_paper() {
    let Some(browser) = browser() else { return };
    let project = assessed();
    let tab = browser.page(&address(&project.path("a.html")));
    let heading = tab.text("h1");
    for screen in Screen::ALL.into_iter().chain([Screen::NARROW]) {
        tab.emulate(screen);
        tab.fits();
    }
    tab.pictures("assessment");
    let paper = printed(&tab);
    assert!(paper.contains(&heading) && paper.contains("Requirements"), "{paper}");
    tab.quiet();
}

#[test]
fn an_assessment_keeps_nobody_out() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project = assessed();
    let tab = browser.page(&address(&project.path("a.html")));
    for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark()] {
        tab.emulate(screen);
        tab.accessible();
    }
}
