//! Renders a report as one self-contained HTML page. The overview is plain markup that needs no script; cases are compressed
//! inside the page and shown by a script.

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

use super::TerminalStyle;
use super::page::{PLAIN, Page, THEME};
use super::plot;
use super::report_view::ReportView;
use pack::Packed;

/// Renders the page on its own.
pub fn draw(view: &ReportView<'_>, _: &TerminalStyle) -> String {
    ReportPage::new(view).page("").draw()
}

/// A report's page, standalone or one of several.
pub struct ReportPage {
    title: String,
    body: String,
    data: String,
}

impl ReportPage {
    /// Builds the content of the page.
    pub fn new(view: &ReportView<'_>) -> Self {
        let Packed { index, portions, left_out } = pack::pack(view);
        let mut body = String::from("<div id=\"overview\">\n");
        overview::draw(view, left_out, &mut body);
        body.push_str("</div>\n<article id=\"case\" hidden></article>\n");
        body.push_str(&index);
        Self { title: format!("{} · Karat report", view.report.suite.name), body, data: portions }
    }

    /// The page with a navigation bar; `nav` is empty for a standalone page.
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
