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
#[cfg(test)]
mod tests;

use super::Look;
use super::exhibit::Exhibit;
use super::page::{PLAIN, Page, THEME};
use super::plot;
use pack::Packed;

/// The page, standing alone.
pub fn draw(exhibit: &Exhibit<'_>, _: &Look) -> String {
    Document::of(exhibit).page("").draw()
}

/// A report's page before it is drawn: it may stand alone, or be one of several.
pub struct Document {
    title: String,
    body: String,
    data: String,
}

impl Document {
    /// Everything that the page of a report holds.
    pub fn of(exhibit: &Exhibit<'_>) -> Self {
        let Packed { index, portions, left_out } = pack::pack(exhibit);
        let mut body = String::from("<div id=\"overview\">\n");
        overview::draw(exhibit, left_out, &mut body);
        body.push_str("</div>\n<article id=\"case\" hidden></article>\n");
        body.push_str(&index);
        Self { title: format!("{} · Karat report", exhibit.report.suite.name), body, data: portions }
    }

    /// The page, with a way to others above it where there are others.
    pub fn page<'a>(&'a self, nav: &'a str) -> Page<'a> {
        Page {
            title: &self.title,
            nav,
            body: &self.body,
            styles: &STYLES,
            scripts: &SCRIPTS,
            data: &self.data,
            ..Page::default()
        }
    }
}

const STYLES: [&str; 2] = [plot::STYLE, include_str!("html/report.css")];

const SCRIPTS: [&str; 8] = [
    THEME,
    PLAIN,
    include_str!("html/text.js"),
    include_str!("html/data.js"),
    include_str!("html/leaderboard.js"),
    include_str!("html/grid.js"),
    include_str!("html/case.js"),
    include_str!("html/route.js"),
];
