//! The report of an assessment, opened from disk.

use super::driver::Screen;
use super::{TAB_ADDRESSES, UNFOLD, address, browser, has_axe, print_to_text};
use crate::project::Project;

fn assessed_project() -> Project {
    let project = Project::new();
    project.ok("assess agreements --resamples 200 -q --no-rerank --bm25-weight 1 -o a.html");
    project
}

#[test]
fn assessment_fits_every_screen_and_paper() {
    let Some(browser) = browser() else { return };
    let project = assessed_project();
    let tab = browser.page(&address(&project.path("a.html")));
    let heading = tab.text("h1");
    for screen in Screen::ALL.into_iter().chain([Screen::NARROW]) {
        tab.emulate(screen);
        tab.assert_fits();
    }
    tab.save_screenshots("assessment");
    let paper = print_to_text(&tab);
    assert!(paper.contains(&heading) && paper.contains("Requirements"), "{paper}");
    tab.assert_clean();
}

#[test]
fn assessment_passes_axe() {
    let (Some(browser), true) = (browser(), has_axe()) else { return };
    let project = assessed_project();
    let tab = browser.page(&address(&project.path("a.html")));
    for part in tab.eval(TAB_ADDRESSES).as_array().unwrap() {
        tab.click(&format!(".top .tabs a[href='{}']", part.as_str().unwrap()));
        tab.eval(UNFOLD);
        for screen in [Screen::LAPTOP, Screen::LAPTOP.dark(), Screen::PHONE, Screen::PHONE.dark()] {
            tab.emulate(screen);
            tab.assert_accessible();
        }
        tab.emulate(Screen::LAPTOP);
    }
}
