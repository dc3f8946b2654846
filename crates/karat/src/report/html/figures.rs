//! Plots in their sections. What has nothing to draw is not shown, or says what would change that.

use crate::report::exhibit::Exhibit;
use crate::report::page::text;
use crate::report::plot::{Choice, kind};

/// How good and how costly tools are.
pub(super) fn quality(exhibit: &Exhibit<'_>, out: &mut String) {
    section("quality", "Quality and cost", exhibit, &["precision-recall", "cost-quality"], out);
}

/// Which ranks tools may have, and who is better than whom.
pub(super) fn ranks(exhibit: &Exhibit<'_>, out: &mut String) {
    section("significance", "Who is better than whom", exhibit, &["ranks", "significance"], out);
}

/// Whether confidence means what it says, and what a threshold on it would do.
pub(super) fn confidence(exhibit: &Exhibit<'_>, out: &mut String) {
    section("confidence", "Confidence", exhibit, &["reliability", "sweep"], out);
}

/// The same tools in earlier reports.
pub(super) fn trend(exhibit: &Exhibit<'_>, out: &mut String) {
    if !exhibit.earlier.is_empty() {
        section("trend", "Trend", exhibit, &["trend"], out);
    }
}

/// Where the spread comes from.
pub(super) fn variance(exhibit: &Exhibit<'_>, out: &mut String) {
    section("variance", "Where the spread comes from", exhibit, &["variance"], out);
}

/// One dimension of the suite.
pub(super) fn slices(exhibit: &Exhibit<'_>, dimension: &str, metric: &str, out: &mut String) {
    let choice = Choice { metric: Some(metric.to_owned()), dimension: Some(dimension.to_owned()), ..Choice::default() };
    out.push_str(&figures("slices", exhibit, &choice).unwrap_or_default());
}

/// More plots of one kind than this are folded away.
const MOST_OPEN: usize = 6;

fn section(id: &str, title: &str, exhibit: &Exhibit<'_>, kinds: &[&str], out: &mut String) {
    let drawn: String = kinds.iter().filter_map(|name| figures(name, exhibit, &Choice::default())).collect();
    if drawn.is_empty() {
        return;
    }
    out.push_str(&format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n<h2 id=\"{id}-title\">{title}</h2>\n<div class=\"figures\">\n{drawn}</div>\n</section>\n"
    ));
}

/// The plots of a kind; none where there is nothing to draw.
fn figures(name: &str, exhibit: &Exhibit<'_>, choice: &Choice) -> Option<String> {
    let plots = (kind(name)?.draw)(exhibit, choice).ok()?;
    let figure = |plot: &crate::report::plot::Plot| {
        format!("<figure tabindex=\"0\">{}<figcaption>{}</figcaption></figure>\n", plot.inline(), text(&plot.title))
    };
    let (first, rest) = plots.split_at(plots.len().min(MOST_OPEN));
    let mut out: String = first.iter().map(figure).collect();
    if !rest.is_empty() {
        let more: String = rest.iter().map(figure).collect();
        out.push_str(&format!("<details><summary>{} more</summary>{more}</details>\n", rest.len()));
    }
    Some(out)
}
