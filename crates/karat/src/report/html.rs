//! A report as one page that can be sent around: no network, no files beside it. What a reader wants first is plain markup that
//! needs no script; cases are packed inside and shown by a script that ships in the page.

mod detail;
mod excerpt;
mod figures;
mod index;
mod judges;
mod leaderboard;
mod overview;
mod pack;
mod slices;

use super::Look;
use super::exhibit::Exhibit;
use super::page::{Page, THEME};

/// The page, standing alone.
pub fn draw(exhibit: &Exhibit<'_>, _: &Look) -> String {
    within(exhibit, "")
}

/// The page as one of several, with a way to the others above it.
pub fn within(exhibit: &Exhibit<'_>, nav: &str) -> String {
    page_of(&body(exhibit), &title(exhibit), nav)
}

fn page_of(body: &str, title: &str, nav: &str) -> String {
    Page { title, nav, body, styles: &STYLES, scripts: &SCRIPTS, connects: false }.draw()
}

fn title(exhibit: &Exhibit<'_>) -> String {
    format!("{} · Karat report", exhibit.report.suite.name)
}

fn body(exhibit: &Exhibit<'_>) -> String {
    let packed = pack::pack(exhibit);
    let mut body = String::with_capacity(packed.markup.len() + 200_000);
    body.push_str("<div id=\"overview\">\n");
    overview::draw(exhibit, packed.left_out, &mut body);
    body.push_str("</div>\n<article id=\"case\" hidden></article>\n");
    body.push_str(&packed.markup);
    body
}

const STYLES: [&str; 1] = [include_str!("html/report.css")];

const SCRIPTS: [&str; 7] = [
    THEME,
    include_str!("html/text.js"),
    include_str!("html/data.js"),
    include_str!("html/leaderboard.js"),
    include_str!("html/grid.js"),
    include_str!("html/case.js"),
    include_str!("html/route.js"),
];
