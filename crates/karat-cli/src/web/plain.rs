//! A report as a plain page.

use super::reply::Reply;
use karat::report::exhibit::Exhibit;
use karat::report::number::{count, headline, ranked, span, three, title};
use karat::report::page::{Page, THEME, bar, text};

/// The leaderboard, and what to be careful of.
pub(super) fn draw(exhibit: &Exhibit<'_>, name: &str, nav: &str) -> Reply {
    let report = exhibit.report;
    let ids = &report.profile.headline;
    let mut body = format!(
        "<div class=\"headline\"><h1>{}</h1><button class=\"theme\" hidden>Theme</button></div>\n<p class=\"dim\">{}, {}</p>\n",
        text(&report.suite.name),
        count(report.suite.cases, "case"),
        count(report.suite.issues, "golden")
    );
    if !report.warnings.is_empty() {
        let items: String = report.warnings.iter().map(|warning| format!("<li>{}</li>\n", text(warning))).collect();
        body.push_str(&format!("<div class=\"careful\" role=\"note\"><h2>Be careful</h2>\n<ul>{items}</ul></div>\n"));
    }
    let heads: String = ids.iter().map(|id| format!("<th scope=\"col\">{}</th>", text(title(id)))).collect();
    body.push_str(&format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Tool</th>{heads}</tr></thead>\n<tbody>\n"
    ));
    for tool in ranked(report) {
        body.push_str(&format!("<tr><th scope=\"row\">{}</th>", text(&tool.tool)));
        for id in ids {
            let estimate = headline(report, tool).get(id);
            let (value, ci) = (estimate.and_then(|e| e.value), estimate.and_then(|e| e.ci));
            body.push_str(&format!(
                "<td>{} <span class=\"dim\">{}</span><br>{}</td>",
                three(value),
                span(ci),
                bar(value, ci)
            ));
        }
        body.push_str("</tr>\n");
    }
    body.push_str("</tbody></table></div>\n");
    let title = format!("Karat: {name}");
    Reply::page(&Page { title: &title, nav, body: &body, styles: &[super::STYLE], scripts: &[THEME], connects: true })
}
